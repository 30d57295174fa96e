// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/NetAttributes.h"
#include "lib/Codegen/CPU/Panels.h"
#include "lib/Codegen/CPU/Passes.h"
#include "lib/Codegen/CPU/VectorPayload.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_PREPACKWEIGHTS
#include "lib/Codegen/CPU/Passes.h.inc"
} // namespace netc

namespace {
/// The order of elements of a weight in panels, as loops over memory, outermost
/// first.
struct PanelOrder {
  SmallVector<int64_t> sizes;
  /// The stride of each loop in the row-major weight.
  SmallVector<int64_t> strides;
  /// Maps an index of the weight to its index in panels.
  AffineMap places;
};
} // namespace

/// The order in which `unpack` reads panels to write a row-major weight. None
/// if it does not read each element once.
static std::optional<PanelOrder> orderOf(linalg::GenericOp unpack) {
  SmallVector<AffineMap> maps = unpack.getIndexingMapsArray();
  if (!maps[0].isPermutation())
    return std::nullopt;
  AffineMap axes = maps[1].compose(inversePermutation(maps[0]));
  ArrayRef<int64_t> shape = sizesOf(unpack.getResult(0));
  Builder b(unpack.getContext());
  PanelOrder order{llvm::to_vector(sizesOf(unpack.getInputs()[0])), {}, {}};
  SmallVector<AffineExpr> places;
  for (auto [place, size] : llvm::enumerate(order.sizes)) {
    SmallVector<int64_t> next(order.sizes.size());
    next[place] = 1;
    int64_t stride = 0;
    for (auto [axis, step] : llvm::enumerate(axes.compose(next))) {
      stride = stride * shape[axis] + step;
      if (step == 0)
        continue;
      AffineExpr at = b.getAffineDimExpr(axis).floorDiv(step);
      places.push_back(step * size < shape[axis] ? at % size : at);
    }
    order.strides.push_back(stride);
  }
  order.places = AffineMap::get(shape.size(), 0, places, b.getContext());
  return order;
}

/// The element-wise op that is the only reader of what `unpack` writes, and can
/// be vectorized: an optimizer's update of a weight. Null if there is none.
static linalg::GenericOp updateBy(linalg::GenericOp unpack) {
  if (!unpack->hasOneUse())
    return {};
  auto vector = dyn_cast<tensor::CollapseShapeOp>(*unpack->user_begin());
  if (!vector || vector.getResultType().getRank() != 1 || !vector->hasOneUse())
    return {};
  auto update = dyn_cast<linalg::GenericOp>(*vector->user_begin());
  if (!update || update.getNumLoops() != 1 ||
      update.getNumReductionLoops() != 0 || !isVectorizable(update) ||
      llvm::any_of(update.getIndexingMapsArray(), [](AffineMap map) {
        return map.getNumResults() != 0 && !map.isIdentity();
      }))
    return {};
  return update;
}

namespace {
/// A weight whose gradient is computed in panels, from which `unpack` copies
/// it, with the optimizer's state and the other readers of the weight.
class Weight {
public:
  Weight(linalg::GenericOp unpack, linalg::GenericOp update)
      : unpack(unpack), update(update),
        function(unpack->getParentOfType<func::FuncOp>()),
        module(function->getParentOfType<ModuleOp>()) {}

  /// Whether the weight and the state can be kept as panels: only the update
  /// writes them, and only readers of the weight read them besides the update.
  bool canBeKept() {
    Value gradient = unpack.getResult(0).getUsers().begin()->getResult(0);
    for (OpOperand *input : update.getDpsInputOperands())
      if (input->get() != gradient &&
          !update.getMatchingIndexingMap(input).getResults().empty() &&
          !addSlot(slotOf(input->get())))
        return false;
    for (Value result : update.getResults())
      for (Operation *user : result.getUsers())
        for (Operation *write : viewsOf(user))
          if (!isa<bufferization::MaterializeInDestinationOp>(write) ||
              !addSlot(write->getOperand(1)))
            return false;
    bool isKept = true;
    function.walk([&](memref::GetGlobalOp memory) {
      if (slots.contains(memory.getName()))
        for (Operation *user : memory->getUsers())
          isKept &= takesUser(user);
    });
    return isKept;
  }

  /// Changes the layout of the weight and the state to panels.
  void keep(const PanelOrder &order) {
    OpBuilder b(unpack);
    for (StringRef name : slots) {
      auto global = module.lookupSymbol<memref::GlobalOp>(name);
      auto slot = global->getAttrOfType<SlotAttr>(SlotAttr::kOfGlobal);
      global->setAttr(SlotAttr::kOfGlobal,
                      slot.withOrder(order.sizes, order.strides));
    }
    Value panels = unpack.getInputs()[0];
    Operation *gradient = *unpack->user_begin();
    gradient->replaceAllUsesWith(ValueRange(flat(b, panels)));
    gradient->erase();
    for (OpOperand *use : readers)
      read(*use, panels, order.places);
    unpack->erase();
  }

private:
  /// Adds the slot in `memory`. False if it is no parameter or state, or if its
  /// size is not that of the update.
  bool addSlot(Value memory) {
    auto slot = memory ? memory.getDefiningOp<memref::GetGlobalOp>() : nullptr;
    auto vector = cast<ShapedType>(update.getResult(0).getType());
    if (!slot || slot.getType().getNumElements() != vector.getNumElements())
      return false;
    auto global = module.lookupSymbol<memref::GlobalOp>(slot.getName());
    slots.insert(slot.getName());
    auto facts = global->getAttrOfType<SlotAttr>(SlotAttr::kOfGlobal);
    return facts.getRole() == program::Role::Parameter ||
           facts.getRole() == program::Role::State;
  }

  /// A user of a tensor, or if that is a reshape, the users of the reshape.
  static SmallVector<Operation *> viewsOf(Operation *user) {
    if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user))
      return {user};
    return SmallVector<Operation *>(user->getUsers());
  }

  /// Records the users that read the weight. False if `user` is a write other
  /// than the update's, or if it reads the optimizer's state.
  bool takesUser(Operation *user) {
    if (auto write =
            dyn_cast<bufferization::MaterializeInDestinationOp>(user)) {
      Operation *source = write.getSource().getDefiningOp();
      if (isa_and_nonnull<tensor::ExpandShapeOp>(source))
        source = source->getOperand(0).getDefiningOp();
      return source == update;
    }
    auto read = dyn_cast<bufferization::ToTensorOp>(user);
    if (!read)
      return false;
    for (OpOperand &use : read->getUses()) {
      if (llvm::all_of(viewsOf(use.getOwner()),
                       [&](Operation *op) { return op == update; }))
        continue;
      if (sizesOf(read) != sizesOf(unpack.getResult(0)))
        return false;
      readers.push_back(&use);
    }
    return true;
  }

  static SmallVector<ReassociationIndices, 1> allOf(Value tensor) {
    auto axes = llvm::seq<int64_t>(0, sizesOf(tensor).size());
    return {ReassociationIndices(axes.begin(), axes.end())};
  }
  static Value flat(OpBuilder &b, Value tensor) {
    return b.create<tensor::CollapseShapeOp>(tensor.getLoc(), tensor,
                                             allOf(tensor));
  }

  /// Makes a reader of the weight read panels. A copy reads them directly; for
  /// any other op, the weight is unpacked.
  void read(OpOperand &use, Value like, AffineMap places) {
    Operation *user = use.getOwner();
    OpBuilder b(function.getBody().front().findAncestorOpInBlock(*user));
    Location loc = user->getLoc();
    Value panels = b.create<tensor::ExpandShapeOp>(
        loc, like.getType(), flat(b, use.get()), allOf(like));
    auto copy = dyn_cast<linalg::LinalgOp>(user);
    if (copy && isReordering(copy)) {
      b.setInsertionPoint(user);
      AffineMap axes = copy.getMatchingIndexingMap(&use);
      user->replaceAllUsesWith(createCopy(
          b, loc, panels, places.compose(axes), copy.getDpsInits()[0],
          b.getMultiDimIdentityMap(axes.getNumDims()), copy));
      user->erase();
      return;
    }
    // Reshapes may have added or dropped axes of size 1.
    Value tensor = use.get();
    auto isMany = [](int64_t size) { return size > 1; };
    if (auto view = isa<tensor::CollapseShapeOp>(user) && user->hasOneUse()
                        ? dyn_cast<tensor::ExpandShapeOp>(*user->user_begin())
                        : nullptr;
        view && llvm::equal(llvm::make_filter_range(sizesOf(tensor), isMany),
                            llvm::make_filter_range(sizesOf(view), isMany)))
      tensor = view;
    SmallVector<AffineExpr> axes;
    unsigned axis = 0;
    for (int64_t size : sizesOf(use.get())) {
      while (size > 1 && sizesOf(tensor)[axis] == 1)
        ++axis;
      axes.push_back(size > 1 ? b.getAffineDimExpr(axis++)
                              : b.getAffineConstantExpr(0));
    }
    auto from = AffineMap::get(sizesOf(tensor).size(), 0, axes, b.getContext());
    Value empty = b.create<tensor::EmptyOp>(loc, sizesOf(tensor),
                                            getElementTypeOrSelf(tensor));
    Value whole = createCopy(b, loc, panels, places.compose(from), empty,
                             b.getMultiDimIdentityMap(from.getNumDims()))
                      .getResult(0);
    if (tensor == use.get())
      return use.set(whole);
    tensor.replaceAllUsesWith(whole);
    tensor.getDefiningOp()->erase();
    user->erase();
  }

  linalg::GenericOp unpack, update;
  func::FuncOp function;
  ModuleOp module;
  /// The names of the slots that the update writes.
  llvm::SetVector<StringRef> slots;
  SmallVector<OpOperand *> readers;
};

struct PrepackWeights : netc::impl::PrepackWeightsBase<PrepackWeights> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> copies;
    getOperation().walk([&](linalg::GenericOp op) {
      auto product = op.getInputs().empty()
                         ? nullptr
                         : op.getInputs()[0].getDefiningOp<linalg::LinalgOp>();
      if (isCopy(op) && product && isContraction(product))
        copies.push_back(op);
    });
    for (linalg::GenericOp unpack : copies) {
      linalg::GenericOp update = updateBy(unpack);
      std::optional<PanelOrder> order = orderOf(unpack);
      if (!update || !order)
        continue;
      Weight weight(unpack, update);
      if (weight.canBeKept())
        weight.keep(*order);
    }
  }
};
} // namespace
