// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Net.h"
#include "lib/Transforms/DataFlow.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/SubstituteAxes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_APPLYOPTIMIZER
#include "lib/Transforms/Passes.h.inc"
} // namespace netc

/// The elements of `value` in a vector of type `element`.
static Value toVector(OpBuilder &builder, Location loc, Value value,
                      Type element) {
  Shape shape;
  shape.sizes.push_back(shapeOf(value).elements());
  Type vector = tensorOf(elementOf(value), shape);
  if (value.getType() != vector)
    value = builder.create<ReshapeOp>(loc, vector, value);
  if (elementOf(value) != element)
    value = builder.create<ConvertOp>(loc, tensorOf(element, shape), value);
  return value;
}

namespace {
/// The update rule of a step, ready to be copied.
class Rule {
public:
  /// Copies before `at` what serves all parameters: learning rates, say.
  Rule(OptimizerOp rule, Operation *at)
      : rule(rule), symbol(shapeOf(rule.getParameter())[0].symbols().front()),
        builder(at) {
    SmallVector<Value> roots;
    rule.getBody().walk([&](Block *block) {
      roots.append(block->args_begin(), block->args_end());
      for (Operation &op : *block)
        roots.append(op.result_begin(), op.result_end());
    });
    llvm::erase_if(roots, [&](Value value) { return !hasSymbol(value); });
    perParameter = DataFlow(rule.getBlock()).computedFrom(roots);

    if (!rule.getStep().use_empty())
      shared.map(rule.getStep(),
                 builder.create<BufferOp>(
                     rule.getLoc(), rule.getStep().getType(), "step", "step"));
    for (Operation &op : rule.getBlock())
      if (!isPerParameter(op))
        builder.clone(op, shared);
  }

  void apply(GradientOp gradient) {
    Location loc = gradient.getParameter().getLoc();
    Type element = elementOf(rule.getParameter());
    Polynomial size = shapeOf(gradient.getParameter()).elements();
    IRMapping values = shared;
    values.map(rule.getParameter(),
               toVector(builder, loc, gradient.getParameter(), element));
    values.map(rule.getGradient(),
               toVector(builder, loc, gradient.getGradient(), element));
    for (Operation &op : rule.getBlock()) {
      if (!isPerParameter(op))
        continue;
      Operation *copy = builder.clone(op, values);
      substituteAxes(copy, [&](StringRef axis) -> std::optional<Polynomial> {
        if (axis != symbol)
          return std::nullopt;
        return size;
      });
      copy->walk([&](Operation *op) { op->setLoc(loc); });
      // State of the parameter: named after it.
      if (auto buffer = dyn_cast<BufferOp>(copy)) {
        auto parameter = gradient.getParameter().getDefiningOp<ParameterOp>();
        buffer.setName((parameter.getName() + "." + buffer.getName()).str());
      }
    }
  }

private:
  bool hasSymbol(Value value) const {
    return llvm::any_of(shapeOf(value).sizes, [&](const Polynomial &size) {
      return size.degree(symbol) > 0;
    });
  }
  bool isPerParameter(Operation &op) const {
    auto contains = [&](Value value) { return perParameter.contains(value); };
    return op
        .walk([&](Operation *op) {
          return llvm::any_of(op->getOperands(), contains) ||
                         llvm::any_of(op->getResults(), contains)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  OptimizerOp rule;
  std::string symbol;
  OpBuilder builder;
  /// Values of the rule that differ from parameter to parameter.
  DataFlow::Values perParameter;
  IRMapping shared;
};

struct ApplyOptimizer : netc::impl::ApplyOptimizerBase<ApplyOptimizer> {
  void runOnOperation() override {
    getOperation().walk([&](OptimizerOp optimizer) { apply(optimizer); });
  }

  /// What an update knows of its gradient may make it another op.
  static void specialize(ArrayRef<Operation *> updates, MLIRContext *context) {
    RewritePatternSet patterns(context);
    DenseSet<OperationName> known;
    for (Operation *op : updates)
      if (known.insert(op->getName()).second)
        op->getName().getCanonicalizationPatterns(patterns, context);
    // A gradient that none of them reads any more goes, too.
    GreedyRewriteConfig config;
    config.strictMode = GreedyRewriteStrictness::AnyOp;
    (void)applyOpPatternsAndFold(updates, std::move(patterns), config);
  }

  void apply(OptimizerOp optimizer) {
    Block &step = *optimizer->getBlock();
    auto gradients = llvm::to_vector(step.getOps<GradientOp>());
    DenseSet<Value> updated;
    for (GradientOp gradient : gradients)
      updated.insert(gradient.getParameter());
    for (auto parameter : step.getOps<ParameterOp>())
      if (parameter.getTrainable() && !updated.contains(parameter))
        parameter.emitWarning()
            << "`" << parameter.getName()
            << "` is trainable, but the loss does not depend on it";

    Operation *last = &step.back();
    Operation *before = last->getPrevNode();
    Rule rule(optimizer, last);
    for (GradientOp gradient : gradients)
      rule.apply(gradient);
    auto phase = PhaseAttr::get(optimizer.getContext(), Phase::Update);
    SmallVector<Operation *> updates;
    for (Operation *op = before->getNextNode(); op != last;
         op = op->getNextNode()) {
      op->walk([&](Operation *op) { op->setAttr(kPhase, phase); });
      updates.push_back(op);
    }

    for (GradientOp gradient : gradients)
      gradient.erase();
    optimizer.erase();
    specialize(updates, &getContext());
  }
};
} // namespace
