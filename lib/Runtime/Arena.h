// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_ARENA_H
#define NETC_LIB_RUNTIME_ARENA_H

#include "lib/Runtime/Failure.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace netc::runtime {

/// Memory whose pages are committed on first use. It is zeroed, and aligned to
/// 2 MiB for huge pages.
class Arena {
public:
  /// Throws a Failure with status 3 if less memory is available.
  explicit Arena(int64_t bytes);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  char *data() const { return start; }

private:
  void *mapping;
  size_t size;
  char *start;
};

/// The largest resident set size of this process so far, in bytes. getrusage()
/// would include the memory of the process that started this one.
int64_t peakRss();
/// Restarts peakRss() from the current resident set size. False if the system
/// cannot do that.
bool restartPeakRss();

/// Bytes that this process can still allocate: the free memory of the machine,
/// within the limits of the control group and of `ulimit`. With `toAnother`,
/// bytes that a new process could allocate.
int64_t availableMemory(bool toAnother = false);

/// The failure if less than `arena` and `data` bytes are available.
std::optional<LackOfMemory> lackOfMemory(int64_t arena, int64_t data,
                                         bool toAnother = false);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_ARENA_H
