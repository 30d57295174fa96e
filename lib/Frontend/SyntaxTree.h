// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_SYNTAXTREE_H
#define NETC_LIB_FRONTEND_SYNTAXTREE_H

#include "grammar/NetParser.h"
#include "llvm/ADT/SmallVector.h"

namespace netc {

/// Line and column of a character, both from 1; columns count characters.
struct TextPlace {
  size_t line, column;

  friend bool operator<(TextPlace a, TextPlace b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  }
  friend bool operator==(TextPlace a, TextPlace b) {
    return std::tie(a.line, a.column) == std::tie(b.line, b.column);
  }
};

/// A part of a text, from `begin` to before `end`.
struct SourceRange {
  TextPlace begin, end;

  bool contains(TextPlace place) const {
    return !(place < begin) && place < end;
  }
};

/// The position of a token's first character, or after its last one.
TextPlace beginOf(const antlr4::Token *token);
TextPlace endOf(const antlr4::Token *token);
SourceRange rangeOf(const antlr4::Token *token);
/// The range from the rule's first token to its last. Empty for a rule without
/// tokens, which occurs after errors.
SourceRange rangeOf(antlr4::ParserRuleContext *rule);

/// `tree` as the class of a rule or labelled alternative, or null if it is
/// another one. A faster dynamic_cast: the classes have no subclasses, and
/// their type_infos are unique in the program, so comparing addresses is
/// enough.
template <typename Rule> Rule *ruleCast(antlr4::tree::ParseTree *tree) {
  return tree && &typeid(*tree) == &typeid(Rule) ? static_cast<Rule *>(tree)
                                                 : nullptr;
}

/// The left operand of a binary operation, member or call; null for other
/// expressions.
NetParser::ExprContext *leftOperand(NetParser::ExprContext *expr);

/// The call that has an argument; null for null, and for arguments of other
/// rules.
NetParser::CallContext *callWith(NetParser::ArgContext *arg);

/// `expr` and its leftmost operands, innermost first: `a`, `a + b`, `a + b |>
/// f` for `a + b |> f`. Visiting them in a loop avoids recursion to the left.
/// Recursion into the other children is bounded.
llvm::SmallVector<NetParser::ExprContext *>
leftSpine(NetParser::ExprContext *expr);

/// The source text of a rule on one line: blanks, line breaks and comments
/// become one blank.
std::string sourceText(antlr4::ParserRuleContext *rule);

/// The tokens of the names in a tree.
std::vector<antlr4::Token *> tokensOf(antlr4::ParserRuleContext *tree);

/// The file of an import: `std/models/gpt2.net` for `std.models.gpt2`. Empty
/// after an error in the import.
std::string importedFile(NetParser::ImportDeclContext *import);

/// The name of a job: `run` for `train Net as run`, else the net's name and
/// `_run`. The job must have a name or a net.
std::string nameOf(NetParser::JobContext *job);
/// The jobs inside of a job.
std::vector<NetParser::JobContext *> jobsIn(NetParser::JobContext *job);
/// Whether `job` is `around` or inside of it.
bool isIn(antlr4::tree::ParseTree *job, NetParser::JobContext *around);

} // namespace netc

#endif // NETC_LIB_FRONTEND_SYNTAXTREE_H
