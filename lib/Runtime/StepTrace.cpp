// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/StepTrace.h"

#include "lib/Program/Json.h"

using nlohmann::ordered_json;
using namespace netc::program;
using namespace netc::runtime;

/// Microseconds, to the nanosecond.
static double microseconds(int64_t nanoseconds) {
  return double(nanoseconds) / 1000;
}

static ordered_json event(const char *category, const std::string &name,
                          int64_t start, int64_t end) {
  return {{"ph", "X"},
          {"cat", category},
          {"name", name},
          {"pid", 0},
          {"tid", 0},
          {"ts", microseconds(start)},
          {"dur", microseconds(end - start)}};
}

std::string netc::runtime::traceOf(const Program &program,
                                   const Recorder &recorder) {
  const std::vector<Recorder::Call> &calls = recorder.lastCalls();
  ordered_json trace = {{"schemaVersion", 1},
                        {"tool", "netc"},
                        {"traceName", program.run},
                        {"program", identityOf(program)},
                        {"deviceProperties", ordered_json::array()},
                        {"traceEvents", ordered_json::array()}};
  ordered_json &events = trace["traceEvents"];
  if (!calls.empty()) {
    int64_t begin = calls.front().start;
    events.push_back(
        event("user_annotation",
              "ProfilerStep#" + std::to_string(recorder.steps().size()), 0,
              calls.back().end - begin));
    std::vector<int64_t> seen(program.ops.size());
    for (const Recorder::Call &call : calls) {
      const Op &op = program.ops[call.op];
      // The FLOP of an op in a loop are divided among its runs, without
      // remainder.
      int64_t runs = recorder.calls(call.op), number = seen[call.op]++;
      int64_t flop = op.matmul / runs + (number < op.matmul % runs);
      ordered_json run = event("cpu_op", "net::" + op.op, call.start - begin,
                               call.end - begin);
      run["args"] = {
          {"Concrete Inputs", {op.phase, std::to_string(flop), op.name}}};
      events.push_back(std::move(run));
    }
  }
  return trace.dump(-1, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}
