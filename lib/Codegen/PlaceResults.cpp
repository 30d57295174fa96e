// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_PLACERESULTS
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

/// Whether an op reinterprets its operand's memory as another shape or type.
static bool isView(Operation *op) {
  return isa<bufferization::ToTensorOp, ViewLikeOpInterface,
             tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp>(op);
}

/// The ops that return the memory of each global, by its name.
using GlobalUses = DenseMap<StringAttr, SmallVector<Operation *>>;

/// Whether an op between `first` and `last`, in a block, reads or writes the
/// global.
static bool isUsedBetween(memref::GetGlobalOp memory, Operation *first,
                          Operation *last, const GlobalUses &globals) {
  SmallVector<Operation *> views =
      globals.lookup(memory.getNameAttr().getAttr());
  while (!views.empty())
    for (Operation *user : views.pop_back_val()->getUsers()) {
      if (isView(user)) {
        views.push_back(user);
        continue;
      }
      Operation *at = last->getBlock()->findAncestorOpInBlock(*user);
      if (at && first->isBeforeInBlock(at) && at->isBeforeInBlock(last))
        return true;
    }
  return false;
}

/// Whether `op` can write its result to `memory` while it reads `memory`: each
/// point of its loops reads at most the element that it writes.
static bool readsInPlace(linalg::GenericOp op, memref::GetGlobalOp memory) {
  auto reads = [&](Value tensor) {
    Value slot = slotOf(tensor);
    auto global = slot ? slot.getDefiningOp<memref::GetGlobalOp>() : memory;
    return slot && (!global || global.getName() == memory.getName());
  };
  if (op.getNumReductionLoops() != 0)
    return false;
  for (OpOperand *input : op.getDpsInputOperands())
    if (reads(input->get()) && !op.getMatchingIndexingMap(input).isIdentity())
      return false;
  return !op.getBody()
              ->walk([&](tensor::ExtractOp gather) {
                return reads(gather.getTensor()) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
              })
              .wasInterrupted();
}

/// Gives the result of an op that writes to `output` a buffer of its own, if
/// bufferization could choose one.
static void allocate(OpOperand &output) {
  auto empty = output.get().getDefiningOp<tensor::EmptyOp>();
  if (!empty)
    return;
  OpBuilder b(output.getOwner());
  output.set(b.create<bufferization::AllocTensorOp>(
      empty.getLoc(), empty.getType(), ValueRange()));
}

/// Lets an op write its result directly to the slot, if the slot's old contents
/// are no longer needed. The shapes may differ: an update works on a vector,
/// and the slot is a matrix, say. Otherwise the op gets a buffer of its own
/// here, since bufferization does not see the reads by tensor.extract in a
/// payload.
static void placeWrite(bufferization::MaterializeInDestinationOp write,
                       const GlobalUses &globals) {
  auto global = write.getDest().getDefiningOp<memref::GetGlobalOp>();
  Value source = write.getSource();
  while (Operation *reshape = source.getDefiningOp()) {
    if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(reshape))
      break;
    source = reshape->getOperand(0);
  }
  auto op = source.getDefiningOp<linalg::GenericOp>();
  if (!global || !op || op->getBlock() != write->getBlock())
    return;
  OpBuilder b(op);
  if (isUsedBetween(global, op, write, globals) || !readsInPlace(op, global)) {
    OpOperand *output =
        op.getDpsInitOperand(cast<OpResult>(source).getResultNumber());
    allocate(*output);
    return;
  }
  Value memory = global;
  b.setInsertionPointAfter(global);
  for (Value tensor = write.getSource(); tensor != source;) {
    Operation *reshape = tensor.getDefiningOp();
    tensor = reshape->getOperand(0);
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(reshape))
      memory = b.create<memref::ExpandShapeOp>(
          write.getLoc(), collapse.getSrcType().getShape(), memory,
          collapse.getReassociationIndices());
    else
      memory = b.create<memref::CollapseShapeOp>(
          write.getLoc(), memory,
          cast<tensor::ExpandShapeOp>(reshape).getReassociationIndices());
  }
  write.getSourceMutable().assign(source);
  write.getDestMutable().assign(memory);
}

/// The linalg op that reads a use as an input; null for any other use.
static linalg::LinalgOp readerOf(OpOperand &use) {
  auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return user && user.isDpsInput(&use) ? user : nullptr;
}

/// Whether bufferization gives a tensor a contiguous buffer.
static bool hasOwnMemory(Value tensor) {
  while (auto op = tensor.getDefiningOp<linalg::LinalgOp>())
    tensor = op.getTiedOpOperand(cast<OpResult>(tensor))->get();
  return isa_and_nonnull<tensor::EmptyOp, bufferization::ToTensorOp>(
      tensor.getDefiningOp());
}

/// A tensor to write to, in the memory of `tensor`, which is not read later.
/// Bufferization's analysis does not see that they share memory. If it did, it
/// would compare, for each op, all reads with all writes of that memory, which
/// takes minutes for the gradients of a hundred layers. `tensor` itself if
/// hasOwnMemory() does not hold.
static Value overwrite(OpBuilder &b, Value tensor) {
  if (!hasOwnMemory(tensor))
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  Value memory = b.create<bufferization::ToMemrefOp>(
      tensor.getLoc(), MemRefType::get(type.getShape(), type.getElementType()),
      tensor);
  return b.create<bufferization::ToTensorOp>(
      tensor.getLoc(), memory, /*restrict=*/true, /*writable=*/true);
}

/// Whether all uses of `tensor` are reads in one block, and `op`, the last
/// reader, reads it once.
static bool readsLast(linalg::GenericOp op, Value tensor) {
  bool isRead = false;
  for (OpOperand &use : tensor.getUses()) {
    linalg::LinalgOp user = readerOf(use);
    if (!user || user->getBlock() != op->getBlock() ||
        (user == op ? isRead : !user->isBeforeInBlock(op)))
      return false;
    isRead |= user == op;
  }
  return true;
}

/// Lets an element-wise op overwrite an operand that is not read later: that
/// memory is likely still cached, and no other is needed.
static void writeOverOperands(linalg::GenericOp op) {
  if (op.getNumReductionLoops() != 0)
    return;
  for (int64_t number = 0; number < op.getNumDpsInits(); ++number) {
    OpOperand &output = *op.getDpsInitOperand(number);
    AffineMap written = op.getMatchingIndexingMap(&output);
    Value result = op.getTiedOpResult(&output);
    BlockArgument old = op.getMatchingBlockArgument(&output);
    // Bufferization places results that are inserted into other tensors, say.
    bool isOnlyRead = llvm::all_of(result.getUses(), readerOf);
    if (!output.get().getDefiningOp<tensor::EmptyOp>() || !old.use_empty() ||
        !written.isPermutation() || !isOnlyRead)
      continue;
    // Prefer the operand that was computed last.
    OpOperand *over = nullptr;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Operation *producer = input->get().getDefiningOp<linalg::LinalgOp>();
      if (producer && producer->getBlock() == op->getBlock() &&
          input->get().getType() == result.getType() &&
          op.getMatchingIndexingMap(input) == written &&
          readsLast(op, input->get()) &&
          (!over || over->get().getDefiningOp()->isBeforeInBlock(producer)))
        over = input;
    }
    if (!over)
      continue;
    OpBuilder b(op);
    output.set(overwrite(b, over->get()));
    unsigned place = over->getOperandNumber();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps.erase(maps.begin() + place);
    op.getMatchingBlockArgument(over).replaceAllUsesWith(old);
    op.getBody()->eraseArgument(place);
    op.getInputsMutable().erase(place);
    op.setIndexingMapsAttr(
        Builder(op.getContext()).getAffineMapArrayAttr(maps));
  }
}

/// A sum may be continued by op after op, such as the norm of all gradients.
/// Hides from bufferization's analysis that these ops share memory; see
/// overwrite().
static void continueSums(linalg::GenericOp op) {
  for (OpOperand &output : op.getDpsInitsMutable()) {
    OpBuilder b(op);
    if (output.get().hasOneUse() &&
        output.get().getDefiningOp<linalg::GenericOp>())
      output.set(overwrite(b, output.get()));
  }
}

/// Whether a tensor was written by insertions alone, if at all.
static bool startsEmpty(Value tensor) {
  while (auto insertion = tensor.getDefiningOp<tensor::InsertSliceOp>())
    tensor = insertion.getDest();
  return tensor.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

/// Lets each of several tensors that begin with the same insertion do it anew.
/// Bufferization would copy the memory of one to that of the others, of which
/// hardly any is written yet. CSE makes such tensors, as of the gradients of a
/// GRU's gates, which differ in one.
static void insertAnew(Operation *op) {
  if (!isa<tensor::EmptyOp, tensor::InsertSliceOp>(op) ||
      !startsEmpty(op->getResult(0)))
    return;
  SmallVector<OpOperand *> insertions = insertionsInto(op->getResult(0));
  for (OpOperand *use : ArrayRef(insertions).drop_front(!insertions.empty())) {
    OpBuilder b(use->getOwner());
    use->set(b.clone(*op)->getResult(0));
  }
}

/// Computes a part outside of the tensor that it is inserted into, if it is
/// read after the next insertion. That would, for bufferization, change what is
/// read, so it would copy the whole tensor before.
static void computeApart(tensor::InsertSliceOp insertion) {
  Value part = insertion.getSource();
  auto isReadAfter = [&](OpOperand *use) {
    Operation *next = use->getOwner();
    return llvm::any_of(part.getUsers(), [&](Operation *user) {
      user = next->getBlock()->findAncestorOpInBlock(*user);
      return user && next->isBeforeInBlock(user);
    });
  };
  if (llvm::none_of(insertionsInto(insertion.getResult()), isReadAfter))
    return;
  while (auto op = part.getDefiningOp<linalg::LinalgOp>()) {
    OpOperand *output = op.getTiedOpOperand(cast<OpResult>(part));
    part = output->get();
    allocate(*output);
  }
}

namespace {
struct PlaceResults : netc::impl::PlaceResultsBase<PlaceResults> {
  void runOnOperation() override {
    GlobalUses globals;
    getOperation().walk([&](memref::GetGlobalOp global) {
      globals[global.getNameAttr().getAttr()].push_back(global);
    });
    getOperation().walk([&](bufferization::MaterializeInDestinationOp write) {
      placeWrite(write, globals);
    });
    getOperation().walk(writeOverOperands);
    getOperation().walk(continueSums);
    getOperation().walk(computeApart);
    // From the last on, since a clone continues the one before.
    getOperation().walk<WalkOrder::PostOrder, ReverseIterator>(insertAnew);
  }
};
} // namespace
