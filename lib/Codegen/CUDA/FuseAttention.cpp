// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Attention.h"
#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_FUSEATTENTION
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

/// The marked ops of each kernel in a block, in their order.
static SmallVector<SmallVector<Operation *>> attentionsIn(Block &block) {
  SmallVector<SmallVector<Operation *>> attentions;
  bool isOpen = false;
  for (Operation &op : block) {
    auto name = op.getAttrOfType<StringAttr>(kAttention);
    if (!name)
      continue;
    const bool isRounding = name.getValue() == kRoundedResult;
    if (!isOpen && !isRounding)
      attentions.emplace_back();
    attentions.back().push_back(&op);
    if (isRounding)
      continue;
    auto role = attentionRoleOf(&op);
    isOpen = role != AttentionRole::Results &&
             role != AttentionRole::QueryGradients &&
             role != AttentionRole::KeyGradients;
  }
  return attentions;
}

void netc::moveToRegion(ArrayRef<Operation *> ops) {
  ImplicitLocOpBuilder b(ops.back()->getLoc(), ops.back());
  Block &body =
      b.create<scf::ExecuteRegionOp>(TypeRange()).getRegion().emplaceBlock();
  b.setInsertionPointToEnd(&body);
  Operation *end = b.create<scf::YieldOp>();
  SetVector<Operation *> buffers;
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (auto buffer = operand.getDefiningOp<memref::AllocOp>();
          buffer && llvm::all_of(buffer->getUsers(), [&](Operation *user) {
            return llvm::is_contained(ops, user);
          }))
        buffers.insert(buffer);
  for (Operation *buffer : buffers)
    buffer->moveBefore(end);
  for (Operation *op : ops)
    op->moveBefore(end);
}

/// Whether the strides of all operands are known.
static bool haveStaticStrides(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (auto type = dyn_cast<MemRefType>(operand.getType()))
        if (llvm::any_of(getStridesAndOffset(type).first,
                         ShapedType::isDynamic))
          return false;
  return true;
}

namespace {
struct FuseAttention : netc::impl::FuseAttentionBase<FuseAttention> {
  void runOnOperation() override {
    SmallVector<SmallVector<Operation *>> attentions;
    getOperation().walk([&](Block *block) {
      llvm::append_range(attentions, attentionsIn(*block));
    });
    for (ArrayRef<Operation *> ops : attentions)
      if (haveStaticStrides(ops))
        moveToRegion(ops);
  }
};
} // namespace
