// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Panels: an operand of a contraction cut into blocks of NR columns, one behind
// the other, in each of which rows of NR elements follow each other.

#ifndef NETC_LIB_CODEGEN_CPU_PANELS_H
#define NETC_LIB_CODEGEN_CPU_PANELS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace netc {

/// NR, the columns of a panel: two vectors of 512 bits of f32, as a
/// micro-kernel has. Narrower ones walk over a panel in several passes.
constexpr int64_t kNR = 32;

/// Whether so many columns are several panels.
bool arePanels(int64_t columns);

/// The axis of operand `number` of a product along which columns of the result
/// lie, those that are next to each other there, and nothing else does.
std::optional<unsigned> columnAxis(mlir::linalg::GenericOp op, unsigned number);

/// Cuts the loop of the columns: within a panel, and over panels, which comes
/// last. Operand `packed`, the result if it is 2, is read by `order`.
void cutColumns(mlir::linalg::GenericOp op, unsigned column, unsigned packed,
                llvm::ArrayRef<mlir::AffineExpr> order);

/// Whether `op` is a copy that runs over its result; elements may be converted.
bool isReordering(mlir::linalg::LinalgOp op);

/// Writes the elements of `source` at `from` to `target` at `to`, converted as
/// `like` does if that is no null.
mlir::linalg::GenericOp createCopy(mlir::OpBuilder &b, mlir::Location loc,
                                   mlir::Value source, mlir::AffineMap from,
                                   mlir::Value target, mlir::AffineMap to,
                                   mlir::linalg::LinalgOp like = nullptr);

llvm::ArrayRef<int64_t> sizesOf(mlir::Value tensor);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CPU_PANELS_H
