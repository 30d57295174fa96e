// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/PredictedStep.h"

#include "lib/Analysis/DecodingPasses.h"
#include "lib/Analysis/Views.h"
#include "lib/Diagnostics/Diagnostics.h"

using namespace netc;
using namespace mlir;

FailureOr<std::vector<PredictedOp>> netc::predictStep(const Run &run) {
  auto step = cast<StepOp>(run.op);
  if (!run.peak)
    return netc::emitError(step.getLoc(), error::NoPeakToPredict, run.name());
  Axes axes(step.getAxes());
  decodeInPasses(run, axes);
  Rational parts = run.accumulate.value_or(1);
  if (run.batch)
    axes.fix(kBatchAxis, run.examplesPerPart());
  std::vector<PredictedOp> ops;
  std::set<std::string> free;
  bool isInRange = true;
  auto round = [&](const Polynomial &value) -> int64_t {
    Polynomial known = axes.evaluate(value);
    for (std::string &axis : known.symbols())
      free.insert(std::move(axis));
    std::optional<Rational> number = known.constant();
    std::optional<int64_t> whole = number ? number->ceil().toInt64() : 0;
    isInRange &= whole.has_value();
    return whole.value_or(0);
  };
  countParts(step, run.conventions, [&](const CountedOp &counted) {
    if (isHeld(counted.op) || isView(counted.op) || counted.op->getNumRegions())
      return;
    Rational times = counted.phase == Phase::Update ? Rational(1) : parts;
    Polynomial executed =
        cast<CostOpInterface>(counted.op).getCost().matmul * counted.times;
    Rational perSecond = run.peakIn(counted.format) * run.conventions.fma / 2;
    int64_t time =
        round(counted.cost.matmul * (times / perSecond * 1000000000));
    ops.push_back({counted.op, counted.phase, round(executed * times),
                   std::max<int64_t>(time, 1)});
  });
  for (const std::string &axis : free)
    netc::emitError(step.getLoc(), error::FreeAxis, run.name(), axis);
  if (!free.empty())
    return failure();
  if (!isInRange)
    return netc::emitError(step.getLoc(), error::RunCostOutOfRange, run.name());
  return ops;
}
