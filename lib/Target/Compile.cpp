// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/Compile.h"

#include "lib/Target/Description.h"
#include "lib/Target/ObjectCode.h"

using namespace netc;
using namespace mlir;

LogicalResult netc::lower(ModuleOp module, const LoweringOptions &options,
                          CodeStage stage) {
  PassManager passes(module->getName());
  addLinalgPasses(passes, options);
  if (stage >= CodeStage::Memory)
    addMemoryPasses(passes, options);
  if (stage >= CodeStage::Llvm)
    addCpuPasses(passes, options);
  return passes.run(module);
}

/// Of a module whose memory is planned.
static MemoryPlan planOf(ModuleOp module) {
  auto step = module->getAttrOfType<DictionaryAttr>("net.step");
  return {step.getAs<IntegerAttr>("batch").getInt(),
          module->getAttrOfType<IntegerAttr>("net.arena").getInt(),
          module->getAttrOfType<IntegerAttr>("net.buffers").getInt()};
}

FailureOr<MemoryPlan> netc::planMemory(ModuleOp module,
                                       const LoweringOptions &options) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (failed(lower(*copy, options, CodeStage::Memory)))
    return failure();
  return planOf(*copy);
}

/// An error as a diagnostic.
static LogicalResult fail(ModuleOp module, llvm::Error error) {
  return emitError(module.getLoc()) << llvm::toString(std::move(error));
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
machineFor(const LoweringOptions &options) {
  // The reference is run to be looked at, not for its speed.
  return hostMachine(options.reference ? llvm::CodeGenOptLevel::None
                                       : llvm::CodeGenOptLevel::Aggressive,
                     options.isa);
}

FailureOr<CompiledStep> netc::compile(ModuleOp module,
                                      const LoweringOptions &options,
                                      llvm::json::Object description) {
  auto machine = machineFor(options);
  if (!machine)
    return fail(module, machine.takeError());
  LoweringOptions forTarget = options;
  forTarget.isa = isaOf(**machine);
  if (failed(lower(module, forTarget, CodeStage::Llvm)))
    return failure();
  return assemble(module, options, std::move(description));
}

FailureOr<CompiledStep> netc::assemble(ModuleOp module,
                                       const LoweringOptions &options,
                                       llvm::json::Object description) {
  auto machine = machineFor(options);
  if (!machine)
    return fail(module, machine.takeError());
  description["format"] = 1;
  description["lowering"] = options.reference ? "reference" : "fast";
  description["counted"] = options.counted;
  description["target"] =
      llvm::json::Object{{"name", "cpu"},
                         {"isa", isaOf(**machine)},
                         {"cpu", (*machine)->getTargetCPU()}};
  CompiledStep step;
  step.description = describe(module, std::move(description));
  step.memory = planOf(module);
  llvm::LLVMContext context;
  auto ir = translate(module, step.description, **machine, context);
  if (!ir)
    return fail(module, ir.takeError());
  if (options.guarded)
    instrument(**ir);
  auto object = emitObject(**ir, **machine);
  if (!object)
    return fail(module, object.takeError());
  step.object = std::move(*object);
  return step;
}
