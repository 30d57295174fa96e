// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TARGET_DESCRIPTION_H
#define NETC_LIB_TARGET_DESCRIPTION_H

#include "lib/Program/Program.h"
#include "mlir/IR/BuiltinOps.h"

namespace netc {

/// Completes the parts of a description that a caller knows (version,
/// conventions, target) from the attributes of the lowered module: names,
/// memory, slots and ops.
program::Program describe(mlir::ModuleOp module, program::Program program);

} // namespace netc

#endif // NETC_LIB_TARGET_DESCRIPTION_H
