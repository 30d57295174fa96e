// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Copies to shared memory, fragments of matrices from it, and their products.

#include "test/Simulator/Kernels.h"

#include "gtest/gtest.h"
#include <cstring>

using namespace netc::simulator;

/// A lane each copies 16 bytes of A[16][16] and, of B[16][8], half of the
/// lanes; then the warp multiplies them. What comes before the fragments are
/// read is the caller's.
static std::string product(const std::string &wait) {
  return kernel(
      "mov.u32 %r2, buffer;\nshl.b32 %r3, %r1, 4;\nadd.s32 %r4, %r2, %r3;\n"
      "cvt.u64.u32 %rd3, %r3;\nadd.s64 %rd4, %rd1, %rd3;\n"
      "add.s64 %rd5, %rd4, 512;\nsetp.lt.u32 %p1, %r1, 16;\n"
      "cp.async.cg.shared.global [%r4], [%rd4], 16;\n"
      "@%p1 cp.async.cg.shared.global [%r4+512], [%rd5], 16;\n" +
          wait +
          "\n"
          "and.b32 %r5, %r1, 15;\nshl.b32 %r5, %r5, 5;\nadd.s32 %r5, %r5, "
          "%r2;\n"
          "shr.u32 %r6, %r1, 4;\nshl.b32 %r6, %r6, 4;\nadd.s32 %r5, %r5, "
          "%r6;\n"
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r9}, "
          "[%r5];\n"
          "and.b32 %r10, %r1, 15;\nshl.b32 %r10, %r10, 4;\n"
          "add.s32 %r10, %r10, %r2;\n"
          "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r10, %r11}, "
          "[%r10+512];\n"
          "mov.f32 %f1, 0f00000000;\n"
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
          "{%f2, %f3, %f4, %f5}, {%r6, %r7, %r8, %r9}, {%r10, %r11}, "
          "{%f1, %f1, %f1, %f1};\n"
          "st.global.v2.f32 [%rd2+768], {%f2, %f3};\n"
          "st.global.v2.f32 [%rd2+1024], {%f4, %f5};",
      ".shared .align 16 .b8 buffer[768];");
}

static int a(int m, int k) { return m - k; }
static int b(int k, int n) { return k * n % 5 - 2; }

/// Small whole numbers, exactly.
static uint16_t bf16(int value) {
  float wide = float(value);
  uint32_t bits;
  std::memcpy(&bits, &wide, 4);
  return uint16_t(bits >> 16);
}

static std::vector<uint64_t> matrices() {
  std::vector<uint64_t> words(160);
  auto *halves = reinterpret_cast<uint16_t *>(words.data());
  for (int i = 0; i < 256; ++i)
    halves[i] = bf16(a(i / 16, i % 16));
  for (int i = 0; i < 128; ++i)
    halves[256 + i] = bf16(b(i / 8, i % 8));
  return words;
}

TEST(MatrixTest, ProductsAreThoseOfTheManualsFragments) {
  Bench bench(matrices());
  bench.run(product("cp.async.commit_group;\ncp.async.wait_group 0;\n"
                    "bar.sync 0;"),
            {}, {32});
  EXPECT_EQ(bench.kinds(), "");
  EXPECT_EQ(bench.device.counters().tensorFlop, 2u * 16 * 8 * 16);
  float results[128];
  std::memcpy(results, &bench.words[96], sizeof results);
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 8; ++n) {
      int sum = 0;
      for (int k = 0; k < 16; ++k)
        sum += a(m, k) * b(k, n);
      EXPECT_EQ(results[8 * m + n], float(sum)) << m << ", " << n;
    }
}

TEST(MatrixTest, CopiesAreThereWhenTheyAreWaitedFor) {
  for (const char *wait : {"bar.sync 0;", "cp.async.commit_group;\n"
                                          "cp.async.wait_group 1;\n"
                                          "bar.sync 0;"}) {
    Bench bench(matrices());
    bench.run(product(wait), {}, {32});
    EXPECT_EQ(bench.kinds(), "read of memory that nothing wrote;"
                             "read of memory that nothing wrote;");
  }
}

TEST(MatrixTest, CopiesFillWithZeros) {
  Bench bench({~0ull, ~0ull, 1, 1});
  bench.run(kernel("mov.u32 %r2, buffer;\n"
                   "cp.async.ca.shared.global [%r2], [%rd1], 16, 8;\n"
                   "cp.async.wait_all;\n"
                   "ld.shared.v2.u64 {%rd3, %rd4}, [%r2];\n"
                   "st.global.v2.u64 [%rd1+16], {%rd3, %rd4};",
                   ".shared .align 16 .b8 buffer[16];"));
  EXPECT_EQ(bench.kinds(), "");
  EXPECT_EQ(bench.words[2], ~0ull);
  EXPECT_EQ(bench.words[3], 0u);
}

TEST(MatrixTest, AllLanesReachAProduct) {
  Bench bench({0});
  bench.run(kernel("setp.eq.s32 %p1, %r1, 0;\n"
                   "@!%p1 mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                   "{%f2, %f3, %f4, %f5}, {%r2, %r3, %r4, %r5}, {%r6, %r7}, "
                   "{%f2, %f3, %f4, %f5};"),
            {}, {32});
  EXPECT_EQ(bench.kinds(),
            "divergent matrix instruction: not all lanes reach it;");

  bench.run(kernel("setp.eq.s32 %p1, %r1, 0;\nmov.u32 %r2, buffer;\n"
                   "st.shared.u32 [%r2], %r1;\n"
                   "@!%p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, "
                   "[%r2];",
                   ".shared .align 16 .b8 buffer[128];"),
            {}, {32});
  EXPECT_NE(bench.kinds().find(
                "divergent matrix instruction: not all lanes reach it;"),
            std::string::npos);
}
