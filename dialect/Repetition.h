// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What running parts of a step again asks of its ops.

#ifndef NETC_DIALECT_REPETITION_H
#define NETC_DIALECT_REPETITION_H

#include "dialect/Net.h"

namespace netc {

/// The discardable attribute that numbers the dropouts of a step where one may
/// be run again: those with one number draw one mask.
constexpr llvm::StringLiteral kDraw = "net.draw";

/// The discardable attribute that numbers the parts of a forward pass that are
/// run again whatever the run says: ops with one number are one part.
constexpr llvm::StringLiteral kRecomputed = "net.recomputed";

/// The discardable attribute of the ops of a copy, in a step of which copies
/// are run again: the path of the copy's instance, such as `layer.3`. What an
/// instance is handed from outside is applied in it, whatever it is called.
constexpr llvm::StringLiteral kCopy = "net.copy";

/// The discardable attribute of an op that stands for the equal ops of several
/// copies of a `repeat`: by the path of each instance that stands for copies,
/// their number, as in {trunk.1 = 94}. For counting alone; a program has all
/// copies.
constexpr llvm::StringLiteral kRolled = "net.rolled";

/// The number of ops that `op` stands for, without the iterations of loops
/// around it: the product of the numbers in kRolled, or 1.
Rational copiesOf(mlir::Operation *op);

/// Lets `op` stand for the copies that `rolled`, a value of kRolled, says; null
/// leaves it as it is.
void standFor(mlir::Attribute rolled, mlir::Operation *op);

/// Calls `function` with each op that `insert` inserts where `builder` stands.
void forEachInserted(mlir::OpBuilder &builder,
                     llvm::function_ref<void()> insert,
                     llvm::function_ref<void(mlir::Operation &)> function);

/// Calls `function(op, times)` for each op of `block` and of the regions in it,
/// an op before its body. `block` is executed `times` times, and `op` that
/// often times the iterations of the loops around it, and the copies that it
/// stands for.
void forEachExecution(
    mlir::Block &block, const Polynomial &times,
    llvm::function_ref<void(mlir::Operation *, const Polynomial &)> function);

/// Replaces a loop by one that hands out only what is read.
void dropUnusedOutputs(ScanOp scan);

} // namespace netc

#endif // NETC_DIALECT_REPETITION_H
