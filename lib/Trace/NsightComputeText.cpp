// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Csv.h"
#include "lib/Trace/Formats.h"
#include "lib/Trace/Json.h"
#include "lib/Trace/NsightCompute.h"

using namespace netc;
using namespace netc::trace;
using llvm::StringRef;

/// Whether a line begins a kernel: `  NAME (2, 66, 1)x(384, 1, 1), Context 1,
/// Stream 7, Device 0, CC 9.0`, or before 2022, `  NAME, 2021-May-09 15:22:21,
/// Context 1, Stream 7`.
static bool isKernel(StringRef line) {
  size_t context = line.find(", Context ");
  return line.starts_with("  ") && context != StringRef::npos &&
         line.substr(context).contains(", Stream ");
}

bool netc::trace::isNsightComputeText(StringRef text) {
  bool hasKernel = false;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    hasKernel |= isKernel(line);
    if (hasKernel && line.ltrim().starts_with("Section: "))
      return true;
    text = rest;
  }
  return false;
}

/// The number after a word in a kernel's line.
static std::optional<int64_t> behind(StringRef line, StringRef word) {
  size_t at = line.find(word);
  if (at == StringRef::npos)
    return std::nullopt;
  return integerIn(line.substr(at + word.size()).take_while([](char c) {
    return c >= '0' && c <= '9';
  }));
}

static void addKernel(CountedKernels &kernels, Trace &trace, StringRef line) {
  auto [name, rest] = std::make_pair(line.take_front(line.find(", Context ")),
                                     line.substr(line.find(", Context ")));
  std::array<int64_t, 3> grid = {0, 0, 0}, block = {0, 0, 0};
  size_t between = name.rfind(")x(");
  if (between != StringRef::npos) {
    size_t begin = name.rfind('(', between);
    if (begin != StringRef::npos) {
      grid = dimensionsIn(name.slice(begin, between + 1));
      block = dimensionsIn(name.substr(between + 2));
      name = name.take_front(begin);
    }
  } else {
    name = name.take_front(name.rfind(", "));
  }
  CountedKernel &kernel = kernels.add(name.trim());
  kernel.grid = grid;
  kernel.block = block;
  kernel.stream = int32_t(behind(rest, "Stream ").value_or(0));
  kernel.device = int32_t(behind(rest, "Device ").value_or(0));
  size_t capability = rest.find("CC ");
  if (trace.capability.empty() && capability != StringRef::npos)
    trace.capability = rest.substr(capability + 3).trim().str();
}

llvm::Expected<Trace>
netc::trace::readNsightComputeText(Source &source, const TraceLimits &limits) {
  Trace trace;
  CountedKernels kernels(trace);
  Spans table; // of the current table
  std::string line;
  while (source.line(line)) {
    if (isKernel(line)) {
      if (trace.counted.size() >= limits.maxEvents)
        return fail(error::TraceTooManyEvents(limits.maxEvents));
      addKernel(kernels, trace, line);
      table.clear();
      continue;
    }
    Spans spans = spansOf(line);
    if (spans.size() == 3)
      table = spans;
    if (!spans.empty() || table.empty())
      continue;
    // A blank line ends the table.
    std::vector<std::string> cells = cellsOf(line, table);
    if (StringRef(line).trim().empty())
      table.clear();
    else if (!trace.counted.empty())
      kernels.count(cells[0], cells[1], cells[2]);
  }
  if (llvm::Error error = cutWhere(source, trace))
    return error;
  return trace;
}
