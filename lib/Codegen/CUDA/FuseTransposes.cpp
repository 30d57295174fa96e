// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_FUSETRANSPOSES
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

/// Whether an op may be the epilogue of a product, which writes in the order of
/// the product.
static bool mayBeEpilogue(linalg::GenericOp op) {
  return llvm::any_of(op.getInputs(), [](Value input) {
    auto product = input.getDefiningOp<linalg::LinalgOp>();
    return product && product->hasOneUse() && isContraction(product);
  });
}

/// The transposes, alike and in the order of their block, that are all readers
/// of an element-wise op; none if there are others.
static SmallVector<linalg::TransposeOp> readersOf(linalg::GenericOp op) {
  if (op->getNumResults() != 1 || op.getNumReductionLoops() != 0 ||
      !op.getRegionOutputArgs()[0].use_empty() ||
      !op.getIndexingMapsArray().back().isPermutation() ||
      !readsOnlyOperands(op) || mayBeEpilogue(op))
    return {};
  SmallVector<linalg::TransposeOp> transposes;
  for (Operation *user : op->getUsers()) {
    auto transpose = dyn_cast<linalg::TransposeOp>(user);
    if (!transpose || transpose->getBlock() != op->getBlock() ||
        !readsTheSame(op, transpose) ||
        transpose.getPermutation() !=
            cast<linalg::TransposeOp>(*op->user_begin()).getPermutation())
      return {};
    transposes.push_back(transpose);
  }
  llvm::sort(transposes,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return transposes;
}

/// Lets an op write its result as a transpose of it has it.
static void writeTransposed(linalg::GenericOp op, linalg::TransposeOp transpose,
                            RewriterBase &rewriter) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<AffineExpr> axes;
  for (int64_t axis : transpose.getPermutation())
    axes.push_back(maps.back().getResult(axis));
  maps.back() =
      AffineMap::get(op.getNumLoops(), 0, axes, rewriter.getContext());
  rewriter.setInsertionPoint(transpose);
  auto fused = rewriter.create<linalg::GenericOp>(
      rewriter.getFusedLoc({op.getLoc(), transpose.getLoc()}),
      transpose->getResultTypes(), op.getInputs(), transpose.getInit(), maps,
      op.getIteratorTypesArray());
  rewriter.inlineRegionBefore(op.getRegion(), fused.getRegion(),
                              fused.getRegion().end());
  rewriter.replaceOp(transpose, fused);
  rewriter.eraseOp(op);
}

namespace {
struct FuseTransposes : netc::impl::FuseTransposesBase<FuseTransposes> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops) {
      SmallVector<linalg::TransposeOp> transposes = readersOf(op);
      if (transposes.empty())
        continue;
      for (linalg::TransposeOp other : llvm::drop_begin(transposes))
        rewriter.replaceOp(other, transposes.front());
      writeTransposed(op, transposes.front(), rewriter);
    }
  }
};
} // namespace
