// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Attributes and helpers for ops that a step executes more than once:
// recomputed parts, copies of a `repeat` and loops.

#ifndef NETC_DIALECT_REPETITION_H
#define NETC_DIALECT_REPETITION_H

#include "dialect/Net.h"

namespace netc {

/// The discardable attribute that numbers the dropouts of a step in which one
/// may be recomputed. Dropouts with the same number draw the same mask.
constexpr llvm::StringLiteral kDraw = "net.draw";

/// The discardable attribute that numbers the parts of a forward pass that are
/// always recomputed. Ops with the same number belong to one part.
constexpr llvm::StringLiteral kRecomputed = "net.recomputed";

/// The discardable attribute of the ops of a copy, in a step that recomputes
/// copies: the path of the copy's instance, such as `layer.3`. Values that are
/// passed into an instance are computed as part of it, whatever their names.
constexpr llvm::StringLiteral kCopy = "net.copy";

/// The discardable attribute of an op that represents the equal ops of several
/// copies of a `repeat`. It maps the path of each such instance to the number
/// of copies, as in {trunk.1 = 94}. It is for counting only; a compiled program
/// has all copies.
constexpr llvm::StringLiteral kRolled = "net.rolled";

/// The discardable attribute of an op over all parameters, such as a norm: of
/// each operand, the kRolled of the equal tensors that it represents.
constexpr llvm::StringLiteral kRolledOperands = "net.rolled_operands";

/// The number of ops that `op` represents: the product of the numbers in
/// kRolled, or 1. Iterations of loops around it do not count.
Rational copiesOf(mlir::Operation *op);

/// The number of tensors that an operand represents, by kRolledOperands, or 1.
Rational copiesOf(mlir::OpOperand &operand);

/// Makes `op` represent the copies that `rolled`, a value of kRolled, gives.
/// Does nothing if that is null.
void standFor(mlir::Attribute rolled, mlir::Operation *op);

/// Calls `function` for each op that `insert` inserts at the position of
/// `builder`.
void forEachInserted(mlir::OpBuilder &builder,
                     llvm::function_ref<void()> insert,
                     llvm::function_ref<void(mlir::Operation &)> function);

/// Calls `function(op, count)` for each op of `block` and its regions, an op
/// before its body. `block` is executed `times` times. `count` is how often
/// `op` is executed: `times`, times the iterations of loops around it and the
/// copies that it represents.
void forEachExecution(
    mlir::Block &block, const Polynomial &times,
    llvm::function_ref<void(mlir::Operation *, const Polynomial &)> function);

/// Replaces a loop by one without the outputs that nothing reads.
void dropUnusedOutputs(ScanOp scan);

} // namespace netc

#endif // NETC_DIALECT_REPETITION_H
