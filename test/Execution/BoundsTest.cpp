// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// AddressSanitizer sees a step that leaves its tensors: what `netc-verify-asan
// --bounds` relies on.

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tools/netc-verify/Subject.h"
#include "gtest/gtest.h"

using namespace netc;
using namespace mlir;

namespace {
/// The step of Inputs/shifted.net, by one of the two lowerings.
class BoundsTest : public testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    DialectRegistry registry;
    registry.insert<NetDialect>();
    registerLoweringInterfaces(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    auto subjects = loadSubjects(
        context, NETC_SOURCE_DIR "/test/Execution/Inputs/shifted.net", {},
        [](StringRef, StringRef) {});
    ASSERT_TRUE(subjects);
    subject = std::move(subjects->front());
    options.reference = GetParam();
    options.guarded = true;
    options.isa = program::Isa::Baseline;
    auto made = makeBackend(options);
    ASSERT_TRUE(bool(made));
    backend = std::move(*made);
    ASSERT_TRUE(
        succeeded(lower(*subject.step, *backend, options, CodeStage::Kernels)));
  }

  void run() {
    auto compiled = assemble(*subject.step, *backend, options);
    ASSERT_TRUE(succeeded(compiled));
    auto step = JitStep::load(std::move(*compiled), /*driver=*/"");
    ASSERT_TRUE(bool(step));
    step->reset(/*seed=*/1);
    step->run(1);
  }

  MLIRContext context;
  Subject subject;
  LoweringOptions options;
  std::unique_ptr<Backend> backend;
};
} // namespace

TEST_P(BoundsTest, IsSilentWhereNothingLeaves) { run(); }

TEST_P(BoundsTest, EndsTheProcessWhereTheComparisonIsMissing) {
  unsigned removed = 0;
  subject.step->walk([&](LLVM::ICmpOp compare) {
    if (compare.getPredicate() != LLVM::ICmpPredicate::ult)
      return;
    OpBuilder b(compare);
    Value yes = b.create<LLVM::ConstantOp>(compare.getLoc(), b.getI1Type(),
                                           b.getBoolAttr(true));
    compare.replaceAllUsesWith(yes);
    ++removed;
  });
  EXPECT_GE(removed, 2u); // of the gather and of its gradient
  EXPECT_DEATH(run(), "AddressSanitizer: use-after-poison");
}

INSTANTIATE_TEST_SUITE_P(Lowerings, BoundsTest, testing::Bool(),
                         [](const testing::TestParamInfo<bool> &info) {
                           return info.param ? "Reference" : "Fast";
                         });
