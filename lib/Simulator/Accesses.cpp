// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Instructions that access memory.

#include "lib/Simulator/Handlers.h"

#include <algorithm>

using namespace netc::simulator;

/// Computes the address of each lane.
NETC_WIDE static void addressesOf(Warp &warp, const Instruction &i,
                                  size_t operand, bool isWide, int64_t offset,
                                  uint64_t *addresses) {
  if (isWide) {
    auto *base = Launch::lanes<uint64_t>(warp, i, operand);
    for (int l = 0; l < kLanes; ++l)
      addresses[l] = base[l] + uint64_t(offset);
  } else {
    auto *base = Launch::lanes<uint32_t>(warp, i, operand);
    for (int l = 0; l < kLanes; ++l)
      addresses[l] = base[l] + uint64_t(offset);
  }
}

static HostAddresses hostAddressesOf(Launch &run, Warp &warp,
                                     const Instruction &i, uint32_t lanes,
                                     AccessKind kind) {
  uint64_t addresses[kLanes];
  addressesOf(warp, i, i.address, i.isAddressWide, i.offset, addresses);
  HostAddresses places;
  run.access(warp, i, lanes, i.space, addresses, i.type.bytes() * i.width, kind,
             places);
  return places;
}

/// Extends an element to a register: with its sign if its type is signed, else
/// with zeros.
template <typename Slot> static Slot elementAt(const char *from, Type type) {
  Slot bits = 0;
  std::memcpy(&bits, from, std::min<size_t>(type.bytes(), sizeof bits));
  if (type.kind != 's')
    return bits;
  return type.bits == 8    ? Slot(int8_t(bits))
         : type.bits == 16 ? Slot(int16_t(bits))
         : type.bits == 32 ? Slot(int32_t(bits))
                           : bits;
}

/// Loads four registers from 16 bytes of each lane. Transposes squares of four
/// lanes by four registers.
static void loadFours(Warp &warp, const Instruction &i,
                      const HostAddresses &places) {
  using Four = uint32_t __attribute__((vector_size(16)));
  for (int lane = 0; lane < kLanes; lane += 4) {
    Four a, b, c, d;
    std::memcpy(&a, places.of[lane], 16);
    std::memcpy(&b, places.of[lane + 1], 16);
    std::memcpy(&c, places.of[lane + 2], 16);
    std::memcpy(&d, places.of[lane + 3], 16);
    Four e = __builtin_shufflevector(a, b, 0, 4, 1, 5),
         f = __builtin_shufflevector(a, b, 2, 6, 3, 7),
         g = __builtin_shufflevector(c, d, 0, 4, 1, 5),
         h = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    Four all[] = {__builtin_shufflevector(e, g, 0, 1, 4, 5),
                  __builtin_shufflevector(e, g, 2, 3, 6, 7),
                  __builtin_shufflevector(f, h, 0, 1, 4, 5),
                  __builtin_shufflevector(f, h, 2, 3, 6, 7)};
    for (uint32_t k = 0; k < 4; ++k)
      std::memcpy(Launch::lanes<uint32_t>(warp, i, k) + lane, &all[k], 16);
  }
}

template <typename Slot>
static void loadElements(Warp &warp, const Instruction &i, uint32_t lanes,
                         const HostAddresses &places) {
  uint32_t bytes = i.type.bytes();
  if (i.width == 1 && bytes == sizeof(Slot) && places.isDense && lanes == ~0u) {
    std::memcpy(Launch::lanes<Slot>(warp, i, 0), places.of[0],
                kLanes * sizeof(Slot));
    return;
  }
  if (places.isUniform) {
    for (uint32_t e = 0; e < i.width; ++e) {
      auto *d = Launch::lanes<Slot>(warp, i, e);
      Slot bits =
          elementAt<Slot>(places.of[__builtin_ctz(lanes)] + e * bytes, i.type);
      forLanes(lanes, [=](int l) { d[l] = bits; });
    }
    return;
  }
  if (i.width == 4 && bytes == 4 && lanes == ~0u && !places.isMissing)
    return loadFours(warp, i, places);
  for (uint32_t e = 0; e < i.width; ++e) {
    auto *d = Launch::lanes<Slot>(warp, i, e);
    if (bytes == sizeof(Slot) && !places.isMissing) {
      for (uint32_t left = lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        std::memcpy(&d[lane], places.of[lane] + e * bytes, sizeof(Slot));
      }
      continue;
    }
    forLanes(lanes, [&](int l) {
      const char *from = places.of[l];
      d[l] = from ? elementAt<Slot>(from + e * bytes, i.type) : Slot(0);
    });
  }
}

void netc::simulator::load(Launch &run, Warp &warp, const Instruction &i,
                           uint32_t lanes) {
  HostAddresses places = hostAddressesOf(run, warp, i, lanes, AccessKind::Read);
  if (i.isValueWide)
    loadElements<uint64_t>(warp, i, lanes, places);
  else
    loadElements<uint32_t>(warp, i, lanes, places);
}

void netc::simulator::store(Launch &run, Warp &warp, const Instruction &i,
                            uint32_t lanes) {
  HostAddresses places =
      hostAddressesOf(run, warp, i, lanes, AccessKind::Write);
  uint32_t bytes = i.type.bytes();
  for (uint32_t e = 0; e < i.width; ++e) {
    const char *a = Launch::lanes<char>(warp, i, 1 + e);
    uint32_t slot = i.isValueWide ? 8 : 4;
    if (i.width == 1 && bytes == slot && places.isDense && lanes == ~0u) {
      std::memcpy(places.of[0], a, kLanes * slot);
      continue;
    }
    for (uint32_t left = lanes; left; left &= left - 1) {
      int lane = __builtin_ctz(left);
      if (places.of[lane])
        std::memcpy(places.of[lane] + e * bytes, a + uint32_t(lane) * slot,
                    bytes);
    }
  }
}

void netc::simulator::loadParameter(Launch &run, Warp &warp,
                                    const Instruction &i, uint32_t lanes) {
  for (uint32_t e = 0; e < i.width; ++e) {
    const char *from = run.parameter(uint64_t(i.offset) + e * i.type.bytes());
    if (i.isValueWide) {
      auto *d = Launch::lanes<uint64_t>(warp, i, e);
      uint64_t bits = elementAt<uint64_t>(from, i.type);
      forLanes(lanes, [=](int l) { d[l] = bits; });
    } else {
      auto *d = Launch::lanes<uint32_t>(warp, i, e);
      uint32_t bits = elementAt<uint32_t>(from, i.type);
      forLanes(lanes, [=](int l) { d[l] = bits; });
    }
  }
}

namespace {
struct AtomicAdd {
  template <typename T> static T of(T a, T b) { return T(a + b); }
};
struct AtomicMin {
  template <typename T> static T of(T a, T b) { return std::min(a, b); }
};
struct AtomicMax {
  template <typename T> static T of(T a, T b) { return std::max(a, b); }
};
} // namespace

/// Applies the operation for one lane after the other.
template <typename T, typename F>
static void atomic(Launch &run, Warp &warp, const Instruction &i,
                   uint32_t lanes) {
  HostAddresses places =
      hostAddressesOf(run, warp, i, lanes, AccessKind::Atomic);
  auto *b = Launch::lanes<Lane<T>>(warp, i, i.address + 1u);
  if (places.isUniform && lanes) {
    char *at = places.of[__builtin_ctz(lanes)];
    T value;
    std::memcpy(&value, at, sizeof value);
    for (; lanes; lanes &= lanes - 1) {
      int lane = __builtin_ctz(lanes);
      if (i.address)
        put<T>(Launch::lanes<Lane<T>>(warp, i, 0), lane, value);
      value = F::of(value, get<T>(b, lane));
    }
    std::memcpy(at, &value, sizeof value);
    return;
  }
  for (; lanes; lanes &= lanes - 1) {
    int lane = __builtin_ctz(lanes);
    char *at = places.of[lane];
    if (!at)
      continue;
    T old;
    std::memcpy(&old, at, sizeof old);
    T updated = F::of(old, get<T>(b, lane));
    std::memcpy(at, &updated, sizeof updated);
    if (i.address)
      put<T>(Launch::lanes<Lane<T>>(warp, i, 0), lane, old);
  }
}
template <typename F> static Handler atomicOf(Type type) {
#define NETC_ATOMIC(T) Handler(atomic<T, F>)
  NETC_FOR_TYPE(type, true, false, NETC_ATOMIC);
#undef NETC_ATOMIC
}

Handler netc::simulator::atomicNamed(const std::string &name, Type type) {
  if (type.bits < 32)
    return nullptr;
  return name == "add"   ? atomicOf<AtomicAdd>(type)
         : name == "min" ? atomicOf<AtomicMin>(type)
         : name == "max" ? atomicOf<AtomicMax>(type)
                         : nullptr;
}

template <bool ToSpace>
static void convertAddress(Launch &, Warp &warp, const Instruction &i,
                           uint32_t lanes) {
  uint64_t window = i.space == Space::Shared      ? kSharedWindow
                    : i.space == Space::Local     ? kLocalWindow
                    : i.space == Space::Parameter ? kParameterWindow
                                                  : 0;
  auto *d = Launch::lanes<uint64_t>(warp, i, 0);
  auto *a = Launch::lanes<uint64_t>(warp, i, 1);
  forLanes(lanes,
           [=](int l) { d[l] = ToSpace ? a[l] - window : a[l] + window; });
}

Handler netc::simulator::addressConversion(bool isToSpace) {
  return isToSpace ? convertAddress<true> : convertAddress<false>;
}

//===----------------------------------------------------------------------===//
// Asynchronous copies, and matrices
//===----------------------------------------------------------------------===//

/// `cp.async`. Operands: the address in shared memory, the source, the size in
/// bytes, and the number of bytes to read. The rest is zeros.
void netc::simulator::copyAsync(Launch &run, Warp &warp, const Instruction &i,
                                uint32_t lanes) {
  uint64_t to[kLanes], from[kLanes];
  addressesOf(warp, i, 0, i.isAddressWide, i.offset, to);
  addressesOf(warp, i, 1, true, 0, from);
  run.beginCopies(warp, i, lanes, to, from, Launch::lanes<uint32_t>(warp, i, 3),
                  *Launch::lanes<uint32_t>(warp, i, 2));
}
void netc::simulator::commitCopies(Launch &run, Warp &warp, const Instruction &,
                                   uint32_t) {
  run.closeCopies(warp);
}
/// `cp.async.wait_group`. Operand: the number of groups that may stay
/// incomplete. With `mode`, as for `wait_all`, the open group must be complete,
/// too.
void netc::simulator::waitForCopies(Launch &run, Warp &warp,
                                    const Instruction &i, uint32_t) {
  if (i.mode)
    run.closeCopies(warp);
  run.endCopies(warp, i, *Launch::lanes<uint32_t>(warp, i, 0));
}

/// `ldmatrix`: lanes 8 m to 8 m + 7 have the addresses of the 16-byte rows of
/// matrix m. A lane gets two elements of row lane / 4 of each matrix, or of a
/// column if `mode` is set (`.trans`).
void netc::simulator::loadMatrix(Launch &run, Warp &warp, const Instruction &i,
                                 uint32_t lanes) {
  uint64_t addresses[kLanes];
  addressesOf(warp, i, i.width, i.isAddressWide, i.offset, addresses);
  uint32_t rows = i.width == 4 ? ~0u : (1u << 8 * i.width) - 1;
  HostAddresses places;
  if (lanes != ~0u)
    run.report(i, "divergent matrix instruction: not all lanes reach it");
  run.access(warp, i, rows, Space::Shared, addresses, 16, AccessKind::Read,
             places);
  for (uint32_t m = 0; m < i.width; ++m) {
    auto *d = Launch::lanes<uint32_t>(warp, i, m);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      uint16_t pair[2] = {};
      for (uint32_t k = 0; k < 2; ++k) {
        uint32_t row = lane / 4, column = lane % 4 * 2 + k;
        if (i.mode)
          std::swap(row, column);
        if (const char *from = places.of[8 * m + row])
          std::memcpy(&pair[k], from + 2 * column, 2);
      }
      d[lane] = uint32_t(pair[1]) << 16 | pair[0];
    }
  }
}
