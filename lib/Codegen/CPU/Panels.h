// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Panels, as in BLIS: an operand of a contraction is stored in blocks of NR
// columns, in each of which rows of NR elements follow each other.

#ifndef NETC_LIB_CODEGEN_CPU_PANELS_H
#define NETC_LIB_CODEGEN_CPU_PANELS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace netc {

/// Whether a matrix with so many columns has several panels of `nr`.
bool arePanels(int64_t columns, int64_t nr);

/// The axis of operand `number` that only the columns of a product run along,
/// contiguous in the result. None if there is no such axis.
std::optional<unsigned> columnAxis(mlir::linalg::GenericOp op, unsigned number);

/// Splits the loop of the columns into one over panels of `nr` and one within a
/// panel, which comes last. `packed` is the operand that is packed, 2 for the
/// result; `order` is its new indexing map.
void cutColumns(mlir::linalg::GenericOp op, unsigned column, unsigned packed,
                llvm::ArrayRef<mlir::AffineExpr> order, int64_t nr);

/// Whether `op` copies elements into each element of its result; it may convert
/// them.
bool isReordering(mlir::linalg::LinalgOp op);

/// Creates a copy from `source`, indexed by `from`, to `target`, indexed by
/// `to`. It converts elements as `like` does if that is not null.
mlir::linalg::GenericOp createCopy(mlir::OpBuilder &b, mlir::Location loc,
                                   mlir::Value source, mlir::AffineMap from,
                                   mlir::Value target, mlir::AffineMap to,
                                   mlir::linalg::LinalgOp like = nullptr);

llvm::ArrayRef<int64_t> sizesOf(mlir::Value tensor);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CPU_PANELS_H
