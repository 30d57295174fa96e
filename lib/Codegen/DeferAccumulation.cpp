// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The gradient of a recurrence's weight is a sum over the iterations of the
// loop. Each iteration adds a product with few rows, for which it reads and
// writes the whole gradient. The operands of these products are slices of
// tensors, or can be stacked into one. Then a single product after the loop
// sums over iterations and rows.

#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_DEFERACCUMULATION
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

/// A stack may take at most this many times the memory of the sum.
static constexpr int64_t kMaxStackRatio = 4;

namespace {
/// The values of an operand in all iterations, stacked along `axis`. An
/// iteration uses the slice with index `at`. The stack is `tensor`, or if that
/// is null, result number `result` of the loop. If `at` is null there is no
/// stack.
struct Stack {
  Value at;
  int64_t axis = 0;
  Value tensor;
  unsigned result = 0;
};

/// Moves the sums of a loop behind it. The loop is replaced if it has to yield
/// a stack.
class Hoister {
public:
  Hoister(RewriterBase &b, scf::ForOp loop) : b(b), loop(loop) {}

  void run() {
    if (getConstantIntValue(loop.getLowerBound()) != 0 ||
        getConstantIntValue(loop.getStep()) != 1)
      return;
    std::optional<int64_t> bound = getConstantIntValue(loop.getUpperBound());
    if (!bound)
      return;
    tripCount = *bound;
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
      if (linalg::GenericOp sum = sumOf(i))
        sumAfter(i, sum);
  }

private:
  /// The contraction that accumulates into iteration argument `i`; null if
  /// anything else uses the argument.
  linalg::GenericOp sumOf(unsigned i) {
    BlockArgument carried = loop.getRegionIterArg(i);
    auto kept = loop.getYieldedValues()[i]
                    .getDefiningOp<bufferization::MaterializeInDestinationOp>();
    if (!kept || kept.getDest() != carried)
      return {};
    auto sum = kept.getSource().getDefiningOp<linalg::GenericOp>();
    // Only the contraction and the op that stores its result may use the
    // tensor.
    if (!sum || sum->getBlock() != loop.getBody() || !isContraction(sum) ||
        sum.getOutputs()[0] != carried || !sum->hasOneUse() ||
        std::distance(carried.use_begin(), carried.use_end()) != 2)
      return {};
    return sum;
  }

  /// Whether `at` takes each value from 0 to the trip count - 1 once.
  bool isPermuted(Value at) {
    if (at == loop.getInductionVar())
      return true;
    auto back = at.getDefiningOp<arith::SubIOp>();
    return back && back.getRhs() == loop.getInductionVar() &&
           getConstantIntValue(back.getLhs()) == tripCount - 1;
  }

  /// The stack `whole`, if `slice` is one iteration's slice of it with the
  /// shape of `part`.
  Stack stackOf(OffsetSizeAndStrideOpInterface slice, Value whole, Value part) {
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(whole.getType()).getShape();
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
    for (auto [axis, offset] : llvm::enumerate(offsets)) {
      auto at = offset.dyn_cast<Value>();
      SmallVector<int64_t> rest(shape);
      rest.erase(rest.begin() + axis);
      if (at && isPermuted(at) && shape[axis] == tripCount &&
          cast<RankedTensorType>(part.getType()).getShape() ==
              ArrayRef<int64_t>(rest))
        return {at, int64_t(axis), whole};
    }
    return {};
  }

  /// The stack that a value in the loop is extracted from or inserted into.
  Stack findStack(Value value) {
    Value from = value;
    if (auto shape = from.getDefiningOp<tensor::CollapseShapeOp>())
      from = shape.getSrc();
    if (auto slice = from.getDefiningOp<tensor::ExtractSliceOp>();
        slice && loop.isDefinedOutsideOfLoop(slice.getSource()))
      return stackOf(slice, slice.getSource(), value);
    for (Operation *user : value.getUsers()) {
      auto slice = dyn_cast<tensor::InsertSliceOp>(user);
      if (!slice || slice.getSource() != value || !slice->hasOneUse())
        continue;
      OpOperand &use = *slice->use_begin();
      if (!isa<scf::YieldOp>(use.getOwner()) ||
          slice.getDest() != loop.getRegionIterArg(use.getOperandNumber()))
        continue;
      Stack stack = stackOf(slice, slice.getDest(), value);
      stack.tensor = {};
      stack.result = use.getOperandNumber();
      return stack;
    }
    return {};
  }

  /// Lets the loop yield a stack of a value that it computes.
  Stack makeStack(Value value, Value at) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape{tripCount};
    llvm::append_range(shape, type.getShape());
    b.setInsertionPoint(loop);
    Value empty =
        b.create<tensor::EmptyOp>(value.getLoc(), shape, type.getElementType());
    SmallVector<OpFoldResult> starts(shape.size(), b.getIndexAttr(0)),
        sizes = getAsIndexOpFoldResult(b.getContext(), shape),
        strides(shape.size(), b.getIndexAttr(1));
    sizes[0] = b.getIndexAttr(1);
    unsigned place = loop.getNumRegionIterArgs();
    bool countsUp = at == loop.getInductionVar();
    loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        b, empty, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &end, Location, ArrayRef<BlockArgument> carried) {
          starts[0] = countsUp ? loop.getInductionVar() : at;
          return SmallVector<Value>{end.create<tensor::InsertSliceOp>(
              value.getLoc(), value, carried.back(), starts, sizes, strides)};
        }));
    return {countsUp ? loop.getInductionVar() : at, 0, {}, place};
  }

  /// Moves `sum`, which accumulates into iteration argument `i`, behind the
  /// loop.
  void sumAfter(unsigned i, linalg::GenericOp sum) {
    int64_t elements =
        cast<RankedTensorType>(sum.getResult(0).getType()).getNumElements();
    SmallVector<Stack> stacks;
    Value at;
    for (Value input : sum.getInputs()) {
      Stack stack = findStack(input);
      if (stack.at) {
        // All operands must be indexed by the same loop.
        if (at && at != stack.at)
          return;
        at = stack.at;
      } else if (loop.isDefinedOutsideOfLoop(input) ||
                 isa<BlockArgument>(input) ||
                 cast<RankedTensorType>(input.getType()).getNumElements() >
                     std::min(elements,
                              kMaxStackRatio * elements / tripCount)) {
        // Writing and reading the stack must cost less than accumulating in
        // each iteration, and the stack must not take much more memory than the
        // sum.
        return;
      }
      stacks.push_back(stack);
    }
    for (auto [stack, input] : llvm::zip_equal(stacks, sum.getInputs()))
      if (!stack.at)
        stack = makeStack(input, at ? at : loop.getInductionVar());

    // The contraction gets one more loop, over the iterations.
    unsigned newLoop = sum.getNumLoops();
    SmallVector<AffineMap> maps;
    SmallVector<Value> inputs;
    for (auto [stack, map] : llvm::zip(stacks, sum.getIndexingMapsArray())) {
      SmallVector<AffineExpr> places(map.getResults());
      places.insert(places.begin() + stack.axis, b.getAffineDimExpr(newLoop));
      maps.push_back(AffineMap::get(newLoop + 1, 0, places, b.getContext()));
      inputs.push_back(stack.tensor ? stack.tensor
                                    : loop.getResult(stack.result));
    }
    AffineMap result = sum.getIndexingMapsArray().back();
    maps.push_back(
        AffineMap::get(newLoop + 1, 0, result.getResults(), b.getContext()));
    SmallVector<utils::IteratorType> iterators = sum.getIteratorTypesArray();
    iterators.push_back(utils::IteratorType::reduction);

    b.setInsertionPointAfter(loop);
    auto after =
        b.create<linalg::GenericOp>(sum.getLoc(), sum.getResultTypes(), inputs,
                                    loop.getInitArgs()[i], maps, iterators);
    b.inlineRegionBefore(sum.getRegion(), after.getRegion(),
                         after.getRegion().begin());
    b.replaceAllUsesWith(loop.getResult(i), after.getResult(0));
    Operation *kept = *sum->user_begin();
    b.replaceOp(kept, loop.getRegionIterArg(i));
    b.eraseOp(sum);
  }

  RewriterBase &b;
  scf::ForOp loop;
  int64_t tripCount = 0;
};

struct DeferAccumulation
    : netc::impl::DeferAccumulationBase<DeferAccumulation> {
  void runOnOperation() override {
    // Inner loops first: a sum that moved behind one may move out of the next.
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    IRRewriter b(&getContext());
    for (scf::ForOp loop : loops)
      Hoister(b, loop).run();
    // Drop iteration arguments that loops no longer change.
    RewritePatternSet patterns(&getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(
            applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
