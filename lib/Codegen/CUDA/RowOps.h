// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_ROWOPS_H
#define NETC_LIB_CODEGEN_CUDA_ROWOPS_H

#include "lib/Codegen/LoopNest.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace netc {

/// What an op reads or writes of an operand, by its loops: an element of a row
/// for each iteration, one for each row, or anything else.
enum class RowAccess { Element, Row, Other };

/// An op on memrefs whose loops are rows and, innermost, the elements of a row.
/// It computes elements, or reduces each row. Among ops on such rows, one whose
/// loops are the rows alone computes what each row has once.
struct RowOp {
  static std::optional<RowOp> of(mlir::Operation *op);
  /// The same beside ops whose rows and elements have these extents; these are
  /// empty for the first one.
  static std::optional<RowOp> beside(llvm::ArrayRef<int64_t> extents,
                                     mlir::Operation *op);

  RowAccess accessTo(mlir::OpOperand &operand);
  bool reduces() { return op.getNumReductionLoops() == 1; }
  int64_t length() const { return extents.back(); }
  int64_t rows() const;
  /// The operands that the payload reads, other than the results of sums.
  llvm::SmallVector<mlir::OpOperand *> reads();
  /// Adds the tensors of which the op reads or writes elements.
  void addElements(llvm::DenseSet<mlir::Value> &tensors);

  mlir::linalg::GenericOp op;
  LoopNest nest;
  llvm::SmallVector<int64_t> extents;
  bool hasElements = true;

private:
  static std::optional<RowOp> ofRows(mlir::Operation *op,
                                     llvm::ArrayRef<int64_t> rows);
};

/// How many warps have a row of this length together, so that the registers of
/// a lane hold its elements of so many tensors. None if a block is too small.
std::optional<int64_t> warpsOfRow(int64_t length, int64_t tensors);

/// What a reduction makes of two of its partial results, and of those of the
/// lanes of a warp.
mlir::Value combine(mlir::OpBuilder &b, mlir::linalg::LinalgOp op,
                    unsigned result, mlir::Value x, mlir::Value y);
mlir::Value combineLanes(mlir::ImplicitLocOpBuilder &b,
                         mlir::linalg::LinalgOp op, unsigned result,
                         mlir::Value part);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_ROWOPS_H
