// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_VIEWS_H
#define NETC_LIB_ANALYSIS_VIEWS_H

#include "dialect/Net.h"

namespace netc {

/// Whether the results are the operand's elements in another shape: the op
/// computes and converts nothing. It has no memory of its own and moves
/// nothing.
bool isView(mlir::Operation *op);

/// Whether the op only returns a tensor that exists before the step: a weight,
/// a buffer or a constant.
bool isHeld(mlir::Operation *op);

/// Calls `function` for each value whose memory `value` shares: `value` itself
/// unless it is a view.
void forEachBase(mlir::Value value,
                 llvm::function_ref<void(mlir::Value)> function);
/// The same for each value of `work`, which is consumed, unless it is in
/// `seen`. `isPassed` says which ops count as views.
void forEachBase(llvm::SmallVectorImpl<mlir::Value> &work,
                 llvm::SmallDenseSet<mlir::Value, 4> &seen,
                 llvm::function_ref<void(mlir::Value)> function,
                 llvm::function_ref<bool(mlir::Operation *)> isPassed = isView);

/// Whether the op converts to another floating-point format.
bool isFormatChange(mlir::Operation *op);

/// forEachBase through conversions too: a converted copy of a weight leads to
/// the weight.
void forEachSource(mlir::Value value,
                   llvm::function_ref<void(mlir::Value)> function);

/// Whether `value` is a converted copy of a weight, buffer or constant.
bool isCopyOfHeld(mlir::Value value);

/// The op that unfolded `value` into windows, through views; null if there is
/// none.
UnfoldOp unfoldOf(mlir::Value value);

/// The sequence that a loop iterates over, if `element` is its slice; else
/// null.
mlir::Value sequenceOf(mlir::Value element);

/// The op that dispatched the rows of a loop over experts; else null.
DispatchOp dispatchOf(ScanOp loop);

/// Bytes of a tensor.
Polynomial bytesOf(mlir::Value value);

/// Bytes of one state of an update or a buffer, with these elements of the type
/// `own` unless `op` has a kStateFormat. In 8 bits, each block of 256 elements
/// has a scale in f32.
Polynomial bytesOfState(mlir::Operation *op, const Polynomial &elements,
                        mlir::Type own);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_VIEWS_H
