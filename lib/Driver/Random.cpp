// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstdint>
#include <sys/random.h>

/// LLVM and libstdc++ ask for this function, the only one here that glibc has
/// since 2.36. With it, netc runs where glibc is 2.34.
extern "C" uint32_t arc4random() {
  uint32_t value;
  while (getrandom(&value, sizeof(value), 0) != sizeof(value)) {
  }
  return value;
}
