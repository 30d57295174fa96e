// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_RECORDER_H
#define NETC_LIB_RUNTIME_RECORDER_H

#include "lib/Runtime/Statistics.h"

#include <cstdint>
#include <vector>

namespace netc::runtime {

/// Nanoseconds of a monotonic clock.
int64_t now();

/// The times of steps and of their ops.
class Recorder {
public:
  /// Stores at most `limit` times of ops. If there are more, only those of
  /// every second step are kept, then of every fourth, and so on.
  explicit Recorder(size_t ops, size_t limit = size_t(1) << 22);

  /// Also stores when each op ran in the last step.
  void keepCalls() { keepsCalls = true; }

  void beginStep();
  /// Adds the time since the last call, or since the beginning of the step, to
  /// an op.
  void record(size_t op) { recordUntil(op, now()); }
  /// Adds a time of an op that another clock measured. It began when the one
  /// before ended.
  void add(size_t op, int64_t nanoseconds) {
    recordUntil(op, last + nanoseconds);
  }
  /// Ends the step, and stores its times.
  void endStep();

  /// Seconds of each step.
  const std::vector<double> &steps() const { return times; }
  /// A run of an op, from `start` to `end` in nanoseconds of now().
  struct Call {
    size_t op;
    int64_t start, end;
  };
  /// The runs in the last step, if keepCalls() was called.
  const std::vector<Call> &lastCalls() const { return kept; }

  /// Number of calls of record() in the last step.
  int64_t calls(size_t op) const { return made[op]; }
  /// Seconds per step of an op, over the steps from number `first` on. If the
  /// times of none of these are stored, those of the last step.
  Median op(size_t op, size_t first) const;

private:
  void recordUntil(size_t op, int64_t time) {
    spent[op] += time - last;
    ++made[op];
    if (keepsCalls)
      kept.push_back({op, last, time});
    last = time;
  }

  size_t ops, limit;
  size_t stride = 1; ///< row i has the times of step i * stride
  int64_t start = 0, last = 0;
  std::vector<int64_t> spent, made;
  std::vector<double> times;
  bool keepsCalls = false;
  std::vector<Call> kept;
  std::vector<float> rows; ///< seconds of each op, step by step
};

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_RECORDER_H
