// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/PrecisionReader.h"

#include "lib/Frontend/RunKeys.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

bool PrecisionReader::isCallOfPreset(Expr *expr) {
  static const std::vector<std::string> words = wordsIn("precision");
  auto *call = ruleCast<NetParser::CallContext>(expr);
  auto *name = call ? ruleCast<NetParser::RefContext>(call->left) : nullptr;
  return name && llvm::is_contained(words, e.wordOf(name->getStart()));
}

//===----------------------------------------------------------------------===//
// Constants that hold a precision
//===----------------------------------------------------------------------===//

void PrecisionReader::markConstants() {
  FileScope &file = *e.files.main;
  std::vector<NetParser::JobContext *> jobs;
  for (NetParser::ItemContext *item : file.source->tree()->item())
    if (auto *stmt = ruleCast<NetParser::JobStmtContext>(item->stmt()))
      jobs.push_back(stmt->job());
  for (size_t i = 0; i < jobs.size(); ++i)
    llvm::append_range(jobs, jobsIn(jobs[i]));
  auto forEachStatement = [&](auto visit) {
    for (NetParser::JobContext *job : jobs)
      if (job->body())
        for (NetParser::StmtContext *stmt : job->body()->stmt())
          visit(stmt);
  };
  forEachStatement([&](NetParser::StmtContext *stmt) {
    auto *bind = ruleCast<NetParser::BindContext>(stmt);
    if (bind && bind->target(0)->getText() == "precision")
      markConstantsIn(file, bind->expr());
  });
  for (const Override &each : e.commandLine.overrides)
    if (each.name == "precision")
      for (Expr *expr : each.tree->expr())
        markConstantsIn(file, expr);
  // A sweep varies the key, or a constant that it names.
  forEachStatement([&](NetParser::StmtContext *stmt) {
    auto *sweep = ruleCast<NetParser::SweepContext>(stmt);
    if (!sweep)
      return;
    for (NetParser::VariedContext *each : sweep->varied()) {
      std::string name = each->getStart()->getText();
      auto constant = file.names.find(name);
      auto *list = ruleCast<NetParser::ListContext>(each->expr());
      bool isOne = name == "precision" || (constant != file.names.end() &&
                                           constant->second.isPrecision);
      if (isOne && list && !list->comp())
        for (NetParser::AxisContext *item : list->axis())
          if (item->value)
            markConstantsIn(file, item->value);
    }
  });
}

void PrecisionReader::markConstantsIn(FileScope &file, Expr *expr) {
  auto markIn = [&](FileScope &owner, const std::string &name) {
    auto entry = owner.names.find(name);
    if (entry == owner.names.end())
      return false;
    auto *bind = ruleCast<NetParser::BindContext>(entry->second.tree);
    if (bind && bind->target().size() == 1 &&
        !std::exchange(entry->second.isPrecision, true))
      markConstantsIn(owner, bind->expr());
    return true;
  };
  if (auto *paren = ruleCast<NetParser::ParenContext>(expr)) {
    markConstantsIn(file, paren->expr());
  } else if (auto *choice = ruleCast<NetParser::CondContext>(expr)) {
    markConstantsIn(file, choice->expr(1));
    markConstantsIn(file, choice->expr(2));
  } else if (auto *record = ruleCast<NetParser::RecContext>(expr)) {
    for (NetParser::FieldContext *field : record->record()->field())
      markConstantsIn(file, field->expr());
  } else if (isCallOfPreset(expr)) {
    auto *call = ruleCast<NetParser::CallContext>(expr);
    for (NetParser::ArgContext *argument : call->written->arg())
      markConstantsIn(file, argument->value);
  } else if (auto *member = ruleCast<NetParser::MemberContext>(expr)) {
    auto space = file.qualified.find(member->expr()->getText());
    if (space != file.qualified.end())
      markIn(*space->second, member->name()->getText());
  } else if (ruleCast<NetParser::RefContext>(expr)) {
    std::string name = expr->getText();
    if (!markIn(file, name))
      (void)llvm::any_of(file.imports, [&](FileScope *imported) {
        return markIn(*imported, name);
      });
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool PrecisionReader::isPreset(Expr *expr) {
  return isCallOfPreset(expr) &&
         !e.nameTable.lookup(e.wordOf(expr->getStart()));
}

bool PrecisionReader::isWritten(Expr *expr) {
  if (isCallOfPreset(expr))
    return true;
  auto *call = ruleCast<NetParser::CallContext>(expr);
  auto *name = ruleCast<NetParser::RefContext>(call ? call->expr() : expr);
  if (!name)
    return !call && !ruleCast<NetParser::MemberContext>(expr) &&
           !ruleCast<NetParser::IndexContext>(expr) &&
           !ruleCast<NetParser::LitContext>(expr);
  // Runs are no values, so a run may have the name of a format.
  std::optional<Value> known = e.nameTable.lookup(name->getText());
  return !known || known->is<Subject>();
}

std::string PrecisionReader::textOf(Expr *expr) {
  llvm::ListSeparator comma;
  std::string text;
  auto add = [&](NetParser::NameContext *name, Expr *part) {
    text += StringRef(comma);
    text += (name ? name->getText() + " = " : "") + textOf(part);
  };
  if (auto *record = ruleCast<NetParser::RecContext>(expr)) {
    for (NetParser::FieldContext *field : record->record()->field())
      add(field->name(), field->expr());
    return text.empty() ? "{}" : "{ " + text + " }";
  }
  if (auto *call = ruleCast<NetParser::CallContext>(expr);
      call && isWritten(expr)) {
    for (NetParser::ArgContext *argument : call->written->arg())
      add(argument->label, argument->value);
    return call->expr()->getText() + "(" + text + ")";
  }
  // A part may be chosen, or held by a constant.
  bool isName = ruleCast<NetParser::RefContext>(expr) && !isWritten(expr);
  if (isName || ruleCast<NetParser::StrContext>(expr) ||
      ruleCast<NetParser::ParenContext>(expr) ||
      ruleCast<NetParser::CondContext>(expr))
    if (std::optional<std::string> held = netc::precisionOf(e.eval(expr)))
      return *held;
  return sourceText(expr);
}

Value PrecisionReader::eval(Expr *expr) {
  if (auto *paren = ruleCast<NetParser::ParenContext>(expr))
    return eval(paren->expr());
  if (auto *choice = ruleCast<NetParser::CondContext>(expr)) {
    std::optional<bool> condition = e.decide(choice->expr(0));
    return condition ? eval(choice->expr(*condition ? 1 : 2)) : Value();
  }
  if (!isWritten(expr))
    return e.eval(expr);
  Value text(textOf(expr));
  return precisionOf(expr, text) ? text : Value();
}

std::optional<Precision> PrecisionReader::precisionOf(Expr *at,
                                                      const Value &value) {
  std::optional<std::string> written = netc::precisionOf(value);
  std::string text = written.value_or(netc::textOf(value)), whyNone;
  std::optional<Precision> known = parsePrecision(text, &whyNone);
  if (!known) {
    bool isRecipe = StringRef(text).starts_with("fp8(") &&
                    llvm::none_of(allEightBitRecipes(), [&](auto &recipe) {
                      return StringRef(text).contains(recipe.name);
                    });
    e.fail(at, isRecipe ? Message(error::UnknownRecipe(text))
                        : Message(error::NotAPrecision(text, whyNone)));
  } else if (std::optional<StringRef> why = known->conflict()) {
    e.fail(at, error::PrecisionParts, text, *why);
    return std::nullopt;
  }
  return known;
}
