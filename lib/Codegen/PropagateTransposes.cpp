// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CostBounds.h"
#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/Passes.h"
#include "lib/Codegen/RewriteSteps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_PROPAGATETRANSPOSES
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

/// A permutation of axes: axis i of the result is axis order[i] of the operand.
using Order = SmallVector<int64_t>;

static bool isIdentity(ArrayRef<int64_t> order) {
  for (auto [i, axis] : llvm::enumerate(order))
    if (int64_t(i) != axis)
      return false;
  return true;
}

/// Whether a tensor can be created with its axes in any order: it is
/// uninitialized or filled.
static bool takesAnyOrder(Value x) {
  return x.getDefiningOp<tensor::EmptyOp>() ||
         x.getDefiningOp<linalg::FillOp>();
}

/// Permutes the axes of `x` by `order`.
static Value transpose(OpBuilder &b, Location loc, Value x,
                       ArrayRef<int64_t> order) {
  if (isIdentity(order))
    return x;
  auto type = cast<RankedTensorType>(x.getType());
  auto sizes = applyPermutation(type.getShape(), order);
  if (x.getDefiningOp<tensor::EmptyOp>())
    return b.create<tensor::EmptyOp>(loc, sizes, type.getElementType());
  if (auto fill = x.getDefiningOp<linalg::FillOp>()) {
    Value empty = b.create<tensor::EmptyOp>(loc, sizes, type.getElementType());
    return b.create<linalg::FillOp>(loc, fill.value(), empty).getResult(0);
  }
  if (auto inner = x.getDefiningOp<linalg::TransposeOp>())
    return transpose(b, loc, inner.getInput(),
                     applyPermutation(inner.getPermutation(), order));
  Value empty = b.create<tensor::EmptyOp>(loc, sizes, type.getElementType());
  return b.create<linalg::TransposeOp>(loc, x, empty, order)->getResult(0);
}

static SmallVector<OpFoldResult> reordered(SmallVector<OpFoldResult> values,
                                           ArrayRef<int64_t> order) {
  applyPermutationToVector(values, order);
  return values;
}

namespace {
/// Merges two transposes, and removes those that change nothing and those of
/// uninitialized or filled tensors.
struct FoldTranspose : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::TransposeOp op,
                                PatternRewriter &b) const override {
    Operation *maker = op.getInput().getDefiningOp();
    if (!isIdentity(op.getPermutation()) &&
        !isa_and_nonnull<linalg::TransposeOp, linalg::FillOp, tensor::EmptyOp>(
            maker))
      return failure();
    b.replaceOp(op,
                transpose(b, op.getLoc(), op.getInput(), op.getPermutation()));
    return success();
  }
};

/// For each loop, the first result of `map` that depends on it, or -1.
static SmallVector<int64_t> positionsIn(AffineMap map) {
  SmallVector<int64_t> positions(map.getNumDims(), -1);
  for (auto [i, expr] : llvm::enumerate(map.getResults()))
    for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
      if (positions[dim] < 0 && expr.isFunctionOfDim(dim))
        positions[dim] = i;
  return positions;
}

/// The permutation that puts the result's axes in the order of the operand's.
/// Axes that the operand lacks come first.
static Order orderLike(AffineMap result, AffineMap operand) {
  SmallVector<int64_t> positions = positionsIn(operand);
  SmallVector<std::pair<int64_t, int64_t>> keys;
  for (auto [i, expr] : llvm::enumerate(result.getResults())) {
    int64_t key = -1;
    for (unsigned dim = 0; dim < result.getNumDims(); ++dim)
      if (expr.isFunctionOfDim(dim))
        key = std::max(key, positions[dim]);
    keys.push_back({key, i});
  }
  llvm::sort(keys);
  Order order;
  for (auto [key, axis] : keys)
    order.push_back(axis);
  return order;
}

/// Whether a contraction can read an operand by `map` and still be vectorized.
/// Vectors run along the operand's last axis. It may be the same axis as in
/// `old`, or the axis of a parallel loop. It may be that of a long reduction
/// loop if many rows use the operand: packing then transposes it.
static bool keepsVectors(linalg::GenericOp op, AffineMap map, AffineMap old) {
  if (map.getNumResults() == 0)
    return true;
  AffineExpr last = map.getResults().back();
  if (last == old.getResults().back())
    return true;
  auto dim = dyn_cast<AffineDimExpr>(last);
  if (!dim)
    return false;
  unsigned loop = dim.getPosition();
  return op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel ||
         (rowsBeside(op, map) >= kMinTransposedRows &&
          op.getStaticLoopRanges()[loop] >= kMinTransposedSum);
}

/// Rewrites an op with transposed operands: it reads them before their
/// transpose, and its results take over their order.
struct SinkThroughGeneric : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &b) const override {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<Value> inputs = op.getInputs(), outputs = op.getOutputs();
    // The transposed operand with the most axes, which decides the results'
    // order.
    std::optional<unsigned> leader;
    bool isProduct = isContraction(op);
    for (auto [i, input] : llvm::enumerate(inputs)) {
      auto transposed = input.getDefiningOp<linalg::TransposeOp>();
      if (!transposed)
        continue;
      ArrayRef<int64_t> order = transposed.getPermutation();
      SmallVector<AffineExpr> exprs(order.size());
      for (auto [axis, from] : llvm::enumerate(order))
        exprs[from] = maps[i].getResult(axis);
      auto map = AffineMap::get(maps[i].getNumDims(), 0, exprs, b.getContext());
      if (isProduct && !keepsVectors(op, map, maps[i]))
        continue;
      maps[i] = map;
      inputs[i] = transposed.getInput();
      if (!leader || maps[i].getNumResults() > maps[*leader].getNumResults())
        leader = i;
    }
    if (!leader)
      return failure();

    SmallVector<Order> orders;
    for (auto [i, output] : llvm::enumerate(outputs)) {
      AffineMap &map = maps[inputs.size() + i];
      // A result with more axes keeps its order.
      Order order = orderLike(map, map);
      if (!isProduct && maps[*leader].getNumResults() >= map.getNumResults())
        order = orderLike(map, maps[*leader]);
      SmallVector<AffineExpr> exprs;
      for (int64_t axis : order)
        exprs.push_back(map.getResult(axis));
      map = AffineMap::get(map.getNumDims(), 0, exprs, b.getContext());
      output = transpose(b, op.getLoc(), output, order);
      orders.push_back(order);
    }
    SmallVector<Type> types;
    for (Value output : outputs)
      types.push_back(output.getType());
    auto sunk = b.create<linalg::GenericOp>(op.getLoc(), types, inputs, outputs,
                                            maps, op.getIteratorTypesArray());
    b.inlineRegionBefore(op.getRegion(), sunk.getRegion(),
                         sunk.getRegion().begin());
    SmallVector<Value> results;
    for (auto [result, order] : llvm::zip_equal(sunk.getResults(), orders))
      results.push_back(
          transpose(b, op.getLoc(), result, invertPermutationVector(order)));
    b.replaceOp(op, results);
    return success();
  }
};

/// Rewrites a contraction whose only user is a transpose: it writes the
/// transposed result, if that result's last axis is also the last axis of an
/// operand.
struct TransposeProduct : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::TransposeOp op,
                                PatternRewriter &b) const override {
    auto product = op.getInput().getDefiningOp<linalg::GenericOp>();
    if (!product || !isContraction(product) || !product->hasOneUse() ||
        !takesAnyOrder(product.getOutputs()[0]))
      return failure();
    SmallVector<AffineMap> maps = product.getIndexingMapsArray();
    SmallVector<AffineExpr> axes =
        applyPermutation(maps[2].getResults(), op.getPermutation());
    if (llvm::none_of(ArrayRef(maps).drop_back(), [&](AffineMap map) {
          return map.getNumResults() > 0 &&
                 map.getResults().back() == axes.back();
        }))
      return failure();
    maps[2] = AffineMap::get(maps[2].getNumDims(), 0, axes, b.getContext());
    b.setInsertionPoint(product);
    Value output = transpose(b, product.getLoc(), product.getOutputs()[0],
                             op.getPermutation());
    auto transposed = b.create<linalg::GenericOp>(
        product.getLoc(), output.getType(), product.getInputs(), output, maps,
        product.getIteratorTypesArray());
    b.cloneRegionBefore(product.getRegion(), transposed.getRegion(),
                        transposed.getRegion().begin());
    b.replaceOp(op, transposed);
    b.eraseOp(product);
    return success();
  }
};

/// Moves transposes down through tensor.insert_slice.
struct SinkThroughInsert : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &b) const override {
    if (op.getSourceType().getRank() != op.getType().getRank())
      return failure();
    auto part = op.getSource().getDefiningOp<linalg::TransposeOp>();
    auto whole = op.getDest().getDefiningOp<linalg::TransposeOp>();
    // If only the slice is transposed, the destination must be uninitialized or
    // filled. Otherwise the patterns would move transposes back and forth.
    if (!whole && !(part && takesAnyOrder(op.getDest())))
      return failure();
    Order order(whole ? whole.getPermutation() : part.getPermutation());
    Order inverse = invertPermutationVector(order);
    Value inserted = b.create<tensor::InsertSliceOp>(
        op.getLoc(), transpose(b, op.getLoc(), op.getSource(), inverse),
        transpose(b, op.getLoc(), op.getDest(), inverse),
        reordered(op.getMixedOffsets(), inverse),
        reordered(op.getMixedSizes(), inverse),
        reordered(op.getMixedStrides(), inverse));
    b.replaceOp(op, transpose(b, op.getLoc(), inserted, order));
    return success();
  }
};

/// Moves a transpose down through tensor.extract_slice.
struct SinkThroughExtract : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &b) const override {
    auto whole = op.getSource().getDefiningOp<linalg::TransposeOp>();
    if (!whole || op.getSourceType().getRank() != op.getType().getRank())
      return failure();
    Order order(whole.getPermutation());
    Order inverse = invertPermutationVector(order);
    Value part = b.create<tensor::ExtractSliceOp>(
        op.getLoc(), whole.getInput(), reordered(op.getMixedOffsets(), inverse),
        reordered(op.getMixedSizes(), inverse),
        reordered(op.getMixedStrides(), inverse));
    b.replaceOp(op, transpose(b, op.getLoc(), part, order));
    return success();
  }
};

struct PropagateTransposes
    : netc::impl::PropagateTransposesBase<PropagateTransposes> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldTranspose, TransposeProduct, SinkThroughGeneric,
                 SinkThroughInsert, SinkThroughExtract>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns),
                                            rewritingSteps())))
      signalPassFailure();
  }
};
} // namespace
