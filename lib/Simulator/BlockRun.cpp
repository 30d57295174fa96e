// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Simulator/BlockRun.h"

#include <algorithm>
#include <cstring>

using namespace netc::simulator;

/// Which registers say what a thread is.
static uint64_t specialOf(Special special, Extent grid, Extent block,
                          Extent index, uint32_t thread) {
  switch (special) {
  case Special::TidX:
    return thread % block.x;
  case Special::TidY:
    return thread / block.x % block.y;
  case Special::TidZ:
    return thread / block.x / block.y;
  case Special::NtidX:
    return block.x;
  case Special::NtidY:
    return block.y;
  case Special::NtidZ:
    return block.z;
  case Special::CtaidX:
    return index.x;
  case Special::CtaidY:
    return index.y;
  case Special::CtaidZ:
    return index.z;
  case Special::NctaidX:
    return grid.x;
  case Special::NctaidY:
    return grid.y;
  case Special::NctaidZ:
    return grid.z;
  case Special::LaneId:
    return thread % kLanes;
  case Special::WarpId:
    return thread / kLanes;
  }
  return 0;
}

BlockRun::BlockRun(Device &device, const Kernel &kernel, Extent grid,
                   Extent block, Extent index, uint32_t sharedBytes,
                   const std::vector<char> &parameters, uint32_t launch)
    : device(device), kernel(kernel), grid(grid), block(block), index(index),
      shared(kernel.sharedBytes + sharedBytes), parameters(parameters),
      launch(launch), number((index.z * grid.y + index.y) * grid.x + index.x) {}

uint32_t BlockRun::threadsOf(const Warp &warp) const {
  uint64_t there = block.count() - warp.first;
  return there >= kLanes ? ~0u : (1u << there) - 1;
}

void BlockRun::start(Warp &warp, uint32_t number) {
  warp.first = number * kLanes;
  warp.registers.assign(size_t(kernel.registers) * kLanes, 0);
  warp.local.assign(size_t(kernel.localBytes) * kLanes, 0);
  for (auto [special, at] : kernel.specials)
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      warp.registers[size_t(at) * kLanes + lane] =
          specialOf(special, grid, block, index, warp.first + lane);
  warp.parts = {{0, threadsOf(warp)}};
}

void BlockRun::run(const std::vector<uint32_t> &order) {
  warps.resize(order.size());
  for (uint32_t number : order)
    start(warps[number], number);
  do
    for (uint32_t number : order)
      advance(warps[number]);
  while (releaseBarrier());
}

/// Lets those go on that wait, when all others have ended. Returns whether some
/// waited.
bool BlockRun::releaseBarrier() {
  bool anyone = false, everyone = true;
  for (const Warp &warp : warps) {
    anyone |= warp.atBarrier != 0;
    everyone &= warp.atBarrier == threadsOf(warp);
  }
  if (!anyone)
    return false;
  if (!everyone)
    report(*lastBarrier, "divergent barrier: not all threads reach it");
  ++barriers;
  ++device.counted.barriers;
  for (Warp &warp : warps)
    warp.atBarrier = 0;
  return true;
}

void BlockRun::advance(Warp &warp) {
  for (;;) {
    // The lowest pc goes on; parts that have come to the same are one again.
    // Those that wait have none to go to.
    const Part *lowest = nullptr;
    for (const Part &part : warp.parts)
      if (!(part.lanes & warp.atBarrier) && (!lowest || part.pc < lowest->pc))
        lowest = &part;
    if (!lowest)
      return;
    uint32_t pc = lowest->pc, lanes = 0;
    auto isHere = [&](const Part &part) {
      bool here = part.pc == pc && !(part.lanes & warp.atBarrier);
      lanes |= here ? part.lanes : 0;
      return here;
    };
    warp.parts.erase(
        std::remove_if(warp.parts.begin(), warp.parts.end(), isHere),
        warp.parts.end());
    step(warp, {pc, lanes});
  }
}

/// Runs one part until it branches, ends, waits or comes to where another is.
void BlockRun::step(Warp &warp, Part part) {
  uint32_t next = ~0u; // where another part waits to be joined
  for (const Part &other : warp.parts)
    if (!(other.lanes & warp.atBarrier))
      next = std::min(next, other.pc);
  for (;;) {
    if (part.pc == next) {
      warp.parts.push_back(part);
      return;
    }
    const Instruction &instruction = kernel.code[part.pc];
    uint32_t lanes = part.lanes;
    if (instruction.guard >= 0) {
      const uint64_t *guard =
          warp.registers.data() + size_t(instruction.guard) * kLanes;
      for (int lane = 0; lane < kLanes; ++lane)
        if ((guard[lane] != 0) == instruction.isNegated)
          lanes &= ~(1u << lane);
    }
    ++device.counted.instructions;
    switch (instruction.control) {
    case Instruction::None:
      if (lanes) {
        device.counted.flop +=
            uint64_t(instruction.flop) * uint64_t(__builtin_popcount(lanes));
        instruction.run(*this, warp, instruction, lanes);
      }
      break;
    case Instruction::Branch:
      if (lanes == part.lanes) {
        warp.parts.push_back({uint32_t(instruction.target), lanes});
        return;
      }
      if (lanes) {
        ++device.counted.divergences;
        warp.parts.push_back({uint32_t(instruction.target), lanes});
        warp.parts.push_back({part.pc + 1, part.lanes & ~lanes});
        return;
      }
      break;
    case Instruction::Return:
      part.lanes &= ~lanes;
      if (!part.lanes)
        return;
      break;
    case Instruction::Barrier:
      lastBarrier = &instruction;
      if (lanes) {
        warp.atBarrier |= lanes;
        warp.parts.push_back({part.pc + 1, lanes});
      }
      if (part.lanes & ~lanes)
        warp.parts.push_back({part.pc + 1, part.lanes & ~lanes});
      return;
    }
    ++part.pc;
  }
}

void BlockRun::report(const Instruction &instruction, const std::string &kind) {
  device.report(kind, kernel, instruction.line, instruction.text);
}

char *BlockRun::access(Warp &warp, const Instruction &instruction, int lane,
                       uint64_t address, uint32_t bytes, bool isWrite,
                       bool isAtomic) {
  if (address % bytes != 0) {
    report(instruction, "misaligned access");
    return nullptr;
  }
  Space space = instruction.space;
  if (space == Space::Generic) {
    space = address >= kLocalWindow    ? Space::Local
            : address >= kSharedWindow ? Space::Shared
                                       : Space::Global;
    if (space == Space::Local)
      address -= kLocalWindow;
    else if (space == Space::Shared)
      address -= kSharedWindow;
  }
  if (space == Space::Local) {
    if (address > kernel.localBytes || bytes > kernel.localBytes - address) {
      report(instruction, "local access out of bounds");
      return nullptr;
    }
    return warp.local.data() + size_t(lane) * kernel.localBytes + address;
  }
  TrackedBytes *memory = &shared;
  uint64_t at = address;
  if (space == Space::Global)
    memory = device.memory->find(address, bytes, at);
  else if (at > shared.size() || bytes > shared.size() - at)
    memory = nullptr;
  if (!memory) {
    report(instruction, space == Space::Global ? "global access out of bounds"
                                               : "shared access out of bounds");
    return nullptr;
  }
  // What is shared is the block's own.
  Access by{launch,
            number * uint32_t(block.count()) + warp.first + uint32_t(lane),
            number, barriers, isAtomic};
  const char *wrong = nullptr;
  if (!isWrite || isAtomic)
    wrong = memory->noteRead(at, bytes, by);
  if (isWrite || isAtomic)
    if (const char *more = memory->noteWrite(at, bytes, by))
      wrong = more;
  if (wrong)
    report(instruction, wrong);
  return memory->data() + at;
}

void BlockRun::countAccess(const Instruction &instruction,
                           const uint64_t *addresses, uint32_t lanes,
                           uint32_t bytes) {
  Space space = instruction.space;
  bool isShared = space == Space::Shared;
  if (space == Space::Generic)
    isShared = addresses[__builtin_ctz(lanes)] >= kSharedWindow;
  if (space == Space::Local || space == Space::Parameter)
    return;
  uint64_t units[kLanes * 4];
  uint32_t count = 0;
  uint64_t size = isShared ? 4 : 32, wanted = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    wanted += bytes;
    for (uint64_t unit = addresses[lane] / size;
         unit <= (addresses[lane] + bytes - 1) / size; ++unit)
      if (count == 0 || units[count - 1] != unit)
        units[count++] = unit;
  }
  std::sort(units, units + count);
  count = uint32_t(std::unique(units, units + count) - units);
  Counters &counted = device.counted;
  if (!isShared) {
    counted.sectors += count;
    counted.idealSectors += std::min<uint64_t>(count, (wanted + 31) / 32);
    return;
  }
  uint32_t inBank[32] = {}, most = 0;
  for (uint32_t i = 0; i < count; ++i)
    most = std::max(most, ++inBank[units[i] % 32]);
  counted.wavefronts += most;
  counted.idealWavefronts += (count + 31) / 32;
}
