// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TOOLS_NETC_VERIFY_SIMULATEDDEVICE_H
#define NETC_TOOLS_NETC_VERIFY_SIMULATEDDEVICE_H

#include "lib/Program/Program.h"
#include "lib/Runtime/Device.h"
#include "lib/Simulator/Simulator.h"

#include <vector>

namespace netc {

/// A simulated device with the kernels of a step. Temporary tensors do not
/// survive a step.
class SimulatedDevice : public runtime::Device {
public:
  /// `step` launches kernels. `code` is PTX for architectures: the name and the
  /// text of each, then an empty name. Throws a PtxError.
  SimulatedDevice(const program::Program &program, void (*step)(char *arena),
                  const char *code);

  void upload(int64_t offset, const char *from, int64_t bytes) override;
  void download(int64_t offset, char *to, int64_t bytes) const override;
  void step(runtime::Recorder *recorder) override;
  std::vector<int64_t> counts() const override;

  simulator::Device &simulator() { return device; }

private:
  void launched(int64_t kernel, void **arguments) override;

  simulator::Device device;
  const bool counted;
  std::vector<program::Kernel> kernels;
  void (*function)(char *arena);
  uint64_t arena;
  int64_t bytes, kept = 0; ///< of the arena, and of the slots at its start
};

} // namespace netc

#endif // NETC_TOOLS_NETC_VERIFY_SIMULATEDDEVICE_H
