// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/Passes.h"
#include "lib/Conversion/LinalgBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_MAPKERNELS
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

/// The loops of an op that tell the elements of all its results apart, in the
/// order of the first result: each is an axis of each of them, by itself.
/// Threads that differ in one of these write different elements.
static SmallVector<unsigned> loopsOfElements(linalg::LinalgOp op) {
  SmallVector<unsigned> loops;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    SmallVector<unsigned> alone;
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        if (!llvm::is_contained(alone, dim.getPosition()))
          alone.push_back(dim.getPosition());
    if (init.getOperandNumber() == op.getNumDpsInputs())
      loops = alone;
    else
      llvm::erase_if(loops, [&](unsigned loop) {
        return !llvm::is_contained(alone, loop);
      });
  }
  return loops;
}

namespace {
/// Writes what one thread does for a linalg op, in the place of the op.
class ThreadCode {
public:
  /// `fill`, if there is one, gives the elements of its only result their
  /// start.
  ThreadCode(linalg::LinalgOp op, linalg::FillOp fill)
      : op(op), fill(fill), b(op.getLoc(), op), loops(loopsOfElements(op)),
        extents(op.getStaticLoopRanges()), turns(op.getNumLoops()) {}

  /// Returns how many threads there have to be.
  int64_t emit() {
    int64_t threads = 1;
    for (unsigned loop : loops)
      threads *= extents[loop];
    Value thread = threadIndex(b);
    Value isOne = b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, thread,
                                          index(threads));
    auto guard = b.create<scf::IfOp>(isOne, /*withElseRegion=*/false);
    b.setInsertionPointToStart(guard.thenBlock());
    for (unsigned loop : llvm::reverse(loops)) {
      turns[loop] = b.create<arith::RemUIOp>(thread, index(extents[loop]));
      thread = b.create<arith::DivUIOp>(thread, index(extents[loop]));
    }
    if (fill)
      start();
    SmallVector<unsigned> others;
    for (unsigned loop = 0; loop < turns.size(); ++loop)
      if (!turns[loop])
        others.push_back(loop);
    nest(others, [&] { point(); });
    if (fill)
      fill.erase();
    op.erase();
    return threads;
  }

private:
  Value index(int64_t value) { return b.create<arith::ConstantIndexOp>(value); }

  /// Calls `body` inside of these loops of the op.
  void nest(ArrayRef<unsigned> inner, function_ref<void()> body) {
    if (inner.empty())
      return body();
    forEach(extents[inner.front()], [&](Value turn) {
      turns[inner.front()] = turn;
      nest(inner.drop_front(), body);
    });
  }

  void forEach(int64_t extent, function_ref<void(Value)> body) {
    auto loop = b.create<scf::ForOp>(index(0), index(extent), index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  /// Starts what the thread sums up: the elements whose axes, as far as loops
  /// tell them apart, are the thread's.
  void start() {
    OpOperand &init = op.getDpsInitsMutable()[0];
    auto type = cast<MemRefType>(init.get().getType());
    AffineMap map = op.getMatchingIndexingMap(&init);
    SmallVector<Value> at(type.getRank());
    SmallVector<bool> isTold(turns.size());
    for (auto [axis, expr] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        if (!std::exchange(isTold[dim.getPosition()], true))
          at[axis] = turns[dim.getPosition()];
    startFrom(0, at, init.get());
  }

  void startFrom(size_t axis, SmallVectorImpl<Value> &at, Value memory) {
    if (axis == at.size()) {
      b.create<memref::StoreOp>(fill.getInputs()[0], memory, at);
      return;
    }
    if (at[axis])
      return startFrom(axis + 1, at, memory);
    forEach(cast<MemRefType>(memory.getType()).getDimSize(axis),
            [&](Value turn) {
              at[axis] = turn;
              startFrom(axis + 1, at, memory);
              at[axis] = Value();
            });
  }

  SmallVector<Value> placeOf(OpOperand &operand) {
    SmallVector<Value> place;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (AffineExpr expr : map.getResults())
      place.push_back(
          affine::expandAffineExpr(b, b.getLoc(), expr, turns, ValueRange()));
    return place;
  }

  /// The payload, at one point of the loops.
  void point() {
    Block &body = op->getRegion(0).front();
    IRMapping values;
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(&operand);
      if (argument.use_empty())
        continue;
      Value value = operand.get();
      if (isa<MemRefType>(value.getType()))
        value = b.create<memref::LoadOp>(value, placeOf(operand));
      values.map(argument, value);
    }
    for (Operation &payload : body.without_terminator()) {
      if (auto turn = dyn_cast<linalg::IndexOp>(payload))
        values.map(turn.getResult(), turns[turn.getDim()]);
      else
        b.clone(payload, values);
    }
    for (auto [init, result] : llvm::zip_equal(
             op.getDpsInitsMutable(), body.getTerminator()->getOperands()))
      b.create<memref::StoreOp>(values.lookupOrDefault(result), init.get(),
                                placeOf(init));
  }

  linalg::LinalgOp op;
  linalg::FillOp fill;
  ImplicitLocOpBuilder b;
  SmallVector<unsigned> loops;
  SmallVector<int64_t> extents;
  SmallVector<Value> turns; ///< by loop of the op; null where not yet known
};
} // namespace

Value netc::threadIndex(ImplicitLocOpBuilder &b) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto wide = [&](Value number) -> Value {
    return b.create<arith::ExtUIOp>(i64, number);
  };
  Value block = wide(b.create<NVVM::BlockIdXOp>(i32));
  Value thread = wide(b.create<NVVM::ThreadIdXOp>(i32));
  Value size = b.create<arith::ConstantOp>(b.getI64IntegerAttr(kBlockThreads));
  Value before = b.create<arith::MulIOp>(block, size);
  return b.create<arith::IndexCastUIOp>(
      b.getIndexType(), b.create<arith::AddIOp>(before, thread));
}

/// Gives each turn of a loop that is marked so a thread. Returns how many.
static int64_t spread(scf::ForOp loop) {
  auto extent = getConstantIntValue(loop.getUpperBound());
  if (!loop->hasAttr(kIndependent) || loop.getNumResults() != 0 || !extent)
    return 1;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value thread = threadIndex(b);
  Value isOne = b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, thread,
                                        loop.getUpperBound());
  auto guard = b.create<scf::IfOp>(isOne, /*withElseRegion=*/false);
  Block *from = loop.getBody(), *to = guard.thenBlock();
  loop.getInductionVar().replaceAllUsesWith(thread);
  to->getOperations().splice(to->begin(), from->getOperations(), from->begin(),
                             std::prev(from->end()));
  loop.erase();
  return *extent;
}

/// Makes a kernel the code of one thread. Returns how many it takes.
static int64_t map(func::FuncOp kernel) {
  SmallVector<Operation *> work;
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (isa<linalg::LinalgOp>(op) || !isMemoryEffectFree(&op))
      work.push_back(&op);
  auto op = dyn_cast<linalg::LinalgOp>(work.back());
  if (op && work.size() == 1)
    return ThreadCode(op, {}).emit();
  auto fill = dyn_cast<linalg::FillOp>(work.front());
  if (op && work.size() == 2 && fill && op.getNumDpsInits() == 1 &&
      op.getDpsInits()[0] == fill.getDpsInits()[0])
    return ThreadCode(op, fill).emit();
  auto loop = dyn_cast<scf::ForOp>(work.front());
  return work.size() == 1 && loop ? spread(loop) : 1;
}

namespace {
struct MapKernels : netc::impl::MapKernelsBase<MapKernels> {
  void runOnOperation() override {
    Builder builder(&getContext());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isDeclaration() && function.isPrivate())
        function->setAttr(kThreads, builder.getI64IntegerAttr(map(function)));
  }
};
} // namespace
