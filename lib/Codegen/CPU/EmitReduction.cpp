// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reduces all loops but one, the columns, which are contiguous: sums of batch
// normalization, and gradients of biases. Vectors of columns stay in registers
// during the loops over rows. Threads reduce chunks of rows, and the partial
// results are combined in order.

#include "lib/Codegen/CPU/Emitters.h"
#include "lib/Codegen/CPU/VectorPayload.h"
#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/LoopNest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace netc;
using namespace mlir;

/// Number of chunks of rows. It does not depend on the number of threads, so
/// that results do not either.
static constexpr int64_t kChunks = 16;
/// Least distance of a prefetch from its use, in rows.
static constexpr int64_t kMinPrefetchRows = 4;

namespace {
using Loop = LoopNest::Loop;

class ReductionEmitter {
public:
  /// `rows` are the loops that are reduced. The first one is cut into chunks.
  ReductionEmitter(linalg::LinalgOp op, const LoopNest &nest, Loop columns,
                   SmallVector<Loop> rows, const TargetInfo &target)
      : op(op), b(op), columns(std::move(columns)), rows(std::move(rows)),
        target(target), isParallel(nest.points() >= kParallelPoints) {
    for (int64_t start : nest.starts)
      starts.push_back(b.index(start));
    Type element = getElementTypeOrSelf(op.getDpsInits()[0].getType());
    lanes = target.lanes(widestBits(op));
    vector = VectorType::get({lanes}, element);
    for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
      combiners.push_back(combinerOf(op, i));
  }

  void emit() {
    int64_t iterations = rows.front().extent;
    bool fewColumns =
        columns.extent < kChunks * width() && iterations >= kChunks;
    if (!isParallel || !fewColumns)
      return forColumns(isParallel, [&](Value at, int64_t count) {
        storeResults(at, count,
                     reduce(at, count, {}, iterations, loadResults(at, count)));
      });

    // Each chunk has a row of partial results.
    int64_t length = iterations / kChunks;
    partial = b.create<memref::AllocaOp>(
        MemRefType::get({kChunks * rowLength()}, vector.getElementType()));
    b.forEach(kChunks, 1, true, [&](Value chunk) {
      forColumns(false, [&](Value at, int64_t count) {
        storePartial(
            chunk, at, count,
            reduce(at, count, b.scaled(chunk, length), length, neutral(count)));
      });
    });
    int64_t done = kChunks * length;
    forColumns(false, [&](Value at, int64_t count) {
      SmallVector<Value> all =
          b.loop(kChunks, 1, loadResults(at, count),
                 [&](Value chunk, ValueRange carried) {
                   return combine(carried, loadPartial(chunk, at, count));
                 });
      if (done < iterations)
        all = reduce(at, count, b.index(done), iterations - done, all);
      storeResults(at, count, all);
    });
  }

private:
  /// By result, then by vector of the current columns.
  using Vectors = SmallVector<Value>;

  /// Calls `body` with the first column of each block and the number of
  /// columns.
  void forColumns(bool parallel, function_ref<void(Value, int64_t)> body) {
    int64_t even = columns.extent / width() * width();
    b.forEach(even, width(), parallel, [&](Value at) { body(at, width()); });
    if (even < columns.extent)
      body(b.index(even), columns.extent - even);
  }

  /// Number of columns of a block, one vector of a result for each register.
  /// Reading a long part of a row at a time outweighs that some accumulators
  /// are spilled.
  int64_t width() const {
    return std::max<int64_t>(target.vectorRegisters / combiners.size(), 1) *
           lanes;
  }
  int64_t rowLength() const { return combiners.size() * columns.extent; }

  /// The mask of vector `i` of `count` columns. Null if the vector is full.
  Value maskOf(int64_t i, int64_t count) {
    return b.maskOf(vector, std::min(count - i * lanes, lanes));
  }
  Value load(Value memory, Value at, int64_t i, int64_t count) {
    Value from = b.add(at, i * lanes);
    VectorType stored = vector.clone(getElementTypeOrSelf(memory.getType()));
    return b.loadVector(stored, memory, from, maskOf(i, count));
  }
  void store(Value value, Value memory, Value at, int64_t i, int64_t count) {
    Value to = b.add(at, i * lanes);
    b.storeVector(value, memory, to, maskOf(i, count));
  }

  int64_t vectorsOf(int64_t count) const {
    return llvm::divideCeil(count, lanes);
  }
  Vectors loadResults(Value at, int64_t count) {
    Vectors values;
    unsigned first = op.getNumDpsInputs();
    for (unsigned result = 0; result < combiners.size(); ++result)
      for (int64_t i = 0; i < vectorsOf(count); ++i)
        values.push_back(load(b.flat(first + result),
                              b.add(starts[first + result], at), i, count));
    return values;
  }
  void storeResults(Value at, int64_t count, ValueRange values) {
    unsigned first = op.getNumDpsInputs();
    for (unsigned result = 0; result < combiners.size(); ++result)
      for (int64_t i = 0; i < vectorsOf(count); ++i)
        store(values[result * vectorsOf(count) + i], b.flat(first + result),
              b.add(starts[first + result], at), i, count);
  }
  Value offsetOf(Value chunk, Value at, unsigned result) {
    return b.add(b.add(b.scaled(chunk, rowLength()), at),
                 result * columns.extent);
  }
  Vectors loadPartial(Value chunk, Value at, int64_t count) {
    Vectors values;
    for (unsigned result = 0; result < combiners.size(); ++result)
      for (int64_t i = 0; i < vectorsOf(count); ++i)
        values.push_back(load(partial, offsetOf(chunk, at, result), i, count));
    return values;
  }
  void storePartial(Value chunk, Value at, int64_t count, ValueRange values) {
    for (unsigned result = 0; result < combiners.size(); ++result)
      for (int64_t i = 0; i < vectorsOf(count); ++i)
        store(values[result * vectorsOf(count) + i], partial,
              offsetOf(chunk, at, result), i, count);
  }
  Vectors neutral(int64_t count) {
    Vectors values;
    for (Operation *combiner : combiners) {
      auto splat = DenseElementsAttr::get(
          vector, cast<Attribute>(*arith::getNeutralElement(combiner)));
      values.append(vectorsOf(count), b.create<arith::ConstantOp>(splat));
    }
    return values;
  }

  Vectors combine(ValueRange a, ValueRange other) {
    Vectors values;
    size_t each = a.size() / combiners.size();
    for (size_t i = 0; i < a.size(); ++i)
      values.push_back(emitOnVectors(b, combiners[i / each], {a[i], other[i]}));
    return values;
  }

  /// Accumulates `length` iterations of the first loop, from `first` on, into
  /// `values`.
  Vectors reduce(Value at, int64_t count, Value first, int64_t length,
                 ValueRange values) {
    SmallVector<Value> offsets(starts);
    b.advance(offsets, columns, at);
    if (first)
      b.advance(offsets, rows.front(), first);
    return reduce(0, offsets, count, length, values);
  }
  Vectors reduce(size_t depth, ArrayRef<Value> offsets, int64_t count,
                 int64_t length, ValueRange values) {
    if (depth == rows.size())
      return row(offsets, count, values);
    return b.loop(depth == 0 ? length : rows[depth].extent, 1, values,
                  [&](Value iteration, ValueRange carried) {
                    SmallVector<Value> inside(offsets);
                    b.advance(inside, rows[depth], iteration);
                    return reduce(depth + 1, inside, count, length, carried);
                  });
  }

  Vectors row(ArrayRef<Value> offsets, int64_t count, ValueRange carried) {
    int64_t each = vectorsOf(count);
    Vectors next(carried.size());
    for (int64_t i = 0; i < each; ++i) {
      Vectors arguments;
      for (int64_t input = 0; input < op.getNumDpsInputs(); ++input)
        arguments.push_back(operand(input, offsets[input], i, count));
      for (size_t result = 0; result < combiners.size(); ++result)
        arguments.push_back(carried[result * each + i]);
      for (auto [result, value] :
           llvm::enumerate(emitPayload(b, op, lanes, arguments)))
        next[result * each + i] = value;
    }
    return next;
  }
  /// Vector `i` of an input, or a scalar if it is the same for all columns.
  Value operand(unsigned input, Value at, int64_t i, int64_t count) {
    Value memory = b.flat(input);
    if (!isa<MemRefType>(memory.getType()))
      return memory;
    if (columns.strides[input] == 0)
      return b.create<memref::LoadOp>(memory, at);
    prefetch(input, at, i);
    return load(memory, at, i, count);
  }
  /// Prefetches a cache line of a later row.
  void prefetch(unsigned input, Value at, int64_t i) {
    auto type = cast<MemRefType>(b.flat(input).getType());
    int64_t next = rows.back().strides[input];
    int64_t bytes = type.getElementTypeBitWidth() / 8;
    if (next == 0 || type.getNumElements() * bytes < target.streamBytes() ||
        i * lanes * bytes % target.cacheLineBytes != 0)
      return;
    int64_t distance =
        std::max(kMinPrefetchRows, target.streamPrefetchBytes / (next * bytes));
    b.prefetch(b.flat(input), b.add(at, i * lanes + distance * next),
               /*isWrite=*/false, CacheLevel::L2);
  }

  linalg::LinalgOp op;
  NestBuilder b;
  Loop columns;
  SmallVector<Loop> rows;
  const TargetInfo &target;
  bool isParallel;
  SmallVector<Value> starts; ///< of the operands
  VectorType vector;
  int64_t lanes;
  SmallVector<Operation *> combiners; ///< by result
  Value partial;
};
} // namespace

bool netc::emitReduction(linalg::LinalgOp op, const TargetInfo &target) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() == 0 ||
      !isVectorizable(op))
    return false;
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
    if (!combinerOf(op, i))
      return false;
  std::optional<LoopNest> nest = LoopNest::of(op);
  if (!nest || nest->scatters(op.getNumDpsInputs()))
    return false;
  nest->collapse();

  std::optional<Loop> columns;
  SmallVector<Loop> rows;
  for (const Loop &loop : nest->loops) {
    if (!loop.isParallel)
      rows.push_back(loop);
    else if (columns)
      return false;
    else
      columns = loop;
  }
  if (!columns || columns->extent < 8 || rows.empty())
    return false;
  for (auto [i, stride] : llvm::enumerate(columns->strides))
    if (stride != 1 && (stride != 0 || int64_t(i) >= op.getNumDpsInputs()))
      return false;
  // In the order of memory, except that the first loop, which is cut into
  // chunks, must be long enough.
  llvm::stable_sort(rows, [](const Loop &a, const Loop &b) {
    return a.strides[0] > b.strides[0];
  });
  auto first = llvm::find_if(
      rows, [](const Loop &loop) { return loop.extent >= kChunks; });
  if (first != rows.end())
    std::rotate(rows.begin(), first, first + 1);

  ReductionEmitter(op, *nest, *columns, rows, target).emit();
  op->erase();
  return true;
}
