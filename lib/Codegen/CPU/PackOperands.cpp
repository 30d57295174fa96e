// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CPU/Panels.h"
#include "lib/Codegen/CPU/Passes.h"
#include "lib/Codegen/CPU/TargetInfo.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_PACKOPERANDS
#include "lib/Codegen/CPU/Passes.h.inc"
} // namespace netc

/// Least number of rows that use an operand for packing it to pay.
static constexpr int64_t kMinRowsToPack = 1024;

/// Whether packing operand `number` pays: many rows of the other operand use
/// each of its elements, and the other operand exceeds the cache and is
/// contiguous along k.
static bool isWorthCopying(linalg::GenericOp op, unsigned number,
                           const TargetInfo &target) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap map = maps[number], other = maps[1 - number];
  auto iterators = op.getIteratorTypesArray();
  for (auto [loop, iterator] : llvm::enumerate(iterators))
    if (iterator == utils::IteratorType::parallel &&
        map.isFunctionOfDim(loop) && other.isFunctionOfDim(loop))
      return false; // a batch loop
  auto last = dyn_cast<AffineDimExpr>(other.getResults().back());
  Value rest = op.getInputs()[1 - number];
  return rowsBeside(op, map) >= kMinRowsToPack && last &&
         iterators[last.getPosition()] == utils::IteratorType::reduction &&
         ShapedType::getNumElements(sizesOf(rest)) > target.residentElements();
}

/// Packs an operand into panels. If the operand is itself a copy, that copy
/// writes the panels.
static void packOperand(linalg::GenericOp op, unsigned number,
                        const TargetInfo &target) {
  int64_t nr = target.panelColumns;
  Value operand = op.getInputs()[number];
  std::optional<unsigned> column = columnAxis(op, number);
  if (!column || !arePanels(sizesOf(operand)[*column], nr))
    return;
  auto reorder = operand.getDefiningOp<linalg::LinalgOp>();
  if (reorder && !(reorder->hasOneUse() && isReordering(reorder)))
    reorder = nullptr;
  if (!reorder && !isWorthCopying(op, number, target))
    return;

  // Panels are the outermost axis.
  OpBuilder b(reorder ? reorder.getOperation() : op.getOperation());
  unsigned rank = sizesOf(operand).size();
  AffineMap map = op.getIndexingMapsArray()[number];
  auto within = cast<AffineDimExpr>(map.getResult(*column));
  SmallVector<int64_t> sizes = {sizesOf(operand)[*column] / nr};
  SmallVector<AffineExpr> order = {b.getAffineDimExpr(op.getNumLoops())};
  SmallVector<AffineExpr> axes(rank);
  for (unsigned axis = 0; axis < rank; ++axis)
    if (axis != *column) {
      axes[axis] = b.getAffineDimExpr(sizes.size());
      sizes.push_back(sizesOf(operand)[axis]);
      order.push_back(map.getResult(axis));
    }
  axes[*column] = b.getAffineDimExpr(0) * nr + b.getAffineDimExpr(rank);
  sizes.push_back(nr);
  order.push_back(within);

  auto from = AffineMap::get(rank + 1, 0, axes, b.getContext());
  if (reorder) {
    OpOperand *source = reorder.getDpsInputOperand(0);
    from = reorder.getMatchingIndexingMap(source).compose(from);
    operand = source->get();
  }
  Location loc = reorder ? reorder.getLoc() : op.getLoc();
  Value empty = b.create<tensor::EmptyOp>(
      loc, sizes, getElementTypeOrSelf(op.getInputs()[number]));
  auto panels = createCopy(b, loc, operand, from, empty,
                           b.getMultiDimIdentityMap(rank + 1), reorder);
  cutColumns(op, within.getPosition(), number, order, nr);
  op.getInputsMutable()[number].assign(panels.getResult(0));
  if (reorder)
    reorder->erase();
}

/// A copy may index its source by i / NR and i % NR, for a loop i. Splits that
/// loop into one over panels and one within a panel.
static void cutLoops(linalg::GenericOp copy, int64_t nr) {
  Builder b(copy.getContext());
  SmallVector<int64_t> extents = copy.getStaticLoopRanges();
  for (auto [loop, extent] : llvm::enumerate(extents)) {
    AffineExpr at = b.getAffineDimExpr(loop);
    AffineExpr panel = at.floorDiv(nr), within = at % nr;
    bool isCut = false;
    AffineMap from = copy.getIndexingMapsArray()[0];
    from.walkExprs(
        [&](AffineExpr expr) { isCut |= expr == panel || expr == within; });
    if (!isCut)
      continue;
    bool isWithin = extent <= nr;
    AffineExpr zero = b.getAffineConstantExpr(0);
    AffineExpr next = b.getAffineDimExpr(copy.getNumLoops());
    SmallVector<AffineExpr> places;
    for (AffineExpr place : from.getResults())
      places.push_back(
          place.replace({{panel, isWithin ? zero : next}, {within, at}}));
    if (!isWithin) {
      cutColumns(copy, loop, 0, places, nr);
      continue;
    }
    SmallVector<AffineMap> maps = copy.getIndexingMapsArray();
    maps[0] = AffineMap::get(from.getNumDims(), 0, places, b.getContext());
    copy.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  }
}

/// Lets a product read the source of a copy directly, if the copy only reverses
/// axes of reduction loops. These must not be the last two axes, the rows of a
/// panel.
static void readInPlace(linalg::GenericOp op, unsigned number) {
  auto copy = op.getInputs()[number].getDefiningOp<linalg::GenericOp>();
  if (!copy || copy->getBlock() != op->getBlock() || !isReordering(copy) ||
      !isCopy(copy) || !readsTheSame(copy, op))
    return;
  Value source = copy.getInputs()[0];
  ArrayRef<int64_t> sizes = sizesOf(source);
  if (sizes != sizesOf(copy.getResult(0)))
    return;
  Builder b(op.getContext());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto iterators = op.getIteratorTypesArray();
  SmallVector<AffineExpr> turned;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    turned.push_back(b.getAffineDimExpr(loop));
  for (auto [axis, place] :
       llvm::enumerate(copy.getIndexingMapsArray()[0].getResults())) {
    AffineExpr at = b.getAffineDimExpr(axis);
    if (sizes[axis] == 1 || place == at)
      continue;
    auto loop = dyn_cast<AffineDimExpr>(maps[number].getResult(axis));
    if (!loop || axis + 2 >= sizes.size() || place != sizes[axis] - 1 - at ||
        iterators[loop.getPosition()] != utils::IteratorType::reduction)
      return;
    turned[loop.getPosition()] = sizes[axis] - 1 - loop;
  }
  for (auto [i, map] : llvm::enumerate(maps))
    if (i != number)
      map = map.replaceDimsAndSymbols(turned, {}, op.getNumLoops(), 0);
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  op.getInputsMutable()[number].assign(source);
  if (copy->use_empty())
    copy->erase();
}

namespace {
struct PackOperands : netc::impl::PackOperandsBase<PackOperands> {
  using PackOperandsBase::PackOperandsBase;

  void runOnOperation() override {
    TargetInfo target = TargetInfo::of(isa);
    SmallVector<linalg::GenericOp> products;
    getOperation().walk([&](linalg::GenericOp op) {
      if (isContraction(op))
        products.push_back(op);
    });
    for (linalg::GenericOp op : products) {
      for (unsigned number : {0, 1})
        packOperand(op, number, target);
      // A fill directly before the product is lowered with it.
      auto fill = op.getOutputs()[0].getDefiningOp<linalg::FillOp>();
      if (fill && fill->hasOneUse() && fill->getBlock() == op->getBlock())
        fill->moveBefore(op);
    }
    getOperation().walk([&](linalg::GenericOp op) {
      if (isConversion(op))
        cutLoops(op, target.panelColumns);
    });
    for (linalg::GenericOp op : products)
      for (unsigned number : {0, 1})
        readInPlace(op, number);
  }
};
} // namespace
