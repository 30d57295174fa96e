// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Evaluator.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

bool Evaluator::run(NetParser::BodyContext *body) {
  for (NetParser::StmtContext *stmt : body->stmt()) {
    if (frame->yielded)
      return fail(stmt, error::YieldNotLast), false;
    if (run(stmt))
      continue;
    // A return in a taken branch skips the rest of the body. After a plain
    // return, there must be no rest.
    if (ruleCast<NetParser::ReturnContext>(stmt) && stmt != body->stmt().back())
      fail(body->stmt().back(), error::Unreachable);
    return false;
  }
  return true;
}

bool Evaluator::run(NetParser::StmtContext *stmt) {
  visit(stmt);
  return !frame->returned && !frame->stopped;
}

antlrcpp::Any Evaluator::visitReturn(NetParser::ReturnContext *tree) {
  if (frame->scope && frame->scope->isScan)
    return fail(tree, error::ReturnOutsideBlock);
  ResultList results;
  llvm::StringSet<> taken, named; ///< all names, and those of `name = value`
  for (NetParser::Item2Context *item : tree->item2()) {
    std::string name;
    if (item->target())
      name = item->target()->getStart()->getText();
    else if (auto *ref = ruleCast<NetParser::RefContext>(item->expr()))
      name = wordOf(ref->getStart());
    Value value = eval(item->expr());
    if (item->target() && item->target()->expr())
      value = tensors.matched(item->target()->expr(), value);
    if (frame->block->isNet && value.is<None>())
      continue;
    // `return h, h` returns a value twice, which is allowed.
    if (item->target() ? !taken.insert(name).second : named.contains(name))
      fail(item, error::ReturnedTwice, name);
    (item->target() ? named : taken).insert(name);
    results.push_back({name, std::move(value)});
  }
  frame->returned = std::move(results);
  return nullptr;
}

antlrcpp::Any Evaluator::visitYield(NetParser::YieldContext *tree) {
  if (!frame->scope || !frame->scope->isScan)
    return fail(tree, error::YieldOutsideScan);
  std::vector<Value> values;
  for (Expr *expr : tree->expr())
    values.push_back(eval(expr));
  frame->yielded = std::move(values);
  return nullptr;
}

void Evaluator::runIf(Expr *condition, NetParser::BodyContext *then,
                      NetParser::BodyContext *otherwise,
                      NetParser::IfTailContext *tail) {
  std::optional<bool> taken = decide(condition);
  if (!taken) {
    frame->stopped = true;
    return;
  }
  if (*taken) {
    run(then);
  } else if (otherwise) {
    run(otherwise);
  } else if (tail) {
    bool more = tail->body().size() > 1;
    runIf(tail->expr(), tail->body(0), more ? tail->body(1) : nullptr,
          tail->ifTail());
  }
}

antlrcpp::Any Evaluator::visitIfStmt(NetParser::IfStmtContext *tree) {
  bool more = tree->body().size() > 1;
  runIf(tree->expr(), tree->body(0), more ? tree->body(1) : nullptr,
        tree->ifTail());
  return nullptr;
}

bool Evaluator::areNames(Tree *at, const LoopNames &names) {
  llvm::StringSet<> seen;
  for (antlr4::tree::TerminalNode *name : names)
    if (!seen.insert(name->getText()).second) {
      fail(at, error::DuplicateLoopName, name->getText(),
           names.size() == 2 ? "the iteration and of the item"
                             : "two elements of the item");
      return false;
    }
  return true;
}

std::vector<Value> Evaluator::valuesOf(Tree *at, const LoopNames &names,
                                       size_t iteration, const Value &item) {
  if (names.size() == 1)
    return {item};
  if (names.size() == 2)
    return {Number(iteration), item};
  auto *row = item.as<List>();
  if (row && row->items->size() == names.size())
    return *row->items;
  if (!item.isUnknown())
    fail(at, error::LoopNames, names.size(),
         row ? "has " + llvm::Twine(row->items->size())
             : "is " + llvm::Twine(kindOf(item)));
  return {};
}

antlrcpp::Any Evaluator::visitForStmt(NetParser::ForStmtContext *tree) {
  LoopNames names = tree->ID();
  if (!areNames(tree, names))
    return nullptr;
  std::optional<std::vector<Value>> items =
      itemsOf(tree->expr(), eval(tree->expr()));
  if (!items)
    return nullptr;
  size_t before = spent;
  for (auto [iteration, item] : llvm::enumerate(*items)) {
    if (!spend(tree, 1) ||
        (iteration == 1 && !affords(tree, spent - before, items->size() - 1)))
      break;
    std::vector<Value> values = valuesOf(tree->expr(), names, iteration, item);
    if (values.empty()) {
      frame->stopped = true;
      break;
    }
    frame->iterations.push_back(iteration);
    for (auto [name, value] : llvm::zip_equal(names, values)) {
      frame->scope->names[name->getText()] = value;
      frame->scope->fixed.insert(name->getText());
    }
    bool more = run(tree->body());
    frame->iterations.pop_back();
    if (!more)
      break;
  }
  for (antlr4::tree::TerminalNode *name : names)
    frame->scope->fixed.erase(name->getText());
  return nullptr;
}

antlrcpp::Any Evaluator::visitExpect(NetParser::ExpectContext *tree) {
  return fail(tree, error::ExpectOutsideRun);
}

std::string Evaluator::valuesIn(Expr *condition) {
  std::string text;
  llvm::ListSeparator comma;
  llvm::StringSet<> told;
  for (antlr4::Token *token : tokensOf(condition)) {
    std::optional<Value> value = nameTable.lookup(token->getText());
    bool isTold = value && (numberOf(*value) || value->is<std::string>());
    if (isTold && told.insert(token->getText()).second)
      text += StringRef(comma).str() + token->getText() + " = " +
              (numberOf(*value) ? textOf(Value(*numberOf(*value)))
                                : textOf(*value));
  }
  return text;
}

antlrcpp::Any Evaluator::visitRequire(NetParser::RequireContext *tree) {
  std::optional<bool> holds = decide(tree->expr());
  if (holds && !*holds) {
    std::string why;
    if (tree->STRING()) {
      why = tree->STRING()->getText();
      why = ": " + why.substr(1, why.size() - 2);
    }
    std::string values = valuesIn(tree->expr());
    if (!values.empty())
      why += "; here " + values;
    fail(tree, error::RequireFailed, sourceText(tree->expr()), why);
    frame->stopped = true;
  }
  return nullptr;
}

antlrcpp::Any Evaluator::visitSweep(NetParser::SweepContext *tree) {
  return fail(tree, error::SweepOutsideRun);
}

antlrcpp::Any Evaluator::visitJobStmt(NetParser::JobStmtContext *tree) {
  return fail(tree, error::JobOutsideRun);
}

antlrcpp::Any Evaluator::visitBind(NetParser::BindContext *tree) {
  std::vector<NetParser::TargetContext *> targets = tree->target();
  auto nameOf = [&](NetParser::TargetContext *target) {
    return wordOf(target->getStart());
  };
  std::string outerHint =
      std::exchange(frame->hint, targets.size() == 1 ? nameOf(targets[0]) : "");
  Value value = applier.evalOwner(tree->expr());
  frame->hint = outerHint;

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
      fail(tree, error::AssignmentCount, targets.size(), parts.size(),
           parts.size() == 1 ? " value" : " values");
      parts.assign(targets.size(), Value());
    }
  }
  for (auto [target, part] : llvm::zip_equal(targets, parts)) {
    if (target->expr())
      part = tensors.matched(target->expr(), part);
    if (auto *tensor = part.as<Tensor>()) {
      boundToTensors.insert(target);
      if (options.onTensor)
        options.onTensor(locationOf(target), tensors.typeText(*tensor));
    }
    nameTable.bind(target, nameOf(target), std::move(part));
  }
  return nullptr;
}

std::optional<std::vector<Value>> Evaluator::itemsOf(Tree *at,
                                                     const Value &value) {
  if (auto *list = value.as<List>()) {
    if (!spend(at, list->items->size()))
      return std::nullopt;
    return *list->items;
  }
  if (auto *range = value.as<Range>()) {
    std::optional<int64_t> begin = range->begin.toInt64(),
                           end = range->end.toInt64();
    if (!begin || !end) {
      fail(at, error::FreeRange, range->begin.str(), range->end.str());
      return std::nullopt;
    }
    std::vector<Value> items;
    if (*end > *begin && !spend(at, *end - *begin))
      return std::nullopt;
    for (int64_t i = *begin; i < *end; ++i)
      items.push_back(Number(i));
    return items;
  }
  if (!value.isUnknown())
    fail(at, error::NotIterable, kindOf(value));
  return std::nullopt;
}

bool Evaluator::affords(Tree *at, size_t each, size_t copies) {
  size_t before = spent;
  bool fits = copies == 0 || each <= options.limits.maxOps / copies;
  fits = spend(at, fits ? each * copies : options.limits.maxOps + 1);
  spent = before;
  return fits;
}

bool Evaluator::spend(Tree *at, size_t amount) {
  size_t left = options.limits.maxOps - std::min(options.limits.maxOps, spent);
  if (amount <= left) {
    spent += amount;
    return true;
  }
  if (!overBudget)
    fail(at, error::TooManyOps, options.limits.maxOps);
  overBudget = true;
  return false;
}
