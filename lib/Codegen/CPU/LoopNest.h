// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CPU_LOOPNEST_H
#define NETC_LIB_CODEGEN_CPU_LOOPNEST_H

#include "lib/Codegen/TargetInfo.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace netc {

/// Points of a loop nest that are worth waking other threads for.
constexpr int64_t kParallelPoints = 1 << 15;

/// What a linalg op on memrefs of static shape does: loops, and for each
/// operand how far, in elements, an iteration of each loop moves in it.
struct LoopNest {
  struct Loop {
    int64_t extent;
    bool isParallel;
    /// By operand.
    llvm::SmallVector<int64_t, 4> strides;
    /// The loops of the op that this one stands for, outermost first, with
    /// their extents: several if they were collapsed.
    llvm::SmallVector<std::pair<unsigned, int64_t>, 2> dims;
  };

  /// None if an operand's layout is not static. The operands of an `epilogue`,
  /// which reads the last operand of `op` element by element, follow its own.
  static std::optional<LoopNest> of(mlir::linalg::LinalgOp op,
                                    mlir::linalg::LinalgOp epilogue = nullptr);

  /// Makes one loop of two where every operand moves on alike, and drops loops
  /// of one iteration. Not for ops that ask for their indices.
  void collapse();

  llvm::SmallVector<Loop> loops; ///< in the order of the op
  unsigned numOperands = 0;
  /// Where each operand starts, in elements.
  llvm::SmallVector<int64_t, 4> starts;
  /// How many elements the memory of each operand has, from first to last.
  llvm::SmallVector<int64_t, 4> sizes;

  int64_t points() const;

  /// Whether sums move in an operand that is not one of the first `numInputs`:
  /// each adds to many elements, as what an average takes of its window is
  /// given back.
  bool scatters(unsigned numInputs) const;

private:
  /// Takes the next operand, which is read or written by `map`; false if its
  /// layout is not static.
  bool addOperand(mlir::Value operand, mlir::AffineMap map);
};

/// Emits code for loop nests on flat memory.
class NestBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// Before `op`, on its operands.
  NestBuilder(mlir::linalg::LinalgOp op);
  /// Works on those of another op, too, which are numbered behind its own.
  void addOperandsOf(mlir::linalg::LinalgOp op);

  /// An operand as a vector of all its elements.
  mlir::Value flat(unsigned operand) const { return memory[operand]; }
  mlir::Value index(int64_t value) {
    return create<mlir::arith::ConstantIndexOp>(value);
  }
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b);
  mlir::Value scaled(mlir::Value a, int64_t factor);
  /// Moves on in each operand by `iteration` iterations of a loop.
  void advance(llvm::MutableArrayRef<mlir::Value> offsets,
               const LoopNest::Loop &loop, mlir::Value iteration);

  void prefetch(mlir::Value memory, mlir::Value at, bool isWrite,
                CacheLevel level);

  /// Of a vector of which `count` elements are there, null if these are all or
  /// a multiple of all.
  mlir::Value maskOf(mlir::VectorType vector, int64_t count);
  /// An element as this type, which may be wider than that in memory.
  mlir::Value loadScalar(mlir::Type type, mlir::Value memory, mlir::Value at);
  /// Elements from `at` on, widened to those of the vector: those of the mask,
  /// if there is one, and zeros.
  mlir::Value loadVector(mlir::VectorType vector, mlir::Value memory,
                         mlir::Value at, mlir::Value mask);
  void storeVector(mlir::Value value, mlir::Value memory, mlir::Value at,
                   mlir::Value mask);

  /// As many vectors as one has elements: element j of vector i becomes element
  /// i of vector j.
  llvm::SmallVector<mlir::Value> transpose(mlir::ValueRange vectors);
  /// The sum of the elements of each vector.
  llvm::SmallVector<mlir::Value> sumsOf(mlir::ValueRange vectors);

  /// Calls `body` for 0, step, ..., below `extent`, carrying values.
  llvm::SmallVector<mlir::Value>
  loop(int64_t extent, int64_t step, mlir::ValueRange carried,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                         mlir::ValueRange)>
           body);
  /// The same with no values, by several threads if `isParallel`.
  void forEach(int64_t extent, int64_t step, bool isParallel,
               llvm::function_ref<void(mlir::Value)> body);
  /// Cuts `extent` into blocks: calls `body` where each starts, with its
  /// length. The last one may be shorter, but is some thread's, too.
  void forBlocks(int64_t extent, int64_t block, bool isParallel,
                 llvm::function_ref<void(mlir::Value, int64_t)> body);

private:
  mlir::Value widened(mlir::Value value, mlir::Type type);
  /// Of two vectors, in which blocks of `width` elements are told apart by
  /// being even or odd: the even ones of `a`, and behind each that of `b`
  /// before the same place; the odd ones likewise.
  std::pair<mlir::Value, mlir::Value> exchange(mlir::Value a, mlir::Value b,
                                               int64_t width);

  llvm::SmallVector<mlir::Value> memory;
};

/// Emits a sum of products as tiles that live in registers; false if it is none
/// that this can do.
bool emitContraction(mlir::linalg::LinalgOp op, const TargetInfo &target);
/// Emits a reduction of rows to columns that lie next to each other; false if
/// it is none that this can do.
bool emitReduction(mlir::linalg::LinalgOp op, const TargetInfo &target);
/// Emits an element-wise op on tensors that exceed the caches as vectors, which
/// are prefetched; false if it is none.
bool emitStream(mlir::linalg::LinalgOp op, const TargetInfo &target);
/// Emits a copy to where other elements lie next to each other as transposes of
/// squares in registers; false if it is none.
bool emitTranspose(mlir::linalg::LinalgOp op, const TargetInfo &target);
/// Emits any linalg op as loops that LLVM can vectorize; false if its layout is
/// not static.
bool emitLoops(mlir::linalg::LinalgOp op);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CPU_LOOPNEST_H
