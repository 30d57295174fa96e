// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_PIPELINES_PIPELINES_H
#define NETC_LIB_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"

namespace netc {

/// The stages of a module from the front end to a report.
enum class Stage {
  Net,  ///< networks, and the losses of steps, in free axes
  Step, ///< with gradients and updates; analyses count this stage
  Bound ///< all axes have sizes, as execution needs
};

/// Adds the passes from the front end to `stage`.
void addPasses(mlir::OpPassManager &passes, Stage stage);

} // namespace netc

#endif // NETC_LIB_PIPELINES_PIPELINES_H
