// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TARGET_DESCRIPTION_H
#define NETC_LIB_TARGET_DESCRIPTION_H

#include "dialect/Net.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace netc {

/// What a generated program knows of itself, as JSON text: `base` (what the
/// caller knows: versions, conventions, the target), the slots of the arena and
/// the table of ops, from the attributes that lowering leaves on the module.
/// lib/Runtime reads it.
std::string describe(mlir::ModuleOp module, llvm::json::Object base);

} // namespace netc

#endif // NETC_LIB_TARGET_DESCRIPTION_H
