// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/NewlineFilter.h"

#include "grammar/NetLexer.h"
#include "gtest/gtest.h"

using namespace antlr4;
using namespace netc;

/// The tokens that a parser sees, parted by spaces, a newline as `;;`.
static std::string filtered(const std::string &text) {
  ANTLRInputStream input(text);
  NetLexer lexer(&input);
  NewlineFilter filter(lexer);
  std::string result;
  for (;;) {
    std::unique_ptr<Token> token = filter.nextToken();
    if (token->getType() == Token::EOF)
      return result;
    if (token->getChannel() != Token::DEFAULT_CHANNEL)
      continue;
    if (!result.empty())
      result += ' ';
    result += token->getType() == NetLexer::NL ? ";;" : token->getText();
  }
}

TEST(NewlineFilter, EndsStatements) {
  EXPECT_EQ(filtered("a = 1\nb = 2\n"), "a = 1 ;; b = 2 ;;");
  EXPECT_EQ(filtered("a = 1\r\nb = 2\r\n"), "a = 1 ;; b = 2 ;;");
}

TEST(NewlineFilter, ClosesTheFileOnce) {
  EXPECT_EQ(filtered("a = 1"), "a = 1 ;;");
  EXPECT_EQ(filtered("a = 1\n\n\n"), "a = 1 ;;");
  EXPECT_EQ(filtered(""), "");
  EXPECT_EQ(filtered("\n\n"), "");
}

TEST(NewlineFilter, LeadsWithNone) {
  EXPECT_EQ(filtered("\n# text\n\na = 1\n"), "a = 1 ;;");
}

TEST(NewlineFilter, CollapsesRunsAroundComments) {
  EXPECT_EQ(filtered("a = 1 # one\n\n# two\n  \nb = 2\n"), "a = 1 ;; b = 2 ;;");
}

TEST(NewlineFilter, ContinuesAfterAnOperator) {
  EXPECT_EQ(filtered("a = x +\ny"), "a = x + y ;;");
  EXPECT_EQ(filtered("a =\nx"), "a = x ;;");
  EXPECT_EQ(filtered("a = f(x,\ny)"), "a = f ( x , y ) ;;");
  EXPECT_EQ(filtered("expect a within\n2%"), "expect a within 2% ;;");
}

TEST(NewlineFilter, ContinuesBeforeAnOperator) {
  EXPECT_EQ(filtered("a = x\n|> f\n- y"), "a = x |> f - y ;;");
  EXPECT_EQ(filtered("expect a ~ 1\nwithin 2%"), "expect a ~ 1 within 2% ;;");
  EXPECT_EQ(filtered("if a {\n}\nelse {\n}"), "if a { } else { } ;;");
  EXPECT_EQ(filtered("f(\nx\n)"), "f ( x ) ;;");
}

TEST(NewlineFilter, OpeningBracketsBegin) {
  EXPECT_EQ(filtered("a = x\n(y)"), "a = x ;; ( y ) ;;");
  EXPECT_EQ(filtered("a = x\n[y]"), "a = x ;; [ y ] ;;");
}

TEST(NewlineFilter, SurvivesInsideBrackets) {
  EXPECT_EQ(filtered("a = f(x\nb = y"), "a = f ( x ;; b = y ;;");
}

TEST(NewlineFilter, WordsAsNames) {
  EXPECT_EQ(filtered("a = x.over\nb = y"), "a = x . over ;; b = y ;;");
  EXPECT_EQ(filtered("a = over\nb = y"), "a = over ;; b = y ;;");
  EXPECT_EQ(filtered("p = {\na = 1\nover = 2\n}"),
            "p = { a = 1 ;; over = 2 } ;;");
}
