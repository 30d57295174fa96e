// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_LOOPNEST_H
#define NETC_LIB_CODEGEN_LOOPNEST_H

#include "lib/Codegen/TargetInfo.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace netc {

/// The loops of a linalg op on memrefs of static shape, with the strides in
/// elements of each loop in each operand.
struct LoopNest {
  struct Loop {
    int64_t extent;
    bool isParallel;
    /// By operand.
    llvm::SmallVector<int64_t, 4> strides;
    /// The dimensions of the op that this loop iterates over, outermost first,
    /// with their extents. Several if loops were collapsed.
    llvm::SmallVector<std::pair<unsigned, int64_t>, 2> dims;
  };

  /// None if an operand's layout is not static. The operands of an `epilogue`,
  /// which reads the last operand of `op` element by element, follow its own.
  static std::optional<LoopNest> of(mlir::linalg::LinalgOp op,
                                    mlir::linalg::LinalgOp epilogue = nullptr);

  /// Merges loops that are contiguous in every operand, and drops loops of one
  /// iteration. Not for ops with linalg.index.
  void collapse();

  llvm::SmallVector<Loop> loops; ///< in the order of the op
  unsigned numOperands = 0;
  /// Where each operand starts, in elements.
  llvm::SmallVector<int64_t, 4> starts;
  /// By operand: the size of its memory, in elements.
  llvm::SmallVector<int64_t, 4> sizes;

  int64_t points() const;

  /// Whether a reduction loop advances in a result: then each iteration adds to
  /// several elements, as in the gradient of an average pooling.
  bool scatters(unsigned numInputs) const;

private:
  /// Takes the next operand, which is read or written by `map`; false if its
  /// layout is not static.
  bool addOperand(mlir::Value operand, mlir::AffineMap map);
};

/// Emits loop nests over operands as flat, one-dimensional memory.
class NestBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// Inserts before `op`.
  NestBuilder(mlir::linalg::LinalgOp op);
  /// Works on those of another op, too, which are numbered behind its own.
  void addOperandsOf(mlir::linalg::LinalgOp op);

  /// An operand as a one-dimensional memref of all its elements.
  mlir::Value flat(unsigned operand) const { return memory[operand]; }
  mlir::Value index(int64_t value) {
    return create<mlir::arith::ConstantIndexOp>(value);
  }
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b);
  mlir::Value scaled(mlir::Value a, int64_t factor);
  /// Adds to each offset the stride of `iteration` iterations of a loop.
  void advance(llvm::MutableArrayRef<mlir::Value> offsets,
               const LoopNest::Loop &loop, mlir::Value iteration);

  void prefetch(mlir::Value memory, mlir::Value at, bool isWrite,
                CacheLevel level);

  /// The mask of the first `count` lanes, or null if `count` is a multiple of
  /// the vector's size.
  mlir::Value maskOf(mlir::VectorType vector, int64_t count);
  /// Loads an element, and extends it to `type` if it is narrower in memory.
  mlir::Value loadScalar(mlir::Type type, mlir::Value memory, mlir::Value at);
  /// Loads elements from `at` on, extended to the vector's type. With a mask,
  /// the lanes that it excludes are 0.
  mlir::Value loadVector(mlir::VectorType vector, mlir::Value memory,
                         mlir::Value at, mlir::Value mask);
  void storeVector(mlir::Value value, mlir::Value memory, mlir::Value at,
                   mlir::Value mask);

  /// Transposes a square: element j of vector i becomes element i of vector j.
  llvm::SmallVector<mlir::Value> transpose(mlir::ValueRange vectors);
  /// The sum of the elements of each vector.
  llvm::SmallVector<mlir::Value> sumsOf(mlir::ValueRange vectors);

  /// Emits a loop over 0, step, ..., below `extent` with loop-carried values.
  llvm::SmallVector<mlir::Value>
  loop(int64_t extent, int64_t step, mlir::ValueRange carried,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                         mlir::ValueRange)>
           body);
  /// The same without values; parallel if `isParallel`.
  void forEach(int64_t extent, int64_t step, bool isParallel,
               llvm::function_ref<void(mlir::Value)> body);
  /// Calls `body` with the start and the length of each block of `extent`. The
  /// last block may be shorter; a thread may take it, too.
  void forBlocks(int64_t extent, int64_t block, bool isParallel,
                 llvm::function_ref<void(mlir::Value, int64_t)> body);

private:
  mlir::Value widened(mlir::Value value, mlir::Type type);
  /// A step of transpose(). Of blocks of `width` lanes, the first result
  /// interleaves the even ones of `a` and `b`, the second the odd ones.
  std::pair<mlir::Value, mlir::Value> exchange(mlir::Value a, mlir::Value b,
                                               int64_t width);

  llvm::SmallVector<mlir::Value> memory;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_LOOPNEST_H
