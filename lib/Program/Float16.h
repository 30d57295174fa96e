// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_PROGRAM_FLOAT16_H
#define NETC_LIB_PROGRAM_FLOAT16_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace netc::program {

/// A 16-bit float with a sign, an exponent, and `fractionBits` bits of
/// fraction. The C++ of this build has no such type.
template <int fractionBits> struct Float16 {
  uint16_t bits = 0;

  Float16() = default;
  /// Rounds to nearest, ties to even.
  explicit Float16(double value) : bits(std::signbit(value) ? 0x8000 : 0) {
    double size = std::abs(value);
    if (std::isnan(value)) {
      bits = uint16_t(bits | infinity | 1 << (fractionBits - 1));
    } else if (std::isinf(value)) {
      bits = uint16_t(bits | infinity);
    } else if (size != 0) {
      int exponent = std::max(std::ilogb(size), 1 - bias);
      // In multiples of the last bit's value; a carry goes into the exponent.
      double units = std::nearbyint(std::ldexp(size, fractionBits - exponent));
      int64_t all = (int64_t(exponent + bias - 1) << fractionBits) +
                    static_cast<int64_t>(units);
      bits = uint16_t(bits | std::min<int64_t>(all, infinity));
    }
  }

  operator float() const {
    int exponent = (bits & 0x7fff) >> fractionBits;
    int fraction = bits & ((1 << fractionBits) - 1);
    float value =
        std::ldexp(float(exponent ? fraction + (1 << fractionBits) : fraction),
                   std::max(exponent, 1) - bias - fractionBits);
    if ((bits & infinity) == infinity) { // NaN keeps its bits
      uint32_t wide = 0x7f800000u | uint32_t(fraction) << (23 - fractionBits);
      std::memcpy(&value, &wide, sizeof value);
    }
    return bits & 0x8000 ? -value : value;
  }

  static constexpr int bias = (1 << (14 - fractionBits)) - 1;
  /// The bits of infinity. The largest finite number is the one before.
  static constexpr uint16_t infinity = 0x8000 - (1 << fractionBits);
};

using Half = Float16<10>;
using Bfloat = Float16<7>;

/// The largest finite number of a type.
template <typename T> double largestOf(T) {
  return std::numeric_limits<T>::max();
}
template <int fractionBits> double largestOf(Float16<fractionBits> number) {
  number.bits = number.infinity - 1;
  return number;
}

} // namespace netc::program

#endif // NETC_LIB_PROGRAM_FLOAT16_H
