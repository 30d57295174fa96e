// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_LINALGQUERIES_H
#define NETC_LIB_CODEGEN_LINALGQUERIES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace netc {

/// Whether an op sums products of two operands, of which one is read for
/// several elements of the other.
bool isContraction(mlir::linalg::LinalgOp op);
/// The number of elements of the result that each element of an operand is read
/// for: the product of the parallel loops that `operand` does not depend on.
int64_t rowsBeside(mlir::linalg::GenericOp op, mlir::AffineMap operand);
/// Whether an op only copies the elements of its operand, in any order.
bool isCopy(mlir::linalg::LinalgOp op);

/// The memory that a tensor is loaded from, a parameter, say, that an update
/// changes in place. Null if the tensor is computed.
mlir::Value slotOf(mlir::Value tensor);

/// Whether `op` would read the same if it stood where `later` does: no slot
/// that it reads is written between them.
bool readsTheSame(mlir::linalg::LinalgOp op, mlir::Operation *later);

/// The number of elements of a tensor, or 1 of anything else.
int64_t elementsOf(mlir::Value tensor);
/// An operand with this many times fewer elements than another one is assumed
/// to stay in a cache while the other one is read.
constexpr int64_t kNear = 8;
/// Whether computing an element takes longer than sums and products do.
bool isExpensive(mlir::linalg::GenericOp op);

/// The size of a buffer in bytes; a boolean takes one.
int64_t sizeInBytes(mlir::MemRefType type);

} // namespace netc

#endif // NETC_LIB_CODEGEN_LINALGQUERIES_H
