// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_SIMULATOR_BLOCKRUN_H
#define NETC_LIB_SIMULATOR_BLOCKRUN_H

#include "lib/Simulator/Kernel.h"
#include "lib/Simulator/Memory.h"
#include "lib/Simulator/Simulator.h"

#include <memory>

namespace netc::simulator {

/// Lanes of a warp that are at one instruction.
struct Part {
  uint32_t pc, lanes;
};

struct Warp {
  uint32_t first; ///< thread of the block that lane 0 is
  std::vector<uint64_t> registers;
  std::vector<Part> parts; ///< apart; the lowest pc goes on first
  std::vector<char> local; ///< of all lanes
  uint32_t atBarrier = 0;  ///< lanes that wait
};

/// One block of a launch, from its start to its end.
class BlockRun {
public:
  BlockRun(Device &device, const Kernel &kernel, Extent grid, Extent block,
           Extent index, uint32_t sharedBytes,
           const std::vector<char> &parameters, uint32_t launch);

  /// The warps run in this order, each until it ends or waits for the others.
  void run(const std::vector<uint32_t> &order);

  //===-- For instructions ------------------------------------------------===//

  uint64_t *result(Warp &warp, const Instruction &instruction, size_t i = 0) {
    return warp.registers.data() +
           size_t(instruction.operands[i].index) * kLanes;
  }
  const uint64_t *value(const Warp &warp, const Instruction &instruction,
                        size_t i) const {
    const Operand &operand = instruction.operands[i];
    const std::vector<uint64_t> &from =
        operand.isConstant ? kernel.constants : warp.registers;
    return from.data() + size_t(operand.index) * kLanes;
  }
  /// Bytes that a lane may access, or null after a finding. `isAtomic` reads
  /// and writes.
  char *access(Warp &warp, const Instruction &instruction, int lane,
               uint64_t address, uint32_t bytes, bool isWrite,
               bool isAtomic = false);
  /// Counts what a warp's access touches. Lanes without one are off.
  void countAccess(const Instruction &instruction, const uint64_t *addresses,
                   uint32_t lanes, uint32_t bytes);
  const char *parameter(uint64_t at) const { return &parameters[at]; }
  void report(const Instruction &instruction, const std::string &kind);

private:
  void start(Warp &warp, uint32_t number);
  /// Until it waits or ends. Returns whether it has ended.
  void advance(Warp &warp);
  void step(Warp &warp, Part part);
  bool releaseBarrier();
  uint32_t threadsOf(const Warp &warp) const;

  Device &device;
  const Kernel &kernel;
  Extent grid, block, index;
  TrackedBytes shared;
  const std::vector<char> &parameters;
  uint32_t launch, number;
  uint32_t barriers = 0;
  std::vector<Warp> warps;
  const Instruction *lastBarrier = nullptr;
};

} // namespace netc::simulator

#endif // NETC_LIB_SIMULATOR_BLOCKRUN_H
