// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emitters of loops for linalg ops on memrefs, each in a file of its own.
// LowerKernels tries them in turn: an emitter refuses an op that is not of its
// kind.

#ifndef NETC_LIB_CODEGEN_CPU_EMITTERS_H
#define NETC_LIB_CODEGEN_CPU_EMITTERS_H

#include "lib/Codegen/CPU/TargetInfo.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace netc {

/// Least number of iterations of a loop nest that is worth starting threads
/// for.
constexpr int64_t kParallelPoints = 1 << 15;

/// Emits a contraction as register tiles. False if the op is no contraction or
/// cannot be vectorized.
bool emitContraction(mlir::linalg::LinalgOp op, const TargetInfo &target);
/// Emits a reduction of rows to contiguous columns. False for any other op.
bool emitReduction(mlir::linalg::LinalgOp op, const TargetInfo &target);
/// Emits an element-wise op on tensors that exceed the caches, as vectors with
/// prefetches. False for any other op.
bool emitStream(mlir::linalg::LinalgOp op, const TargetInfo &target);
/// Emits a copy that changes which axis is contiguous, as squares that are
/// transposed in registers. False for any other op.
bool emitTranspose(mlir::linalg::LinalgOp op, const TargetInfo &target);
/// Emits any linalg op as loops that LLVM can vectorize. False if
/// LoopNest::of() fails.
bool emitLoops(mlir::linalg::LinalgOp op);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CPU_EMITTERS_H
