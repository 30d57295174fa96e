// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Instructions on bits without a type, and on whole registers.

#include "lib/Simulator/Handlers.h"

#include <algorithm>

using namespace netc::simulator;

/// Shifts by the number of bits or more give 0, or copies of the sign.
template <typename T, bool Left>
NETC_WIDE static void shift(Launch &, Warp &warp, const Instruction &i,
                            uint32_t lanes) {
  constexpr uint32_t bits = 8 * sizeof(T);
  auto *d = Launch::lanes<Lane<T>>(warp, i, 0);
  auto *a = Launch::lanes<Lane<T>>(warp, i, 1);
  auto *b = Launch::lanes<uint32_t>(warp, i, 2);
  forLanes(lanes, [=](int l) {
    uint32_t by = b[l];
    T value = get<T>(a, l);
    if constexpr (Left)
      value = by < bits ? T(Lane<T>(value) << (by & (bits - 1))) : T(0);
    else
      value = T(value >> std::min(by, bits - 1)),
      value = by < bits || std::is_signed_v<T> ? value : T(0);
    put<T>(d, l, value);
  });
}

Handler netc::simulator::shiftOf(Type type, bool isLeft) {
  bool isSigned = type.kind == 's';
  switch (type.bits) {
  case 16:
    return isLeft     ? shift<uint16_t, true>
           : isSigned ? shift<int16_t, false>
                      : shift<uint16_t, false>;
  case 32:
    return isLeft     ? shift<uint32_t, true>
           : isSigned ? shift<int32_t, false>
                      : shift<uint32_t, false>;
  case 64:
    return isLeft     ? shift<uint64_t, true>
           : isSigned ? shift<int64_t, false>
                      : shift<uint64_t, false>;
  }
  return nullptr;
}

/// `shf`: shifts the 64 bits of two registers, and returns 32 of them.
template <bool Left, bool Wraps>
NETC_WIDE static void funnel(Launch &, Warp &warp, const Instruction &i,
                             uint32_t lanes) {
  auto *d = Launch::lanes<uint32_t>(warp, i, 0);
  auto *a = Launch::lanes<uint32_t>(warp, i, 1);
  auto *b = Launch::lanes<uint32_t>(warp, i, 2);
  auto *c = Launch::lanes<uint32_t>(warp, i, 3);
  forLanes(lanes, [=](int l) {
    uint32_t by = Wraps ? c[l] & 31 : std::min(c[l], 32u);
    uint64_t both = uint64_t(b[l]) << 32 | a[l];
    uint32_t low = a[l];
    d[l] = uint32_t(Left ? both << by >> 32 : both >> by);
    if (Left && by == 32)
      d[l] = low;
  });
}

Handler netc::simulator::funnelShiftOf(bool isLeft, bool wraps) {
  return isLeft ? (wraps ? funnel<true, true> : funnel<true, false>)
                : (wraps ? funnel<false, true> : funnel<false, false>);
}

void netc::simulator::permuteBytes(Launch &, Warp &warp, const Instruction &i,
                                   uint32_t lanes) {
  auto *d = Launch::lanes<uint32_t>(warp, i, 0);
  auto *a = Launch::lanes<uint32_t>(warp, i, 1);
  auto *b = Launch::lanes<uint32_t>(warp, i, 2);
  auto *c = Launch::lanes<uint32_t>(warp, i, 3);
  forLanes(lanes, [=](int l) {
    uint64_t both = uint64_t(b[l]) << 32 | a[l];
    uint32_t chosen = 0;
    for (int byte = 0; byte < 4; ++byte) {
      uint32_t which = c[l] >> (4 * byte) & 15;
      uint8_t value = uint8_t(both >> (8 * (which & 7)));
      if (which & 8)
        value = value & 0x80 ? 0xff : 0;
      chosen |= uint32_t(value) << (8 * byte);
    }
    d[l] = chosen;
  });
}

template <typename T>
NETC_WIDE static void extractBits(Launch &, Warp &warp, const Instruction &i,
                                  uint32_t lanes) {
  using Bits = Lane<T>;
  constexpr uint32_t bits = 8 * sizeof(T);
  auto *d = Launch::lanes<Bits>(warp, i, 0);
  auto *a = Launch::lanes<Bits>(warp, i, 1);
  auto *b = Launch::lanes<uint32_t>(warp, i, 2);
  auto *c = Launch::lanes<uint32_t>(warp, i, 3);
  forLanes(lanes, [=](int l) {
    uint32_t at = b[l] & 255, count = c[l] & 255;
    uint32_t there = at < bits ? std::min(count, bits - at) : 0;
    Bits field = there ? a[l] >> at & ~Bits(0) >> (bits - there) : 0;
    // Fill with the sign: the last bit of the field, or of the number if the
    // field reaches beyond it.
    uint32_t last = std::min(at + count - 1, bits - 1);
    bool isNegative = std::is_signed_v<T> && count && (a[l] >> last & 1);
    if (isNegative && there < bits)
      field |= ~Bits(0) << there;
    d[l] = field;
  });
}

Handler netc::simulator::extractBitsOf(Type type) {
  bool isSigned = type.kind == 's';
  if (type.bits == 32)
    return isSigned ? extractBits<int32_t> : extractBits<uint32_t>;
  return isSigned ? extractBits<int64_t> : extractBits<uint64_t>;
}

/// `lop3`: looks up each bit of the result, by the bits of three operands, in a
/// table of 8 bits.
void netc::simulator::lookUpBits(Launch &, Warp &warp, const Instruction &i,
                                 uint32_t lanes) {
  auto *d = Launch::lanes<uint32_t>(warp, i, 0);
  auto *a = Launch::lanes<uint32_t>(warp, i, 1);
  auto *b = Launch::lanes<uint32_t>(warp, i, 2);
  auto *c = Launch::lanes<uint32_t>(warp, i, 3);
  uint32_t table = *Launch::lanes<uint32_t>(warp, i, 4);
  forLanes(lanes, [=](int l) {
    uint32_t result = 0;
    for (int row = 0; row < 8; ++row)
      if (table >> row & 1)
        result |= (row & 4 ? a[l] : ~a[l]) & (row & 2 ? b[l] : ~b[l]) &
                  (row & 1 ? c[l] : ~c[l]);
    d[l] = result;
  });
}

template <typename T, bool LeadingZeros>
NETC_WIDE static void countBits(Launch &, Warp &warp, const Instruction &i,
                                uint32_t lanes) {
  auto *d = Launch::lanes<uint32_t>(warp, i, 0);
  auto *a = Launch::lanes<T>(warp, i, 1);
  constexpr int spare = 64 - 8 * int(sizeof(T));
  forLanes(lanes, [=](int l) {
    d[l] = uint32_t(!LeadingZeros ? __builtin_popcountll(a[l])
                    : a[l]        ? __builtin_clzll(a[l]) - spare
                                  : 64 - spare);
  });
}

Handler netc::simulator::bitCountOf(Type type, bool leadingZeros) {
  if (type.bits == 32)
    return leadingZeros ? countBits<uint32_t, true>
                        : countBits<uint32_t, false>;
  if (type.bits == 64)
    return leadingZeros ? countBits<uint64_t, true>
                        : countBits<uint64_t, false>;
  return nullptr;
}

template <typename T>
NETC_WIDE static void select(Launch &, Warp &warp, const Instruction &i,
                             uint32_t lanes) {
  auto *d = Launch::lanes<T>(warp, i, 0);
  auto *a = Launch::lanes<T>(warp, i, 1);
  auto *b = Launch::lanes<T>(warp, i, 2);
  auto *p = Launch::lanes<uint32_t>(warp, i, 3);
  forLanes(lanes, [=](int l) { d[l] = p[l] ? a[l] : b[l]; });
}

Handler netc::simulator::selectOf(Type type) {
  return type.bits == 64 ? Handler(select<uint64_t>)
                         : Handler(select<uint32_t>);
}

template <typename T>
NETC_WIDE static void copy(Launch &, Warp &warp, const Instruction &i,
                           uint32_t lanes) {
  auto *d = Launch::lanes<T>(warp, i, 0);
  auto *a = Launch::lanes<T>(warp, i, 1);
  forLanes(lanes, [=](int l) { d[l] = a[l]; });
}

Handler netc::simulator::copyOf(bool isWide) {
  return isWide ? Handler(copy<uint64_t>) : Handler(copy<uint32_t>);
}

/// Packs several narrow registers into one.
template <typename T, typename Part>
NETC_WIDE static void pack(Launch &, Warp &warp, const Instruction &i,
                           uint32_t lanes) {
  T packed[kLanes] = {};
  uint32_t bits = i.type.bits / i.width;
  T mask = T(T(1) << bits) - 1;
  for (uint32_t part = 0; part < i.width; ++part) {
    auto *a = Launch::lanes<Part>(warp, i, 1 + part);
    for (int l = 0; l < kLanes; ++l)
      packed[l] |= (T(a[l]) & mask) << (part * bits);
  }
  auto *d = Launch::lanes<T>(warp, i, 0);
  forLanes(lanes, [&](int l) { d[l] = packed[l]; });
}

/// Unpacks a register into several narrow ones.
template <typename T, typename Part>
NETC_WIDE static void unpack(Launch &, Warp &warp, const Instruction &i,
                             uint32_t lanes) {
  auto *a = Launch::lanes<T>(warp, i, i.width);
  uint32_t bits = i.type.bits / i.width;
  T mask = T(T(1) << bits) - 1;
  for (uint32_t part = 0; part < i.width; ++part) {
    auto *d = Launch::lanes<Part>(warp, i, part);
    forLanes(lanes, [=](int l) { d[l] = Part(a[l] >> (part * bits) & mask); });
  }
}

Handler netc::simulator::packOf(Type type, uint8_t width) {
  return type.bits / width < 8 || type.bits / width > 32 ? nullptr
         : type.bits == 64 ? Handler(pack<uint64_t, uint32_t>)
                           : Handler(pack<uint32_t, uint32_t>);
}
Handler netc::simulator::unpackOf(Type type, uint8_t width) {
  return type.bits / width < 8 || type.bits / width > 32 ? nullptr
         : type.bits == 64 ? Handler(unpack<uint64_t, uint32_t>)
                           : Handler(unpack<uint32_t, uint32_t>);
}
