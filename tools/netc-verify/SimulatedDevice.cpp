// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/netc-verify/SimulatedDevice.h"

#include "lib/Program/DeviceCode.h"

#include <algorithm>

using namespace netc;

SimulatedDevice::SimulatedDevice(const program::Program &program,
                                 void (*step)(char *arena), const char *code)
    : counted(program.counted), kernels(program.kernels), function(step),
      bytes(program.arena) {
  // The newest architecture is last.
  device.load(program::deviceCodes(code).back().text);
  arena = device.allocate(uint64_t(bytes));
  device.fill(arena, 0, uint64_t(bytes));
  for (const program::Slot &slot : program.slots)
    kept = std::max(kept, slot.offset + slot.bytes());
}

void SimulatedDevice::upload(int64_t offset, const char *from, int64_t bytes) {
  device.write(arena + uint64_t(offset), from, uint64_t(bytes));
}

void SimulatedDevice::download(int64_t offset, char *to, int64_t bytes) const {
  device.read(arena + uint64_t(offset), to, uint64_t(bytes));
}

void SimulatedDevice::step(runtime::Recorder *recorder) {
  device.forget(arena + uint64_t(kept), uint64_t(bytes - kept));
  if (recorder)
    recorder->beginStep();
  running = this;
  function(reinterpret_cast<char *>(arena));
  running = nullptr;
  if (recorder)
    recorder->endStep();
}

void SimulatedDevice::launched(int64_t number, void **arguments) {
  const program::Kernel &kernel = kernels[size_t(number)];
  device.launch(kernel.name, {uint32_t(kernel.blocks)},
                {uint32_t(kernel.threads)}, uint32_t(kernel.sharedBytes),
                arguments);
}

std::vector<int64_t> SimulatedDevice::counts() const {
  if (!counted)
    return {};
  auto [address, size] = device.variable("netc_counts");
  std::vector<int64_t> counts(size / sizeof(int64_t));
  device.read(address, counts.data(), size);
  return counts;
}
