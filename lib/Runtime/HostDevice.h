// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_HOSTDEVICE_H
#define NETC_LIB_RUNTIME_HOSTDEVICE_H

#include "lib/Program/Program.h"
#include "lib/Runtime/Arena.h"
#include "lib/Runtime/Device.h"

namespace netc::runtime {

/// The processor that this program runs on, with its memory.
class HostDevice : public Device {
public:
  /// `step` is compiled code, which calls `netc_record` after each op. If the
  /// program counts, it adds to `executed`. Throws a Failure with status 3 if
  /// the arena does not fit.
  HostDevice(const program::Program &program, void (*step)(char *arena),
             const int64_t *executed)
      : arena(program.arena), function(step), executed(executed),
        numCounts(program.counted ? 3 * program.ops.size() : 0) {}

  /// Bypasses the caches, so that a step finds its inputs in memory.
  void upload(int64_t offset, const char *from, int64_t bytes) override;
  void download(int64_t offset, char *to, int64_t bytes) const override;
  void step(Recorder *recorder) override;
  std::vector<int64_t> counts() const override {
    return {executed, executed + numCounts};
  }

private:
  void ended(size_t op) override {
    if (recorder)
      recorder->record(op);
  }

  Arena arena;
  void (*function)(char *arena);
  const int64_t *executed;
  size_t numCounts;
  Recorder *recorder = nullptr; ///< null if the step is not timed
};

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_HOSTDEVICE_H
