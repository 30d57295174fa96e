// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/Backend.h"

#include "lib/Target/CPU.h"
#include "lib/Target/CUDA.h"
#include "lib/Target/Link.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace netc;
using namespace mlir;

llvm::Expected<std::unique_ptr<Backend>>
netc::makeBackend(const LoweringOptions &options) {
  switch (options.target) {
  case program::TargetKind::Cpu:
    break;
  case program::TargetKind::Cuda:
    return makeCudaBackend(options);
  }
  return makeCpuBackend(options);
}

llvm::Error Backend::printDeviceCode(ModuleOp, llvm::raw_ostream &) const {
  llvm_unreachable("the target has no device code");
}

llvm::Error Backend::link(StringRef object, StringRef runtime, StringRef output,
                          const ScratchFolder &scratch) const {
  return linkProgram(object, runtime, output, scratch);
}

void netc::addLoopPasses(OpPassManager &passes) {
  passes.addPass(createConvertLinalgToLoopsPass());
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createLowerAffinePass());
}

void netc::addLlvmDialectPasses(OpPassManager &passes) {
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createFinalizeMemRefToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  ConvertFuncToLLVMPassOptions functions;
  functions.useBarePtrCallConv = true;
  passes.addPass(createConvertFuncToLLVMPass(functions));
}
