// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Panels, as in BLIS: an operand of a contraction is stored in blocks of NR
// columns. In a block, rows of NR elements follow each other.

#ifndef NETC_LIB_CODEGEN_CPU_PANELS_H
#define NETC_LIB_CODEGEN_CPU_PANELS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace netc {

/// Whether a matrix with so many columns can be stored as several panels of
/// `nr`.
bool arePanels(int64_t columns, int64_t nr);

/// The axis of operand `number` that the loop of the result's last axis
/// indexes, alone. None if there is no such axis, or if the other operand
/// depends on that loop.
std::optional<unsigned> columnAxis(mlir::linalg::GenericOp op, unsigned number);

/// Splits the loop `column` into one over panels of `nr` columns and one within
/// a panel, which keeps the number of the loop. Operand `packed`, or the result
/// if it is 2, gets the indexing map `order`.
void cutColumns(mlir::linalg::GenericOp op, unsigned column, unsigned packed,
                llvm::ArrayRef<mlir::AffineExpr> order, int64_t nr);

/// Whether `op` copies one element of its operand to each element of its
/// result, in the order of the result. It may convert them.
bool isReordering(mlir::linalg::LinalgOp op);

/// Creates a copy from `source`, indexed by `from`, to `target`, indexed by
/// `to`. It converts elements as `like` does if that is not null.
mlir::linalg::GenericOp createCopy(mlir::OpBuilder &b, mlir::Location loc,
                                   mlir::Value source, mlir::AffineMap from,
                                   mlir::Value target, mlir::AffineMap to,
                                   mlir::linalg::LinalgOp like = nullptr);

/// The shape of a tensor.
llvm::ArrayRef<int64_t> sizesOf(mlir::Value tensor);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CPU_PANELS_H
