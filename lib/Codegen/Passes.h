// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_PASSES_H
#define NETC_LIB_CODEGEN_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace netc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Codegen/Passes.h.inc"

/// FuseEpilogues for the products and epilogues for which `takes` holds.
std::unique_ptr<mlir::Pass> createFuseEpilogues(
    std::function<bool(mlir::linalg::LinalgOp, mlir::linalg::GenericOp)> takes);

} // namespace netc

#endif // NETC_LIB_CODEGEN_PASSES_H
