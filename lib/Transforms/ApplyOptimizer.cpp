// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Repetition.h"
#include "dialect/ReverseMode.h"
#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/SubstituteAxes.h"
#include "lib/Transforms/WidenToF64.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_APPLYOPTIMIZER
#include "lib/Transforms/Passes.h.inc"
} // namespace netc

/// `value` reshaped, and converted to `element`.
static Value regroup(OpBuilder &builder, Location loc, Value value,
                     const Shape &shape, Type element) {
  Type type = tensorOf(elementOf(value), shape);
  if (value.getType() != type)
    value = builder.create<ReshapeOp>(loc, type, value);
  if (elementOf(value) != element)
    value = builder.create<ConvertOp>(loc, tensorOf(element, shape), value);
  return value;
}

/// Inserts ops that represent as many copies of a `repeat` as `gradient`.
static void insertFor(GradientOp gradient, OpBuilder &builder,
                      function_ref<void()> insert) {
  forEachInserted(builder, insert, [&](Operation &op) {
    standFor(gradient->getAttr(kRolled), &op);
  });
}

namespace {
/// The operands of an op over all parameters.
class Tensors {
public:
  /// Adds a tensor for each copy that `gradient` represents.
  void add(GradientOp gradient, Value tensor) {
    auto of = gradient->getAttrOfType<DictionaryAttr>(kRolled);
    areRolled |= of != nullptr;
    tensors.push_back(tensor);
    rolled.push_back(of ? of : DictionaryAttr::get(gradient.getContext()));
  }

  ValueRange get() const { return tensors; }

  /// States on `op`, which has these operands, what each represents.
  void mark(Operation *op) const {
    if (areRolled)
      op->setAttr(kRolledOperands, ArrayAttr::get(op->getContext(), rolled));
  }

private:
  SmallVector<Value> tensors;
  SmallVector<Attribute> rolled; ///< of each, its kRolled
  bool areRolled = false;
};
} // namespace

namespace {
/// The update rule of a step, which is copied for its parameters.
class Rule {
public:
  /// `ofRule` are the gradients of the rule's parameters.
  Rule(OptimizerOp rule, SmallVector<GradientOp> ofRule, Operation *at)
      : rule(rule), builder(at), gradients(std::move(ofRule)),
        each(gradients.size()), next(rule.getBlock().begin()) {
    if (rule.hasAnySizes())
      for (const Polynomial &size : shapeOf(rule.getParameter()).sizes)
        symbols.push_back(size.symbols().front());
    else // sizes do not show which buffers belong to the parameter
      for (auto buffer : rule.getBlock().getOps<BufferOp>())
        perParameter.insert(buffer);
    perParameter.insert(rule.getParameter());
    perParameter.insert(rule.getGradient());
    for (Operation &op : rule.getBlock())
      if (isPerParameter(op) && !isa<GlobalNormOp>(op))
        op.walk([&](Operation *op) {
          perParameter.insert(op->result_begin(), op->result_end());
        });
  }

  /// Copies ops that serve all parameters, such as learning rates, once, and
  /// the others for each parameter, up to a norm over all parameters. Returns
  /// whether there is one. `step` is the number of the step, which is created
  /// on first use.
  bool copyToNorm(Value &step) {
    auto end = rule.getBlock().end();
    bool isStart = next == rule.getBlock().begin();
    auto norm = std::find_if(next, end, [&](Operation &op) {
      return isa<GlobalNormOp>(op) && isPerParameter(op);
    });
    if (isStart && !rule.getStep().use_empty()) {
      if (!step)
        step = builder.create<BufferOp>(rule.getLoc(), rule.getStep().getType(),
                                        "step", "step");
      shared.map(rule.getStep(), convertTo(builder, rule.getLoc(), step,
                                           elementOf(rule.getStep())));
    }
    for (Operation &op : llvm::make_range(next, norm))
      if (!isPerParameter(op))
        builder.clone(op, shared);
    for (auto [gradient, values] : llvm::zip_equal(gradients, each)) {
      for (auto [value, copy] : shared.getValueMap())
        values.map(value, copy);
      insertFor(gradient, builder, [&, gradient = gradient, &values = values] {
        if (isStart)
          start(gradient, values);
        for (Operation &op : llvm::make_range(next, norm))
          if (isPerParameter(op))
            copy(&op, gradient, values);
      });
    }
    next = norm;
    return norm != end;
  }

  /// Adds the operands of that norm, for all parameters.
  void addOfNorm(Tensors &all) {
    for (auto [gradient, values] : llvm::zip_equal(gradients, each))
      for (Value x : cast<GlobalNormOp>(*next).getXs())
        all.add(gradient, values.lookup(x));
  }
  GlobalNormOp getNorm() { return cast<GlobalNormOp>(*next); }
  /// Sets the norm's value and continues after it.
  void setNorm(Value norm) { shared.map((next++)->getResult(0), norm); }

private:
  void start(GradientOp gradient, IRMapping &values) {
    Location loc = gradient.getParameter().getLoc();
    Type element = elementOf(rule.getParameter());
    Shape shape = rule.shapeFor(shapeOf(gradient.getParameter()));
    values.map(rule.getParameter(),
               regroup(builder, loc, gradient.getParameter(), shape, element));
    values.map(rule.getGradient(),
               regroup(builder, loc, gradient.getGradient(), shape, element));
  }

  void copy(Operation *op, GradientOp gradient, IRMapping &values) {
    Location loc = gradient.getParameter().getLoc();
    Shape shape = shapeOf(values.lookup(rule.getParameter()));
    Operation *copy = builder.clone(*op, values);
    substituteAxes(copy, [&](StringRef axis) -> std::optional<Polynomial> {
      for (auto [symbol, size] : llvm::zip(symbols, shape.sizes))
        if (axis == symbol)
          return size;
      return std::nullopt;
    });
    copy->walk([&](Operation *op) { op->setLoc(loc); });
    // Updates compute in their own format, and change the parameter itself.
    if (hasEffect<MemoryEffects::Write>(copy))
      if (auto wide = copy->getOperand(0).getDefiningOp<ConvertOp>())
        copy->setOperand(0, wide.getX());
    auto parameter = gradient.getParameter().getDefiningOp<ParameterOp>();
    // The name of the state begins with that of the parameter.
    if (auto buffer = dyn_cast<BufferOp>(copy)) {
      buffer.setName((parameter.getName() + "." + buffer.getName()).str());
      if (!buffer.getTyped())
        keepState(buffer, buffer.getValue(), parameter);
    } else if (auto update = dyn_cast<UpdateOpInterface>(copy)) {
      if (update.getNumStates() != 0)
        keepState(update, update->getOperand(0), parameter);
    }
  }

  /// States the format of a state of the shape of `like`, unless it is that of
  /// `like`. A number, and in 8 bits a small tensor, stays in f32.
  static void keepState(Operation *op, Value like, ParameterOp parameter) {
    Type format =
        statedFormat(parameter, kStateFormat, elementOf(parameter.getValue()));
    Shape shape = shapeOf(like);
    std::optional<Rational> elements = shape.elements().constant();
    if ((isa<BufferOp>(op) && shape.rank() == 0) ||
        (format.isInteger() && !(elements && *elements >= 4096)))
      format = Float32Type::get(op->getContext());
    if (format != elementOf(like))
      op->setAttr(kStateFormat, TypeAttr::get(format));
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
  OpBuilder builder;
  /// The symbols of a parameter's axes, as the rule names them.
  SmallVector<std::string> symbols;
  /// Values of the rule that differ between parameters.
  DenseSet<Value> perParameter;
  IRMapping shared;
  SmallVector<GradientOp> gradients;
  SmallVector<IRMapping> each; ///< by gradient
  Block::iterator next;        ///< next op to copy
};

/// Copies all rules up to each norm. A norm is over all parameters, even if
/// they have different rules.
static void copyRules(MutableArrayRef<Rule> rules, OpBuilder builder) {
  Value step;
  SmallVector<Rule *> running;
  for (Rule &rule : rules)
    running.push_back(&rule);
  while (true) {
    Tensors all;
    llvm::erase_if(running,
                   [&](Rule *rule) { return !rule->copyToNorm(step); });
    if (running.empty())
      return;
    for (Rule *rule : running)
      rule->addOfNorm(all);
    GlobalNormOp ofRule = running.front()->getNorm();
    auto norm = builder.create<GlobalNormOp>(
        ofRule.getLoc(), ofRule.getY().getType(), all.get());
    all.mark(norm);
    for (Rule *rule : running)
      rule->setNorm(norm);
  }
}

/// Divides gradients by the scale of the loss at the end of the backward pass.
/// A dynamic scale is updated.
class LossScale {
public:
  LossScale(StepOp step, OpBuilder builder)
      : run(step.getRun().getFacts()),
        loc(NameLoc::get(builder.getStringAttr("optimizer.loss_scale"),
                         step.getLoc())),
        builder(builder) {
    for (auto buffer : step.getOps<BufferOp>())
      if (buffer.getName() == kLossScaleGrowth)
        growth = buffer.getValue();
  }

  bool isDynamic() const { return growth != nullptr; }

  void unscale(ArrayRef<GradientOp> gradients) {
    if (!run.lossScale)
      return;
    Type element = growth ? elementOf(growth) : builder.getF32Type();
    double start = run.lossScale->toDouble();
    Value inverse;
    if (growth)
      inverse = builder.create<DivOp>(
          loc, constant(growth.getType(), 1 / start), growth);
    for (GradientOp gradient : gradients) {
      Value scaled = gradient.getGradient();
      Type type = tensorOf(element, shapeOf(scaled));
      Location at = gradient.getParameter().getLoc();
      insertFor(gradient, builder, [&] {
        Value factor = growth ? builder.create<BroadcastOp>(at, type, inverse,
                                                            ArrayRef<int64_t>())
                              : constant(type, 1 / start);
        gradient.getGradientMutable().set(
            builder.create<MulOp>(at, scaled, factor));
      });
    }
  }

  /// Whether all gradients are finite.
  Value areFinite(ArrayRef<GradientOp> gradients) {
    Tensors all;
    for (GradientOp gradient : gradients)
      all.add(gradient, gradient.getGradient());
    auto areFinite = builder.create<AllFiniteOp>(loc, all.get());
    all.mark(areFinite);
    return areFinite;
  }

  /// Increases the scale after enough consecutive steps with finite gradients,
  /// and decreases it after one without.
  void move(Value areFinite) {
    Type number = growth.getType();
    Value none = constant(number, 0), one = constant(number, 1);
    Value before =
        builder.create<BufferOp>(loc, number, "loss_scale_steps", "zeros");
    Value steps = builder.create<AddOp>(loc, before, one);
    Value isEnough = builder.create<CompareOp>(
        loc, steps, constant(number, run.lossScaleInterval->toDouble()), ">=");
    auto choose = [&](Value condition, Value yes, Value no) {
      return builder.create<WhereOp>(loc, condition, yes, no).getResult();
    };
    Value factor =
        choose(areFinite,
               choose(isEnough,
                      constant(number, run.lossScaleGrowth->toDouble()), one),
               constant(number, run.lossScaleBackoff->toDouble()));
    Value next = builder.create<MulOp>(loc, growth, factor);
    builder.create<AssignOp>(loc, growth, next);
    builder.create<AssignOp>(
        loc, before, choose(areFinite, choose(isEnough, none, steps), none));
  }

private:
  Value constant(Type type, double value) {
    return builder.create<ConstantOp>(loc, type,
                                      builder.getF64FloatAttr(value));
  }

  const RunFacts &run;
  Location loc;
  OpBuilder builder;
  Value growth; ///< null if the scale is static
};

/// Makes the writes of `updates` depend on `condition`.
static void keepWhen(Value condition, ArrayRef<Operation *> updates) {
  OpBuilder builder(updates.front());
  auto when = builder.create<WhenOp>(condition.getLoc(), condition);
  Block &body = when.getBody().emplaceBlock();
  for (Operation *op : updates)
    isa<BufferOp>(op) ? op->moveBefore(when)
                      : op->moveBefore(&body, body.end());
}

struct ApplyOptimizer : netc::impl::ApplyOptimizerBase<ApplyOptimizer> {
  void runOnOperation() override {
    getOperation().walk([&](StepOp step) {
      auto optimizers = llvm::to_vector(step.getOps<OptimizerOp>());
      if (!optimizers.empty())
        apply(step.getBlock(), optimizers);
    });
  }

  /// Canonicalizes updates, which may become cheaper ops, depending on their
  /// gradients.
  static void specialize(ArrayRef<Operation *> updates, MLIRContext *context) {
    RewritePatternSet patterns(context);
    DenseSet<OperationName> known;
    for (Operation *op : updates)
      if (known.insert(op->getName()).second)
        op->getName().getCanonicalizationPatterns(patterns, context);
    // Erase gradients that no update reads any more.
    GreedyRewriteConfig config;
    config.strictMode = GreedyRewriteStrictness::AnyOp;
    (void)applyOpPatternsAndFold(updates, std::move(patterns), config);
  }

  /// The gradients of the parameters that a rule is for.
  static SmallVector<GradientOp> ofRule(OptimizerOp rule,
                                        ArrayRef<GradientOp> gradients) {
    std::optional<ArrayAttr> names = rule.getParameters();
    return llvm::to_vector(
        llvm::make_filter_range(gradients, [&](GradientOp gradient) {
          auto parameter = gradient.getParameter().getDefiningOp<ParameterOp>();
          return !names || llvm::is_contained(*names, parameter.getNameAttr());
        }));
  }

  void apply(Block &step, ArrayRef<OptimizerOp> optimizers) {
    auto gradients = llvm::to_vector(step.getOps<GradientOp>());
    DenseSet<Value> updated;
    for (GradientOp gradient : gradients)
      updated.insert(gradient.getParameter());
    for (auto parameter : step.getOps<ParameterOp>())
      if (parameter.getTrainable() && !updated.contains(parameter))
        warn(parameter.getLoc(), cast<StepOp>(step.getParentOp()).getSymName(),
             WarningId::NoGradient)
            << "`" << parameter.getName()
            << "` is trainable, but the loss does not depend on it";

    Operation *last = &step.back();
    Operation *before = last->getPrevNode();
    LossScale scale(cast<StepOp>(step.getParentOp()), OpBuilder(last));
    scale.unscale(gradients);
    Operation *unscaled = last->getPrevNode();
    std::vector<Rule> rules;
    for (OptimizerOp optimizer : optimizers) {
      SmallVector<GradientOp> own = ofRule(optimizer, gradients);
      // Updates compute in f32, unless all that they change is wider.
      if (!own.empty() && llvm::all_of(own, [](GradientOp gradient) {
            return elementOf(gradient.getParameter()).isF64();
          }))
        widenToF64(optimizer);
      rules.emplace_back(optimizer, std::move(own), last);
    }
    copyRules(rules, OpBuilder(last));
    if (scale.isDynamic() && unscaled->getNextNode() != last) {
      SmallVector<Operation *> updates;
      for (Operation *op = unscaled->getNextNode(); op != last;
           op = op->getNextNode())
        updates.push_back(op);
      Value areFinite = scale.areFinite(gradients);
      areFinite.getDefiningOp()->moveAfter(unscaled);
      keepWhen(areFinite, updates);
      scale.move(areFinite);
    }
    SmallVector<Operation *> updates;
    for (Operation *op = before->getNextNode(); op != last;
         op = op->getNextNode()) {
      op->walk([](Operation *op) { setPhase(op, Phase::Update); });
      updates.push_back(op);
    }

    for (GradientOp gradient : gradients)
      gradient.erase();
    for (OptimizerOp optimizer : optimizers)
      optimizer.erase();
    specialize(updates, &getContext());
  }
};
} // namespace
