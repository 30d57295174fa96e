// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_RESOLVER_H
#define NETC_FRONTEND_RESOLVER_H

#include "lib/Frontend/SyntaxTree.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include <deque>

namespace netc {

struct Declaration;

/// A part of a file in which names are known: the file, a block, a section, a
/// run, a comprehension, a `repeat` or a scan. Branches and `for` have none:
/// what they bind, the body around them sees.
struct NameScope {
  const NameScope *outer; ///< null: the file
  antlr4::ParserRuleContext *tree;
  /// By name, in text order, since a name may be bound again.
  llvm::StringMap<llvm::SmallVector<const Declaration *, 1>> names;
};

/// A name that a file gives to something.
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
    Setting,  ///< behind it
    Axis,     ///< of a signature or pattern
    Variable,
    LoopVariable, ///< of `for`, a comprehension, `repeat` or a scan
    Carried,      ///< by a scan
    Result,       ///< `return name = value`
  };
  Kind kind;
  std::string name;     ///< empty: an import without a name of its own
  antlr4::Token *token; ///< of the name; null if it has none of its own
  /// What declares it: of a binding and a result the target, of a loop the
  /// loop, else the declaration, parameter or axis.
  antlr4::ParserRuleContext *tree;
  const NameScope *scope;
  size_t knownFrom; ///< the index of the token behind which it is known
};

/// A name where it stands.
struct Mention {
  enum Role {
    Declares,
    Reads,
    /// Reads it, unless it is meant as a word or a label: a bare argument or
    /// index, or what stands in a pattern.
    MayRead,
    /// A member, label, unit, argument or field, which is no name of a scope.
    Labels,
  };
  Role role;
  std::string name;
  antlr4::Token *token;
  antlr4::ParserRuleContext *tree; ///< the innermost rule around it
  const NameScope *scope;          ///< the innermost around it
  /// What it declares, or reads in this file: null if nothing has the name.
  const Declaration *declaration = nullptr;
};

/// The names of a file: what declares them, where they stand, and what each
/// means. It needs the text alone, which may have errors: what could not be
/// read has no names. Names of imported files, of the standard library and of
/// the language are those that mean nothing here.
class Resolver {
public:
  explicit Resolver(NetParser::FileContext *file);
  Resolver(const Resolver &) = delete;

  /// Those of the top level first, each in text order.
  const std::deque<Declaration> &declarations() const { return declared; }
  /// In text order.
  llvm::ArrayRef<Mention> mentions() const { return mentioned; }
  /// Those in a tree.
  llvm::ArrayRef<Mention> mentionsIn(antlr4::ParserRuleContext *tree) const;

  const NameScope &fileScope() const { return scopes.front(); }
  /// The innermost scope around a place.
  const NameScope &scopeAt(TextPlace place) const;

private:
  using Tree = antlr4::ParserRuleContext;

  NameScope &addScope(const NameScope &outer, Tree *tree);
  /// Nothing where the name is missing, as it is after errors. It is known
  /// behind its own token, or from `knownFrom` on.
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
  /// All of an expression but its left operand.
  void visitLink(NetParser::ExprContext *link, NameScope &scope,
                 bool isPattern);
  void visitList(NetParser::ListContext *list, NameScope &scope,
                 bool isPattern);
  void visitRepeat(NetParser::RepeatContext *repeat, NameScope &scope);
  void visitScan(NetParser::ScanContext *scan, NameScope &scope);
  void visitAxis(NetParser::AxisContext *axis, NameScope &scope,
                 bool isPattern);
  void visitLabel(NetParser::NameContext *name, const NameScope &scope);
  /// What a name means behind the token of that index.
  static const Declaration *meaningOf(llvm::StringRef name,
                                      const NameScope &scope, size_t index);

  std::deque<NameScope> scopes; ///< outer ones before those in them
  std::deque<Declaration> declared;
  std::vector<Mention> mentioned;
};

} // namespace netc

#endif // NETC_FRONTEND_RESOLVER_H
