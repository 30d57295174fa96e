// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TARGET_DEVICECODE_H
#define NETC_LIB_TARGET_DEVICECODE_H

#include "lib/Program/DeviceArch.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace netc {

/// PTX of a module in the LLVM dialect whose kernels are marked. Fails if it
/// contains something that a device has no instruction or function for.
llvm::Expected<std::string> emitPtx(mlir::ModuleOp device,
                                    const program::DeviceArch &arch);

} // namespace netc

#endif // NETC_LIB_TARGET_DEVICECODE_H
