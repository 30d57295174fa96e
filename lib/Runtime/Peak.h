// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_PEAK_H
#define NETC_LIB_RUNTIME_PEAK_H

#include "lib/Runtime/Machine.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace netc::runtime {

/// f32 FLOP/s of `threads` threads together, with the vectors of an ISA that
/// the machine supports: multiply-adds of registers, or without FMA
/// multiplications and additions in parallel. The best of several tries.
double measureFlops(program::Isa isa, int threads);

/// Bytes/s of a[i] = b[i] + s c[i] on f32 arrays in memory. As in STREAM
/// (https://www.cs.virginia.edu/stream/), an element counts 12 bytes, without
/// reads for ownership. Each array is four times as large as the last cache, or
/// as most machines' if none is known. 0 if there is not enough memory.
double measureBandwidth(program::Isa isa, int threads,
                        const std::vector<Cache> &caches);
/// The bandwidth of each level of caches in bytes/s, nearest first. The arrays
/// fit into the level but not into the previous one. 0 if there is no such
/// size.
std::vector<double> measureCaches(program::Isa isa, int threads,
                                  const std::vector<Cache> &caches);

/// The instruction of a processor for products of bf16.
constexpr const char *pairKernel = "vdpbf16ps";

/// The highest rate of an instruction, or of an instruction set.
struct PeakRate {
  std::string name;
  std::string format; ///< of what it multiplies
  double flops;       ///< FLOP/s
  double hertz = 0;   ///< clock of a GPU at that rate; 0 if unknown
};

/// The peaks of the machine, measured in a short window of time.
struct Peaks {
  double hertz = 0; ///< the datasheet's clock; 0 if unknown
  /// FLOP of the machine per cycle, by format: what is `assumed`.
  std::map<std::string, double> perCycle;
  std::string assumed;
  std::vector<PeakRate> measured;
  double bandwidth = 0;       ///< bytes/s; 0 if unknown
  std::vector<double> caches; ///< bytes/s of each level
  /// Bytes/s of a copy, and by the clock and width of the memory; 0 unless it
  /// is a GPU's.
  double copy = 0, datasheetBandwidth = 0;

  /// FLOP/s by the datasheet's clock; 0 if unknown.
  double datasheet(const std::string &format) const;
  /// The highest measured rate of a format; 0 if there is none.
  double best(const std::string &format) const;
  /// The rate that no step with products in these formats exceeds: that of the
  /// fastest one, or of f32, which all steps compute in.
  double limit(const std::set<std::string> &formats) const;
  /// Whether the rates of memory, and of so many levels of caches, are known.
  bool isComplete(size_t levels) const {
    return bandwidth > 0 && caches.size() == levels;
  }
  /// Keeps the higher figures of two windows, since other programs can only
  /// lower them.
  void raise(const Peaks &window);
};
/// What is not measured: the clock and what the units do per cycle.
Peaks datasheetPeaks(const Machine &machine, const Clock &clock, int threads);
/// Measures the peaks. `withBandwidth` needs some memory.
Peaks measurePeaks(const Machine &machine, const Clock &clock, int threads,
                   const std::vector<Cache> &caches, bool withBandwidth);

/// Measures the peaks again: after the steps if in a window before them, and
/// several times while they are below the FLOP/s that steps with products in
/// `formats` have `reached`. Throws a Failure with status 3 if they stay below.
/// `windows` were measured before; none if the peaks were known.
void settle(Peaks &peaks, double reached, const std::set<std::string> &formats,
            int windows, const std::function<Peaks()> &measure);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_PEAK_H
