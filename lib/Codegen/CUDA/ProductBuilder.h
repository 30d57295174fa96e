// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_PRODUCTBUILDER_H
#define NETC_LIB_CODEGEN_CUDA_PRODUCTBUILDER_H

#include "lib/Codegen/CUDA/TiledDims.h"

namespace netc {

/// Emits code for a block of threads that computes a tile of a product.
class ProductBuilder {
protected:
  ProductBuilder(mlir::linalg::LinalgOp op, mlir::linalg::FillOp fill,
                 TiledDims dims)
      : op(op), fill(fill), dims(std::move(dims)), b(op) {}

  /// Sets which tile this block computes, of so many rows and columns.
  void placeTile(int64_t bm, int64_t bn);

  template <typename Register> mlir::Value special() {
    mlir::Value narrow = b.create<Register>(b.getI32Type());
    return b.create<mlir::arith::IndexCastUIOp>(b.getIndexType(), narrow);
  }
  mlir::Value rem(mlir::Value a, int64_t by);
  mlir::Value div(mlir::Value a, int64_t by);
  mlir::Value mul(mlir::Value a, int64_t by);

  /// Where an operand is after `iteration` iterations of loops that are counted
  /// as one.
  mlir::Value placeIn(ContractionOperand operand,
                      llvm::ArrayRef<LoopNest::Loop> loops,
                      mlir::Value iteration);
  /// Whether `at` is below `extent`; null, which is always, if steps of `step`
  /// do not pass it.
  mlir::Value isInBounds(mlir::Value at, int64_t extent, int64_t step);
  /// Whether both hold, of which null always does.
  mlir::Value both(mlir::Value first, mlir::Value second);
  /// `value()` where the condition holds, else zero.
  mlir::Value where(mlir::Value condition, mlir::Type type,
                    llvm::function_ref<mlir::Value()> value);
  /// Goes on where the condition holds only. Returns to where it was when the
  /// guard ends.
  void enterWhere(mlir::Value condition);
  /// Adds a sum to the element of C at `place`, or to what C was filled with.
  void addToC(mlir::Value place, mlir::Value sum);
  /// Takes the op and its fill out.
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
