// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions of rows. The lanes of a warp read a row together, so that accesses
// are coalesced, and each lane reduces a part. Shuffles then combine the parts
// in a fixed order.

#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Ptx.h"
#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace netc;
using namespace mlir;

/// The reduction loops, of which the last is one along which an operand is
/// contiguous. Empty if there is no such loop.
static SmallVector<unsigned> rowLoops(const LoopNest &nest, unsigned inputs) {
  SmallVector<unsigned> loops;
  for (auto [number, loop] : llvm::enumerate(nest.loops))
    if (!loop.isParallel)
      loops.push_back(unsigned(number));
  for (unsigned operand = 0; operand < inputs; ++operand) {
    auto stride = [&](unsigned loop) {
      return std::abs(nest.loops[loop].strides[operand]);
    };
    llvm::stable_sort(
        loops, [&](unsigned a, unsigned b) { return stride(a) > stride(b); });
    if (!loops.empty() && stride(loops.back()) == 1)
      return loops;
  }
  return {};
}

static bool isOfRows(linalg::LinalgOp op, const LoopNest &nest) {
  if (nest.scatters(op.getNumDpsInputs()))
    return false;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    auto type = dyn_cast<MemRefType>(init.get().getType());
    unsigned result = init.getOperandNumber() - op.getNumDpsInputs();
    if (!type || !type.getElementType().isF32() || !combinerOf(op, result))
      return false;
  }
  return true;
}

std::optional<KernelShape> netc::emitRows(linalg::LinalgOp op,
                                          linalg::FillOp fill) {
  auto nest = LoopNest::of(op);
  if (!nest || !isOfRows(op, *nest))
    return std::nullopt;
  SmallVector<unsigned> sums = rowLoops(*nest, op.getNumDpsInputs());
  SmallVector<unsigned> elements = loopsOfElements(op);
  int64_t depth = 1, rows = 1;
  for (unsigned loop : sums)
    depth *= nest->loops[loop].extent;
  for (unsigned loop : elements)
    rows *= nest->loops[loop].extent;
  if (depth < kWarpLanes || sums.size() + elements.size() != nest->loops.size())
    return std::nullopt;

  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto index = [&](int64_t value) -> Value {
    return b.create<arith::ConstantIndexOp>(value);
  };
  Value thread = threadIndex(b);
  Value row = b.create<arith::DivUIOp>(thread, index(kWarpLanes));
  Value lane = b.create<arith::RemUIOp>(thread, index(kWarpLanes));
  Value isOne =
      b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, row, index(rows));
  auto guard = b.create<scf::IfOp>(isOne, /*withElseRegion=*/false);
  b.setInsertionPointToStart(guard.thenBlock());
  PointBuilder at(op, b);
  at.setIvs(elements, row);

  unsigned results = op.getNumDpsInits();
  SmallVector<Value> parts;
  for (unsigned result = 0; result < results; ++result)
    parts.push_back(b.create<arith::ConstantOp>(
        *arith::getNeutralElement(combinerOf(op, result))));
  auto loop =
      b.create<scf::ForOp>(lane, index(depth), index(kWarpLanes), parts);
  b.setInsertionPointToStart(loop.getBody());
  at.setIvs(sums, loop.getInductionVar());
  b.create<scf::YieldOp>(at.payload(loop.getRegionIterArgs()));
  b.setInsertionPointAfter(loop);

  auto combine = [&](unsigned result, Value x, Value y) {
    Operation *combiner = combinerOf(op, result);
    IRMapping values;
    values.map(combiner->getOperands(), ValueRange{x, y});
    return b.clone(*combiner, values)->getResult(0);
  };
  PtxBuilder ptx(b);
  Value isFirst =
      b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, lane, index(0));
  SmallVector<Value> totals;
  for (unsigned result = 0; result < results; ++result) {
    Value total = loop.getResult(result);
    for (int32_t apart = kWarpLanes / 2; apart > 0; apart /= 2)
      total = combine(result, total, ptx.shuffle(total, apart));
    totals.push_back(total);
  }
  auto last = b.create<scf::IfOp>(isFirst, /*withElseRegion=*/false);
  b.setInsertionPointToStart(last.thenBlock());
  for (auto [result, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    Value start = fill ? fill.getInputs()[0] : at.load(init);
    at.store(combine(unsigned(result), start, totals[result]), init);
  }
  if (fill)
    fill.erase();
  op.erase();
  return KernelShape{rows * kWarpLanes};
}
