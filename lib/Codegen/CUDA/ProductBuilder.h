// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_PRODUCTBUILDER_H
#define NETC_LIB_CODEGEN_CUDA_PRODUCTBUILDER_H

#include "lib/Codegen/CUDA/TiledDims.h"

namespace netc {

/// Emits the code of a block of threads that computes a tile of a contraction.
class ProductBuilder {
protected:
  ProductBuilder(mlir::linalg::LinalgOp op, mlir::linalg::FillOp fill,
                 TiledDims dims)
      : op(op), fill(fill), dims(std::move(dims)), b(op) {}

  /// Sets which tile of bm rows and bn columns this block computes.
  void placeTile(int64_t bm, int64_t bn);

  mlir::Value mul(mlir::Value a, int64_t by);

  /// The offset in an operand after `iteration` iterations of nested loops,
  /// counted as one loop.
  mlir::Value placeIn(ContractionOperand operand,
                      llvm::ArrayRef<LoopNest::Loop> loops,
                      mlir::Value iteration);
  /// Whether `at` is below `extent`. Null, which means true, if blocks of
  /// `step` never exceed it.
  mlir::Value isInBounds(mlir::Value at, int64_t extent, int64_t step);
  /// Whether both conditions hold. Null means true.
  mlir::Value both(mlir::Value first, mlir::Value second);
  /// `value()` if the condition holds, else zero.
  mlir::Value where(mlir::Value condition, mlir::Type type,
                    llvm::function_ref<mlir::Value()> value);
  /// Continues in a branch that is taken if the condition holds. To leave the
  /// branch, the caller restores the insertion point.
  void enterWhere(mlir::Value condition);
  /// Adds a sum to the element of C at `place`, or to the value that C is
  /// filled with.
  void addToC(mlir::Value place, mlir::Value sum);
  /// Erases the op and its fill.
  void finish();

  mlir::linalg::LinalgOp op;
  mlir::linalg::FillOp fill;
  TiledDims dims;
  NestBuilder b;
  mlir::Value firstM, firstN;
  std::array<mlir::Value, 3> bases;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_PRODUCTBUILDER_H
