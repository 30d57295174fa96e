// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_LIMITS_H
#define NETC_LIB_FRONTEND_LIMITS_H

#include <cstddef>

namespace netc {

/// Limits on inputs. An input that exceeds one gets an error with the flag of
/// the limit, and never crashes netc.
struct Limits {
  /// `--max-input`: bytes in one file.
  size_t maxInputBytes = 4 << 20;
  /// `--max-depth`: the number of grammar rules, or calls, that are open at
  /// once. The 8 MiB stack of a Linux program is enough for at least 4,096.
  unsigned maxDepth = 512;
  /// `--max-ops`: operations to which a file may expand.
  size_t maxOps = 1'000'000;
  /// `--max-sweep`: points of a sweep.
  size_t maxSweepPoints = 10'000;
  /// `--max-errors`: errors that are shown; more are only counted.
  unsigned maxErrors = 20;
  /// `--max-warnings`: warnings that are shown; more are only counted.
  unsigned maxWarnings = 100;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_LIMITS_H
