// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/DeviceCode.h"

#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"

using namespace netc;
using namespace mlir;

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace {
/// Keeps the first error. LLVM reports instructions that it cannot select, and
/// still emits the others.
struct Complaints : llvm::DiagnosticHandler {
  explicit Complaints(std::string &first) : first(first) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error && first.empty()) {
      llvm::raw_string_ostream os(first);
      llvm::DiagnosticPrinterRawOStream printer(os);
      info.print(printer);
    }
    return true;
  }

  std::string &first;
};
} // namespace

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
machineOf(const program::DeviceArch &arch) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  const char *triple = "nvptx64-nvidia-cuda";
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return llvm::createStringError(error);
  // No fused multiply-adds: the executed operations are those that are counted.
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, arch.name, "+ptx" + std::to_string(arch.ptx), options,
      std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// Fails if an undefined function is called. LLVM would declare it `.extern`,
/// but nothing links PTX.
static llvm::Error checkCalls(const llvm::Module &module) {
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() &&
        !function.use_empty())
      return llvm::createStringError("kernels call `" + function.getName() +
                                     "`, which no device has");
  return llvm::Error::success();
}

/// Marks instructions of a whole warp as convergent. MLIR's assembly has no
/// such mark, and LLVM would copy them into branches.
static void keepTogether(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
          call && call->isInlineAsm())
        call->setConvergent();
}

llvm::Expected<std::string> netc::emitPtx(ModuleOp device,
                                          const program::DeviceArch &arch) {
  registerBuiltinDialectTranslation(*device.getContext());
  registerLLVMDialectTranslation(*device.getContext());
  registerNVVMDialectTranslation(*device.getContext());
  auto machine = machineOf(arch);
  if (!machine)
    return machine.takeError();
  std::string complaint;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<Complaints>(complaint));
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(device, context);
  if (!ir)
    llvm_unreachable("the pipeline ends in what can be translated");
  keepTogether(*ir);
  ir->setDataLayout((*machine)->createDataLayout());
  ir->setTargetTriple((*machine)->getTargetTriple().str());
  if (llvm::Error error = makeOptimizingTransformer(
          /*optLevel=*/3, /*sizeLevel=*/0, machine->get())(ir.get()))
    return error;
  if (llvm::Error error = checkCalls(*ir))
    return error;
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, os, nullptr,
                                      llvm::CodeGenFileType::AssemblyFile))
    llvm_unreachable("NVPTX emits text");
  passes.run(*ir);
  if (!complaint.empty())
    return llvm::createStringError("no code for " + llvm::Twine(arch.name) +
                                   ": " + complaint);
  return text.str().str();
}
