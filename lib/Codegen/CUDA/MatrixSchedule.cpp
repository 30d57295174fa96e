// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/MatrixSchedule.h"

#include <algorithm>

using namespace netc;

/// The fewest rows, columns and elements of C, and the least k: with less, most
/// of a fragment would be unused.
static constexpr int64_t kMinSide = 4, kMinResults = 256, kMinSums = 16;
/// Steps along k are counted with 32 bits, up to the end of the last one.
static constexpr int64_t kMostSums = (int64_t(1) << 31) - 1024;
/// More stages hide no more of the latency of memory.
static constexpr int64_t kMostStages = 4;

/// Registers of a thread beside those of its sums, as ptxas assigns them.
static constexpr int64_t kOtherRegisters = 90;
/// Shared memory of a block that the driver takes.
static constexpr int64_t kDriverBytes = 1 << 10;
/// Cycles from the start of a block to its first product, and from its last
/// store to the start of the next block.
static constexpr int64_t kLatency = 2000;

int64_t MatrixSchedule::residentBlocks(const DeviceInfo &device) const {
  int64_t registers = threads() * (bm * bn / threads() + kOtherRegisters);
  return std::max<int64_t>(
      std::min({device.registers / registers,
                device.mostSharedBytes / (sharedBytes() + kDriverBytes),
                device.threads / threads()}),
      1);
}

namespace {
/// Estimated cycles of all blocks that a multiprocessor executes.
struct Cycles {
  /// Of the unit that they keep busy longest: what multiplies, shared memory,
  /// or the copies from L2 and the stores to it.
  int64_t busy;
  /// With what each block waits for: its first operands, and its last stores.
  /// Blocks that are there at once wait at the same time.
  int64_t all;
};
} // namespace

static Cycles cyclesOfMatrix(const MatrixSchedule &schedule,
                             const DeviceInfo &device) {
  bool isByWarpgroups = schedule.isByWarpgroups();
  int64_t rate =
      isByWarpgroups ? device.warpgroupMultiplyAdds : device.matrixMultiplyAdds;
  int64_t steps = schedule.steps();
  int64_t rowBytes = schedule.bk * schedule.elementBytes;
  int64_t sums = schedule.bm * schedule.bn;
  int64_t products = steps * sums * (rowBytes / 2) / rate;
  int64_t readers = isByWarpgroups ? schedule.bm / MatrixSchedule::kGroupRows
                                   : schedule.warpsM * schedule.warpsN;
  int64_t rows = isByWarpgroups ? MatrixSchedule::kGroupRows : schedule.rows();
  int64_t read = steps * (rows + schedule.columns()) * (rowBytes / 4) *
                 readers / device.sharedWords;
  int64_t copied = steps * schedule.elementBytes * schedule.stageElements() /
                   device.cacheBytes;
  // Sums are written to shared memory and read there, then stored, most of
  // them in 16 bits.
  int64_t exchanged = 2 * sums / device.sharedWords,
          stored = 2 * sums / device.cacheBytes;
  int64_t alone =
      kLatency + std::max({products, read, copied}) + exchanged + stored;
  int64_t blocks = schedule.waves(device),
          atOnce = schedule.residentBlocks(device);
  int64_t busy =
      blocks * std::max({products, read + exchanged, copied + stored});
  return {busy, std::max(busy, (blocks + atOnce - 1) / atOnce * alone)};
}

static bool isFaster(const MatrixSchedule &matrix, const MatrixSchedule &than,
                     const DeviceInfo &device) {
  return cyclesOfMatrix(matrix, device).all < cyclesOfMatrix(than, device).all;
}

/// Chooses the grid of warps that reads the least from shared memory. Each
/// thread has the same number of chunks of an operand to copy. False if there
/// is no such grid.
static bool placeWarps(MatrixSchedule &schedule) {
  int64_t chunks =
      std::min(schedule.bm, schedule.bn) * schedule.bk / schedule.chunk();
  int64_t warps = std::min<int64_t>(
      chunks / 32, schedule.bm * schedule.bn >= 128 * 64 ? 8 : 4);
  bool isPlaced = false;
  for (int64_t m = 1; m <= warps; m *= 2) {
    int64_t n = warps / m;
    // Two fragments of B are loaded at once.
    if (schedule.bm / m < MatrixSchedule::kFragmentM ||
        schedule.bn / n < 2 * MatrixSchedule::kFragmentN)
      continue;
    if (isPlaced && schedule.bm / m + schedule.bn / n >=
                        schedule.rows() + schedule.columns())
      continue;
    schedule.warpsM = m;
    schedule.warpsN = n;
    isPlaced = true;
  }
  return isPlaced;
}

/// The best schedule by `wgmma`, of elements of 16 bits. None if the device
/// does not have it.
static std::optional<MatrixSchedule>
scheduleWarpgroups(const TileDims &dims, bool copiesA, bool copiesB,
                   const DeviceInfo &device) {
  std::optional<MatrixSchedule> best;
  if (!device.warpgroupMultiplyAdds)
    return best;
  for (int64_t bm : {128, 64, 256})
    for (int64_t bn : {256, 192, 128, 64}) {
      MatrixSchedule matrix{{dims, bm, bn, MatrixSchedule::kGroupElements},
                            MatrixSchedule::kGroupElementBytes,
                            bm / MatrixSchedule::kFragmentM,
                            1,
                            1,
                            copiesA,
                            copiesB,
                            MatrixInstruction::Wgmma};
      // A multiprocessor has 64 Ki registers. Elements that are copied one by
      // one take more of them than chunks.
      if (bm * bn > (copiesA && copiesB ? 128 * 256 : 128 * 128))
        continue;
      matrix.stages = std::min(device.mostSharedBytes / matrix.sharedBytes(),
                               matrix.steps() < MatrixSchedule::kFewestRefilled
                                   ? matrix.steps()
                                   : kMostStages);
      if (matrix.stages <
          std::min(matrix.steps(), MatrixSchedule::kFewestRefilled))
        continue;
      if (!best || isFaster(matrix, *best, device))
        best = matrix;
    }
  return best;
}

std::optional<MatrixSchedule> netc::scheduleMatrix(const TileDims &dims,
                                                   int64_t elementBytes,
                                                   bool copiesA, bool copiesB,
                                                   const DeviceInfo &device) {
  if (std::min(dims.m, dims.n) < kMinSide || dims.m * dims.n < kMinResults ||
      dims.k < kMinSums || dims.k > kMostSums)
    return std::nullopt;
  std::optional<MatrixSchedule> best;
  for (int64_t bm : {128, 64, 32, 16})
    for (int64_t bn : {128, 64, 32, 16}) {
      MatrixSchedule matrix{{dims, bm, bn, /*bk=*/64 / elementBytes},
                            elementBytes,
                            1,
                            1,
                            1,
                            copiesA,
                            copiesB};
      if (!placeWarps(matrix))
        continue;
      int64_t fit = device.sharedBytes / matrix.sharedBytes();
      // Copies that are not asynchronous gain nothing from more than two
      // stages.
      int64_t most = copiesA || copiesB ? kMostStages : 2;
      matrix.stages = std::min(fit, most);
      if (!best || isFaster(matrix, *best, device))
        best = matrix;
    }
  if (elementBytes != MatrixSchedule::kGroupElementBytes)
    return best;
  // What a tile waits for is the same by both instructions.
  auto byGroups = scheduleWarpgroups(dims, copiesA, copiesB, device);
  bool isBetter =
      byGroups && (!best || cyclesOfMatrix(*byGroups, device).busy <=
                                cyclesOfMatrix(*best, device).busy);
  return isBetter ? byGroups : best;
}

int64_t MatrixSchedule::stagedRows() const {
  int64_t staged = rows();
  while (int64_t(sizeof(float)) * warpsM * staged * bn > sharedBytes())
    staged /= 2;
  return staged;
}

std::optional<int64_t> netc::cyclesOfParts(const TileDims &dims,
                                           int64_t elementBytes, int64_t parts,
                                           const DeviceInfo &device) {
  TileDims part = dims;
  part.batch *= parts;
  part.k /= parts;
  auto schedule = scheduleMatrix(part, elementBytes, true, true, device);
  if (!schedule)
    return std::nullopt;
  int64_t cycles = cyclesOfMatrix(*schedule, device).all;
  if (parts == 1)
    return cycles;
  int64_t bytes = int64_t(sizeof(float)) * part.batch * part.m * part.n;
  // Another kernel adds up the parts.
  return cycles + kLatency +
         2 * bytes / (device.cacheBytes * device.multiprocessors);
}

Swizzle Swizzle::of(int64_t chunksOfRow, int64_t chunkBytes) {
  // Several short rows share the 128 bytes of all banks.
  int64_t ofBanks = 128 / chunkBytes, shift = 0;
  while (chunksOfRow << shift < ofBanks)
    ++shift;
  return {shift, std::min(chunksOfRow, ofBanks) - 1};
}

llvm::raw_ostream &netc::operator<<(llvm::raw_ostream &os,
                                    const MatrixSchedule &schedule) {
  const TileDims &dims = schedule.dims;
  schedule.print(os);
  if (schedule.isByWarpgroups())
    os << schedule.bm / MatrixSchedule::kGroupRows << " warpgroups";
  else
    os << schedule.warpsM << " x " << schedule.warpsN << " warps";
  os << ", matrices of " << schedule.bm << " x " << schedule.bn << " x "
     << schedule.bk << ", " << schedule.stages << " stages, "
     << schedule.sharedBytes() << " bytes of shared memory; A "
     << (schedule.copiesA ? "in chunks" : "by element") << " along "
     << (dims.isAAlongK ? 'k' : 'm') << ", B "
     << (schedule.copiesB ? "in chunks" : "by element") << " along "
     << (dims.isBAlongK ? 'k' : 'n') << "; executes " << schedule.executedFlop()
     << " of " << schedule.countedFlop() << " FLOP";
  return os;
}
