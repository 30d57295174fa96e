// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Csv.h"
#include "lib/Trace/Formats.h"
#include "lib/Trace/Json.h"
#include "lib/Trace/Quantity.h"

using namespace netc;
using namespace netc::trace;
using llvm::StringRef;

/// Whether these are the columns of `cuda_gpu_trace` or `cuda_gpu_kern_sum`, or
/// of a timeline of nvprof.
static bool isReport(const Columns &columns) {
  bool isTrace = columns.find("Start") >= 0 && columns.find("Duration") >= 0;
  bool isSum =
      columns.find("Total Time") >= 0 && columns.find("Instances") >= 0;
  return (isTrace || isSum) && columns.find("Name") >= 0;
}

static std::optional<Columns> csvColumns(StringRef line) {
  std::vector<std::string> fields;
  if (!line.contains(',') || !splitCsv(line.rtrim(), fields))
    return std::nullopt;
  Columns columns(std::move(fields));
  return isReport(columns) ? std::optional(columns) : std::nullopt;
}

static std::optional<Columns> tableColumns(StringRef header, StringRef rule) {
  Spans spans = spansOf(rule.rtrim());
  if (spans.size() < 3)
    return std::nullopt;
  Columns columns(cellsOf(header, spans));
  return isReport(columns) ? std::optional(columns) : std::nullopt;
}

bool netc::trace::isNsightSystemsStats(StringRef text) {
  StringRef before;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    if (csvColumns(line) || tableColumns(before, line))
      return true;
    before = line;
    text = rest;
  }
  return false;
}

namespace {
class StatsReader {
public:
  StatsReader(Trace &trace, const TraceLimits &limits)
      : trace(trace), limits(limits) {}

  llvm::Error read(Source &source) {
    std::string line, before;
    Spans table;
    std::optional<Columns> columns;
    bool isCsv = false;
    for (; source.line(line); before = line) {
      if (auto found = csvColumns(line)) {
        columns = found;
        isCsv = true;
        continue;
      }
      if (auto found = tableColumns(before, line)) {
        columns = found;
        isCsv = false;
        table = spansOf(line);
        continue;
      }
      // A blank line ends a report; others may follow.
      if (StringRef(line).trim().empty())
        columns.reset();
      if (!columns)
        continue;
      std::vector<std::string> fields;
      if (!isCsv)
        fields = cellsOf(line, table);
      else if (!splitCsv(line, fields))
        fields.clear();
      if (trace.kernels.size() + trace.counted.size() >= limits.maxEvents)
        return fail(error::TraceTooManyEvents(limits.maxEvents));
      if (isOfUnits(*columns, fields)) {
        columns->setUnits(std::move(fields));
        continue;
      }
      ++trace.read;
      addRow(*columns, fields);
    }
    return cutWhere(source, trace);
  }

private:
  /// The first row of nvprof, such as `ms,us,,,`.
  static bool isOfUnits(const Columns &columns,
                        const std::vector<std::string> &fields) {
    StringRef start = Columns::field(fields, columns.find("Start"));
    return !start.empty() && start.size() <= 2 && start.ends_with("s");
  }

  void addRow(const Columns &columns, const std::vector<std::string> &fields) {
    auto field = [&](StringRef name) {
      return Columns::field(fields, columns.find(name));
    };
    auto time = [&](int column) {
      return nanosecondsIn(Columns::field(fields, column),
                           columns.unit(column));
    };
    // The first name is that of nsys, the second that of nvprof.
    auto number = [&](StringRef name, StringRef other) {
      return integerIn(Columns::field(fields, columns.findAny({name, other})))
          .value_or(0);
    };
    StringRef name = field("Name");
    if (columns.find("Start") < 0) {
      auto total = time(columns.find("Total Time"));
      auto instances = integerIn(field("Instances"));
      if (!total || *total < 0 || !instances || *instances < 1 ||
          name.empty()) {
        ++trace.broken;
        return;
      }
      CountedKernel &kernel = trace.counted.emplace_back();
      kernel.name = trace.names.intern(name);
      kernel.invocations = *instances;
      kernel.counters = {uint32_t(trace.counters.size()), 1};
      trace.counters.push_back({trace.names.intern("gpu__time_duration.sum"),
                                *total * 1e-9 / double(*instances)});
      return;
    }
    auto start = time(columns.find("Start")),
         duration = time(columns.find("Duration"));
    if (!trace.takesTimes(start, duration))
      return;
    DeviceEvent &event = trace.kernels.emplace_back();
    event.correlation = integerIn(field("CorrId")).value_or(-1);
    // nvprof writes it behind the name, `gemm [115]`.
    auto [kernel, behind] = name.rsplit(" [");
    if (auto launch = integerIn(behind.drop_back(behind.ends_with("]")))) {
      name = kernel;
      event.correlation = *launch;
    }
    event.kind =
        name.starts_with("[CUDA mem")
            ? (name.contains("memset") ? DeviceEvent::Set : DeviceEvent::Copy)
            : DeviceEvent::Kernel;
    event.name = trace.names.intern(name);
    event.start = *start;
    event.duration = *duration;
    event.stream = int32_t(number("Strm", "Stream"));
    // `Tesla V100 (0)`: the name of the device, then its number.
    StringRef device = field("Device");
    if (trace.device.empty())
      trace.device = device.take_front(device.rfind(" (")).str();
    size_t bracket = device.rfind('(');
    if (bracket != StringRef::npos)
      event.device =
          int32_t(integerIn(device.substr(bracket).trim("()")).value_or(0));
    event.extents =
        trace.addExtents({{number("GrdX", "Grid X"), number("GrdY", "Grid Y"),
                           number("GrdZ", "Grid Z")},
                          {number("BlkX", "Block X"), number("BlkY", "Block Y"),
                           number("BlkZ", "Block Z")}});
  }

  Trace &trace;
  const TraceLimits &limits;
};
} // namespace

llvm::Expected<Trace>
netc::trace::readNsightSystemsStats(Source &source, const TraceLimits &limits) {
  Trace trace;
  if (llvm::Error error = StatsReader(trace, limits).read(source))
    return error;
  return trace;
}
