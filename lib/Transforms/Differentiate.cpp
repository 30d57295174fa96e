// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Repetition.h"
#include "dialect/ReverseMode.h"
#include "lib/Transforms/DataFlow.h"
#include "lib/Transforms/Passes.h"
#include "mlir/IR/Iterators.h"
#include "llvm/ADT/SetOperations.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "lib/Transforms/Passes.h.inc"
} // namespace netc

/// Sets the phases of the backward pass, which starts at `first`: gradients of
/// weights are those that no gradient of an activation is computed from.
static void setPhases(Operation *first, const DifferentiatedGraph &graph) {
  auto ops = llvm::make_range(first->getIterator(), first->getBlock()->end());
  DataFlow::Values forInputs = DataFlow(ops).usedFor(graph.activationGradients);
  auto setPhaseOf = [&](Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>())
      return;
    bool input = llvm::any_of(op->getResults(), [&](Value value) {
      return forInputs.contains(value);
    });
    setPhase(op, input ? Phase::InputGradient : Phase::WeightGradient);
  };
  for (Operation &op : ops)
    op.walk(setPhaseOf);
}

/// The loss of a step must be a scalar.
static LogicalResult checkLoss(ReturnOp last) {
  if (last.getNumOperands() != 1)
    return last.emitOpError() << "hands back " << last.getNumOperands()
                              << " values, expected the loss alone";
  Value loss = last.getOperand(0);
  if (shapeOf(loss).rank() != 0)
    return last.emitOpError() << "hands back a loss of type " << loss.getType()
                              << ", expected one number";
  return success();
}

/// The gradient of the loss: 1, or the scale of the loss, divided by the number
/// of micro-batches, since the loss is their mean.
static Value createSeed(OpBuilder &builder, Operation *graph, Value value) {
  const RunFacts *run = runFactsOf(graph);
  double number = run ? run->lossScale.value_or(1).toDouble() /
                            run->accumulate.value_or(1).toDouble()
                      : 1;
  Value seed = builder.create<ConstantOp>(value.getLoc(), value.getType(),
                                          builder.getF64FloatAttr(number));
  if (!run || !run->hasDynamicLossScale())
    return seed;
  // The current scale is state of the update, which changes it.
  auto growth = builder.create<BufferOp>(value.getLoc(), value.getType(),
                                         kLossScaleGrowth, "ones");
  setPhase(growth, Phase::Update);
  return builder.create<MulOp>(value.getLoc(), growth, seed);
}

/// States the gradient of a parameter, in its kGradientFormat. What is
/// converted from that format, or only widened, is taken before the conversion.
static void stateGradient(OpBuilder &builder, ParameterOp parameter,
                          Value gradient) {
  Type format =
      statedFormat(parameter, kGradientFormat, elementOf(parameter.getValue()));
  if (auto before = gradient.getDefiningOp<ConvertOp>();
      before && elementOf(before.getX()) == format)
    gradient = before.getX();
  auto insert = [&] {
    gradient = convertTo(builder, gradient.getLoc(), gradient, format);
    builder.create<GradientOp>(parameter.getLoc(), parameter, gradient);
  };
  forEachInserted(builder, insert, [&](Operation &op) {
    standFor(parameter->getAttr(kRolled), &op);
  });
}

/// Erases conversions of gradients that are read before they are converted.
static void eraseUnread(Block &block) {
  block.walk<WalkOrder::PostOrder, ReverseIterator>([](ConvertOp convert) {
    if (convert->use_empty())
      convert.erase();
  });
}

/// Appends the backward pass of the values that `last` returns.
static LogicalResult differentiate(ReturnOp last) {
  Block &block = *last->getBlock();
  for (Operation &op : block)
    if (op.hasAttr(kPhase))
      return last->getParentOp()->emitOpError("is differentiated already");

  SmallVector<Value> parameters;
  for (auto parameter : block.getOps<ParameterOp>())
    if (parameter.getTrainable())
      parameters.push_back(parameter.getValue());
  DataFlow flow(block.getOperations());
  DifferentiatedGraph graph;
  graph.wanted = flow.differentiableFrom(parameters);
  llvm::set_intersect(graph.wanted, flow.usedFor(last.getResults()));
  graph.activations = flow.computedFrom(block.getArguments());

  if (llvm::none_of(last.getResults(),
                    [&](Value value) { return graph.wanted.contains(value); }))
    return success();
  if (isa<StepOp>(last->getParentOp()) && failed(checkLoss(last)))
    return failure();

  OpBuilder builder(last);
  ReverseMode reverse(graph, builder);
  Operation *first = nullptr;
  for (Value value : last.getResults()) {
    if (!reverse.wants(value))
      continue;
    Value seed = createSeed(builder, last->getParentOp(), value);
    if (!first)
      first = seed.getDefiningOp();
    reverse.add(value, seed);
  }
  if (failed(reverse.run(block)))
    return failure();
  for (Value parameter : parameters)
    if (Value gradient = reverse.of(parameter))
      stateGradient(builder, parameter.getDefiningOp<ParameterOp>(), gradient);
  setPhases(first, graph);
  eraseUnread(block);
  return success();
}

namespace {
struct Differentiate : netc::impl::DifferentiateBase<Differentiate> {
  void runOnOperation() override {
    getOperation().walk([&](ReturnOp last) {
      if (failed(differentiate(last)))
        signalPassFailure();
    });
  }
};
} // namespace
