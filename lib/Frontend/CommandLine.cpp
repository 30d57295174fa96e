// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The options that replace what the file says: `-D` for constants, and `--set`
// for keys and axes of runs, and for settings of nets.

#include "lib/Frontend/Mentions.h"
#include "lib/Frontend/RunKeys.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

bool CommandLine::readOptions() {
  Evaluator::TopScope top(e, *e.files.main);
  std::string shown;
  // Pad the text, so that the positions of tokens fit the line and option
  // shown.
  auto add = [&](StringRef option, const std::string &text) {
    std::string padded(llvm::count(shown, '\n'), '\n');
    padded.append(option.size(), ' ');
    shown += option.str() + text + "\n";
    return padded + text + "\n";
  };
  std::vector<std::string> definitions, settings;
  for (auto &[name, value] : e.options.definitions)
    definitions.push_back(add("-D ", name + "=" + value));
  for (const std::string &setting : e.options.settings)
    settings.push_back(add("--set ", setting));
  if (e.options.onRead && !shown.empty())
    e.options.onRead(commandLinePath, shown);
  // Read settings first: a setting may be the default of a parameter, and
  // defaults are read only once.
  for (const std::string &text : settings)
    addOverride(text);
  e.precisions.markConstants();
  for (auto [definition, text] :
       llvm::zip_equal(e.options.definitions, definitions))
    define(definition.first, definition.second, text);
  return e.errorCount() == 0;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

void CommandLine::define(const std::string &name, StringRef value,
                         StringRef text) {
  std::unique_ptr<SourceFile> source =
      parse(e.context, commandLinePath, text, e.options.limits);
  if (source->hasErrors()) {
    e.countError();
    return;
  }
  NetParser::FileContext *root = source->tree();
  optionTexts.push_back(std::move(source));
  if (root->item().size() != 1) {
    e.fail(root, error::DefineOneValue, name, root->item().size());
    return;
  }
  auto *bind = ruleCast<NetParser::BindContext>(root->item(0)->stmt());
  auto entry = e.files.main->names.find(name);
  if (!bind || entry == e.files.main->names.end() ||
      !ruleCast<NetParser::BindContext>(entry->second.tree)) {
    std::vector<std::string> known;
    for (auto &[other, declared] : e.files.main->names)
      if (ruleCast<NetParser::BindContext>(declared.tree))
        known.push_back(other);
    std::string instead = overrideInstead(name, value);
    e.fail(root, error::DefineUnknown, name,
           instead.empty() ? e.didYouMean(name, known)
                           : "; write `" + instead + "`");
    return;
  }
  Value old = e.nameTable.valueOf(*e.files.main, entry->second);
  // Replace the text, since it is evaluated again at the points of a sweep and
  // the ends of a range. Recompute the values that depend on it.
  auto forget = [&] {
    for (auto &[other, computed] : e.files.main->names)
      computed.state = TopLevel::Untouched;
  };
  entry->second.tree = bind;
  if (entry->second.isPrecision)
    e.precisions.markConstantsIn(*e.files.main, bind->expr());
  forget();
  Value given = e.nameTable.valueOf(*e.files.main, entry->second);
  forget();
  if (entry->second.isPrecision) {
    if (!given.isUnknown() && !given.is<None>())
      e.precisions.precisionOf(bind->expr(), given);
    return;
  }
  if (!old.isUnknown() && !given.isUnknown() &&
      old.data.index() != given.data.index())
    e.fail(bind, error::DefineType, name, kindOf(old), kindOf(given));
  auto *number = given.as<Number>(), *before = old.as<Number>();
  if (number && before && number->dimension != before->dimension)
    e.fail(bind, error::DefineUnit, name, textOf(old), textOf(given));
}

std::string CommandLine::overrideInstead(const std::string &name,
                                         StringRef value) {
  auto write = [&](const std::string &owner) {
    std::string text = owner + "." + name + "=" + value.str();
    return text.find(' ') == std::string::npos ? "--set " + text
                                               : "--set \"" + text + "\"";
  };
  std::vector<NetParser::JobContext *> runs;
  for (NetParser::ItemContext *item : e.files.main->source->tree()->item())
    if (auto *stmt = ruleCast<NetParser::JobStmtContext>(item->stmt()))
      runs.push_back(stmt->job());
  if (llvm::is_contained(runKeys, name) && !runs.empty())
    return write(nameOf(runs.front()));
  for (NetParser::ItemContext *item : e.files.main->source->tree()->item()) {
    NetParser::BlockDeclContext *net = item->blockDecl();
    if (!net || net->kind->getText() != "net")
      continue;
    std::string owner = net->ID()->getText();
    Value value = e.nameTable.valueOf(*e.files.main,
                                      e.files.main->names.find(owner)->second);
    const Parameters &all = e.calls.parametersOf(*value.as<Function>());
    auto isIt = [&](const Parameter &setting) { return setting.name == name; };
    if (llvm::any_of(all.settings, isIt))
      return write(owner);
    for (const Parameter &input : all.tensors)
      if (input.tree->type)
        for (antlr4::Token *axis : tokensOf(input.tree->type))
          if (axis->getText() == name) {
            auto run = llvm::find_if(runs, [&](NetParser::JobContext *job) {
              return !job->expr().empty() && job->expr(0)->getText() == owner;
            });
            return write(run == runs.end() ? owner : nameOf(*run));
          }
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Keys, axes and settings
//===----------------------------------------------------------------------===//

void CommandLine::addOverride(StringRef text) {
  std::unique_ptr<SourceFile> source =
      parseSetting(e.context, commandLinePath, text, e.options.limits);
  if (source->hasErrors()) {
    e.countError();
    return;
  }
  NetParser::SettingContext *tree = source->setting();
  optionTexts.push_back(std::move(source));
  std::vector<std::string> path = {tree->path()->ID()->getText()};
  for (NetParser::NameContext *name : tree->path()->name())
    path.push_back(name->getText());
  std::string value = sourceText(tree->expr(0));
  auto constant = e.files.main->names.find(path.front());
  if (path.size() == 1) {
    std::string instead =
        constant != e.files.main->names.end() &&
                ruleCast<NetParser::BindContext>(constant->second.tree)
            ? "-D " + path.front() + "=" + value
            : overrideInstead(path.front(), value);
    e.fail(tree, error::SetWithoutOwner,
           instead.empty() ? "" : "; write `" + instead + "`");
    return;
  }
  Override made{path.front(), path.back(), tree};
  made.job = e.program.jobNamed(path.front());
  if (!made.job && constant == e.files.main->names.end())
    return; // another file may have it
  for (size_t i = 1; i + 1 < path.size(); ++i) {
    std::vector<NetParser::JobContext *> jobs;
    std::vector<std::string> known;
    if (made.job)
      for (NetParser::JobContext *job : jobsIn(made.job)) {
        jobs.push_back(job);
        known.push_back(nameOf(job));
      }
    auto found = llvm::find(known, path[i]);
    if (found == known.end()) {
      std::string part = path.back() + " = " + value;
      std::string hint =
          llvm::is_contained(runKeys, path[i])
              ? "; a key is set as a whole: `--set \"" + made.owner + "." +
                    path[i] + "=" +
                    (path[i] == "optimizer" ? "SGD(" + part + ")"
                                            : "{ " + part + " }") +
                    "\"`"
              : e.didYouMean(path[i], known);
      e.fail(tree->path()->name(i - 1), error::UnknownJob, made.owner, path[i],
             hint);
      return;
    }
    made.job = jobs[found - known.begin()];
    made.owner += "." + path[i];
  }
  if (!made.job) {
    bool isNet = false;
    if (auto *block =
            ruleCast<NetParser::BlockDeclContext>(constant->second.tree))
      isNet = block->kind->getText() == "net";
    // The value of a binding is known only when it is evaluated.
    else
      isNet = ruleCast<NetParser::BindContext>(constant->second.tree);
    if (!isNet) {
      e.fail(tree, error::SetOfNeither, made.owner);
      return;
    }
  }
  if (llvm::any_of(overrides, [&](const Override &other) {
        return other.owner == made.owner && other.name == made.name;
      })) {
    e.fail(tree, error::SetTwice, made.owner, made.name);
    return;
  }
  if (made.isList() && !e.options.makesTables)
    e.fail(tree->expr(1), error::TableOfEstimates);
  else if (made.isList() && !made.job)
    e.fail(tree->expr(1), error::TableOfNet);
  overrides.push_back(made);
}

ErrorNote CommandLine::overrideNote(NetParser::JobContext *job) {
  mlir::LocationAttr place;
  std::string text;
  for (const Override &each : overrides)
    if (!each.isList() && (!each.job || isIn(each.job, job))) {
      if (!place)
        place = netc::locationOf(each.tree);
      text += (text.empty() ? "with `" : ", `") + each.owner + "." + each.name +
              " = " + sourceText(each.tree->expr(0)) + "`";
    }
  return {e, place, text + ", as set here", /*isOfFiles=*/true};
}

Point CommandLine::setPoint() const {
  Point point;
  for (const Override &each : overrides)
    if (each.job && !each.isList())
      point.push_back({each.name, {}, each.tree->expr(0), each.job, &each});
  return point;
}

std::vector<std::string> CommandLine::settableNames() const {
  std::vector<std::string> names = e.program.runs;
  for (auto &[name, entry] : e.files.main->names)
    if (ruleCast<NetParser::BlockDeclContext>(entry.tree) ||
        ruleCast<NetParser::BindContext>(entry.tree))
      names.push_back(name);
  return names;
}

Override *CommandLine::overrideOf(StringRef net, StringRef name) {
  for (Override &each : overrides)
    if (!each.job && each.owner == net && each.name == name)
      return &each;
  return nullptr;
}

bool CommandLine::isOverridden(StringRef symbol) {
  if (overridden.contains(symbol))
    return true;
  auto isOfNet = [](const Override &each) { return !each.job; };
  if (llvm::none_of(overrides, isOfNet))
    return false;
  Mentions mentions;
  mentions.add(symbol.str());
  if (NetParser::JobContext *job = e.program.jobNamed(symbol))
    mentions.addStructure(job);
  mentions.follow(*e.files.main);
  return llvm::any_of(overrides, [&](const Override &each) {
    return isOfNet(each) && mentions.contains(each.owner);
  });
}

void CommandLine::overrideSettings(const std::string &name, Value &value) {
  auto isOfIt = [&](const Override &each) {
    return !each.job && each.owner == name;
  };
  if (llvm::none_of(overrides, isOfIt) || value.isUnknown())
    return;
  auto *made = value.as<std::shared_ptr<Instance>>();
  const BlockDecl *block = made ? (*made)->function.block : nullptr;
  if (!block || !block->isNet) {
    auto first = llvm::find_if(overrides, isOfIt);
    e.fail(first->tree, error::SetOfNoRun, name, kindOf(value));
    return;
  }
  auto instance = std::make_shared<Instance>(**made);
  const Parameters &all = e.calls.parametersOf(instance->function);
  for (auto [parameter, setting] :
       llvm::zip_equal(all.settings, instance->settings))
    if (Override *given = overrideOf(name, parameter.name)) {
      setting = e.calls.evalSetting(parameter, given->tree->expr(0));
      given->isUsed = true;
    }
  value.data = instance;
}

void CommandLine::readOverriddenAxes(StringRef net, const Instance &instance,
                                     llvm::ArrayRef<NetInput> inputs) {
  std::vector<std::string> known;
  for (const Parameter &setting :
       e.calls.parametersOf(instance.function).settings)
    known.push_back(setting.name);
  size_t settings = known.size();
  for (const NetInput &input : inputs)
    for (const std::string &axis : input.shape.elements().symbols())
      if (axis != kBatchAxis)
        known.push_back(axis);
  for (Override &each : overrides) {
    if (each.job || each.owner != net)
      continue;
    size_t place = llvm::find(known, each.name) - known.begin();
    if (place == known.size())
      e.fail(each.nameAt(), error::SetUnknown, net, each.name,
             e.didYouMean(each.name, known));
    if (place < settings || place == known.size())
      continue;
    NetParser::ExprContext *expr = each.tree->expr(0);
    each.size = e.program.sizeOfAxis(expr, each.name, e.eval(expr));
    each.isUsed = true;
  }
}

void CommandLine::finishOverrides() {
  for (Override &each : overrides) {
    if (each.job)
      continue;
    auto network =
        mlir::dyn_cast_or_null<NetworkOp>(e.program.operationNamed(each.owner));
    if (network && each.size) {
      mlir::NamedAttrList axes(network.getAxes());
      axes.set(each.name, MomentsAttr::get(e.context, *each.size));
      network.setAxesAttr(axes.getDictionary(e.context));
    }
    if (!each.isUsed && !e.program.leavesOut() && e.errorCount() == 0)
      e.warn(each.tree, each.owner, WarningId::UnusedSetting,
             "this changes nothing: no use of `" + each.owner + "` leaves `" +
                 each.name + "` to its default");
  }
}
