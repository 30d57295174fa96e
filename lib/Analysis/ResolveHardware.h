// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_RESOLVEHARDWARE_H
#define NETC_LIB_ANALYSIS_RESOLVEHARDWARE_H

#include "lib/Hardware/Hardware.h"
#include "mlir/IR/BuiltinOps.h"

namespace netc {

/// Completes the hardware of every run, by completeHardware(): sets the
/// attributes `peak` (FLOP/s), `peak_format`, `assumed_utilization` if no
/// utilization is given, and `assumed`, the list of assumptions. A run whose
/// device has no known peak gets none. Fails, with an error at the key, if
/// there is no such device or number format. `accelerators` takes milliseconds
/// and is called only if needed.
///
/// Empty steps of `module` stand for those of `written`, if that is given.
mlir::LogicalResult
resolveHardware(mlir::ModuleOp module,
                llvm::function_ref<const AcceleratorTable &()> accelerators,
                mlir::ModuleOp written = {});

} // namespace netc

#endif // NETC_LIB_ANALYSIS_RESOLVEHARDWARE_H
