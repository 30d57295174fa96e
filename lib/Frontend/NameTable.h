// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_NAMETABLE_H
#define NETC_LIB_FRONTEND_NAMETABLE_H

#include "lib/Frontend/FileScope.h"

namespace netc {

class Evaluator;

/// Finds the meaning of a name: in the body, the file, the imported files, the
/// standard library, and the language.
class NameTable {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  explicit NameTable(Evaluator &e) : e(e) {}

  /// The error for an unknown name, with a suggestion.
  Message unknownName(llvm::StringRef name);
  /// The suggestion: what is meant, or where it is from. May be empty.
  std::string hintFor(llvm::StringRef name);
  /// The value of a name. lookup() searches all scopes, lookupBody() only the
  /// body, and lookupFile() the top level of a file. None if there is no such
  /// name; an unknown value after an error.
  std::optional<Value> lookup(llvm::StringRef name);
  /// The same for a name in an expression, where errors are reported.
  std::optional<Value> lookup(llvm::StringRef name, Tree *at) {
    use = at;
    return lookup(name);
  }
  std::optional<Value> lookupBody(llvm::StringRef name);
  std::optional<Value> lookupFile(FileScope &file, llvm::StringRef name);
  /// The value of a top-level name, which is computed if necessary.
  Value valueOf(FileScope &file, TopLevel &entry);
  /// Binds a name in the body. Reports an error if it must not be bound.
  void bind(Tree *at, llvm::StringRef name, Value value);

private:
  /// The value of a top-level name. Records the ranges that it depends on.
  /// Reports an error in a net, which cannot depend on a range.
  Value used(const TopLevel &entry);
  Value ambiguous(llvm::StringRef name, FileScope &a, FileScope &b);
  std::vector<std::string> visibleNames();
  /// Names an unapplied instance after the variable to which it is bound, such
  /// as `tables.3` in a list.
  void nameInstance(Identity &parent, const Value &value,
                    const std::string &name);

  Evaluator &e;
  Tree *use =
      nullptr; ///< the last name in an expression; null before the first
  std::vector<std::string> computing; ///< top-level names being computed
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_NAMETABLE_H
