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
  /// The number of adjacent columns, of which the first is a multiple of it,
  /// that one access stores: 16 bytes of the widest operand, or fewer where
  /// rows are not aligned.
  int64_t storeWidth();
  /// Whether sums go through shared memory before they are stored, so that a
  /// thread has storeWidth() adjacent ones. Without, a lane of a fragment has
  /// two, and four lanes have 32 bytes of f32: whole sectors, if rows are
  /// aligned, and nothing else is loaded or rounded.
  bool isStaged();
  /// Adds sums of one column, or of storeWidth() adjacent ones, to C, or to the
  /// value that C is filled with, or gives them to the epilogue.
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
  mlir::Value operandOf(unsigned operand);
  /// How far apart adjacent columns are in an operand.
  int64_t columnStride(unsigned operand);
  /// Those that differ from column to column.
  llvm::SmallVector<unsigned> operandsOfColumns();
  /// Whether so many adjacent columns of an operand are an aligned vector.
  bool isVector(unsigned operand, int64_t columns);
  /// The elements of an operand in adjacent columns.
  llvm::SmallVector<mlir::Value> load(unsigned operand, mlir::Value place,
                                      size_t columns);
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_PRODUCTBUILDER_H
