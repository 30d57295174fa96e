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

/// The median of samples (for an even number, the mean of the middle two), and
/// a confidence interval of the distribution's median.
struct Median {
  double median;
  std::optional<Interval> interval;
  double min, mean;
};

/// Computes the statistics. The interval has a confidence of 95 % for any
/// distribution. It goes from sample number (n + 1)/2 - 0.98 sqrt(n), counted
/// from the lowest, to the same number counted from the highest. Up to 5
/// samples have no interval, since even their whole range has only 94 %.
Median summarize(std::vector<double> samples);

/// Whether there are at least ten samples, and the ends of the interval are
/// within 2 % of the median.
bool isKnown(const Median &median, size_t samples);

/// The first time, from number `start` on, that is within 5 % of the median of
/// the next `stableWindow` times. None if there is no such time.
const size_t stableWindow = 7;
std::optional<size_t> firstStable(const std::vector<double> &times,
                                  size_t start = 0);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_STATISTICS_H
