// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Specification.h"

#include "lib/Frontend/ExpectChecker.h"
#include "lib/Frontend/SweepPlanner.h"

using namespace netc;
using llvm::StringRef;

namespace {
class Evaluated : public Specification {
public:
  Evaluated(mlir::MLIRContext *context, const FrontendOptions &options)
      : evaluator(context, options) {}
  mlir::ModuleOp module() override { return *evaluator.module; }
  llvm::ArrayRef<std::string> networks() override {
    return evaluator.program.networks;
  }
  llvm::ArrayRef<std::string> runs() override { return evaluator.program.runs; }
  std::optional<std::vector<SweepPoint>> sweep(StringRef run) override {
    return SweepPlanner(evaluator).points(run);
  }
  std::optional<std::vector<SweepPoint>> sweptSteps(StringRef run,
                                                    bool variesBatch) override {
    return SweepPlanner(evaluator).stepsAtPoints(run, variesBatch);
  }
  std::optional<std::vector<SweepPoint>> corners(StringRef run) override {
    return SweepPlanner(evaluator).corners(run);
  }
  std::vector<std::string> settable() override {
    return evaluator.commandLine.settableNames();
  }
  std::vector<Verdict> check(const Results &results) override {
    return ExpectChecker(evaluator, results).checkAll();
  }
  Evaluator evaluator;
};
} // namespace

std::unique_ptr<Specification>
Specification::load(mlir::MLIRContext *context, StringRef path,
                    const FrontendOptions &options) {
  auto evaluated = std::make_unique<Evaluated>(context, options);
  if (!evaluated->evaluator.program.load(path))
    return nullptr;
  return evaluated;
}
