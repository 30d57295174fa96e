// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_NAMETABLE_H
#define NETC_FRONTEND_NAMETABLE_H

#include "lib/Frontend/FileScope.h"

namespace netc {

class Evaluator;

/// What names stand for where something is evaluated: in the body, the file,
/// the files that it imports, the standard library, the language.
class NameTable {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  explicit NameTable(Evaluator &e) : e(e) {}

  /// That nothing in scope has the name, and what may be meant.
  Message unknownName(llvm::StringRef name);
  std::optional<Value> lookup(llvm::StringRef name);
  std::optional<Value> lookupBody(llvm::StringRef name);
  std::optional<Value> lookupFile(FileScope &file, llvm::StringRef name);
  Value valueOf(FileScope &file, TopLevel &entry);
  void bind(Tree *at, llvm::StringRef name, Value value);

private:
  /// Its value, and a note of the ranges in it. A net may have none.
  Value used(const TopLevel &entry);
  Value ambiguous(llvm::StringRef name, FileScope &a, FileScope &b);
  std::vector<std::string> visibleNames();
  /// An unapplied instance is named by the variable it is bound to, `tables.3`
  /// in a list.
  void nameInstance(Identity &parent, const Value &value,
                    const std::string &name);

  Evaluator &e;
  std::vector<std::string> computing; ///< top-level names being computed
};

} // namespace netc

#endif // NETC_FRONTEND_NAMETABLE_H
