// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_TELEMETRY_H
#define NETC_LIB_RUNTIME_TELEMETRY_H

#include "lib/Runtime/Nvml.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace netc::runtime {

/// The states of a device in a span of time.
struct Telemetry {
  /// Summarizes samples that were taken 50 ms apart.
  static Telemetry of(const std::vector<DeviceState> &states);

  std::string lack; ///< why nothing is known; empty if something is
  size_t samples = 0;
  /// Means, and the lowest or the highest; none if unknown.
  std::optional<double> hertz, lowestHertz, memoryHertz, highestCelsius;
  /// Of spans of a second or more, since power is a mean of about so long.
  std::optional<double> watts, highestWatts;
  std::optional<double> joules; ///< in the whole span
  uint64_t slowdowns = 0;
  int otherProcesses = 0; ///< that computed, the most at once

  /// Why rates are not those of the device; empty if they are.
  std::string whyNotComparable() const;
  /// Names of the reasons for a lower clock, `power cap, thermal`; empty
  /// without any.
  std::string slowdownNames() const;
};

/// Samples the state of a device every 50 ms, by a thread, until it is
/// destroyed.
class Sampler {
public:
  explicit Sampler(const std::string &busId);
  ~Sampler();

  /// Samples the state now. Returns the number of samples before.
  size_t sample();
  /// What the samples from number `first` on show.
  Telemetry since(size_t first);

private:
  Nvml nvml;
  std::mutex mutex;
  std::condition_variable changed;
  bool isEnding = false;
  std::vector<DeviceState> states;
  std::thread thread;
};

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_TELEMETRY_H
