// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_LOOPNEST_H
#define NETC_LIB_CODEGEN_LOOPNEST_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace netc {

/// The caches that a prefetch may bring data to.
enum class CacheLevel { L1 = 1, L2 };

/// The loops of a linalg op on memrefs of static shape, with their strides in
/// each operand.
struct LoopNest {
  struct Loop {
    int64_t extent;
    bool isParallel;
    /// By operand, in elements.
    llvm::SmallVector<int64_t, 4> strides;
    /// The dimensions of the op that this loop iterates over, outermost first,
    /// with their extents: several if loops were collapsed.
    llvm::SmallVector<std::pair<unsigned, int64_t>, 2> dims;
  };

  /// None if an extent or an operand's layout is dynamic, or an indexing map is
  /// not linear. The operands of `epilogue`, which reads the last operand of
  /// `op` element by element, follow those of `op`.
  static std::optional<LoopNest> of(mlir::linalg::LinalgOp op,
                                    mlir::linalg::LinalgOp epilogue = nullptr);

  /// Merges loops that are contiguous in every operand, and drops loops of one
  /// iteration. Not for ops with linalg.index.
  void collapse();

  llvm::SmallVector<Loop> loops; ///< in the order of the op
  unsigned numOperands = 0;
  /// By operand: the offset of the first access, in elements.
  llvm::SmallVector<int64_t, 4> starts;
  /// By operand: the elements from the first to the last in memory, both
  /// included.
  llvm::SmallVector<int64_t, 4> sizes;

  /// The iterations of all loops.
  int64_t points() const;

  /// Whether a reduction loop advances in a result, so that its iterations add
  /// to several elements, as in the gradient of average pooling.
  bool scatters(unsigned numInputs) const;

private:
  /// Adds the next operand, which is indexed by `map`. False if its layout is
  /// dynamic or the map is not linear.
  bool addOperand(mlir::Value operand, mlir::AffineMap map);
};

/// Emits loop nests whose operands are flat, one-dimensional memrefs.
class NestBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// Inserts before `op`, and numbers its operands from 0.
  NestBuilder(mlir::linalg::LinalgOp op);
  /// Adds the operands of another op, numbered after those that are known.
  void addOperandsOf(mlir::linalg::LinalgOp op);

  /// A memref as a one-dimensional one, from its first to its last element.
  mlir::Value flatten(mlir::Value memref);
  /// Operand number `operand` as a one-dimensional memref, from its first to
  /// its last element. A scalar stays as it is.
  mlir::Value flat(unsigned operand) const { return memory[operand]; }
  mlir::Value index(int64_t value) {
    return create<mlir::arith::ConstantIndexOp>(value);
  }
  /// Itself: a builder of other numbers makes an index of one.
  mlir::Value index(mlir::Value value) { return value; }
  /// The sum of two indices, of which a null one is left out.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b);
  mlir::Value scaled(mlir::Value a, int64_t factor);
  /// The quotient and the remainder of an index that is not negative.
  mlir::Value div(mlir::Value a, int64_t by);
  mlir::Value rem(mlir::Value a, int64_t by);
  /// Advances each offset by `iteration` iterations of a loop.
  void advance(llvm::MutableArrayRef<mlir::Value> offsets,
               const LoopNest::Loop &loop, mlir::Value iteration);

  void prefetch(mlir::Value memory, mlir::Value at, bool isWrite,
                CacheLevel level);

  /// The mask of the first `count` lanes, or null if `count` is a multiple of
  /// the vector's size.
  mlir::Value maskOf(mlir::VectorType vector, int64_t count);
  /// Loads an element, and extends it to `type` if it is narrower in memory.
  mlir::Value loadScalar(mlir::Type type, mlir::Value memory, mlir::Value at);
  /// Loads elements from `at` on, and extends them to the vector's type. With a
  /// mask, the lanes that it excludes are 0.
  mlir::Value loadVector(mlir::VectorType vector, mlir::Value memory,
                         mlir::Value at, mlir::Value mask);
  void storeVector(mlir::Value value, mlir::Value memory, mlir::Value at,
                   mlir::Value mask);

  /// Transposes a square: element j of vector i becomes element i of vector j.
  llvm::SmallVector<mlir::Value> transpose(mlir::ValueRange vectors);
  /// The sum of the elements of each vector.
  llvm::SmallVector<mlir::Value> sumsOf(mlir::ValueRange vectors);

  /// Emits a loop over 0, step, .. below `extent`. `body` gets the induction
  /// variable and the carried values, and returns the next ones. A single
  /// iteration is emitted without a loop.
  llvm::SmallVector<mlir::Value>
  loop(int64_t extent, int64_t step, mlir::ValueRange carried,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                         mlir::ValueRange)>
           body);
  /// The same without carried values; an scf.parallel if `isParallel`.
  void forEach(int64_t extent, int64_t step, bool isParallel,
               llvm::function_ref<void(mlir::Value)> body);
  /// Calls `body` with the start and the length of each block of `extent`. The
  /// last block may be shorter. With `isParallel`, threads share the blocks.
  void forBlocks(int64_t extent, int64_t block, bool isParallel,
                 llvm::function_ref<void(mlir::Value, int64_t)> body);

private:
  mlir::Value widened(mlir::Value value, mlir::Type type);
  /// A step of transpose(). Counting blocks of `width` lanes, the first result
  /// interleaves the even ones of `a` and `b`, the second the odd ones.
  std::pair<mlir::Value, mlir::Value> exchange(mlir::Value a, mlir::Value b,
                                               int64_t width);

  llvm::SmallVector<mlir::Value> memory;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_LOOPNEST_H
