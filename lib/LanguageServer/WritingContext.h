// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_LANGUAGESERVER_WRITINGCONTEXT_H
#define NETC_LIB_LANGUAGESERVER_WRITINGCONTEXT_H

#include "grammar/NetLexer.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace netc {

/// The text before the position of the cursor. It consists of tokens, since
/// text that is being written has errors.
class WritingContext {
public:
  explicit WritingContext(llvm::StringRef before);

  struct Word {
    size_t type; ///< of NetLexer
    std::string text;
  };
  /// An open bracket.
  struct Bracket {
    size_t type;
    std::string callee;     ///< for `(`, what is called: `Conv`, `run.step`
    std::vector<Word> head; ///< the statement before it
  };

  bool isInComment = false;
  /// The text of a string that is not closed.
  std::optional<std::string> string;
  /// The path at the end of the text: `run.step.fo`, `layer[0].`. May be empty.
  std::string path;
  /// The components of the path that a dot follows, without arguments: `layer`
  /// and `0` of `layer[0].co`.
  std::vector<std::string> owners() const;

  std::vector<Bracket> open; ///< innermost last
  /// The words before the path in the innermost statement or bracket.
  std::vector<Word> statement;
  /// The words of the whole statement up to its first open bracket.
  llvm::ArrayRef<Word> wholeStatement() const;

  /// The type of the last token before the path; that of a newline if a
  /// statement begins there.
  size_t lastType() const {
    return statement.empty() ? size_t(NetLexer::NL) : statement.back().type;
  }
  /// The declarations or runs around the position, innermost first, each as its
  /// first words.
  std::vector<llvm::ArrayRef<Word>> sections() const;
  /// The function whose arguments the position is among; empty if there is
  /// none.
  std::string callee() const;

private:
  void read(const antlr4::Token &token);
};

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_WRITINGCONTEXT_H
