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
    EXPECT_FALSE(parse(&context, path, *standardLibrary(path))->hasErrors())
        << path.str();
}

// Each block of the prelude is a file of its own, and nothing of it is left
// out.
TEST(Std, PreludeIsItsBlocks) {
  mlir::MLIRContext context;
  llvm::StringRef file = *standardLibrary(preludePath);
  size_t at = file.find("\nblock ") + 1;
  for (const StandardBlock &block : standardBlocks()) {
    EXPECT_EQ(block.text, file.substr(at, block.text.size()));
    EXPECT_EQ(block.line, 1 + file.take_front(at).count('\n'));
    at += block.text.size();
    auto source = parse(&context, preludePath, block.text);
    ASSERT_FALSE(source->hasErrors()) << block.name.str();
    ASSERT_EQ(source->tree()->item().size(), 1u) << block.name.str();
    EXPECT_EQ(source->tree()->item(0)->blockDecl()->ID()->getText(),
              block.name.str());
  }
  EXPECT_EQ(at, file.size());
}
