// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_TOKENS_H
#define NETC_LIB_FRONTEND_TOKENS_H

#include "antlr4-runtime.h"
#include "llvm/ADT/Twine.h"

#include <initializer_list>
#include <optional>
#include <string>

namespace netc {

/// The next token, or the previous one for a `step` of -1; null at the ends.
antlr4::Token *neighbour(const antlr4::BufferedTokenStream &tokens,
                         const antlr4::Token *token, ssize_t step);

/// Whether it is a token of one of these types; false for null.
bool is(const antlr4::Token *token, std::initializer_list<size_t> types);
/// Whether nothing stands between two tokens; false for null.
bool adjacent(const antlr4::Token *left, const antlr4::Token *right);
bool sameLine(const antlr4::Token *left, const antlr4::Token *right);
bool beginsLine(const antlr4::BufferedTokenStream &tokens,
                const antlr4::Token *token);
/// The first token of the token's line.
antlr4::Token *firstOfLine(const antlr4::BufferedTokenStream &tokens,
                           antlr4::Token *token);

bool isKeyword(const antlr4::Token *token);
bool isInfix(const antlr4::Token *token);
bool isOpener(size_t type);
bool isCloser(size_t type);
inline bool isOpener(const antlr4::Token *token) {
  return token && isOpener(token->getType());
}
inline bool isCloser(const antlr4::Token *token) {
  return token && isCloser(token->getType());
}
/// The type of the bracket that closes `opener`.
size_t closerOf(const antlr4::Token *opener);
/// A `{` that lacks its `}`, and the first token behind its body.
struct OpenBody {
  antlr4::Token *opener, *behind;
};
/// The first such body from the bracket `opener` to before `end`, as far as
/// indentation shows it: its text is behind its `{` or right of that line,
/// until a line is not, or a `}` stands left of that line.
std::optional<OpenBody> openBody(const antlr4::BufferedTokenStream &tokens,
                                 antlr4::Token *opener,
                                 const antlr4::Token *end);
/// Whether the token begins a declaration on a new line.
bool isDeclaration(const antlr4::BufferedTokenStream &tokens,
                   antlr4::Token *token);

/// In backquotes. The text of a long token is cut.
std::string quote(const llvm::Twine &text);
std::string quote(antlr4::Token *token);
/// The token as the subject of a sentence.
std::string describe(antlr4::Token *token);
inline constexpr const char *anExpression = "an expression";

} // namespace netc

#endif // NETC_LIB_FRONTEND_TOKENS_H
