// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_LINALGQUERIES_H
#define NETC_LIB_CODEGEN_LINALGQUERIES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace netc {

/// Whether an op sums products of two operands, of which one is read for
/// several elements of the other. They may be widened before.
bool isContraction(mlir::linalg::LinalgOp op);
/// How many elements of the result of a sum of products, which an operand of it
/// does not tell apart, each element of that operand is for.
int64_t rowsBeside(mlir::linalg::GenericOp op, mlir::AffineMap operand);
/// Whether an op does nothing but write the elements of its operand, in
/// whatever order.
bool isCopy(mlir::linalg::LinalgOp op);
/// The same, where elements may be rounded or widened.
bool isConversion(mlir::linalg::LinalgOp op);

/// The memory that a tensor is read from: a parameter, say, that an update
/// changes in place. Null if it is computed.
mlir::Value slotOf(mlir::Value tensor);

/// Whether what `op` reads is the same where `later` stands: no slot of it is
/// written between them.
bool readsTheSame(mlir::linalg::LinalgOp op, mlir::Operation *later);

/// The elements of a tensor; one of anything else.
int64_t elementsOf(mlir::Value tensor);
/// Of a tensor with so many times fewer elements, what is read again is near.
constexpr int64_t kNear = 8;
/// Whether computing an element takes longer than sums and products do.
bool isExpensive(mlir::linalg::GenericOp op);

/// The bytes of a buffer; a boolean takes one.
int64_t sizeInBytes(mlir::MemRefType type);

} // namespace netc

#endif // NETC_LIB_CODEGEN_LINALGQUERIES_H
