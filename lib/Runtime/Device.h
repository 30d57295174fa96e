// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_DEVICE_H
#define NETC_LIB_RUNTIME_DEVICE_H

#include "lib/Program/Slot.h"
#include "lib/Runtime/Recorder.h"

#include <vector>

namespace netc::runtime {

/// Executes steps. It owns the arena, which starts zeroed, and the code of the
/// step.
class Device {
public:
  virtual ~Device() = default;

  /// Copy bytes to and from the arena, at an offset in bytes from its start.
  virtual void upload(int64_t offset, const char *from, int64_t bytes) = 0;
  virtual void download(int64_t offset, char *to, int64_t bytes) const = 0;
  /// Executes a step. Calls the recorder, if it is not null, at the beginning,
  /// at the end of each op, and at the end.
  virtual void step(Recorder *recorder) = 0;

  /// The numbers of operations that all steps executed, three per op: matmul,
  /// other, transcendental. Empty if the program does not count.
  virtual std::vector<int64_t> counts() const = 0;

  /// Compiled code calls this when an op of the running step has ended.
  static void endOp(size_t op) {
    if (running)
      running->ended(op);
  }
  /// Compiled code calls this to launch a kernel of the running step.
  static void launch(int64_t kernel, void **arguments) {
    running->launched(kernel, arguments);
  }

  /// Copies a slot's elements, in row-major order, to and from the arena.
  void write(const program::Slot &slot, const char *rows);
  std::vector<char> read(const program::Slot &slot) const;

protected:
  /// Called at the end of each op of the running step. Only devices that time
  /// ops override it.
  virtual void ended(size_t) {}
  /// Called at each launch. Only devices with kernels of their own override it.
  virtual void launched(int64_t, void **) {}

  /// The device whose step is running; null if there is none.
  static Device *running;
};

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_DEVICE_H
