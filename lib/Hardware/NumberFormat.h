// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_HARDWARE_NUMBERFORMAT_H
#define NETC_LIB_HARDWARE_NUMBERFORMAT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <vector>

namespace netc {

/// The formats with peaks of accelerators. An accelerator runs both 8-bit
/// floating-point formats at the same rate.
enum class NumberFormat {
  F64,
  F32,
  TF32,
  F16,
  BF16,
  F8E4M3,
  F8E5M2,
  F6E3M2,
  F4E2M1,
  I8,
  I4
};

/// The properties of a format. Floating-point formats are those of IEEE 754
/// (f64, f32, f16, and with its rules tf32, bf16 and f8e5m2), and of the OCP
/// Microscaling Formats Specification 1.0 (f8e4m3, f6e3m2, f4e2m1).
struct FormatTraits {
  NumberFormat format;
  llvm::StringLiteral name; ///< the name in the language
  unsigned bits;            ///< of sign, exponent and mantissa
  unsigned storedBits;      ///< of a value in memory
  unsigned exponentBits;    ///< 0 for an integer
  unsigned mantissaBits;    ///< without the leading one; of an integer, all
                            ///< but the sign
  double largest;
};

const FormatTraits &traitsOf(NumberFormat format);
llvm::ArrayRef<FormatTraits> allFormats();
std::vector<llvm::StringRef> formatNames();

/// Reads `bf16`, `f8e4m3` and so on, in either case. `fp16`, `float16`,
/// `bfloat16` and `int8` are accepted too, and `f8`, `f6` and `f4` for the
/// first format of that width. None for other names.
std::optional<NumberFormat> parseNumberFormat(llvm::StringRef name);

} // namespace netc

#endif // NETC_LIB_HARDWARE_NUMBERFORMAT_H
