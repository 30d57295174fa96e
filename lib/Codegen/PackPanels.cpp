// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/LoopNest.h"
#include "lib/Codegen/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_PACKPANELS
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

/// Columns of a panel: two vectors of 512 bits of f32, as a tile of a product
/// has. Narrower tiles walk over a panel in several turns.
static constexpr int64_t kPanelColumns = 32;

/// From how many rows on an operand that is no copy is copied.
static constexpr int64_t kManyRows = 1024;

/// Whether `op` is a copy that runs over its result.
static bool isReordering(linalg::LinalgOp op) {
  return isCopy(op) &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity();
}

/// The axis of operand `number` of a product along which columns of the result
/// lie, those that are next to each other there, and nothing else does.
static std::optional<unsigned> columnAxis(linalg::GenericOp op,
                                          unsigned number) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap map = maps[number], result = maps.back();
  auto last = result.getNumResults() == 0
                  ? AffineExpr()
                  : dyn_cast<AffineDimExpr>(result.getResults().back());
  if (!last)
    return std::nullopt;
  unsigned loop = cast<AffineDimExpr>(last).getPosition();
  std::optional<unsigned> found;
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(loop))
      continue;
    if (found || expr != last)
      return std::nullopt;
    found = axis;
  }
  return maps[1 - number].isFunctionOfDim(loop) ? std::nullopt : found;
}

static ArrayRef<int64_t> sizesOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

/// Whether so many columns are several panels.
static bool arePanels(int64_t columns) {
  return columns > kPanelColumns && columns % kPanelColumns == 0;
}

/// Writes the elements of `source` at `from` to `target` at `to`.
static linalg::GenericOp copy(OpBuilder &b, Location loc, Value source,
                              AffineMap from, Value target, AffineMap to) {
  SmallVector<utils::IteratorType> iterators(to.getNumDims(),
                                             utils::IteratorType::parallel);
  return b.create<linalg::GenericOp>(
      loc, target.getType(), source, target, ArrayRef<AffineMap>{from, to},
      iterators, [](OpBuilder &b, Location loc, ValueRange elements) {
        b.create<linalg::YieldOp>(loc, elements.front());
      });
}

/// Cuts the loop of the columns: within a panel, and over panels, which comes
/// last. Operand `packed`, the result if it is 2, is read by `order`.
static void cutColumns(linalg::GenericOp op, unsigned column, unsigned packed,
                       ArrayRef<AffineExpr> order) {
  Builder b(op.getContext());
  unsigned count = op.getNumLoops();
  AffineExpr panel = b.getAffineDimExpr(count),
             within = b.getAffineDimExpr(column);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (auto [i, map] : llvm::enumerate(maps)) {
    SmallVector<AffineExpr> results(map.getResults());
    for (AffineExpr &result : results)
      result = result.replace(within, panel * kPanelColumns + within);
    if (i == packed)
      results.assign(order.begin(), order.end());
    map = AffineMap::get(count + 1, 0, results, b.getContext());
  }
  SmallVector<Attribute> iterators(op.getIteratorTypes().getValue());
  iterators.push_back(linalg::IteratorTypeAttr::get(
      b.getContext(), utils::IteratorType::parallel));
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  op.setIteratorTypesAttr(b.getArrayAttr(iterators));
}

/// Whether a copy of operand `number` pays: each of its elements is used by
/// many rows, which exceed the cache, and walk along the sum.
static bool isWorthCopying(linalg::GenericOp op, unsigned number) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap map = maps[number], other = maps[1 - number];
  auto iterators = op.getIteratorTypesArray();
  for (auto [loop, iterator] : llvm::enumerate(iterators))
    if (iterator == utils::IteratorType::parallel &&
        map.isFunctionOfDim(loop) && other.isFunctionOfDim(loop))
      return false; // a batch
  auto last = dyn_cast<AffineDimExpr>(other.getResults().back());
  Value rest = op.getInputs()[1 - number];
  return rowsBeside(op, map) >= kManyRows && last &&
         iterators[last.getPosition()] == utils::IteratorType::reduction &&
         ShapedType::getNumElements(sizesOf(rest)) > kNearElements;
}

/// Copies an operand to panels, or lets the copy that it is write them.
static void packOperand(linalg::GenericOp op, unsigned number) {
  Value operand = op.getInputs()[number];
  std::optional<unsigned> column = columnAxis(op, number);
  if (!column || !arePanels(sizesOf(operand)[*column]))
    return;
  auto reorder = operand.getDefiningOp<linalg::LinalgOp>();
  if (reorder && !(reorder->hasOneUse() && isReordering(reorder)))
    reorder = nullptr;
  if (!reorder && !isWorthCopying(op, number))
    return;

  // The panels are outermost.
  OpBuilder b(reorder ? reorder.getOperation() : op.getOperation());
  unsigned rank = sizesOf(operand).size();
  AffineMap map = op.getIndexingMapsArray()[number];
  auto within = cast<AffineDimExpr>(map.getResult(*column));
  SmallVector<int64_t> sizes = {sizesOf(operand)[*column] / kPanelColumns};
  SmallVector<AffineExpr> order = {b.getAffineDimExpr(op.getNumLoops())};
  SmallVector<AffineExpr> axes(rank);
  for (unsigned axis = 0; axis < rank; ++axis)
    if (axis != *column) {
      axes[axis] = b.getAffineDimExpr(sizes.size());
      sizes.push_back(sizesOf(operand)[axis]);
      order.push_back(map.getResult(axis));
    }
  axes[*column] =
      b.getAffineDimExpr(0) * kPanelColumns + b.getAffineDimExpr(rank);
  sizes.push_back(kPanelColumns);
  order.push_back(within);

  auto from = AffineMap::get(rank + 1, 0, axes, b.getContext());
  if (reorder) {
    OpOperand *source = reorder.getDpsInputOperand(0);
    from = reorder.getMatchingIndexingMap(source).compose(from);
    operand = source->get();
  }
  Location loc = reorder ? reorder.getLoc() : op.getLoc();
  Value empty =
      b.create<tensor::EmptyOp>(loc, sizes, getElementTypeOrSelf(operand));
  auto panels =
      copy(b, loc, operand, from, empty, b.getMultiDimIdentityMap(rank + 1));
  cutColumns(op, within.getPosition(), number, order);
  op.getInputsMutable()[number].assign(panels.getResult(0));
  if (reorder)
    reorder->erase();
}

/// Lets a product write panels, if its result is copied into another order.
static void packResult(linalg::GenericOp op) {
  auto fill = op.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  if (!fill || !fill->hasOneUse() || !op->hasOneUse())
    return;
  auto reorder = dyn_cast<linalg::LinalgOp>(*op->user_begin());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap result = maps[2];
  if (!reorder || !isReordering(reorder) || !result.isProjectedPermutation())
    return;
  for (unsigned number : {0, 1}) {
    std::optional<unsigned> column = columnAxis(op, number);
    if (!column || *column + 1 != maps[number].getNumResults() ||
        !arePanels(sizesOf(op.getInputs()[number])[*column]))
      continue;

    // The copy has a loop over panels, too.
    OpOperand *source = reorder.getDpsInputOperand(0);
    AffineMap read = reorder.getMatchingIndexingMap(source);
    if (!read.isProjectedPermutation())
      return;
    auto last = cast<AffineDimExpr>(read.getResults().back());
    OpBuilder b(op);
    AffineExpr panel = b.getAffineDimExpr(read.getNumDims());
    SmallVector<AffineExpr> written;
    for (unsigned loop = 0; loop < read.getNumDims(); ++loop)
      written.push_back(b.getAffineDimExpr(loop));
    written[last.getPosition()] = panel * kPanelColumns + last;

    // Tiles of rows follow each other in a panel.
    SmallVector<int64_t> sizes, rowSizes;
    SmallVector<AffineExpr> order, rows, from, fromRows;
    ArrayRef<int64_t> shape = sizesOf(op.getResult(0));
    unsigned within = result.getDimPosition(shape.size() - 1);
    for (unsigned axis = 0; axis + 1 < shape.size(); ++axis) {
      unsigned loop = result.getDimPosition(axis);
      bool isColumn = maps[number].isFunctionOfDim(loop);
      if (isColumn && maps[1 - number].isFunctionOfDim(loop))
        return;
      (isColumn ? order : rows).push_back(result.getResult(axis));
      (isColumn ? from : fromRows).push_back(read.getResult(axis));
      (isColumn ? sizes : rowSizes).push_back(shape[axis]);
    }
    order.push_back(b.getAffineDimExpr(op.getNumLoops()));
    from.push_back(panel);
    sizes.push_back(shape.back() / kPanelColumns);
    llvm::append_range(order, rows);
    llvm::append_range(from, fromRows);
    llvm::append_range(sizes, rowSizes);
    order.push_back(b.getAffineDimExpr(within));
    from.push_back(last);
    sizes.push_back(kPanelColumns);

    cutColumns(op, within, 2, order);
    Value empty =
        b.create<tensor::EmptyOp>(fill.getLoc(), sizes, fill.value().getType());
    Value zeros =
        b.create<linalg::FillOp>(fill.getLoc(), fill.value(), empty).result();
    op.getOutputsMutable()[0].assign(zeros);
    op->getResult(0).setType(zeros.getType());
    fill->erase();

    b.setInsertionPoint(reorder);
    unsigned loops = read.getNumDims() + 1;
    auto unpacked = copy(b, reorder.getLoc(), op.getResult(0),
                         AffineMap::get(loops, 0, from, b.getContext()),
                         reorder.getDpsInitOperand(0)->get(),
                         AffineMap::get(loops, 0, written, b.getContext()));
    reorder->getResult(0).replaceAllUsesWith(unpacked.getResult(0));
    reorder->erase();
    return;
  }
}

namespace {
struct PackPanels : netc::impl::PackPanelsBase<PackPanels> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> products;
    getOperation().walk([&](linalg::GenericOp op) {
      if (isContraction(op))
        products.push_back(op);
    });
    for (linalg::GenericOp op : products) {
      for (unsigned number : {0, 1})
        packOperand(op, number);
      packResult(op);
      // What a product starts from needs no pass if it stands next to it.
      auto fill = op.getOutputs()[0].getDefiningOp<linalg::FillOp>();
      if (fill && fill->hasOneUse() && fill->getBlock() == op->getBlock())
        fill->moveBefore(op);
    }
  }
};
} // namespace
