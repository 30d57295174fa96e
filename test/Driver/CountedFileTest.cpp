// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Driver/CountedFile.h"

#include "lib/Diagnostics/DiagnosticPrinter.h"

#include "gtest/gtest.h"

using namespace netc;

namespace {
/// Counts files with and without each copy of their `repeat`s.
class CountedFileTest : public testing::Test {
protected:
  CountedFileTest()
      : context(mlir::MLIRContext::Threading::DISABLED),
        printer(&context, llvm::errs()), progress(std::chrono::hours(1)),
        session(context, FrontendOptions(), progress, printer) {
    context.loadDialect<NetDialect>();
  }

  static void compare(const netc::Run &rolled, const netc::Run &all) {
    SCOPED_TRACE(all.name().str());
    EXPECT_TRUE(rolled.step() == all.step());
    EXPECT_TRUE(rolled.symbolic == all.symbolic);
    for (auto [name, part] : Memory::parts())
      EXPECT_EQ((rolled.memory.*part).types(), (all.memory.*part).types())
          << name.str();
    EXPECT_EQ(rolled.modelFlop(), all.modelFlop());
    EXPECT_EQ(rolled.peak, all.peak);
    ASSERT_EQ(rolled.jobs.size(), all.jobs.size());
    for (auto [a, b] : llvm::zip_equal(rolled.jobs, all.jobs))
      compare(a, b);
  }

  void compare(const std::string &path) {
    SCOPED_TRACE(path);
    std::optional<CountedFile> rolled = countWhole(session, path),
                               all = countFile(session, path);
    ASSERT_TRUE(rolled && all);
    for (auto [a, b] :
         llvm::zip_equal(rolled->analysis.networks, all->analysis.networks)) {
      SCOPED_TRACE(b.name().str());
      EXPECT_TRUE(a.symbolic == b.symbolic);
      EXPECT_TRUE(a.parts.root().figures == b.parts.root().figures);
    }
    for (auto [a, b] :
         llvm::zip_equal(rolled->analysis.runs, all->analysis.runs))
      compare(a, b);
    isRolled = numOps(*rolled) < numOps(*all);
  }

  static size_t numOps(CountedFile &file) {
    size_t ops = 0;
    file.specification->module().walk([&](mlir::Operation *) { ++ops; });
    return ops;
  }

  mlir::MLIRContext context;
  DiagnosticPrinter printer;
  Progress progress;
  Session session;
  bool isRolled = false; ///< the last file has fewer ops so
};
} // namespace

TEST_F(CountedFileTest, FiguresDoNotDependOnRolling) {
  compare(NETC_SOURCE_DIR "/test/Driver/Inputs/repeats.net");
  EXPECT_TRUE(isRolled);
}
