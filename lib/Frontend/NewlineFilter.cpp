// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/NewlineFilter.h"

#include "grammar/NetLexer.h"

using namespace antlr4;

namespace netc {

using TokenList = std::vector<std::unique_ptr<Token>>;

/// Whether a token is an operator between two operands. `-` is one too, so that
/// a line may begin with it.
static bool isInfix(size_t type) {
  switch (type) {
  case NetLexer::PIPE:
  case NetLexer::DOT:
  case NetLexer::RANGE:
  case NetLexer::PLUS:
  case NetLexer::MINUS:
  case NetLexer::STAR:
  case NetLexer::SLASH:
  case NetLexer::FLOORDIV:
  case NetLexer::PERCENT:
  case NetLexer::MATMUL:
  case NetLexer::CARET:
  case NetLexer::EQ:
  case NetLexer::NE:
  case NetLexer::LT:
  case NetLexer::LE:
  case NetLexer::GT:
  case NetLexer::GE:
  case NetLexer::ABOUT:
  case NetLexer::AND:
  case NetLexer::OR:
  case NetLexer::COMMA:
  case NetLexer::SEMI:
    return true;
  default:
    return false;
  }
}

/// Whether a token is a word that has operands on both sides.
static bool isInfixWord(size_t type) {
  switch (type) {
  case NetLexer::THEN:
  case NetLexer::ELSE:
  case NetLexer::IN:
  case NetLexer::OVER:
  case NetLexer::CARRY:
  case NetLexer::ON:
  case NetLexer::AS:
  case NetLexer::WITHIN:
    return true;
  default:
    return false;
  }
}

static bool canEndStatement(size_t type) {
  switch (type) {
  case NetLexer::ASSIGN:
  case NetLexer::COLON:
  case NetLexer::ELLIPSIS:
  case NetLexer::LPAREN:
  case NetLexer::LBRACKET:
  case NetLexer::LBRACE:
  case NetLexer::NOT:
  case NetLexer::IMPORT:
  case NetLexer::RETURN:
  case NetLexer::YIELD:
    return false;
  default:
    return !isInfix(type) && !isInfixWord(type);
  }
}

static bool canBeginStatement(size_t type) {
  switch (type) {
  case NetLexer::RPAREN:
  case NetLexer::RBRACKET:
  case NetLexer::RBRACE:
    return false;
  default:
    return !isInfix(type) && !isInfixWord(type);
  }
}

static TokenList filter(TokenSource &lexer) {
  TokenList tokens;
  do {
    std::unique_ptr<Token> token = lexer.nextToken();
    if (token->getChannel() == Token::DEFAULT_CHANNEL)
      tokens.push_back(std::move(token));
  } while (tokens.empty() || tokens.back()->getType() != Token::EOF);

  TokenList result;
  result.reserve(tokens.size());
  auto typeBefore = [&](size_t back) {
    return result.size() < back ? size_t(Token::INVALID_TYPE)
                                : result[result.size() - back]->getType();
  };
  std::unique_ptr<Token> newline;
  for (size_t i = 0; i != tokens.size(); ++i) {
    std::unique_ptr<Token> &token = tokens[i];
    size_t type = token->getType();
    if (type == NetLexer::NL) {
      if (!newline)
        newline = std::move(token);
      continue;
    }
    if (type == Token::EOF && !newline)
      newline = CommonTokenFactory::DEFAULT->create(
          {token->getTokenSource(), token->getInputStream()}, NetLexer::NL, "",
          Token::DEFAULT_CHANNEL, token->getStartIndex(),
          token->getStartIndex() - 1, token->getLine(),
          token->getCharPositionInLine());

    // After `.`, and as the key of a record, a word is a name: `y = x.over`.
    size_t before = typeBefore(1);
    bool ends = !result.empty() &&
                (canEndStatement(before) ||
                 (isInfixWord(before) && !canEndStatement(typeBefore(2))));
    bool begins =
        canBeginStatement(type) ||
        (isInfixWord(type) && tokens[i + 1]->getType() == NetLexer::ASSIGN);
    if (newline && ends && begins)
      result.push_back(std::move(newline));
    newline.reset();
    result.push_back(std::move(token));
  }
  return result;
}

NewlineFilter::NewlineFilter(TokenSource &lexer)
    : ListTokenSource(filter(lexer)) {}

} // namespace netc
