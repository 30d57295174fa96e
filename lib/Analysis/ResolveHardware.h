// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_RESOLVEHARDWARE_H
#define NETC_LIB_ANALYSIS_RESOLVEHARDWARE_H

#include "lib/Hardware/Hardware.h"
#include "mlir/IR/BuiltinOps.h"

namespace netc {

/// Completes what every run says of its hardware, by completeHardware: the
/// attributes `peak` (FLOP/s), `peak_format`, `assumed_utilization` where no
/// utilization is given, and `assumed`, a list of what was taken. Without a
/// figure for its device a run has no peak. Fails, with an error at the place,
/// if there is no such device or number format. `accelerators` takes
/// milliseconds, and is called only where it is needed.
///
/// Empty steps of `module` do what those of `written` do, if that is given.
mlir::LogicalResult
resolveHardware(mlir::ModuleOp module,
                llvm::function_ref<const AcceleratorTable &()> accelerators,
                mlir::ModuleOp written = {});

} // namespace netc

#endif // NETC_LIB_ANALYSIS_RESOLVEHARDWARE_H
