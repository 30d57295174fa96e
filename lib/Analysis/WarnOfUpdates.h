// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_WARNOFUPDATES_H
#define NETC_LIB_ANALYSIS_WARNOFUPDATES_H

#include "dialect/Net.h"

namespace netc {

/// Warns of updates of a step that cost more, or change less, than was asked
/// for: of whole tables, and of weights in 16 bits by small steps.
void warnOfUpdates(StepOp step);
/// The update or buffer in `root` that keeps squares of gradients in f16, whose
/// smallest number is 6e-8; null if there is none.
mlir::Operation *holderOfLostSquares(mlir::Operation *root);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_WARNOFUPDATES_H
