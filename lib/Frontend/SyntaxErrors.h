// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_SYNTAXERRORS_H
#define NETC_LIB_FRONTEND_SYNTAXERRORS_H

#include "lib/Diagnostics/Errors.h"
#include "lib/Frontend/SyntaxTree.h"

#include <optional>

namespace netc {

/// An error in the text of a file that is not reported yet.
struct SyntaxError {
  struct Note {
    TextPlace place;
    std::string message;
  };

  TextPlace place;
  Message message;
  std::optional<Note> note = std::nullopt;
};

/// Finds text that certainly means something else, whether or not the grammar
/// accepts it: `4%2`, `1K`, `7 B`, `8 A100-80GB`.
std::vector<SyntaxError> findSlips(const antlr4::BufferedTokenStream &tokens);

/// Explains syntax errors in terms of the language, and continues after them.
/// It skips to a token that the open rules can continue with, mostly a newline,
/// or to a declaration on a new line, which closes all open rules.
class SyntaxErrorStrategy : public antlr4::DefaultErrorStrategy {
public:
  /// Only the first `maxErrors` errors get a message.
  explicit SyntaxErrorStrategy(size_t maxErrors) : maxErrors(maxErrors) {}

  /// The errors in the order of discovery, usually one per line.
  std::vector<SyntaxError> errors;

  void sync(antlr4::Parser *parser) override;
  antlr4::Token *recoverInline(antlr4::Parser *parser) override;

protected:
  void
  reportNoViableAlternative(antlr4::Parser *parser,
                            const antlr4::NoViableAltException &e) override;
  void reportInputMismatch(antlr4::Parser *parser,
                           const antlr4::InputMismatchException &e) override;
  void
  reportFailedPredicate(antlr4::Parser *parser,
                        const antlr4::FailedPredicateException &e) override;
  void reportUnwantedToken(antlr4::Parser *parser) override;
  void reportMissingToken(antlr4::Parser *parser) override;
  void consumeUntil(antlr4::Parser *parser,
                    const antlr4::misc::IntervalSet &set) override;

private:
  void report(antlr4::Parser *parser, antlr4::Token *found);
  void add(SyntaxError error);

  const size_t maxErrors;
  std::vector<bool> closesEarlier; ///< for each token; empty until it is asked
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_SYNTAXERRORS_H
