// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Readers of FLOP that PyTorch's tools counted. A user gives such counts in
// addition to a trace.

#include "lib/Trace/Csv.h"
#include "lib/Trace/Formats.h"
#include "lib/Trace/Json.h"
#include "lib/Trace/Quantity.h"

using namespace netc;
using namespace netc::trace;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// The events of torch.profiler
//===----------------------------------------------------------------------===//

bool netc::trace::isEventCounts(StringRef text) {
  std::vector<std::string> fields;
  if (!splitCsv(text.split('\n').first.rtrim(), fields))
    return false;
  Columns columns(fields);
  return columns.find("name") >= 0 && columns.find("flops") >= 0;
}

llvm::Expected<Trace> netc::trace::readEventCounts(Source &source,
                                                   const TraceLimits &limits) {
  Trace trace;
  std::vector<std::string> fields;
  readRecord(source, fields);
  Columns columns(fields);
  while (readRecord(source, fields)) {
    auto field = [&](StringRef name) {
      return Columns::field(fields, columns.find(name));
    };
    if (trace.counts.size() >= limits.maxEvents)
      return fail(error::TraceTooManyEvents(limits.maxEvents));
    ++trace.read;
    auto flop = integerIn(field("flops"));
    if (!flop || *flop < 0 || field("name").empty()) {
      ++trace.broken;
      continue;
    }
    Count &count = trace.counts.emplace_back();
    count.op = trace.names.intern(field("name"));
    count.parent = trace.names.intern(field("parent"));
    count.order = integerIn(field("order")).value_or(-1);
    count.sequence = integerIn(field("sequence")).value_or(-1);
    count.shapes = readShapes(field("input_shapes"), trace);
    count.flop = *flop;
  }
  if (llvm::Error error = cutWhere(source, trace))
    return error;
  return trace;
}

//===----------------------------------------------------------------------===//
// The table of torch.profiler
//===----------------------------------------------------------------------===//

/// The unit of the column of FLOP, such as 1000 for `Total KFLOPs`, and the
/// name of the column. 0 if the header has no such column.
static int64_t unitOf(StringRef header, std::string &column) {
  int64_t unit = 1;
  for (StringRef prefix : {"", "K", "M", "G", "T", "P"}) {
    column = ("Total " + prefix + "FLOPs").str();
    if (header.contains(column))
      return unit;
    unit *= 1000;
  }
  return 0;
}

bool netc::trace::isAverages(StringRef text) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    if (line.contains("# of Calls") && line.contains("Name"))
      return spansOf(rest.split('\n').first.rtrim()).size() > 2;
    text = rest;
  }
  return false;
}

llvm::Expected<Trace> netc::trace::readAverages(Source &source,
                                                const TraceLimits &limits) {
  Trace trace;
  double shares = 0; // in percent
  std::string line, header;
  while (source.line(header) && !StringRef(header).contains("# of Calls"))
    ;
  source.line(line);
  Spans spans = spansOf(StringRef(line).rtrim());
  Columns columns(cellsOf(header, spans));
  std::string column;
  int64_t unit = unitOf(header, column);
  if (unit == 0)
    return fail(error::TraceWithoutFlop());
  while (source.line(line) && spansOf(StringRef(line).rtrim()).empty()) {
    std::vector<std::string> fields = cellsOf(line, spans);
    auto field = [&](StringRef name) {
      return Columns::field(fields, columns.find(name));
    };
    if (trace.counts.size() >= limits.maxEvents)
      return fail(error::TraceTooManyEvents(limits.maxEvents));
    ++trace.read;
    StringRef name = field("Name");
    int64_t calls = integerIn(field("# of Calls")).value_or(0);
    StringRef share = field("Self CPU %");
    share.consume_back("%");
    shares += numberIn(share).value_or(0);
    if (name == "ProfilerStep*" && calls > 0)
      trace.countedSteps = calls;
    // An op without a count has `--`. A count has three decimals.
    auto [whole, decimals] = field(column).split('.');
    auto high = integerIn(whole), low = integerIn(decimals);
    int64_t flop;
    if (!high || *high < 0 || decimals.size() != 3 || !low || *low < 0 ||
        calls < 1)
      continue;
    if (__builtin_mul_overflow(*high, unit, &flop) ||
        __builtin_add_overflow(flop, *low * unit / 1000, &flop)) {
      ++trace.broken;
      continue;
    }
    Count &count = trace.counts.emplace_back();
    count.op = trace.names.intern(name);
    count.shapes = readShapes(field("Input Shapes"), trace);
    count.calls = calls;
    count.flop = flop;
    count.unit = std::max<int64_t>(1, unit / 1000);
  }
  if (llvm::Error error = cutWhere(source, trace))
    return error;
  // Each share is rounded to two decimals. In all rows, they are 100 %.
  if (double missing = 100 - 0.005 * double(trace.read) - shares;
      columns.find("Self CPU %") >= 0 && missing > 0.01)
    return fail(error::TraceFewerRows(llvm::formatv("{0:F1}", shares).str(),
                                      trace.read));
  return trace;
}

//===----------------------------------------------------------------------===//
// FlopCounterMode
//===----------------------------------------------------------------------===//

namespace {
/// Reads `{"Global": {"aten.mm": 12}, "Net.layer": {..}}`: FLOP by module and
/// op.
class ModuleReader : public JsonReader {
public:
  explicit ModuleReader(Trace &trace) : trace(trace) {}

private:
  bool onScalar(StringRef text) override {
    if (depth() != 2)
      return true;
    ++trace.read;
    // JSON writers differ in whether a number is 12 or 12.0.
    auto [whole, decimals] = text.split('.');
    auto flop = integerIn(whole);
    if (!flop || *flop < 0 ||
        decimals.find_first_not_of('0') != StringRef::npos) {
      ++trace.broken;
      return true;
    }
    Count &count = trace.counts.emplace_back();
    count.module = trace.names.intern(keyAt(1));
    count.op = trace.names.intern(keyAt(2));
    count.flop = *flop;
    return true;
  }

  Trace &trace;
};
} // namespace

llvm::Expected<Trace> netc::trace::readModuleCounts(Source &source,
                                                    const TraceLimits &limits) {
  Trace trace;
  if (llvm::Error error = ModuleReader(trace).read(source, trace, limits))
    return error;
  return trace;
}
