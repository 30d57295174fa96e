// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/Compile.h"

#include "lib/Target/Description.h"

using namespace netc;
using namespace mlir;

LogicalResult netc::lower(ModuleOp module, const Backend &backend,
                          const LoweringOptions &options, CodeStage stage) {
  PassManager passes(module->getName());
  passes.enableVerifier(options.verified);
  addLinalgPasses(passes, options);
  if (stage >= CodeStage::Memory) {
    backend.addLayoutPasses(passes, options);
    addBufferPasses(passes, options);
    backend.addGroupPasses(passes, options);
    addArenaPasses(passes, options);
  }
  if (stage >= CodeStage::Kernels)
    backend.addKernelPasses(passes, options);
  return passes.run(module);
}

FailureOr<program::Program> netc::planMemory(ModuleOp module,
                                             const Backend &backend,
                                             const LoweringOptions &options) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (failed(lower(*copy, backend, options, CodeStage::Memory)))
    return failure();
  return describe(*copy, {});
}

FailureOr<CompiledStep> netc::compile(ModuleOp module, const Backend &backend,
                                      const LoweringOptions &options,
                                      program::Program program) {
  if (failed(lower(module, backend, options, CodeStage::Kernels)))
    return failure();
  return assemble(module, backend, options, std::move(program));
}

FailureOr<CompiledStep> netc::assemble(ModuleOp module, const Backend &backend,
                                       const LoweringOptions &options,
                                       program::Program program) {
  program.lowering = options.reference ? "reference" : "fast";
  program.counted = options.counted;
  program.target = backend.target();
  CompiledStep step;
  step.program = describe(module, std::move(program));
  auto object = backend.emit(module, toJson(step.program), options);
  if (!object)
    return emitError(module.getLoc()) << llvm::toString(object.takeError());
  step.object = std::move(*object);
  return step;
}
