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
  /// `epilogue`, if it is not null, gets the sums instead of C.
  ProductBuilder(mlir::linalg::LinalgOp op, mlir::linalg::FillOp fill,
                 mlir::linalg::GenericOp epilogue);

  /// Sets which tile of bm rows and bn columns this block computes: groups of
  /// rows of tiles are computed one after the other.
  void placeTile(int64_t bm, int64_t bn);

  /// The offsets of row `m` in the operands from C on, by operand.
  llvm::SmallVector<mlir::Value> placesOfRow(mlir::Value m);
  /// Whether pairs of columns, of which the first is even, can be stored at
  /// once.
  bool storesPairs();
  /// Adds sums of one column, or of two adjacent ones, to C, or to the value
  /// that C is filled with, or gives them to the epilogue.
  void store(llvm::ArrayRef<mlir::Value> placesOfRow, mlir::Value n,
             llvm::ArrayRef<mlir::Value> sums);
  /// Erases the op, its fill and its epilogue.
  void finish();

  mlir::linalg::LinalgOp op;
  mlir::linalg::FillOp fill;
  mlir::linalg::GenericOp epilogue; ///< null if there is none
  TiledDims dims;
  mlir::Value firstM, firstN;
  /// By operand, those of the epilogue included.
  llvm::SmallVector<mlir::Value> bases;

private:
  /// The operands that are accessed when sums are stored: C, or those of the
  /// epilogue, which are numbered after C.
  llvm::SmallVector<unsigned> storedOperands();
  mlir::Value memoryOf(unsigned operand);
  /// How far apart adjacent columns are in an operand.
  int64_t columnStride(unsigned operand);
  /// Whether two columns of an operand are an aligned vector.
  bool hasPairs(unsigned operand);
  /// The element, or two, of an operand.
  llvm::SmallVector<mlir::Value> load(unsigned operand, mlir::Value place,
                                      size_t columns);
  void storeValues(llvm::ArrayRef<mlir::Value> values, unsigned operand,
                   mlir::Value place);
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_PRODUCTBUILDER_H
