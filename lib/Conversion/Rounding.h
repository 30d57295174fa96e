// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CONVERSION_ROUNDING_H
#define NETC_LIB_CONVERSION_ROUNDING_H

#include "lib/Conversion/Element.h"

namespace netc {

/// The number of `format`, bf16 or f16, that is nearest to x, the even one of
/// two, as a number of x's type, f32 or f64. None of this is counted, and LLVM
/// sees no number of 16 bits: of these it makes calls that no library has.
Element rounded(Element x, mlir::FloatType format);

} // namespace netc

#endif // NETC_LIB_CONVERSION_ROUNDING_H
