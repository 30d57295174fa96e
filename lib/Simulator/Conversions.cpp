// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Simulator/Handlers.h"

#include <cmath>
#include <limits>

using namespace netc::simulator;

template <typename F> static F toWhole(F value, uint8_t mode) {
  switch (mode & 3) {
  case Zero:
    return std::trunc(value);
  case Down:
    return std::floor(value);
  case Up:
    return std::ceil(value);
  default:
    return std::nearbyint(value);
  }
}

/// By the PTX ISA, integers are clamped. NaN becomes 0, or 0x80..0 if one of
/// the types has 64 bits.
template <typename To, typename From>
static To convert(From value, uint8_t mode) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (value != value)
      return sizeof(From) < 8 && sizeof(To) < 8
                 ? To(0)
                 : To(uint64_t(1) << (8 * sizeof(To) - 1));
    From whole = toWhole(value, mode);
    if (whole <= From(std::numeric_limits<To>::lowest()))
      return std::numeric_limits<To>::lowest();
    if (whole >= From(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    return To(whole);
  } else if constexpr (std::is_floating_point_v<To>) {
    To result = To(value);
    if constexpr (std::is_floating_point_v<From>)
      if (mode & Whole)
        result = To(toWhole(value, mode));
    return result;
  } else {
    return To(value);
  }
}

template <typename To, typename From>
NETC_WIDE static void convertLanes(Launch &, Warp &warp, const Instruction &i,
                                   uint32_t lanes) {
  auto *d = Launch::lanes<Lane<To>>(warp, i, 0);
  auto *a = Launch::lanes<Lane<From>>(warp, i, 1);
  uint8_t mode = i.mode;
  forLanes(lanes,
           [=](int l) { put<To>(d, l, convert<To>(get<From>(a, l), mode)); });
}
template <typename From> static Handler convertTo(Type type) {
#define NETC_CONVERT(T) Handler(convertLanes<T, From>)
  NETC_FOR_TYPE(type, true, true, NETC_CONVERT);
#undef NETC_CONVERT
}
static Handler convertPlain(Type to, Type from) {
#define NETC_CONVERT(T) convertTo<T>(to)
  NETC_FOR_TYPE(from, true, true, NETC_CONVERT);
#undef NETC_CONVERT
}

//===----------------------------------------------------------------------===//
// Floats of 16 bits
//===----------------------------------------------------------------------===//

float netc::simulator::fromHalf(uint16_t bits, bool isBf16) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  if (!isBf16) {
    // The exponents of f16 have a bias of 15, those of f32 one of 127.
    uint32_t magnitude = uint32_t(bits & 0x7fff) << 13;
    std::memcpy(&value, &magnitude, sizeof value);
    value *= 0x1p112f;
    std::memcpy(&magnitude, &value, sizeof value);
    bool isFinite = (bits & 0x7c00) != 0x7c00;
    wide = magnitude | (isFinite ? 0 : 0x7f800000) | (wide & 0x80000000);
  }
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

uint16_t netc::simulator::toHalf(float value, bool isBf16) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (value != value)
    return 0x7fff;
  if (isBf16)
    return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  uint16_t sign = uint16_t(bits >> 16 & 0x8000);
  float size = std::fabs(value);
  if (size >= 65520)
    return sign | 0x7c00;
  // In units of the last place. Rounding may carry into the exponent.
  int exponent = size < 0x1p-14f ? -14 : std::ilogb(size);
  auto units = uint16_t(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return uint16_t(sign | (units + ((exponent + 14) << 10)));
}

template <bool IsBf16, typename From>
NETC_WIDE static void narrow(Launch &, Warp &warp, const Instruction &i,
                             uint32_t lanes) {
  auto *d = Launch::lanes<uint32_t>(warp, i, 0);
  auto *a = Launch::lanes<Lane<From>>(warp, i, 1);
  forLanes(lanes,
           [=](int l) { d[l] = toHalf(float(get<From>(a, l)), IsBf16); });
}
/// The first operand becomes the upper half.
template <bool IsBf16>
NETC_WIDE static void narrowPair(Launch &, Warp &warp, const Instruction &i,
                                 uint32_t lanes) {
  auto *d = Launch::lanes<uint32_t>(warp, i, 0);
  auto *a = Launch::lanes<float>(warp, i, 1);
  auto *b = Launch::lanes<float>(warp, i, 2);
  forLanes(lanes, [=](int l) {
    d[l] = uint32_t(toHalf(a[l], IsBf16)) << 16 | toHalf(b[l], IsBf16);
  });
}
template <bool IsBf16, typename To>
NETC_WIDE static void widen(Launch &, Warp &warp, const Instruction &i,
                            uint32_t lanes) {
  auto *d = Launch::lanes<To>(warp, i, 0);
  auto *a = Launch::lanes<uint32_t>(warp, i, 1);
  forLanes(lanes, [=](int l) { d[l] = fromHalf(uint16_t(a[l]), IsBf16); });
}
/// Rounds to 10 fraction bits. Ties go away from zero.
NETC_WIDE static void roundToTf32(Launch &, Warp &warp, const Instruction &i,
                                  uint32_t lanes) {
  auto *d = Launch::lanes<uint32_t>(warp, i, 0);
  auto *a = Launch::lanes<uint32_t>(warp, i, 1);
  forLanes(lanes, [=](int l) {
    bool isFinite = (a[l] & 0x7f800000) != 0x7f800000;
    d[l] = isFinite ? (a[l] + 0x1000) & ~0x1fffu : a[l];
  });
}

Handler netc::simulator::conversionOf(Type to, Type from, bool isPair) {
  bool isFloat = from.kind == 'f' && from.bits == 32;
  bool toBf16 = to.kind == 'g', toHalf = to.kind == 'f' && to.bits == 16;
  if (isPair)
    return !isFloat ? nullptr
           : toBf16 ? Handler(narrowPair<true>)
                    : Handler(narrowPair<false>);
  if (toBf16)
    return isFloat ? Handler(narrow<true, float>) : nullptr;
  if (toHalf)
    return isFloat ? Handler(narrow<false, float>) : nullptr;
  if (to.kind == 't')
    return isFloat ? Handler(roundToTf32) : nullptr;
  bool isHalf = from.kind == 'f' && from.bits == 16;
  if (to.kind == 'f' && to.bits == 32) {
    if (from.kind == 'g')
      return widen<true, float>;
    if (isHalf)
      return widen<false, float>;
  }
  if (to.kind == 'f' && to.bits == 64 && isHalf)
    return widen<false, double>;
  return convertPlain(to, from);
}
