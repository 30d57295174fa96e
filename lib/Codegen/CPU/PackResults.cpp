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
#define GEN_PASS_DEF_PACKRESULTS
#include "lib/Codegen/CPU/Passes.h.inc"
} // namespace netc

/// Lets a product write panels, if its result is only copied into another
/// order.
static void packResult(linalg::GenericOp op, int64_t nr) {
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
        !arePanels(sizesOf(op.getInputs()[number])[*column], nr))
      continue;

    // The copy gets a loop over panels, too.
    OpOperand *source = reorder.getDpsInputOperand(0);
    AffineMap read = reorder.getMatchingIndexingMap(source);
    // A copy that only converts elements already reads them in the order of
    // memory.
    if (!read.isProjectedPermutation() || read.isIdentity())
      return;
    auto last = cast<AffineDimExpr>(read.getResults().back());
    OpBuilder b(op);
    AffineExpr panel = b.getAffineDimExpr(read.getNumDims());
    SmallVector<AffineExpr> written;
    for (unsigned loop = 0; loop < read.getNumDims(); ++loop)
      written.push_back(b.getAffineDimExpr(loop));
    written[last.getPosition()] = panel * nr + last;

    // Panels are the outermost axis. In a panel, the columns' other loops come
    // before the rows.
    ArrayRef<int64_t> shape = sizesOf(op.getResult(0));
    SmallVector<int64_t> sizes = {shape.back() / nr}, rowSizes;
    SmallVector<AffineExpr> order = {b.getAffineDimExpr(op.getNumLoops())},
                            from = {panel}, rows, fromRows;
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
    llvm::append_range(order, rows);
    llvm::append_range(from, fromRows);
    llvm::append_range(sizes, rowSizes);
    order.push_back(b.getAffineDimExpr(within));
    from.push_back(last);
    sizes.push_back(nr);

    cutColumns(op, within, 2, order, nr);
    Value empty =
        b.create<tensor::EmptyOp>(fill.getLoc(), sizes, fill.value().getType());
    Value zeros =
        b.create<linalg::FillOp>(fill.getLoc(), fill.value(), empty).result();
    op.getOutputsMutable()[0].assign(zeros);
    op->getResult(0).setType(zeros.getType());
    fill->erase();

    b.setInsertionPoint(reorder);
    unsigned loops = read.getNumDims() + 1;
    auto unpacked =
        createCopy(b, reorder.getLoc(), op.getResult(0),
                   AffineMap::get(loops, 0, from, b.getContext()),
                   reorder.getDpsInitOperand(0)->get(),
                   AffineMap::get(loops, 0, written, b.getContext()), reorder);
    reorder->getResult(0).replaceAllUsesWith(unpacked.getResult(0));
    reorder->erase();
    return;
  }
}

namespace {
struct PackResults : netc::impl::PackResultsBase<PackResults> {
  using PackResultsBase::PackResultsBase;

  void runOnOperation() override {
    TargetInfo target = TargetInfo::of(isa);
    getOperation().walk([&](linalg::GenericOp op) {
      if (isContraction(op))
        packResult(op, target.panelColumns);
    });
  }
};
} // namespace
