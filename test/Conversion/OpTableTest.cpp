// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a program says of its ops adds up to what an estimate says of the step,
// for every example.

#include "lib/Conversion/OpTable.h"

#include "lib/Analysis/Run.h"
#include "lib/Frontend/Specification.h"
#include "lib/Pipelines/Pipelines.h"
#include "lib/Transforms/Passes.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

#include <set>

using namespace netc;
using namespace mlir;

static std::set<std::string> examples() {
  std::set<std::string> paths;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator
           file(NETC_SOURCE_DIR "/examples", error),
       end;
       file != end && !error; file.increment(error))
    if (llvm::sys::path::extension(file->path()) == ".net")
      paths.insert(file->path());
  return paths;
}

/// The sums of the rows of a step, in its context's module.
static Figures sumOfRows(StepOp step) {
  numberOps(step);
  Figures sum;
  for (auto row : step->getParentOfType<ModuleOp>()
                      ->getAttrOfType<ArrayAttr>(OpRowAttr::kOfModule)
                      .getAsRange<OpRowAttr>()) {
    Cost &cost = sum[row.getPhase()];
    cost.matmul += Polynomial(row.getMatmul());
    cost.other += Polynomial(row.getOther());
    cost.transcendental += Polynomial(row.getTranscendental());
    sum.read += Polynomial(row.getBytes());
  }
  return sum;
}

namespace {
class OpTableTest : public testing::TestWithParam<std::string> {
protected:
  OpTableTest() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<NetDialect>();
    // What runs in free axes is no program: that is an error of BindAxes.
    context.getDiagEngine().registerHandler([](Diagnostic &) {});
  }

  MLIRContext context;
};
} // namespace

TEST_P(OpTableTest, AddsUpToTheCountOfTheStep) {
  auto specification = Specification::load(&context, GetParam(), {});
  ASSERT_TRUE(specification);
  PassManager toSteps(&context), bind(&context);
  addPasses(toSteps, Stage::Step);
  bind.addPass(createBindAxes());
  ASSERT_TRUE(succeeded(toSteps.run(specification->module())));
  unsigned compared = 0;
  for (auto step : specification->module().getOps<StepOp>()) {
    SCOPED_TRACE(step.getSymName().str());
    // It is counted, and no program. Its length is an axis of the step.
    if (step.getRun().getFacts().decode)
      continue;
    OwningOpRef<ModuleOp> module = ModuleOp::create(step.getLoc());
    module->push_back(step.clone());
    if (failed(bind.run(*module)))
      continue;
    auto bound = *module->getOps<StepOp>().begin();
    // Each device would read the whole network. A program is for one.
    RunFacts facts = bound.getRun().getFacts();
    facts.devices.reset();
    bound->setAttr("run", RunAttr::get(&context, facts));
    FailureOr<netc::Run> run = analyzeRun(bound, Conventions());
    ASSERT_TRUE(succeeded(run));
    Figures rows = sumOfRows(bound);
    for (unsigned i = 0; i <= getMaxEnumValForPhase(); ++i) {
      SCOPED_TRACE(stringifyPhase(Phase(i)).str());
      const Cost &counted = run->step()[Phase(i)], &summed = rows[Phase(i)];
      EXPECT_EQ(counted.matmul, summed.matmul);
      EXPECT_EQ(counted.other, summed.other);
      EXPECT_EQ(counted.transcendental, summed.transcendental);
    }
    EXPECT_EQ(run->step().traffic(), rows.read);
    ++compared;
  }
  // Those that have networks alone, or a part whose cost is all that is known.
  static const std::set<StringRef> withoutProgram = {
      "convnext", "densenet", "efficientnet", "googlenet", "mobilenet",
      "regnet",   "reported", "squeezenet",   "vit"};
  EXPECT_EQ(compared == 0,
            withoutProgram.count(llvm::sys::path::stem(GetParam())) == 1);
}

INSTANTIATE_TEST_SUITE_P(Examples, OpTableTest, testing::ValuesIn(examples()),
                         [](const testing::TestParamInfo<std::string> &info) {
                           return llvm::sys::path::stem(info.param).str();
                         });
