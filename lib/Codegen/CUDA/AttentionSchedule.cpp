// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/AttentionSchedule.h"

#include <algorithm>

using namespace netc;

/// The fewest rows and keys, and the longest rows of Q and V.
static constexpr int64_t kMinSide = 16, kMaxWidth = 128;
/// The most registers for fragments. Addresses and elements take about 90 more.
static constexpr int64_t kMaxRegisters = 130;

int64_t AttentionSchedule::sharedElements() const {
  return std::max(bm * stride(std::max(dims.depth, dims.columns)),
                  kStages * stageElements());
}

int64_t AttentionSchedule::registers() const {
  return (work.ofDepth * padded(dims.depth) +
          work.ofColumns * padded(dims.columns)) /
             4 +
         work.ofTile * bn / 2;
}

int64_t AttentionSchedule::firstTile(int64_t row) const {
  return dims.hidden == AttentionDims::Before ? std::min(row / bn, tiles() - 1)
                                              : 0;
}

int64_t AttentionSchedule::endOfTiles(int64_t row) const {
  return dims.hidden == AttentionDims::After
             ? std::min((row + bm - 1) / bn + 1, tiles())
             : tiles();
}

int64_t AttentionSchedule::executedFlop() const {
  int64_t ofBlocks = 0;
  for (int64_t row = 0; row < dims.rows; row += bm)
    ofBlocks += endOfTiles(row) - firstTile(row);
  return 2 * dims.batch * bm * ofBlocks * bn *
         (work.depth * padded(dims.depth) +
          work.columns * padded(dims.columns));
}

int64_t AttentionSchedule::countedFlop() const {
  return 2 * dims.batch * dims.rows * dims.keys *
         (work.countedDepth * dims.depth + work.countedColumns * dims.columns);
}

std::optional<AttentionSchedule>
netc::scheduleAttention(const AttentionDims &dims, const AttentionWork &work,
                        const DeviceInfo &device) {
  if (dims.rows < kMinSide || dims.keys < kMinSide || dims.depth > kMaxWidth ||
      dims.columns > kMaxWidth)
    return std::nullopt;
  AttentionSchedule best{dims, work, 16, 64};
  // Each block reads all of K and V, so larger ones read less, if they still
  // occupy the device.
  while (best.bm < 128 && best.bm < dims.rows) {
    AttentionSchedule larger = best;
    larger.bm *= 2;
    if (larger.bm > 64 && larger.blocks() < device.multiprocessors)
      break;
    best = larger;
  }
  auto isLarge = [&] {
    return best.bn / 2 >= dims.keys ||
           best.sharedBytes() > device.sharedBytes ||
           best.registers() > kMaxRegisters;
  };
  while (best.bn > 16 && isLarge())
    best.bn /= 2;
  return best;
}

llvm::raw_ostream &netc::operator<<(llvm::raw_ostream &os,
                                    const AttentionSchedule &schedule) {
  const AttentionDims &dims = schedule.dims;
  return os << "attention of " << dims.rows << " rows to " << dims.keys
            << " keys of " << dims.depth << " and values of " << dims.columns
            << ", " << dims.batch << " times: " << schedule.blocks()
            << " blocks of " << schedule.threads() << " threads, "
            << schedule.bm << " rows and " << schedule.bn << " keys at a time, "
            << schedule.sharedBytes() << " bytes of shared memory; executes "
            << schedule.executedFlop() << " of " << schedule.countedFlop()
            << " FLOP";
}
