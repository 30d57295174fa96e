// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_ARENA_H
#define NETC_LIB_RUNTIME_ARENA_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace netc::runtime {

/// Memory whose pages are committed when they are first used. It starts with
/// zeros, at a multiple of 2 MiB, so that it can lie in huge pages.
class Arena {
public:
  /// Throws a Failure with status 3 if not so much memory is available.
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

/// Bytes of memory that this process has had at most. Unlike getrusage(), this
/// leaves out what the program had that started it.
int64_t peakRss();
/// Lets it forget what is no longer there. Returns whether the system can.
bool restartPeakRss();

/// Bytes of memory that this process may still take, or another that it starts:
/// what the machine has left, within the limits of the control group and of
/// `ulimit`.
int64_t availableMemory(bool toAnother = false);

/// Says so if that is less than a training works in, and its data take besides.
std::optional<std::string> lackOfMemory(int64_t arena, int64_t data,
                                        bool toAnother = false);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_ARENA_H
