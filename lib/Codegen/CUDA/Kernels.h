// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_KERNELS_H
#define NETC_LIB_CODEGEN_CUDA_KERNELS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace netc {

/// The attribute of a function that is a kernel: how many threads it takes.
constexpr llvm::StringLiteral kThreads = "net.threads";
/// That of a module: its kernels, in the order of their numbers, as
/// dictionaries of `name`, `blocks` and `threads` of a block.
constexpr llvm::StringLiteral kKernels = "net.kernels";
/// The module of the kernels, inside of that of the step.
constexpr llvm::StringLiteral kDevice = "device";
/// Threads of a block.
constexpr int64_t kBlockThreads = 128;

/// The number of this thread among all of its kernel.
mlir::Value threadIndex(mlir::ImplicitLocOpBuilder &b);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_KERNELS_H
