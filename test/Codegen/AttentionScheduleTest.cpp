// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/AttentionSchedule.h"

#include "gtest/gtest.h"

using namespace netc;

static std::optional<AttentionSchedule>
schedule(const AttentionDims &dims,
         const AttentionWork &work = AttentionWork::results()) {
  return scheduleAttention(dims, work, DeviceInfo());
}

TEST(AttentionScheduleTest, LargeBlocksOccupyTheDevice) {
  AttentionSchedule many = *schedule({96, 1024, 1024, 64, 64});
  EXPECT_EQ(many.bm, 128);
  EXPECT_EQ(many.bn, 64);
  EXPECT_EQ(many.threads(), 256);
  EXPECT_EQ(many.blocks(), 768);
  EXPECT_EQ(many.executedFlop(), many.countedFlop());
  EXPECT_EQ(schedule({12, 512, 512, 64, 64})->bm, 64);
}

TEST(AttentionScheduleTest, GradientsComputeScoresAgain) {
  AttentionDims dims{96, 1024, 1024, 64, 64};
  int64_t product = schedule(dims)->countedFlop() / 2;
  auto queries = schedule(dims, AttentionWork::queryGradients()),
       keys = schedule(dims, AttentionWork::keyGradients());
  EXPECT_EQ(queries->countedFlop() + keys->countedFlop(), 5 * product);
  EXPECT_EQ(queries->executedFlop() + keys->executedFlop(), 7 * product);
}

TEST(AttentionScheduleTest, WideRowsHaveSmallTiles) {
  auto keysOf = [](int64_t width, const AttentionWork &work) {
    return schedule({96, 1024, 1024, width, width}, work)->bn;
  };
  EXPECT_EQ(keysOf(64, AttentionWork::queryGradients()), 64);
  EXPECT_EQ(keysOf(64, AttentionWork::keyGradients()), 32);
  EXPECT_EQ(keysOf(128, AttentionWork::keyGradients()), 16);
}

TEST(AttentionScheduleTest, HiddenTilesAreLeftOut) {
  AttentionDims dims{96, 1024, 1024, 64, 64, AttentionDims::After};
  auto after = schedule(dims);
  EXPECT_EQ(after->endOfTiles(0), 2);
  EXPECT_EQ(after->endOfTiles(896), 16);
  EXPECT_LT(after->executedFlop(), 0.6 * double(after->countedFlop()));
  dims.hidden = AttentionDims::Before;
  EXPECT_EQ(schedule(dims)->firstTile(896), 14);
  EXPECT_EQ(schedule(dims)->executedFlop(), after->executedFlop());
}

TEST(AttentionScheduleTest, TilesFitSharedMemoryAndShortSequences) {
  for (int64_t side : {16, 17, 40, 1000})
    for (int64_t width : {8, 64, 80, 128}) {
      AttentionSchedule tiles = *schedule({1, side, side, width, width});
      EXPECT_LE(tiles.sharedBytes(), DeviceInfo().sharedBytes);
      EXPECT_EQ(tiles.bn % 16, 0);
      EXPECT_GE(tiles.executedFlop(), tiles.countedFlop());
    }
  EXPECT_EQ(schedule({1, 17, 30, 64, 64})->bm, 32);
  EXPECT_EQ(schedule({1, 17, 30, 64, 64})->bn, 32);
}

/// Chunks of one number, of eight consecutive rows, fill the banks.
TEST(AttentionScheduleTest, RowsStartInDifferentBanks) {
  for (int64_t width : {8, 16, 40, 64, 96, 128}) {
    int64_t chunks =
        AttentionSchedule::stride(width) / AttentionSchedule::kChunk;
    EXPECT_EQ(chunks % 2, 1);
    EXPECT_GE(AttentionSchedule::stride(width), width);
  }
}

TEST(AttentionScheduleTest, FewRowsAndWideOnesHaveNone) {
  EXPECT_FALSE(schedule({1, 15, 100, 64, 64}));
  EXPECT_FALSE(schedule({1, 100, 15, 64, 64}));
  EXPECT_FALSE(schedule({1, 100, 100, 256, 64}));
}
