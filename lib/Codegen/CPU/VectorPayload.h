// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CPU_VECTORPAYLOAD_H
#define NETC_LIB_CODEGEN_CPU_VECTORPAYLOAD_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace netc {

/// Whether the payload of an op can be done on vectors of one element type.
bool isVectorizable(mlir::linalg::LinalgOp op);
/// Bits of the widest elements of such an op, which vectors of all have lanes
/// for.
unsigned widestBits(mlir::linalg::LinalgOp op);

/// An operation of a payload, on vectors.
mlir::Value emitOnVectors(mlir::OpBuilder &b, mlir::Operation *payload,
                          mlir::ValueRange operands);

/// What the payload of an op yields for `arguments`: vectors of `lanes`
/// elements, or numbers that are the same for each.
llvm::SmallVector<mlir::Value> emitPayload(mlir::OpBuilder &b,
                                           mlir::linalg::LinalgOp op,
                                           int64_t lanes,
                                           mlir::ValueRange arguments);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CPU_VECTORPAYLOAD_H
