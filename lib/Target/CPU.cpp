// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/CPU.h"

#include "lib/Codegen/CPU/Passes.h"
#include "lib/Codegen/Passes.h"
#include "lib/Target/ObjectCode.h"
#include "lib/Target/Schedules.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/OpenMPToLLVM/ConvertOpenMPToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/SCFToOpenMP/SCFToOpenMP.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace netc;
using namespace mlir;

void netc::addCpuKernelPasses(OpPassManager &passes,
                              const LoweringOptions &options,
                              program::Isa isa) {
  OutlineKernelsOptions outline;
  outline.record = !options.counted;
  outline.merge = !options.counted;
  passes.addPass(createOutlineKernels(outline));
  if (!options.reference) {
    LowerKernelsOptions kernels;
    kernels.isa = isa;
    passes.addPass(createLowerKernels(kernels));
  }
  if (options.counted)
    passes.addPass(createCountArithmetic());
  if (options.perturbed)
    passes.addPass(createPerturbArithmetic());
  LowerFloat16Options float16;
  float16.convertsHalves = isa != program::Isa::Baseline;
  float16.convertsBfloats =
      !options.reference && isa == program::Isa::AVX512BF16;
  passes.addPass(createLowerFloat16(float16));
  addLoopPasses(passes);
  if (!options.reference) {
    passes.addPass(createConvertSCFToOpenMPPass());
    // Remove alloca scopes without allocations.
    passes.addPass(createCanonicalizerPass());
  }
  passes.addPass(createConvertSCFToCFPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createConvertMathToLibmPass());
  addLlvmDialectPasses(passes);
  if (!options.reference)
    passes.addPass(createConvertOpenMPToLLVMPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
}

namespace {
class CpuBackend : public Backend {
public:
  explicit CpuBackend(std::unique_ptr<llvm::TargetMachine> machine)
      : machine(std::move(machine)) {}

  program::Target target() const override {
    return {program::TargetKind::Cpu, program::nameOf(isaOf(*machine)),
            machine->getTargetCPU().str()};
  }

  void addLayoutPasses(OpPassManager &passes,
                       const LoweringOptions &options) const override {
    if (options.reference)
      return;
    PackResultsOptions results;
    PackOperandsOptions operands;
    results.isa = operands.isa = isaOf(*machine);
    passes.addNestedPass<func::FuncOp>(createPackResults(results));
    passes.addPass(createPrepackWeights());
    passes.addNestedPass<func::FuncOp>(createPackOperands(operands));
  }

  void addGroupPasses(OpPassManager &passes,
                      const LoweringOptions &options) const override {
    if (!options.reference)
      passes.addNestedPass<func::FuncOp>(createFuseEpilogues());
  }

  LogicalResult printSchedule(ModuleOp module,
                              llvm::raw_ostream &os) const override {
    OutlineKernelsOptions outline;
    outline.record = outline.merge = false;
    LowerKernelsOptions kernels;
    kernels.isa = isaOf(*machine);
    kernels.printSchedules = true;
    PassManager passes(module->getName());
    passes.addPass(createOutlineKernels(outline));
    passes.addPass(createLowerKernels(kernels));
    return printSchedules(passes, module, os);
  }

  void addKernelPasses(OpPassManager &passes,
                       const LoweringOptions &options) const override {
    addCpuKernelPasses(passes, options, isaOf(*machine));
  }

  llvm::Expected<llvm::SmallVector<char, 0>>
  emit(ModuleOp module, StringRef description,
       const LoweringOptions &options) const override {
    llvm::LLVMContext context;
    auto ir = translate(module, description, program::TargetKind::Cpu, *machine,
                        context);
    if (!ir)
      return ir.takeError();
    if (options.guarded)
      instrument(**ir);
    return emitObject(**ir, *machine);
  }

private:
  std::unique_ptr<llvm::TargetMachine> machine;
};
} // namespace

llvm::Expected<std::unique_ptr<Backend>>
netc::makeCpuBackend(const LoweringOptions &options) {
  // The reference is for comparison with the counts; its speed does not matter.
  auto machine =
      hostMachine(options.reference ? llvm::CodeGenOptLevel::None
                                    : llvm::CodeGenOptLevel::Aggressive,
                  options.isa);
  if (!machine)
    return machine.takeError();
  return std::make_unique<CpuBackend>(std::move(*machine));
}
