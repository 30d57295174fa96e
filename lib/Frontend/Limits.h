// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_LIMITS_H
#define NETC_LIB_FRONTEND_LIMITS_H

#include <cstddef>

namespace netc {

/// What an input may ask of netc. Going over a limit is an error that names the
/// limit's flag, never a crash.
struct Limits {
  /// `--max-input`: bytes in one file.
  size_t maxInputBytes = 4 << 20;
  /// `--max-depth`: grammar rules, or calls, that are open at once. The 8 MiB
  /// stack of a Linux program carries at least 4,096.
  unsigned maxDepth = 512;
  /// `--max-ops`: operations that a file may expand to.
  size_t maxOps = 1'000'000;
  /// `--max-sweep`: points of a sweep.
  size_t maxSweepPoints = 10'000;
  /// `--max-errors`: errors shown before the rest is only counted.
  unsigned maxErrors = 20;
  /// `--max-warnings`: warnings shown before the rest is only counted.
  unsigned maxWarnings = 100;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_LIMITS_H
