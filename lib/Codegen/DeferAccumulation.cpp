// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The gradient of a recurrent weight is a sum over the iterations of a loop.
// Each iteration multiplies matrices with few rows, but reads and writes the
// whole gradient to add their product. One product after the loop, which sums
// over iterations and rows, accesses the gradient once. It needs the operands
// of all iterations in one tensor each: the operands are slices of such a
// tensor already, or the loop stacks them.

#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/Passes.h"
#include "lib/Codegen/RewriteSteps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_DEFERACCUMULATION
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

/// Limit of the elements of a stack, as a multiple of those of the sum.
static constexpr int64_t kMaxStackRatio = 4;

namespace {
/// The contraction that each iteration adds to a tensor that the loop carries.
struct Sum {
  linalg::GenericOp product;
  /// The op that adds the product to the tensor, if the product is rounded
  /// first. Null if the product accumulates into the tensor itself.
  linalg::GenericOp add;

  explicit operator bool() const { return bool(product); }
  /// The op whose result the loop carries to the next iteration.
  linalg::GenericOp last() const { return add ? add : product; }
};

/// The values of an operand in all iterations, as one tensor: the value of an
/// iteration is the slice with index `at` along `axis`. The tensor is `tensor`,
/// or result `result` of the loop if `tensor` is null. If `at` is null, there
/// is no such tensor.
struct Stack {
  Value at;
  int64_t axis = 0;
  Value tensor;
  unsigned result = 0;
};

/// Moves the sums of a loop to after the loop. A loop that must yield a new
/// stack is replaced.
class SumSinker {
public:
  SumSinker(RewriterBase &b, scf::ForOp loop) : b(b), loop(loop) {}

  void run() {
    if (getConstantIntValue(loop.getLowerBound()) != 0 ||
        getConstantIntValue(loop.getStep()) != 1)
      return;
    std::optional<int64_t> bound = getConstantIntValue(loop.getUpperBound());
    if (!bound)
      return;
    tripCount = *bound;
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
      if (Sum sum = sumOf(i))
        sinkSum(i, sum);
  }

private:
  /// The sum that is carried as iteration argument `i`. Empty if the loop uses
  /// the carried tensor for anything else.
  Sum sumOf(unsigned i) {
    BlockArgument carried = loop.getRegionIterArg(i);
    auto kept = loop.getYieldedValues()[i]
                    .getDefiningOp<bufferization::MaterializeInDestinationOp>();
    if (!kept || kept.getDest() != carried)
      return {};
    auto last = kept.getSource().getDefiningOp<linalg::GenericOp>();
    // The two uses are the sum and the op that stores it.
    if (!last || last->getBlock() != loop.getBody() || !last->hasOneUse() ||
        std::distance(carried.use_begin(), carried.use_end()) != 2)
      return {};
    if (isContraction(last))
      return last.getOutputs()[0] == carried ? Sum{last, {}} : Sum();
    if (!isRoundedSum(last))
      return {};
    unsigned place = last.getInputs()[0] == carried ? 1 : 0;
    auto product = last.getInputs()[place].getDefiningOp<linalg::GenericOp>();
    if (last.getInputs()[1 - place] != carried || !product ||
        product->getBlock() != loop.getBody() || !isContraction(product) ||
        !product->hasOneUse() ||
        !product.getOutputs()[0].getDefiningOp<linalg::FillOp>())
      return {};
    return {product, last};
  }

  /// Whether `at` counts from 0 to the trip count - 1, up or down.
  bool isPermuted(Value at) {
    if (at == loop.getInductionVar())
      return true;
    auto back = at.getDefiningOp<arith::SubIOp>();
    return back && back.getRhs() == loop.getInductionVar() &&
           getConstantIntValue(back.getLhs()) == tripCount - 1;
  }

  /// `whole` as a stack, if `slice` accesses one iteration's part of it, which
  /// has the shape of `part`.
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

  /// The stack that `value` is a slice of, or is inserted into.
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

  /// Lets the loop yield a stack of `value`, with index `at` along a new first
  /// axis.
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
          // Before the loop writes what it carries: `value` may be in that
          // memory, and bufferization does not see that it is the same.
          Value start = countsUp ? loop.getInductionVar() : at;
          auto writes =
              end.getInsertionBlock()
                  ->getOps<bufferization::MaterializeInDestinationOp>();
          auto isBehind = [&](Operation *write) {
            return llvm::all_of(ValueRange{value, start}, [&](Value read) {
              Operation *op = read.getDefiningOp();
              return !op || op->getBlock() != write->getBlock() ||
                     op->isBeforeInBlock(write);
            });
          };
          auto write = llvm::find_if(writes, isBehind);
          if (write != writes.end())
            end.setInsertionPoint(*write);
          starts[0] = start;
          return SmallVector<Value>{end.create<tensor::InsertSliceOp>(
              value.getLoc(), value, carried.back(), starts, sizes, strides)};
        }));
    return {countsUp ? loop.getInductionVar() : at, 0, {}, place};
  }

  /// A copy, after the loop, of the fill that initializes the result of
  /// `product`.
  Value startOf(linalg::GenericOp product) {
    auto fill = product.getOutputs()[0].getDefiningOp<linalg::FillOp>();
    auto type = cast<RankedTensorType>(fill.getResult(0).getType());
    Value empty = b.create<tensor::EmptyOp>(fill.getLoc(), type.getShape(),
                                            type.getElementType());
    return b.create<linalg::FillOp>(fill.getLoc(), fill.value(), empty)
        .getResult(0);
  }

  /// A copy, after the loop, of the op that adds a product to the carried
  /// tensor: it adds `sums` to the initial value of iteration argument `i`.
  Value added(linalg::GenericOp add, unsigned i, Value sums) {
    auto type = cast<RankedTensorType>(add.getResult(0).getType());
    Value carried = loop.getRegionIterArg(i);
    SmallVector<Value> inputs;
    for (Value input : add.getInputs())
      inputs.push_back(input == carried ? loop.getInitArgs()[i] : sums);
    Value empty = b.create<tensor::EmptyOp>(add.getLoc(), type.getShape(),
                                            type.getElementType());
    auto after = b.create<linalg::GenericOp>(add.getLoc(), type, inputs, empty,
                                             add.getIndexingMapsArray(),
                                             add.getIteratorTypesArray());
    b.inlineRegionBefore(add.getRegion(), after.getRegion(),
                         after.getRegion().begin());
    return after.getResult(0);
  }

  /// Moves the sum of iteration argument `i` to after the loop. If it was
  /// rounded in each iteration, it is now rounded once.
  void sinkSum(unsigned i, Sum whole) {
    linalg::GenericOp sum = whole.product;
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

    // The contraction gets another reduction loop, over the iterations.
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
    auto after = b.create<linalg::GenericOp>(
        sum.getLoc(), sum.getResultTypes(), inputs,
        whole.add ? startOf(sum) : loop.getInitArgs()[i], maps, iterators);
    b.inlineRegionBefore(sum.getRegion(), after.getRegion(),
                         after.getRegion().begin());
    Value sums = after.getResult(0);
    if (whole.add)
      sums = added(whole.add, i, sums);
    b.replaceAllUsesWith(loop.getResult(i), sums);
    Operation *kept = *whole.last()->user_begin();
    b.replaceOp(kept, loop.getRegionIterArg(i));
    if (whole.add)
      b.eraseOp(whole.add);
    b.eraseOp(sum);
  }

  RewriterBase &b;
  scf::ForOp loop;
  int64_t tripCount = 0;
};

struct DeferAccumulation
    : netc::impl::DeferAccumulationBase<DeferAccumulation> {
  void runOnOperation() override {
    // Inner loops first: a sum that moved out of one may then move out of the
    // loop around it.
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    IRRewriter b(&getContext());
    for (scf::ForOp loop : loops)
      SumSinker(b, loop).run();
    // Drop iteration arguments that loops no longer change.
    RewritePatternSet patterns(&getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns),
                                            rewritingSteps(/*topDown=*/false))))
      signalPassFailure();
  }
};
} // namespace
