// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_PEAK_H
#define NETC_LIB_RUNTIME_PEAK_H

#include "lib/Runtime/Machine.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace netc::runtime {

/// f32 FLOP/s that `threads` threads reach together with vectors of an ISA that
/// the machine has: fused multiply-adds on registers, or without FMA
/// multiplications beside additions. The best of some tries.
double measureFlops(program::Isa isa, int threads);

/// Bytes/s of a[i] = b[i] + s c[i] on f32 arrays, 12 bytes an element as in
/// STREAM (https://www.cs.virginia.edu/stream/): what the stores read before
/// they write is not counted. From memory: each array is four times the last of
/// the caches, or what most machines have if none are known. 0 without memory
/// for them.
double measureBandwidth(program::Isa isa, int threads,
                        const std::vector<Cache> &caches);
/// The same from each level of caches, from the nearest on, with arrays that
/// fit it and not the level before; 0 where none do.
std::vector<double> measureCaches(program::Isa isa, int threads,
                                  const std::vector<Cache> &caches);

/// The peaks of the machine, measured in a short window of time.
struct Peaks {
  double datasheet = 0; ///< FLOP/s; 0 without a clock
  std::string assumed;
  std::vector<std::pair<program::Isa, double>> measured; ///< FLOP/s
  double bandwidth = 0;       ///< bytes/s; 0 is unknown
  std::vector<double> caches; ///< the same, of each level

  /// FLOP/s of products of pairs of bf16; zero where there are none.
  double pairs = 0;

  double best() const; ///< of the measured ones
  /// What no step exceeds: the best, or that of pairs.
  double limit() const { return std::max(best(), pairs); }
  /// Keeps the higher figures of two windows: other programs only lower them.
  void raise(const Peaks &window);
};
/// Bandwidths take some memory to measure.
Peaks measurePeaks(const Machine &machine, const Clock &clock, int threads,
                   const std::vector<Cache> &caches, bool withBandwidth);

/// Measures the peaks again, at least once, and some times more while they are
/// below the FLOP/s that steps have `reached`. Throws a Failure with status 3
/// if they stay below.
void settle(Peaks &peaks, double reached,
            const std::function<Peaks()> &measure);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_PEAK_H
