// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/ReverseMode.h"
#include "dialect/Repetition.h"

using namespace netc;
using namespace mlir;

/// Where the op is that makes a value: for an argument of a body, its loop.
static Location locationOfMaker(Value value) {
  Operation *maker = value.getDefiningOp();
  return (maker ? maker : value.getParentBlock()->getParentOp())->getLoc();
}

void ReverseMode::add(Value value, Value gradient) {
  if (!wants(value))
    return;
  Value &sum = gradients[value];
  sum = sum ? builder.create<AddOp>(locationOfMaker(value), sum, gradient)
            : gradient;
  // A block argument, such as a gradient that a loop carries, is also the
  // gradient of another value.
  if (sum.getDefiningOp() && graph.activations.contains(value))
    graph.activationGradients.push_back(sum);
}

LogicalResult ReverseMode::run(Block &block) {
  // An op may replace itself, so the list is made first.
  SmallVector<Operation *> ops;
  for (Operation &op : llvm::reverse(block))
    ops.push_back(&op);
  for (Operation *op : ops) {
    if (llvm::none_of(op->getResults(),
                      [&](Value result) { return of(result); }))
      continue;
    auto differentiable = dyn_cast<GradientOpInterface>(op);
    if (!differentiable) {
      if (llvm::any_of(op->getOperands(),
                       [&](Value value) { return wants(value); }))
        return op->emitOpError("has no gradient");
      continue;
    }
    // Read before buildGradient(), which may replace the op.
    Attribute rolled = op->getAttr(kRolled);
    LogicalResult result = success();
    auto build = [&] {
      Gradients gradients(*this, builder, op);
      result = differentiable.buildGradient(gradients);
    };
    forEachInserted(builder, build,
                    [&](Operation &gradient) { standFor(rolled, &gradient); });
    if (failed(result))
      return failure();
  }
  return success();
}
