// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CPU_TARGETINFO_H
#define NETC_LIB_CODEGEN_CPU_TARGETINFO_H

#include "lib/Program/Isa.h"

#include <cstdint>

namespace netc {

/// The properties of a CPU that blocking and tiling depend on.
struct TargetInfo {
  /// The vectors of an instruction set; the caches are the same for all.
  static TargetInfo of(program::Isa isa) {
    TargetInfo target;
    target.dotsPairs = isa == program::Isa::AVX512BF16;
    if (isa >= program::Isa::AVX512)
      target.vectorBits = 512, target.vectorRegisters = 32;
    else if (isa == program::Isa::AVX2)
      target.vectorBits = 256;
    return target;
  }

  unsigned vectorBits = 128;
  unsigned vectorRegisters = 16;
  /// Whether there is `vdpbf16ps`: to each f32 of a vector, it adds the
  /// products of two pairs of bf16.
  bool dotsPairs = false;
  int64_t cacheLineBytes = 64;
  /// NR: the columns of a panel of a packed operand; two vectors of 512 bits of
  /// f32. With narrower vectors, the micro-kernel makes several passes over a
  /// panel.
  int64_t panelColumns = 32;
  /// The caches of a core that blocks are sized for, those of an Intel server.
  /// They are the same on each machine, so that one with the same instruction
  /// set gets the same code, and computes the same.
  /// Blocks fill a part of them, since other data is read as well. On a core
  /// with smaller caches, blocks come from the next level, which is slower.
  int64_t l1Bytes = 32 << 10, l2Bytes = 2 << 20;
  /// The distance of a prefetch in a pass over a large tensor.
  int64_t streamPrefetchBytes = 8 << 10;

  int64_t lanes(unsigned elementBits) const { return vectorBits / elementBits; }
  int64_t lineElements(unsigned elementBits) const {
    return cacheLineBytes * 8 / elementBits;
  }
  /// Capacities, in elements of `bits` bits.
  int64_t l1Elements(unsigned bits = 32) const { return l1Bytes * 8 / bits; }
  int64_t l2Elements(unsigned bits = 32) const { return l2Bytes * 8 / bits; }
  /// Up to this size, an operand stays in L2 while the other one is read.
  int64_t residentElements(unsigned bits = 32) const {
    return l2Elements(bits) * 3 / 4;
  }
  /// A tensor of this size or more is no longer in L2 when it is read again.
  int64_t streamBytes() const { return l2Bytes / 2; }
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CPU_TARGETINFO_H
