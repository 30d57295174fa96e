// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_ROUNDING_H
#define NETC_LIB_CODEGEN_ROUNDING_H

#include "lib/Conversion/Element.h"

namespace netc {

/// The number, of the type `element` or vectors of it, that integers of 16 bits
/// are in a format, bf16 or f16. A target that `convertsHalves` has
/// instructions for f16; all else is done on integers, since LLVM makes calls
/// of conversions that no library has.
mlir::Value widened(Element bits, mlir::FloatType format, mlir::Type element,
                    bool convertsHalves);
/// The bits of the number of a format that is nearest to x, an f32 or f64; of
/// two, of the even one.
mlir::Value rounded(Element x, mlir::FloatType format, bool convertsHalves);

} // namespace netc

#endif // NETC_LIB_CODEGEN_ROUNDING_H
