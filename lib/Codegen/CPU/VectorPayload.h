// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CPU_VECTORPAYLOAD_H
#define NETC_LIB_CODEGEN_CPU_VECTORPAYLOAD_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace netc {

/// Bits of the widest float type of a vectorizable op, which decides the number
/// of lanes.
unsigned widestBits(mlir::linalg::LinalgOp op);

/// Emits an operation of a payload on vectors. The result has as many lanes as
/// the first operand.
mlir::Value emitOnVectors(mlir::OpBuilder &b, mlir::Operation *payload,
                          mlir::ValueRange operands);

/// Emits the payload of an op on `arguments`: vectors of `lanes` elements, or
/// scalars that are the same for all lanes. Returns the vectors that it yields.
llvm::SmallVector<mlir::Value> emitPayload(mlir::OpBuilder &b,
                                           mlir::linalg::LinalgOp op,
                                           int64_t lanes,
                                           mlir::ValueRange arguments);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CPU_VECTORPAYLOAD_H
