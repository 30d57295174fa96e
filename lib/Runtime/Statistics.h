// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_STATISTICS_H
#define NETC_LIB_RUNTIME_STATISTICS_H

#include <cstddef>
#include <optional>
#include <vector>

namespace netc::runtime {

struct Interval {
  double low, high;
};

/// Of the sorted numbers, the middle one or the mean of the middle two; the
/// interval encloses the median of what they are a sample of.
struct Median {
  double median;
  std::optional<Interval> interval;
  double min, mean;
};

/// The interval holds the median with a confidence of 95 %, whatever the
/// distribution: it begins with sample number (n + 1)/2 - 0.98 sqrt(n) from the
/// lowest on and ends with that from the highest on. Up to 5 samples have no
/// such number: even their range holds it with 94 % at most.
Median summarize(std::vector<double> samples);

/// Whether the interval reaches no more than 2 % from the median, of ten
/// samples at least.
bool isKnown(const Median &median, size_t samples);

/// The first time, from number `start` on, that is within 5 % of the median of
/// the `stableWindow` ones after it.
const size_t stableWindow = 7;
std::optional<size_t> firstStable(const std::vector<double> &times,
                                  size_t start = 0);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_STATISTICS_H
