// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_LINALGQUERIES_H
#define NETC_LIB_CODEGEN_LINALGQUERIES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace netc {

/// Whether an op is a sum of products of two operands, which may be widened
/// first. Column sums of an element-wise product do not count: they are a
/// reduction.
bool isContraction(mlir::linalg::LinalgOp op);
/// The number of elements of the result that use each element of an operand:
/// the product of the extents of the parallel loops that `operand` does not
/// depend on.
int64_t rowsBeside(mlir::linalg::GenericOp op, mlir::AffineMap operand);
/// Whether an op only copies or permutes the elements of its operand.
bool isCopy(mlir::linalg::LinalgOp op);
/// The same, where elements may be converted.
bool isConversion(mlir::linalg::LinalgOp op);

/// The slot that a tensor is loaded from, such as a parameter that an update
/// changes in place. Null if the tensor is computed.
mlir::Value slotOf(mlir::Value tensor);

/// Whether `op` would read the same values at the position of `later`: no slot
/// that it reads is written in between.
bool readsTheSame(mlir::linalg::LinalgOp op, mlir::Operation *later);

/// The number of elements of a tensor; 1 for anything else.
int64_t elementsOf(mlir::Value tensor);
/// The operation of the payload that accumulates into a result. Null if it has
/// no neutral element.
mlir::Operation *combinerOf(mlir::linalg::LinalgOp op, unsigned result);

/// Whether the payload has operations slower than additions and
/// multiplications.
bool isExpensive(mlir::linalg::GenericOp op);

/// The size of a buffer in bytes. An i1 takes one.
int64_t sizeInBytes(mlir::MemRefType type);

} // namespace netc

#endif // NETC_LIB_CODEGEN_LINALGQUERIES_H
