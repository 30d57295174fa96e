// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SubsetOpInterface.h"

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
/// Ops to move, each next to another one. They are moved together at the end,
/// since isBeforeInBlock() renumbers a block after each move.
class Moves {
public:
  /// Moves the ops that compute a padding before `op`. If an op is to be moved
  /// before several, the first one counts.
  void moveBefore(Operation *padding, Operation *op) {
    if (padding->getBlock() != op->getBlock() || padding->isBeforeInBlock(op))
      return;
    // What is inserted follows the tensor that it is inserted into, so that it
    // is written there.
    for (Value operand : llvm::reverse(padding->getOperands()))
      moveBefore(operand.getDefiningOp(), op);
    before.try_emplace(padding, op);
  }
  void moveAfter(Operation *padded, Operation *op) {
    after.emplace_back(padded, op);
  }
  void make() const {
    for (auto [padding, op] : before)
      padding->moveBefore(op);
    for (auto [padded, op] : after)
      padded->moveAfter(op);
  }

private:
  llvm::MapVector<Operation *, Operation *> before;
  SmallVector<std::pair<Operation *, Operation *>> after;
};
} // namespace

/// The fewest elements side by side for which loops over a part of a tensor
/// are as fast as those over a whole one.
static constexpr int64_t kMinRun = 64;

/// The elements of a padded tensor that lie side by side; 1 if the padding adds
/// axes, too.
static int64_t runOf(tensor::InsertSliceOp padded) {
  ArrayRef<int64_t> part = padded.getSourceType().getShape(),
                    whole = padded.getType().getShape();
  int64_t run = 1;
  if (part.size() != whole.size())
    return run;
  for (size_t axis = part.size(); axis-- > 0;) {
    run *= part[axis];
    if (part[axis] != whole[axis])
      break;
  }
  return run;
}

/// Whether an op reads a tensor between others as well as alone: element by
/// element, or as a factor beside windows, in which rows do not follow each
/// other either (the gradient of a convolution's weight).
static bool takesSlice(OpOperand &use) {
  auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!op || !op.isDpsInput(&use) ||
      !op.getMatchingIndexingMap(&use).isProjectedPermutation())
    return false;
  return op.getNumReductionLoops() == 0 ||
         llvm::any_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return !map.isProjectedPermutation();
         });
}

/// The last tensor before `reader` that has the part that `insertion` inserts:
/// others may be inserted beside it. If the part were read from the first one,
/// bufferization would copy that tensor before the next insertion.
static tensor::InsertSliceOp lastWith(tensor::InsertSliceOp insertion,
                                      Operation *reader) {
  auto part = cast<SubsetOpInterface>(insertion.getOperation());
  tensor::InsertSliceOp last = insertion;
  for (;;) {
    SmallVector<OpOperand *> insertions = insertionsInto(last.getResult());
    auto next = llvm::find_if(insertions, [&](OpOperand *use) {
      Operation *op = use->getOwner();
      return op->getBlock() == reader->getBlock() &&
             op->isBeforeInBlock(reader) &&
             part.operatesOnDisjointSubset(cast<SubsetOpInterface>(op),
                                           [](Value, Value) { return true; });
    });
    if (next == insertions.end())
      return last;
    last = cast<tensor::InsertSliceOp>((*next)->getOwner());
  }
}

/// If a result is read padded, and padded equally by all readers (as by a
/// convolution and the gradient of its weight), they share one padded tensor,
/// whose padding is created before the result. Others, such as the gradient of
/// a ReLU, read a slice of it. Bufferization then lets the result be written
/// into the padded buffer.
static void computeInPadding(linalg::GenericOp op, Moves &moves) {
  if (op.getNumResults() != 1)
    return;
  SmallVector<tensor::InsertSliceOp> readers;
  SmallVector<OpOperand *> bare;
  for (OpOperand &use : op.getResult(0).getUses()) {
    auto placed = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
    if (use.getOwner()->getBlock() != op->getBlock())
      return;
    if (placed && &use == &placed.getSourceMutable())
      readers.push_back(placed);
    else if (takesSlice(use))
      bare.push_back(&use);
    else
      return;
  }
  if (readers.empty() || (!bare.empty() && runOf(readers.front()) < kMinRun))
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
  if (!bare.empty())
    moves.moveAfter(first, op);
  for (OpOperand *use : bare) {
    OpBuilder b(use->getOwner());
    use->set(b.create<tensor::ExtractSliceOp>(
        op.getLoc(), cast<RankedTensorType>(op.getResult(0).getType()),
        lastWith(first, use->getOwner()).getResult(), first.getMixedOffsets(),
        first.getMixedSizes(), first.getMixedStrides()));
  }
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
