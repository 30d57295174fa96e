// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Element-wise ops on tensors that exceed the caches: loops over vectors that
// prefetch the data of later iterations.

#include "lib/Codegen/CPU/Emitters.h"
#include "lib/Codegen/CPU/VectorPayload.h"
#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/LoopNest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace netc;
using namespace mlir;

/// Least number of iterations of the outermost loop, which is parallel.
static constexpr int64_t kMinRows = 8;

using Loop = LoopNest::Loop;

/// Elements of a cache line of the operand with the smallest elements.
static int64_t lineOf(linalg::LinalgOp op, const TargetInfo &target) {
  int64_t line = 1;
  for (Type type : op->getOperandTypes())
    line =
        std::max(line, target.lineElements(
                           getElementTypeOrSelf(type).getIntOrFloatBitWidth()));
  return line;
}

namespace {
class StreamEmitter {
public:
  /// The columns are the last loop.
  StreamEmitter(linalg::LinalgOp op, const LoopNest &nest,
                const TargetInfo &target)
      : op(op), b(op), loops(nest.loops), target(target) {
    for (int64_t start : nest.starts)
      starts.push_back(b.index(start));
    lanes = target.lanes(widestBits(op));
  }

  void emit() { emitRows(0, starts); }

private:
  using Values = SmallVector<Value>;

  Values move(Values offsets, const Loop &loop, Value iteration) {
    b.advance(offsets, loop, iteration);
    return offsets;
  }

  /// The outermost loop is parallel.
  void emitRows(size_t depth, const Values &offsets) {
    if (depth + 1 == loops.size())
      return emitColumns(offsets);
    b.forEach(loops[depth].extent, 1, depth == 0, [&](Value iteration) {
      emitRows(depth + 1, move(offsets, loops[depth], iteration));
    });
  }

  void emitColumns(const Values &offsets) {
    int64_t line = lineOf(op, target);
    b.forEach(loops.back().extent, line, false, [&](Value at) {
      for (int64_t i = 0; i < line; i += lanes)
        emitVector(move(offsets, loops.back(), b.add(at, i)), i);
    });
  }

  /// Emits the vector that starts `position` elements after the start of a
  /// cache line of each operand.
  void emitVector(const Values &offsets, int64_t position) {
    Values arguments;
    size_t result = op.getNumDpsInputs();
    for (auto [i, offset] : llvm::enumerate(offsets)) {
      Value memory = b.flat(i);
      auto type = dyn_cast<MemRefType>(memory.getType());
      if (!type) {
        arguments.push_back(memory);
      } else if (loops.back().strides[i] == 0) {
        arguments.push_back(b.create<memref::LoadOp>(memory, offset));
      } else {
        Type element = type.getElementType();
        int64_t bytes = element.getIntOrFloatBitWidth() / 8;
        if (position * bytes % target.cacheLineBytes == 0 &&
            sizeInBytes(type) >= target.streamBytes())
          b.prefetch(memory, b.add(offset, target.streamPrefetchBytes / bytes),
                     i == result,
                     i == result ? CacheLevel::L1 : CacheLevel::L2);
        arguments.push_back(b.create<vector::LoadOp>(
            VectorType::get({lanes}, element), memory, offset));
      }
    }
    Values values = emitPayload(b, op, lanes, arguments);
    b.create<vector::StoreOp>(values.front(), b.flat(result), offsets[result]);
  }

  linalg::LinalgOp op;
  NestBuilder b;
  SmallVector<Loop> loops;
  const TargetInfo &target;
  SmallVector<Value> starts; ///< of the operands
  int64_t lanes;             ///< of a vector
};
} // namespace

bool netc::emitStream(linalg::LinalgOp op, const TargetInfo &target) {
  if (op.getNumReductionLoops() != 0 || op.getNumDpsInits() != 1 ||
      !isVectorizable(op))
    return false;
  std::optional<LoopNest> nest = LoopNest::of(op);
  auto type = cast<MemRefType>(op.getDpsInits()[0].getType());
  if (!nest || sizeInBytes(type) < target.streamBytes())
    return false;
  nest->collapse();
  llvm::stable_sort(nest->loops, [](const Loop &a, const Loop &b) {
    return a.strides.back() > b.strides.back();
  });
  const Loop &columns = nest->loops.back();
  int64_t line = lineOf(op, target);
  if (nest->loops.size() < 2 || nest->loops.front().extent < kMinRows ||
      columns.extent % line != 0 || columns.strides.back() != 1 ||
      llvm::any_of(columns.strides,
                   [](int64_t stride) { return stride != 0 && stride != 1; }))
    return false;
  StreamEmitter(op, *nest, target).emit();
  op->erase();
  return true;
}
