// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Spelling.h"
#include "gtest/gtest.h"

using namespace netc;
using llvm::StringRef;

static std::string nearest(StringRef name,
                           std::initializer_list<StringRef> candidates) {
  return nearestName(name, candidates).str();
}

TEST(SpellingTest, OneEditForEachThreeLetters) {
  EXPECT_EQ(nearest("Liner", {"Linear", "LayerNorm"}), "Linear");
  EXPECT_EQ(nearest("bandwith", {"memory", "bandwidth"}), "bandwidth");
  EXPECT_EQ(nearest("optmzer", {"optimizer"}), "optimizer");
  EXPECT_EQ(nearest("optmzr", {"optimizer"}), "");
  EXPECT_EQ(nearest("seq", {"T", "examples"}), "");
  EXPECT_EQ(nearest(std::string(65, 'a'), {std::string(64, 'a')}), "");
}

TEST(SpellingTest, ASwapIsOneEditAndCaseNone) {
  EXPECT_EQ(nearest("lable", {"label"}), "label");
  EXPECT_EQ(nearest("inti", {"init", "over"}), "init");
  EXPECT_EQ(nearest("relu", {"RELU", "relu6"}), "RELU");
  EXPECT_EQ(nearest("t", {"T", "s"}), "T");
}

TEST(SpellingTest, ShortNamesLeaveNoChoice) {
  EXPECT_EQ(nearest("sam", {"sum", "map"}), "sum");
  EXPECT_EQ(nearest("sam", {"sum", "sim"}), "");
  EXPECT_EQ(nearest("sam", {"min", "map", "max"}), "");
  EXPECT_EQ(nearest("fc3", {"fc1", "fc2"}), "");
  EXPECT_EQ(nearest("cc", {"c", "k", "k"}), "c");
  EXPECT_EQ(nearest("cc", {"ab"}), "");
  EXPECT_EQ(nearest("D", {"N", "T"}), "");
  // Of longer ones the first is as good as any.
  EXPECT_EQ(nearest("layer3", {"layer1", "layer2"}), "layer1");
}
