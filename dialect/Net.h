// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_NET_H
#define NETC_DIALECT_NET_H

#include "dialect/NetAttributes.h"
#include "dialect/NetInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace netc {
class ReturnOp;
class YieldOp;

/// The discardable attribute with the phase of an op in a step. An op without
/// it belongs to the forward pass.
constexpr llvm::StringLiteral kPhase = "net.phase";
/// The phase of an op by kPhase; Forward without it.
Phase phaseOf(mlir::Operation *op);
void setPhase(mlir::Operation *op, Phase phase);
} // namespace netc

#define GET_OP_CLASSES
#include "dialect/NetOps.h.inc"

#endif // NETC_DIALECT_NET_H
