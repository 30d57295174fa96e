// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Net.h"
#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/SubstituteAxes.h"
#include "mlir/IR/IRMapping.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_ACCUMULATEGRADIENTS
#include "lib/Transforms/Passes.h.inc"
} // namespace netc

namespace {
/// An input of a step with examples along `axis`.
struct BatchedInput {
  BlockArgument whole;
  Value first, others; ///< first part, other parts
  int64_t axis;
};

/// The batch of a step in equal parts (micro-batches).
class Parts {
public:
  Parts(StepOp step, Rational number)
      : step(step), number(std::move(number)), builder(step) {
    for (Operation &op : step.getBlock())
      if (!isOfUpdate(&op) && !isa<ParameterOp, BufferOp, ReturnOp>(op))
        ops.push_back(&op);
  }

  /// Makes the ops before the update process only the first part. A loop
  /// processes the other parts.
  LogicalResult separate() {
    builder.setInsertionPointToStart(&step.getBlock());
    for (BlockArgument input : step.getBlock().getArguments())
      if (failed(cut(input)))
        return failure();
    for (Operation *op : ops)
      leaveToFirst(op);
    // The loss may be an input.
    if (!ops.empty())
      builder.setInsertionPointAfter(ops.back());
    loopOverOthers();
    return success();
  }

private:
  static bool isOfUpdate(Operation *op) { return phaseOf(op) == Phase::Update; }

  std::optional<Polynomial> sizeInPart(StringRef axis) const {
    if (axis != kBatchAxis)
      return std::nullopt;
    return Polynomial::symbol(axis) / number;
  }

  Value reshape(Value value, const Shape &shape) {
    return builder.create<ReshapeOp>(value.getLoc(),
                                     tensorOf(elementOf(value), shape), value);
  }

  Value slice(Value value, int64_t axis, const Polynomial &start,
              const Polynomial &size) {
    Shape shape = shapeOf(value);
    shape[axis] = size;
    return builder.create<SliceOp>(
        value.getLoc(), tensorOf(elementOf(value), shape), value, axis,
        PolynomialAttr::get(builder.getContext(), start));
  }

  LogicalResult cut(BlockArgument input) {
    Shape shape = shapeOf(input), part = shape;
    std::optional<int64_t> axis;
    for (auto [i, size] : llvm::enumerate(part.sizes)) {
      size = size.substitute([&](StringRef name) { return sizeInPart(name); });
      if (size == shape[i])
        continue;
      if (axis || size * number != shape[i])
        return emitError(
            placeOf(step, "accumulate"), error::AnotherAxisOfExamples,
            cast<StringAttr>(step.getInputs()[input.getArgNumber()]).getValue(),
            i, shape[i].str());
      axis = i;
    }
    if (!axis)
      return success();
    Shape parts = part;
    parts.sizes.insert(parts.sizes.begin() + *axis, number);
    Value all = reshape(input, parts);
    assert(part.elements() * number == shape.elements() &&
           "the parts of an input are all of it");
    inputs.push_back({input, reshape(slice(all, *axis, 0, 1), part),
                      slice(all, *axis, 1, number - 1), *axis});
    return success();
  }

  void leaveToFirst(Operation *op) {
    substituteAxes(op, [&](StringRef name) { return sizeInPart(name); });
    op->walk([&](Operation *inner) {
      for (const BatchedInput &input : inputs)
        inner->replaceUsesOfWith(input.whole, input.first);
    });
  }

  void loopOverOthers() {
    ReturnOp last = step.getReturn();
    Value loss = last.getOperand(0);
    SmallVector<Value> gradients, sequences;
    for (Operation *op : ops)
      for (Value value : op->getResults())
        if (llvm::any_of(value.getUsers(), isOfUpdate))
          gradients.push_back(value);
    SmallVector<int64_t> axes;
    for (const BatchedInput &input : inputs) {
      sequences.push_back(input.others);
      axes.push_back(input.axis);
    }
    SmallVector<Type> types{
        tensorOf(elementOf(loss), Shape(Polynomial(number - 1)))};
    llvm::append_range(types, ValueRange(gradients).getTypes());
    auto loop = builder.create<ScanOp>(
        step.getLoc(), types, sequences, gradients,
        PolynomialAttr::get(builder.getContext(), number - 1), axes,
        /*out_axes=*/ArrayRef<int64_t>{0}, /*reversed=*/false);
    fill(loop, loss);

    for (auto [gradient, sum] :
         llvm::zip_equal(gradients, loop.getResults().drop_front()))
      gradient.replaceUsesWithIf(
          sum, [](OpOperand &use) { return isOfUpdate(use.getOwner()); });
    Value losses[] = {reshape(loss, Shape(Polynomial(1))), loop.getResult(0)};
    last.setOperand(0, builder.create<ConcatOp>(
                           loss.getLoc(),
                           tensorOf(elementOf(loss), Shape(Polynomial(number))),
                           losses, /*over=*/0));
  }

  /// Copies the first part's ops into the loop over the others.
  void fill(ScanOp loop, Value loss) {
    Block &body = loop.getBody().emplaceBlock();
    OpBuilder inner = OpBuilder::atBlockEnd(&body);
    IRMapping copies;
    for (const BatchedInput &input : inputs)
      copies.map(input.first,
                 body.addArgument(input.first.getType(), input.first.getLoc()));
    for (Operation *op : ops)
      inner.clone(*op, copies);
    SmallVector<Value> yielded{copies.lookupOrDefault(loss)};
    for (Value gradient : loop.getInits()) {
      Value before = body.addArgument(gradient.getType(), gradient.getLoc());
      auto sum = inner.create<AddOp>(gradient.getLoc(), gradient.getType(),
                                     before, copies.lookup(gradient));
      setPhase(sum, Phase::WeightGradient);
      yielded.push_back(sum);
    }
    inner.create<YieldOp>(loop.getLoc(), yielded);
  }

  StepOp step;
  Rational number;
  OpBuilder builder;
  std::vector<Operation *> ops; ///< all ops before the update
  SmallVector<BatchedInput> inputs;
};

struct AccumulateGradients
    : netc::impl::AccumulateGradientsBase<AccumulateGradients> {
  using AccumulateGradientsBase::AccumulateGradientsBase;

  void runOnOperation() override {
    for (auto step : getOperation().getOps<StepOp>()) {
      RunFacts::Number number = step.getRun().getFacts().accumulate;
      if (!number || !(run.empty() || run == step.getSymName()))
        continue;
      if (failed(setBatch(step, *number)) ||
          failed(Parts(step, *number).separate()))
        signalPassFailure();
    }
  }

  /// Sets the number of examples of a part in the axes of the step.
  LogicalResult setBatch(StepOp step, const Rational &number) {
    NamedAttrList known(step.getAxes());
    std::optional<Rational> examples;
    if (auto part = dyn_cast_or_null<MomentsAttr>(known.get(kBatchAxis)))
      examples = part.getValue().mean() * number;
    for (StringRef size : axes)
      if (size.consume_front(kBatchAxis) && size.consume_front("="))
        examples = Rational::parse(size);
    if (!examples)
      return success();
    if (!(*examples / number).isInteger())
      return emitError(placeOf(step, "accumulate"), error::PartsOfUnequalSizes,
                       examples->str(), number.str());
    known.set(kBatchAxis, MomentsAttr::get(&getContext(), Moments(*examples)));
    step.setAxesAttr(known.getDictionary(&getContext()));
    return success();
  }
};
} // namespace
