// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/TileSchedule.h"

#include "gtest/gtest.h"

using namespace netc;

static TileSchedule schedule(const TileDims &dims, DeviceInfo device = {}) {
  return *scheduleTiles(dims, device);
}

TEST(TileScheduleTest, LargeProductsHaveLargeTiles) {
  TileSchedule tiles = schedule({1, 4096, 4096, 4096});
  EXPECT_EQ(tiles.bm, 128);
  EXPECT_EQ(tiles.bn, 128);
  EXPECT_EQ(tiles.blocks(), 32 * 32);
  EXPECT_EQ(tiles.executedFlop(), tiles.countedFlop());
}

TEST(TileScheduleTest, FewTilesAreSmallSoThatMoreBlocksHaveWork) {
  TileSchedule tiles = schedule({1, 256, 256, 256});
  EXPECT_EQ(tiles.bm, 32);
  EXPECT_EQ(tiles.bn, 32);
  EXPECT_EQ(tiles.blocks(), 64);
  // On a device of one multiprocessor they are as large as can be.
  DeviceInfo one;
  one.multiprocessors = 1;
  EXPECT_EQ(schedule({1, 256, 256, 256}, one).bm, 128);
}

TEST(TileScheduleTest, ABatchIsWorkLikeTiles) {
  EXPECT_EQ(schedule({1, 128, 128, 64}).bm, 32);
  EXPECT_EQ(schedule({512, 128, 128, 64}).bm, 128);
}

TEST(TileScheduleTest, SharedMemoryHoldsTheTiles) {
  for (bool a : {false, true})
    for (bool b : {false, true})
      for (unsigned bits : {32, 64}) {
        TileSchedule tiles = schedule({1, 4096, 4096, 4096, bits, a, b});
        EXPECT_LE(tiles.sharedBytes(), DeviceInfo().sharedBytes);
        EXPECT_EQ(tiles.strideA() % 32, a);
        EXPECT_EQ(tiles.strideB() % 32, b);
      }
  EXPECT_LT(schedule({1, 4096, 4096, 4096, 64}).bm *
                schedule({1, 4096, 4096, 4096, 64}).bn,
            128 * 128);
}

TEST(TileScheduleTest, WhatSticksOutIsExecuted) {
  TileSchedule tiles = schedule({3, 33, 40, 50});
  EXPECT_EQ(tiles.countedFlop(), 2 * 3 * 33 * 40 * 50);
  EXPECT_EQ(tiles.executedFlop(),
            2 * tiles.blocks() * tiles.bm * tiles.bn * 64);
  EXPECT_GT(tiles.executedFlop(), tiles.countedFlop());
}

TEST(TileScheduleTest, FewProductsHaveNoTiles) {
  DeviceInfo device;
  EXPECT_FALSE(scheduleTiles({1, 15, 1000, 1000}, device));
  EXPECT_FALSE(scheduleTiles({1, 1000, 15, 1000}, device));
  EXPECT_FALSE(scheduleTiles({1, 1000, 1000, 7}, device));
  EXPECT_TRUE(scheduleTiles({1, 16, 16, 8}, device));
}
