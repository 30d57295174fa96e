// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NET_CODEGEN_CPU_PASSES_TD
#define NET_CODEGEN_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def IsaOption : Option<"isa", "isa", "::netc::program::Isa", "::netc::program::Isa::Baseline",
                         "The vectors of the target", [{::llvm::cl::values(
    clEnumValN(::netc::program::Isa::Baseline, nameOf(::netc::program::Isa::Baseline), "128 bits"),
    clEnumValN(::netc::program::Isa::AVX2, nameOf(::netc::program::Isa::AVX2), "256 bits"),
    clEnumValN(::netc::program::Isa::AVX512, nameOf(::netc::program::Isa::AVX512), "512 bits"),
    clEnumValN(::netc::program::Isa::AVX512BF16, nameOf(::netc::program::Isa::AVX512BF16),
               "512 bits, with products of pairs of bf16"))}]>;

def PackResults : Pass<"net-pack-results", "::mlir::func::FuncOp"> {
  let summary = "Let products write panels";
  let description = [{
    If the result of a product is only copied into another order, the product writes panels, and the copy reads
    these. A panel holds NR columns, row by row, so that the rows of a tile are contiguous.
  }];
  let options = [IsaOption];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PrepackWeights : Pass<"net-prepack-weights", "::mlir::ModuleOp"> {
  let summary = "Keep weights in panels, as their gradients";
  let description = [{
    If the gradient of a weight is written as panels, and only the update reads it, the weight and the
    optimizer's state are also kept as panels from step to step. Then the gradient is not unpacked, and a
    product that reads the weight as the same panels needs no copy. The slot of such a tensor states its layout:
    `sizes` are the extents of loops over it, outermost first, and `strides` the stride of each in row-major
    order.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PackOperands : Pass<"net-pack-operands", "::mlir::func::FuncOp"> {
  let summary = "Pack operands of products into panels";
  let description = [{
    An operand of a contraction becomes panels: for each iteration of k, the columns of a tile are contiguous.
    If the operand is copied into another order anyway, as a weight is, that copy writes the panels. Otherwise
    the operand is copied if many rows use it, unless it is kept as panels. The tensor that a product
    accumulates into is filled directly before the product.
  }];
  let options = [IsaOption];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LowerKernels : Pass<"net-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "Lower linalg ops on memrefs to loops for the CPU";
  let description = [{
    Contractions, reductions, transposes and large element-wise ops become tiles of vectors. Any other linalg op
    becomes plain loops, which LLVM vectorizes. In an `scf.execute_region`, a contraction is lowered together
    with the element-wise op after it. Threads share outer loops. The module's `net.memory` gets the most bytes
    that a kernel keeps on the stack.
  }];
  let options = [
    IsaOption,
    Option<"printSchedules", "print-schedules", "bool", "false",
           "Emit the schedule of each contraction as a remark">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

#endif // NET_CODEGEN_CPU_PASSES_TD
