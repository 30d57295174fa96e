// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Specification.h"

#include "lib/Frontend/ExpectChecker.h"
#include "lib/Frontend/SweepPlanner.h"

using namespace netc;
using llvm::StringRef;

namespace {
class Elaborated : public Specification {
public:
  Elaborated(mlir::MLIRContext *context, const FrontendOptions &options)
      : elaborator(context, options) {}
  mlir::ModuleOp module() override { return elaborator.getModule(); }
  llvm::ArrayRef<std::string> networks() override {
    return elaborator.getNetworks();
  }
  llvm::ArrayRef<std::string> runs() override { return elaborator.getRuns(); }
  std::optional<std::vector<SweepPoint>> sweep(StringRef run) override {
    return SweepPlanner(elaborator).points(run);
  }
  std::optional<std::vector<SweepPoint>> corners(StringRef run) override {
    return SweepPlanner(elaborator).corners(run);
  }
  std::vector<std::string> settable() override {
    return elaborator.settableNames();
  }
  std::vector<Verdict> check(const Results &results) override {
    return ExpectChecker(elaborator, results).checkAll();
  }
  Elaborator elaborator;
};
} // namespace

std::unique_ptr<Specification>
Specification::load(mlir::MLIRContext *context, StringRef path,
                    const FrontendOptions &options) {
  auto elaborated = std::make_unique<Elaborated>(context, options);
  if (!elaborated->elaborator.load(path))
    return nullptr;
  return elaborated;
}
