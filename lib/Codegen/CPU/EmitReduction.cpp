// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions over everything but the columns, which lie next to each other: the
// sums of batch normalization, of biases' gradients. The columns are vectors
// that stay in registers while the rows pass by; threads take stretches of
// rows, whose results are combined in order.

#include "lib/Codegen/CPU/LoopNest.h"
#include "lib/Codegen/CPU/VectorPayload.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace netc;
using namespace mlir;

/// Stretches of rows, whatever the number of threads, so that sums are the same
/// for each.
static constexpr int64_t kStretches = 16;
/// Number of rows ahead of their use that operands are prefetched, at least.
static constexpr int64_t kMinPrefetchRows = 4;

/// What combines a result with what comes next, or null if it is no operation
/// with a neutral element.
static Operation *combinerOf(linalg::LinalgOp op, unsigned result) {
  Block &body = op->getRegion(0).front();
  Value old = body.getArgument(op.getNumDpsInputs() + result);
  Operation *combiner =
      body.getTerminator()->getOperand(result).getDefiningOp();
  if (!combiner || !old.hasOneUse() || *old.getUsers().begin() != combiner ||
      combiner->getNumOperands() != 2 || !arith::getNeutralElement(combiner))
    return nullptr;
  return combiner;
}

namespace {
using Loop = LoopNest::Loop;

class ReductionEmitter {
public:
  /// `sums` are the loops of the rows; stretches are of the first.
  ReductionEmitter(linalg::LinalgOp op, const LoopNest &nest, Loop columns,
                   SmallVector<Loop> sums, const TargetInfo &target)
      : op(op), b(op), columns(std::move(columns)), sums(std::move(sums)),
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
    int64_t iterations = sums.front().extent;
    bool fewColumns =
        columns.extent < kStretches * width() && iterations >= kStretches;
    if (!isParallel || !fewColumns)
      return forColumns(isParallel, [&](Value at, int64_t count) {
        storeResults(at, count,
                     reduce(at, count, {}, iterations, loadResults(at, count)));
      });

    // A row of partial results for each stretch.
    int64_t length = iterations / kStretches;
    partial = b.create<memref::AllocaOp>(
        MemRefType::get({kStretches * rowLength()}, vector.getElementType()));
    b.forEach(kStretches, 1, true, [&](Value stretch) {
      forColumns(false, [&](Value at, int64_t count) {
        storePartial(stretch, at, count,
                     reduce(at, count, b.scaled(stretch, length), length,
                            neutral(count)));
      });
    });
    int64_t done = kStretches * length;
    forColumns(false, [&](Value at, int64_t count) {
      SmallVector<Value> all =
          b.loop(kStretches, 1, loadResults(at, count),
                 [&](Value stretch, ValueRange carried) {
                   return combine(carried, loadPartial(stretch, at, count));
                 });
      if (done < iterations)
        all = reduce(at, count, b.index(done), iterations - done, all);
      storeResults(at, count, all);
    });
  }

private:
  /// Values are by result, then by vector of the columns at hand.
  using Vectors = SmallVector<Value>;

  /// Calls `body` for blocks of columns: where one starts, how many it has.
  void forColumns(bool parallel, function_ref<void(Value, int64_t)> body) {
    int64_t even = columns.extent / width() * width();
    b.forEach(even, width(), parallel, [&](Value at) { body(at, width()); });
    if (even < columns.extent)
      body(b.index(even), columns.extent - even);
  }

  /// Columns that are reduced at once: long parts of a row, though they may not
  /// leave room in registers for all else.
  int64_t width() const {
    return std::max<int64_t>(target.vectorRegisters / combiners.size(), 1) *
           lanes;
  }
  int64_t rowLength() const { return combiners.size() * columns.extent; }

  /// Of vector `i` of `count` columns: null if it is full.
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
  Value placeOf(Value stretch, Value at, unsigned result) {
    return b.add(b.add(b.scaled(stretch, rowLength()), at),
                 result * columns.extent);
  }
  Vectors loadPartial(Value stretch, Value at, int64_t count) {
    Vectors values;
    for (unsigned result = 0; result < combiners.size(); ++result)
      for (int64_t i = 0; i < vectorsOf(count); ++i)
        values.push_back(load(partial, placeOf(stretch, at, result), i, count));
    return values;
  }
  void storePartial(Value stretch, Value at, int64_t count, ValueRange values) {
    for (unsigned result = 0; result < combiners.size(); ++result)
      for (int64_t i = 0; i < vectorsOf(count); ++i)
        store(values[result * vectorsOf(count) + i], partial,
              placeOf(stretch, at, result), i, count);
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

  /// Takes `length` rows from the row `first` of the first sum on into
  /// `values`.
  Vectors reduce(Value at, int64_t count, Value first, int64_t length,
                 ValueRange values) {
    SmallVector<Value> offsets(starts);
    b.advance(offsets, columns, at);
    if (first)
      b.advance(offsets, sums.front(), first);
    return reduce(0, offsets, count, length, values);
  }
  Vectors reduce(size_t depth, ArrayRef<Value> offsets, int64_t count,
                 int64_t length, ValueRange values) {
    if (depth == sums.size())
      return row(offsets, count, values);
    return b.loop(depth == 0 ? length : sums[depth].extent, 1, values,
                  [&](Value iteration, ValueRange carried) {
                    SmallVector<Value> inside(offsets);
                    b.advance(inside, sums[depth], iteration);
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
  /// Vector `i` of an input, or the one value that it has for all columns.
  Value operand(unsigned input, Value at, int64_t i, int64_t count) {
    Value memory = b.flat(input);
    if (!isa<MemRefType>(memory.getType()))
      return memory;
    if (columns.strides[input] == 0)
      return b.create<memref::LoadOp>(memory, at);
    prefetch(input, at, i);
    return load(memory, at, i, count);
  }
  /// Prefetches a cache line of a row that comes later.
  void prefetch(unsigned input, Value at, int64_t i) {
    auto type = cast<MemRefType>(b.flat(input).getType());
    int64_t next = sums.back().strides[input];
    int64_t bytes = type.getElementTypeBitWidth() / 8;
    if (next == 0 || type.getNumElements() * bytes < target.streamBytes() ||
        i * lanes * bytes % target.cacheLineBytes != 0)
      return;
    int64_t rows =
        std::max(kMinPrefetchRows, target.streamPrefetchBytes / (next * bytes));
    b.prefetch(b.flat(input), b.add(at, i * lanes + rows * next),
               /*isWrite=*/false, CacheLevel::L2);
  }

  linalg::LinalgOp op;
  NestBuilder b;
  Loop columns;
  SmallVector<Loop> sums;
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
  SmallVector<Loop> sums;
  for (const Loop &loop : nest->loops) {
    if (!loop.isParallel)
      sums.push_back(loop);
    else if (columns)
      return false;
    else
      columns = loop;
  }
  if (!columns || columns->extent < 8 || sums.empty())
    return false;
  for (auto [i, stride] : llvm::enumerate(columns->strides))
    if (stride != 1 && (stride != 0 || int64_t(i) >= op.getNumDpsInputs()))
      return false;
  // In the order of memory, but first one that can be cut in stretches.
  llvm::stable_sort(sums, [](const Loop &a, const Loop &b) {
    return a.strides[0] > b.strides[0];
  });
  auto first = llvm::find_if(
      sums, [](const Loop &loop) { return loop.extent >= kStretches; });
  if (first != sums.end())
    std::rotate(sums.begin(), first, first + 1);

  ReductionEmitter(op, *nest, *columns, sums, target).emit();
  op->erase();
  return true;
}
