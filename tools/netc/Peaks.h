// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TOOLS_NETC_PEAKS_H
#define NETC_TOOLS_NETC_PEAKS_H

#include "mlir/IR/BuiltinOps.h"

namespace netc {

/// Gives every net.step that names a device, and no peak, the peak of that
/// device at the step's precision, f32 if none is given, in the attribute
/// `peak` (FLOP/s), and every step with a peak the number format of it, if that
/// is known, in `peak_format`. A device without a figure keeps none. Fails,
/// with an error at the place, if there is no such device or number format.
mlir::LogicalResult givePeaks(mlir::ModuleOp module);

} // namespace netc

#endif // NETC_TOOLS_NETC_PEAKS_H
