// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Attention.h"
#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_FUSEATTENTION
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

std::optional<Attention> Attention::of(ArrayRef<Operation *> ops) {
  Attention attention;
  for (Operation *op : ops) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic)
      continue;
    if (!attention.scores)
      attention.scores = generic;
    else if (!attention.elements)
      attention.elements = generic;
    attention.product = generic;
  }
  auto first = LoopNest::of(attention.scores),
       last = LoopNest::of(attention.product);
  if (!first || !last)
    return std::nullopt;
  unsigned q = attention.operandOfQ(), k = 1 - q,
           p = attention.operandOfWeights(), v = 1 - p;
  attention.starts = {first->starts[q], first->starts[k], last->starts[v],
                      last->starts[2]};
  SmallVector<AffineMap> ofScores = attention.scores.getIndexingMapsArray(),
                         ofProduct = attention.product.getIndexingMapsArray();
  for (unsigned axis = 0; axis < ofScores[2].getNumResults(); ++axis) {
    unsigned inScores = ofScores[2].getDimPosition(axis);
    const Loop &a = first->loops[inScores],
               &b = last->loops[ofProduct[p].getDimPosition(axis)];
    Loop loop{a.extent,
              b.isParallel,
              {a.strides[q], a.strides[k], b.strides[v], b.strides[2]},
              {{axis, a.extent}}};
    if (!b.isParallel)
      attention.keys = loop;
    else if (ofScores[k].isFunctionOfDim(inScores))
      attention.batch.push_back(loop);
    else
      attention.rows.push_back(loop);
  }
  for (const Loop &loop : first->loops)
    if (!loop.isParallel)
      attention.depth = {
          loop.extent, false, {loop.strides[q], loop.strides[k], 0, 0}, {}};
  for (auto [number, loop] : llvm::enumerate(last->loops))
    if (!ofProduct[p].isFunctionOfDim(number))
      attention.columns = {
          loop.extent, true, {0, 0, loop.strides[v], loop.strides[2]}, {}};
  return attention;
}

static unsigned numberOf(Operation *op) {
  return op->getAttrOfType<IntegerAttr>(kAttention).getInt();
}
unsigned Attention::operandOfQ() const { return numberOf(scores); }
unsigned Attention::operandOfWeights() const { return numberOf(product); }

AttentionDims Attention::sizes() const {
  auto points = [](ArrayRef<Loop> loops) {
    int64_t points = 1;
    for (const Loop &loop : loops)
      points *= loop.extent;
    return points;
  };
  return {points(batch), points(rows), keys.extent, depth.extent,
          columns.extent};
}

/// The marked ops of each attention in a block, in their order.
static SmallVector<SmallVector<Operation *>> attentionsIn(Block &block) {
  SmallVector<SmallVector<Operation *>> attentions;
  bool isOpen = false;
  unsigned products = 0;
  for (Operation &op : block) {
    if (!op.hasAttr(kAttention))
      continue;
    if (!isOpen)
      attentions.emplace_back();
    attentions.back().push_back(&op);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    products += generic && isContraction(generic);
    isOpen = products % 2 != 0 || !generic;
  }
  return attentions;
}

/// Moves the ops, and the buffers that only they access, to a region before the
/// last op.
static void group(ArrayRef<Operation *> ops) {
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

namespace {
struct FuseAttention : netc::impl::FuseAttentionBase<FuseAttention> {
  using FuseAttentionBase::FuseAttentionBase;

  void runOnOperation() override {
    FailureOr<DeviceInfo> device = deviceInfoOf(getOperation(), arch);
    if (failed(device))
      return signalPassFailure();
    SmallVector<SmallVector<Operation *>> attentions;
    getOperation().walk([&](Block *block) {
      llvm::append_range(attentions, attentionsIn(*block));
    });
    for (ArrayRef<Operation *> ops : attentions) {
      auto attention = Attention::of(ops);
      if (attention && scheduleAttention(attention->sizes(), *device))
        group(ops);
    }
  }
};
} // namespace
