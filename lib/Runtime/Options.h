// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_OPTIONS_H
#define NETC_LIB_RUNTIME_OPTIONS_H

#include "lib/Runtime/Machine.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace netc::runtime {

/// What the user of a generated program asks for.
struct Options {
  std::optional<int64_t> steps; ///< exact number of steps
  double seconds = 10;          ///< without `steps`: the time to run for
  std::optional<int> threads;
  std::optional<int64_t> warmup; ///< steps that are not measured
  int64_t batches = 4;           ///< number of synthetic batches
  uint64_t seed = 0;
  bool json = false;
  std::string jsonFile; ///< empty: standard output
  std::vector<std::string> data, weights;
  std::string dump;          ///< folder
  std::string trace;         ///< file
  std::vector<Cache> caches; ///< whose bandwidths are peaks, the nearest first
  bool peaks = false, quiet = false, help = false;
  std::string driver;    ///< a library, if not that of the system
  bool simulate = false; ///< the driver is netc's simulator

  /// More threads than this the OpenMP runtime may fail to start.
  static constexpr int maxThreads = 1024;

  /// Throws a Failure with status 2.
  static Options parse(int argc, char **argv);
  static const char *const usage; ///< the list of options
};

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_OPTIONS_H
