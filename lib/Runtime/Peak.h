// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_PEAK_H
#define NETC_LIB_RUNTIME_PEAK_H

#include "lib/Runtime/Machine.h"

#include <cstdint>

namespace netc::runtime {

/// f32 FLOP/s that `threads` threads reach together with vectors of an ISA that
/// the machine has: fused multiply-adds on registers, or without FMA
/// multiplications beside additions. The best of some tries.
double measureFlops(Isa isa, int threads);

/// Bytes/s of a[i] = b[i] + s c[i] on f32 arrays, each four times the caches,
/// 12 bytes an element as in STREAM (https://www.cs.virginia.edu/stream/): what
/// the stores read before they write is not counted. 0 without memory for them.
double measureBandwidth(int threads, int64_t cacheBytes);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_PEAK_H
