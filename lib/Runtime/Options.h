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

/// The options of a generated program.
struct Options {
  std::optional<int64_t> steps; ///< exact number of steps
  double seconds = 10;          ///< time to run for, without `steps`
  /// Number of threads; none for the default.
  std::optional<int> threads;
  std::optional<int64_t> warmup; ///< number of steps before the measured ones
  int64_t batches = 4;           ///< number of synthetic batches
  uint64_t seed = 0;
  bool json = false;
  std::string jsonFile; ///< empty for standard output
  /// See `usage`.
  std::vector<std::string> data, weights;
  std::string dump, results; ///< folders
  std::string trace;         ///< file
  std::vector<Cache> caches; ///< to measure, nearest first
  std::string peaksFile;     ///< with known peaks; empty for none
  bool peaks = false, quiet = false, help = false;
  std::string driver;    ///< library to load instead of the system's
  bool simulate = false; ///< use netc's simulator as the driver

  /// The largest number of threads that OpenMP starts reliably.
  static constexpr int maxThreads = 1024;

  /// Parses the arguments. Throws a Failure with status 2.
  static Options parse(int argc, char **argv);
  static const char *const usage; ///< the list of options
};

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_OPTIONS_H
