// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/TileSchedule.h"

#include <algorithm>

using namespace netc;

/// The least m and n, and the least k: with less, most of a tile would be
/// unused.
static constexpr int64_t kMinSide = 16, kMinDepth = 8;

int64_t TileGrid::waves(const DeviceInfo &device) const {
  return (blocks() + device.multiprocessors - 1) / device.multiprocessors;
}

int64_t TileGrid::executedFlop() const {
  int64_t depth = (dims.k + bk - 1) / bk * bk;
  return 2 * blocks() * bm * bn * depth;
}

void TileGrid::print(llvm::raw_ostream &os) const {
  os << "product " << dims.m << " x " << dims.n << " x " << dims.k;
  if (dims.batch != 1)
    os << ", " << dims.batch << " times";
  os << ": " << blocks() << " blocks of ";
}

/// Estimated cycles for each k of the sum, over all waves of blocks.
static int64_t cyclesOf(const TileSchedule &schedule,
                        const DeviceInfo &device) {
  int64_t products = schedule.bm * schedule.bn / device.multiplyAdds;
  int64_t words = schedule.dims.elementBits / 32 * (schedule.bm + schedule.bn) *
                  TileSchedule::kSide;
  return schedule.waves(device) *
         std::max(products, words / device.sharedWords);
}

std::optional<TileSchedule> netc::scheduleTiles(const TileDims &dims,
                                                const DeviceInfo &device) {
  if (dims.m < kMinSide || dims.n < kMinSide || dims.k < kMinDepth)
    return std::nullopt;
  std::optional<TileSchedule> best;
  for (int64_t bm : {128, 64, 32})
    for (int64_t bn : {128, 64, 32}) {
      TileSchedule tiles{{dims, bm, bn, /*bk=*/32}};
      if (tiles.sharedBytes() > device.sharedBytes)
        continue;
      if (!best || cyclesOf(tiles, device) < cyclesOf(*best, device))
        best = tiles;
    }
  return best;
}

llvm::raw_ostream &netc::operator<<(llvm::raw_ostream &os,
                                    const TileSchedule &schedule) {
  const TileDims &dims = schedule.dims;
  schedule.print(os);
  os << TileSchedule::kThreads << " threads, tiles of " << schedule.bm << " x "
     << schedule.bn << " x " << schedule.bk << ", " << schedule.sharedBytes()
     << " bytes of shared memory; A along " << (dims.isAAlongK ? 'k' : 'm')
     << ", B along " << (dims.isBAlongK ? 'k' : 'n');
  return os;
}
