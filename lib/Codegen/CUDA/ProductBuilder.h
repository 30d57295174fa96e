// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_PRODUCTBUILDER_H
#define NETC_LIB_CODEGEN_CUDA_PRODUCTBUILDER_H

#include "lib/Codegen/CUDA/BlockBuilder.h"
#include "lib/Codegen/CUDA/TiledDims.h"

namespace netc {

/// Emits the code of a block of threads that computes a tile of a contraction.
class ProductBuilder : protected BlockBuilder {
protected:
  ProductBuilder(mlir::linalg::LinalgOp op, mlir::linalg::FillOp fill,
                 TiledDims dims)
      : BlockBuilder(op), op(op), fill(fill), dims(std::move(dims)) {}

  /// Sets which tile of bm rows and bn columns this block computes.
  void placeTile(int64_t bm, int64_t bn);

  /// Adds a sum to the element of C at `place`, or to the value that C is
  /// filled with.
  void addToC(mlir::Value place, mlir::Value sum);
  /// Erases the op and its fill.
  void finish();

  mlir::linalg::LinalgOp op;
  mlir::linalg::FillOp fill;
  TiledDims dims;
  mlir::Value firstM, firstN;
  std::array<mlir::Value, 3> bases;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_PRODUCTBUILDER_H
