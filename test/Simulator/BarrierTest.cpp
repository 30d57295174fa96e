// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Barriers in shared memory (`mbarrier`) and copies of boxes of tensors
// (`cp.async.bulk.tensor`), by the PTX ISA manual, and each check with code
// that has the fault and code that has not.

#include "test/Simulator/Kernels.h"

#include "gtest/gtest.h"
#include <cstring>

using namespace netc::simulator;

/// A tensor of 16-bit numbers, of which a box of 64 x 8 is copied: 1024 bytes.
static constexpr uint64_t kRows = 20, kColumns = 72;
static constexpr uint32_t kBox[] = {64, 8, 1};
static constexpr int kBoxWords = 128, kTensorWords = 512;

/// Two warps, with the pointer in `%rd1` and a tensor map in `%rd9`. The box of
/// shared memory is in `%r2`, and the mbarriers `full` and `empty` are in `%r3`
/// and `%r4`. `%p1`: the first thread; `%p2`: the first of the second warp.
static std::string inWarps(const std::string &body) {
  return ".version 8.0\n.target sm_90a\n.address_size 64\n"
         ".shared .align 1024 .b8 box[8192];\n"
         ".shared .align 8 .b64 full;\n.shared .align 8 .b64 empty;\n"
         ".visible .entry k(\n.param .u64 k_param_0,\n"
         ".param .align 64 .b8 k_param_1[128]\n)\n{\n"
         ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n"
         ".reg .f32 %f<4>;\n"
         "ld.param.u64 %rd1, [k_param_0];\ncvta.to.global.u64 %rd1, %rd1;\n"
         "mov.b64 %rd8, k_param_1;\ncvta.param.u64 %rd9, %rd8;\n"
         "mov.u32 %r1, %tid.x;\nmov.u32 %r2, box;\nmov.u32 %r3, full;\n"
         "mov.u32 %r4, empty;\nsetp.eq.u32 %p1, %r1, 0;\n"
         "setp.eq.u32 %p2, %r1, 32;\nsetp.lt.u32 %p3, %r1, 32;\n"
         "mov.u32 %r8, 0;\nmov.u32 %r9, 0;\nmov.u32 %r10, 0;\n" +
         body + "\nret;\n}\n";
}

static const std::string kInit =
    "@%p1 mbarrier.init.shared::cta.b64 [%r3], 1;\n"
    "@%p1 mbarrier.init.shared::cta.b64 [%r4], 32;\n";
static const std::string kFence = "fence.mbarrier_init.release.cluster;\n";
static const std::string kBar = "bar.sync 0;\n";
static const std::string kStart = kInit + kFence + kBar;

static std::string expect(int bytes) {
  return "@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], " +
         std::to_string(bytes) + ";\n";
}
/// Copies the box whose first element is in column `%r8` of row `%r9`.
static const std::string kCopy =
    "@%p2 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
    "complete_tx::bytes [%r2], [%rd9, {%r8, %r9}], [%r3];\n";
static std::string waitFor(const std::string &mbarrier, int parity,
                           const std::string &guard) {
  return guard + " mbarrier.try_wait.parity.shared::cta.b64 %p4, [" + mbarrier +
         "], " + std::to_string(parity) + ";\n";
}
static std::string waitForBox(int parity = 0) {
  return waitFor("%r3", parity, "@%p3");
}
/// The first warp copies the box to the words after the tensor.
static std::string readBox() {
  std::string body = "@!%p3 bra after;\nshl.b32 %r5, %r1, 5;\n"
                     "cvt.u64.u32 %rd3, %r5;\nadd.s64 %rd3, %rd1, %rd3;\n"
                     "add.s32 %r5, %r2, %r5;\n";
  for (int at = 0; at < 32; at += 16) {
    std::string offset = std::to_string(at);
    body += "ld.shared.v2.u64 {%rd4, %rd5}, [%r5+" + offset +
            "];\nst.global.v2.u64 [%rd3+" +
            std::to_string(8 * kTensorWords + at) + "], {%rd4, %rd5};\n";
  }
  return body + "after:\n";
}

static std::vector<uint64_t> numbers() {
  std::vector<uint64_t> words(kTensorWords + kBoxWords);
  auto *numbers = reinterpret_cast<uint16_t *>(words.data());
  for (uint64_t i = 0; i < kRows * kColumns; ++i)
    numbers[i] = uint16_t(i + 1);
  return words;
}

struct BoxBench : Bench {
  BoxBench() : Bench(numbers()) { setAxes(2); }

  /// The tensor as rows of columns; with three axes, as four squares of rows.
  void setAxes(uint32_t axes) {
    uint64_t sizes[] = {kColumns, axes == 2 ? kRows : kRows / 4, 4},
             strides[] = {2 * kColumns, 2 * kColumns * kRows / 4};
    map = *encodeTensorMap(2, axes, memory, sizes, strides, kBox);
  }
  void runWarps(const std::string &body) {
    device.load(inWarps(body));
    const void *arguments[] = {&memory, &map};
    device.launch("k", {}, {64}, 0, arguments);
    device.read(memory, words.data(), 8 * words.size());
  }
  /// An element of the box, by the swizzle of 128 bytes.
  int boxAt(int row, int column) const {
    int chunk = (column / 8) ^ (row % 8);
    return reinterpret_cast<const uint16_t *>(
        words.data() + kTensorWords)[row * 64 + chunk * 8 + column % 8];
  }

  TensorMap map;
};

static std::string kindsOf(const std::string &body) {
  BoxBench bench;
  bench.runWarps(body);
  return bench.kinds();
}

TEST(BarrierTest, BoxesAreSwizzledAndZeroOutsideOfTheTensor) {
  struct {
    int column, row;
  } starts[] = {{0, 0}, {16, 16}, {-3, -2}, {71, 19}, {72, 0}};
  for (auto [column, row] : starts) {
    BoxBench bench;
    bench.runWarps("mov.s32 %r8, " + std::to_string(column) +
                   ";\nmov.s32 %r9, " + std::to_string(row) + ";\n" + kStart +
                   expect(1024) + kCopy + waitForBox() + readBox());
    EXPECT_EQ(bench.kinds(), "");
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < 64; ++c) {
        int y = row + r, x = column + c;
        bool isInside = y >= 0 && x >= 0 && y < int(kRows) && x < int(kColumns);
        ASSERT_EQ(bench.boxAt(r, c), isInside ? y * int(kColumns) + x + 1 : 0)
            << column << ", " << row << ": " << r << ", " << c;
      }
  }
}

TEST(BarrierTest, EachAxisHasABoundOfItsOwn) {
  BoxBench bench;
  bench.setAxes(3);
  bench.runWarps("mov.u32 %r10, 2;\n" + kStart + expect(1024) +
                 "@%p2 cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier:"
                 ":complete_tx::bytes [%r2], [%rd9, {%r8, %r9, %r10}], "
                 "[%r3];\n" +
                 waitForBox() + readBox());
  EXPECT_EQ(bench.kinds(), "");
  for (int r = 0; r < 8; ++r)
    EXPECT_EQ(bench.boxAt(r, 5), r < 5 ? (10 + r) * int(kColumns) + 6 : 0);
  // Two of the five rows do not start at a sector. The threads then write 16
  // bytes each, twice.
  EXPECT_EQ(bench.device.counters().sectors, 22u + 2 * 32);
}

TEST(BarrierTest, TensorMapsAreCheckedAsByTheDriver) {
  auto isValid = [](uint64_t address, std::vector<uint64_t> sizes,
                    uint64_t stride, std::vector<uint32_t> box) {
    return encodeTensorMap(2, uint32_t(sizes.size()), address, sizes.data(),
                           &stride, box.data())
        .has_value();
  };
  EXPECT_TRUE(isValid(4096, {100, 9}, 208, {64, 256}));
  EXPECT_FALSE(isValid(4104, {100, 9}, 208, {64, 256}));
  EXPECT_FALSE(isValid(4096, {100, 9}, 200, {64, 256}));
  EXPECT_FALSE(isValid(4096, {100, 0}, 208, {64, 256}));
  EXPECT_FALSE(isValid(4096, {100, 9}, 208, {64, 257}));
  EXPECT_FALSE(isValid(4096, {100, 9}, 208, {128, 8}));
  EXPECT_FALSE(isValid(4096, {100, 9}, 208, {60, 8}));
}

/// Whether this is found, whatever else is.
static bool finds(const std::string &body, const std::string &kind) {
  return kindsOf(body).find(kind + ";") != std::string::npos;
}

TEST(BarrierTest, CopiesAreReadAfterTheirPhase) {
  std::string copy = kStart + expect(1024) + kCopy;
  EXPECT_EQ(kindsOf(copy + waitForBox() + readBox()), "");
  // The phase before the first one is complete.
  EXPECT_TRUE(finds(copy + waitForBox(1) + readBox(),
                    "read of memory that nothing wrote"));
  EXPECT_EQ(kindsOf(copy), "copy that nothing waits for;");
}

TEST(BarrierTest, WhoeverReadsKnowsOfThePhase) {
  // The second warp waits for the copy, and the first one for the second.
  std::string wait = kStart + expect(1024) + kCopy + waitFor("%r3", 0, "@!%p3"),
              arrive = "@!%p3 mbarrier.arrive.shared::cta.b64 _, [%r4];\n",
              know = waitFor("%r4", 0, "@%p3");
  EXPECT_EQ(kindsOf(wait + kBar + readBox()), "");
  EXPECT_EQ(kindsOf(wait + arrive + know + readBox()), "");
  BoxBench bench;
  bench.device.setOrder({Order::Backward});
  bench.runWarps(wait + arrive + readBox());
  EXPECT_EQ(bench.kinds().find(
                "race: access to a copy whose mbarrier was not waited for;"),
            0u);
}

TEST(BarrierTest, BarriersAreInitializedBeforeTheyAreUsed) {
  std::string rest = expect(1024) + kCopy + waitForBox();
  EXPECT_EQ(kindsOf(kInit + kFence + kBar + rest), "");
  EXPECT_EQ(kindsOf(kInit + "fence.proxy.async;\n" + kBar + rest), "");
  EXPECT_EQ(kindsOf(kInit + kBar + rest),
            "mbarrier without `fence.mbarrier_init` after its "
            "initialization;");
  EXPECT_NE(kindsOf(kInit + kFence + rest)
                .find("race: use of an mbarrier that another warp initializes"),
            std::string::npos);
  EXPECT_EQ(kindsOf("@%p1 mbarrier.arrive.shared::cta.b64 _, [%r3];\n"),
            "use of an mbarrier that is not initialized;");
  EXPECT_EQ(kindsOf("@%p1 mbarrier.init.shared::cta.b64 [4], 1;\n"),
            "misaligned access;");
  EXPECT_EQ(kindsOf("@%p1 mbarrier.init.shared::cta.b64 [16384], 1;\n"),
            "shared access out of bounds;");
  EXPECT_EQ(kindsOf(kInit + kInit),
            "second initialization of an mbarrier;second initialization of an "
            "mbarrier;");
}

TEST(BarrierTest, PhasesCompleteByArrivalsAndBytes) {
  const char *never = "wait for a phase of an mbarrier that never completes;";
  EXPECT_EQ(kindsOf(kStart + waitForBox()), never);
  EXPECT_EQ(kindsOf(kStart + expect(2048) + kCopy + waitForBox()),
            std::string(never) + "copy that nothing waits for;");
  EXPECT_EQ(kindsOf(kStart + expect(512) + kCopy + waitForBox())
                .find("copy of more bytes than its mbarrier expects;"),
            0u);
  std::string all = "@%p3 mbarrier.arrive.shared::cta.b64 _, [%r4];\n",
              most = "@!%p1 " + all.substr(5);
  std::string wait = waitFor("%r4", 0, "@%p2");
  EXPECT_EQ(kindsOf(kStart + all + wait), "");
  EXPECT_EQ(kindsOf(kStart + "setp.lt.u32 %p3, %r1, 31;\n" + all + wait),
            never);
  EXPECT_EQ(kindsOf(kStart + expect(1024) + expect(0)),
            "arrival at an mbarrier whose phase was not waited for;");
}

TEST(BarrierTest, StagesAreFilledAgainWhenTheyWereRead) {
  std::string first = kStart + expect(1024) + kCopy + waitForBox(),
              arrive = "@%p3 mbarrier.arrive.shared::cta.b64 _, [%r4];\n",
              wait = waitFor("%r4", 0, "@%p2"),
              second = expect(1024) + kCopy + waitForBox(1);
  EXPECT_EQ(kindsOf(first + readBox() + arrive + wait + second), "");
  // The stage is given back before it is read.
  EXPECT_TRUE(finds(first + arrive + readBox() + wait + second,
                    "race: write after an access that was not waited for"));
  // The phase before the first one is complete.
  EXPECT_TRUE(finds(first + readBox() + arrive + waitFor("%r3", 0, "@%p2") +
                        waitFor("%r4", 1, "@%p2") + second,
                    "read of memory that nothing wrote"));
  EXPECT_EQ(kindsOf(kStart + expect(2048) + kCopy + kCopy + waitForBox()),
            "race: write after write;");
}

TEST(BarrierTest, StagesAreFilledAgainWhenNoProductReadsThem) {
  // Rows of 128 bytes in groups of 1024, at address 0.
  std::string
      multiply =
          "mov.u64 %rd6, " +
          std::to_string(uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62) +
          ";\nwgmma.fence.sync.aligned;\n"
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, "
          "%f3}, %rd6, %rd6, 0, 1, 1, 0, "
          "0;\nwgmma.commit_group.sync.aligned;\n",
      wait = "wgmma.wait_group.sync.aligned 0;\n",
      refill = kBar + expect(1024) + kCopy,
      kind = "race: write to memory that a pending wgmma reads";
  EXPECT_FALSE(finds(kStart + multiply + wait + refill, kind));
  EXPECT_TRUE(finds(kStart + multiply + refill + wait, kind));
}

TEST(BarrierTest, WritesBeforeACopyNeedAFence) {
  std::string write = "@%p3 st.shared.u32 [%r2], %r1;\n",
              rest = kStart + expect(1024) + kCopy + waitForBox();
  EXPECT_EQ(
      kindsOf("@%p1 st.shared.u32 [%r2], %r1;\nfence.proxy.async;\n" + rest),
      "");
  EXPECT_EQ(kindsOf("@%p1 st.shared.u32 [%r2], %r1;\n" + rest),
            "copy by cp.async.bulk without `fence.proxy.async` after the "
            "write;");
}

TEST(BarrierTest, PlacesOfCopiesAreChecked) {
  auto kindsAt = [](const std::string &set) {
    return kindsOf(kStart + set + expect(1024) + kCopy);
  };
  EXPECT_EQ(kindsAt("add.s32 %r2, %r2, 64;\n"), "misaligned access;");
  EXPECT_EQ(kindsAt("add.s32 %r2, %r2, 7296;\n"),
            "shared access out of bounds;");
  EXPECT_EQ(kindsAt("mov.u64 %rd9, %rd1;\n"),
            "tensor map that is no parameter of the kernel;");
  BoxBench bench;
  bench.setAxes(3);
  bench.runWarps(kStart + expect(1024) + kCopy);
  EXPECT_EQ(bench.kinds(), "tensor map of another number of axes;");
}

TEST(BarrierTest, OtherCopiesAndBarriersAreNotKnown) {
  auto isKnown = [](const std::string &line) {
    Device device;
    try {
      device.load(inWarps(line));
      return true;
    } catch (const PtxError &) {
      return false;
    }
  };
  std::string copy = "cp.async.bulk.tensor.", to = "shared::cluster.global.",
              by = "mbarrier::complete_tx::bytes",
              operands = " [%r2], [%rd9, {%r8, %r9}], [%r3];";
  EXPECT_TRUE(isKnown(copy + "2d." + to + by + operands));
  EXPECT_FALSE(
      isKnown(copy + "2d." + to + by + ".multicast::cluster" + operands));
  EXPECT_FALSE(isKnown(copy + "2d.im2col." + to + by + operands));
  EXPECT_FALSE(isKnown("cp.async.bulk.commit_group;"));
  EXPECT_FALSE(isKnown("mbarrier.test_wait.shared.b64 %p1, [%r3], %rd2;"));
  EXPECT_FALSE(isKnown("mbarrier.arrive.shared.b64 %rd2, [%r3];"));
}
