// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TARGET_CUDA_H
#define NETC_LIB_TARGET_CUDA_H

#include "lib/Target/Backend.h"

namespace netc {

/// Kernels as PTX for NVIDIA's devices, in an object for the host that launches
/// them; see docs/Cuda.md. It needs nothing of the CUDA toolkit.
llvm::Expected<std::unique_ptr<Backend>>
makeCudaBackend(const LoweringOptions &options);

} // namespace netc

#endif // NETC_LIB_TARGET_CUDA_H
