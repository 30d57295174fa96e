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

/// Whether a line is the header of the table. Output of ncu and of the profiled
/// program may precede it.
static bool isHeader(StringRef line) {
  return (line.starts_with("\"ID\",") || line.starts_with("ID,")) &&
         line.contains("Kernel Name");
}

bool netc::trace::isNsightComputeCsv(StringRef text) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    if (isHeader(line))
      return true;
    text = rest;
  }
  return false;
}

namespace {
class CsvReader {
public:
  CsvReader(Source &source, Trace &trace, const TraceLimits &limits)
      : source(source), trace(trace), limits(limits), kernels(trace) {}

  llvm::Error read() {
    std::string line;
    while (source.line(line) && !isHeader(line))
      ;
    std::vector<std::string> fields;
    splitCsv(line, fields);
    setColumns(fields);
    while (readRecord(source, fields)) {
      if (Columns::field(fields, id) == "ID") {
        setColumns(fields);
        continue;
      }
      if (isWide && units.empty() && Columns::field(fields, id).empty()) {
        units = fields;
        continue;
      }
      if (!integerIn(Columns::field(fields, id)) ||
          fields.size() <= size_t(name)) {
        ++trace.dropped["other"];
        continue;
      }
      if (trace.counted.size() >= limits.maxEvents)
        return fail(error::TraceTooManyEvents(limits.maxEvents));
      addRow(fields);
    }
    return cutWhere(source, trace);
  }

private:
  void setColumns(const std::vector<std::string> &names) {
    columns = Columns(names);
    id = columns.find("ID");
    process = columns.find("Process ID");
    name = columns.find("Kernel Name");
    metric = columns.find("Metric Name");
    unit = columns.find("Metric Unit");
    value = columns.find("Metric Value");
    grid = columns.find("Grid Size");
    block = columns.find("Block Size");
    stream = columns.find("Stream");
    device = columns.find("Device");
    capability = columns.find("CC");
    deviceName = columns.find(deviceNameMetric);
    isWide = metric < 0;
    units.clear();
    current.clear();
  }

  void addRow(const std::vector<std::string> &fields) {
    auto field = [&](int column) { return Columns::field(fields, column); };
    // The rows of a kernel are consecutive.
    std::string key = (field(id) + " " + field(process)).str();
    if (isWide || key != current) {
      current = key;
      CountedKernel &kernel = kernels.add(field(name));
      kernel.grid = dimensionsIn(field(grid));
      kernel.block = dimensionsIn(field(block));
      kernel.stream = int32_t(integerIn(field(stream)).value_or(0));
      kernel.device = int32_t(integerIn(field(device)).value_or(0));
      if (trace.capability.empty())
        trace.capability = field(capability).str();
      if (trace.device.empty())
        trace.device = field(deviceName).str();
    }
    if (!isWide) {
      // ncu's rules have rows without a counter.
      if (field(metric) == deviceNameMetric)
        trace.device = field(value).str();
      else if (!field(metric).empty())
        kernels.count(field(metric), field(unit), field(value));
      return;
    }
    for (size_t i = 0; i < columns.size(); ++i)
      if (columns[i].contains("__") &&
          !columns[i].starts_with("device__attribute"))
        kernels.count(columns[i], Columns::field(units, i), field(i));
  }

  static constexpr llvm::StringLiteral deviceNameMetric =
      "device__attribute_display_name";

  Source &source;
  Trace &trace;
  const TraceLimits &limits;
  CountedKernels kernels;
  Columns columns;
  int id = -1, process = -1, name = -1, metric = -1, unit = -1, value = -1,
      grid = -1, block = -1, stream = -1, device = -1, capability = -1,
      deviceName = -1;
  bool isWide = false;
  std::vector<std::string> units;
  std::string current;
};
} // namespace

llvm::Expected<Trace>
netc::trace::readNsightComputeCsv(Source &source, const TraceLimits &limits) {
  Trace trace;
  if (llvm::Error error = CsvReader(source, trace, limits).read())
    return error;
  return trace;
}
