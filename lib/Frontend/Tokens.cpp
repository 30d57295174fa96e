// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Tokens.h"

#include "grammar/NetParser.h"
#include "llvm/ADT/STLExtras.h"

using namespace antlr4;
using namespace llvm;

namespace netc {

Token *neighbour(const BufferedTokenStream &tokens, const Token *token,
                 ssize_t step) {
  if (step < 0 ? token->getTokenIndex() == 0 : token->getType() == Token::EOF)
    return nullptr;
  return tokens.get(token->getTokenIndex() + step);
}

bool is(const Token *token, std::initializer_list<size_t> types) {
  return token && is_contained(types, token->getType());
}

bool adjacent(const Token *left, const Token *right) {
  return left && right && left->getStopIndex() + 1 == right->getStartIndex();
}

bool sameLine(const Token *left, const Token *right) {
  return left && right && left->getLine() == right->getLine();
}

bool beginsLine(const BufferedTokenStream &tokens, const Token *token) {
  return !sameLine(neighbour(tokens, token, -1), token);
}

Token *firstOfLine(const BufferedTokenStream &tokens, Token *token) {
  while (!beginsLine(tokens, token))
    token = neighbour(tokens, token, -1);
  return token;
}

bool isKeyword(const Token *token) {
  return token->getType() >= NetParser::IMPORT &&
         token->getType() <= NetParser::FALSE;
}

bool isInfix(const Token *token) {
  return is(token,
            {NetParser::PIPE, NetParser::DOT, NetParser::AND, NetParser::OR}) ||
         (token->getType() >= NetParser::RANGE &&
          token->getType() <= NetParser::ABOUT);
}

bool isOpener(size_t type) {
  return type == NetParser::LPAREN || type == NetParser::LBRACKET ||
         type == NetParser::LBRACE;
}

bool isCloser(size_t type) {
  return type == NetParser::RPAREN || type == NetParser::RBRACKET ||
         type == NetParser::RBRACE;
}

size_t closerOf(const Token *opener) { return opener->getType() + 1; }

std::string quote(const Twine &text) { return ("`" + text + "`").str(); }

std::string quote(Token *token) {
  std::string text = token->getText();
  return text.size() <= 40 ? quote(text) : quote(text.substr(0, 37) + "...");
}

std::string describe(Token *token) {
  switch (token->getType()) {
  case Token::EOF:
    return "the end of the file";
  case NetParser::NL:
    return "the end of the line";
  case NetParser::STRING:
    return "a string";
  default:
    return quote(token);
  }
}

std::optional<OpenBody> openBody(const BufferedTokenStream &tokens,
                                 Token *opener, const Token *end) {
  struct Bracket {
    Token *token;
    size_t indentation; ///< of its line
    bool hasText;       ///< before any line that is indented too little
  };
  SmallVector<Bracket> open;
  size_t indentation = firstOfLine(tokens, opener)->getCharPositionInLine();
  for (Token *token = opener; token && token != end;
       token = neighbour(tokens, token, +1)) {
    if (is(token, {NetParser::NL}))
      continue;
    if (beginsLine(tokens, token)) {
      indentation = token->getCharPositionInLine();
      if (!open.empty() && is(open.back().token, {NetParser::LBRACE})) {
        Bracket &body = open.back();
        bool isInside = isCloser(token) ? indentation >= body.indentation
                                        : indentation > body.indentation;
        if (!isInside && body.hasText)
          return OpenBody{body.token, token};
        body.hasText |= isInside;
      }
    }
    if (isOpener(token))
      open.push_back({token, indentation,
                      !is(neighbour(tokens, token, +1), {NetParser::NL}) &&
                          sameLine(token, neighbour(tokens, token, +1))});
    else if (isCloser(token) && !open.empty())
      open.pop_back();
  }
  return std::nullopt;
}

bool isDeclaration(const BufferedTokenStream &tokens, Token *token) {
  return is(token, {NetParser::IMPORT, NetParser::BLOCK, NetParser::NET,
                    NetParser::DATASET, NetParser::HARDWARE}) &&
         is(neighbour(tokens, token, +1), {NetParser::ID}) &&
         beginsLine(tokens, token);
}

} // namespace netc
