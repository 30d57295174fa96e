// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The semantics of instructions, by chapter 9 of the PTX ISA 8.0. Registers of
// 8 and 16 bits are the low bits of 32-bit ones, whose high bits are zero.

#ifndef NETC_LIB_SIMULATOR_HANDLERS_H
#define NETC_LIB_SIMULATOR_HANDLERS_H

#include "lib/Simulator/Launch.h"

#include <cstring>
#include <type_traits>

namespace netc::simulator {

/// The type that holds a value in a warp's register file.
template <typename T>
using Lane = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

/// Conversions between 16-bit floats and f32, to nearest even.
float fromHalf(uint16_t bits, bool isBf16);
uint16_t toHalf(float value, bool isBf16);

/// An f16, which is computed in f32: an f32 result has so many digits that to
/// round it again gives the f16 nearest to the exact result.
struct Half {
  explicit Half(uint16_t bits) : bits(bits) {}
  explicit Half(float value) : bits(toHalf(value, false)) {}
  operator float() const { return fromHalf(bits, false); }
  uint16_t bits;
};

template <typename T> T get(const Lane<T> *from, int lane) {
  if constexpr (std::is_same_v<T, Half>) {
    return Half(uint16_t(from[lane]));
  } else if constexpr (sizeof(T) < 4) {
    return T(from[lane]);
  } else {
    T value;
    std::memcpy(&value, &from[lane], sizeof value);
    return value;
  }
}
template <typename T> void put(Lane<T> *to, int lane, T value) {
  if constexpr (std::is_same_v<T, Half>)
    to[lane] = value.bits;
  else if constexpr (sizeof(T) < 4)
    to[lane] = std::make_unsigned_t<T>(value);
  else
    std::memcpy(&to[lane], &value, sizeof value);
}

/// Calls `body` for each active lane. No lane may read what another one writes.
template <typename Body>
[[gnu::always_inline]] inline void forLanes(uint32_t lanes, Body body) {
  if (lanes == ~0u) {
#pragma GCC ivdep
    for (int lane = 0; lane < kLanes; ++lane)
      body(lane);
    return;
  }
  if (__builtin_popcount(lanes) > 4) {
#pragma GCC ivdep
    for (int lane = 0; lane < kLanes; ++lane)
      if (lanes >> lane & 1)
        body(lane);
    return;
  }
  for (; lanes; lanes &= lanes - 1)
    body(__builtin_ctz(lanes));
}

/// Returns `INSTANCE(T)` for the C++ type T of a PTX type if that is an integer
/// and INTEGERS is set, or a float and FLOATS is set; else null.
#define NETC_FOR_TYPE(TYPE, INTEGERS, FLOATS, INSTANCE)                        \
  do {                                                                         \
    Type type_ = TYPE;                                                         \
    if constexpr (FLOATS) {                                                    \
      if (type_.kind == 'f' && type_.bits == 32)                               \
        return INSTANCE(float);                                                \
      if (type_.kind == 'f' && type_.bits == 64)                               \
        return INSTANCE(double);                                               \
    }                                                                          \
    if constexpr (INTEGERS) {                                                  \
      bool isSigned_ = type_.kind == 's';                                      \
      if (type_.kind != 's' && type_.kind != 'u' && type_.kind != 'b')         \
        return nullptr;                                                        \
      switch (type_.bits) {                                                    \
      case 8:                                                                  \
        return isSigned_ ? INSTANCE(int8_t) : INSTANCE(uint8_t);               \
      case 16:                                                                 \
        return isSigned_ ? INSTANCE(int16_t) : INSTANCE(uint16_t);             \
      case 32:                                                                 \
        return isSigned_ ? INSTANCE(int32_t) : INSTANCE(uint32_t);             \
      case 64:                                                                 \
        return isSigned_ ? INSTANCE(int64_t) : INSTANCE(uint64_t);             \
      }                                                                        \
    }                                                                          \
    return nullptr;                                                            \
  } while (false)

/// An instruction with one result of the type of its operands.
struct Arithmetic {
  Handler run = nullptr;
  int operands = 0; ///< without the result
};
/// The instruction of this name, with `.hi` or `.NaN` if it has one of them. A
/// type `h` is a pair of f16.
Arithmetic arithmeticNamed(const std::string &name, Type type);
/// `mul.wide`, or `mad.wide` if it `adds`: the result has twice as many bits as
/// the operands.
Handler wideProduct(Type type, bool adds);
/// `setp` with this comparison.
Handler comparisonNamed(const std::string &name, Type type);

/// `shl` and `shr`.
Handler shiftOf(Type type, bool isLeft);
/// `shf`.
Handler funnelShiftOf(bool isLeft, bool wraps);
/// `bfe`.
Handler extractBitsOf(Type type);
/// `popc` and `clz`, whose results have 32 bits.
Handler bitCountOf(Type type, bool leadingZeros);
/// `selp`.
Handler selectOf(Type type);
/// `mov` of a register; to a register from several; and from one to several.
Handler copyOf(bool isWide);
Handler packOf(Type type, uint8_t width);
Handler unpackOf(Type type, uint8_t width);
/// `prmt`.
void permuteBytes(Launch &, Warp &, const Instruction &, uint32_t lanes);
/// `lop3`.
void lookUpBits(Launch &, Warp &, const Instruction &, uint32_t lanes);

enum Rounding : uint8_t { Nearest, Zero, Down, Up, Whole = 4 };
/// `cvt`, with a Rounding as its mode. If `isPair`, two f32 become the halves
/// of a register.
Handler conversionOf(Type to, Type from, bool isPair);

/// `ld`.
void load(Launch &, Warp &, const Instruction &, uint32_t lanes);
/// `ld.param`.
void loadParameter(Launch &, Warp &, const Instruction &, uint32_t lanes);
/// `st`.
void store(Launch &, Warp &, const Instruction &, uint32_t lanes);
/// `atom` and `red` with this operation: `add`, `min` or `max`. Null if there
/// is none.
Handler atomicNamed(const std::string &name, Type type);
/// `cvta`: from a space to generic addresses, or with `isToSpace` back.
Handler addressConversion(bool isToSpace);
/// `cp.async`.
void copyAsync(Launch &, Warp &, const Instruction &, uint32_t lanes);
/// `cp.async.commit_group`.
void commitCopies(Launch &, Warp &, const Instruction &, uint32_t lanes);
/// `cp.async.wait_group` and `cp.async.wait_all`.
void waitForCopies(Launch &, Warp &, const Instruction &, uint32_t lanes);
/// `ldmatrix`.
void loadMatrix(Launch &, Warp &, const Instruction &, uint32_t lanes);

enum Shuffle : uint8_t {
  ShuffleUp,
  ShuffleDown,
  ShuffleButterfly,
  ShuffleIndex
};
/// `shfl.sync`, with a Shuffle as its mode.
void shuffle(Launch &, Warp &, const Instruction &, uint32_t lanes);
/// Fences, which have no effect: memory is sequentially consistent.
void nothing(Launch &, Warp &, const Instruction &, uint32_t lanes);
/// `mma.sync`: m16n8k16 of bf16 and f16, m16n8k8 of tf32, accumulated in f32.
Handler matrixProductOf(Type operands);

/// `wgmma.mma_async` of bf16 and f16, accumulated in f32. Its mode has a bit
/// for A, and one for B, if they are contiguous along m or n.
void beginProduct(Launch &, Warp &, const Instruction &, uint32_t lanes);
/// `wgmma.fence`.
void fenceAccumulators(Launch &, Warp &, const Instruction &, uint32_t lanes);
/// `wgmma.commit_group`.
void commitProducts(Launch &, Warp &, const Instruction &, uint32_t lanes);
/// `wgmma.wait_group`.
void waitForProducts(Launch &, Warp &, const Instruction &, uint32_t lanes);
/// `fence.proxy.async`.
void fenceProxies(Launch &, Warp &, const Instruction &, uint32_t lanes);
/// The place of an address in the swizzle of 128 bytes.
inline uint64_t swizzled(uint64_t at) { return at ^ (at >> 3 & 0x70); }

/// `mbarrier.init`.
void initializeBarrier(Launch &, Warp &, const Instruction &, uint32_t lanes);
/// `mbarrier.arrive`, and with `.expect_tx`.
void arriveAtBarrier(Launch &, Warp &, const Instruction &, uint32_t lanes);
/// `fence.mbarrier_init`.
void fenceBarriers(Launch &, Warp &, const Instruction &, uint32_t lanes);
/// `cp.async.bulk.tensor`.
void copyBox(Launch &, Warp &, const Instruction &, uint32_t lanes);

} // namespace netc::simulator

#endif // NETC_LIB_SIMULATOR_HANDLERS_H
