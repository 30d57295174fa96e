// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/ObjectCode.h"

#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/OpenMP/OpenMPToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"

using namespace netc;
using namespace mlir;

/// Whether a feature of the processor belongs to wider vectors than those of
/// `isa`.
static bool exceeds(StringRef feature, std::optional<program::Isa> isa) {
  bool isWidest = feature.starts_with("avx512") || feature.starts_with("avx10");
  if (isa == program::Isa::AVX512)
    return feature == "avx512bf16";
  if (isa == program::Isa::AVX2)
    return isWidest;
  return isa == program::Isa::Baseline &&
         (isWidest || feature.starts_with("avx") || feature == "fma" ||
          feature == "f16c" || feature == "vaes" || feature == "vpclmulqdq");
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
netc::hostMachine(llvm::CodeGenOptLevel level,
                  std::optional<program::Isa> isa) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  std::string triple = llvm::sys::getDefaultTargetTriple(), error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return llvm::createStringError(error);
  // A host may lack features that its name implies: these are turned off.
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  std::string list;
  for (const auto &feature : features)
    list += (list.empty() ? "" : ",") +
            std::string(
                feature.second && !exceeds(feature.first(), isa) ? "+" : "-") +
            feature.first().str();
  // Kernels use the widest vectors; allow LLVM to do so, too.
  if (llvm::Triple(triple).isX86())
    list += ",-prefer-256-bit";
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, llvm::sys::getHostCPUName(), list, options, llvm::Reloc::PIC_,
      std::nullopt, level));
}

program::Isa netc::isaOf(const llvm::TargetMachine &machine) {
  StringRef features = machine.getTargetFeatureString();
  if (features.contains("+avx512bf16"))
    return program::Isa::AVX512BF16;
  if (features.contains("+avx512f"))
    return program::Isa::AVX512;
  return features.contains("+avx2") ? program::Isa::AVX2
                                    : program::Isa::Baseline;
}

llvm::Expected<std::unique_ptr<llvm::Module>>
netc::translate(ModuleOp module, StringRef description,
                program::TargetKind target, llvm::TargetMachine &machine,
                llvm::LLVMContext &context) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  registerOpenMPDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(module, context);
  if (!ir)
    llvm_unreachable("the pipeline ends in what can be translated");
  ir->setDataLayout(machine.createDataLayout());
  ir->setTargetTriple(machine.getTargetTriple().str());
  auto *text = llvm::ConstantDataArray::getString(context, description);
  new llvm::GlobalVariable(*ir, text->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage, text,
                           "netc_program");
  // The program is linked with the execution of its own target alone.
  auto *execute = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), false),
      llvm::GlobalValue::ExternalLinkage, executionOf(target), *ir);
  new llvm::GlobalVariable(*ir, execute->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage, execute,
                           "netc_execution");
  unsigned level = unsigned(machine.getOptLevel());
  if (llvm::Error error =
          makeOptimizingTransformer(level, /*sizeLevel=*/0, &machine)(ir.get()))
    return error;
  return ir;
}

void netc::instrument(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr(llvm::Attribute::SanitizeAddress);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  // Calls compile several times faster than inline checks.
  llvm::AddressSanitizerOptions options;
  options.InstrumentationWithCallsThreshold = 0;
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AddressSanitizerPass(options));
  passes.run(module, modules);
}

llvm::Expected<llvm::SmallVector<char, 0>>
netc::emitObject(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    llvm_unreachable("the target of this machine emits object files");
  passes.run(module);
  return bytes;
}
