// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Net.h"
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

/// The elements of `value` as a vector, or as a matrix whose columns are its
/// last axis, of type `element`.
static Value regroup(OpBuilder &builder, Location loc, Value value, size_t rank,
                     Type element) {
  Shape from = shapeOf(value), shape;
  if (rank == 2) {
    size_t rows = from.rank() == 0 ? 0 : from.rank() - 1;
    shape.sizes.assign(2, Polynomial(1));
    for (size_t i = 0; i < from.rank(); ++i)
      shape.sizes[i < rows ? 0 : 1] = shape.sizes[i < rows ? 0 : 1] * from[i];
  } else {
    shape.sizes.push_back(from.elements());
  }
  Type type = tensorOf(elementOf(value), shape);
  if (value.getType() != type)
    value = builder.create<ReshapeOp>(loc, type, value);
  if (elementOf(value) != element)
    value = builder.create<ConvertOp>(loc, tensorOf(element, shape), value);
  return value;
}

namespace {
/// The update rule of a step, ready to be copied.
class Rule {
public:
  Rule(OptimizerOp rule, Operation *at) : rule(rule), builder(at) {
    for (const Polynomial &size : shapeOf(rule.getParameter()).sizes)
      symbols.push_back(size.symbols().front());
    perParameter.insert(rule.getParameter());
    perParameter.insert(rule.getGradient());
    for (Operation &op : rule.getBlock())
      if (isPerParameter(op) && !isa<GlobalNormOp>(op))
        op.walk([&](Operation *op) {
          perParameter.insert(op->result_begin(), op->result_end());
        });
  }

  /// Copies what serves all parameters, learning rates, say, once, and the
  /// rest for each of them. A norm of all parameters ends a stage: before it
  /// stands what comes before it in the rule, of every parameter.
  void apply(ArrayRef<GradientOp> gradients) {
    if (!rule.getStep().use_empty())
      shared.map(rule.getStep(),
                 builder.create<BufferOp>(
                     rule.getLoc(), rule.getStep().getType(), "step", "step"));
    SmallVector<IRMapping> each(gradients.size());
    for (auto stage = rule.getBlock().begin(), end = rule.getBlock().end();
         stage != end;) {
      auto norm = std::find_if(stage, end, [&](Operation &op) {
        return isa<GlobalNormOp>(op) && isPerParameter(op);
      });
      for (Operation &op : llvm::make_range(stage, norm))
        if (!isPerParameter(op))
          builder.clone(op, shared);
      for (auto [gradient, values] : llvm::zip_equal(gradients, each)) {
        for (auto [value, copy] : shared.getValueMap())
          values.map(value, copy);
        if (stage == rule.getBlock().begin())
          start(gradient, values);
        for (Operation &op : llvm::make_range(stage, norm))
          if (isPerParameter(op))
            copy(&op, gradient, values);
      }
      if (norm == end)
        break;
      takeNorm(cast<GlobalNormOp>(*norm), each);
      stage = std::next(norm);
    }
  }

private:
  void start(GradientOp gradient, IRMapping &values) {
    Location loc = gradient.getParameter().getLoc();
    Type element = elementOf(rule.getParameter());
    values.map(rule.getParameter(),
               regroup(builder, loc, gradient.getParameter(), symbols.size(),
                       element));
    values.map(rule.getGradient(), regroup(builder, loc, gradient.getGradient(),
                                           symbols.size(), element));
  }

  void copy(Operation *op, GradientOp gradient, IRMapping &values) {
    Location loc = gradient.getParameter().getLoc();
    Shape shape = shapeOf(values.lookup(rule.getParameter()));
    Operation *copy = builder.clone(*op, values);
    substituteAxes(copy, [&](StringRef axis) -> std::optional<Polynomial> {
      for (auto [symbol, size] : llvm::zip_equal(symbols, shape.sizes))
        if (axis == symbol)
          return size;
      return std::nullopt;
    });
    copy->walk([&](Operation *op) { op->setLoc(loc); });
    // State of the parameter: named after it.
    if (auto buffer = dyn_cast<BufferOp>(copy)) {
      auto parameter = gradient.getParameter().getDefiningOp<ParameterOp>();
      buffer.setName((parameter.getName() + "." + buffer.getName()).str());
    }
  }

  /// The norm of what the rule has of each parameter.
  void takeNorm(GlobalNormOp norm, ArrayRef<IRMapping> each) {
    SmallVector<Value> all;
    for (const IRMapping &values : each)
      for (Value x : norm.getXs())
        all.push_back(values.lookup(x));
    shared.map(norm.getY(), builder.create<GlobalNormOp>(
                                norm.getLoc(), norm.getY().getType(), all));
  }

  bool isPerParameter(Operation &op) const {
    auto depends = [&](Value value) {
      return perParameter.contains(value) ||
             llvm::any_of(shapeOf(value).sizes, [&](const Polynomial &size) {
               return llvm::any_of(symbols, [&](StringRef symbol) {
                 return size.degree(symbol) > 0;
               });
             });
    };
    return op
        .walk([&](Operation *op) {
          return llvm::any_of(op->getOperands(), depends) ||
                         llvm::any_of(op->getResults(), depends)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  OptimizerOp rule;
  /// The sizes of a parameter as the rule sees it.
  SmallVector<std::string> symbols;
  OpBuilder builder;
  /// Values of the rule that differ from parameter to parameter.
  DenseSet<Value> perParameter;
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
    Rule(optimizer, last).apply(gradients);
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
