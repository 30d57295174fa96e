// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Explanation.h"

#include "grammar/NetParser.h"
#include "lib/Frontend/Tokens.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace antlr4;
using namespace llvm;

namespace netc {

Explanation::Explanation(Parser *parser, Token *found)
    : tokens(*static_cast<BufferedTokenStream *>(parser->getTokenStream())),
      vocabulary(parser->getVocabulary()), rule(parser->getContext()),
      expected(parser->getExpectedTokens()), found(found),
      before(neighbour(tokens, found, -1)),
      after(neighbour(tokens, found, +1)) {
  findOpener();
}

void Explanation::findOpener() {
  for (RuleContext *r = rule; r && !opener;
       r = static_cast<RuleContext *>(r->parent))
    for (tree::ParseTree *child : r->children)
      if (auto *leaf = dynamic_cast<tree::TerminalNode *>(child)) {
        if (leaf->getSymbol()->getTokenIndex() == INVALID_INDEX)
          continue;
        if (isOpener(leaf->getSymbol()))
          opener = leaf->getSymbol(),
          isBody = r->getRuleIndex() == NetParser::RuleBody;
        else if (isCloser(leaf->getSymbol()))
          opener = nullptr;
      }
}

SyntaxError Explanation::get() const {
  for (auto explain :
       {&Explanation::mergeConflict, &Explanation::groupedDigits,
        &Explanation::character, &Explanation::loop, &Explanation::foreignWord,
        &Explanation::sweep, &Explanation::jobHead, &Explanation::reservedWord,
        &Explanation::nameWithDigit, &Explanation::foreignOperator,
        &Explanation::foreignValue, &Explanation::foreignType,
        &Explanation::bracketOnNewLine, &Explanation::condition,
        &Explanation::comprehension, &Explanation::unit,
        &Explanation::separator, &Explanation::nestedDeclaration,
        &Explanation::statement})
    if (std::optional<SyntaxError> error = (this->*explain)())
      return *error;
  return general();
}

bool Explanation::mayFollowFrom(const SyntaxError &earlier) const {
  return (found->getType() == Token::EOF && opener) ||
         (is(opener, {NetParser::LPAREN, NetParser::LBRACKET}) &&
          beginOf(opener) < earlier.place);
}

SyntaxError Explanation::here(const Message &message) const {
  return {beginOf(found), message};
}

SyntaxError Explanation::at(const Token *token, const Message &message) const {
  return {beginOf(token), message};
}

bool Explanation::expectsExpr() const {
  return expects(NetParser::STRING) && expects(NetParser::LPAREN);
}

bool Explanation::isAfterExpr() const {
  return !expectsExpr() && !isBinding() &&
         !inRule({NetParser::RuleParams, NetParser::RuleParam,
                  NetParser::RuleEach, NetParser::RuleVaried,
                  NetParser::RulePath}) &&
         is(before, {NetParser::ID, NetParser::NUMBER, NetParser::RATE,
                     NetParser::DEVTIME, NetParser::STRING, NetParser::TRUE,
                     NetParser::FALSE, NetParser::RPAREN, NetParser::RBRACKET});
}

bool Explanation::isBinding() const {
  return inRule({NetParser::RuleStmt, NetParser::RuleTarget}) &&
         is(rule->getStart(), {NetParser::ID}) && found != rule->getStart() &&
         expects(NetParser::ASSIGN);
}

bool Explanation::isList() const {
  return dynamic_cast<NetParser::CallContext *>(rule) ||
         dynamic_cast<NetParser::IndexContext *>(rule) ||
         dynamic_cast<NetParser::ListContext *>(rule) ||
         inRule({NetParser::RuleParams});
}

bool Explanation::isJobHead() const {
  return is(firstOfLine(tokens, found), {NetParser::TRAIN, NetParser::INFER}) &&
         !sameLine(opener, found);
}

bool Explanation::inRule(std::initializer_list<size_t> rules) const {
  return is_contained(rules, rule->getRuleIndex());
}

std::string Explanation::literal(size_t type) const {
  return quote(StringRef(vocabulary.getLiteralName(type)).trim('\''));
}

/// `train A as run on Data`.
Explanation::Answer Explanation::jobHead() const {
  Token *beforeThat = before ? neighbour(tokens, before, -1) : nullptr;
  if (!isJobHead() || !is(found, {NetParser::ON}) ||
      !is(beforeThat, {NetParser::AS}) || !is(after, {NetParser::ID}))
    return std::nullopt;
  return here(error::DataBehindName(after->getText(), before->getText()));
}

/// `sweep = ..` or `sweep { .. }`.
Explanation::Answer Explanation::sweep() const {
  Token *keyword = is(found, {NetParser::SWEEP}) ? found : before;
  Token *next = keyword == found ? after : found;
  if (!is(keyword, {NetParser::SWEEP}) || is(next, {NetParser::ID}))
    return std::nullopt;
  return at(next, error::Expected("what varies", " after `sweep`",
                                  ", as in `sweep batch in [32, 64]`"));
}

/// A keyword as a name.
Explanation::Answer Explanation::reservedWord() const {
  for (auto [word, next] : {std::pair(before, found), std::pair(found, after)})
    if (word && isKeyword(word) && is(next, {NetParser::ASSIGN}) &&
        sameLine(word, next))
      return at(word,
                error::ReservedWord(
                    quote(word),
                    is(word, {NetParser::DATASET}) &&
                            enclosing<NetParser::JobContext>()
                        ? "the data of a run stands in its first line, as in "
                          "`train Net on Data as run`"
                        : "choose another name"));
  if (isKeyword(found) && is(before, {NetParser::NET, NetParser::BLOCK}))
    return here(error::ReservedWord(quote(found), "choose another name"));
  if (is(found, {NetParser::MINUS}) && adjacent(before, found) &&
      is(before, {NetParser::ID}) && is(after, {NetParser::ID}) &&
      inRule({NetParser::RuleBlockDecl, NetParser::RuleParams,
              NetParser::RuleSection}))
    return at(before, error::HyphenInName(before->getText(), after->getText()));
  if (is(found, {NetParser::ID}) && is(before, {NetParser::ID}) &&
      is(after, {NetParser::ASSIGN}) && sameLine(before, after)) {
    Token *first = neighbour(tokens, before, -1);
    bool beginsName = !sameLine(first, before) ||
                      is(first, {NetParser::SEMI, NetParser::COMMA}) ||
                      isOpener(first);
    if (beginsName)
      return at(before,
                error::NameInWords(before->getText(), found->getText()));
  }
  return std::nullopt;
}

/// `net 3Layers(x)`, and `net 1` where it is not the first line.
Explanation::Answer Explanation::nameWithDigit() const {
  for (auto [number, rest] :
       {std::pair(before, found), std::pair(found, after)}) {
    if (!is(number, {NetParser::NUMBER}))
      continue;
    Token *keyword = neighbour(tokens, number, -1);
    if (is(rest, {NetParser::ID}) && adjacent(number, rest) &&
        is(keyword, {NetParser::NET, NetParser::BLOCK, NetParser::DATASET,
                     NetParser::AS})) {
      std::string name = number->getText() + rest->getText();
      StringRef letters = StringRef(name).drop_while(isDigit);
      return at(number,
                error::DigitFirst(StringRef(name).drop_back(letters.size()),
                                  letters));
    }
    if (number == found && is(keyword, {NetParser::NET}))
      return at(keyword, error::VersionNotFirst(number->getText()));
  }
  return std::nullopt;
}

/// The head of a loop: `for (i in 0..3)`, `for i = 0; i < 3; i++`.
Explanation::Answer Explanation::loop() const {
  Token *first = found;
  while (sameLine(first, found) && !is(first, {NetParser::FOR}) &&
         !is(first, {NetParser::LBRACE, NetParser::SEMI, NetParser::NL}))
    first = neighbour(tokens, first, -1);
  Token *earlier = first ? neighbour(tokens, first, -1) : nullptr;
  bool isHead =
      is(first, {NetParser::FOR}) && sameLine(first, found) &&
      (!earlier || is(earlier, {NetParser::LBRACE, NetParser::SEMI}) ||
       !sameLine(earlier, first));
  if (!isHead || is(found, {NetParser::COLON, NetParser::NL, Token::EOF}))
    return std::nullopt;
  bool isForeign =
      is(found, {NetParser::LPAREN}) ||
      (is(found, {NetParser::ASSIGN}) && is(before, {NetParser::ID})) ||
      (expects(NetParser::LBRACE) && is(found, {NetParser::NUMBER}));
  return isForeign ? Answer(here(error::LoopForm())) : std::nullopt;
}

/// A brace on a new line.
Explanation::Answer Explanation::bracketOnNewLine() const {
  if (!expects(NetParser::LBRACE) || expectsExpr())
    return std::nullopt;
  if (is(found, {NetParser::NL}) && is(after, {NetParser::LBRACE}))
    return at(after, error::BraceOnNewLine());
  if (is(found, {NetParser::COLON}))
    return here(error::ColonForBody());
  return std::nullopt;
}

/// An `if` inside of an expression.
Explanation::Answer Explanation::condition() const {
  auto *choice = dynamic_cast<NetParser::CondContext *>(rule);
  if (!choice)
    return std::nullopt;
  if (expects(NetParser::THEN) && is(found, {NetParser::LBRACE}))
    return here(error::IfWithBraces());
  if (expects(NetParser::ELSE) && is(found, {NetParser::NL, Token::EOF}))
    return SyntaxError{
        endOf(before), error::IfWithoutElse(),
        SyntaxError::Note{beginOf(choice->getStart()), "the `if` is here"}};
  return std::nullopt;
}

/// A comprehension that ends with its line after `for`, where an `if` could
/// follow.
Explanation::Answer Explanation::comprehension() const {
  if (!inRule({NetParser::RuleComp}) || !is(before, {NetParser::NL}) || !opener)
    return std::nullopt;
  return SyntaxError{
      endOf(neighbour(tokens, before, -1)),
      error::Expected(literal(closerOf(opener)), "", ""),
      SyntaxError::Note{beginOf(opener), "to close this " + quote(opener)}};
}

/// A semicolon at the top level: `a = 1; b = 2`.
Explanation::Answer Explanation::separator() const {
  if (inRule({NetParser::RuleFile}) && is(found, {NetParser::SEMI}))
    return here(error::Semicolon());
  return std::nullopt;
}

/// A body whose end is missing, as the lines before `end` show.
Explanation::Answer Explanation::openBodyBefore(Token *end) const {
  std::optional<OpenBody> body = openBody(tokens, opener, end);
  if (!body)
    return std::nullopt;
  Token *last = neighbour(tokens, body->behind, -1);
  while (is(last, {NetParser::NL}))
    last = neighbour(tokens, last, -1);
  return SyntaxError{
      endOf(last),
      error::Expected("`}`", "", ", as the next line's indentation shows"),
      SyntaxError::Note{beginOf(body->opener), "to close this `{`"}};
}

/// A declaration inside of a body. Most often, the end of the body is missing.
Explanation::Answer Explanation::nestedDeclaration() const {
  bool isHardware =
      is(rule->getStart(), {NetParser::HARDWARE}) && is(found, {NetParser::ID});
  Token *keyword = isHardware ? rule->getStart() : found;
  if (!opener || !isDeclaration(tokens, keyword))
    return std::nullopt;
  if (Answer earlier = openBodyBefore(keyword))
    return earlier;
  return SyntaxError{
      beginOf(keyword),
      error::NestedDeclaration(literal(closerOf(opener)), quote(keyword)),
      SyntaxError::Note{beginOf(opener), "to close this " + quote(opener)}};
}

/// Text that is not a statement.
Explanation::Answer Explanation::statement() const {
  Message advice = error::LoneExpression(
      enclosing<NetParser::BlockDeclContext>() ? ", or `return` it" : "");

  bool begins = inRule({NetParser::RuleFile, NetParser::RuleBody}) &&
                expects(NetParser::EXPECT);
  // A text that documents, and `-- why`.
  if (begins && (is(found, {NetParser::STRING}) ||
                 (is(found, {NetParser::MINUS}) &&
                  is(after, {NetParser::MINUS}) && adjacent(found, after))))
    return here(error::ForeignComment());
  if (begins &&
      (is(found, {NetParser::NUMBER, NetParser::RATE, NetParser::DEVTIME,
                  NetParser::STRING, NetParser::MINUS, NetParser::NOT,
                  NetParser::REPEAT, NetParser::SCAN, NetParser::TRUE,
                  NetParser::FALSE}) ||
       isOpener(found)))
    return here(advice);

  if (!isBinding())
    return std::nullopt;
  Token *start = rule->getStart();
  if (is(found, {NetParser::DOT, NetParser::LBRACKET, NetParser::LPAREN})) {
    unsigned depth = 0;
    for (Token *token = found; !is(token, {NetParser::NL, Token::EOF});
         token = neighbour(tokens, token, +1)) {
      depth += isOpener(token);
      depth -= isCloser(token) && depth;
      if (!depth && is(token, {NetParser::ASSIGN}))
        return at(
            start,
            error::BoundElement(
                (is(found, {NetParser::DOT}) ? after : start)->getText()));
    }
  }
  Token *colon = neighbour(tokens, start, +1);
  if (is(found, {NetParser::EQ}) && found == colon)
    return here(error::ComparisonAsBinding(start->getText(),
                                           after ? after->getText() : "3"));
  if (is(colon, {NetParser::COLON}) &&
      (is(found, {NetParser::ASSIGN}) ||
       !is(neighbour(tokens, colon, +1), {NetParser::LBRACKET})))
    return at(colon, error::ColonForValue());
  if (is(colon, {NetParser::COLON}))
    return SyntaxError{endOf(before),
                       error::Expected("`=` and a value", "", "")};
  if (isInfix(found) || isOpener(found) || isCloser(found) ||
      is(found, {NetParser::NL, NetParser::SEMI, Token::EOF}))
    return at(start, advice);
  return SyntaxError{endOf(before),
                     error::Expected("`=`", " after " + quote(before),
                                     ", found " + describe(found))};
}

std::vector<std::string> Explanation::expectations() const {
  if (isJobHead() && isAfterExpr())
    return {literal(NetParser::ON), literal(NetParser::AS),
            literal(NetParser::LBRACE)};
  if (isAfterExpr() && expects(NetParser::NL) &&
      !is(opener, {NetParser::LPAREN, NetParser::LBRACKET}))
    return {"an operator", inRule({NetParser::RuleSetting})
                               ? literal(NetParser::COMMA)
                               : "a new line"};
  if (is(found, {Token::EOF}) && opener)
    return {literal(closerOf(opener))};
  std::vector<std::string> list;
  if (expects(NetParser::EXPECT))
    list.push_back("a statement");
  else if (expectsExpr())
    list.push_back(anExpression);
  else if (expects(NetParser::ID) && !isAfterExpr())
    list.push_back("a name");
  else if (expects(NetParser::STRING))
    list.push_back("a string");
  // The parser has left the list, since it saw no comma or nothing after one.
  if (list.empty() && isList()) {
    if (is(before, {NetParser::COMMA}))
      list.push_back(inRule({NetParser::RuleParams}) ? "a name" : anExpression);
    else if (isAfterExpr() && !expects(NetParser::COMMA))
      list.push_back("`,`");
  }
  for (size_t type :
       {NetParser::ASSIGN, NetParser::COMMA, NetParser::COLON, NetParser::THEN,
        NetParser::ELSE, NetParser::IN, NetParser::OVER, NetParser::LPAREN,
        NetParser::LBRACE, NetParser::RPAREN, NetParser::RBRACKET,
        NetParser::RBRACE}) {
    bool beginsExpr =
        expectsExpr() &&
        is_contained({NetParser::LPAREN, NetParser::LBRACE}, type);
    bool isCall = type == NetParser::LPAREN && isAfterExpr();
    bool isName =
        type == NetParser::OVER && (expectsExpr() || expects(NetParser::INFER));
    if (expects(type) && !beginsExpr && !isCall && !isName)
      list.push_back(literal(type));
  }
  if (expects(NetParser::NL) && list.empty())
    list.push_back("a new line");
  return list;
}

/// A bracket too many. A job needs no body, so the `{` of its keys may be
/// missing without an error before.
SyntaxError Explanation::closesNothing() const {
  SyntaxError error = here(error::ClosesNothing(quote(found)));
  if (!is(found, {NetParser::RBRACE}) || opener)
    return error;
  unsigned depth = 0;
  Token *lineEnd = nullptr;
  for (Token *token = neighbour(tokens, found, -1); token;
       token = neighbour(tokens, token, -1)) {
    if (is(token, {NetParser::LBRACE}) && depth-- == 0)
      break;
    depth += is(token, {NetParser::RBRACE});
    if (is(token, {NetParser::NL}) && depth == 0)
      lineEnd = token;
    if (depth != 0 || !is(token, {NetParser::TRAIN, NetParser::INFER}) ||
        !beginsLine(tokens, token))
      continue;
    Token *last = lineEnd ? neighbour(tokens, lineEnd, -1) : nullptr;
    if (!last || !sameLine(token, last) || is(last, {NetParser::RBRACE}))
      continue; // it has a body
    Token *key = neighbour(tokens, lineEnd, +1);
    if (beginOf(key).column > beginOf(token).column)
      return SyntaxError{
          endOf(last),
          error::Expected("`{`", "", ", as the next line's indentation shows"),
          SyntaxError::Note{beginOf(found), "for this `}` to close"}};
    error.note = {beginOf(token), "a `{` may be missing on this line"};
    break;
  }
  return error;
}

SyntaxError Explanation::general() const {
  if (isCloser(found) &&
      (!opener || (isBody && found->getType() != closerOf(opener))))
    return closesNothing();
  if (is(found, {NetParser::ASSIGN}) && expects(NetParser::EXPECT))
    return here(error::ValueWithoutName());
  if (is(firstOfLine(tokens, found), {NetParser::IMPORT}))
    return here(error::ImportArgument());
  if (opener && is(found, {Token::EOF}))
    if (Answer earlier = openBodyBefore(found))
      return *earlier;

  // Report an incomplete line at its end, not at the start of the next one.
  bool isLineEnd =
      is(found, {NetParser::NL, Token::EOF}) ||
      (before && !sameLine(before, found) && !expects(NetParser::EXPECT));
  SyntaxError error{isLineEnd && before ? endOf(before) : beginOf(found), {}};
  std::vector<std::string> list = expectations();
  Token *keyword = before ? neighbour(tokens, before, -1) : nullptr;
  if (is(before, {NetParser::ID}) && expects(NetParser::LPAREN) &&
      is(keyword, {NetParser::NET, NetParser::BLOCK})) {
    bool isNet = is(keyword, {NetParser::NET});
    std::string name = before->getText();
    error.message = error::Expected(
        isNet ? "inputs" : "parameters", " after " + quote(before),
        ", as in " + quote(isNet ? "net " + name + "(x: f32[N, 8])"
                                 : "block " + name + "(x)"));
  } else if (dynamic_cast<NetParser::RepeatContext *>(rule) &&
             expects(NetParser::LBRACE)) {
    error.message =
        error::Expected("`{`", "", ", as in `repeat 3 { Linear(8) }`");
  } else if (list.empty()) {
    error.message = error::Unexpected(describe(found), "");
  } else {
    std::string last = std::move(list.back());
    list.pop_back();
    bool isAfter =
        before && !is(before, {NetParser::NL}) && last == anExpression;
    error.message =
        error::Expected(join(list, ", ") + (list.empty() ? "" : " or ") + last,
                        isAfter ? " after " + quote(before) : "",
                        isLineEnd ? "" : ", found " + describe(found));
  }
  if (opener && expects(closerOf(opener)) &&
      (isLineEnd || isCloser(found) || isKeyword(found)))
    error.note = {beginOf(opener), "to close this " + quote(opener)};
  return error;
}

std::optional<SyntaxError> explain(Parser *parser, Token *found,
                                   const SyntaxError *earlier) {
  Explanation explanation(parser, found);
  if (earlier && explanation.mayFollowFrom(*earlier))
    return std::nullopt;
  return explanation.get();
}

} // namespace netc
