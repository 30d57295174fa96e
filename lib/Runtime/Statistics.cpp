// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace netc::runtime;

Median netc::runtime::summarize(std::vector<double> samples) {
  if (samples.empty())
    return {};
  std::sort(samples.begin(), samples.end());
  size_t n = samples.size();
  double median = (samples[(n - 1) / 2] + samples[n / 2]) / 2;
  double rank = std::floor(double(n + 1) / 2 - 0.98 * std::sqrt(double(n)));
  std::optional<Interval> interval;
  if (rank >= 1)
    interval = {samples[size_t(rank) - 1], samples[n - size_t(rank)]};
  double sum = std::accumulate(samples.begin(), samples.end(), 0.0);
  return {median, interval, samples[0], sum / double(n)};
}

bool netc::runtime::isKnown(const Median &median, size_t samples) {
  if (samples < 10 || !median.interval)
    return false;
  double reach = std::max(median.interval->high - median.median,
                          median.median - median.interval->low);
  return reach <= 0.02 * median.median;
}

std::optional<size_t>
netc::runtime::firstStable(const std::vector<double> &times, size_t start) {
  for (size_t i = start; i + stableWindow < times.size(); ++i) {
    auto next = times.begin() + ptrdiff_t(i) + 1;
    double median = summarize({next, next + ptrdiff_t(stableWindow)}).median;
    if (std::abs(times[i] - median) <= 0.05 * median)
      return i;
  }
  return std::nullopt;
}
