// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/DeviceCode.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace netc;

/// PTX of a module, or what is wrong with it.
static std::string ptxOf(const char *text) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  llvm::Expected<std::string> ptx = emitPtx(*module, program::deviceArchs[0]);
  return ptx ? *ptx : "error: " + toString(ptx.takeError());
}

TEST(DeviceCodeTest, KernelsAreEntries) {
  std::string ptx =
      ptxOf(R"(llvm.func @k(%a: !llvm.ptr) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1.0 : f32) : f32
    llvm.store %one, %a : f32, !llvm.ptr
    llvm.return
  })");
  EXPECT_NE(ptx.find(".target sm_80"), std::string::npos) << ptx;
  EXPECT_NE(ptx.find(".visible .entry k("), std::string::npos) << ptx;
}

TEST(DeviceCodeTest, WhatIsNotThereIsAnError) {
  EXPECT_EQ(ptxOf(R"(llvm.func @atan(f64) -> f64
  llvm.func @k(%a: !llvm.ptr, %x: f64) attributes {nvvm.kernel} {
    %y = llvm.call @atan(%x) : (f64) -> f64
    llvm.store %y, %a : f64, !llvm.ptr
    llvm.return
  })"),
            "error: kernels call `atan`, which no device has");
}

TEST(DeviceCodeTest, WhatCannotBeSelectedIsAnError) {
  EXPECT_EQ(
      ptxOf(R"(llvm.func @k(%a: !llvm.ptr, %x: f32) attributes {nvvm.kernel} {
    %y = llvm.intr.exp(%x) : (f32) -> f32
    llvm.store %y, %a : f32, !llvm.ptr
    llvm.return
  })")
          .substr(0, 25),
      "error: no code for sm_80:");
}
