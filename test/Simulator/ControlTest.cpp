// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Branches, barriers, atomics and exchanges between lanes.

#include "test/Simulator/Kernels.h"

#include "gtest/gtest.h"

using namespace netc::simulator;

TEST(ControlTest, PartsOfAWarpMeetAgain) {
  // Even threads take one way, odd ones another; then all add.
  Bench bench(std::vector<uint64_t>(32));
  bench.run(kernel("and.b32 %r2, %r1, 1;\nsetp.eq.s32 %p1, %r2, 0;\n"
                   "@%p1 bra $even;\nmov.u64 %rd3, 100;\nbra $both;\n"
                   "$even:\nmov.u64 %rd3, 200;\n$both:\n"
                   "add.rn.f32 %f1, %f1, %f1;\nst.global.u64 [%rd2], %rd3;"),
            {}, {32});
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(bench.words[i], i % 2 ? 100u : 200u);
  EXPECT_EQ(bench.device.counters().divergences, 1u);
  EXPECT_EQ(bench.device.counters().flop, 32u);
  // Mov, bra and mov ran apart, all else for the whole warp.
  EXPECT_EQ(bench.device.counters().instructions, 5u + 3 + 2 + 1 + 2 + 1);
}

TEST(ControlTest, LoopsEndLaneByLane) {
  Bench bench(std::vector<uint64_t>(40));
  bench.run(kernel("mov.u64 %rd3, 0;\nmov.u32 %r3, 0;\n$loop:\n"
                   "setp.ge.u32 %p1, %r3, %r1;\n@%p1 bra $end;\n"
                   "add.s64 %rd3, %rd3, 2;\nadd.s32 %r3, %r3, 1;\nbra $loop;\n"
                   "$end:\nst.global.u64 [%rd2], %rd3;"),
            {}, {40});
  for (uint64_t i = 0; i < 40; ++i)
    EXPECT_EQ(bench.words[i], 2 * i);
}

TEST(ControlTest, ThreadsKnowWhoTheyAre) {
  Bench bench(std::vector<uint64_t>(24));
  std::string body = "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
                     "mad.lo.s32 %r4, %r2, %r3, %r1;\nmov.u32 %r5, %tid.y;\n"
                     "mov.u32 %r6, %nctaid.x;\nmul.lo.s32 %r7, %r6, %r3;\n"
                     "mad.lo.s32 %r4, %r5, %r7, %r4;\n"
                     "mul.wide.u32 %rd3, %r4, 8;\nadd.s64 %rd3, %rd1, %rd3;\n"
                     "cvt.u64.u32 %rd4, %r4;\nst.global.u64 [%rd3], %rd4;";
  bench.run(kernel(body), {3}, {4, 2});
  for (uint64_t i = 0; i < 24; ++i)
    EXPECT_EQ(bench.words[i], i);
  EXPECT_EQ(bench.kinds(), "");
}

/// Each thread writes to shared memory, and reads what its neighbor wrote.
static std::string neighbors(const std::string &barrier) {
  return kernel("mov.u32 %r2, buffer;\nmul.lo.s32 %r3, %r1, 4;\n"
                "add.s32 %r3, %r2, %r3;\nst.shared.u32 [%r3], %r1;\n" +
                    barrier +
                    "\nxor.b32 %r4, %r1, 32;\nmul.lo.s32 %r4, %r4, 4;\n"
                    "add.s32 %r4, %r2, %r4;\nld.shared.u32 %r5, [%r4];\n"
                    "cvt.u64.u32 %rd3, %r5;\nst.global.u64 [%rd2], %rd3;",
                ".shared .align 4 .b8 buffer[256];");
}

TEST(ControlTest, BarriersOrderTheThreadsOfABlock) {
  for (Order::Kind kind : {Order::Forward, Order::Backward, Order::Shuffled}) {
    Bench bench(std::vector<uint64_t>(64));
    bench.device.setOrder({kind, 7});
    bench.run(neighbors("bar.sync 0;"), {}, {64});
    EXPECT_EQ(bench.kinds(), "");
    EXPECT_EQ(bench.device.counters().barriers, 1u);
    for (uint64_t i = 0; i < 64; ++i)
      EXPECT_EQ(bench.words[i], i ^ 32);
  }
}

TEST(ControlTest, WithoutBarrierItIsARace) {
  for (Order::Kind kind : {Order::Forward, Order::Backward}) {
    Bench bench(std::vector<uint64_t>(64));
    bench.device.setOrder({kind, 0});
    bench.run(neighbors(""), {}, {64});
    EXPECT_NE(bench.kinds().find("race: read after write;"), std::string::npos);
  }
}

TEST(ControlTest, AtomicsAddUp) {
  Bench bench({5, 0});
  bench.run(kernel("atom.global.add.u64 %rd3, [%rd1], 2;"), {4}, {40});
  EXPECT_EQ(bench.words[0], 5u + 2 * 160);
  EXPECT_EQ(bench.kinds(), "");
  bench.run(kernel("red.global.add.u64 [%rd1], 1;"), {}, {3});
  EXPECT_EQ(bench.words[0], 5u + 2 * 160 + 3);
}

TEST(ControlTest, LanesExchangeRegisters) {
  auto shuffled = [](const std::string &how) {
    Bench bench(std::vector<uint64_t>(32));
    bench.run(kernel("shfl.sync." + how +
                     ", 0xffffffff;\n"
                     "cvt.u64.u32 %rd3, %r2;\n"
                     "st.global.u64 [%rd2], %rd3;"),
              {}, {32});
    EXPECT_EQ(bench.kinds(), "");
    return bench.words;
  };
  std::vector<uint64_t> butterfly = shuffled("bfly.b32 %r2, %r1, 1, 31");
  std::vector<uint64_t> down = shuffled("down.b32 %r2, %r1, 4, 31");
  std::vector<uint64_t> up = shuffled("up.b32 %r2, %r1, 4, 0");
  std::vector<uint64_t> index = shuffled("idx.b32 %r2, %r1, 9, 31");
  for (uint64_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(butterfly[lane], lane ^ 1);
    EXPECT_EQ(down[lane], lane + 4 < 32 ? lane + 4 : lane);
    EXPECT_EQ(up[lane], lane >= 4 ? lane - 4 : lane);
    EXPECT_EQ(index[lane], 9u);
  }
}

TEST(ControlTest, VectorsAreSeveralElements) {
  Bench bench({1, 2, 0, 0});
  bench.run(kernel("ld.global.v2.u64 {%rd4, %rd5}, [%rd1];\n"
                   "st.global.v2.u64 [%rd1+16], {%rd5, %rd4};"));
  EXPECT_EQ(bench.words, (std::vector<uint64_t>{1, 2, 2, 1}));
}

TEST(ControlTest, LocalMemoryIsEachThreadsOwn) {
  Bench bench(std::vector<uint64_t>(8));
  bench.run(kernel(".local .align 8 .b8 depot[16];\nmov.u64 %rd3, depot;\n"
                   "cvt.u64.u32 %rd4, %r1;\nst.local.u64 [%rd3+8], %rd4;\n"
                   "cvta.local.u64 %rd5, %rd3;\nld.u64 %rd6, [%rd5+8];\n"
                   "st.global.u64 [%rd2], %rd6;"),
            {}, {8});
  for (uint64_t i = 0; i < 8; ++i)
    EXPECT_EQ(bench.words[i], i);
  EXPECT_EQ(bench.kinds(), "");
}
