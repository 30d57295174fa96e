// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_REWRITESTEPS_H
#define NETC_LIB_CODEGEN_REWRITESTEPS_H

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace netc {

/// The configuration for patterns that rewrite a step. Its regions are single
/// blocks, in which there is nothing to simplify. Looking for it anyway took a
/// tenth of the time of lowering.
inline mlir::GreedyRewriteConfig rewritingSteps(bool topDown = true) {
  mlir::GreedyRewriteConfig config;
  config.useTopDownTraversal = topDown;
  config.enableRegionSimplification = mlir::GreedySimplifyRegionLevel::Disabled;
  return config;
}

} // namespace netc

#endif // NETC_LIB_CODEGEN_REWRITESTEPS_H
