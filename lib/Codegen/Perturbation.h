// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_PERTURBATION_H
#define NETC_LIB_CODEGEN_PERTURBATION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace netc {

/// A call of `double netc_perturb(double value, double unit, double least)`,
/// which `module` declares from now on: an f64 as a rounding to `format` may
/// leave it. `unit` is half a unit in the last place, relative to the value,
/// and `least` half of the smallest subnormal number.
mlir::Value perturb(mlir::OpBuilder &b, mlir::ModuleOp module,
                    mlir::Value value, mlir::FloatType format);

} // namespace netc

#endif // NETC_LIB_CODEGEN_PERTURBATION_H
