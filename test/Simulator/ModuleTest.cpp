// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Modules: what they hold, and what is refused.

#include "test/Simulator/Kernels.h"

#include "gtest/gtest.h"

using namespace netc::simulator;

static std::string errorOf(const std::string &ptx) {
  Device device;
  try {
    device.load(ptx);
  } catch (const PtxError &error) {
    return error.what();
  }
  return "";
}

TEST(ModuleTest, VariablesHaveWhatTheyStartWith) {
  Device device;
  device.load(".version 8.0\n.target sm_90a\n.address_size 64\n"
              ".visible .global .align 8 .b8 zeros[16];\n"
              ".global .align 4 .u32 numbers[3] = {1, 0x10, -1};\n"
              ".global .align 4 .f32 one = 0f3F800000;\n");
  auto [zeros, size] = device.variable("zeros");
  EXPECT_EQ(size, 16u);
  uint64_t words[2] = {1, 1};
  device.read(zeros, words, 16);
  EXPECT_EQ(words[0] | words[1], 0u);
  uint32_t numbers[3];
  device.read(device.variable("numbers").first, numbers, 12);
  EXPECT_EQ(numbers[0], 1u);
  EXPECT_EQ(numbers[1], 16u);
  EXPECT_EQ(numbers[2], 0xffffffffu);
  float one;
  device.read(device.variable("one").first, &one, 4);
  EXPECT_EQ(one, 1.0f);
  EXPECT_THROW(device.variable("none"), std::out_of_range);
}

TEST(ModuleTest, ParametersAreAligned) {
  Device device;
  device.load(".version 8.0\n.target sm_90a\n.address_size 64\n"
              ".visible .entry k(\n.param .u32 a,\n.param .u64 b\n)\n{\n"
              ".reg .b32 %r<2>;\n.reg .b64 %rd<2>;\nld.param.u32 %r1, [a];\n"
              "ld.param.u64 %rd1, [b];\nst.global.u32 [%rd1], %r1;\nret;\n}\n");
  EXPECT_EQ(device.parametersOf("k"), (std::vector<uint32_t>{4, 8}));
  uint64_t memory = device.allocate(4);
  uint32_t value = 77, result = 0;
  const void *arguments[] = {&value, &memory};
  device.launch("k", {}, {}, 0, arguments);
  device.read(memory, &result, 4);
  EXPECT_EQ(result, 77u);
}

TEST(ModuleTest, WhatIsNotKnownIsNamed) {
  EXPECT_EQ(errorOf(kernel("frob.b32 %r2, %r3;")),
            "line 20: the simulator does not know this instruction: "
            "frob.b32 %r2, %r3;");
  EXPECT_EQ(errorOf(kernel("add.rz.f32 %f1, %f2, %f3;")),
            "line 20: the simulator does not know this instruction: "
            "add.rz.f32 %f1, %f2, %f3;");
  EXPECT_EQ(errorOf(kernel("add.s32 %r2, %r3;")),
            "line 20: an operand is missing: add.s32 %r2, %r3;");
  EXPECT_EQ(errorOf(kernel("bra;")), "line 20: an operand is missing: bra;");
  EXPECT_EQ(errorOf(kernel("add.s32 %r2, %r3, %r4, %r5;")),
            "line 20: there are more operands than it has: "
            "add.s32 %r2, %r3, %r4, %r5;");
  EXPECT_EQ(errorOf(kernel("add.s32 %r2, %r3, %x;")),
            "line 20: `%x` is no operand: add.s32 %r2, %r3, %x;");
  EXPECT_EQ(errorOf(kernel("@%q1 add.s32 %r2, %r3, %r4;")),
            "line 20: `%q1` is no register: @%q1 add.s32 %r2, %r3, %r4;");
  EXPECT_EQ(errorOf(kernel("setp.gt.f16x2 %p1, %r2, %r3;")),
            "line 20: two predicates are needed: "
            "setp.gt.f16x2 %p1, %r2, %r3;");
  EXPECT_EQ(errorOf(kernel("bra $nowhere;")),
            "line 20: no such label: bra $nowhere;");
  EXPECT_EQ(errorOf(kernel("ld.global.u32 %r2, %rd1;")),
            "line 20: an address is missing: ld.global.u32 %r2, %rd1;");
  EXPECT_EQ(errorOf(kernel("ld.global.u32 %r2, [%rd1;")),
            "line 20: `]` is missing: ld.global.u32 %r2, [%rd1;");
  EXPECT_EQ(errorOf(kernel("ld.param.u32 %r2, [other];")),
            "line 20: no such parameter: ld.param.u32 %r2, [other];");
  EXPECT_EQ(errorOf(kernel("mov.b64 %rd2, {%r2, %r3;")),
            "line 20: `}` is missing: mov.b64 %rd2, {%r2, %r3;");
  std::string product = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 ";
  EXPECT_EQ(errorOf(kernel(product + "%f2;")),
            "line 20: `{` is missing: " + product + "%f2;");
  EXPECT_EQ(errorOf(kernel(product + "{%f2, %f3, %f4, %f5, %f6};")),
            "line 20: `}` is missing: " + product +
                "{%f2, %f3, %f4, %f5, %f6};");
  EXPECT_EQ(errorOf(kernel(product + "{%f2, %f3, %f4, %rd5};")),
            "line 20: a register has not the size of the instruction's type: " +
                product + "{%f2, %f3, %f4, %rd5};");
  EXPECT_EQ(errorOf(kernel("cp.async.cg.shared.global [%r4], [%rd4+16], 16;")),
            "line 20: the source has an offset: "
            "cp.async.cg.shared.global [%r4], [%rd4+16], 16;");
  EXPECT_EQ(errorOf(kernel(".reg .x32 %y;")),
            "line 20: registers of no known type: .reg .x32 %y;");
  EXPECT_EQ(errorOf(kernel("@%p1 ;")), "line 20: no instruction: @%p1 ;");
}

TEST(ModuleTest, WhatHasNoEndIsRefused) {
  EXPECT_EQ(errorOf(".version 8.0\n.func f()\n"),
            "line 2: not known at the top of a module: .func f()");
  EXPECT_EQ(errorOf(".entry k() {\n ret"), "line 2: no `;` at its end: ret");
  EXPECT_EQ(errorOf(".entry k() {\n ret;\n"),
            "line 3: the kernel has no end: k");
  EXPECT_EQ(errorOf(".global name[3];"),
            "line 1: a variable without a type: .global name[3];");
  EXPECT_EQ(errorOf(".global .b8 name[x];"), "line 1: not a number: x");
  EXPECT_EQ(errorOf(".global .b8 name[3)"), "line 1: expected `]`: `)`");
}

TEST(ModuleTest, MemoryOfTheHostHasBounds) {
  Device device;
  uint64_t memory = device.allocate(8), word = 0;
  try {
    device.read(memory + 4, &word, 8);
    FAIL();
  } catch (const std::out_of_range &error) {
    EXPECT_EQ(error.what(), std::string("there is no memory of 8 bytes at ") +
                                std::to_string(memory + 4));
  }
  device.release(memory);
  EXPECT_THROW(device.write(memory, &word, 8), std::out_of_range);
}
