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

/// Estimated cycles over all waves of blocks: to multiply, to read shared
/// memory, or to copy to it, whichever takes longest.
static int64_t cyclesOfMatrix(const MatrixSchedule &schedule,
                              const DeviceInfo &device) {
  bool isByWarpgroups = schedule.isByWarpgroups();
  int64_t rate =
      isByWarpgroups ? device.warpgroupMultiplyAdds : device.matrixMultiplyAdds;
  int64_t rowBytes = schedule.bk * schedule.elementBytes;
  int64_t products = schedule.bm * schedule.bn * (rowBytes / 2) / rate;
  int64_t readers = isByWarpgroups ? schedule.bm / MatrixSchedule::kGroupRows
                                   : schedule.warpsM * schedule.warpsN;
  int64_t rows = isByWarpgroups ? MatrixSchedule::kGroupRows : schedule.rows();
  int64_t wordsRead = (rows + schedule.columns()) * (rowBytes / 4) * readers;
  int64_t bytesCopied = schedule.elementBytes * schedule.stageElements();
  int64_t steps = (schedule.dims.k + schedule.bk - 1) / schedule.bk;
  return schedule.waves(device) * steps *
         std::max({products, wordsRead / device.sharedWords,
                   bytesCopied / device.cacheBytes});
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
      matrix.stages =
          std::min(device.mostSharedBytes / matrix.sharedBytes(), kMostStages);
      // One stage is read while another one is copied, and the last one may
      // still be read.
      if (matrix.stages < 3)
        continue;
      if (!best ||
          cyclesOfMatrix(matrix, device) < cyclesOfMatrix(*best, device))
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
  if (elementBytes == MatrixSchedule::kGroupElementBytes)
    best = scheduleWarpgroups(dims, copiesA, copiesB, device);
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
      if (!best ||
          cyclesOfMatrix(matrix, device) < cyclesOfMatrix(*best, device))
        best = matrix;
    }
  return best;
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
  int64_t cycles = cyclesOfMatrix(*schedule, device);
  if (parts == 1)
    return cycles;
  int64_t bytes = int64_t(sizeof(float)) * part.batch * part.m * part.n;
  return cycles + 2 * bytes / (device.cacheBytes * device.multiprocessors);
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
