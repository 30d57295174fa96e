// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_ROUNDING_H
#define NETC_LIB_CODEGEN_ROUNDING_H

#include "lib/Conversion/Element.h"

namespace netc {

/// The values of bf16 or f16 (`format`), given as 16-bit integers, in the float
/// type `element` or as vectors of it. If the target has instructions for the
/// format (`converts`), they are used. All else is integer arithmetic, since
/// LLVM would call functions that no library has.
mlir::Value widened(Element bits, mlir::FloatType format, mlir::Type element,
                    bool converts);
/// The bits, as 16-bit integers, of the values of `format` nearest to x, an f32
/// or f64; ties go to even.
mlir::Value rounded(Element x, mlir::FloatType format, bool converts);

} // namespace netc

#endif // NETC_LIB_CODEGEN_ROUNDING_H
