// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each check with a kernel that has the fault; ControlTest has those that have
// none.

#include "test/Simulator/Kernels.h"

#include "gtest/gtest.h"

using namespace netc::simulator;

TEST(FindingsTest, GlobalMemoryHasBounds) {
  Bench bench(std::vector<uint64_t>(4));
  bench.run(kernel("st.global.u64 [%rd2], %rd1;"), {}, {6});
  ASSERT_EQ(bench.device.findings().size(), 1u);
  EXPECT_EQ(toString(bench.device.findings()[0]),
            "global access out of bounds in k, line 20 (2 times): "
            "st.global.u64 [%rd2], %rd1;");
}

TEST(FindingsTest, SoHaveSharedAndLocalMemory) {
  Bench bench({0});
  bench.run(kernel("mov.u32 %r2, buffer;\nst.shared.u32 [%r2+8], %r1;\n"
                   ".local .align 4 .b8 depot[4];\nmov.u32 %r3, depot;\n"
                   "ld.local.u32 %r4, [%r3+4];",
                   ".shared .align 4 .b8 buffer[8];"));
  EXPECT_EQ(bench.kinds(),
            "shared access out of bounds;local access out of bounds;");
}

TEST(FindingsTest, AccessesAreAligned) {
  Bench bench({0, 0});
  bench.run(kernel("ld.global.u32 %r2, [%rd1+2];\n"
                   "ld.global.v2.u32 {%r2, %r3}, [%rd1+4];"));
  EXPECT_EQ(bench.kinds(), "misaligned access;misaligned access;");
}

TEST(FindingsTest, WhatIsReadWasWritten) {
  Bench bench({0, 0});
  bench.device.forget(bench.memory + 8, 4);
  bench.run(
      kernel("ld.global.u64 %rd3, [%rd1];\nld.global.u32 %r2, [%rd1+12];\n"
             "ld.global.u32 %r3, [%rd1+8];\nmov.u32 %r4, buffer;\n"
             "ld.shared.u32 %r5, [%r4];",
             ".shared .align 4 .b8 buffer[8];"));
  EXPECT_EQ(bench.kinds(), "read of memory that nothing wrote;"
                           "read of memory that nothing wrote;");
  EXPECT_EQ(bench.device.findings()[0].text, "ld.global.u32 %r3, [%rd1+8];");
}

TEST(FindingsTest, BlocksDoNotMeet) {
  // No barrier is between blocks, whatever the order.
  auto kindsOf = [](const std::string &body, Order::Kind kind) {
    Bench bench({0, 0});
    bench.device.setOrder({kind, 1});
    bench.run(kernel(body), {2}, {1});
    return bench.kinds();
  };
  std::string first = "mov.u32 %r2, %ctaid.x;\nsetp.eq.s32 %p1, %r2, 0;\n";
  std::string apart = first + "@%p1 st.global.u64 [%rd1], %rd1;\n"
                              "@!%p1 ld.global.u64 %rd3, [%rd1];";
  EXPECT_EQ(kindsOf("st.global.u64 [%rd1], %rd1;", Order::Forward),
            "race: write after write;");
  EXPECT_EQ(kindsOf(apart, Order::Forward), "race: read after write;");
  EXPECT_EQ(kindsOf(apart, Order::Backward), "race: write after read;");
  EXPECT_EQ(kindsOf("bar.sync 0;\nst.global.u64 [%rd1], %rd1;", Order::Forward),
            "race: write after write;");
}

TEST(FindingsTest, ABarrierDoesNotHideWhatOtherBlocksRead) {
  // Block 1 reads before and after a barrier, and then writes what block 0 has
  // read.
  std::string body = "ld.global.u64 %rd3, [%rd1];\nbar.sync 0;\n"
                     "ld.global.u64 %rd4, [%rd1];\nbar.sync 0;\n"
                     "mov.u32 %r2, %ctaid.x;\nsetp.eq.s32 %p1, %r2, 1;\n"
                     "@%p1 st.global.u64 [%rd1], %rd3;";
  Bench bench({7});
  bench.run(kernel(body), {2}, {1});
  EXPECT_EQ(bench.kinds(), "race: write after read;");
}

TEST(FindingsTest, AtomicsMeetNothingElse) {
  Bench bench({0});
  bench.run(
      kernel("red.global.add.u64 [%rd1], 1;\nld.global.u64 %rd3, [%rd1];"), {},
      {2});
  EXPECT_EQ(bench.kinds(), "race: read after write;");
}

TEST(FindingsTest, BytesOfAWordAreApart) {
  Bench bench(std::vector<uint64_t>(4));
  bench.run(kernel("cvt.u64.u32 %rd3, %r1;\nadd.s64 %rd3, %rd1, %rd3;\n"
                   "ld.global.u8 %rs1, [%rd3];\nst.global.u8 [%rd3], %rs1;"),
            {}, {32});
  EXPECT_EQ(bench.kinds(), "");
  bench.run(kernel("cvt.u64.u32 %rd3, %r1;\nshr.u64 %rd3, %rd3, 1;\n"
                   "add.s64 %rd3, %rd1, %rd3;\nst.global.u8 [%rd3], 1;"),
            {}, {32});
  EXPECT_EQ(bench.kinds(), "race: write after write;");
}

TEST(FindingsTest, ALaunchIsAfterTheOneBefore) {
  Bench bench(std::vector<uint64_t>(2));
  bench.run(kernel("st.global.u64 [%rd2], %rd1;"), {}, {2});
  bench.run(
      kernel("ld.global.u64 %rd3, [%rd1];\nld.global.u64 %rd4, [%rd1+8];"), {},
      {2});
  EXPECT_EQ(bench.kinds(), "");
}

TEST(FindingsTest, WhatIsOnlyReadIsNotWritten) {
  // Reads by way of the cache for constants are compared with writes when the
  // launch is over; it then runs again, from what there was before.
  Bench bench({5, 0});
  bench.run(
      kernel("red.global.add.u64 [%rd1], 1;\nmov.u32 %r2, %ctaid.x;\n"
             "setp.eq.s32 %p1, %r2, 0;\n@%p1 st.global.u64 [%rd1+8], %rd1;"
             "\n@!%p1 ld.global.nc.u64 %rd3, [%rd1+8];"),
      {2}, {1});
  EXPECT_EQ(bench.kinds(), "race: read after write;");
  EXPECT_EQ(bench.words[0], 7u);
  EXPECT_EQ(bench.device.counters().launches, 1u);
}

TEST(FindingsTest, SharedMemoryIsReadBetweenBarriers) {
  // A thread reads what its neighbour writes: before a barrier, or behind it.
  std::string start = "mov.u32 %r2, buffer;\nmad.lo.s32 %r2, %r1, 4, %r2;\n"
                      "xor.b32 %r3, %r2, 128;\nst.shared.u32 [%r2], %r1;\n";
  auto kindsOf = [&](const std::string &body) {
    Bench bench({0});
    bench.run(kernel(start + body, ".shared .align 256 .b8 buffer[256];"), {},
              {64});
    return bench.kinds();
  };
  EXPECT_EQ(kindsOf("bar.sync 0;\nld.shared.u32 %r4, [%r3];"), "");
  EXPECT_EQ(kindsOf("bar.sync 0;\nld.shared.u32 %r4, [%r3];\nbar.sync 0;\n"
                    "st.shared.u32 [%r2], %r4;"),
            "");
  EXPECT_EQ(kindsOf("bar.sync 0;\nld.shared.u32 %r4, [%r3];\n"
                    "st.shared.u32 [%r2], %r4;"),
            "race: read after write;race: write after read;");
}

TEST(FindingsTest, AllThreadsReachABarrier) {
  Bench bench({0});
  bench.run(kernel("setp.eq.s32 %p1, %r1, 0;\n@%p1 bra $end;\nbar.sync 0;\n"
                   "$end:\n"),
            {}, {4});
  EXPECT_EQ(bench.kinds(), "divergent barrier: not all threads reach it;");
}

TEST(FindingsTest, AllLanesReachAShuffle) {
  Bench bench({0});
  bench.run(kernel("setp.eq.s32 %p1, %r1, 0;\n"
                   "@!%p1 shfl.sync.idx.b32 %r2, %r1, 1, 31, 0xffffffff;"),
            {}, {32});
  EXPECT_EQ(bench.kinds(), "divergent shuffle: not all of its lanes reach it;");
}

TEST(FindingsTest, SectorsAndWavefrontsAreCounted) {
  // 32 lanes with 8 bytes each, side by side: 8 sectors. At every fourth place:
  // one sector each.
  Bench bench(std::vector<uint64_t>(128));
  bench.run(kernel("st.global.u64 [%rd2], %rd1;"), {}, {32});
  EXPECT_EQ(bench.device.counters().sectors, 8u);
  EXPECT_EQ(bench.device.counters().idealSectors, 8u);
  bench.run(kernel("mul.wide.u32 %rd3, %r1, 32;\nadd.s64 %rd3, %rd1, %rd3;\n"
                   "st.global.u64 [%rd3], %rd1;"),
            {}, {32});
  EXPECT_EQ(bench.device.counters().sectors, 8u + 32);
  EXPECT_EQ(bench.device.counters().idealSectors, 8u + 8);
  // The same instruction once with the one and once with the other.
  bench.run(kernel("mov.u32 %r2, 8;\n$next:\nmul.wide.u32 %rd3, %r1, %r2;\n"
                   "add.s64 %rd3, %rd1, %rd3;\nst.global.u64 [%rd3], %rd1;\n"
                   "mul.lo.s32 %r2, %r2, 4;\nsetp.lt.s32 %p1, %r2, 33;\n"
                   "@%p1 bra $next;"),
            {}, {32});
  EXPECT_EQ(bench.device.counters().sectors, 2 * (8u + 32));
  // A column of 32 words of one bank.
  std::string column = ".shared .align 4 .b8 buffer[4096];";
  bench.run(kernel("mov.u32 %r2, buffer;\nmad.lo.s32 %r2, %r1, 128, %r2;\n"
                   "st.shared.u32 [%r2], %r1;",
                   column),
            {}, {32});
  EXPECT_EQ(bench.device.counters().wavefronts, 32u);
  EXPECT_EQ(bench.device.counters().idealWavefronts, 1u);
}
