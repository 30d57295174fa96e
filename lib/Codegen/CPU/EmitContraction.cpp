// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits contractions C[m, n] += A[m, k] B[k, n], where each of m, n and k is
// any number of loops, and batch loops may surround them. A tile of C stays in
// registers during the loops of k: elements of A are broadcast, and B is read
// as vectors. Convolutions, matrix products and their gradients differ in
// strides only. The schedule decides the loops.

#include "lib/Codegen/CPU/Emitters.h"
#include "lib/Codegen/CPU/MacroKernel.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace netc;
using namespace mlir;

namespace {
class ContractionEmitter : MacroKernelEmitter {
public:
  using MacroKernelEmitter::MacroKernelEmitter;

  void emit() {
    Operands operands;
    for (auto [operand, start] : llvm::enumerate(schedule.dims.starts)) {
      unsigned number =
          operand <= C ? schedule.dims.operands[operand] : operand;
      operands.memory.push_back(b.flat(number));
      operands.at.push_back(b.index(start));
    }
    emitBatch(0, operands);
  }

private:
  void emitBatch(unsigned depth, const Operands &operands) {
    if (depth == schedule.dims.batch.size())
      return emitPartition(operands);
    const Loop &loop = schedule.dims.batch[depth];
    b.forEach(loop.extent, 1, schedule.parallelBatch == depth,
              [&](Value iteration) {
                emitBatch(depth + 1, move(operands, loop, iteration));
              });
  }

  void emitPartition(const Operands &operands) {
    if (!schedule.cut)
      return emitBlock(schedule.blocks.front(), operands);
    if (schedule.partition == Partition::SplitK)
      return emitSplitK(*schedule.cut, operands);
    emitCut(*schedule.cut, schedule.cut->around, operands);
  }

  /// Emits the loop over the blocks of a cut, inside of the loops `around`.
  void emitCut(const ContractionSchedule::Cut &cut, ArrayRef<Loop> around,
               const Operands &operands) {
    if (!around.empty())
      return b.forEach(around.front().extent, 1, false, [&](Value iteration) {
        emitCut(cut, around.drop_front(),
                move(operands, around.front(), iteration));
      });
    b.forBlocks(cut.loop.extent, cut.size, cut.isParallel,
                [&](Value iteration, int64_t count) {
                  emitBlock(schedule.blockOf(count),
                            move(operands, cut.loop, iteration));
                });
  }

  /// Split-K: each thread sums its part of k into a partial C. The partial
  /// results are then added up.
  void emitSplitK(const ContractionSchedule::Cut &cut,
                  const Operands &operands) {
    int64_t count = llvm::divideCeil(cut.loop.extent, cut.size);
    int64_t size = schedule.dims.sizes[C];
    Value result = operands.memory[C];
    Value parts = b.create<memref::AllocaOp>(
        MemRefType::get({count * size}, element), b.getI64IntegerAttr(64));
    Value zeros = b.create<arith::ConstantOp>(b.getZeroAttr(vector));
    b.forBlocks(cut.loop.extent, cut.size, cut.isParallel,
                [&](Value iteration, int64_t taken) {
                  Value number =
                      b.create<arith::DivUIOp>(iteration, b.index(cut.size));
                  Value first = b.scaled(number, size);
                  b.forBlocks(size, lanes, false, [&](Value at, int64_t rest) {
                    Value mask = b.maskOf(vector, rest);
                    b.storeVector(zeros, parts, b.add(first, at), mask);
                  });
                  Operands part = move(operands, cut.loop, iteration);
                  part.memory[C] = parts;
                  part.at[C] = b.add(part.at[C], first);
                  emitBlock(schedule.blockOf(taken), part);
                });
    b.forBlocks(size, lanes, false, [&](Value at, int64_t rest) {
      Value mask = b.maskOf(vector, rest);
      Value sum = b.loadVector(vector, result, at, mask);
      for (int64_t part = 0; part < count; ++part) {
        Value from = b.add(at, part * size);
        sum = b.create<arith::AddFOp>(sum,
                                      b.loadVector(vector, parts, from, mask));
      }
      b.storeVector(sum, result, at, mask);
    });
  }

  /// Emits a block of the partition, cut into blocks of rows if the schedule
  /// says so.
  void emitBlock(const BlockSchedule &block, const Operands &operands) {
    if (!block.mcLoop)
      return emitKBlocks(block, block.m, createPackBuffers(block), 0, true,
                         operands);
    if (block.threads == BlockSchedule::Threads::TakeRows)
      return emitParallelRowBlocks(block, operands);
    emitRowBlocks(block, block.outerM, createPackBuffers(block), operands);
  }

  /// The outermost loop is parallel, and each thread has its own packed copies.
  void emitParallelRowBlocks(const BlockSchedule &block,
                             const Operands &operands) {
    if (block.outerM.empty())
      return forRowBlocks(block, true, [&](Value iteration, const Loops &m) {
        PackBuffers buffers = createPackBuffers(block);
        emitKBlocks(block, m, buffers, 0, true,
                    move(operands, block.m[*block.mcLoop], iteration));
      });
    const Loop &loop = block.outerM.front();
    b.forEach(loop.extent, 1, true, [&](Value iteration) {
      PackBuffers buffers = createPackBuffers(block);
      emitRowBlocks(block, ArrayRef(block.outerM).drop_front(), buffers,
                    move(operands, loop, iteration));
    });
  }

  void emitRowBlocks(const BlockSchedule &block, ArrayRef<Loop> outer,
                     const PackBuffers &buffers, const Operands &operands) {
    if (!outer.empty())
      return b.forEach(outer.front().extent, 1, false, [&](Value iteration) {
        emitRowBlocks(block, outer.drop_front(), buffers,
                      move(operands, outer.front(), iteration));
      });
    forRowBlocks(block, false, [&](Value iteration, const Loops &m) {
      emitKBlocks(block, m, buffers, 0, true,
                  move(operands, block.m[*block.mcLoop], iteration));
    });
  }

  /// Calls `body` for each block of MC rows, with its first row and its loops
  /// of m.
  void forRowBlocks(const BlockSchedule &block, bool isParallel,
                    function_ref<void(Value, const Loops &)> body) {
    b.forBlocks(block.m[*block.mcLoop].extent, block.mc, isParallel,
                [&](Value iteration, int64_t extent) {
                  Loops m = block.m;
                  m[*block.mcLoop].extent = extent;
                  body(iteration, m);
                });
  }

  /// Emits the blocks of KC iterations one after the other; parallel loops are
  /// inside of them. If an epilogue follows, the last block is emitted by
  /// itself.
  void emitKBlocks(const BlockSchedule &block, const Loops &m,
                   const PackBuffers &buffers, unsigned depth, bool isLast,
                   const Operands &operands) {
    if (block.outerK.empty())
      return emitMacroKernel(block, m, block.wholeK, isLast, buffers, operands);
    const Loop &loop = block.outerK[depth];
    bool isCut = depth + 1 == block.outerK.size();
    int64_t size = isCut ? block.kc : 1;
    auto run = [&](Value iteration, int64_t count, bool isLast) {
      Operands start = move(operands, loop, iteration);
      if (!isCut)
        return emitKBlocks(block, m, buffers, depth + 1, isLast, start);
      emitMacroKernel(block, m, count == size ? block.wholeK : block.restK,
                      isLast, buffers, start);
    };
    int64_t last = schedule.hasEpilogue && isLast
                       ? (loop.extent - 1) / size * size
                       : loop.extent;
    b.forBlocks(last, size, false, [&](Value iteration, int64_t count) {
      run(iteration, count, false);
    });
    if (last < loop.extent)
      run(b.index(last), loop.extent - last, true);
  }
};
} // namespace

bool netc::emitContraction(linalg::LinalgOp op, const TargetInfo &target) {
  std::optional<ContractionSchedule> schedule = scheduleOf(op, target);
  if (!schedule)
    return false;
  // The sums start from the value of a fill directly before the contraction.
  auto fill = dyn_cast_or_null<linalg::FillOp>(op->getPrevNode());
  bool folds = schedule->foldsFill && fill &&
               fill.getDpsInits()[0] == op.getDpsInits()[0];
  auto epilogue = schedule->hasEpilogue ? epilogueOf(op) : nullptr;
  ContractionEmitter(op, *schedule, folds ? fill.value() : Value(), epilogue)
      .emit();
  if (folds)
    fill.erase();
  if (epilogue)
    epilogue.erase();
  op->erase();
  return true;
}
