// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_REPORT_H
#define NETC_LIB_RUNTIME_REPORT_H

#include "lib/Program/Program.h"
#include "lib/Runtime/Data.h"
#include "lib/Runtime/Failure.h"
#include "lib/Runtime/Gpu.h"
#include "lib/Runtime/Machine.h"
#include "lib/Runtime/Options.h"
#include "lib/Runtime/Peak.h"
#include "lib/Runtime/Train.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace netc::runtime {

/// The contents of a report.
struct Measurement {
  const program::Program &program;
  const Options &options;
  const Data &data;
  const Training &training;
  const Machine &machine;
  int threads;
  std::vector<std::string> weights; ///< names that came from files
  int64_t peakRss;                  ///< bytes
  Clock clock;
  std::optional<Peaks> peaks;
  std::optional<Gpu> gpu = {}; ///< of the steps; none for the processor
};

/// The highest FLOP/s to compare with a measured peak: all FLOP that a step
/// executes, in its time, or the matmul FLOP of its forward and backward pass,
/// in the time of their ops.
double fastestRate(const program::Program &program, const Training &training);
/// The formats of what the program's products multiply.
std::set<std::string> productFormats(const program::Program &program);

/// JSON by docs/measurement.schema.json, with a newline.
std::string toJson(const Measurement &measurement);
/// JSON by the same schema of a program that cannot run.
std::string toJson(const LackOfMemory &lack);
/// A short table for people.
std::string toTable(const Measurement &measurement);

/// The peaks in a file that a program wrote by `--peaks --json`, and those of
/// `caches` if it has them. Throws a Failure with status 1 if there are none,
/// or they are not of this device with so many threads.
Peaks readPeaks(const std::string &path, const std::string &device, int threads,
                const std::vector<Cache> &caches);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_REPORT_H
