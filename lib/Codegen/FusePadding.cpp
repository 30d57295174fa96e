// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_FUSEPADDING
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

/// Whether an op is part of a padding: the constant tensor that another tensor
/// is inserted into.
static bool isPartOfPadding(Operation *op) {
  return op && isa<tensor::EmptyOp, linalg::FillOp, tensor::InsertSliceOp,
                   arith::ConstantOp>(op);
}

/// Whether two tensors are equal paddings.
static bool areEqualPaddings(Value a, Value b) {
  Operation *one = a.getDefiningOp(), *other = b.getDefiningOp();
  return isPartOfPadding(one) && isPartOfPadding(other) &&
         one->getName() == other->getName() && a.getType() == b.getType() &&
         one->getAttrDictionary() == other->getAttrDictionary() &&
         llvm::equal(one->getOperands(), other->getOperands(),
                     areEqualPaddings);
}

namespace {
/// Ops to move, each before another one. They are moved together at the end,
/// since isBeforeInBlock() renumbers a block after each move.
class Moves {
public:
  /// Moves the ops that compute a padding before `op`. If an op is to be moved
  /// before several, the first one counts.
  void moveBefore(Operation *padding, Operation *op) {
    if (padding->getBlock() != op->getBlock() || padding->isBeforeInBlock(op))
      return;
    for (Value operand : padding->getOperands())
      moveBefore(operand.getDefiningOp(), op);
    before.try_emplace(padding, op);
  }
  void make() const {
    for (auto [padding, op] : before)
      padding->moveBefore(op);
  }

private:
  llvm::MapVector<Operation *, Operation *> before;
};
} // namespace

/// If a result is only read padded, and padded equally by all readers (as by a
/// convolution and the gradient of its weight), they share one padded tensor,
/// whose padding is created before the result. Bufferization then lets the
/// result be written into the padded buffer.
static void computeInPadding(linalg::GenericOp op, Moves &moves) {
  if (op.getNumResults() != 1)
    return;
  SmallVector<tensor::InsertSliceOp> readers;
  for (OpOperand &use : op.getResult(0).getUses()) {
    auto placed = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
    if (!placed || &use != &placed.getSourceMutable() ||
        placed->getBlock() != op->getBlock())
      return;
    readers.push_back(placed);
  }
  if (readers.empty())
    return;
  tensor::InsertSliceOp first =
      *llvm::min_element(readers, [](Operation *a, Operation *b) {
        return a->isBeforeInBlock(b);
      });
  for (tensor::InsertSliceOp reader : readers)
    if (reader.getType() != first.getType() || reader.getNumOperands() != 2 ||
        reader->getAttrDictionary() != first->getAttrDictionary() ||
        !areEqualPaddings(first.getDest(), reader.getDest()))
      return;
  moves.moveBefore(first.getDest().getDefiningOp(), op);
  for (tensor::InsertSliceOp reader : readers)
    if (reader != first) {
      reader.replaceAllUsesWith(first.getResult());
      reader.erase();
    }
}

namespace {
struct FusePadding : netc::impl::FusePaddingBase<FusePadding> {
  void runOnOperation() override {
    Moves moves;
    getOperation().walk(
        [&](linalg::GenericOp op) { computeInPadding(op, moves); });
    moves.make();
  }
};
} // namespace
