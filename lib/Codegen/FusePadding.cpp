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

/// Whether an op is part of a padding: it makes the constants that a tensor is
/// inserted into.
static bool makesFrame(Operation *op) {
  return op && isa<tensor::EmptyOp, linalg::FillOp, tensor::InsertSliceOp,
                   arith::ConstantOp>(op);
}

/// Whether two tensors are equal paddings.
static bool areSameFrame(Value a, Value b) {
  Operation *one = a.getDefiningOp(), *other = b.getDefiningOp();
  return makesFrame(one) && makesFrame(other) &&
         one->getName() == other->getName() && a.getType() == b.getType() &&
         one->getAttrDictionary() == other->getAttrDictionary() &&
         llvm::equal(one->getOperands(), other->getOperands(), areSameFrame);
}

namespace {
/// Ops to move, each before another one. They are moved when all are known: a
/// block numbers its ops anew when it is asked for their order after a move.
class Moves {
public:
  /// Moves the ops that make a padding before `op`, or stays with what was
  /// asked for first.
  void moveBefore(Operation *frame, Operation *op) {
    if (frame->getBlock() != op->getBlock() || frame->isBeforeInBlock(op))
      return;
    for (Value operand : frame->getOperands())
      moveBefore(operand.getDefiningOp(), op);
    before.try_emplace(frame, op);
  }
  void make() const {
    for (auto [frame, op] : before)
      frame->moveBefore(op);
  }

private:
  llvm::MapVector<Operation *, Operation *> before;
};
} // namespace

/// If a result is only read padded, and equally by all readers (as the input of
/// a convolution and of the gradient of its weight), they share one padded
/// tensor, and the padding is made before the result. Bufferization then lets
/// the result be written into the padded buffer.
static void computeInFrame(linalg::GenericOp op, Moves &moves) {
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
        !areSameFrame(first.getDest(), reader.getDest()))
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
        [&](linalg::GenericOp op) { computeInFrame(op, moves); });
    moves.make();
  }
};
} // namespace
