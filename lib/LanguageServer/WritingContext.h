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

/// What stands in front of a place where something is being written, by its
/// tokens alone: text that is being written has errors.
class WritingContext {
public:
  explicit WritingContext(llvm::StringRef before);

  struct Word {
    size_t type; ///< of NetLexer
    std::string text;
  };
  /// A bracket that is not closed.
  struct Bracket {
    size_t type;
    std::string callee;     ///< what is called, of a `(`: `Conv`, `run.step`
    std::vector<Word> head; ///< the statement in front of it
  };

  bool isInComment = false;
  /// What is written of a string that is not closed.
  std::optional<std::string> string;
  /// The path that it ends with: `run.step.fo`, `layer[0].`. May be empty.
  std::string path;
  /// Those of its components that a dot follows, without arguments: `layer` and
  /// `0` of `layer[0].co`.
  std::vector<std::string> owners() const;

  std::vector<Bracket> open; ///< innermost last
  /// The words up to the path, of the innermost statement or in the innermost
  /// bracket.
  std::vector<Word> statement;
  /// The same of the statement as a whole, up to its first open bracket.
  llvm::ArrayRef<Word> wholeStatement() const;

  /// The type of the last word in front of the path; that of a newline, if a
  /// statement begins there.
  size_t lastType() const {
    return statement.empty() ? size_t(NetLexer::NL) : statement.back().type;
  }
  /// The declarations or runs around the place, innermost first, by their first
  /// words.
  std::vector<llvm::ArrayRef<Word>> sections() const;
  /// What is called where the place is among its arguments; else empty.
  std::string callee() const;

private:
  void read(const antlr4::Token &token);
};

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_WRITINGCONTEXT_H
