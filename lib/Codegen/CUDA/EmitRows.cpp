// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions of rows. The lanes of a warp read a row together, so that accesses
// are coalesced, and each lane reduces a part. Shuffles then combine the parts
// in a fixed order.

#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Ptx.h"
#include "lib/Codegen/CUDA/RowOps.h"
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

/// Elements that a lane loads before it needs the first of them.
static constexpr int64_t kLoadsAtOnce = 8;

bool netc::reducesFloats(linalg::LinalgOp op) {
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    auto type = dyn_cast<MemRefType>(init.get().getType());
    unsigned result = init.getOperandNumber() - op.getNumDpsInputs();
    return type && type.getElementType().isF32() && combinerOf(op, result);
  });
}

namespace {
class RowCode {
public:
  RowCode(linalg::LinalgOp op, Fills fills, const LoopNest &nest,
          ArrayRef<unsigned> sums)
      : op(op), fills(std::move(fills)), nest(nest), sums(sums), b(op),
        at(op, b), inputs(op.getNumDpsInputs()), results(op.getNumDpsInits()),
        width(op.hasIndexSemantics()
                  ? 1
                  : widthOf(op, nest, inputs, sums.back(), /*isWhole=*/true)) {}

  KernelShape emit(ArrayRef<unsigned> elements, int64_t rows, int64_t depth);

private:
  /// Reduces what a lane has of a row: groups of `width` elements `lane`,
  /// `lane` + 32, .. below `groups`, in this order.
  SmallVector<Value> reduceByLane(Value lane, int64_t groups,
                                  SmallVector<Value> parts);
  /// Reduces `width` elements, from that of `at` on.
  SmallVector<Value> reduce(ValueRange old);

  linalg::LinalgOp op;
  Fills fills;
  const LoopNest &nest;
  ArrayRef<unsigned> sums;
  NestBuilder b;
  PointBuilder at;
  unsigned inputs, results;
  int64_t width;
};
} // namespace

SmallVector<Value> RowCode::reduce(ValueRange old) {
  SmallVector<SmallVector<Value>> elements;
  for (unsigned operand = 0; operand < inputs; ++operand)
    elements.push_back(loadElements(b, op, nest, operand, sums.back(), width,
                                    offsetOf(b, nest, operand, at.ivs)));
  SmallVector<Value> reduced(old);
  for (int64_t i = 0; i < width; ++i) {
    for (unsigned operand = 0; operand < inputs; ++operand)
      at.known[operand] = elements[operand][i];
    reduced = at.payload(reduced);
  }
  return reduced;
}

SmallVector<Value> RowCode::reduceByLane(Value lane, int64_t groups,
                                         SmallVector<Value> parts) {
  auto reduceTo = [&](Value first, int64_t below, int64_t count) {
    auto loop = b.create<scf::ForOp>(first, b.index(below),
                                     b.index(count * kWarpLanes), parts);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> sum(loop.getRegionIterArgs());
    for (int64_t i = 0; i < count; ++i) {
      Value group = b.add(loop.getInductionVar(), i * kWarpLanes);
      at.setIvs(sums, b.scaled(group, width));
      sum = reduce(sum);
    }
    b.create<scf::YieldOp>(sum);
    parts = loop.getResults();
  };
  int64_t count = std::clamp<int64_t>(
      groups / kWarpLanes, 1, std::max<int64_t>(kLoadsAtOnce / width, 1));
  int64_t whole = groups - groups % (count * kWarpLanes);
  if (whole)
    reduceTo(lane, whole, count);
  if (whole != groups)
    reduceTo(b.add(lane, whole), groups, 1);
  return parts;
}

Value netc::combine(OpBuilder &b, linalg::LinalgOp op, unsigned result, Value x,
                    Value y) {
  Operation *combiner = combinerOf(op, result);
  IRMapping values;
  values.map(combiner->getOperands(), ValueRange{x, y});
  return b.clone(*combiner, values)->getResult(0);
}

Value netc::combineLanes(ImplicitLocOpBuilder &b, linalg::LinalgOp op,
                         unsigned result, Value part) {
  PtxBuilder ptx(b);
  for (int32_t apart = kWarpLanes / 2; apart > 0; apart /= 2)
    part = combine(b, op, result, part, ptx.shuffle(part, apart));
  return part;
}

KernelShape RowCode::emit(ArrayRef<unsigned> elements, int64_t rows,
                          int64_t depth) {
  Value thread = threadIndex(b);
  Value row = b.div(thread, kWarpLanes), lane = b.rem(thread, kWarpLanes);
  Value isOne =
      b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, row, b.index(rows));
  auto guard = b.create<scf::IfOp>(isOne, /*withElseRegion=*/false);
  b.setInsertionPointToStart(guard.thenBlock());
  at.setIvs(elements, row);

  SmallVector<Value> parts;
  for (unsigned result = 0; result < results; ++result)
    parts.push_back(b.create<arith::ConstantOp>(
        *arith::getNeutralElement(combinerOf(op, result))));
  parts = reduceByLane(lane, depth / width, std::move(parts));

  Value isFirst =
      b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, lane, b.index(0));
  for (unsigned result = 0; result < results; ++result)
    parts[result] = combineLanes(b, op, result, parts[result]);
  auto last = b.create<scf::IfOp>(isFirst, /*withElseRegion=*/false);
  b.setInsertionPointToStart(last.thenBlock());
  for (auto [result, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    Value start = fills.empty() ? at.load(init) : fills[result].getInputs()[0];
    at.store(combine(b, op, unsigned(result), start, parts[result]), init);
  }
  for (linalg::FillOp fill : fills)
    fill.erase();
  op.erase();
  return KernelShape{rows * kWarpLanes};
}

std::optional<KernelShape> netc::emitRows(linalg::LinalgOp op, Fills fills) {
  auto nest = LoopNest::of(op);
  if (!nest || nest->scatters(op.getNumDpsInputs()) || !reducesFloats(op))
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
  return RowCode(op, fills, *nest, sums).emit(elements, rows, depth);
}
