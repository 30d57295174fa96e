// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_EXPLANATION_H
#define NETC_LIB_FRONTEND_EXPLANATION_H

#include "grammar/NetParser.h"
#include "lib/Frontend/SyntaxErrors.h"

#include <optional>
#include <string>
#include <vector>

namespace netc {

/// Explains one syntax error at the token `found`, from the tokens around it
/// and the open rules of the parser.
class Explanation {
public:
  Explanation(antlr4::Parser *parser, antlr4::Token *found);

  SyntaxError get() const;

  /// Whether the error may be caused by an earlier one: a bracket that stays
  /// open, and errors in a list that had an earlier error.
  bool mayFollowFrom(const SyntaxError &earlier) const;

private:
  using Answer = std::optional<SyntaxError>;
  using Token = antlr4::Token;

  SyntaxError here(const Message &message) const;
  SyntaxError at(const Token *token, const Message &message) const;

  bool expects(size_t type) const { return expected.contains(type); }
  bool expectsExpr() const;
  /// Whether an expression ends before `found`, so that an operator could
  /// follow.
  bool isAfterExpr() const;
  /// Whether `found` is in the place of a binding's `=`.
  bool isBinding() const;
  /// Whether the innermost rule is a list with commas.
  bool isList() const;
  /// Between `train` and its `{`.
  bool isJobHead() const;
  bool inRule(std::initializer_list<size_t> rules) const;
  /// The text of a token type that has only one spelling.
  std::string literal(size_t type) const;
  template <typename Rule> Rule *enclosing() const {
    for (antlr4::RuleContext *r = rule; r;
         r = static_cast<antlr4::RuleContext *>(r->parent))
      if (auto *match = dynamic_cast<Rule *>(r))
        return match;
    return nullptr;
  }

  /// Finds the innermost bracket that the open rules have not closed, and that
  /// stands in the text: recovery makes up a token that is missing.
  void findOpener();

  // Each explains one case, and nothing if it is another.
  Answer sweep() const;
  Answer jobHead() const;
  Answer reservedWord() const;
  Answer nameWithDigit() const;
  Answer loop() const;
  Answer bracketOnNewLine() const;
  Answer condition() const;
  Answer comprehension() const;
  Answer separator() const;
  Answer openBodyBefore(Token *end) const;
  Answer nestedDeclaration() const;
  Answer statement() const;
  // What papers and other languages write, in ForeignSyntax.cpp.
  Answer mergeConflict() const;
  Answer groupedDigits() const;
  Answer character() const;
  Answer foreignWord() const;
  Answer foreignOperator() const;
  Answer foreignValue() const;
  Answer foreignType() const;
  Answer unit() const;

  SyntaxError closesNothing() const;
  /// The possible replacements for `found`, most informative first.
  std::vector<std::string> expectations() const;
  /// An explanation from the grammar alone.
  SyntaxError general() const;

  const antlr4::BufferedTokenStream &tokens;
  const antlr4::dfa::Vocabulary &vocabulary;
  antlr4::ParserRuleContext *rule;
  antlr4::misc::IntervalSet expected;
  Token *found, *before, *after;
  Token *opener = nullptr;
  bool isBody = true;
};

/// Explains a syntax error. None if `earlier`, the error before it, may have
/// caused it; `earlier` may be null.
std::optional<SyntaxError> explain(antlr4::Parser *parser, antlr4::Token *found,
                                   const SyntaxError *earlier);

} // namespace netc

#endif // NETC_LIB_FRONTEND_EXPLANATION_H
