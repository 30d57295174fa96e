// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_LINALGQUERIES_H
#define NETC_LIB_CODEGEN_LINALGQUERIES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace netc {

/// Whether an op is a contraction: it sums products of its two operands, whose
/// elements may be widened first. Column sums of an element-wise product are
/// not; they count as a reduction.
bool isContraction(mlir::linalg::LinalgOp op);
/// The format to which the product of an op may round its factors: the
/// kInputPrecision of its multiplication. Null if there is none.
mlir::FloatType inputPrecisionOf(mlir::linalg::LinalgOp op);
/// The number of elements of the result that use each element of an operand
/// with the indexing map `operand`: the product of the extents of the parallel
/// loops that the map does not depend on.
int64_t rowsBeside(mlir::linalg::GenericOp op, mlir::AffineMap operand);
/// Whether an op only copies the elements of its operand, in any order.
bool isCopy(mlir::linalg::LinalgOp op);
/// Whether an op only copies the elements of its operand, or converts them
/// between floating-point formats.
bool isConversion(mlir::linalg::LinalgOp op);
/// The value that a payload widens or rounds to `element`.
mlir::Value converted(mlir::Value element);
/// Whether an op adds two tensors element by element.
bool isSum(mlir::linalg::LinalgOp op);
/// The same, or it widens the operands or rounds the sum.
bool isRoundedSum(mlir::linalg::LinalgOp op);

/// Whether the payload of an op consists of element-wise operations on floats,
/// which can be emitted on vectors.
bool isVectorizable(mlir::linalg::LinalgOp op);
/// The epilogue of a product: the element-wise op after a fill and the product
/// in an `scf.execute_region`. Null if there is none.
mlir::linalg::GenericOp epilogueOf(mlir::linalg::LinalgOp product);

/// The memref that a tensor is loaded from, such as the slot of a parameter,
/// through reshapes and slices. Null if the tensor is computed.
mlir::Value slotOf(mlir::Value tensor);

/// The uses of a tensor as what another one is inserted into.
llvm::SmallVector<mlir::OpOperand *> insertionsInto(mlir::Value tensor);

/// Whether `op` would read the same values at the position of `later`: no
/// memref that it reads is written in between.
bool readsTheSame(mlir::linalg::LinalgOp op, mlir::Operation *later);
/// Whether no memref that `op` reads is written between two ops.
bool readsTheSame(mlir::linalg::LinalgOp op, mlir::Operation *first,
                  mlir::Operation *later);

/// Whether a payload reads nothing but its operands and constants. Others may
/// gather from memory, which readsTheSame() does not see.
bool readsOnlyOperands(mlir::linalg::GenericOp op);

/// The number of elements of a tensor; 1 for a scalar.
int64_t elementsOf(mlir::Value tensor);
/// The operation of the payload that accumulates into result number `result`.
/// Null if there is none, or if it has no neutral element.
mlir::Operation *combinerOf(mlir::linalg::LinalgOp op, unsigned result);

/// Whether the payload has operations that are slower than additions and
/// multiplications: divisions, functions of the math dialect, or gathers.
bool isExpensive(mlir::linalg::GenericOp op);

/// The buffer that a memref is a view of: a memref.view of the arena, an
/// allocation, a literal, or an argument.
mlir::Value bufferOf(mlir::Value memref);
/// The size of a buffer in bytes. An element takes whole bytes, even an i1.
int64_t sizeInBytes(mlir::MemRefType type);

} // namespace netc

#endif // NETC_LIB_CODEGEN_LINALGQUERIES_H
