// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_VIEWS_H
#define NETC_LIB_ANALYSIS_VIEWS_H

#include "dialect/Net.h"

namespace netc {

/// Whether the results are the operands' elements under another shape: an op
/// that computes nothing and converts nothing. It has no memory of its own and
/// moves nothing.
bool isView(mlir::Operation *op);

/// Whether the op only names what is there before the step: a weight, a buffer,
/// a constant.
bool isHeld(mlir::Operation *op);

/// Calls `function` for each value whose memory `value` shares, which is
/// `value` itself if no view made it.
void forEachBase(mlir::Value value,
                 llvm::function_ref<void(mlir::Value)> function);
/// The same for each of `work`, which is used up, and not for what is `seen`.
void forEachBase(llvm::SmallVectorImpl<mlir::Value> &work,
                 llvm::DenseSet<mlir::Value> &seen,
                 llvm::function_ref<void(mlir::Value)> function);

/// Whether the op gives what it reads in another floating-point format.
bool isFormatChange(mlir::Operation *op);

/// The same through changes of format: a weight, of a copy of it.
void forEachSource(mlir::Value value,
                   llvm::function_ref<void(mlir::Value)> function);

/// Whether `value` only is, in another format, what is there before the step.
bool isCopyOfHeld(mlir::Value value);

/// The op that put what `value` views into windows; null if none did.
UnfoldOp unfoldOf(mlir::Value value);

/// What a loop goes over whose rows are `element`; null if it is no such row.
mlir::Value sequenceOf(mlir::Value element);

/// What gave the experts that a loop goes over their rows; null if it is no
/// such loop.
DispatchOp dispatchOf(ScanOp loop);

/// Bytes of a tensor.
Polynomial bytesOf(mlir::Value value);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_VIEWS_H
