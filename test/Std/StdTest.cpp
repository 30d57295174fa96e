// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Std/Std.h"
#include "lib/Frontend/Parser.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace netc;

TEST(Std, FilesAreFoundByPath) {
  std::optional<llvm::StringRef> core = standardLibrary("std/core.net");
  ASSERT_TRUE(core);
  EXPECT_TRUE(core->contains("block Linear("));
  EXPECT_FALSE(standardLibrary("core.net"));
  EXPECT_FALSE(standardLibrary("std/"));
  EXPECT_TRUE(llvm::is_sorted(standardLibraryPaths()));
}

TEST(Std, FilesParse) {
  mlir::MLIRContext context;
  for (llvm::StringRef path : standardLibraryPaths())
    EXPECT_TRUE(parse(&context, path, *standardLibrary(path))) << path.str();
}
