// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/SyntaxErrors.h"

#include "grammar/NetParser.h"
#include "lib/Frontend/Explanation.h"
#include "lib/Frontend/Tokens.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace antlr4;
using namespace llvm;

namespace netc {

//===----------------------------------------------------------------------===//
// Slips
//===----------------------------------------------------------------------===//

static std::optional<SyntaxError> slipAt(const BufferedTokenStream &tokens,
                                         Token *token) {
  Token *next = neighbour(tokens, token, +1);
  bool isAdjacent = adjacent(token, next), hasUnit = is(next, {NetParser::ID});
  std::string number = token->getText();
  std::string unit = hasUnit ? next->getText() : "";

  if (number.back() == '%' && (hasUnit || is(next, {NetParser::NUMBER}) ||
                               (isAdjacent && is(next, {NetParser::LPAREN}))))
    return SyntaxError{beginOf(token),
                       error::PercentageAsRemainder(
                           number, StringRef(number).drop_back(),
                           isOpener(next) ? "(...)" : next->getText())};
  if (isDigit(number.back()) && unit == "K" && isAdjacent)
    return SyntaxError{beginOf(token), error::AmbiguousK(number)};
  if (isDigit(number.back()) && unit == "B" && !isAdjacent)
    return SyntaxError{beginOf(token), error::AmbiguousB(number)};

  // `8 A100-80GB`: units contain no digits, so the name is that of a device.
  Token *sign = neighbour(tokens, token, -1);
  Token *name = sign ? neighbour(tokens, sign, -1) : nullptr;
  if (unit == "B" && isAdjacent && adjacent(sign, token) &&
      is(sign, {NetParser::MINUS}) && adjacent(name, sign) &&
      is(name, {NetParser::ID}) && any_of(name->getText(), isDigit))
    return SyntaxError{beginOf(name),
                       error::SubtractionAsName(name->getText(), number)};

  // `SGD(lr = 0,1)`: the second number would be another setting.
  Token *fraction = next ? neighbour(tokens, next, +1) : nullptr;
  Token *opener = name ? neighbour(tokens, name, -1) : nullptr;
  if (isAdjacent && is(next, {NetParser::COMMA}) && adjacent(next, fraction) &&
      is(fraction, {NetParser::NUMBER}) && is(sign, {NetParser::ASSIGN}) &&
      is(opener, {NetParser::LPAREN}) && all_of(number, isDigit) &&
      all_of(fraction->getText(), isDigit))
    return SyntaxError{beginOf(token),
                       error::GroupedDigits(number, fraction->getText())};
  return std::nullopt;
}

std::vector<SyntaxError> findSlips(const BufferedTokenStream &tokens) {
  std::vector<SyntaxError> slips;
  for (size_t i = 0; tokens.get(i)->getType() != Token::EOF; ++i)
    if (is(tokens.get(i), {NetParser::NUMBER}))
      if (std::optional<SyntaxError> slip = slipAt(tokens, tokens.get(i)))
        slips.push_back(std::move(*slip));
  return slips;
}

//===----------------------------------------------------------------------===//
// Strategy
//===----------------------------------------------------------------------===//

/// Whether the rest of the line closes a bracket from an earlier line, for each
/// token.
static std::vector<bool> closeEarlierLine(BufferedTokenStream &tokens) {
  std::vector<bool> closes(tokens.size());
  // The least depth after a token or later in its line, where that before the
  // token is 0.
  int least = 0;
  for (size_t i = closes.size(); i-- > 0;) {
    Token *token = tokens.get(i);
    if (is(token, {NetParser::NL, Token::EOF}))
      least = 0;
    else
      least = std::min(0, least) + isOpener(token) - isCloser(token);
    closes[i] = least < 0;
  }
  return closes;
}

static bool isAtDeclaration(Parser *parser) {
  TokenStream *tokens = parser->getTokenStream();
  return isDeclaration(*static_cast<BufferedTokenStream *>(tokens),
                       tokens->LT(1));
}

void SyntaxErrorStrategy::report(Parser *parser, Token *found) {
  if (errors.size() >= maxErrors)
    return add({beginOf(found), {}});
  const SyntaxError *earlier = errors.empty() ? nullptr : &errors.back();
  // Text that was skipped may have contained the partner of the bracket. Such
  // errors are not counted, so this does not look at the open rules.
  if (earlier && closesEarlier.empty())
    closesEarlier = closeEarlierLine(
        *static_cast<BufferedTokenStream *>(parser->getTokenStream()));
  if (earlier && (earlier->place.line == found->getLine() ||
                  closesEarlier[found->getTokenIndex()]))
    return;
  if (std::optional<SyntaxError> error = explain(parser, found, earlier))
    add(std::move(*error));
}

void SyntaxErrorStrategy::add(SyntaxError error) {
  // A second error in a line mostly follows from the first.
  if (errors.empty() || errors.back().place.line != error.place.line)
    errors.push_back(std::move(error));
}

void SyntaxErrorStrategy::reportNoViableAlternative(
    Parser *parser, const NoViableAltException &e) {
  // The expected tokens are known at the start of the alternative, not after
  // it.
  Token *start = e.getStartToken(), *found = e.getOffendingToken();
  if (start == found || is(start, {NetParser::NL}))
    return report(parser, start);
  Message message =
      error::Unexpected(describe(found), " after " + quote(start));
  if (isKeyword(found) && is(start, {NetParser::NET, NetParser::BLOCK}))
    message = error::ReservedWord(quote(found), "choose another name");
  if (is(start, {NetParser::COMMA})) {
    // `f32<N, 8>`
    std::optional<SyntaxError> known = explain(parser, found, nullptr);
    if (known && known->message.id == error::AxesInBrackets.id)
      return add(*known);
    bool isNamed = is_contained({NetParser::RuleParams, NetParser::RuleRecord},
                                parser->getContext()->getRuleIndex());
    message = error::Expected(isNamed ? "a name" : anExpression, " after `,`",
                              ", found " + describe(found));
  }
  add({beginOf(found), message});
}

void SyntaxErrorStrategy::reportInputMismatch(Parser *parser,
                                              const InputMismatchException &e) {
  report(parser, e.getOffendingToken());
}

void SyntaxErrorStrategy::reportFailedPredicate(
    Parser *parser, const FailedPredicateException &e) {
  report(parser, e.getOffendingToken());
}

void SyntaxErrorStrategy::reportUnwantedToken(Parser *parser) {
  if (inErrorRecoveryMode(parser))
    return;
  beginErrorCondition(parser);
  report(parser, parser->getCurrentToken());
}

void SyntaxErrorStrategy::reportMissingToken(Parser *parser) {
  reportUnwantedToken(parser);
}

void SyntaxErrorStrategy::sync(Parser *parser) {
  // Leave the loop: only the outermost rule can continue with a declaration.
  if (isAtDeclaration(parser) && parser->getContext()->parent)
    return;
  DefaultErrorStrategy::sync(parser);
}

Token *SyntaxErrorStrategy::recoverInline(Parser *parser) {
  if (!isAtDeclaration(parser))
    return DefaultErrorStrategy::recoverInline(parser);
  reportMissingToken(parser);
  return getMissingSymbol(parser);
}

void SyntaxErrorStrategy::consumeUntil(Parser *parser,
                                       const misc::IntervalSet &set) {
  while (!set.contains(parser->getInputStream()->LA(1)) &&
         parser->getInputStream()->LA(1) != Token::EOF &&
         !isAtDeclaration(parser))
    parser->consume();
}

} // namespace netc
