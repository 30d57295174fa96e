// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Simulator/Handlers.h"

#include <cmath>
#include <limits>
#include <map>

using namespace netc::simulator;

template <typename T, typename F>
NETC_WIDE static void unary(Launch &, Warp &warp, const Instruction &i,
                            uint32_t lanes) {
  auto *d = Launch::lanes<Lane<T>>(warp, i, 0);
  auto *a = Launch::lanes<Lane<T>>(warp, i, 1);
  forLanes(lanes, [=](int l) { put<T>(d, l, F::of(get<T>(a, l))); });
}
template <typename T, typename F>
NETC_WIDE static void binary(Launch &, Warp &warp, const Instruction &i,
                             uint32_t lanes) {
  auto *d = Launch::lanes<Lane<T>>(warp, i, 0);
  auto *a = Launch::lanes<Lane<T>>(warp, i, 1);
  auto *b = Launch::lanes<Lane<T>>(warp, i, 2);
  forLanes(lanes,
           [=](int l) { put<T>(d, l, F::of(get<T>(a, l), get<T>(b, l))); });
}
template <typename T, typename F>
NETC_WIDE static void ternary(Launch &, Warp &warp, const Instruction &i,
                              uint32_t lanes) {
  auto *d = Launch::lanes<Lane<T>>(warp, i, 0);
  auto *a = Launch::lanes<Lane<T>>(warp, i, 1);
  auto *b = Launch::lanes<Lane<T>>(warp, i, 2);
  auto *c = Launch::lanes<Lane<T>>(warp, i, 3);
  forLanes(lanes, [=](int l) {
    put<T>(d, l, F::of(get<T>(a, l), get<T>(b, l), get<T>(c, l)));
  });
}

/// Arithmetic of two f16 in a register.
template <typename F>
NETC_WIDE static void binaryPair(Launch &, Warp &warp, const Instruction &i,
                                 uint32_t lanes) {
  auto *d = Launch::lanes<uint32_t>(warp, i, 0);
  auto *a = Launch::lanes<uint32_t>(warp, i, 1);
  auto *b = Launch::lanes<uint32_t>(warp, i, 2);
  auto of = [](uint32_t x, uint32_t y) -> uint32_t {
    return F::of(Half(uint16_t(x)), Half(uint16_t(y))).bits;
  };
  forLanes(lanes, [=](int l) {
    d[l] = of(a[l] >> 16, b[l] >> 16) << 16 | of(a[l], b[l]);
  });
}

/// Flips the sign bits of one or two floats of 16 bits, those of NaN too.
template <uint32_t Signs>
NETC_WIDE static void flipSigns(Launch &, Warp &warp, const Instruction &i,
                                uint32_t lanes) {
  auto *d = Launch::lanes<uint32_t>(warp, i, 0);
  auto *a = Launch::lanes<uint32_t>(warp, i, 1);
  forLanes(lanes, [=](int l) { d[l] = a[l] ^ Signs; });
}

namespace {
/// The type to compute in. Integers are unsigned in it, so that they wrap
/// around.
template <typename T>
using Wide = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

#define NETC_BINARY(NAME, EXPRESSION)                                          \
  struct NAME {                                                                \
    template <typename T> static T of(T a, T b) { return T(EXPRESSION); }      \
  };
NETC_BINARY(Add, Wide<T>(a) + Wide<T>(b))
NETC_BINARY(Sub, Wide<T>(a) - Wide<T>(b))
NETC_BINARY(Mul, Wide<T>(a) * Wide<T>(b))
NETC_BINARY(And, a &b)
NETC_BINARY(Or, a | b)
NETC_BINARY(Xor, a ^ b)
#undef NETC_BINARY

struct Div {
  template <typename T> static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) // unspecified in the PTX ISA
        return T(-1);
      if constexpr (std::is_signed_v<T>)
        if (b == T(-1))
          return T(0 - std::make_unsigned_t<T>(a));
    }
    return a / b;
  }
};
struct Rem {
  template <typename T> static T of(T a, T b) {
    if (b == 0)
      return a;
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1))
        return 0;
    return a % b;
  }
};
struct Min {
  template <typename T> static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (a == b)
        return std::signbit(a) ? a : b;
      return std::fmin(a, b);
    } else {
      return b < a ? b : a;
    }
  }
};
struct Max {
  template <typename T> static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (a == b)
        return std::signbit(a) ? b : a;
      return std::fmax(a, b);
    } else {
      return a < b ? b : a;
    }
  }
};
template <typename F> struct WithNan {
  template <typename T> static T of(T a, T b) {
    if constexpr (std::is_same_v<T, Half>)
      return Half(of(float(a), float(b)));
    else
      return std::isnan(a) || std::isnan(b)
                 ? std::numeric_limits<T>::quiet_NaN()
                 : F::of(a, b);
  }
};
/// The sign of the first operand, the magnitude of the second.
struct CopySign {
  template <typename T> static T of(T a, T b) { return std::copysign(b, a); }
};
struct MulHi {
  template <typename T> static T of(T a, T b) {
    if constexpr (sizeof(T) == 8) {
      using Big =
          std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
      return T(Big(a) * Big(b) >> 64);
    } else {
      using Big = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      return T(Big(a) * Big(b) >> (8 * sizeof(T)));
    }
  }
};
struct Fma {
  template <typename T> static T of(T a, T b, T c) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fma(a, b, c);
    else
      return T(uint64_t(a) * uint64_t(b) + uint64_t(c));
  }
};
struct Move {
  template <typename T> static T of(T a) { return a; }
};
struct Neg {
  template <typename T> static T of(T a) {
    if constexpr (std::is_floating_point_v<T>)
      return -a;
    else
      return T(0 - std::make_unsigned_t<T>(a));
  }
};
struct Abs {
  template <typename T> static T of(T a) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(a);
    else
      return a < 0 ? Neg::of(a) : a;
  }
};
struct Not {
  template <typename T> static T of(T a) { return T(~a); }
};
struct Sqrt {
  template <typename T> static T of(T a) { return std::sqrt(a); }
};
struct Rsqrt {
  template <typename T> static T of(T a) { return 1 / std::sqrt(a); }
};
struct Rcp {
  template <typename T> static T of(T a) { return 1 / a; }
};
struct Exp2 {
  template <typename T> static T of(T a) { return std::exp2(a); }
};
/// `.ftz`: subnormal operands and results become zeros.
template <typename F> struct Flushed {
  static float flush(float a) {
    return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a;
  }
  template <typename T> static T of(T a) {
    if constexpr (std::is_same_v<T, float>)
      return flush(F::of(flush(a)));
    else
      return F::of(a);
  }
};
struct Log2 {
  template <typename T> static T of(T a) { return std::log2(a); }
};
struct Reverse {
  template <typename T> static T of(T a) {
    T b = 0;
    for (size_t i = 0; i < 8 * sizeof(T); ++i)
      b = T(b << 1 | (a >> i & 1));
    return b;
  }
};
} // namespace

enum { kIntegers = 1, kFloats = 2, kBoth = 3 };

#define NETC_UNARY(T) Handler(unary<T, F>)
#define NETC_BINARY(T) Handler(binary<T, F>)
#define NETC_TERNARY(T) Handler(ternary<T, F>)
template <typename F, int Kinds> static Handler unaryOf(Type type) {
  if constexpr (std::is_same_v<F, Neg>) {
    if (type.bits == 16 && (type.kind == 'f' || type.kind == 'g'))
      return flipSigns<0x8000>;
    if (type.kind == 'h')
      return flipSigns<0x80008000>;
  }
  NETC_FOR_TYPE(type, (Kinds & kIntegers) != 0, (Kinds & kFloats) != 0,
                NETC_UNARY);
}
template <typename F, int Kinds> static Handler binaryOf(Type type) {
  if constexpr (std::is_same_v<F, Add> || std::is_same_v<F, Sub> ||
                std::is_same_v<F, Mul> || std::is_same_v<F, WithNan<Min>> ||
                std::is_same_v<F, WithNan<Max>>) {
    if (type.kind == 'f' && type.bits == 16)
      return binary<Half, F>;
    if (type.kind == 'h')
      return binaryPair<F>;
  }
  NETC_FOR_TYPE(type, (Kinds & kIntegers) != 0, (Kinds & kFloats) != 0,
                NETC_BINARY);
}
template <typename F, int Kinds> static Handler ternaryOf(Type type) {
  NETC_FOR_TYPE(type, (Kinds & kIntegers) != 0, (Kinds & kFloats) != 0,
                NETC_TERNARY);
}
#undef NETC_UNARY
#undef NETC_BINARY
#undef NETC_TERNARY

Arithmetic netc::simulator::arithmeticNamed(const std::string &name,
                                            Type type) {
  struct Row {
    Handler (*of)(Type);
    int operands;
  };
  static const std::map<std::string, Row> rows = {
      {"add", {binaryOf<Add, kBoth>, 2}},
      {"sub", {binaryOf<Sub, kBoth>, 2}},
      {"mul", {binaryOf<Mul, kBoth>, 2}},
      {"mul.hi", {binaryOf<MulHi, kIntegers>, 2}},
      {"fma", {ternaryOf<Fma, kBoth>, 3}},
      {"mad", {ternaryOf<Fma, kBoth>, 3}},
      {"div", {binaryOf<Div, kBoth>, 2}},
      {"rem", {binaryOf<Rem, kIntegers>, 2}},
      {"min", {binaryOf<Min, kBoth>, 2}},
      {"max", {binaryOf<Max, kBoth>, 2}},
      {"min.NaN", {binaryOf<WithNan<Min>, kFloats>, 2}},
      {"max.NaN", {binaryOf<WithNan<Max>, kFloats>, 2}},
      {"neg", {unaryOf<Neg, kBoth>, 1}},
      {"abs", {unaryOf<Abs, kBoth>, 1}},
      {"sqrt", {unaryOf<Sqrt, kFloats>, 1}},
      {"rsqrt", {unaryOf<Rsqrt, kFloats>, 1}},
      {"rcp", {unaryOf<Rcp, kFloats>, 1}},
      {"rcp.ftz", {unaryOf<Flushed<Rcp>, kFloats>, 1}},
      {"ex2", {unaryOf<Exp2, kFloats>, 1}},
      {"ex2.ftz", {unaryOf<Flushed<Exp2>, kFloats>, 1}},
      {"lg2", {unaryOf<Log2, kFloats>, 1}},
      {"lg2.ftz", {unaryOf<Flushed<Log2>, kFloats>, 1}},
      {"copysign", {binaryOf<CopySign, kFloats>, 2}},
      {"and", {binaryOf<And, kIntegers>, 2}},
      {"or", {binaryOf<Or, kIntegers>, 2}},
      {"xor", {binaryOf<Xor, kIntegers>, 2}},
      {"not", {unaryOf<Not, kIntegers>, 1}},
      {"brev", {unaryOf<Reverse, kIntegers>, 1}}};
  auto found = rows.find(name);
  if (found == rows.end())
    return {};
  return {found->second.of(type), found->second.operands};
}

template <typename T, bool Adds>
NETC_WIDE static void wide(Launch &, Warp &warp, const Instruction &i,
                           uint32_t lanes) {
  using R = std::conditional_t<
      sizeof(T) == 4,
      std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
      std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>;
  auto *d = Launch::lanes<Lane<R>>(warp, i, 0);
  auto *a = Launch::lanes<Lane<T>>(warp, i, 1);
  auto *b = Launch::lanes<Lane<T>>(warp, i, 2);
  auto *c = Adds ? Launch::lanes<Lane<R>>(warp, i, 3) : d;
  forLanes(lanes, [=](int l) {
    R product = R(get<T>(a, l)) * R(get<T>(b, l));
    put<R>(d, l, Adds ? R(uint64_t(product) + c[l]) : product);
  });
}

Handler netc::simulator::wideProduct(Type type, bool adds) {
  bool isSigned = type.kind == 's';
  if (type.bits == 32)
    return adds ? (isSigned ? wide<int32_t, true> : wide<uint32_t, true>)
                : (isSigned ? wide<int32_t, false> : wide<uint32_t, false>);
  if (type.bits == 16)
    return adds ? (isSigned ? wide<int16_t, true> : wide<uint16_t, true>)
                : (isSigned ? wide<int16_t, false> : wide<uint16_t, false>);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

namespace {
#define NETC_COMPARISON(NAME, EXPRESSION)                                      \
  struct NAME {                                                                \
    template <typename T> static bool of(T a, T b) { return EXPRESSION; }      \
  };
NETC_COMPARISON(Equal, a == b)
NETC_COMPARISON(NotEqual, (a < b) | (a > b))
NETC_COMPARISON(Less, a < b)
NETC_COMPARISON(LessEqual, a <= b)
NETC_COMPARISON(Greater, a > b)
NETC_COMPARISON(GreaterEqual, a >= b)
NETC_COMPARISON(Ordered, (a == a) & (b == b))
#undef NETC_COMPARISON
/// Also true for unordered operands, of which one is NaN.
template <typename Other> struct Negated {
  template <typename T> static bool of(T a, T b) { return !Other::of(a, b); }
};
} // namespace

template <typename T, typename F>
NETC_WIDE static void compare(Launch &, Warp &warp, const Instruction &i,
                              uint32_t lanes) {
  auto *d = Launch::lanes<uint32_t>(warp, i, 0);
  auto *a = Launch::lanes<Lane<T>>(warp, i, 1);
  auto *b = Launch::lanes<Lane<T>>(warp, i, 2);
  forLanes(lanes,
           [=](int l) { d[l] = F::of(get<T>(a, l), get<T>(b, l)) ? ~0u : 0u; });
}
/// The halves of both operands: two predicates.
template <typename F>
NETC_WIDE static void comparePairs(Launch &, Warp &warp, const Instruction &i,
                                   uint32_t lanes) {
  auto *low = Launch::lanes<uint32_t>(warp, i, 0);
  auto *high = Launch::lanes<uint32_t>(warp, i, 1);
  auto *a = Launch::lanes<uint32_t>(warp, i, 2);
  auto *b = Launch::lanes<uint32_t>(warp, i, 3);
  auto half = [](uint32_t bits) { return get<Half>(&bits, 0); };
  forLanes(lanes, [=](int l) {
    low[l] = F::of(half(a[l]), half(b[l])) ? ~0u : 0u;
    high[l] = F::of(half(a[l] >> 16), half(b[l] >> 16)) ? ~0u : 0u;
  });
}
template <typename F, int Kinds> static Handler compareOf(Type type) {
  if constexpr ((Kinds & kFloats) != 0) {
    if (type.kind == 'f' && type.bits == 16)
      return compare<Half, F>;
    if (type.kind == 'h')
      return comparePairs<F>;
  }
#define NETC_COMPARE(T) Handler(compare<T, F>)
  NETC_FOR_TYPE(type, (Kinds & kIntegers) != 0, (Kinds & kFloats) != 0,
                NETC_COMPARE);
#undef NETC_COMPARE
}

Handler netc::simulator::comparisonNamed(const std::string &name, Type type) {
  static const std::map<std::string, Handler (*)(Type)> rows = {
      {"eq", compareOf<Equal, kBoth>},
      {"ne", compareOf<NotEqual, kBoth>},
      {"lt", compareOf<Less, kBoth>},
      {"le", compareOf<LessEqual, kBoth>},
      {"gt", compareOf<Greater, kBoth>},
      {"ge", compareOf<GreaterEqual, kBoth>},
      {"lo", compareOf<Less, kIntegers>},
      {"ls", compareOf<LessEqual, kIntegers>},
      {"hi", compareOf<Greater, kIntegers>},
      {"hs", compareOf<GreaterEqual, kIntegers>},
      {"equ", compareOf<Negated<NotEqual>, kFloats>},
      {"neu", compareOf<Negated<Equal>, kFloats>},
      {"ltu", compareOf<Negated<GreaterEqual>, kFloats>},
      {"leu", compareOf<Negated<Greater>, kFloats>},
      {"gtu", compareOf<Negated<LessEqual>, kFloats>},
      {"geu", compareOf<Negated<Less>, kFloats>},
      {"num", compareOf<Ordered, kFloats>},
      {"nan", compareOf<Negated<Ordered>, kFloats>}};
  auto found = rows.find(name);
  return found == rows.end() ? nullptr : found->second(type);
}
