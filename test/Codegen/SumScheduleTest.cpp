// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/SumSchedule.h"

#include "gtest/gtest.h"

using namespace netc;

TEST(SumScheduleTest, FewResultsAreSummedUpInParts) {
  DeviceInfo device;
  // One warp a row: a single row of a million would leave all others idle.
  EXPECT_EQ(partsOf({SumKind::Row, 1, 1 << 20}, device), 1 << 10);
  EXPECT_EQ(partsOf({SumKind::Column, 64, 1 << 20}, device),
            device.multiprocessors * 512 / 64);
  EXPECT_EQ(partsOf({SumKind::Product, 27, 1 << 14}, device), 4);
}

TEST(SumScheduleTest, EnoughResultsAreWorkAsTheyAre) {
  DeviceInfo device;
  EXPECT_EQ(partsOf({SumKind::Row, 4096, 1 << 20}, device), 1);
  EXPECT_EQ(partsOf({SumKind::Column, 1 << 20, 1 << 20}, device), 1);
  EXPECT_EQ(partsOf({SumKind::Product, 108, 1 << 20}, device), 1);
}

TEST(SumScheduleTest, LargerDevicesGetMoreParts) {
  auto partsFor = [](const char *arch) {
    return partsOf({SumKind::Product, 64, 1 << 14},
                   DeviceInfo::of(*program::deviceArchNamed(arch)));
  };
  EXPECT_EQ(partsFor("sm_80"), 1);
  EXPECT_EQ(partsFor("sm_90a"), 2);
}

TEST(SumScheduleTest, PartsAreLongEnough) {
  DeviceInfo device;
  EXPECT_EQ(partsOf({SumKind::Row, 1, 1000}, device), 1);
  EXPECT_EQ(partsOf({SumKind::Column, 8, 70}, device), 2);
  EXPECT_EQ(partsOf({SumKind::Product, 1, 1024}, device), 4);
  EXPECT_EQ(partsOf({SumKind::Column, 0, 70}, device), 1);
}

TEST(SumScheduleTest, PartsAreEquallyLong) {
  EXPECT_EQ(equalParts(200, 6), 5);
  EXPECT_EQ(equalParts(7, 100), 7);
  EXPECT_EQ(equalParts(13, 12), 1);
  EXPECT_EQ(equalParts(64, 32), 32);
}

TEST(SumScheduleTest, BlocksReduceColumns) {
  DeviceInfo device;
  // 64 columns of bf16: 8 lanes of 16 bytes, and 32 rows at once.
  ColumnDims few{1, 64, 1 << 20};
  ColumnSchedule schedule = longestRuns(few, 8);
  EXPECT_EQ(schedule.lanes, 8);
  EXPECT_EQ(schedule.rows, 32);
  EXPECT_EQ(schedule.blocksOf(few), 1);
  EXPECT_EQ(partsOf({SumKind::Columns, 1, 1 << 20}, device),
            3 * device.multiprocessors);
  EXPECT_EQ(partsOf({SumKind::Columns, 1, 1000}, device), 3);
  // A lane reads 16 bytes, and a warp up to 512.
  EXPECT_EQ(longestRuns({1, 4096, 1 << 20}, 8).lanes, 32);
  EXPECT_EQ(longestRuns({1, 4096, 1 << 20}, 8).rows, 8);
}

TEST(SumScheduleTest, ShorterRunsAreMoreBlocks) {
  DeviceInfo device;
  ColumnDims parts{1, 256, 256};
  EXPECT_EQ(longestRuns(parts, 4).lanes, 32);
  EXPECT_EQ(scheduleColumns(parts, 4, device).lanes, 4);
  EXPECT_EQ(scheduleColumns(parts, 4, device).rows, 64);
  EXPECT_EQ(scheduleColumns({256, 256, 3136}, 8, device).lanes, 32);
}

TEST(SumScheduleTest, FewRowsLeaveLanesForColumns) {
  EXPECT_EQ(longestRuns({1, 1 << 20, 4}, 4).lanes, 256);
  EXPECT_EQ(longestRuns({1, 1 << 20, 4}, 4).rows, 1);
  EXPECT_EQ(longestRuns({1, 12, 4}, 4).threads(), 4);
}
