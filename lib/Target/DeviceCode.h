// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TARGET_DEVICECODE_H
#define NETC_LIB_TARGET_DEVICECODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace netc {

/// An architecture of devices that PTX is emitted for.
struct DeviceArch {
  llvm::StringLiteral name; ///< the name in LLVM and ptxas: `sm_80`
  llvm::StringLiteral ptx;  ///< LLVM's feature for the version of PTX
};
/// The first one runs on all devices. A device uses the last one that it
/// supports.
constexpr DeviceArch deviceArchs[] = {{"sm_80", "+ptx70"},
                                      {"sm_90a", "+ptx80"}};

/// PTX of a module in the LLVM dialect whose kernels are marked. Fails if it
/// contains something that a device has no instruction or function for.
llvm::Expected<std::string> emitPtx(mlir::ModuleOp device,
                                    const DeviceArch &arch);

} // namespace netc

#endif // NETC_LIB_TARGET_DEVICECODE_H
