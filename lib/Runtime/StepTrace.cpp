// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/StepTrace.h"

#include "lib/Program/Json.h"
#include "lib/Program/StepTrace.h"

using namespace netc::program;
using namespace netc::runtime;

std::string netc::runtime::traceOf(const Program &program,
                                   const Training &training) {
  const Recorder &recorder = training.timesOfOps();
  const std::vector<Recorder::Call> &calls = recorder.lastCalls();
  std::vector<TracedOp> ops;
  std::vector<int64_t> seen(program.ops.size());
  for (const Recorder::Call &call : calls) {
    const Op &op = program.ops[call.op];
    // The FLOP of an op in a loop are divided among its runs; the first ones
    // get the remainder.
    int64_t runs = recorder.calls(call.op), number = seen[call.op]++;
    int64_t flop = op.matmul / runs + (number < op.matmul % runs);
    int64_t begin = calls.front().start;
    ops.push_back(
        {op.name, op.op, op.phase, flop, call.start - begin, call.end - begin});
  }
  return program::traceOf({{"traceName", program.run},
                           {"program", identityOf(program)},
                           {"deviceProperties", nlohmann::json::array()}},
                          training.numberOfSteps(), ops);
}
