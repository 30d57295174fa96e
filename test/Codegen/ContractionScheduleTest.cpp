// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is chosen for contractions that are given by their loops.

#include "lib/Codegen/CPU/ContractionSchedule.h"

#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

using namespace netc;

namespace {
const TargetInfo kAvx512 = TargetInfo::of(program::Isa::AVX512);
const TargetInfo kAvx2 = TargetInfo::of(program::Isa::AVX2);

using Loop = LoopNest::Loop;
using Threads = BlockSchedule::Threads;
using What = Prefetch::What;

LoopNest nestOf(llvm::ArrayRef<Loop> loops, llvm::ArrayRef<int64_t> sizes) {
  LoopNest nest;
  nest.loops.assign(loops.begin(), loops.end());
  nest.numOperands = 3;
  nest.starts.assign(3, 0);
  nest.sizes.assign(sizes.begin(), sizes.end());
  return nest;
}

Loop parallel(int64_t extent, llvm::ArrayRef<int64_t> strides) {
  return {extent, true, llvm::SmallVector<int64_t, 4>(strides), {}};
}
Loop sum(int64_t extent, llvm::ArrayRef<int64_t> strides) {
  return {extent, false, llvm::SmallVector<int64_t, 4>(strides), {}};
}

ContractionSchedule scheduleOf(const LoopNest &nest,
                               const TargetInfo &target = kAvx512,
                               unsigned elementBits = 32) {
  std::optional<VectorizedDims> dims = VectorizedDims::of(nest);
  EXPECT_TRUE(dims.has_value());
  return schedule(*dims, elementBits, target);
}

/// C[m, n] += A[m, k] B[k, n].
LoopNest product(int64_t m, int64_t n, int64_t k) {
  return nestOf(
      {parallel(m, {k, 0, n}), parallel(n, {0, 1, 1}), sum(k, {1, n, 0})},
      {m * k, k * n, m * n});
}
/// C[m, n] += A[k, m] B[k, n].
LoopNest productOfTransposedA(int64_t m, int64_t n, int64_t k) {
  return nestOf(
      {parallel(m, {1, 0, n}), parallel(n, {0, 1, 1}), sum(k, {m, n, 0})},
      {m * k, k * n, m * n});
}
/// C[m, n] += A[m, k] B[n, k].
LoopNest productOfTransposedB(int64_t m, int64_t n, int64_t k) {
  return nestOf(
      {parallel(m, {k, 0, n}), parallel(n, {0, k, 1}), sum(k, {1, 1, 0})},
      {m * k, k * n, m * n});
}
/// C[m, p * 32 + n] += A[m, k] B[p, k, n].
LoopNest productOfPanels(int64_t m, int64_t panels, int64_t k) {
  int64_t n = panels * 32;
  return nestOf({parallel(m, {k, 0, n}), parallel(32, {0, 1, 1}),
                 sum(k, {1, 32, 0}), parallel(panels, {0, k * 32, 32})},
                {m * k, k * n, m * n});
}

int64_t tileOf(const ContractionSchedule &schedule) {
  int64_t rows = 1;
  for (int64_t size : schedule.blocks.front().mr)
    rows *= size;
  return rows;
}

TEST(ContractionSchedule, Prints) {
  std::string text;
  llvm::raw_string_ostream(text) << scheduleOf(product(56, 64, 64));
  EXPECT_EQ(text, "contraction m=[56] n=[64] k=[64] | micro-kernel 14 x 2 "
                  "vectors | mc 14 | kc 64 | threads over rows | prefetch A "
                  "next tile L2, C L1 | fold fill");
}

//===-- Micro-kernels -----------------------------------------------------===//

TEST(ContractionSchedule, MicroKernelFitsRegisters) {
  for (const TargetInfo &target : {kAvx512, kAvx2, TargetInfo()}) {
    ContractionSchedule schedule = scheduleOf(product(512, 512, 512), target);
    EXPECT_EQ(schedule.lanes * 32, target.vectorBits);
    int64_t accumulators = tileOf(schedule) * schedule.nrVectors;
    // A vector of B for each column, and a scalar of A.
    unsigned used = accumulators + schedule.nrVectors + 1;
    EXPECT_LE(used, target.vectorRegisters);
    EXPECT_GE(used, target.vectorRegisters * 3 / 4);
  }
}

TEST(ContractionSchedule, VectorsHaveHalfAsManyDoubles) {
  EXPECT_EQ(scheduleOf(product(64, 64, 64), kAvx512, 64).lanes, 8);
}

TEST(ContractionSchedule, VectorsAreOfEitherOperand) {
  // C[m, n] += B[k, n] A[m, k].
  ContractionSchedule schedule =
      scheduleOf(nestOf({parallel(64, {0, 32, 256}), parallel(256, {1, 0, 1}),
                         sum(32, {256, 1, 0})},
                        {32 * 256, 64 * 32, 64 * 256}));
  EXPECT_EQ(schedule.dims.operands[A], 1u);
  EXPECT_EQ(schedule.dims.sizes[A], 64 * 32);
  EXPECT_EQ(schedule.dims.n.back().extent, 256);
  EXPECT_EQ(schedule.dims.n.back().strides[B], 1);
}

TEST(ContractionSchedule, Dots) {
  for (const TargetInfo &target : {kAvx512, kAvx2}) {
    ContractionSchedule schedule =
        scheduleOf(productOfTransposedB(8, 6, 10000), target);
    EXPECT_TRUE(schedule.dims.isDot);
    EXPECT_LT(tileOf(schedule) * schedule.nr.front(),
              int64_t(target.vectorRegisters));
    EXPECT_EQ(schedule.blocks.front().kc % schedule.lanes, 0);
    EXPECT_FALSE(schedule.blocks.front().packsB);
  }
}

TEST(ContractionSchedule, ElementWise) {
  // A depthwise convolution: C[x, c] += A[x + i, c] B[i, c].
  ContractionSchedule schedule = scheduleOf(nestOf(
      {parallel(30, {64, 0, 64}), parallel(64, {1, 1, 1}), sum(3, {64, 64, 0})},
      {32 * 64, 3 * 64, 30 * 64}));
  EXPECT_TRUE(schedule.dims.isElementwise);
  EXPECT_EQ(schedule.partition, Partition::Whole);
  EXPECT_FALSE(schedule.isParallel());
  EXPECT_LE(tileOf(schedule), 8);
}

//===-- Partitions --------------------------------------------------------===//

TEST(ContractionSchedule, LittleWorkWakesNoThreads) {
  ContractionSchedule schedule = scheduleOf(product(20, 32, 16));
  EXPECT_EQ(schedule.partition, Partition::Whole);
  EXPECT_FALSE(schedule.isParallel());
  EXPECT_TRUE(schedule.foldsFill);
}

TEST(ContractionSchedule, RowsThatConflictArePacked) {
  ContractionSchedule schedule = scheduleOf(product(2048, 512, 512));
  EXPECT_EQ(schedule.partition, Partition::Rows);
  EXPECT_TRUE(schedule.isParallel());
  const BlockSchedule &block = schedule.blocks.front();
  EXPECT_EQ(block.threads, Threads::TakeRows);
  EXPECT_TRUE(block.packsA);
  EXPECT_TRUE(block.packsB);
  EXPECT_EQ(block.packedA, block.mc * block.kLength);
  EXPECT_EQ(block.packedB, schedule.nrElements() * block.kLength);
  // The copy of B is as large as L1, of which A and C pass by.
  EXPECT_LE(block.packedB, kAvx512.l1Elements());
  EXPECT_LE(block.packedA, kAvx512.l2Elements());
  EXPECT_FALSE(schedule.foldsFill);
}

TEST(ContractionSchedule, BlocksOfPairsAreAsLargeInBytes) {
  const TargetInfo target = TargetInfo::of(program::Isa::AVX512BF16);
  auto dims = VectorizedDims::of(product(2048, 512, 2048));
  ContractionSchedule wide = schedule(*dims, 32, target);
  ContractionSchedule pairs = schedule(*dims, 32, target, /*areBfloats=*/true);
  EXPECT_EQ(wide.kPack, 1);
  EXPECT_EQ(pairs.kPack, 2);
  EXPECT_EQ(pairs.blocks.front().kLength, 2 * wide.blocks.front().kLength);
}

TEST(ContractionSchedule, PairsOfPanelsArePacked) {
  const TargetInfo target = TargetInfo::of(program::Isa::AVX512BF16);
  auto dims = VectorizedDims::of(productOfPanels(25088, 8, 64));
  ContractionSchedule wide = schedule(*dims, 32, target);
  ContractionSchedule pairs = schedule(*dims, 32, target, /*areBfloats=*/true);
  // Each tile reads panels of f32 from L2 as they are.
  EXPECT_FALSE(wide.blocks.front().packsB);
  EXPECT_EQ(wide.blocks.front().mc, wide.blocks.front().mr.back());
  EXPECT_TRUE(pairs.blocks.front().packsB);
  EXPECT_GE(pairs.blocks.front().mc, 8 * pairs.blocks.front().mr.back());
}

TEST(ContractionSchedule, RowsThatDoNotAreNot) {
  ContractionSchedule schedule = scheduleOf(product(2048, 512, 500));
  EXPECT_FALSE(schedule.blocks.front().packsA);
}

TEST(ContractionSchedule, FewRowsLeaveColumnsToThreads) {
  ContractionSchedule schedule = scheduleOf(product(8, 512, 2048));
  EXPECT_EQ(schedule.partition, Partition::Columns);
  const BlockSchedule &block = schedule.blocks.front();
  EXPECT_EQ(block.threads, Threads::TakeColumns);
  // B is read once: no copy, no blocks of sums.
  EXPECT_FALSE(block.packsB);
  EXPECT_EQ(block.kLength, 2048);
  EXPECT_TRUE(schedule.foldsFill);
  ASSERT_EQ(block.wholeK.prefetches.size(), 1u);
  EXPECT_EQ(block.wholeK.prefetches[0].what, What::Vectors);
  EXPECT_EQ(block.wholeK.prefetches[0].level, CacheLevel::L1);
  EXPECT_EQ(block.wholeK.prefetches[0].distance % 512, 0);
}

TEST(ContractionSchedule, LongRowsThatAreReadOnceStream) {
  ContractionSchedule schedule = scheduleOf(product(8, 4096, 2048));
  EXPECT_EQ(schedule.partition, Partition::Stream);
  ASSERT_TRUE(schedule.cut);
  EXPECT_TRUE(schedule.cut->isParallel);
  EXPECT_EQ(schedule.cut->size, 512);
  EXPECT_EQ(schedule.blocks.front().kc, 8);
  EXPECT_EQ(schedule.blocks.front().n.back().extent, 512);
}

TEST(ContractionSchedule, ThreadsTakePanels) {
  // All of A stays near; the columns are no whole panels.
  ContractionSchedule schedule =
      scheduleOf(productOfTransposedB(1024, 10000, 512));
  EXPECT_EQ(schedule.partition, Partition::Panels);
  EXPECT_TRUE(schedule.dims.isTransposed);
  ASSERT_TRUE(schedule.cut);
  EXPECT_EQ(schedule.cut->size, schedule.nrElements());
  ASSERT_EQ(schedule.blocks.size(), 2u);
  EXPECT_TRUE(schedule.blocks[0].packsB);
  EXPECT_EQ(schedule.blocks[1].n.back().extent, 10000 % schedule.nrElements());
  EXPECT_EQ(&schedule.blockOf(schedule.nrElements()), &schedule.blocks[0]);
  EXPECT_EQ(&schedule.blockOf(10000 % schedule.nrElements()),
            &schedule.blocks[1]);
}

TEST(ContractionSchedule, PanelsAreNotPackedAgain) {
  ContractionSchedule schedule = scheduleOf(productOfPanels(64, 16, 256));
  EXPECT_EQ(schedule.partition, Partition::Panels);
  EXPECT_EQ(schedule.cut->size, 1);
  EXPECT_FALSE(schedule.blocks.front().packsB);
}

TEST(ContractionSchedule, LargeMatricesPrefetchTheNextPanel) {
  ContractionSchedule schedule = scheduleOf(productOfPanels(1024, 32, 1024));
  const BlockSchedule &block = schedule.blocks.front();
  ASSERT_FALSE(block.wholeK.prefetches.empty());
  EXPECT_EQ(block.wholeK.prefetches[0].what, What::Vectors);
  EXPECT_EQ(block.wholeK.prefetches[0].distance, 1024 * 32);
  EXPECT_EQ(block.wholeK.prefetches[0].level, CacheLevel::L2);
  // One that stays in L2 needs none.
  schedule = scheduleOf(productOfPanels(4096, 8, 256));
  for (const Prefetch &prefetch : schedule.blocks.front().wholeK.prefetches)
    EXPECT_EQ(prefetch.what, What::FollowingTile);
}

TEST(ContractionSchedule, ThreadsTakeColumnBlocks) {
  // Rows of both operands are far apart, and there are many columns.
  ContractionSchedule schedule =
      scheduleOf(productOfTransposedA(512, 4096, 512));
  EXPECT_EQ(schedule.partition, Partition::ColumnBlocks);
  ASSERT_TRUE(schedule.cut);
  EXPECT_EQ(schedule.cut->size, 4096 / 8);
  const BlockSchedule &block = schedule.blocks.front();
  EXPECT_TRUE(block.mcLoop.has_value());
  EXPECT_EQ(block.threads, Threads::None);
  EXPECT_TRUE(block.packsB);
}

TEST(ContractionSchedule, LongSumsOfFewAreSplit) {
  ContractionSchedule schedule = scheduleOf(productOfTransposedA(64, 64, 4090));
  EXPECT_EQ(schedule.partition, Partition::SplitK);
  ASSERT_TRUE(schedule.cut);
  EXPECT_EQ(schedule.cut->loop.extent, 4090);
  EXPECT_EQ(schedule.cut->size, 512);
  ASSERT_EQ(schedule.blocks.size(), 2u);
  for (const BlockSchedule &block : schedule.blocks)
    EXPECT_EQ(block.threads, Threads::None);
  // Parts are added to what is in memory.
  EXPECT_FALSE(schedule.foldsFill);
}

TEST(ContractionSchedule, LongSumsOfManyGoBlockByBlock) {
  ContractionSchedule schedule =
      scheduleOf(productOfTransposedA(256, 1024, 1536));
  EXPECT_EQ(schedule.partition, Partition::BlockK);
  ASSERT_TRUE(schedule.cut);
  EXPECT_FALSE(schedule.cut->isParallel);
  EXPECT_LE(schedule.cut->size * 1024, kAvx512.l2Elements());
  EXPECT_EQ(schedule.blocks.front().threads, Threads::TakeRows);
  EXPECT_FALSE(schedule.foldsFill);
}

TEST(ContractionSchedule, ThreadsTakeTheBatch) {
  LoopNest nest = product(64, 64, 64);
  nest.loops.insert(nest.loops.begin(), parallel(8, {4096, 4096, 4096}));
  for (int64_t &size : nest.sizes)
    size *= 8;
  ContractionSchedule schedule = scheduleOf(nest);
  EXPECT_EQ(schedule.parallelBatch, 0u);
  EXPECT_FALSE(schedule.isParallel());
  EXPECT_TRUE(schedule.foldsFill);
}

//===-- Blocks ------------------------------------------------------------===//

TEST(ContractionSchedule, WindowsAreCutByRowsOfImages) {
  // C[i, y, x, o] += A[i, y + h, x + w, c] B[h, w, c, o].
  int64_t row = 58 * 256, image = 58 * row;
  ContractionSchedule schedule = scheduleOf(
      nestOf({parallel(8, {image, 0, 56 * 56 * 256}),
              parallel(56, {row, 0, 56 * 256}), parallel(56, {256, 0, 256}),
              parallel(256, {0, 1, 1}), sum(3, {row, 3 * 256 * 256, 0}),
              sum(3, {256, 256 * 256, 0}), sum(256, {1, 256, 0})},
             {8 * image, 9 * 256 * 256, 8 * 56 * 56 * 256}));
  EXPECT_EQ(schedule.partition, Partition::Rows);
  const BlockSchedule &block = schedule.blocks.front();
  // An image is more than a block: threads take images, and cut each.
  ASSERT_EQ(block.outerM.size(), 1u);
  EXPECT_EQ(block.outerM.front().extent, 8);
  EXPECT_EQ(block.mcLoop, 0u);
  EXPECT_LT(block.mc, 56);
}

TEST(ContractionSchedule, SmallerCachesHaveSmallerBlocks) {
  TargetInfo small = kAvx512;
  small.l1Bytes /= 2;
  small.l2Bytes /= 4;
  ContractionSchedule schedule = scheduleOf(product(2048, 512, 512), small);
  const BlockSchedule &block = schedule.blocks.front();
  EXPECT_LE(block.packedB, small.l1Elements());
  EXPECT_LE(block.packedA, small.l2Elements());
}

TEST(ContractionSchedule, LastBlockOfSumsIsShorter) {
  ContractionSchedule schedule = scheduleOf(product(64, 64, 500));
  const BlockSchedule &block = schedule.blocks.front();
  ASSERT_EQ(block.outerK.size(), 1u);
  EXPECT_EQ(block.wholeK.loops.front().extent, block.kc);
  EXPECT_EQ(block.restK.loops.front().extent, 500 % block.kc);
}
} // namespace
