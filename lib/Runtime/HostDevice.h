// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_HOSTDEVICE_H
#define NETC_LIB_RUNTIME_HOSTDEVICE_H

#include "lib/Runtime/Arena.h"
#include "lib/Runtime/Device.h"

namespace netc::runtime {

/// The processor that this program runs on, with its memory.
class HostDevice : public Device {
public:
  /// `step` is compiled code, which calls `netc_record` after each op. Throws a
  /// Failure with status 3 if an arena of `bytes` does not fit.
  HostDevice(int64_t bytes, void (*step)(char *arena))
      : arena(bytes), function(step) {}

  /// Bypasses the caches, so that a step finds its inputs in memory.
  void upload(int64_t offset, const char *from, int64_t bytes) override;
  void download(int64_t offset, char *to, int64_t bytes) const override;
  void step(Recorder *recorder) override;

private:
  void ended(size_t op) override {
    if (recorder)
      recorder->record(op);
  }

  Arena arena;
  void (*function)(char *arena);
  Recorder *recorder = nullptr; ///< null if the step is not timed
};

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_HOSTDEVICE_H
