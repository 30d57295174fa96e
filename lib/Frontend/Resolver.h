// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_RESOLVER_H
#define NETC_LIB_FRONTEND_RESOLVER_H

#include "lib/Frontend/SyntaxTree.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include <deque>

namespace netc {

struct Declaration;

/// A part of a file in which names are visible: the file, a block, a section, a
/// run, a comprehension, a `repeat` or a scan. Branches and `for` have no
/// scope: the body around them sees the names that they bind.
struct NameScope {
  const NameScope *outer; ///< null for the file
  antlr4::ParserRuleContext *tree;
  /// The declarations of each name in text order, since a name may be bound
  /// again.
  llvm::StringMap<llvm::SmallVector<const Declaration *, 1>> names;
};

/// A declaration of a name.
struct Declaration {
  enum Kind {
    Import,
    Block,
    Net,
    Dataset,
    Hardware,
    Run,
    Constant, ///< of the top level
    Key,      ///< of a section or a run
    Tensor,   ///< before the `;` of parameters
    Setting,  ///< after the `;`
    Axis,     ///< of a signature or pattern
    Variable,
    LoopVariable, ///< of `for`, a comprehension, `repeat` or a scan
    Carried,      ///< by a scan
    Result,       ///< `return name = value`
  };
  Kind kind;
  std::string name;     ///< empty for an import without `as`
  antlr4::Token *token; ///< of the name; null if there is none
  /// The tree of the declaration: the target of a binding or result, the loop
  /// of a loop variable, else the declaration, parameter or axis.
  antlr4::ParserRuleContext *tree;
  const NameScope *scope;
  size_t knownFrom; ///< index of the token after which the name is visible
};

/// An occurrence of a name.
struct Mention {
  enum Role {
    Declares,
    Reads,
    /// Reads the name, unless it is a word or a label. It may be one as a bare
    /// argument, as an index, and in a pattern.
    MayRead,
    /// A member, label, unit, argument or field, which is in no scope.
    Labels,
  };
  Role role;
  std::string name;
  antlr4::Token *token;
  antlr4::ParserRuleContext *tree; ///< the innermost rule that contains it
  const NameScope *scope;          ///< the innermost scope that contains it
  /// The declaration that it makes, or that it refers to in this file. Null if
  /// there is none.
  const Declaration *declaration = nullptr;
};

/// Where the name stands, which is a part of its token in `25 Card-days`.
SourceRange rangeOf(const Mention &mention);

/// The declarations and occurrences of names in a file. It needs only the text,
/// which may have errors; unreadable parts have no names. Names of imported
/// files, of the standard library and of the language have no declaration here.
class Resolver {
public:
  explicit Resolver(NetParser::FileContext *file);
  Resolver(const Resolver &) = delete;

  /// The declarations, those of the top level first, in text order.
  const std::deque<Declaration> &declarations() const { return declared; }
  /// The occurrences in text order.
  llvm::ArrayRef<Mention> mentions() const { return mentioned; }
  /// The occurrences in a tree.
  llvm::ArrayRef<Mention> mentionsIn(antlr4::ParserRuleContext *tree) const;

  const NameScope &fileScope() const { return scopes.front(); }
  /// The innermost scope at a position.
  const NameScope &scopeAt(TextPlace place) const;

private:
  using Tree = antlr4::ParserRuleContext;

  NameScope &addScope(const NameScope &outer, Tree *tree);
  /// Declares a name. It is visible after its own token, or from `knownFrom`
  /// on. Does nothing if the name is missing, after an error.
  void declare(Declaration::Kind kind, antlr4::Token *token, Tree *tree,
               NameScope &scope, std::optional<size_t> knownFrom = {});
  void mention(Mention::Role role, antlr4::Token *token, Tree *tree,
               const NameScope &scope);

  void declareItem(NetParser::ItemContext *item);
  void declareRun(NetParser::JobContext *job, NameScope &scope);
  void visitItem(NetParser::ItemContext *item);
  void visitParams(NetParser::ParamsContext *params, NameScope &scope);
  void visitRun(NetParser::JobContext *job, NameScope &scope);
  void visitBody(NetParser::BodyContext *body, NameScope &scope);
  void visitStmt(NetParser::StmtContext *stmt, NameScope &scope);
  void visitTarget(NetParser::TargetContext *target, Declaration::Kind kind,
                   NameScope &scope, Tree *knownBehind);
  void visitExpr(NetParser::ExprContext *expr, NameScope &scope,
                 bool isPattern = false);
  /// Visits an expression except for its left operand.
  void visitLink(NetParser::ExprContext *link, NameScope &scope,
                 bool isPattern);
  void visitList(NetParser::ListContext *list, NameScope &scope,
                 bool isPattern);
  void visitRepeat(NetParser::RepeatContext *repeat, NameScope &scope);
  void visitScan(NetParser::ScanContext *scan, NameScope &scope);
  void visitAxis(NetParser::AxisContext *axis, NameScope &scope,
                 bool isPattern);
  void visitLabel(NetParser::NameContext *name, const NameScope &scope);
  /// The declaration that a name refers to after the token with this index.
  static const Declaration *meaningOf(llvm::StringRef name,
                                      const NameScope &scope, size_t index);

  std::deque<NameScope> scopes; ///< outer scopes before inner ones
  std::deque<Declaration> declared;
  std::vector<Mention> mentioned;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_RESOLVER_H
