// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TARGET_CUDA_H
#define NETC_LIB_TARGET_CUDA_H

#include "lib/Program/DeviceArch.h"
#include "lib/Target/Backend.h"

namespace netc {

/// Kernels as PTX for NVIDIA's devices, in an object for the host that launches
/// them; see docs/Cuda.md. It needs nothing of the CUDA toolkit.
llvm::Expected<std::unique_ptr<Backend>>
makeCudaBackend(const LoweringOptions &options);

/// PTX of the kernels that measure a device's peaks; see
/// lib/Program/PeakKernels.h.
llvm::Expected<std::string> peakCode(mlir::MLIRContext *context,
                                     const program::DeviceArch &arch);

} // namespace netc

#endif // NETC_LIB_TARGET_CUDA_H
