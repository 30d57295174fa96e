// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Parser.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace netc;

TEST(Parser, LeftSpine) {
  mlir::MLIRContext context;
  auto file = parse(&context, "a.net", "y = a + b |> f\n");
  ASSERT_TRUE(file);
  auto *bind =
      dynamic_cast<NetParser::BindContext *>(file->tree()->item(0)->stmt());
  ASSERT_TRUE(bind);
  auto spine = leftSpine(bind->expr());
  ASSERT_EQ(spine.size(), 3u);
  EXPECT_EQ(spine[0]->getText(), "a");
  EXPECT_EQ(spine[1]->getText(), "a+b");
  EXPECT_EQ(spine[2]->getText(), "a+b|>f");
}
