// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Driver/Prediction.h"

#include "lib/Analysis/Analysis.h"
#include "lib/Analysis/PredictedStep.h"
#include "lib/Program/StepTrace.h"

using namespace netc;
using namespace netc::flags;
using nlohmann::ordered_json;

/// The run or job that `step` belongs to.
static const Run *runOf(llvm::ArrayRef<Run> runs, StepOp step) {
  for (const Run &run : runs) {
    if (run.op == step)
      return &run;
    if (const Run *job = runOf(run.jobs, step))
      return job;
  }
  return nullptr;
}

/// Describes the predicted run and the assumptions.
static ordered_json describe(const Run &run) {
  ordered_json peaks = ordered_json::object();
  for (NumberFormat format : run.step().formats())
    if (!run.step().in(format).hardware().matmul.isZero())
      peaks[traitsOf(format).name.str()] = run.peakIn(format).toDouble();
  return {{"netc", NETC_VERSION},
          {"run", run.name()},
          {"network", run.network()},
          {"batch", run.examplesPerDevice().toDouble()},
          {"devices", run.devices.value_or(1).toDouble()},
          {"peaks", peaks},
          {"convention",
           "the device with the largest share of the batch; products run one "
           "after the "
           "other at the peak of their number format, in FLOP/s; all else "
           "takes a nanosecond"}};
}

Exit netc::predict(const Session &session) {
  if (inputs.size() != 1 || !batches.empty())
    return complain(WrongUsage,
                    "a trace is of one run of one file; to predict a step of "
                    "another batch, write `--set run.batch=64`");
  // It must live as long as the context.
  auto &specification = *new std::unique_ptr<Specification>;
  specification = session.load(inputs.front(), Stage::Step);
  if (!specification)
    return WrongInput;
  if (!areKnown(specification.get()))
    return WrongUsage;
  mlir::ModuleOp module = specification->module();
  mlir::FailureOr<StepOp> step =
      findStep(module, onlyRuns.empty() ? "" : onlyRuns.front());
  mlir::FailureOr<Analysis> analysis = mlir::failure();
  if (succeeded(step))
    analysis = analyze(module, conventionFlags());
  if (failed(analysis))
    return WrongInput;
  const Run &run = *runOf(analysis->runs, *step);
  mlir::FailureOr<std::vector<PredictedOp>> predicted = predictStep(run);
  if (failed(predicted))
    return WrongInput;

  std::vector<program::TracedOp> ops;
  int64_t time = 0;
  for (const PredictedOp &op : *predicted) {
    ops.push_back({nameOf(op.op).str(), op.op->getName().stripDialect().str(),
                   stringifyPhase(op.phase).str(), op.flop, time,
                   time + op.nanoseconds});
    time = ops.back().end;
  }
  ordered_json device = {{"id", 0}, {"name", run.device}};
  ordered_json about = {{"traceName", run.name()},
                        {"predicted", describe(run)},
                        {"deviceProperties", {device}}};
  return write([&](llvm::raw_ostream &os) {
    os << program::traceOf(std::move(about), 1, ops);
  });
}
