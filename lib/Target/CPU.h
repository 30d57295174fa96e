// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TARGET_CPU_H
#define NETC_LIB_TARGET_CPU_H

#include "lib/Target/Backend.h"

namespace netc {

/// Vector code with OpenMP for the processor of this machine, emitted by LLVM.
/// `options.isa` limits the width of vectors.
llvm::Expected<std::unique_ptr<Backend>>
makeCpuBackend(const LoweringOptions &options);

/// The kernel passes of the CPU backend, for tools that emit no code.
void addCpuKernelPasses(mlir::OpPassManager &passes,
                        const LoweringOptions &options, program::Isa isa);

} // namespace netc

#endif // NETC_LIB_TARGET_CPU_H
