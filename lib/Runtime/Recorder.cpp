// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Recorder.h"

#include <algorithm>
#include <ctime>

using namespace netc::runtime;

int64_t netc::runtime::now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * int64_t(1000000000) + time.tv_nsec;
}

Recorder::Recorder(size_t ops, size_t limit)
    : ops(ops), limit(limit), spent(ops), made(ops) {}

void Recorder::beginStep() {
  std::fill(spent.begin(), spent.end(), 0);
  std::fill(made.begin(), made.end(), 0);
  kept.clear();
  start = last = now();
}

void Recorder::endStep() {
  times.push_back(double(now() - start) * 1e-9);
  if ((times.size() - 1) % stride)
    return;
  for (int64_t time : spent)
    rows.push_back(float(double(time) * 1e-9));
  if (rows.size() <= limit)
    return;
  stride *= 2;
  size_t kept = 0;
  for (size_t row = 0; row * ops < rows.size(); row += 2, ++kept)
    std::copy_n(rows.begin() + ptrdiff_t(row * ops), ops,
                rows.begin() + ptrdiff_t(kept * ops));
  rows.resize(kept * ops);
}

Median Recorder::op(size_t op, size_t first) const {
  std::vector<double> samples;
  for (size_t row = (first + stride - 1) / stride; row * ops < rows.size();
       ++row)
    samples.push_back(rows[row * ops + op]);
  if (samples.empty())
    samples.push_back(double(spent[op]) * 1e-9);
  return summarize(samples);
}
