// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_EMITPEAKS_H
#define NETC_LIB_CODEGEN_CUDA_EMITPEAKS_H

#include "lib/Program/DeviceArch.h"
#include "mlir/IR/BuiltinOps.h"

namespace netc {

/// Emits the kernels of lib/Program/PeakKernels.h that an architecture has, as
/// functions with kThreadsPerBlock.
mlir::OwningOpRef<mlir::ModuleOp> emitPeaks(mlir::MLIRContext *context,
                                            const program::DeviceArch &arch);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_EMITPEAKS_H
