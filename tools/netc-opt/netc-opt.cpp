// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs any pass on the text of any stage.

#include "dialect/Net.h"
#include "lib/Analysis/CostRemarks.h"
#include "lib/Codegen/CPU/Passes.h"
#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Codegen/Passes.h"
#include "lib/Conversion/Passes.h"
#include "lib/Pipelines/Lowering.h"
#include "lib/Target/CPU.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerStripDebugInfoPass();
  netc::registerNetCodegenPasses();
  netc::registerNetCodegenCpuPasses();
  netc::registerNetCodegenCudaPasses();
  netc::registerNetConversionPasses();
  netc::registerNetTransformsPasses();
  netc::registerCostRemarksPass();

  netc::LoweringOptions reference;
  reference.reference = reference.counted = true;
  static mlir::PassPipelineRegistration<> lower(
      "net-to-cpu-reference", "From a bound step to LLVM, counted",
      [=](mlir::OpPassManager &passes) {
        addLinalgPasses(passes, reference);
        addBufferPasses(passes, reference);
        addArenaPasses(passes, reference);
        addCpuKernelPasses(passes, reference, netc::program::Isa::Baseline);
      });

  mlir::DialectRegistry registry;
  netc::registerLoweringInterfaces(registry);
  registry.insert<
      netc::NetDialect, mlir::affine::AffineDialect, mlir::arith::ArithDialect,
      mlir::bufferization::BufferizationDialect, mlir::func::FuncDialect,
      mlir::linalg::LinalgDialect, mlir::LLVM::LLVMDialect,
      mlir::math::MathDialect, mlir::NVVM::NVVMDialect,
      mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
      mlir::tensor::TensorDialect, mlir::vector::VectorDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "net dialect pass driver\n", registry));
}
