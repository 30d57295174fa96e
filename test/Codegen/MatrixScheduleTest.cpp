// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/MatrixSchedule.h"
#include "lib/Program/DeviceArch.h"

#include "gtest/gtest.h"

#include <set>

using namespace netc;

static MatrixSchedule schedule(const TileDims &dims, bool copies = true,
                               int64_t elementBytes = 2) {
  return *scheduleMatrix(dims, elementBytes, copies, copies, DeviceInfo());
}

/// A device with wgmma.
static DeviceInfo hopper() {
  return DeviceInfo::of(*program::deviceArchNamed("sm_90a"));
}

TEST(MatrixScheduleTest, LargeProductsHaveLargeTiles) {
  MatrixSchedule matrix = schedule({1, 4096, 4096, 4096});
  EXPECT_EQ(matrix.bm, 128);
  EXPECT_EQ(matrix.bn, 128);
  EXPECT_EQ(matrix.threads(), 256);
  EXPECT_EQ(matrix.rows() * matrix.columns(), 64 * 32);
  EXPECT_EQ(matrix.stages, 3);
  EXPECT_EQ(matrix.executedFlop(), matrix.countedFlop());
}

TEST(MatrixScheduleTest, AllTilesFitSharedMemoryAndWarpsFitTiles) {
  for (int64_t m : {4, 16, 40, 64, 1000})
    for (int64_t n : {16, 33, 300, 5000}) {
      if (m * n < 256)
        continue;
      MatrixSchedule matrix = schedule({1, m, n, 100});
      EXPECT_LE(matrix.sharedBytes(), DeviceInfo().sharedBytes);
      EXPECT_GE(matrix.stages, 2);
      EXPECT_EQ(matrix.rows() % MatrixSchedule::kFragmentM, 0);
      EXPECT_EQ(matrix.columns() % (2 * MatrixSchedule::kFragmentN), 0);
      EXPECT_GE(matrix.executedFlop(), matrix.countedFlop());
    }
}

TEST(MatrixScheduleTest, AColumnFillsNoFragment) {
  auto isScheduled = [](int64_t m, int64_t n) {
    return scheduleMatrix({/*batch=*/144, m, n, /*k=*/25}, /*elementBytes=*/2,
                          false, false, hopper())
        .has_value();
  };
  // Of a depthwise convolution.
  EXPECT_FALSE(isScheduled(1568, 1));
  EXPECT_FALSE(isScheduled(1, 1568));
  EXPECT_TRUE(isScheduled(1568, 4));
}

TEST(MatrixScheduleTest, WhatSticksOutIsLittleInLargeProducts) {
  auto excess = [](const TileDims &dims) {
    MatrixSchedule matrix = schedule(dims);
    return double(matrix.executedFlop()) / double(matrix.countedFlop());
  };
  // Of GPT-2: attention, the vocabulary, and an image's first convolution.
  EXPECT_LE(excess({96, 1024, 1024, 64}), 1.0);
  EXPECT_LE(excess({1, 8192, 50257, 768}), 1.01);
  EXPECT_LE(excess({1, 802816, 64, 147}), 1.1);
}

TEST(MatrixScheduleTest, StagesOfTF32HaveTheBytesOfThoseOf16Bits) {
  MatrixSchedule half = schedule({1, 4096, 4096, 4096}),
                 wide = schedule({1, 4096, 4096, 4096}, true, 4);
  EXPECT_EQ(wide.bk, half.bk / 2);
  EXPECT_EQ(wide.fragmentK(), 8);
  EXPECT_EQ(wide.sharedBytes(), half.sharedBytes());
  EXPECT_EQ(wide.threads(), half.threads());
}

TEST(MatrixScheduleTest, WhatIsNotCopiedAsAWholeHasTwoStages) {
  EXPECT_EQ(schedule({1, 4096, 4096, 4096}, false).stages, 2);
}

/// So many rows are staged as shared memory holds, and at least a fragment's.
TEST(MatrixScheduleTest, StagedRowsFitTheMemoryOfStages) {
  for (const DeviceInfo &device : {DeviceInfo(), hopper()})
    for (int64_t m : {16, 64, 200, 5000})
      for (int64_t n : {16, 33, 192, 5000})
        for (int64_t bytes : {2, 4})
          for (bool copies : {false, true}) {
            MatrixSchedule matrix =
                *scheduleMatrix({1, m, n, 100}, bytes, copies, copies, device);
            int64_t rows = matrix.warpsM * matrix.stagedRows();
            EXPECT_LE(rows * matrix.bn * 4, matrix.sharedBytes());
            EXPECT_GE(matrix.stagedRows(), MatrixSchedule::kFragmentM);
            EXPECT_EQ(matrix.rows() % matrix.stagedRows(), 0);
            if (matrix.isByWarpgroups()) {
              EXPECT_EQ(rows, matrix.bm);
            }
          }
}

TEST(MatrixScheduleTest, FewProductsHaveNoMatrices) {
  EXPECT_FALSE(scheduleMatrix({1, 15, 17, 1000}, 2, true, true, DeviceInfo()));
  EXPECT_FALSE(scheduleMatrix({1, 100, 100, 15}, 2, true, true, DeviceInfo()));
}

TEST(MatrixScheduleTest, WarpgroupsComputeLargeProducts) {
  MatrixSchedule matrix =
      *scheduleMatrix({1, 4096, 4096, 4096}, 2, true, true, hopper());
  EXPECT_TRUE(matrix.isByWarpgroups());
  EXPECT_EQ(matrix.bm, 128);
  EXPECT_EQ(matrix.bn, 256);
  EXPECT_EQ(matrix.threads(), 256);
  EXPECT_EQ(matrix.stages, 4);
  EXPECT_LE(matrix.sharedBytes(), hopper().mostSharedBytes);
  EXPECT_EQ(matrix.executedFlop(), matrix.countedFlop());
  EXPECT_FALSE(schedule({1, 4096, 4096, 4096}).isByWarpgroups());
}

TEST(MatrixScheduleTest, WarpsComputeSmallProducts) {
  for (TileDims dims : {TileDims{1, 64, 64, 64}, TileDims{1, 256, 256, 64},
                        TileDims{1, 16, 4096, 4096}})
    EXPECT_FALSE(
        scheduleMatrix(dims, 2, true, true, hopper())->isByWarpgroups());
  EXPECT_TRUE(scheduleMatrix({132, 64, 64, 64}, 2, true, true, hopper())
                  ->isByWarpgroups());
}

TEST(MatrixScheduleTest, ShortSumsHaveSeveralBlocksAtOnce) {
  // A 1 x 1 convolution of 64 channels to 256: one step each. A multiprocessor
  // that had one block would wait for its operands, then for its stores.
  MatrixSchedule matrix =
      *scheduleMatrix({1, 802816, 256, 64}, 2, true, true, hopper());
  EXPECT_EQ(matrix.stages, 1);
  EXPECT_GE(matrix.residentBlocks(hopper()), 2);
  matrix = *scheduleMatrix({1, 802816, 256, 128}, 2, true, true, hopper());
  EXPECT_EQ(matrix.stages, 2);
  EXPECT_GE(matrix.residentBlocks(hopper()), 2);
  // Long sums hide both.
  matrix = *scheduleMatrix({1, 4096, 4096, 4096}, 2, true, true, hopper());
  EXPECT_EQ(matrix.residentBlocks(hopper()), 1);
}

TEST(MatrixScheduleTest, SumsAreSplitUntilPartsCostMoreThanTheySave) {
  TileDims weight{1, 1024, 256, 6272};
  auto cycles = [&](int64_t parts) {
    return *cyclesOfParts(weight, 2, parts, hopper());
  };
  EXPECT_LT(cycles(8), cycles(1) * 2 / 3);
  EXPECT_GT(cycles(98), cycles(8));
  EXPECT_FALSE(cyclesOfParts(weight, 2, 784, hopper()));
}

/// Chunks of one number, of consecutive rows, fill the banks.
TEST(MatrixScheduleTest, SwizzledChunksAreInDifferentBanks) {
  for (int64_t bytes : {16, 32})
    for (int64_t chunks : {2, 4, 8, 16}) {
      Swizzle swizzle = Swizzle::of(chunks, bytes);
      int64_t rows = 128 / bytes;
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        std::set<int64_t> banks;
        for (int64_t row = 0; row < rows; ++row) {
          int64_t at = chunk ^ ((row >> swizzle.shift) & swizzle.mask);
          EXPECT_LT(at, chunks);
          banks.insert((row * chunks + at) % rows);
        }
        EXPECT_EQ(int64_t(banks.size()), rows)
            << chunks << " chunks of " << bytes << " bytes, number " << chunk;
      }
    }
}
