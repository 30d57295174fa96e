// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Csv.h"
#include "lib/Trace/Formats.h"
#include "lib/Trace/Json.h"
#include "lib/Trace/NsightCompute.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using namespace netc::trace;
using llvm::StringRef;

static bool isNvprofHeader(StringRef line) {
  return line.starts_with("\"Device\",\"Kernel\",\"Invocations\"") &&
         line.contains("\"Metric Name\"");
}

static bool isTimelineHeader(StringRef line) {
  return line.starts_with("\"Start\",\"Duration\",\"Grid X\"");
}

static bool hasLine(StringRef text, bool (*isWanted)(StringRef)) {
  return llvm::any_of(llvm::split(text, '\n'), isWanted);
}

bool netc::trace::isNvprof(StringRef text) {
  return hasLine(text, isNvprofHeader) || hasLine(text, isTimelineHeader);
}

/// The rows of a kernel are consecutive. `Avg` is the mean over `Invocations`.
llvm::Expected<Trace> netc::trace::readNvprof(Source &source,
                                              const TraceLimits &limits) {
  // A timeline has columns like those of nsys.
  if (!hasLine(source.beginning(), isNvprofHeader))
    return readNsightSystemsStats(source, limits);
  Trace trace;
  CountedKernels kernels(trace);
  std::string line, current;
  while (source.line(line) && !isNvprofHeader(line))
    ;
  std::vector<std::string> fields;
  splitCsv(line, fields);
  Columns columns(fields);
  while (readRecord(source, fields)) {
    auto field = [&](StringRef name) {
      return Columns::field(fields, columns.find(name));
    };
    auto invocations = integerIn(field("Invocations"));
    if (!invocations || *invocations < 1 || field("Kernel").empty()) {
      ++trace.dropped["other"];
      continue;
    }
    if (trace.counted.size() >= limits.maxEvents)
      return fail(error::TraceTooManyEvents(limits.maxEvents));
    StringRef device = field("Device");
    std::string key = (device + "\n" + field("Kernel")).str();
    if (key != current) {
      current = key;
      kernels.add(field("Kernel")).invocations = *invocations;
      // Such as `Tesla P100-PCIE-16GB (0)`.
      if (trace.device.empty())
        trace.device = device.take_front(device.rfind(" (")).str();
    }
    // Such as `45.31%`, `512.11MB/s` and `Mid (4)`.
    StringRef mean = field("Avg");
    if (mean.ends_with(")"))
      mean = mean.drop_back().substr(mean.rfind('(') + 1);
    StringRef number = mean.take_while([](char c) {
      return (c >= '0' && c <= '9') || StringRef("+-.,eE").contains(c);
    });
    kernels.count(field("Metric Name"), mean.substr(number.size()), number);
  }
  if (llvm::Error error = cutWhere(source, trace))
    return error;
  return trace;
}
