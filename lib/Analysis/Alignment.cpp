// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/Alignment.h"

#include "lib/Analysis/Cost.h"
#include "lib/Analysis/Views.h"

using namespace netc;
using namespace mlir;

static bool isMultiple(const Polynomial &size, int factor, Axes &axes) {
  std::optional<Rational> number = axes.evaluate(size).constant();
  return !number || (*number / factor).isInteger();
}

/// The first two axes of the weight of a linear layer or a convolution are its
/// outputs and inputs.
static bool isAligned(Operation *op, int factor, Axes &axes) {
  bool hasWeight = false, aligned = true;
  for (Value operand : op->getOperands())
    forEachSource(operand, [&](Value base) {
      if (!base.getDefiningOp<ParameterOp>())
        return;
      hasWeight = true;
      Shape shape = shapeOf(base);
      for (const Polynomial &size : ArrayRef(shape.sizes).take_front(2))
        aligned &= isMultiple(size, factor, axes);
    });
  if (hasWeight)
    return aligned;
  for (Value operand : op->getOperands()) {
    Shape shape = shapeOf(operand);
    if (!shape.sizes.empty())
      aligned &= isMultiple(shape.sizes.back(), factor, axes);
  }
  return aligned;
}

Rational netc::alignedShare(StepOp step, int factor) {
  Axes axes(step.getAxes());
  Rational all, aligned;
  countParts(step, {}, [&](const CountedOp &counted) {
    std::optional<Rational> flop =
        axes.evaluate(counted.cost.matmul).constant();
    if (counted.phase != Phase::Forward || !flop || flop->isZero())
      return;
    all += *flop;
    if (isAligned(counted.op, factor, axes))
      aligned += *flop;
  });
  return all.isZero() ? Rational(1) : aligned / all;
}
