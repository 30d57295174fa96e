// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_DEVICE_H
#define NETC_LIB_RUNTIME_DEVICE_H

#include "lib/Program/Slot.h"
#include "lib/Runtime/Recorder.h"

#include <vector>

namespace netc::runtime {

/// Where steps run: memory for one arena, which starts with zeros, and the step
/// that works in it.
class Device {
public:
  virtual ~Device() = default;

  /// Copies bytes to the arena, which starts at offset 0, and from it.
  virtual void upload(int64_t offset, const char *from, int64_t bytes) = 0;
  virtual void download(int64_t offset, char *to, int64_t bytes) const = 0;
  /// Runs a step to its end. Tells the recorder, if there is one, when it
  /// began, when each op ended, and when it ended.
  virtual void step(Recorder *recorder) = 0;

  /// A slot's elements in row-major order, to its place and from there.
  void write(const program::Slot &slot, const char *rows);
  std::vector<char> read(const program::Slot &slot) const;
};

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_DEVICE_H
