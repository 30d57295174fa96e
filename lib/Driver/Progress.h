// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DRIVER_PROGRESS_H
#define NETC_LIB_DRIVER_PROGRESS_H

#include "llvm/ADT/StringRef.h"

#include <chrono>

namespace netc {

/// A progress bar with a text on stderr, if that is a terminal. The destructor
/// removes it.
class Progress {
public:
  /// Shows nothing for the first `delay`.
  explicit Progress(std::chrono::duration<double> delay = {});
  ~Progress() { clear(); }
  Progress(const Progress &) = delete;

  /// `done` is the share of all work, from 0 to 1.
  void show(double done, llvm::StringRef text);
  /// Removes the line before other text is printed.
  void clear();

private:
  const bool isTerminal;
  const std::chrono::steady_clock::time_point start;
  const std::chrono::duration<double> delay;
  bool isDrawn = false;
};

} // namespace netc

#endif // NETC_LIB_DRIVER_PROGRESS_H
