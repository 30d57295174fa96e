// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Attention.h"
#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/MatrixSchedule.h"
#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_PADROWS
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

/// Whether matrix instructions multiply the elements of an operand, and each of
/// its axes is a loop of the product.
static bool isOfProduct(OpOperand &use) {
  auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
  return op && !op->hasAttr(kAttention) && op.isDpsInput(&use) &&
         isContraction(op) && matrixElementBytes(op) &&
         op.getMatchingIndexingMap(&use).isProjectedPermutation();
}

/// Lets rows of a result start at multiples of a chunk.
static void padRows(OpResult result) {
  auto op = cast<linalg::LinalgOp>(result.getOwner());
  auto type = cast<RankedTensorType>(result.getType());
  OpOperand *init = op.getTiedOpOperand(result);
  if (type.getRank() < 2 || !type.hasStaticShape() ||
      !init->get().getDefiningOp<tensor::EmptyOp>() || result.use_empty() ||
      !llvm::all_of(result.getUses(), isOfProduct))
    return;
  int64_t chunk =
      MatrixSchedule::kChunkBytes * 8 / type.getElementTypeBitWidth();
  SmallVector<int64_t> shape(type.getShape());
  if (shape.back() < chunk || shape.back() % chunk == 0)
    return;
  shape.back() = llvm::alignTo(shape.back(), chunk);
  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<OpFoldResult> starts(shape.size(), b.getIndexAttr(0)),
      steps(shape.size(), b.getIndexAttr(1));
  init->set(b.create<tensor::ExtractSliceOp>(
      b.create<tensor::EmptyOp>(shape, type.getElementType()), starts,
      getAsIndexOpFoldResult(b.getContext(), type.getShape()), steps));
}

namespace {
struct PadRows : netc::impl::PadRowsBase<PadRows> {
  void runOnOperation() override {
    getOperation().walk([](linalg::LinalgOp op) {
      if (op.getNumReductionLoops() == 0)
        for (OpResult result : op->getResults())
          padRows(result);
    });
  }
};
} // namespace
