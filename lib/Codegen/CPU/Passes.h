// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CPU_PASSES_H
#define NETC_LIB_CODEGEN_CPU_PASSES_H

#include "lib/Program/Isa.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace netc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Codegen/CPU/Passes.h.inc"

} // namespace netc

#endif // NETC_LIB_CODEGEN_CPU_PASSES_H
