// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What instructions do, by the PTX ISA manual, 8.0, chapter 9. Registers have
// 64 bits of each lane; what a type has fewer of are the lowest, others are
// zero.

#include "lib/Simulator/BlockRun.h"

#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

using namespace netc::simulator;

template <typename T> static T as(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <typename T> static uint64_t bitsOf(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// Calls `body` for each lane that is on.
template <typename Body> static void forLanes(uint32_t lanes, Body body) {
  if (lanes == ~0u) {
    for (int lane = 0; lane < kLanes; ++lane)
      body(lane);
    return;
  }
  for (int lane = 0; lane < kLanes; ++lane)
    if (lanes >> lane & 1)
      body(lane);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

template <typename T, typename F>
static void unary(BlockRun &run, Warp &warp, const Instruction &i,
                  uint32_t lanes) {
  uint64_t *d = run.result(warp, i);
  const uint64_t *a = run.value(warp, i, 1);
  forLanes(lanes, [&](int l) { d[l] = bitsOf<T>(F::of(as<T>(a[l]))); });
}
template <typename T, typename F>
static void binary(BlockRun &run, Warp &warp, const Instruction &i,
                   uint32_t lanes) {
  uint64_t *d = run.result(warp, i);
  const uint64_t *a = run.value(warp, i, 1), *b = run.value(warp, i, 2);
  forLanes(lanes,
           [&](int l) { d[l] = bitsOf<T>(F::of(as<T>(a[l]), as<T>(b[l]))); });
}
template <typename T, typename F>
static void ternary(BlockRun &run, Warp &warp, const Instruction &i,
                    uint32_t lanes) {
  uint64_t *d = run.result(warp, i);
  const uint64_t *a = run.value(warp, i, 1), *b = run.value(warp, i, 2),
                 *c = run.value(warp, i, 3);
  forLanes(lanes, [&](int l) {
    d[l] = bitsOf<T>(F::of(as<T>(a[l]), as<T>(b[l]), as<T>(c[l])));
  });
}

namespace {
/// Sums and products of integers wrap around.
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
      if (b == 0) // the manual leaves it open
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
    return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN()
                                          : F::of(a, b);
  }
};
/// The sign of the first, the size of the second.
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
struct Log2 {
  template <typename T> static T of(T a) { return std::log2(a); }
};
struct PopC {
  template <typename T> static T of(T a) {
    return T(__builtin_popcountll(uint64_t(a)));
  }
};
struct Clz {
  template <typename T> static T of(T a) {
    return a ? T(__builtin_clzll(uint64_t(a)) - (64 - 8 * int(sizeof(T))))
             : T(8 * sizeof(T));
  }
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

/// The instance of `run` for a type, of those that `Allowed` lets pass:
/// `i`ntegers, `f`loats.
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
      if (type_.kind == 'f')                                                   \
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

enum { kIntegers = 1, kFloats = 2, kBoth = 3 };

template <typename F, int Kinds> static Handler unaryOf(Type type) {
#define NETC_INSTANCE(T) Handler(unary<T, F>)
  NETC_FOR_TYPE(type, (Kinds & kIntegers) != 0, (Kinds & kFloats) != 0,
                NETC_INSTANCE);
#undef NETC_INSTANCE
}
template <typename F, int Kinds> static Handler binaryOf(Type type) {
#define NETC_INSTANCE(T) Handler(binary<T, F>)
  NETC_FOR_TYPE(type, (Kinds & kIntegers) != 0, (Kinds & kFloats) != 0,
                NETC_INSTANCE);
#undef NETC_INSTANCE
}
template <typename F, int Kinds> static Handler ternaryOf(Type type) {
#define NETC_INSTANCE(T) Handler(ternary<T, F>)
  NETC_FOR_TYPE(type, (Kinds & kIntegers) != 0, (Kinds & kFloats) != 0,
                NETC_INSTANCE);
#undef NETC_INSTANCE
}

/// `mul.wide` and `mad.wide`: twice as many bits as the operands.
template <typename T, bool Adds>
static void wide(BlockRun &run, Warp &warp, const Instruction &i,
                 uint32_t lanes) {
  using R = std::conditional_t<
      sizeof(T) == 4,
      std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
      std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>;
  uint64_t *d = run.result(warp, i);
  const uint64_t *a = run.value(warp, i, 1), *b = run.value(warp, i, 2);
  const uint64_t *c = Adds ? run.value(warp, i, 3) : a;
  forLanes(lanes, [&](int l) {
    R product = R(as<T>(a[l])) * R(as<T>(b[l]));
    d[l] = bitsOf<R>(Adds ? R(uint64_t(product) + c[l]) : product);
  });
}

/// Shifts by more than there are bits leave none.
template <typename T, bool Left>
static void shift(BlockRun &run, Warp &warp, const Instruction &i,
                  uint32_t lanes) {
  constexpr uint32_t bits = 8 * sizeof(T);
  uint64_t *d = run.result(warp, i);
  const uint64_t *a = run.value(warp, i, 1), *b = run.value(warp, i, 2);
  forLanes(lanes, [&](int l) {
    uint32_t by = uint32_t(b[l]);
    T value = as<T>(a[l]);
    if (Left)
      value = by < bits ? T(uint64_t(value) << by) : T(0);
    else if (by < bits)
      value = T(value >> by);
    else
      value = value < 0 ? T(-1) : T(0);
    d[l] = bitsOf<T>(value);
  });
}

/// `shf.l` and `shf.r`: 32 of the 64 bits of two registers.
template <bool Left, bool Wraps>
static void funnel(BlockRun &run, Warp &warp, const Instruction &i,
                   uint32_t lanes) {
  uint64_t *d = run.result(warp, i);
  const uint64_t *a = run.value(warp, i, 1), *b = run.value(warp, i, 2),
                 *c = run.value(warp, i, 3);
  forLanes(lanes, [&](int l) {
    uint32_t by = uint32_t(c[l]);
    by = Wraps ? by & 31 : std::min(by, 32u);
    uint64_t both = b[l] << 32 | uint32_t(a[l]);
    d[l] = uint32_t(Left ? both << by >> 32 : both >> by);
    if (Left && by == 32)
      d[l] = uint32_t(a[l]);
  });
}

/// Bytes chosen from those of two registers.
static void permute(BlockRun &run, Warp &warp, const Instruction &i,
                    uint32_t lanes) {
  uint64_t *d = run.result(warp, i);
  const uint64_t *a = run.value(warp, i, 1), *b = run.value(warp, i, 2),
                 *c = run.value(warp, i, 3);
  forLanes(lanes, [&](int l) {
    uint64_t both = b[l] << 32 | uint32_t(a[l]), chosen = 0;
    for (int byte = 0; byte < 4; ++byte) {
      uint32_t which = uint32_t(c[l]) >> (4 * byte) & 15;
      uint8_t value = uint8_t(both >> (8 * (which & 7)));
      if (which & 8)
        value = value & 0x80 ? 0xff : 0;
      chosen |= uint64_t(value) << (8 * byte);
    }
    d[l] = chosen;
  });
}

template <typename T>
static void extractBits(BlockRun &run, Warp &warp, const Instruction &i,
                        uint32_t lanes) {
  constexpr uint32_t bits = 8 * sizeof(T);
  uint64_t *d = run.result(warp, i);
  const uint64_t *a = run.value(warp, i, 1), *b = run.value(warp, i, 2),
                 *c = run.value(warp, i, 3);
  forLanes(lanes, [&](int l) {
    uint32_t at = b[l] & 255, count = c[l] & 255;
    T value = as<T>(a[l]), field = 0;
    uint32_t last = std::min(at + count - 1, bits - 1);
    bool sign = std::is_signed_v<T> && count && (value >> last & 1);
    for (uint32_t k = 0; k < bits; ++k) {
      bool bit = k < count && at + k < bits ? (value >> (at + k) & 1) : sign;
      field = T(field | T(std::make_unsigned_t<T>(bit) << k));
    }
    d[l] = bitsOf<T>(field);
  });
}

/// Each bit of the result by those of three operands, as a table of 8 says.
static void logic(BlockRun &run, Warp &warp, const Instruction &i,
                  uint32_t lanes) {
  uint64_t *d = run.result(warp, i);
  const uint64_t *a = run.value(warp, i, 1), *b = run.value(warp, i, 2),
                 *c = run.value(warp, i, 3), *t = run.value(warp, i, 4);
  forLanes(lanes, [&](int l) {
    uint32_t result = 0;
    for (int row = 0; row < 8; ++row)
      if (t[l] >> row & 1)
        result |= uint32_t((row & 4 ? a[l] : ~a[l]) & (row & 2 ? b[l] : ~b[l]) &
                           (row & 1 ? c[l] : ~c[l]));
    d[l] = result;
  });
}

//===----------------------------------------------------------------------===//
// Comparing and choosing
//===----------------------------------------------------------------------===//

static const char *const comparisons[] = {
    "eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
    "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

template <typename T> static bool compare(uint8_t mode, T a, T b) {
  bool unordered = a != a || b != b;
  switch (mode) {
  case 0:
    return a == b;
  case 1:
    return !unordered && a != b;
  case 2:
  case 6:
    return a < b;
  case 3:
  case 7:
    return a <= b;
  case 4:
  case 8:
    return a > b;
  case 5:
  case 9:
    return a >= b;
  case 10:
    return unordered || a == b;
  case 11:
    return unordered || a != b;
  case 12:
    return unordered || a < b;
  case 13:
    return unordered || a <= b;
  case 14:
    return unordered || a > b;
  case 15:
    return unordered || a >= b;
  case 16:
    return !unordered;
  default:
    return unordered;
  }
}

template <typename T>
static void setPredicate(BlockRun &run, Warp &warp, const Instruction &i,
                         uint32_t lanes) {
  uint64_t *d = run.result(warp, i);
  const uint64_t *a = run.value(warp, i, 1), *b = run.value(warp, i, 2);
  forLanes(lanes,
           [&](int l) { d[l] = compare<T>(i.mode, as<T>(a[l]), as<T>(b[l])); });
}
static Handler setPredicateOf(Type type) {
#define NETC_INSTANCE(T) Handler(setPredicate<T>)
  NETC_FOR_TYPE(type, true, true, NETC_INSTANCE);
#undef NETC_INSTANCE
}

static void choose(BlockRun &run, Warp &warp, const Instruction &i,
                   uint32_t lanes) {
  uint64_t *d = run.result(warp, i);
  const uint64_t *a = run.value(warp, i, 1), *b = run.value(warp, i, 2),
                 *p = run.value(warp, i, 3);
  forLanes(lanes, [&](int l) { d[l] = p[l] ? a[l] : b[l]; });
}

static void copy(BlockRun &run, Warp &warp, const Instruction &i,
                 uint32_t lanes) {
  uint64_t *d = run.result(warp, i);
  const uint64_t *a = run.value(warp, i, 1);
  forLanes(lanes, [&](int l) { d[l] = a[l]; });
}
static void notPredicate(BlockRun &run, Warp &warp, const Instruction &i,
                         uint32_t lanes) {
  uint64_t *d = run.result(warp, i);
  const uint64_t *a = run.value(warp, i, 1);
  forLanes(lanes, [&](int l) { d[l] = !a[l]; });
}

/// One register from several of fewer bits, or several from one.
static void pack(BlockRun &run, Warp &warp, const Instruction &i,
                 uint32_t lanes) {
  uint64_t packed[kLanes] = {};
  uint32_t bits = i.type.bits / i.width;
  uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  for (uint32_t part = 0; part < i.width; ++part) {
    const uint64_t *a = run.value(warp, i, 1 + part);
    forLanes(lanes,
             [&](int l) { packed[l] |= (a[l] & mask) << (part * bits); });
  }
  uint64_t *d = run.result(warp, i);
  forLanes(lanes, [&](int l) { d[l] = packed[l]; });
}
static void unpack(BlockRun &run, Warp &warp, const Instruction &i,
                   uint32_t lanes) {
  uint64_t whole[kLanes];
  std::memcpy(whole, run.value(warp, i, i.width), sizeof whole);
  uint32_t bits = i.type.bits / i.width;
  uint64_t mask = (uint64_t(1) << bits) - 1;
  for (uint32_t part = 0; part < i.width; ++part) {
    uint64_t *d = run.result(warp, i, part);
    forLanes(lanes, [&](int l) { d[l] = whole[l] >> (part * bits) & mask; });
  }
}

//===----------------------------------------------------------------------===//
// Converting
//===----------------------------------------------------------------------===//

enum Rounding : uint8_t { Nearest, Zero, Down, Up, Whole = 4 };

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

/// Numbers that the result does not hold become the nearest that it holds.
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
static void convertLanes(BlockRun &run, Warp &warp, const Instruction &i,
                         uint32_t lanes) {
  uint64_t *d = run.result(warp, i);
  const uint64_t *a = run.value(warp, i, 1);
  forLanes(lanes, [&](int l) {
    d[l] = bitsOf<To>(convert<To>(as<From>(a[l]), i.mode));
  });
}
template <typename From> static Handler convertTo(Type type) {
#define NETC_INSTANCE(T) Handler(convertLanes<T, From>)
  NETC_FOR_TYPE(type, true, true, NETC_INSTANCE);
#undef NETC_INSTANCE
}
static Handler convertOf(Type to, Type from) {
#define NETC_INSTANCE(T) convertTo<T>(to)
  NETC_FOR_TYPE(from, true, true, NETC_INSTANCE);
#undef NETC_INSTANCE
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Where each lane goes. Returns how many bytes it accesses.
static uint32_t addressesOf(BlockRun &run, Warp &warp, const Instruction &i,
                            uint32_t lanes, uint64_t *addresses) {
  const uint64_t *base = run.value(warp, i, i.address);
  uint32_t bytes = i.type.bytes() * i.width;
  forLanes(lanes, [&](int l) { addresses[l] = base[l] + uint64_t(i.offset); });
  run.countAccess(i, addresses, lanes, bytes);
  return bytes;
}

/// The bits of an element, as a register holds them: of signed ones, narrow
/// registers hold the sign.
static uint64_t loadElement(const char *from, Type type) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, type.bytes());
  return bits;
}

static void load(BlockRun &run, Warp &warp, const Instruction &i,
                 uint32_t lanes) {
  uint64_t addresses[kLanes];
  uint32_t bytes = addressesOf(run, warp, i, lanes, addresses);
  forLanes(lanes, [&](int l) {
    const char *from = run.access(warp, i, l, addresses[l], bytes, false);
    for (uint32_t e = 0; e < i.width; ++e)
      run.result(warp, i, e)[l] =
          from ? loadElement(from + e * i.type.bytes(), i.type) : 0;
  });
}
/// The same, where a register of 16 or 32 bits gets a signed byte or half.
static void loadSigned(BlockRun &run, Warp &warp, const Instruction &i,
                       uint32_t lanes) {
  load(run, warp, i, lanes);
  for (uint32_t e = 0; e < i.width; ++e) {
    uint64_t *d = run.result(warp, i, e);
    forLanes(lanes, [&](int l) {
      d[l] = i.type.bits == 8    ? uint64_t(int64_t(int8_t(d[l])))
             : i.type.bits == 16 ? uint64_t(int64_t(int16_t(d[l])))
                                 : d[l];
    });
  }
}
static void store(BlockRun &run, Warp &warp, const Instruction &i,
                  uint32_t lanes) {
  uint64_t addresses[kLanes];
  uint32_t bytes = addressesOf(run, warp, i, lanes, addresses);
  forLanes(lanes, [&](int l) {
    char *to = run.access(warp, i, l, addresses[l], bytes, true);
    for (uint32_t e = 0; to && e < i.width; ++e)
      std::memcpy(to + e * i.type.bytes(), &run.value(warp, i, 1 + e)[l],
                  i.type.bytes());
  });
}
static void loadParameter(BlockRun &run, Warp &warp, const Instruction &i,
                          uint32_t lanes) {
  for (uint32_t e = 0; e < i.width; ++e) {
    uint64_t bits = loadElement(
        run.parameter(uint64_t(i.offset) + e * i.type.bytes()), i.type);
    uint64_t *d = run.result(warp, i, e);
    forLanes(lanes, [&](int l) { d[l] = bits; });
  }
}

/// Lanes one after the other.
template <typename T, typename F>
static void atomic(BlockRun &run, Warp &warp, const Instruction &i,
                   uint32_t lanes) {
  uint64_t addresses[kLanes];
  uint32_t bytes = addressesOf(run, warp, i, lanes, addresses);
  const uint64_t *b = run.value(warp, i, i.address + 1u);
  forLanes(lanes, [&](int l) {
    char *at =
        run.access(warp, i, l, addresses[l], bytes, true, /*isAtomic=*/true);
    if (!at)
      return;
    T old;
    std::memcpy(&old, at, sizeof old);
    T updated = F::of(old, as<T>(b[l]));
    std::memcpy(at, &updated, sizeof updated);
    if (i.address)
      run.result(warp, i)[l] = bitsOf<T>(old);
  });
}
template <typename F, int Kinds> static Handler atomicOf(Type type) {
#define NETC_INSTANCE(T) Handler(atomic<T, F>)
  NETC_FOR_TYPE(type, (Kinds & kIntegers) != 0, (Kinds & kFloats) != 0,
                NETC_INSTANCE);
#undef NETC_INSTANCE
}

template <bool FromSpace>
static void convertAddress(BlockRun &run, Warp &warp, const Instruction &i,
                           uint32_t lanes) {
  uint64_t window = i.space == Space::Shared  ? kSharedWindow
                    : i.space == Space::Local ? kLocalWindow
                                              : 0;
  uint64_t *d = run.result(warp, i);
  const uint64_t *a = run.value(warp, i, 1);
  forLanes(lanes,
           [&](int l) { d[l] = FromSpace ? a[l] + window : a[l] - window; });
}

static void nothing(BlockRun &, Warp &, const Instruction &, uint32_t) {}

//===----------------------------------------------------------------------===//
// Lanes of a warp
//===----------------------------------------------------------------------===//

/// `shfl.sync`: `mode` is the position of `up`, `down`, `bfly`, `idx`.
static void shuffle(BlockRun &run, Warp &warp, const Instruction &i,
                    uint32_t lanes) {
  uint64_t from[kLanes];
  std::memcpy(from, run.value(warp, i, 1), sizeof from);
  const uint64_t *b = run.value(warp, i, 2), *c = run.value(warp, i, 3),
                 *members = run.value(warp, i, 4);
  uint64_t *d = run.result(warp, i);
  forLanes(lanes, [&](int l) {
    if (uint32_t(members[l]) & ~lanes)
      run.report(i, "divergent shuffle: not all of its lanes reach it");
    int by = int(b[l] & 31), clamp = int(c[l] & 31),
        segment = int(c[l] >> 8 & 31);
    int low = l & segment, high = low | (clamp & ~segment), at = l;
    bool isInside = true;
    switch (i.mode) {
    case 0:
      at = l - by, isInside = at >= high;
      break;
    case 1:
      at = l + by, isInside = at <= high;
      break;
    case 2:
      at = l ^ by, isInside = at <= high;
      break;
    default:
      at = low | (by & ~segment), isInside = at <= high;
    }
    d[l] = from[isInside ? at : l];
  });
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

namespace {
class Decoder {
public:
  Decoder(const Statement &statement, Kernel &kernel, Names &names)
      : s(statement), kernel(kernel), names(names) {}

  Instruction decode() {
    i.line = s.line;
    i.text = s.text;
    if (!s.guard.empty()) {
      auto guard = names.registers.find(s.guard);
      if (guard == names.registers.end())
        fail("`" + s.guard + "` is no register");
      i.guard = int32_t(guard->second);
      i.isNegated = s.isNegated;
    }
    for (size_t part = 1; part < s.opcode.size(); ++part)
      if (Type type = typeNamed(s.opcode[part]); type.kind)
        (i.type.kind ? i.from : i.type) = type;
    choose();
    if (!i.run && i.control == Instruction::None)
      fail("the simulator does not know this instruction");
    return std::move(i);
  }

private:
  [[noreturn]] void fail(const std::string &why) const {
    refuse(s.line, s.text, why);
  }
  bool has(const char *suffix) const {
    for (size_t part = 1; part < s.opcode.size(); ++part)
      if (s.opcode[part] == suffix)
        return true;
    return false;
  }
  bool is(const char *name) const { return s.opcode[0] == name; }

  //===-- Operands --------------------------------------------------------===//

  Operand constant(uint64_t bits) {
    kernel.constants.insert(kernel.constants.end(), kLanes, bits);
    return {uint32_t(kernel.constants.size() / kLanes - 1), true};
  }

  const std::string &peek() const {
    static const std::string none;
    return at < s.operands.size() ? s.operands[at].text : none;
  }
  std::string take() {
    if (at >= s.operands.size())
      fail("an operand is missing");
    return s.operands[at++].text;
  }
  bool takeIf(const char *text) {
    bool isThere = peek() == text;
    at += isThere;
    return isThere;
  }

  uint64_t number(const std::string &text, bool isNegative) const {
    if (text.size() == 10 && (text.compare(0, 2, "0f") == 0))
      return std::strtoull(text.c_str() + 2, nullptr, 16);
    if (text.size() == 18 && (text.compare(0, 2, "0d") == 0))
      return std::strtoull(text.c_str() + 2, nullptr, 16);
    char *end;
    uint64_t value = std::strtoull(text.c_str(), &end, 0);
    if (end == text.c_str() || (*end && std::strcmp(end, "U")))
      fail("`" + text + "` is no operand");
    return isNegative ? 0 - value : value;
  }

  static const Special *specialNamed(const std::string &name) {
    static const std::map<std::string, Special> specials = {
        {"%tid.x", Special::TidX},       {"%tid.y", Special::TidY},
        {"%tid.z", Special::TidZ},       {"%ntid.x", Special::NtidX},
        {"%ntid.y", Special::NtidY},     {"%ntid.z", Special::NtidZ},
        {"%ctaid.x", Special::CtaidX},   {"%ctaid.y", Special::CtaidY},
        {"%ctaid.z", Special::CtaidZ},   {"%nctaid.x", Special::NctaidX},
        {"%nctaid.y", Special::NctaidY}, {"%nctaid.z", Special::NctaidZ},
        {"%laneid", Special::LaneId},    {"%warpid", Special::WarpId}};
    auto found = specials.find(name);
    return found == specials.end() ? nullptr : &found->second;
  }

  Operand operand() {
    bool isNegative = takeIf("-");
    std::string text = take();
    if (auto found = names.registers.find(text); found != names.registers.end())
      return {found->second, false};
    if (const Special *special = specialNamed(text)) {
      names.registers[text] = kernel.registers;
      kernel.specials.emplace_back(*special, kernel.registers);
      return {kernel.registers++, false};
    }
    if (auto found = names.shared.find(text); found != names.shared.end())
      return constant(found->second + offset());
    if (auto found = names.local.find(text); found != names.local.end())
      return constant(found->second + offset());
    if (auto found = names.globals.find(text); found != names.globals.end())
      return constant(found->second + offset());
    if (text == "WARP_SZ")
      return constant(kLanes);
    return constant(number(text, isNegative));
  }

  uint64_t offset() {
    if (!takeIf("+"))
      return 0;
    bool isNegative = takeIf("-");
    return number(take(), isNegative);
  }

  /// One, or several in braces.
  void value() {
    if (!takeIf("{")) {
      i.operands.push_back(operand());
      return;
    }
    i.width = 0;
    do {
      i.operands.push_back(operand());
      ++i.width;
    } while (takeIf(","));
    if (!takeIf("}"))
      fail("`}` is missing");
  }
  void comma() {
    if (!takeIf(","))
      fail("an operand is missing");
  }
  void values(int count) {
    for (int k = 0; k < count; ++k) {
      if (k)
        comma();
      value();
    }
    end();
  }
  void end() {
    if (at != s.operands.size())
      fail("there are more operands than it has");
  }

  void address() {
    if (!takeIf("["))
      fail("an address is missing");
    i.address = uint8_t(i.operands.size());
    if (i.space == Space::Parameter) {
      auto found = names.parameters.find(take());
      if (found == names.parameters.end())
        fail("no such parameter");
      i.offset = int64_t(found->second);
      i.operands.push_back(constant(0));
    } else {
      i.operands.push_back(operand());
    }
    i.offset += int64_t(offset());
    if (!takeIf("]"))
      fail("`]` is missing");
  }

  void findSpace() {
    i.space = has("global") || has("const")         ? Space::Global
              : has("shared") || has("shared::cta") ? Space::Shared
              : has("local")                        ? Space::Local
              : has("param")                        ? Space::Parameter
                                                    : Space::Generic;
  }

  //===-- Instructions ----------------------------------------------------===//

  void simple(Handler run, int operands) {
    i.run = run;
    if (run)
      values(operands);
  }

  /// Unsigned, where `b32` says nothing of signs.
  void choose() {
    bool isFloat = i.type.isFloat();
    // What is flushed to zero, or saturated, is not known here.
    if (has("ftz") || has("sat"))
      return;
    if (is("bra")) {
      i.control = Instruction::Branch;
      auto label = names.labels.find(take());
      if (label == names.labels.end())
        fail("no such label");
      i.target = label->second;
      return end();
    }
    if (is("ret") || is("exit")) {
      i.control = Instruction::Return;
      return end();
    }
    if (is("bar") || is("barrier")) {
      if (!has("sync") || has("warp"))
        return;
      // Others than the whole block at barrier 0 are not known.
      if (take() != "0")
        return;
      i.control = Instruction::Barrier;
      return end();
    }
    if (is("ld") || is("ldu")) {
      findSpace();
      value();
      comma();
      address();
      end();
      i.run = i.space == Space::Parameter ? loadParameter
              : i.type.kind == 's'        ? loadSigned
                                          : load;
      return;
    }
    if (is("st")) {
      findSpace();
      if (i.space == Space::Parameter)
        return;
      address();
      comma();
      value();
      end();
      i.run = store;
      return;
    }
    if (is("atom") || is("red"))
      return chooseAtomic();
    if (is("cvta")) {
      findSpace();
      return simple(has("to") ? convertAddress<false> : convertAddress<true>,
                    2);
    }
    if (is("mov"))
      return chooseMove();
    if (is("cvt"))
      return chooseConversion();
    if (is("setp"))
      return chooseComparison();
    if (is("selp"))
      return simple(::choose, 4);
    if (is("membar") || is("fence"))
      return simple(nothing, 0);
    if (is("shfl") && has("sync")) {
      i.mode = has("up") ? 0 : has("down") ? 1 : has("bfly") ? 2 : 3;
      return simple(shuffle, 5);
    }
    if (is("not"))
      return simple(i.type.kind == 'p' ? notPredicate
                                       : unaryOf<Not, kIntegers>(i.type),
                    2);
    // The simulator rounds to the nearest.
    if (isFloat && (has("rz") || has("rm") || has("rp")))
      return;
    if (is("add") || is("sub") || is("mul") || is("fma") || is("mad"))
      return chooseSum();
    chooseOther();
  }

  void chooseSum() {
    bool isFloat = i.type.isFloat();
    i.flop = isFloat ? (is("fma") || is("mad") ? 2 : 1) : 0;
    if (has("cc"))
      return;
    if (is("add"))
      return simple(binaryOf<Add, kBoth>(i.type), 3);
    if (is("sub"))
      return simple(binaryOf<Sub, kBoth>(i.type), 3);
    bool isMad = is("mad") || is("fma");
    if (has("wide")) {
      bool isSigned = i.type.kind == 's';
      if (i.type.bits == 32)
        return simple(
            isMad ? (isSigned ? wide<int32_t, true> : wide<uint32_t, true>)
                  : (isSigned ? wide<int32_t, false> : wide<uint32_t, false>),
            isMad ? 4 : 3);
      if (i.type.bits == 16)
        return simple(
            isMad ? (isSigned ? wide<int16_t, true> : wide<uint16_t, true>)
                  : (isSigned ? wide<int16_t, false> : wide<uint16_t, false>),
            isMad ? 4 : 3);
      return;
    }
    if (has("hi"))
      return isMad ? void() : simple(binaryOf<MulHi, kIntegers>(i.type), 3);
    if (isMad)
      return simple(ternaryOf<Fma, kBoth>(i.type), 4);
    simple(binaryOf<Mul, kBoth>(i.type), 3);
  }

  void chooseOther() {
    Type bits = {'u', i.type.bits};
    if (is("div"))
      return simple(binaryOf<Div, kBoth>(i.type), 3);
    if (is("rem"))
      return simple(binaryOf<Rem, kIntegers>(i.type), 3);
    if (is("min"))
      return simple(has("NaN") ? binaryOf<WithNan<Min>, kFloats>(i.type)
                               : binaryOf<Min, kBoth>(i.type),
                    3);
    if (is("max"))
      return simple(has("NaN") ? binaryOf<WithNan<Max>, kFloats>(i.type)
                               : binaryOf<Max, kBoth>(i.type),
                    3);
    if (is("neg"))
      return simple(unaryOf<Neg, kBoth>(i.type), 2);
    if (is("abs"))
      return simple(unaryOf<Abs, kBoth>(i.type), 2);
    if (is("sqrt"))
      return simple(unaryOf<Sqrt, kFloats>(i.type), 2);
    if (is("rsqrt"))
      return simple(unaryOf<Rsqrt, kFloats>(i.type), 2);
    if (is("rcp"))
      return simple(unaryOf<Rcp, kFloats>(i.type), 2);
    if (is("ex2"))
      return simple(unaryOf<Exp2, kFloats>(i.type), 2);
    if (is("lg2"))
      return simple(unaryOf<Log2, kFloats>(i.type), 2);
    if (is("copysign"))
      return simple(binaryOf<CopySign, kFloats>(i.type), 3);
    if (is("and"))
      return simple(binaryOf<And, kIntegers>(bits), 3);
    if (is("or"))
      return simple(binaryOf<Or, kIntegers>(bits), 3);
    if (is("xor"))
      return simple(binaryOf<Xor, kIntegers>(bits), 3);
    if (is("popc"))
      return simple(unaryOf<PopC, kIntegers>(bits), 2);
    if (is("clz"))
      return simple(unaryOf<Clz, kIntegers>(bits), 2);
    if (is("brev"))
      return simple(unaryOf<Reverse, kIntegers>(bits), 2);
    if (is("lop3"))
      return simple(logic, 5);
    if (is("prmt") && s.opcode.size() == 2)
      return simple(permute, 4);
    if (is("bfe"))
      return simple(i.type.bits == 32
                        ? (i.type.kind == 's' ? extractBits<int32_t>
                                              : extractBits<uint32_t>)
                        : (i.type.kind == 's' ? extractBits<int64_t>
                                              : extractBits<uint64_t>),
                    4);
    if (is("shf"))
      return simple(
          has("l") ? (has("wrap") ? funnel<true, true> : funnel<true, false>)
                   : (has("wrap") ? funnel<false, true> : funnel<false, false>),
          4);
    if (is("shl") || is("shr"))
      return simple(shiftOf(), 3);
  }

  Handler shiftOf() const {
    bool isLeft = is("shl");
    switch (i.type.bits) {
    case 16:
      return isLeft               ? shift<uint16_t, true>
             : i.type.kind == 's' ? shift<int16_t, false>
                                  : shift<uint16_t, false>;
    case 32:
      return isLeft               ? shift<uint32_t, true>
             : i.type.kind == 's' ? shift<int32_t, false>
                                  : shift<uint32_t, false>;
    case 64:
      return isLeft               ? shift<uint64_t, true>
             : i.type.kind == 's' ? shift<int64_t, false>
                                  : shift<uint64_t, false>;
    }
    return nullptr;
  }

  void chooseAtomic() {
    findSpace();
    if (is("atom")) {
      value();
      comma();
    }
    address();
    comma();
    value();
    end();
    if (has("add"))
      i.run = atomicOf<Add, kBoth>(i.type);
    else if (has("min"))
      i.run = atomicOf<Min, kIntegers>(i.type);
    else if (has("max"))
      i.run = atomicOf<Max, kIntegers>(i.type);
  }

  void chooseMove() {
    if (peek() == "{") {
      i.run = unpack;
      value();
      comma();
      uint8_t parts = i.width;
      value();
      i.width = parts;
      return end();
    }
    value();
    comma();
    i.run = peek() == "{" ? pack : copy;
    value();
    end();
  }

  void chooseConversion() {
    bool isWhole = has("rni") || has("rzi") || has("rmi") || has("rpi");
    i.mode = has("rzi") || has("rz")   ? Zero
             : has("rmi") || has("rm") ? Down
             : has("rpi") || has("rp") ? Up
                                       : Nearest;
    if (i.mode && !isWhole)
      return; // only whole numbers are rounded to others than the nearest
    if (isWhole)
      i.mode |= Whole;
    simple(convertOf(i.type, i.from), 2);
  }

  void chooseComparison() {
    size_t known = std::size(comparisons);
    for (size_t mode = 0; mode < known; ++mode)
      if (s.opcode.size() == 3 && s.opcode[1] == comparisons[mode]) {
        i.mode = uint8_t(mode);
        return simple(setPredicateOf(i.type), 3);
      }
  }

  const Statement &s;
  Kernel &kernel;
  Names &names;
  Instruction i;
  size_t at = 0;
};
} // namespace

Instruction netc::simulator::decode(const Statement &statement, Kernel &kernel,
                                    Names &names) {
  return Decoder(statement, kernel, names).decode();
}
