// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TARGET_SCHEDULES_H
#define NETC_LIB_TARGET_SCHEDULES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace netc {

/// Runs passes that emit schedules of kernels as remarks, and prints each
/// remark after its op.
mlir::LogicalResult printSchedules(mlir::PassManager &passes,
                                   mlir::ModuleOp module,
                                   llvm::raw_ostream &os);

} // namespace netc

#endif // NETC_LIB_TARGET_SCHEDULES_H
