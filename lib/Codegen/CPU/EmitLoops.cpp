// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CPU/Emitters.h"
#include "lib/Codegen/LoopNest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace netc;
using namespace mlir;

/// How suitable a loop is as the innermost one: operands in which its stride is
/// 1 count twice as much as those in which it is 0. Results count 1.5 times as
/// much as inputs.
static int64_t unitStrides(const LoopNest::Loop &loop, unsigned numInputs) {
  int64_t units = 0;
  for (auto [i, stride] : llvm::enumerate(loop.strides)) {
    int64_t weight = i < numInputs ? 2 : 3;
    // With a stride of 0, the value stays in a register.
    units += stride == 1 ? 2 * weight : stride == 0 ? weight : 0;
  }
  return units;
}

namespace {
/// Emits a linalg op as scalar loops.
class LoopEmitter {
public:
  LoopEmitter(linalg::LinalgOp op, LoopNest nest)
      : op(op), nest(std::move(nest)), b(op) {
    for (int64_t start : this->nest.starts)
      offsets.push_back(b.index(start));
    dims.resize(op.getNumLoops());
  }

  void emit() {
    order();
    nextLoop(0, nest.points());
  }

private:
  /// Orders the loops: parallel ones outside, large strides first, and the loop
  /// with the most unit strides innermost.
  void order() {
    auto &loops = nest.loops;
    unsigned numInputs = op.getNumDpsInputs();
    llvm::stable_sort(loops, [&](const auto &a, const auto &b) {
      if (a.isParallel != b.isParallel)
        return a.isParallel;
      return a.strides.back() > b.strides.back();
    });
    auto inner = loops.end();
    for (auto loop = loops.begin(); loop != loops.end(); ++loop)
      if (inner == loops.end() ||
          unitStrides(*loop, numInputs) >= unitStrides(*inner, numInputs))
        inner = loop;
    if (inner == loops.end())
      return;
    std::rotate(inner, inner + 1, loops.end());
    // If the innermost loop strides over an operand, order the loops around it
    // by their strides in this operand, so that fetched cache lines are used.
    for (size_t i = 0; i < loops.back().strides.size(); ++i)
      if (loops.back().strides[i] > 16 && loops.back().isParallel)
        std::stable_sort(loops.begin(), loops.end() - 1,
                         [&](const auto &a, const auto &b) {
                           if (a.isParallel != b.isParallel)
                             return a.isParallel;
                           return a.strides[i] > b.strides[i];
                         });
    // If the only parallel loop is inside of reduction loops, cut it, and make
    // the loop over its parts the outermost, parallel one.
    LoopNest::Loop &last = loops.back();
    bool isOnlyParallel =
        last.isParallel && loops.size() > 1 && !loops.front().isParallel;
    if (isOnlyParallel && last.extent >= 32 && last.extent % 16 == 0 &&
        last.dims.size() == 1) {
      LoopNest::Loop parts = last;
      int64_t part = last.extent % 32 == 0 && last.extent >= 128 ? 32 : 16;
      parts.extent = last.extent / part;
      for (int64_t &stride : parts.strides)
        stride *= part;
      parts.dims.clear();
      this->part = part;
      last.extent = part;
      loops.insert(loops.begin(), parts);
    }
  }

  /// Emits the loops from `depth` on, which have `points` iterations
  /// altogether. A loop is parallel only if these are worth starting threads
  /// for: a loop around it would start the threads again in each iteration.
  void nextLoop(unsigned depth, int64_t points) {
    if (depth == nest.loops.size())
      return point();
    const LoopNest::Loop &loop = nest.loops[depth];
    bool parallel = loop.isParallel && points >= kParallelPoints;
    // Threads take chunks of a single long loop, which LLVM can vectorize.
    bool isLast = depth + 1 == nest.loops.size();
    if (parallel && isLast && !usesIndex() &&
        loop.extent >= kParallelPoints / 4)
      return chunks(loop, depth);
    if (isLast)
      emitInvariant(loop);
    b.forEach(loop.extent, 1, parallel, [&](Value at) {
      SmallVector<Value> saved = offsets;
      move(loop, at);
      // Loops inside of a parallel one are sequential.
      nextLoop(depth + 1, parallel ? 1 : points / loop.extent);
      offsets = saved;
    });
  }

  void chunks(const LoopNest::Loop &loop, unsigned depth) {
    constexpr int64_t length = 4096;
    auto run = [&](Value start, int64_t count) {
      b.forEach(count, 1, false, [&](Value at) {
        SmallVector<Value> saved = offsets;
        move(loop, b.add(start, at));
        nextLoop(depth + 1, 1);
        offsets = saved;
      });
    };
    int64_t whole = loop.extent / length * length;
    b.forEach(whole, length, true, [&](Value start) { run(start, length); });
    if (whole < loop.extent)
      run(b.index(whole), loop.extent - whole);
  }

  void move(const LoopNest::Loop &loop, Value at) {
    b.advance(offsets, loop, at);
    if (!usesIndex())
      return;
    if (loop.dims.empty()) {
      partStart = b.scaled(at, part);
      return;
    }
    unsigned dim = loop.dims.front().first;
    bool isCut = partStart && &loop == &nest.loops.back();
    dims[dim] = isCut ? b.add(partStart, at) : at;
  }

  bool usesIndex() { return op.hasIndexSemantics(); }

  /// Emits the operations of the payload that do not depend on the innermost
  /// loop, such as loading the index of a gathered row. LLVM cannot hoist such
  /// a load, since it does not know that the loop does not overwrite its
  /// memory.
  void emitInvariant(const LoopNest::Loop &loop) {
    Block &body = op->getRegion(0).front();
    for (unsigned i = 0; i < op.getNumDpsInputs(); ++i)
      if (loop.strides[i] == 0)
        emitArgument(i, invariant);
    auto isKnown = [&](Value value) {
      return value.getParentBlock() != &body || invariant.contains(value);
    };
    auto moves = [&](linalg::IndexOp index) {
      return llvm::is_contained(llvm::make_first_range(loop.dims),
                                index.getDim());
    };
    for (Operation &payload : body.without_terminator()) {
      auto index = dyn_cast<linalg::IndexOp>(payload);
      if (index ? !moves(index)
                : isPure(&payload) &&
                      llvm::all_of(payload.getOperands(), isKnown))
        emitPayload(payload, invariant);
    }
  }

  void emitArgument(unsigned i, IRMapping &values) {
    BlockArgument argument = op->getRegion(0).getArgument(i);
    Value operand = b.flat(i);
    if (argument.use_empty())
      return;
    if (isa<MemRefType>(operand.getType()))
      operand = b.create<memref::LoadOp>(operand, offsets[i]);
    values.map(argument, operand);
  }

  void emitPayload(Operation &payload, IRMapping &values) {
    auto index = dyn_cast<linalg::IndexOp>(payload);
    if (!index) {
      b.clone(payload, values);
      return;
    }
    // A loop of one iteration was dropped.
    Value at = dims[index.getDim()];
    values.map(index.getResult(), at ? at : b.index(0));
  }

  /// Emits the rest of the payload for one iteration of all loops.
  void point() {
    Block &body = op->getRegion(0).front();
    IRMapping values = invariant;
    for (BlockArgument argument : body.getArguments())
      if (!values.contains(argument))
        emitArgument(argument.getArgNumber(), values);
    for (Operation &payload : body.without_terminator())
      if (!values.contains(payload.getResult(0)))
        emitPayload(payload, values);
    unsigned numInputs = op.getNumDpsInputs();
    for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
      b.create<memref::StoreOp>(values.lookupOrDefault(value),
                                b.flat(numInputs + i), offsets[numInputs + i]);
  }

  linalg::LinalgOp op;
  LoopNest nest;
  NestBuilder b;
  /// By operand, the offset in the current iteration of the enclosing loops.
  SmallVector<Value> offsets;
  /// By loop of the op, its induction variable.
  SmallVector<Value> dims;
  /// Results of emitInvariant().
  IRMapping invariant;
  /// If the innermost loop was cut into parts: their length, and the index at
  /// which the current part starts.
  int64_t part = 0;
  Value partStart;
};
} // namespace

bool netc::emitLoops(linalg::LinalgOp op) {
  std::optional<LoopNest> nest = LoopNest::of(op);
  if (!nest)
    return false;
  if (!op.hasIndexSemantics())
    nest->collapse();
  else
    llvm::erase_if(nest->loops,
                   [](const auto &loop) { return loop.extent == 1; });
  LoopEmitter(op, std::move(*nest)).emit();
  op->erase();
  return true;
}
