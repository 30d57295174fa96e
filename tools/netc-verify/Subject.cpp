// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/netc-verify/Subject.h"

#include "lib/Frontend/Specification.h"
#include "lib/Pipelines/Pipelines.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Path.h"

using namespace netc;
using namespace mlir;

/// Replaces updates: each parameter changes by minus its unscaled gradient.
static void updatePlainly(ModuleOp module) {
  for (auto step : module.getOps<StepOp>()) {
    RunFacts facts = step.getRun().getFacts();
    facts.lossScale.reset();
    step.setRunAttr(RunAttr::get(module.getContext(), facts));
  }
  module.walk([](OptimizerOp optimizer) {
    Block &block = optimizer.getBlock();
    while (!block.empty())
      block.back().erase();
    ImplicitLocOpBuilder b(optimizer.getLoc(), OpBuilder::atBlockEnd(&block));
    Value rate = b.create<ConstantOp>(
        tensorOf(netc::elementOf(optimizer.getParameter()), Shape()),
        llvm::APFloat(1.0));
    b.create<SgdOp>(optimizer.getParameter(), optimizer.getGradient(), rate,
                    llvm::APFloat(0.0), llvm::APFloat(0.0), /*nesterov=*/false,
                    /*sparse=*/false);
  });
}

static LogicalResult toSteps(ModuleOp module) {
  PassManager passes(module->getName());
  addPasses(passes, Stage::Step);
  return passes.run(module);
}

static OwningOpRef<ModuleOp> alone(StepOp step) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(step.getLoc());
  module->push_back(step->clone());
  return module;
}

std::optional<std::vector<Subject>>
netc::loadSubjects(MLIRContext &context, StringRef file,
                   const std::vector<std::string> &runs,
                   std::function<void(StringRef, StringRef)> onRead) {
  FrontendOptions options;
  options.onlyRuns = runs;
  options.onRead = std::move(onRead);
  auto specification = Specification::load(&context, file, options);
  if (!specification)
    return std::nullopt;
  ModuleOp module = specification->module();
  OwningOpRef<ModuleOp> plain = module.clone();
  updatePlainly(*plain);
  if (failed(toSteps(module)) || failed(toSteps(*plain)))
    return std::nullopt;
  std::vector<Subject> subjects;
  for (auto [step, plainStep] :
       llvm::zip_equal(module.getOps<StepOp>(), plain->getOps<StepOp>())) {
    Subject subject;
    subject.file = llvm::sys::path::filename(file);
    subject.run = step.getSymName();
    subject.step = alone(step);
    subject.plain = alone(plainStep);
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

std::optional<JitStep> Subject::build(ModuleOp module,
                                      LoweringOptions options) const {
  options.sizes = sizes;
  options.isa = isa;
  options.arch = arch;
  // The others are lowered as the reference is.
  options.verified = !options.doubles;
  OwningOpRef<ModuleOp> lowered = module.clone();
  auto fail = [&](llvm::Error error) {
    llvm::errs() << name() << ": error: " << toString(std::move(error)) << '\n';
    return std::nullopt;
  };
  auto backend = makeBackend(options);
  if (!backend)
    return fail(backend.takeError());
  FailureOr<CompiledStep> compiled = compile(*lowered, **backend, options);
  if (failed(compiled))
    return std::nullopt;
  auto step = JitStep::load(std::move(*compiled), driver);
  if (!step)
    return fail(step.takeError());
  return std::move(*step);
}
