// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_PERTURBATION_H
#define NETC_LIB_CODEGEN_PERTURBATION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace netc {

/// The error of a rounding: at most the larger one of `unit`, half a unit in
/// the last place, relative to the value, and `least`, half of the smallest
/// subnormal number.
struct RoundingError {
  double unit, least;

  /// Of a rounding to `format`.
  static RoundingError of(mlir::FloatType format);
};

/// Calls `double netc_perturb(double value, double unit, double least)`, and
/// declares it in `module` if needed. The function returns `value`, an f64,
/// with this error.
mlir::Value perturb(mlir::OpBuilder &b, mlir::ModuleOp module,
                    mlir::Value value, RoundingError error);

} // namespace netc

#endif // NETC_LIB_CODEGEN_PERTURBATION_H
