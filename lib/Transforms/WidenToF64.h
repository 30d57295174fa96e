// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRANSFORMS_WIDENTOF64_H
#define NETC_LIB_TRANSFORMS_WIDENTOF64_H

#include "dialect/Net.h"

namespace netc {

/// Makes f64 of every f32 value in the regions of `root`, their arguments
/// included.
void widenToF64(mlir::Operation *root);
/// Drops a conversion to the format that its operand has by now.
void dropIfSame(ConvertOp convert);

} // namespace netc

#endif // NETC_LIB_TRANSFORMS_WIDENTOF64_H
