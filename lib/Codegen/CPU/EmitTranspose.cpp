// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Copies that change which axis is contiguous: transposes of weights and of
// images. The kernel of a convolution may also be reversed. Squares of lanes x
// lanes elements are transposed in registers, so that both sides are accessed
// by vectors. Short rows that stay contiguous are copied as vectors; LLVM
// vectorizes the copies of long rows itself.

#include "lib/Codegen/CPU/Emitters.h"
#include "lib/Codegen/CPU/VectorPayload.h"
#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/LoopNest.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace netc;
using namespace mlir;

/// Least number of iterations of a loop that threads share.
static constexpr int64_t kParallelIterations = 8;

/// Up to this number of iterations, LLVM unrolls a loop instead of vectorizing
/// it.
static constexpr int64_t kShortRow = 64;

using Loop = LoopNest::Loop;

static Type operandElement(linalg::LinalgOp op, unsigned operand) {
  return getElementTypeOrSelf(op->getOperand(operand).getType());
}

namespace {
class TransposeEmitter {
public:
  TransposeEmitter(linalg::LinalgOp op, const LoopNest &nest, Loop *across,
                   Loop *along, const TargetInfo &target)
      : op(op), b(op), across(*across), along(*along),
        isTransposed(across != along) {
    // Vectors of 16-bit floats have no more lanes than those of f32.
    lanes = target.lanes(32);
    vector = VectorType::get({lanes}, operandElement(op, 0));
    for (const Loop &loop : nest.loops) {
      bool isSquare = &loop == across || &loop == along;
      loops.push_back({loop, isSquare ? lanes : 1, &loop == across});
    }
    // The largest strides come first.
    llvm::stable_sort(loops, [](const Cut &a, const Cut &b) {
      return a.reach() > b.reach();
    });
    isParallel = nest.points() >= kParallelPoints;
    emit(0, {b.index(nest.starts[0]), b.index(nest.starts[1])}, 1, 1);
  }

private:
  /// Offsets in the operand and in the result.
  using Offsets = std::array<Value, 2>;

  struct Cut {
    Loop loop;
    int64_t step; ///< iterations of the loop that a square takes
    bool isAcross;
    int64_t reach() const {
      return step * (std::abs(loop.strides[0]) + std::abs(loop.strides[1]));
    }
  };

  void emit(unsigned depth, Offsets at, int64_t columns, int64_t rows) {
    if (depth == loops.size())
      return isTransposed ? square(at, columns, rows) : row(at, columns);
    const Cut &cut = loops[depth];
    bool here = isParallel && cut.loop.extent / cut.step >= kParallelIterations;
    isParallel &= !here;
    b.forBlocks(
        cut.loop.extent, cut.step, here, [&](Value iteration, int64_t count) {
          Offsets to = at;
          for (unsigned operand : {0, 1})
            to[operand] = b.add(at[operand],
                                b.scaled(iteration, cut.loop.strides[operand]));
          bool isSquare = cut.step > 1;
          emit(depth + 1, to, isSquare && cut.isAcross ? count : columns,
               isSquare && !cut.isAcross ? count : rows);
        });
    isParallel |= here;
  }

  /// Loads elements of the operand, converted to the result's type.
  Value load(Value at, Value mask) {
    Value loaded = b.loadVector(vector, b.flat(0), at, mask);
    return emitPayload(b, op, lanes, {loaded, Value()}).front();
  }

  void row(Offsets at, int64_t elements) {
    Value mask = b.maskOf(vector, elements);
    b.storeVector(load(at[0], mask), b.flat(1), at[1], mask);
  }

  /// Transposes `rows` rows of `columns` elements.
  void square(Offsets at, int64_t columns, int64_t rows) {
    bool isReversed = across.strides[0] < 0;
    Value first = isReversed ? b.add(at[0], 1 - columns) : at[0];
    Value mask = b.maskOf(vector, columns);
    Value zeros = b.create<arith::ConstantOp>(
        b.getZeroAttr(vector.clone(operandElement(op, 1))));
    SmallVector<Value> vectors(lanes, zeros);
    for (int64_t row = 0; row < rows; ++row)
      vectors[row] = load(b.add(first, row * along.strides[0]), mask);
    vectors = b.transpose(vectors);
    mask = b.maskOf(vector, rows);
    for (int64_t column = 0; column < columns; ++column)
      b.storeVector(vectors[isReversed ? columns - 1 - column : column],
                    b.flat(1), b.add(at[1], column * across.strides[1]), mask);
  }

  linalg::LinalgOp op;
  NestBuilder b;
  /// The loop along which the operand is contiguous, and that along which the
  /// result is.
  Loop across, along;
  bool isTransposed;
  SmallVector<Cut> loops;
  VectorType vector;
  int64_t lanes;
  bool isParallel;
};
} // namespace

bool netc::emitTranspose(linalg::LinalgOp op, const TargetInfo &target) {
  auto fits = [&](unsigned operand) {
    auto element = dyn_cast<FloatType>(operandElement(op, operand));
    return element && element.getWidth() <= 32;
  };
  if (!isConversion(op) || !fits(0) || !fits(1))
    return false;
  std::optional<LoopNest> nest = LoopNest::of(op);
  if (!nest || !isa<MemRefType>(op->getOperand(0).getType()))
    return false;
  nest->collapse();
  Loop *across = nullptr, *along = nullptr;
  for (Loop &loop : nest->loops) {
    if (std::abs(loop.strides[0]) == 1)
      across = &loop;
    if (loop.strides[1] == 1)
      along = &loop;
  }
  if (!across || !along ||
      (across == along &&
       (along->extent > kShortRow || along->strides[0] != 1)))
    return false;
  TransposeEmitter(op, *nest, across, along, target);
  op->erase();
  return true;
}
