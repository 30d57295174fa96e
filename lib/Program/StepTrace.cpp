// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Program/StepTrace.h"

#include "lib/Program/Program.h"

#include <algorithm>

using nlohmann::ordered_json;
using namespace netc::program;

/// Microseconds, to the nanosecond.
static double microseconds(int64_t nanoseconds) {
  return double(nanoseconds) / 1000;
}

/// The pass that an op is in, and the blocks around it: `forward`, `layer1`,
/// `0`, `conv1` for `layer1.0.conv1.conv`.
static std::vector<std::string> rangesAround(const TracedOp &op) {
  Op of{op.name, op.op, op.phase, 0, 0, 0, 0, ""};
  std::vector<std::string> ranges = {of.isBackward() ? "backward" : op.phase};
  size_t begin = 0;
  for (size_t dot; (dot = op.name.find('.', begin)) != std::string::npos;
       begin = dot + 1)
    ranges.push_back(op.name.substr(begin, dot - begin));
  return ranges;
}

namespace {
class Events {
public:
  void open(const std::string &range, int64_t start) {
    ranges.push_back({events.size(), start, range});
    add("user_annotation", range, start, start);
  }

  /// Closes all ranges but the first `kept`.
  void close(size_t kept, int64_t end) {
    for (; ranges.size() > kept; ranges.pop_back())
      events[ranges.back().event]["dur"] =
          microseconds(end - ranges.back().start);
  }

  /// Ranges that also contain the op stay open.
  void add(const TracedOp &op) {
    std::vector<std::string> around = rangesAround(op);
    size_t same = 0;
    while (same < around.size() && same + 1 < ranges.size() &&
           ranges[same + 1].name == around[same])
      ++same;
    close(same + 1, last);
    for (; same < around.size(); ++same)
      open(around[same], op.start);
    add("cpu_op", "net::" + op.op, op.start, op.end);
    events.back()["args"] = {
        {"Concrete Inputs", {op.phase, std::to_string(op.flop), op.name}}};
    last = op.end;
  }

  ordered_json take() {
    close(0, last);
    return std::move(events);
  }

private:
  struct Range {
    size_t event;
    int64_t start;
    std::string name;
  };

  void add(const char *category, const std::string &name, int64_t start,
           int64_t end) {
    // Perfetto takes thread 0 for the idle thread.
    events.push_back({{"ph", "X"},
                      {"cat", category},
                      {"name", name},
                      {"pid", 1},
                      {"tid", 1},
                      {"ts", microseconds(start)},
                      {"dur", microseconds(end - start)}});
  }

  ordered_json events = ordered_json::array();
  std::vector<Range> ranges; ///< the open ranges
  int64_t last = 0;
};
} // namespace

std::string netc::program::traceOf(ordered_json about, size_t step,
                                   const std::vector<TracedOp> &ops) {
  Events events;
  if (!ops.empty())
    events.open("ProfilerStep#" + std::to_string(step), ops.front().start);
  for (const TracedOp &op : ops)
    events.add(op);
  ordered_json trace = {{"schemaVersion", 1}, {"tool", "netc"}};
  trace.update(about);
  trace["traceEvents"] = events.take();
  return trace.dump(-1, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}
