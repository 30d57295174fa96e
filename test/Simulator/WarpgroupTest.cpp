// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products of a warpgroup (`wgmma`): their layouts by the PTX ISA manual, and
// each check with code that has the fault and code that has not.

#include "test/Simulator/Kernels.h"

#include "gtest/gtest.h"
#include <cstring>

using namespace netc::simulator;

/// A[64][64] and B[64][N] are copied to shared memory, in layouts of their own.
static constexpr int kRows = 64, kColumns = 72, kDepth = 64, kSums = 36;
static constexpr int kBytesOfA = 8192, kBytesOfB = 16384;

/// Small whole numbers.
static int a(int m, int k) { return (m * 5 + k * 3) % 7 - 3; }
static int b(int k, int n) { return (k * k + n * 2) % 5 - 2; }

/// The place of an element in the canonical layout with a swizzle of 128 bytes.
/// Along k, groups of 8 rows of 128 bytes follow each other. Along m or n, so
/// do groups of 8 k; the next 64 elements of the side are 8192 bytes farther.
static int placeOf(int side, int k, bool isAlongSide) {
  if (isAlongSide)
    return side / 64 * 8192 + k / 8 * 1024 + k % 8 * 128 +
           ((side % 64 / 8) ^ (k % 8)) * 16 + side % 8 * 2;
  return side / 8 * 1024 + side % 8 * 128 + ((k / 8) ^ (side % 8)) * 16 +
         k % 8 * 2;
}

struct Layout {
  bool isAAlongM = false, isBAlongN = false;
};

/// Small whole numbers, exactly.
static uint16_t bits16(int value, bool isBf16) {
  float wide = float(value);
  uint32_t bits;
  std::memcpy(&bits, &wide, 4);
  if (isBf16)
    return uint16_t(bits >> 16);
  return value ? uint16_t(bits >> 16 & 0x8000) |
                     uint16_t((bits >> 13 & 0x3ffff) - (112 << 10))
               : uint16_t(0);
}

static std::vector<uint64_t> matrices(Layout layout, bool isBf16 = true) {
  std::vector<uint64_t> words((kBytesOfA + kBytesOfB + 4 * kRows * kColumns) /
                              8);
  char *bytes = reinterpret_cast<char *>(words.data());
  auto put = [&](int at, int value) {
    uint16_t bits = bits16(value, isBf16);
    std::memcpy(bytes + at, &bits, 2);
  };
  for (int k = 0; k < kDepth; ++k) {
    for (int m = 0; m < kRows; ++m)
      put(placeOf(m, k, layout.isAAlongM), a(m, k));
    for (int n = 0; n < kColumns; ++n)
      put(kBytesOfA + placeOf(n, k, layout.isBAlongN), b(k, n));
  }
  return words;
}

/// A matrix descriptor: 8192 bytes to the next 64 elements of the side, 1024 to
/// the next group of 8 rows, and a swizzle of 128 bytes.
static std::string descriptor(int address, uint64_t swizzle = 1) {
  return std::to_string(uint64_t(address) >> 4 | uint64_t(8192 >> 4) << 16 |
                        uint64_t(1024 >> 4) << 32 | swizzle << 62);
}

/// All threads copy the matrices to shared memory.
static std::string copies() {
  std::string body =
      ".reg .f32 %d<72>;\nmov.u32 %r2, buffer;\nshl.b32 %r3, %r1, 4;\n"
      "add.s32 %r2, %r2, %r3;\ncvt.u64.u32 %rd3, %r3;\n"
      "add.s64 %rd3, %rd1, %rd3;\n";
  for (int at = 0; at < kBytesOfA + kBytesOfB; at += 2048) {
    std::string offset = "+" + std::to_string(at) + "]";
    body += "ld.global.v2.u64 {%rd4, %rd5}, [%rd3" + offset +
            ";\nst.shared.v2.u64 [%r2" + offset + ", {%rd4, %rd5};\n";
  }
  return body;
}

/// Registers `first` and the ones after it, as a list.
static std::string sums(int first, int count) {
  std::string list = "{";
  for (int i = first; i < first + count; ++i)
    list += (i == first ? "%d" : ", %d") + std::to_string(i);
  return list + "}";
}

/// The product of A and B at 16 values of k, by descriptors in %rd6 and %rd7.
static std::string product(const std::string &format, Layout layout,
                           const std::string &isAdded, int first = 0) {
  auto bit = [](bool isSet) { return std::string(isSet ? ", 1" : ", 0"); };
  return "wgmma.mma_async.sync.aligned.m64n72k16.f32." + format + "." + format +
         " " + sums(first, kSums) + ", %rd6, %rd7, " + isAdded + ", 1, 1" +
         bit(layout.isAAlongM) + bit(layout.isBAlongN) + ";\n";
}

static const std::string kVisible =
    "fence.proxy.async.shared::cta;\nbar.sync 0;\n";
static const std::string kFence = "wgmma.fence.sync.aligned;\n";
static const std::string kCommit = "wgmma.commit_group.sync.aligned;\n";
static const std::string kWait = "wgmma.wait_group.sync.aligned 0;\n";
static const std::string kDescriptors = "mov.u64 %rd6, " + descriptor(0) +
                                        ";\nmov.u64 %rd7, " +
                                        descriptor(kBytesOfA) + ";\n";

/// Stores the accumulators of all threads, register after register.
static std::string stores() {
  std::string body = "mul.wide.u32 %rd8, %r1, 4;\nadd.s64 %rd8, %rd1, %rd8;\n";
  for (int i = 0; i < kSums; ++i)
    body += "st.global.f32 [%rd8+" +
            std::to_string(kBytesOfA + kBytesOfB + 512 * i) + "], %d" +
            std::to_string(i) + ";\n";
  return body;
}

static std::string inWarpgroup(const std::string &body) {
  return kernel(body, ".shared .align 1024 .b8 buffer[24576];");
}

/// What the accumulators hold of D[64][N], by the manual's figure of D.
static float resultAt(const Bench &bench, int m, int n) {
  int thread = m / 16 * 32 + m % 8 * 4 + n % 8 / 2;
  int index = n / 8 * 4 + m % 16 / 8 * 2 + n % 2;
  float result;
  std::memcpy(&result,
              reinterpret_cast<const char *>(bench.words.data()) + kBytesOfA +
                  kBytesOfB + 512 * index + 4 * thread,
              sizeof result);
  return result;
}

static void expectProduct(const Bench &bench, int fromK, int toK) {
  for (int m = 0; m < kRows; ++m)
    for (int n = 0; n < kColumns; ++n) {
      int sum = 0;
      for (int k = fromK; k < toK; ++k)
        sum += a(m, k) * b(k, n);
      ASSERT_EQ(resultAt(bench, m, n), float(sum)) << m << ", " << n;
    }
}

/// What is found if a warpgroup executes `body` after the copies.
static std::string kindsOf(const std::string &body) {
  Bench bench(matrices({}));
  bench.run(inWarpgroup(copies() + kDescriptors + body), {}, {128});
  return bench.kinds();
}

TEST(WarpgroupTest, ProductsAreThoseOfTheManualsLayouts) {
  for (bool isAAlongM : {false, true})
    for (bool isBAlongN : {false, true})
      for (bool isBf16 : {true, false}) {
        Layout layout{isAAlongM, isBAlongN};
        Bench bench(matrices(layout, isBf16));
        bench.run(inWarpgroup(copies() + kDescriptors + kVisible + kFence +
                              product(isBf16 ? "bf16" : "f16", layout, "0") +
                              kCommit + kWait + stores()),
                  {}, {128});
        EXPECT_EQ(bench.kinds(), "");
        expectProduct(bench, 0, 16);
        const Counters &counted = bench.device.counters();
        EXPECT_EQ(counted.tensorFlop, 2u * kRows * kColumns * 16);
        // The copies; then A and B, of which the warpgroup reads each byte
        // once.
        EXPECT_EQ(counted.wavefronts,
                  uint64_t(kBytesOfA + kBytesOfB + 32 * (kRows + kColumns)) /
                      128);
        EXPECT_EQ(counted.wavefronts, counted.idealWavefronts);
      }
}

TEST(WarpgroupTest, FurtherProductsAreAdded) {
  // 16 more of k are 32 bytes along k, and two groups along the side.
  for (bool isAlongSide : {false, true}) {
    Layout layout{isAlongSide, isAlongSide};
    std::string next = std::to_string(isAlongSide ? 2048 / 16 : 32 / 16);
    std::string advance = "add.s64 %rd6, %rd6, " + next +
                          ";\nadd.s64 %rd7, %rd7, " + next + ";\n";
    Bench bench(matrices(layout));
    bench.run(inWarpgroup(copies() + kDescriptors + kVisible + kFence +
                          "setp.ne.u32 %p1, %r1, %r1;\n" +
                          product("bf16", layout, "%p1") + advance +
                          product("bf16", layout, "1") + kCommit + kFence +
                          advance + product("bf16", layout, "1") + kCommit +
                          kWait + stores()),
              {}, {128});
    EXPECT_EQ(bench.kinds(), "");
    expectProduct(bench, 0, 48);
  }
}

TEST(WarpgroupTest, WritesAreMadeVisibleByAFence) {
  std::string rest = kFence + product("bf16", {}, "0") + kCommit + kWait;
  EXPECT_EQ(kindsOf(kVisible + rest), "");
  EXPECT_EQ(kindsOf("bar.sync 0;\n" + rest),
            "read by wgmma without `fence.proxy.async` after the write;");
  // Each thread that writes executes it.
  EXPECT_EQ(kindsOf("setp.eq.u32 %p1, %r1, 0;\n"
                    "@%p1 fence.proxy.async;\nbar.sync 0;\n" +
                    rest),
            "read by wgmma without `fence.proxy.async` after the write;");
  EXPECT_EQ(kindsOf("fence.proxy.async;\n" + rest).substr(0, 22),
            "race: read after write");
}

TEST(WarpgroupTest, AsynchronousCopiesAreMadeVisibleWhenTheyAreThere) {
  std::string copy = kVisible + "bar.sync 0;\n"
                                "cp.async.cg.shared.global [%r2], [%rd3], 16;\n"
                                "cp.async.commit_group;\n";
  std::string wait = "cp.async.wait_group 0;\n";
  std::string fence = "fence.proxy.async;\n";
  std::string rest =
      "bar.sync 0;\n" + kFence + product("bf16", {}, "0") + kCommit + kWait;
  EXPECT_EQ(kindsOf(copy + wait + fence + rest), "");
  EXPECT_EQ(kindsOf(copy + fence + wait + rest),
            "read by wgmma without `fence.proxy.async` after the write;");
}

TEST(WarpgroupTest, MemoryIsReadUntilTheWait) {
  std::string begin = kVisible + kFence + product("bf16", {}, "0") + kCommit;
  std::string write = "st.shared.u32 [%r2], %r1;\n";
  EXPECT_EQ(kindsOf(begin + kWait + "bar.sync 0;\n" + write), "");
  EXPECT_EQ(kindsOf(begin + "bar.sync 0;\n" + write + kWait)
                .find("race: write to memory that a pending wgmma reads;"),
            0u);
  // B is read by all warps, which wait for themselves only.
  EXPECT_EQ(
      kindsOf(begin + kWait + "st.shared.u32 [%r2+8192], %r1;\n").substr(0, 5),
      "race:");
}

TEST(WarpgroupTest, AccumulatorsAreUsedAfterTheWait) {
  std::string begin = kVisible + kFence + product("bf16", {}, "0") + kCommit;
  std::string use = "add.f32 %f1, %d35, %d35;\n";
  EXPECT_EQ(kindsOf(begin + kWait + use), "");
  EXPECT_EQ(kindsOf(begin + use + kWait),
            "access to a register of a pending wgmma;");
  EXPECT_EQ(kindsOf(begin + "mov.f32 %d0, 0f00000000;\n" + kWait),
            "access to a register of a pending wgmma;");
  // Of two groups, the first is complete.
  std::string second = product("bf16", {}, "0", kSums) + kCommit +
                       "wgmma.wait_group.sync.aligned 1;\n";
  EXPECT_EQ(kindsOf(begin + second + use + kWait), "");
  EXPECT_EQ(kindsOf(begin + second + "add.f32 %f1, %d36, %d36;\n" + kWait),
            "access to a register of a pending wgmma;");
  // Products of one shape follow each other; others wait.
  std::string shifted = product("bf16", {}, "0", 1) + kCommit;
  EXPECT_EQ(kindsOf(begin + kWait + shifted + kWait), "");
  EXPECT_EQ(kindsOf(begin + shifted + kWait),
            "access to a register of a pending wgmma;");
}

TEST(WarpgroupTest, OtherUsesOfAccumulatorsNeedAFence) {
  const char *kind =
      "wgmma without `wgmma.fence` after other accesses to registers;";
  std::string rest = product("bf16", {}, "1") + kCommit + kWait;
  std::string set = "mov.f32 %d0, 0f00000000;\n";
  EXPECT_EQ(kindsOf(kVisible + rest), kind);
  EXPECT_EQ(kindsOf(kVisible + set + kFence + rest), "");
  EXPECT_EQ(kindsOf(kVisible + kFence + set + rest), kind);
}

TEST(WarpgroupTest, DescriptorsAreChecked) {
  auto kindsFor = [](const std::string &ofB) {
    return kindsOf(kVisible + kFence + "mov.u64 %rd7, " + ofB + ";\n" +
                   product("bf16", {}, "0") + kCommit + kWait);
  };
  EXPECT_EQ(kindsFor(descriptor(kBytesOfA)), "");
  EXPECT_EQ(kindsFor(descriptor(kBytesOfA, 2)),
            "matrix descriptor of another layout than with a swizzle of 128 "
            "bytes;");
  EXPECT_EQ(kindsFor(descriptor(kBytesOfA + 128)), "misaligned access;");
  EXPECT_EQ(kindsFor(descriptor(kBytesOfA + kBytesOfB - 8192)),
            "shared access out of bounds;");
}

TEST(WarpgroupTest, AllLanesReachAProduct) {
  EXPECT_EQ(kindsOf(kVisible + kFence + "setp.eq.u32 %p1, %r1, 5;\n@!%p1 " +
                    product("bf16", {}, "0") + kCommit + kWait),
            "divergent matrix instruction: not all lanes reach it;");
  EXPECT_EQ(kindsOf(kVisible + kFence + product("bf16", {}, "0") + kCommit +
                    "setp.eq.u32 %p1, %r1, 5;\n@!%p1 " + kWait),
            "divergent matrix instruction: not all lanes reach it;");
}

TEST(WarpgroupTest, OtherShapesAndTypesAreNotKnown) {
  auto isKnown = [](const std::string &opcode) {
    Device device;
    try {
      device.load(kernel("wgmma.mma_async.sync.aligned." + opcode +
                         " {%f1, %f2, %f3, %f4}, %rd6, %rd7, 0, 1, 1, 0, 0;"));
      return true;
    } catch (const PtxError &) {
      return false;
    }
  };
  EXPECT_TRUE(isKnown("m64n8k16.f32.bf16.bf16"));
  EXPECT_FALSE(isKnown("m64n12k16.f32.bf16.bf16"));
  EXPECT_FALSE(isKnown("m64n8k8.f32.tf32.tf32"));
  EXPECT_FALSE(isKnown("m64n8k16.f16.f16.f16"));
  EXPECT_FALSE(isKnown("m64n8k16.f32.f16.bf16"));
}
