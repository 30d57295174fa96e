// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Statements.h"
#include "lib/Frontend/Evaluator.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

bool Statements::run(NetParser::BodyContext *body) {
  for (NetParser::StmtContext *stmt : body->stmts) {
    if (e.frame->yielded)
      return e.fail(stmt, error::YieldNotLast), false;
    if (run(stmt))
      continue;
    // A return in a taken branch skips the rest of the body. After a plain
    // return, there must be no rest.
    if (ruleCast<NetParser::ReturnContext>(stmt) && stmt != body->stmts.back())
      e.fail(body->stmts.back(), error::Unreachable);
    return false;
  }
  return true;
}

bool Statements::run(NetParser::StmtContext *stmt) {
  visit(stmt);
  return !e.frame->returned && !e.frame->stopped;
}

antlrcpp::Any Statements::visitReturn(NetParser::ReturnContext *tree) {
  if (e.frame->scope && e.frame->scope->isScan)
    return e.fail(tree, error::ReturnOutsideBlock);
  const Frame *caller = e.frame->caller;
  bool isOfNet = e.frame->block->isNet && !(caller && caller->block);
  ResultList results;
  llvm::StringSet<> taken, named; ///< all names, and those of `name = value`
  for (NetParser::Item2Context *item : tree->item2()) {
    std::string name;
    if (item->left)
      name = e.wordOf(item->left->getStart());
    else if (auto *ref = ruleCast<NetParser::RefContext>(item->value))
      name = e.wordOf(ref->getStart());
    Value value = e.eval(item->value);
    if (item->left && item->left->expr())
      value = e.tensors.matched(item->left->expr(), value);
    if (e.frame->block->isNet && value.is<None>())
      continue;
    if (isOfNet && !value.is<Tensor>() && !value.isUnknown())
      value = e.fail(item->value, error::NetReturnsNoTensor,
                     name.empty() ? "this" : "`" + name + "`", kindOf(value),
                     e.calls.lackOf(value));
    // `return h, h` returns a value twice, which is allowed.
    if (item->left ? !taken.insert(name).second : named.contains(name))
      e.fail(item, error::ReturnedTwice, name);
    (item->left ? named : taken).insert(name);
    results.push_back({name, std::move(value)});
  }
  e.frame->returned = std::move(results);
  return nullptr;
}

antlrcpp::Any Statements::visitYield(NetParser::YieldContext *tree) {
  if (!e.frame->scope || !e.frame->scope->isScan)
    return e.fail(tree, error::YieldOutsideScan);
  std::vector<Value> values;
  for (Expr *expr : tree->expr())
    values.push_back(e.eval(expr));
  e.frame->yielded = std::move(values);
  return nullptr;
}

void Statements::runIf(Expr *condition, NetParser::BodyContext *then,
                       NetParser::BodyContext *otherwise,
                       NetParser::IfTailContext *tail) {
  std::optional<bool> taken = e.decide(condition);
  if (!taken) {
    e.frame->stopped = true;
    return;
  }
  if (*taken)
    run(then);
  else if (otherwise)
    run(otherwise);
  else if (tail)
    runIf(tail->condition, tail->then, tail->otherwise, tail->tail);
}

antlrcpp::Any Statements::visitIfStmt(NetParser::IfStmtContext *tree) {
  runIf(tree->condition, tree->then, tree->otherwise, tree->tail);
  return nullptr;
}

antlrcpp::Any Statements::visitForStmt(NetParser::ForStmtContext *tree) {
  Evaluator::LoopNames names = tree->ID();
  if (!e.areNames(tree, names))
    return nullptr;
  std::optional<std::vector<Value>> items =
      e.itemsOf(tree->expr(), e.eval(tree->expr()));
  if (!items)
    return nullptr;
  size_t before = e.budget.spent();
  for (auto [iteration, item] : llvm::enumerate(*items)) {
    if (!e.budget.spend(tree, 1) ||
        (iteration == 1 &&
         !e.budget.affords(tree, e.budget.spent() - before, items->size() - 1)))
      break;
    std::vector<Value> values =
        e.valuesOf(tree->expr(), names, iteration, item);
    if (values.empty()) {
      e.frame->stopped = true;
      break;
    }
    e.frame->iterations.push_back(iteration);
    for (auto [name, value] : llvm::zip_equal(names, values)) {
      e.frame->scope->names[name->getText()] = value;
      e.frame->scope->fixed.insert(name->getText());
    }
    bool more = run(tree->body());
    e.frame->iterations.pop_back();
    if (!more)
      break;
  }
  for (antlr4::tree::TerminalNode *name : names)
    e.frame->scope->fixed.erase(name->getText());
  return nullptr;
}

antlrcpp::Any Statements::visitExpect(NetParser::ExpectContext *tree) {
  return e.fail(tree, error::ExpectOutsideRun);
}

std::string Statements::valuesIn(Expr *condition) {
  std::string text;
  llvm::ListSeparator comma;
  llvm::StringSet<> told;
  for (antlr4::Token *token : tokensOf(condition)) {
    std::optional<Value> value = e.nameTable.lookup(token->getText());
    bool isTold = value && (numberOf(*value) || value->is<std::string>());
    if (isTold && token->getText() != "inf" &&
        told.insert(token->getText()).second)
      text += StringRef(comma).str() + token->getText() + " = " +
              (numberOf(*value) ? textOf(Value(*numberOf(*value)))
                                : textOf(*value));
  }
  return text;
}

antlrcpp::Any Statements::visitRequire(NetParser::RequireContext *tree) {
  std::optional<bool> holds = e.decide(tree->expr());
  if (holds && !*holds) {
    std::string why;
    if (tree->STRING()) {
      why = tree->STRING()->getText();
      why = ": " + why.substr(1, why.size() - 2);
    }
    std::string values = valuesIn(tree->expr());
    if (!values.empty())
      why += "; here " + values;
    e.fail(tree, error::RequireFailed, sourceText(tree->expr()), why);
    e.frame->stopped = true;
  }
  return nullptr;
}

antlrcpp::Any Statements::visitSweep(NetParser::SweepContext *tree) {
  return e.fail(tree, error::SweepOutsideRun);
}

antlrcpp::Any Statements::visitJobStmt(NetParser::JobStmtContext *tree) {
  return e.fail(tree, error::JobOutsideRun);
}

antlrcpp::Any Statements::visitBind(NetParser::BindContext *tree) {
  llvm::ArrayRef<NetParser::TargetContext *> targets = tree->targets;
  auto nameOf = [&](NetParser::TargetContext *target) {
    return e.wordOf(target->getStart());
  };
  std::string outerHint = std::exchange(
      e.frame->hint, targets.size() == 1 ? nameOf(targets[0]) : "");
  Value value = e.applier.evalOwner(tree->value);
  e.frame->hint = outerHint;

  std::vector<Value> parts;
  if (targets.size() == 1) {
    parts.push_back(value);
  } else {
    if (auto *list = value.as<List>())
      parts = *list->items;
    else if (value.results)
      for (auto &result : *value.results)
        parts.push_back(result.second);
    else if (value.isUnknown())
      parts.resize(targets.size());
    else
      parts.push_back(value);
    if (parts.size() != targets.size()) {
      e.fail(tree, error::AssignmentCount, targets.size(), parts.size(),
             parts.size() == 1 ? " value" : " values");
      parts.assign(targets.size(), Value());
    }
  }
  for (auto [target, part] : llvm::zip_equal(targets, parts)) {
    if (target->pattern)
      part = e.tensors.matched(target->pattern, part);
    if (auto *tensor = part.as<Tensor>()) {
      boundToTensors.insert(target);
      if (e.options.onTensor)
        e.options.onTensor(e.locationOf(target), e.tensors.typeText(*tensor));
    }
    e.nameTable.bind(target, nameOf(target), std::move(part));
  }
  return nullptr;
}
