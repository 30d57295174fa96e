// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_ROUNDING_H
#define NETC_LIB_CODEGEN_ROUNDING_H

#include "lib/Conversion/Element.h"

namespace netc {

/// The values of bf16 or f16 (`format`) given as 16-bit integers, in the type
/// `element` or vectors of it. A target that `convertsHalves` has instructions
/// for f16. All else is integer arithmetic: LLVM would call conversions that no
/// library has.
mlir::Value widened(Element bits, mlir::FloatType format, mlir::Type element,
                    bool convertsHalves);
/// The bits of the value of `format` nearest to x, an f32 or f64; ties go to
/// even.
mlir::Value rounded(Element x, mlir::FloatType format, bool convertsHalves);

} // namespace netc

#endif // NETC_LIB_CODEGEN_ROUNDING_H
