// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Barriers in shared memory (`mbarrier`). What happens before what is known by
// vector clocks: a thread that arrives passes on what its warp knows to those
// that wait for the phase.

#include "lib/Simulator/Handlers.h"

#include <algorithm>

using namespace netc::simulator;

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

static uint32_t timeIn(const Clock &clock, size_t of) {
  return of < clock.size() ? clock[of] : 0;
}

static void join(Clock &clock, const Clock &other) {
  clock.resize(std::max(clock.size(), other.size()));
  for (size_t i = 0; i < other.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

void Launch::synchronizeClocks() {
  Clock all;
  for (const Warp &warp : warps)
    join(all, warp.clock);
  for (Warp &warp : warps) {
    warp.clock = all;
    ++warp.clock[warp.number()];
  }
}

void Launch::noteUse(const Warp &warp, uint64_t chunk) {
  uses[chunk * warps.size() + warp.number()] = warp.clock[warp.number()];
}

bool Launch::isUsed(const Warp &warp, uint64_t chunk) const {
  for (size_t other = 0; other < warps.size(); ++other)
    if (uses[chunk * warps.size() + other] > warp.clock[other] &&
        other != warp.number())
      return true;
  return false;
}

void Launch::checkFilled(const Warp &warp, const Instruction &i,
                         const SharedChunk &chunk) {
  if (timeIn(warp.clock, warps.size() + chunk.filledBy) < chunk.filledIn)
    report(i, "race: access to a copy whose mbarrier was not waited for");
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

PhaseBarrier *Launch::barrierAt(const Warp &warp, const Instruction &i,
                                uint64_t address) {
  auto found = barriers.find(address);
  if (found == barriers.end()) {
    report(i, "use of an mbarrier that is not initialized");
    return nullptr;
  }
  PhaseBarrier &barrier = found->second;
  if (warp.number() != barrier.initializer &&
      warp.clock[barrier.initializer] < barrier.initialized)
    report(i, "race: use of an mbarrier that another warp initializes");
  return &barrier;
}

void Launch::initializeBarrier(const Warp &warp, const Instruction &i,
                               uint64_t address, uint32_t arrivals) {
  if (address % 8 != 0)
    return report(i, "misaligned access");
  if (address + 8 > kernel.sharedBytes + sharedBytes)
    return report(i, "shared access out of bounds");
  auto number = uint32_t(barriers.size());
  auto [at, isNew] = barriers.try_emplace(address);
  if (!isNew)
    return report(i, "second initialization of an mbarrier");
  at->second.number = number;
  at->second.arrivals = at->second.pending = arrivals;
  at->second.initializer = warp.number();
  at->second.initialized = warp.clock[warp.number()];
}

void Launch::fenceBarriers(const Warp &warp) {
  for (auto &[address, barrier] : barriers)
    barrier.isFenced |= barrier.initializer == warp.number();
}

bool Launch::endPhase(PhaseBarrier &barrier) {
  if (barrier.pending || barrier.bytes)
    return false;
  ++barrier.phase;
  for (const BoxCopy &copy : barrier.copies)
    complete(copy, barrier);
  barrier.copies.clear();
  barrier.pending = barrier.arrivals;
  // Those who waited know that the phase is complete, and its copies.
  size_t own = warps.size() + barrier.number;
  barrier.completed = barrier.arrived;
  barrier.completed.resize(std::max(barrier.completed.size(), own + 1));
  barrier.completed[own] = barrier.phase;
  return true;
}

void Launch::arrive(Warp &warp, const Instruction &i, uint64_t address,
                    uint32_t bytes) {
  PhaseBarrier *barrier = barrierAt(warp, i, address);
  if (!barrier)
    return;
  if (!barrier->pending)
    return report(i, "arrival at an mbarrier whose phase was not waited for");
  --barrier->pending;
  barrier->bytes += bytes;
  join(barrier->arrived, warp.clock);
  ++warp.clock[warp.number()];
  // Copies complete a phase as late as they may: when it is waited for.
  if (barrier->copies.empty())
    endPhase(*barrier);
}

bool Launch::waitForPhase(Warp &warp, const Instruction &i, uint32_t lanes) {
  auto *addresses = Launch::lanes<uint32_t>(warp, i, 1),
       *parities = Launch::lanes<uint32_t>(warp, i, 2),
       *results = Launch::lanes<uint32_t>(warp, i, 0);
  for (uint32_t left = lanes; left; left &= left - 1) {
    int lane = __builtin_ctz(left);
    PhaseBarrier *barrier = barrierAt(warp, i, addresses[lane]);
    if (!barrier)
      continue;
    if (barrier->phase % 2 == parities[lane] && !endPhase(*barrier))
      return false;
    join(warp.clock, barrier->completed);
  }
  forLanes(lanes, [=](int lane) { results[lane] = ~0u; });
  return true;
}

void Launch::checkBarriers() {
  for (const Warp &warp : warps)
    for (const Part &part : warp.parts)
      if (part.lanes & warp.atPhase)
        report(kernel.code[part.pc],
               "wait for a phase of an mbarrier that never completes");
  for (const auto &[address, barrier] : barriers)
    for (const BoxCopy &copy : barrier.copies)
      report(*copy.instruction, "copy that nothing waits for");
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// `mbarrier.init`. Operands: the address, and the arrivals of a phase.
void netc::simulator::initializeBarrier(Launch &run, Warp &warp,
                                        const Instruction &i, uint32_t lanes) {
  for (; lanes; lanes &= lanes - 1) {
    int lane = __builtin_ctz(lanes);
    run.initializeBarrier(warp, i, Launch::lanes<uint32_t>(warp, i, 0)[lane],
                          Launch::lanes<uint32_t>(warp, i, 1)[lane]);
  }
}
/// `mbarrier.arrive`. Operands: the address, and the bytes that the phase is to
/// expect.
void netc::simulator::arriveAtBarrier(Launch &run, Warp &warp,
                                      const Instruction &i, uint32_t lanes) {
  for (; lanes; lanes &= lanes - 1) {
    int lane = __builtin_ctz(lanes);
    run.arrive(warp, i, Launch::lanes<uint32_t>(warp, i, 0)[lane],
               Launch::lanes<uint32_t>(warp, i, 1)[lane]);
  }
}
/// `fence.mbarrier_init`.
void netc::simulator::fenceBarriers(Launch &run, Warp &warp,
                                    const Instruction &, uint32_t) {
  run.fenceBarriers(warp);
}
