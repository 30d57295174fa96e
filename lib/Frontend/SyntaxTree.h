// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_SYNTAXTREE_H
#define NETC_FRONTEND_SYNTAXTREE_H

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

/// A part of a text; `end` is just behind it.
struct SourceRange {
  TextPlace begin, end;

  bool contains(TextPlace place) const {
    return !(place < begin) && place < end;
  }
};

/// Where a token begins, or just behind its end.
TextPlace beginOf(const antlr4::Token *token);
TextPlace endOf(const antlr4::Token *token);
SourceRange rangeOf(const antlr4::Token *token);
/// From the first token of the rule to its last. Of a rule without tokens,
/// which a text with errors may have, an empty range.
SourceRange rangeOf(antlr4::ParserRuleContext *rule);

/// The tree as the class of one rule or labelled alternative, or null. As these
/// have no subclasses, this is a dynamic_cast that only compares types; and as
/// they are all of this program, by address, without their names.
template <typename Rule> Rule *ruleCast(antlr4::tree::ParseTree *tree) {
  return tree && &typeid(*tree) == &typeid(Rule) ? static_cast<Rule *>(tree)
                                                 : nullptr;
}

/// The child of a binary operation, member or call that is its left operand;
/// null of other expressions.
NetParser::ExprContext *leftOperand(NetParser::ExprContext *expr);

/// `expr` and its leftmost operands in turn, innermost first: for `a + b |> f`
/// these are `a`, `a + b` and `a + b |> f`. Folding over them needs no
/// recursion to the left; recursion into all other children is bounded.
llvm::SmallVector<NetParser::ExprContext *>
leftSpine(NetParser::ExprContext *expr);

/// The text as it stands in the file, on one line: one blank for blanks, line
/// breaks and comments.
std::string sourceText(antlr4::ParserRuleContext *rule);

/// The names in a tree.
std::vector<antlr4::Token *> tokensOf(antlr4::ParserRuleContext *tree);

/// The file that an import names, `std/models/gpt2.net` of `std.models.gpt2`;
/// empty where a text with errors names none.
std::string importedFile(NetParser::ImportDeclContext *import);

/// `run` of `train Net as run`, else the net's name and `_run`. The job has
/// either a name or a net.
std::string nameOf(NetParser::JobContext *job);
/// The jobs that stand in one.
std::vector<NetParser::JobContext *> jobsIn(NetParser::JobContext *job);
/// Whether `job` is `around`, or stands in it.
bool isIn(antlr4::tree::ParseTree *job, NetParser::JobContext *around);

} // namespace netc

#endif // NETC_FRONTEND_SYNTAXTREE_H
