// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Program/Slot.h"

#include <cstring>

using namespace netc::program;

static const char *spelling(const char *name) { return name; }
static const char *spelling(const ElementTraits &traits) { return traits.name; }

/// The enumerator with this name. The names are in the order of the
/// enumeration.
template <typename T, typename Name, size_t N>
static std::optional<T> valueOf(const std::string &name,
                                const Name (&names)[N]) {
  for (size_t i = 0; i < N; ++i)
    if (name == spelling(names[i]))
      return T(i);
  return std::nullopt;
}

std::optional<Element> netc::program::elementOf(const std::string &name) {
  return valueOf<Element>(name, elements);
}
std::optional<Role> netc::program::roleOf(const std::string &name) {
  return valueOf<Role>(name, roles);
}
std::optional<Init> netc::program::initOf(const std::string &name) {
  return valueOf<Init>(name, inits);
}

int64_t Slot::count() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

/// Calls `copy` for each contiguous run of elements, with its offset in the
/// arena's order, its offset in row-major order, and its length, all in bytes.
template <typename Copy> static void forEachRun(const Slot &slot, Copy copy) {
  if (slot.isRowMajor())
    return copy(0, 0, size_t(slot.bytes()));
  int64_t size = bytesOf(slot.element), at = 0;
  std::vector<int64_t> iterations(slot.sizes.size());
  for (int64_t i = 0, count = slot.count(); i < count; ++i) {
    copy(i * size, at * size, size_t(size));
    for (size_t loop = iterations.size(); loop-- > 0;) {
      at += slot.strides[loop];
      if (++iterations[loop] < slot.sizes[loop])
        break;
      at -= slot.sizes[loop] * slot.strides[loop];
      iterations[loop] = 0;
    }
  }
}

void Slot::pack(const char *from, char *to) const {
  forEachRun(*this, [&](int64_t place, int64_t at, size_t bytes) {
    std::memcpy(to + place, from + at, bytes);
  });
}

void Slot::unpack(const char *from, char *to) const {
  forEachRun(*this, [&](int64_t place, int64_t at, size_t bytes) {
    std::memcpy(to + at, from + place, bytes);
  });
}
