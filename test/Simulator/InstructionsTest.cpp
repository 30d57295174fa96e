// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Instructions against their definitions in the PTX ISA manual.

#include "test/Simulator/Kernels.h"

#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace netc::simulator;

static uint64_t bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
static uint64_t bits(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, 8);
  return bits;
}

/// What one instruction makes of the first three words, as many bits as `bits`.
static uint64_t run(const std::string &instruction, int width,
                    std::vector<uint64_t> operands) {
  operands.resize(4);
  Bench bench(operands);
  const char *kind = width == 16 ? "rs" : width == 32 ? "r" : "rd";
  std::string n = std::to_string(width), body;
  for (int i = 0; i < 3; ++i)
    body += "ld.global.b" + n + " %" + kind + std::to_string(i + 4) +
            ", [%rd1+" + std::to_string(8 * i) + "];\n";
  body += instruction + "\nst.global.b64 [%rd1+24], %rd3;";
  // The result goes through a register of 64 bits, which starts as zero.
  bench.run(kernel("mov.u64 %rd3, 0;\n" + body));
  EXPECT_EQ(bench.kinds(), "");
  return bench.words[3];
}

static uint64_t run32(const std::string &opcode, std::vector<uint64_t> operands,
                      int count) {
  std::string list;
  for (int i = 0; i < count; ++i)
    list += ", %r" + std::to_string(4 + i);
  return run(opcode + " %r7" + list + ";\ncvt.u64.u32 %rd3, %r7;", 32,
             operands);
}
static uint64_t run64(const std::string &opcode, std::vector<uint64_t> operands,
                      int count) {
  std::string list;
  for (int i = 0; i < count; ++i)
    list += ", %rd" + std::to_string(4 + i);
  return run(opcode + " %rd3" + list + ";", 64, operands);
}

TEST(InstructionsTest, IntegersWrapAround) {
  EXPECT_EQ(run32("add.s32", {0x7fffffff, 1}, 2), 0x80000000u);
  EXPECT_EQ(run32("sub.s32", {0, 1}, 2), 0xffffffffu);
  EXPECT_EQ(run32("mul.lo.s32", {0x10001, 0x10001}, 2), 0x20001u);
  EXPECT_EQ(run32("mul.hi.u32", {0xffffffff, 0xffffffff}, 2), 0xfffffffeu);
  EXPECT_EQ(run32("mul.hi.s32", {0xffffffff, 2}, 2), 0xffffffffu);
  EXPECT_EQ(run32("mad.lo.s32", {3, 5, 7}, 3), 22u);
  EXPECT_EQ(run64("mul.hi.u64", {~0ull, ~0ull}, 2), ~0ull - 1);
  EXPECT_EQ(run64("mul.hi.s64", {~0ull, 2}, 2), ~0ull);
  EXPECT_EQ(run("mul.wide.s32 %rd3, %r4, %r5;", 32, {0xffffffff, 3}),
            uint64_t(-3));
  EXPECT_EQ(run("mul.wide.u32 %rd3, %r4, %r5;", 32, {0xffffffff, 3}),
            0x2fffffffdull);
  EXPECT_EQ(run("mov.u64 %rd7, 5;\nmad.wide.u32 %rd3, %r4, %r5, %rd7;", 32,
                {0xffffffff, 3}),
            0x300000002ull);
}

TEST(InstructionsTest, DivisionsTruncate) {
  EXPECT_EQ(run32("div.s32", {uint32_t(-7), 2}, 2), uint32_t(-3));
  EXPECT_EQ(run32("rem.s32", {uint32_t(-7), 2}, 2), uint32_t(-1));
  EXPECT_EQ(run32("div.u32", {uint32_t(-7), 2}, 2), 0x7ffffffcu);
  EXPECT_EQ(run64("rem.u64", {17, 5}, 2), 2u);
  // No trap: the processor below would end here.
  EXPECT_EQ(run32("div.s32", {0x80000000, 0xffffffff}, 2), 0x80000000u);
  EXPECT_EQ(run32("rem.s32", {0x80000000, 0xffffffff}, 2), 0u);
  EXPECT_EQ(run32("div.u32", {7, 0}, 2), 0xffffffffu);
}

TEST(InstructionsTest, ShiftsByManyLeaveNothing) {
  EXPECT_EQ(run32("shl.b32", {1, 31}, 2), 0x80000000u);
  EXPECT_EQ(run32("shl.b32", {1, 32}, 2), 0u);
  EXPECT_EQ(run32("shr.u32", {0x80000000, 31}, 2), 1u);
  EXPECT_EQ(run32("shr.u32", {0x80000000, 40}, 2), 0u);
  EXPECT_EQ(run32("shr.s32", {0x80000000, 40}, 2), 0xffffffffu);
  EXPECT_EQ(run("shl.b64 %rd3, %rd4, %r1;", 64, {5}), 5u);
  EXPECT_EQ(run32("shf.l.wrap.b32", {0xf0000000, 0x1, 4}, 3), 0x1fu);
  EXPECT_EQ(run32("shf.r.wrap.b32", {0x10, 0xf, 4}, 3), 0xf0000001u);
  EXPECT_EQ(run32("shf.l.clamp.b32", {0xabcd, 1, 40}, 3), 0xabcdu);
}

TEST(InstructionsTest, Bits) {
  EXPECT_EQ(run32("and.b32", {0xff00, 0x0ff0}, 2), 0x0f00u);
  EXPECT_EQ(run32("or.b32", {0xff00, 0x0ff0}, 2), 0xfff0u);
  EXPECT_EQ(run32("xor.b32", {0xff00, 0x0ff0}, 2), 0xf0f0u);
  EXPECT_EQ(run32("not.b32", {0xff00}, 1), 0xffff00ffu);
  EXPECT_EQ(run32("popc.b32", {0xf0f}, 1), 8u);
  EXPECT_EQ(run32("clz.b32", {1}, 1), 31u);
  EXPECT_EQ(run32("clz.b32", {0}, 1), 32u);
  EXPECT_EQ(run32("brev.b32", {1}, 1), 0x80000000u);
  // Tables of the manual: 0xf0, 0xcc and 0xaa are the operands themselves.
  EXPECT_EQ(run("lop3.b32 %r7, %r4, %r5, %r6, 0x96;\ncvt.u64.u32 %rd3, %r7;",
                32, {0xf0, 0xcc, 0xaa}),
            uint64_t(0xf0 ^ 0xcc ^ 0xaa));
  EXPECT_EQ(run32("prmt.b32", {0x33221100, 0x77665544, 0x7531}, 3),
            0x77553311u);
  EXPECT_EQ(run32("prmt.b32", {0x80, 0, 0x8}, 3) & 0xff, 0xffu);
  EXPECT_EQ(run32("bfe.u32", {0xabcd, 4, 8}, 3), 0xbcu);
  EXPECT_EQ(run32("bfe.s32", {0xabcd, 4, 8}, 3), 0xffffffbcu);
}

TEST(InstructionsTest, FloatsAreRoundedOnce) {
  float a = 0.1f, b = 3.0f, c = -0.3f;
  EXPECT_EQ(run32("add.rn.f32", {bits(a), bits(b)}, 2), bits(a + b));
  EXPECT_EQ(run32("mul.rn.f32", {bits(a), bits(b)}, 2), bits(a * b));
  EXPECT_EQ(run32("div.rn.f32", {bits(a), bits(b)}, 2), bits(a / b));
  EXPECT_EQ(run32("fma.rn.f32", {bits(a), bits(b), bits(c)}, 3),
            bits(std::fma(a, b, c)));
  EXPECT_NE(std::fma(a, b, c), a * b + c);
  EXPECT_EQ(run64("fma.rn.f64", {bits(0.1), bits(3.0), bits(-0.3)}, 3),
            bits(std::fma(0.1, 3.0, -0.3)));
  EXPECT_EQ(run64("sqrt.rn.f64", {bits(2.0)}, 1), bits(std::sqrt(2.0)));
  EXPECT_EQ(run32("rcp.rn.f32", {bits(3.0f)}, 1), bits(1 / 3.0f));
  EXPECT_EQ(run32("ex2.approx.f32", {bits(-130.0f)}, 1), bits(0x1p-130f));
  EXPECT_EQ(run32("ex2.approx.ftz.f32", {bits(-130.0f)}, 1), bits(0.0f));
  EXPECT_EQ(run32("ex2.approx.ftz.f32", {bits(-3.0f)}, 1), bits(0.125f));
  EXPECT_EQ(run32("lg2.approx.ftz.f32", {bits(8.0f)}, 1), bits(3.0f));
  EXPECT_EQ(run32("lg2.approx.ftz.f32", {bits(0x1p-130f)}, 1),
            bits(-std::numeric_limits<float>::infinity()));
  EXPECT_EQ(run32("rcp.approx.ftz.f32", {bits(-0x1p-130f)}, 1),
            bits(-std::numeric_limits<float>::infinity()));
  EXPECT_EQ(run32("neg.f32", {bits(0.0f)}, 1), bits(-0.0f));
  EXPECT_EQ(run32("abs.f32", {bits(-2.0f)}, 1), bits(2.0f));
  EXPECT_EQ(run64("copysign.f64", {bits(-1.0), bits(2.0)}, 2), bits(-2.0));
}

TEST(InstructionsTest, ExtremaLeaveNanOutUnlessAsked) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(run32("max.f32", {bits(nan), bits(1.0f)}, 2), bits(1.0f));
  EXPECT_EQ(run32("min.f32", {bits(-0.0f), bits(0.0f)}, 2), bits(-0.0f));
  EXPECT_EQ(run32("max.f32", {bits(-0.0f), bits(0.0f)}, 2), bits(0.0f));
  uint32_t kept = uint32_t(run32("max.NaN.f32", {bits(nan), bits(1.0f)}, 2));
  EXPECT_GT(kept & 0x7fffffff, 0x7f800000u);
  EXPECT_EQ(run32("max.s32", {uint32_t(-1), 1}, 2), 1u);
  EXPECT_EQ(run32("max.u32", {uint32_t(-1), 1}, 2), 0xffffffffu);
}

TEST(InstructionsTest, Conversions) {
  auto cvt = [](const std::string &types, const char *to, const char *from,
                int width, uint64_t value) {
    std::string name = std::string(" %") + to + "7, %" + from + "4;\n";
    return run("cvt." + types + name + "cvt.u64." +
                   (to[1] == 's' ? "u16"
                    : to[1]      ? "u64"
                                 : "u32") +
                   " %rd3, %" + to + "7;",
               width, {value});
  };
  EXPECT_EQ(cvt("rzi.s32.f32", "r", "r", 32, bits(-2.7f)), uint32_t(-2));
  EXPECT_EQ(cvt("rni.s32.f32", "r", "r", 32, bits(2.5f)), 2u);
  EXPECT_EQ(cvt("rmi.s32.f32", "r", "r", 32, bits(-2.1f)), uint32_t(-3));
  EXPECT_EQ(cvt("rpi.s32.f32", "r", "r", 32, bits(2.1f)), 3u);
  // Clamped; NaN is zero in 32 bits.
  EXPECT_EQ(cvt("rzi.s32.f32", "r", "r", 32, bits(1e20f)), 0x7fffffffu);
  EXPECT_EQ(cvt("rzi.u32.f32", "r", "r", 32, bits(-1.0f)), 0u);
  EXPECT_EQ(cvt("rzi.s32.f32", "r", "r", 32, 0x7fc00000), 0u);
  EXPECT_EQ(cvt("rzi.s64.f64", "rd", "rd", 64, bits(std::nan(""))), 1ull << 63);
  EXPECT_EQ(cvt("rn.f32.s32", "r", "r", 32, uint32_t(-16777217)),
            bits(-16777216.0f));
  EXPECT_EQ(cvt("rn.f32.f64", "r", "rd", 64, bits(0.1)), bits(0.1f));
  EXPECT_EQ(cvt("f64.f32", "rd", "r", 32, bits(0.1f)), bits(double(0.1f)));
  EXPECT_EQ(cvt("rni.f64.f64", "rd", "rd", 64, bits(3.5)), bits(4.0));
  EXPECT_EQ(cvt("s64.s32", "rd", "r", 32, 0xffffffff), ~0ull);
  EXPECT_EQ(cvt("u64.u32", "rd", "r", 32, 0xffffffff), 0xffffffffull);
  EXPECT_EQ(cvt("s32.s8", "r", "r", 32, 0x80), 0xffffff80u);
}

TEST(InstructionsTest, FloatsOf16BitsAreTheNearest) {
  auto narrow = [](const std::string &type, float value) {
    return run("cvt.rn." + type + ".f32 %rs7, %r4;\ncvt.u64.u16 %rd3, %rs7;",
               32, {bits(value)});
  };
  // Ties go to even.
  EXPECT_EQ(narrow("bf16", 1 + 0x1p-8f), 0x3f80u);
  EXPECT_EQ(narrow("bf16", 1 + 0x3p-8f), 0x3f82u);
  EXPECT_EQ(narrow("bf16", -3.4e38f), 0xff80u);
  EXPECT_EQ(narrow("f16", 65519.0f), 0x7bffu);
  EXPECT_EQ(narrow("f16", 65520.0f), 0x7c00u);
  EXPECT_EQ(narrow("f16", -0x1p-24f), 0x8001u);
  EXPECT_EQ(narrow("f16", 0x1p-25f), 0u);
  EXPECT_EQ(narrow("f16", 2047.5f), 0x6800u);
  auto widen = [](const std::string &type, uint64_t value) {
    return run("cvt.f32." + type + " %r7, %rs4;\ncvt.u64.u32 %rd3, %r7;", 16,
               {value});
  };
  EXPECT_EQ(widen("bf16", 0x3f82), bits(1 + 0x3p-8f + 0x1p-8f));
  EXPECT_EQ(widen("f16", 0x8001), bits(-0x1p-24f));
  EXPECT_EQ(widen("f16", 0x7bff), bits(65504.0f));
  EXPECT_EQ(run("cvt.f64.f16 %rd3, %rs4;", 16, {0x3555}),
            bits(0x1.554p-2)); // 1/3, rounded
  EXPECT_EQ(run("cvt.rn.bf16x2.f32 %r7, %r4, %r5;\ncvt.u64.u32 %rd3, %r7;", 32,
                {bits(1.0f), bits(2.0f)}),
            0x3f804000u);
  EXPECT_EQ(run32("cvt.rna.tf32.f32", {bits(1 + 0x1p-11f)}, 1),
            bits(1 + 0x1p-10f));
  auto f16 = [](const std::string &op, uint64_t a, uint64_t b) {
    return run(op + ".f16 %rs7, %rs4, %rs5;\ncvt.u64.u16 %rd3, %rs7;", 16,
               {a, b});
  };
  // 1 + 2^-10, the next number after 1, by itself and by 1.5; 65504 twice.
  EXPECT_EQ(f16("mul.rn", 0x3c01, 0x3c01), 0x3c02u);
  EXPECT_EQ(f16("mul", 0x3c01, 0x3e00), 0x3e02u);
  EXPECT_EQ(f16("mul.rn", 0x0001, 0x3800), 0u);
  EXPECT_EQ(f16("add.rn", 0x7bff, 0x7bff), 0x7c00u);
  EXPECT_EQ(f16("sub.rn", 0x3c00, 0x0001), 0x3c00u);
  EXPECT_EQ(f16("max.NaN", 0x8000, 0x0000), 0x0000u);
  EXPECT_EQ(f16("min.NaN", 0x3c01, 0xbc00), 0xbc00u);
  EXPECT_EQ(f16("max.NaN", 0x3c01, 0x7e01) & 0x7e00, 0x7e00u);
  EXPECT_EQ(run32("mul.rn.f16x2", {0x3c013e00, 0x3e003c01}, 2), 0x3e023e02u);
}

TEST(InstructionsTest, NegationFlipsSignsOf16Bits) {
  auto negated = [](const std::string &type, uint64_t a) {
    return run("neg." + type + " %rs7, %rs4;\ncvt.u64.u16 %rd3, %rs7;", 16,
               {a});
  };
  // 1 + 2^-10 as f16, zeros and a subnormal.
  for (std::string type : {"f16", "bf16"}) {
    EXPECT_EQ(negated(type, 0x3c01), 0xbc01u);
    EXPECT_EQ(negated(type, 0x8000), 0x0000u);
    EXPECT_EQ(negated(type, 0x0000), 0x8000u);
    EXPECT_EQ(negated(type, 0x0001), 0x8001u);
  }
  EXPECT_EQ(negated("f16", 0xfc00), 0x7c00u);
  EXPECT_EQ(negated("bf16", 0xff80), 0x7f80u);
  EXPECT_EQ(negated("f16", 0x7e01) & 0x7e00, 0x7e00u); // NaN
  EXPECT_EQ(run32("neg.f16x2", {0x3c018000}, 1), 0xbc010000u);
  EXPECT_EQ(run32("neg.bf16x2", {0x0000bf80}, 1), 0x80003f80u);
}

TEST(InstructionsTest, ComparisonsKnowNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(run("setp.gt.f16 %p1, %rs4, %rs5;\nselp.b64 %rd3, 1, 0, %p1;", 16,
                {0x0001, 0xbc00}),
            1u);
  EXPECT_EQ(run("setp.leu.f16 %p1, %rs4, %rs5;\nselp.b64 %rd3, 1, 0, %p1;", 16,
                {0x7e00, 0xbc00}),
            1u);
  auto pair = [](const std::string &how, uint64_t a, uint64_t b) {
    return run("setp." + how +
                   ".f16x2 %p1|%p2, %r4, %r5;\n"
                   "selp.b64 %rd3, 1, 0, %p1;\n@%p2 add.u64 %rd3, %rd3, 2;",
               32, {a, b});
  };
  // 1 and 1.5, NaN and -1.
  EXPECT_EQ(pair("lt", 0x3c003e00, 0x3e003c00), 2u);
  EXPECT_EQ(pair("gt", 0x3c003e00, 0x3e003c00), 1u);
  EXPECT_EQ(pair("leu", 0xbc007e00, 0xbc00bc00), 3u);
  auto set = [](const std::string &how, uint64_t a, uint64_t b) {
    return run("setp." + how + " %p1, %r4, %r5;\nselp.b64 %rd3, 1, 0, %p1;", 32,
               {a, b});
  };
  struct Row {
    const char *name;
    bool less, equal, greater, unordered;
  };
  const Row table[] = {
      {"eq", false, true, false, false}, {"ne", true, false, true, false},
      {"lt", true, false, false, false}, {"le", true, true, false, false},
      {"gt", false, false, true, false}, {"ge", false, true, true, false},
      {"equ", false, true, false, true}, {"neu", true, false, true, true},
      {"ltu", true, false, false, true}, {"leu", true, true, false, true},
      {"gtu", false, false, true, true}, {"geu", false, true, true, true},
      {"num", true, true, true, false},  {"nan", false, false, false, true}};
  for (const Row &row : table) {
    std::string how = std::string(row.name) + ".f32";
    EXPECT_EQ(set(how, bits(1.0f), bits(2.0f)), uint64_t(row.less)) << how;
    EXPECT_EQ(set(how, bits(2.0f), bits(2.0f)), uint64_t(row.equal)) << how;
    EXPECT_EQ(set(how, bits(3.0f), bits(2.0f)), uint64_t(row.greater)) << how;
    EXPECT_EQ(set(how, bits(nan), bits(2.0f)), uint64_t(row.unordered)) << how;
  }
  EXPECT_EQ(set("lt.s32", uint32_t(-1), 0), 1u);
  EXPECT_EQ(set("lt.u32", uint32_t(-1), 0), 0u);
}

TEST(InstructionsTest, RegistersArePackedAndUnpacked) {
  EXPECT_EQ(run("mov.b64 %rd3, {%r4, %r5};", 32, {1, 2}), 0x200000001ull);
  EXPECT_EQ(run("mov.b64 {%r6, %r7}, %rd4;\ncvt.u64.u32 %rd3, %r7;", 64,
                {0x200000001ull}),
            2u);
}

TEST(InstructionsTest, FlopAreThoseOfActiveLanes) {
  Bench bench({0, 0, 0, 0});
  bench.run(kernel("setp.lt.u32 %p1, %r1, 3;\n"
                   "@%p1 fma.rn.f32 %f1, %f2, %f3, %f4;\n"
                   "mul.rn.f64 %fd1, %fd2, %fd3;"),
            {}, {20});
  EXPECT_EQ(bench.device.counters().flop, 3u * 2 + 20);
}
