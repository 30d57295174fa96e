// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Report.h"

using namespace netc;

std::optional<HardwareTime> netc::hardwareTimeOf(const Run &run) {
  std::optional<Rational> flop = run.flopByTime();
  if (!flop)
    return std::nullopt;
  HardwareTime time;
  // A utilization that is stated leaves no range.
  time.flop = time.low = time.high = *flop;
  time.devices = run.devices;
  if (run.deviceSeconds)
    time.deviceHours = *run.deviceSeconds / 3600;
  time.peak = run.peak;
  time.format = run.peakFormat;
  time.utilization = run.utilization;
  if (run.precision.empty() && !run.peakFormat.empty())
    time.defaults.push_back("no `precision` is given, f32 is taken");
  return time;
}
