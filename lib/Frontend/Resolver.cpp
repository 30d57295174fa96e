// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Resolver.h"

#include "grammar/NetLexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using antlr4::Token;
using antlr4::tree::TerminalNode;

/// The token of a node; null if the parser inserted it after an error.
static Token *tokenOf(TerminalNode *node) {
  Token *token = node ? node->getSymbol() : nullptr;
  return token && token->getTokenIndex() != INVALID_INDEX ? token : nullptr;
}

/// The token of a rule that has only one; null if it could not be read.
static Token *tokenOf(antlr4::ParserRuleContext *rule) {
  if (!rule || rule->children.empty())
    return nullptr;
  return tokenOf(dynamic_cast<TerminalNode *>(rule->children.front()));
}

SourceRange netc::rangeOf(const Mention &mention) {
  SourceRange range = rangeOf(mention.token);
  range.begin.column += mention.token->getText().find(mention.name);
  range.end = {range.begin.line, range.begin.column + mention.name.size()};
  return range;
}

/// The device of `25 Card-days`.
static std::string deviceIn(llvm::StringRef deviceTime) {
  llvm::StringRef device = deviceTime.rsplit('-').first.rtrim();
  device = device.substr(device.find_last_of(" \t") + 1);
  return device.drop_until(llvm::isAlpha).str();
}

Resolver::Resolver(NetParser::FileContext *file) {
  scopes.push_back({nullptr, file, {}});
  for (NetParser::ItemContext *item : file->item())
    declareItem(item);
  for (NetParser::ItemContext *item : file->item())
    visitItem(item);
  llvm::stable_sort(mentioned, [](const Mention &a, const Mention &b) {
    return a.token->getTokenIndex() < b.token->getTokenIndex();
  });
  for (Mention &each : mentioned)
    if (each.role == Mention::Reads || each.role == Mention::MayRead)
      each.declaration =
          meaningOf(each.name, *each.scope, each.token->getTokenIndex());
}

llvm::ArrayRef<Mention>
Resolver::mentionsIn(antlr4::ParserRuleContext *tree) const {
  size_t begin = tree->getStart()->getTokenIndex();
  size_t end = tree->getStop() ? tree->getStop()->getTokenIndex() + 1 : begin;
  auto isBefore = [](const Mention &mention, size_t index) {
    return mention.token->getTokenIndex() < index;
  };
  auto first = llvm::lower_bound(mentioned, begin, isBefore);
  auto last = std::lower_bound(first, mentioned.end(), end, isBefore);
  return llvm::ArrayRef(mentioned).slice(first - mentioned.begin(),
                                         last - first);
}

const NameScope &Resolver::scopeAt(TextPlace place) const {
  for (const NameScope &scope : llvm::reverse(scopes))
    if (rangeOf(scope.tree).contains(place))
      return scope;
  return fileScope();
}

/// Whether a declaration is visible at the token with this index. Patterns of
/// tensors may use the names of settings, which come later.
static bool isVisible(const Declaration &declared, size_t index) {
  if (declared.knownFrom < index || declared.kind != Declaration::Setting)
    return declared.knownFrom < index;
  auto *params = ruleCast<NetParser::ParamsContext>(declared.tree->parent);
  Token *semicolon = params ? tokenOf(params->SEMI()) : nullptr;
  return semicolon && index < semicolon->getTokenIndex();
}

/// Whether names are looked up from a block, which does not see runs.
static bool isInBlock(const NameScope *scope) {
  while (scope && !ruleCast<NetParser::BlockDeclContext>(scope->tree))
    scope = scope->outer;
  return scope;
}

const Declaration *Resolver::meaningOf(llvm::StringRef name,
                                       const NameScope &scope, size_t index) {
  const Declaration *later = nullptr;
  for (const NameScope *around = &scope; around; around = around->outer) {
    auto found = around->names.find(name);
    if (found == around->names.end())
      continue;
    llvm::ArrayRef<const Declaration *> all = found->second;
    // The order of declarations at the top level does not matter.
    if (!around->outer) {
      if (all.front()->kind == Declaration::Run && isInBlock(&scope))
        break;
      return all.front();
    }
    auto unknown = llvm::partition_point(
        all, [&](const Declaration *each) { return isVisible(*each, index); });
    if (unknown != all.begin())
      return *std::prev(unknown);
    // In a loop, an iteration may read a name that the previous one bound
    // further down. The default of a setting reads none that comes later.
    if (!later && all.front()->kind != Declaration::Setting)
      later = all.front();
  }
  // `h'` is the next value of the carried `h`.
  if (!later && name.consume_back("'"))
    return meaningOf(name, scope, index);
  return later;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

NameScope &Resolver::addScope(const NameScope &outer, Tree *tree) {
  return scopes.emplace_back(NameScope{&outer, tree, {}});
}

void Resolver::declare(Declaration::Kind kind, Token *token, Tree *tree,
                       NameScope &scope, std::optional<size_t> knownFrom) {
  if (!token)
    return;
  declared.push_back({kind, token->getText(), token, tree, &scope,
                      knownFrom.value_or(token->getTokenIndex())});
  const Declaration &made = declared.back();
  scope.names[made.name].push_back(&made);
  mentioned.push_back(
      {Mention::Declares, made.name, token, tree, &scope, &made});
}

void Resolver::mention(Mention::Role role, Token *token, Tree *tree,
                       const NameScope &scope) {
  if (token)
    mentioned.push_back({role, token->getText(), token, tree, &scope});
}

void Resolver::visitLabel(NetParser::NameContext *name,
                          const NameScope &scope) {
  mention(Mention::Labels, tokenOf(name), name, scope);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void Resolver::declareItem(NetParser::ItemContext *item) {
  NameScope &scope = scopes.front();
  if (NetParser::ImportDeclContext *tree = item->importDecl()) {
    if (tree->ID())
      declare(Declaration::Import, tokenOf(tree->ID()), tree, scope);
    else
      declared.push_back({Declaration::Import, "", nullptr, tree, &scope, 0});
  } else if (NetParser::BlockDeclContext *tree = item->blockDecl()) {
    bool isNet = tree->kind && tree->kind->getType() == NetLexer::NET;
    declare(isNet ? Declaration::Net : Declaration::Block, tokenOf(tree->ID()),
            tree, scope);
  } else if (NetParser::SectionContext *tree = item->section()) {
    bool isDataset = tree->kind && tree->kind->getType() == NetLexer::DATASET;
    declare(isDataset ? Declaration::Dataset : Declaration::Hardware,
            tokenOf(tree->ID()), tree, scope);
  } else if (auto *bind = ruleCast<NetParser::BindContext>(item->stmt())) {
    for (NetParser::TargetContext *target : bind->target())
      declare(Declaration::Constant, tokenOf(target), target, scope);
  } else if (auto *stmt = ruleCast<NetParser::JobStmtContext>(item->stmt())) {
    if (stmt->job())
      declareRun(stmt->job(), scope);
  }
}

void Resolver::declareRun(NetParser::JobContext *job, NameScope &scope) {
  if (Token *name = tokenOf(job->ID())) {
    declare(Declaration::Run, name, job, scope);
  } else if (!job->ID() && !job->expr().empty()) {
    declared.push_back(
        {Declaration::Run, nameOf(job), nullptr, job, &scope, 0});
    scope.names[declared.back().name].push_back(&declared.back());
  }
}

void Resolver::visitItem(NetParser::ItemContext *item) {
  NameScope &file = scopes.front();
  if (NetParser::ImportDeclContext *tree = item->importDecl()) {
    if (NetParser::PathContext *path = tree->path()) {
      mention(Mention::Labels, tokenOf(path->ID()), path, file);
      for (NetParser::NameContext *name : path->name())
        visitLabel(name, file);
    }
  } else if (NetParser::BlockDeclContext *tree = item->blockDecl()) {
    NameScope &scope = addScope(file, tree);
    visitParams(tree->params(), scope);
    if (tree->value)
      visitExpr(tree->value, scope);
    visitBody(tree->statements, scope);
  } else if (NetParser::SectionContext *tree = item->section()) {
    NameScope &scope = addScope(file, tree);
    visitParams(tree->params(), scope);
    visitBody(tree->body(), scope);
  } else if (NetParser::StmtContext *stmt = item->stmt()) {
    visitStmt(stmt, file);
  }
}

void Resolver::visitParams(NetParser::ParamsContext *params, NameScope &scope) {
  if (!params)
    return;
  Token *semicolon = tokenOf(params->SEMI());
  for (NetParser::ParamContext *param : params->param()) {
    Token *name = tokenOf(param->name());
    bool isSetting =
        name && semicolon && semicolon->getTokenIndex() < name->getTokenIndex();
    // The default of a setting does not see it.
    if (isSetting)
      declare(Declaration::Setting, name, param, scope,
              param->getStop()->getTokenIndex());
    else
      declare(Declaration::Tensor, name, param, scope);
  }
  for (NetParser::ParamContext *param : params->param()) {
    if (param->type)
      visitExpr(param->type, scope, /*isPattern=*/true);
    if (param->fallback)
      visitExpr(param->fallback, scope);
  }
}

void Resolver::visitRun(NetParser::JobContext *job, NameScope &scope) {
  for (NetParser::ExprContext *expr : job->expr())
    visitExpr(expr, scope);
  if (job->body())
    visitBody(job->body(), addScope(scope, job));
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Resolver::visitBody(NetParser::BodyContext *body, NameScope &scope) {
  if (!body)
    return;
  for (NetParser::StmtContext *stmt : body->stmt())
    visitStmt(stmt, scope);
}

void Resolver::visitTarget(NetParser::TargetContext *target,
                           Declaration::Kind kind, NameScope &scope,
                           Tree *knownBehind) {
  if (target->pattern)
    visitExpr(target->pattern, scope, /*isPattern=*/true);
  // Declarations of the top level were made before.
  if (kind != Declaration::Constant)
    declare(kind, tokenOf(target), target, scope,
            knownBehind->getStop()
                ? std::optional(knownBehind->getStop()->getTokenIndex())
                : std::nullopt);
}

void Resolver::visitStmt(NetParser::StmtContext *stmt, NameScope &scope) {
  if (auto *bind = ruleCast<NetParser::BindContext>(stmt)) {
    if (bind->expr())
      visitExpr(bind->expr(), scope);
    bool isBlock = ruleCast<NetParser::BlockDeclContext>(scope.tree) ||
                   ruleCast<NetParser::ScanContext>(scope.tree);
    Declaration::Kind kind = !scope.outer ? Declaration::Constant
                             : isBlock    ? Declaration::Variable
                                          : Declaration::Key;
    for (NetParser::TargetContext *target : bind->target())
      visitTarget(target, kind, scope, bind);
  } else if (auto *result = ruleCast<NetParser::ReturnContext>(stmt)) {
    for (NetParser::Item2Context *item : result->item2()) {
      if (item->expr())
        visitExpr(item->expr(), scope);
      if (item->target())
        visitTarget(item->target(), Declaration::Result, scope, item);
    }
  } else if (auto *loop = ruleCast<NetParser::ForStmtContext>(stmt)) {
    if (loop->expr())
      visitExpr(loop->expr(), scope);
    for (TerminalNode *name : loop->ID())
      declare(Declaration::LoopVariable, tokenOf(name), loop, scope);
    visitBody(loop->body(), scope);
  } else if (auto *stmtOfJob = ruleCast<NetParser::JobStmtContext>(stmt)) {
    if (!stmtOfJob->job())
      return;
    if (scope.outer)
      declareRun(stmtOfJob->job(), scope);
    visitRun(stmtOfJob->job(), scope);
  } else if (auto *sweep = ruleCast<NetParser::SweepContext>(stmt)) {
    for (NetParser::VariedContext *each : sweep->varied()) {
      mention(Mention::MayRead, tokenOf(each), each, scope);
      if (each->expr())
        visitExpr(each->expr(), scope);
    }
  } else {
    // The remaining children are expressions and bodies, and the nested
    // branches of an `if`.
    std::vector<antlr4::tree::ParseTree *> parts = stmt->children;
    for (size_t i = 0; i < parts.size(); ++i)
      if (auto *expr = dynamic_cast<NetParser::ExprContext *>(parts[i]))
        visitExpr(expr, scope);
      else if (auto *body = ruleCast<NetParser::BodyContext>(parts[i]))
        visitBody(body, scope);
      else if (auto *tail = ruleCast<NetParser::IfTailContext>(parts[i]))
        llvm::append_range(parts, tail->children);
  }
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

void Resolver::visitExpr(NetParser::ExprContext *expr, NameScope &scope,
                         bool isPattern) {
  for (NetParser::ExprContext *link : leftSpine(expr))
    visitLink(link, scope, isPattern);
}

void Resolver::visitLink(NetParser::ExprContext *link, NameScope &scope,
                         bool isPattern) {
  if (ruleCast<NetParser::RefContext>(link)) {
    bool isBare = ruleCast<NetParser::ArgContext>(link->parent) ||
                  ruleCast<NetParser::AxisContext>(link->parent);
    mention(isPattern || isBare ? Mention::MayRead : Mention::Reads,
            tokenOf(link), link, scope);
  } else if (auto *call = ruleCast<NetParser::CallContext>(link)) {
    if (call->written)
      for (NetParser::ArgContext *arg : call->written->arg()) {
        visitLabel(arg->label, scope);
        if (arg->value)
          visitExpr(arg->value, scope, isPattern);
      }
  } else if (auto *index = ruleCast<NetParser::IndexContext>(link)) {
    if (index->axes())
      for (NetParser::AxisContext *axis : index->axes()->axis())
        visitAxis(axis, scope, isPattern);
  } else if (auto *member = ruleCast<NetParser::MemberContext>(link)) {
    visitLabel(member->name(), scope);
  } else if (auto *literal = ruleCast<NetParser::LitContext>(link)) {
    NetParser::QuantityContext *quantity = literal->quantity();
    if (Token *time = quantity ? tokenOf(quantity->DEVTIME()) : nullptr)
      mentioned.push_back(
          {Mention::Labels, deviceIn(time->getText()), time, quantity, &scope});
    else if (quantity)
      mention(Mention::Labels, tokenOf(quantity->ID()), quantity, scope);
  } else if (auto *list = ruleCast<NetParser::ListContext>(link)) {
    visitList(list, scope, isPattern);
  } else if (auto *repeat = ruleCast<NetParser::RepeatContext>(link)) {
    visitRepeat(repeat, scope);
  } else if (auto *scan = ruleCast<NetParser::ScanContext>(link)) {
    visitScan(scan, scope);
  } else if (auto *record = ruleCast<NetParser::RecContext>(link)) {
    if (record->record())
      for (NetParser::FieldContext *field : record->record()->field()) {
        visitLabel(field->name(), scope);
        if (field->expr())
          visitExpr(field->expr(), scope, isPattern);
      }
  } else {
    NetParser::ExprContext *left = leftOperand(link);
    for (antlr4::tree::ParseTree *child : link->children)
      if (auto *expr = dynamic_cast<NetParser::ExprContext *>(child);
          expr && expr != left)
        visitExpr(expr, scope, isPattern);
  }
}

void Resolver::visitAxis(NetParser::AxisContext *axis, NameScope &scope,
                         bool isPattern) {
  auto *ref = ruleCast<NetParser::RefContext>(axis->value);
  Tree *named = axis->label ? static_cast<Tree *>(axis->label) : ref;
  Token *name = tokenOf(named);
  bool isNew = isPattern && name &&
               !meaningOf(name->getText(), scope, name->getTokenIndex());
  if (isNew)
    declare(Declaration::Axis, name, axis, scope);
  else if (axis->label)
    mention(isPattern ? Mention::MayRead : Mention::Labels, name, named, scope);
  if (axis->value && !(isNew && named == ref))
    visitExpr(axis->value, scope, isPattern);
}

void Resolver::visitList(NetParser::ListContext *list, NameScope &scope,
                         bool isPattern) {
  NameScope *items = &scope;
  NetParser::CompContext *comp = list->comp();
  if (comp) {
    items = &addScope(scope, list);
    std::vector<NetParser::ExprContext *> exprs = comp->expr();
    if (!exprs.empty())
      visitExpr(exprs.front(), scope);
    for (TerminalNode *name : comp->ID())
      declare(Declaration::LoopVariable, tokenOf(name), comp, *items,
              /*knownFrom=*/0);
    for (NetParser::ExprContext *expr :
         llvm::drop_begin(exprs, exprs.empty() ? 0 : 1))
      visitExpr(expr, *items);
  }
  for (NetParser::AxisContext *axis : list->axis())
    visitAxis(axis, *items, isPattern && !comp);
}

void Resolver::visitRepeat(NetParser::RepeatContext *repeat, NameScope &scope) {
  std::vector<NetParser::ExprContext *> exprs = repeat->expr();
  if (!exprs.empty())
    visitExpr(exprs.front(), scope);
  NameScope *body = &scope;
  if (repeat->ID()) {
    body = &addScope(scope, repeat);
    declare(Declaration::LoopVariable, tokenOf(repeat->ID()), repeat, *body);
  }
  for (NetParser::ExprContext *expr :
       llvm::drop_begin(exprs, exprs.empty() ? 0 : 1))
    visitExpr(expr, *body);
}

void Resolver::visitScan(NetParser::ScanContext *scan, NameScope &scope) {
  for (NetParser::EachContext *each : scan->each())
    if (each->expr())
      visitExpr(each->expr(), scope);
  visitLabel(scan->name(), scope);
  NetParser::CarryContext *carry = scan->carry();
  if (carry)
    for (NetParser::ExprContext *expr : carry->expr())
      visitExpr(expr, scope);
  NameScope &body = addScope(scope, scan);
  for (NetParser::EachContext *each : scan->each())
    declare(Declaration::LoopVariable, tokenOf(each->ID()), each, body);
  if (carry)
    for (TerminalNode *name : carry->ID())
      declare(Declaration::Carried, tokenOf(name), carry, body);
  visitBody(scan->body(), body);
}
