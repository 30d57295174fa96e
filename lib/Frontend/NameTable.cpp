// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Spelling.h"
#include "lib/Frontend/Evaluator.h"
#include "lib/Frontend/ForeignNames.h"
#include "lib/Std/Std.h"

using namespace netc;
using llvm::StringRef;

std::optional<Value> NameTable::lookupBody(StringRef name) {
  for (Scope *scope = e.frame->scope; scope; scope = scope->outer) {
    auto found = scope->names.find(name);
    if (found != scope->names.end())
      return found->second;
  }
  return std::nullopt;
}

std::optional<Value> NameTable::lookupFile(FileScope &file, StringRef name) {
  if (e.frame->results && &file == e.files.main &&
      e.frame->results->isResult(name))
    return Subject{name.str(), {}, {}, {}};
  auto found = file.names.find(name.str());
  // Only an `expect` asks a run, so in a block its name hides no op.
  bool isHidden = e.frame->block && !e.frame->results;
  if (found != file.names.end() &&
      !(isHidden && ruleCast<NetParser::JobContext>(found->second.tree)))
    return valueOf(file, found->second);
  auto space = file.qualified.find(name);
  if (space != file.qualified.end())
    return Namespace{space->second};
  return std::nullopt;
}

std::optional<Value> NameTable::lookup(StringRef name) {
  if (std::optional<Value> value = lookupBody(name))
    return value;
  if (name.ends_with("'") && e.frame->scope && e.frame->scope->isScan) {
    auto found = e.frame->scope->next.find(name.drop_back());
    if (found != e.frame->scope->next.end())
      return found->second;
  }
  FileScope &file = *e.frame->file;
  if (std::optional<Value> value = lookupFile(file, name))
    return value;
  FileScope *offeredBy = nullptr;
  for (FileScope *imported : file.imports) {
    if (!imported->names.count(name.str()))
      continue;
    if (offeredBy && offeredBy != imported)
      return ambiguous(name, *offeredBy, *imported);
    offeredBy = imported;
  }
  if (offeredBy)
    return lookupFile(*offeredBy, name);
  if (FileScope *block = e.files.preludeBlock(name))
    return lookupFile(*block, name);
  return e.builtins.lookupBuiltin(name);
}

std::vector<std::string> NameTable::visibleNames() {
  std::vector<std::string> names;
  // Do not search suggestions for errors that are not shown. In a file with an
  // error on each line, that would take quadratic time.
  if (!e.showsErrors())
    return names;
  for (Scope *scope = e.frame->scope; scope; scope = scope->outer)
    for (auto &entry : scope->names)
      names.push_back(entry.first().str());
  auto addNames = [&](FileScope &file) {
    for (auto &entry : file.names)
      names.push_back(entry.first);
  };
  addNames(*e.frame->file);
  for (auto &entry : e.frame->file->qualified)
    names.push_back(entry.first().str());
  for (FileScope *imported : e.frame->file->imports)
    addNames(*imported);
  for (const StandardBlock &block : standardBlocks())
    names.push_back(block.name.str());
  Builtins::addBuiltinNames(e.context, names);
  names.insert(names.end(), {"true", "false"});
  llvm::sort(names);
  return names;
}

Value NameTable::valueOf(FileScope &file, TopLevel &entry) {
  if (auto *tree = ruleCast<NetParser::BlockDeclContext>(entry.tree)) {
    if (entry.state != TopLevel::Done) {
      file.blocks.push_back(
          {&file, tree, entry.name, tree->kind->getText() == "net"});
      entry.value = Function{entry.name, &file.blocks.back()};
      entry.state = TopLevel::Done;
    }
    return entry.value;
  }
  if (auto *tree = ruleCast<NetParser::SectionContext>(entry.tree))
    return Section{&file, tree, entry.name, nullptr};
  if (ruleCast<NetParser::JobContext>(entry.tree))
    return Subject{entry.name, {}, {}, {}};

  unsigned present = e.graph ? e.graph->id : 0;
  if (entry.state == TopLevel::Done &&
      (!entry.isPerGraph || entry.graph == present))
    return used(entry);
  if (entry.state == TopLevel::InProgress) {
    std::string cycle;
    for (const std::string &name : computing)
      cycle += "`" + name + "` -> ";
    e.fail(entry.tree, error::NameCycle, entry.name, cycle);
    return {};
  }
  entry.state = TopLevel::InProgress;
  computing.push_back(entry.name);
  auto *bind = static_cast<NetParser::BindContext *>(entry.tree);
  Scope scope;
  Frame top(e.frame);
  top.file = &file;
  top.scope = &scope;
  top.self = e.graph ? e.graph->root.get() : nullptr;
  top.hint = entry.name;
  {
    InFrame in(e.frame, &top);
    {
      Ranges::Reads reads(e.ranges);
      if (entry.isPrecision)
        scope.names[entry.name] = e.precisions.eval(bind->expr());
      else
        e.statements.run(bind);
      entry.ranges = reads.all().vec();
    }
    entry.value = scope.names.lookup(entry.name);
    if (&file == e.files.main)
      e.commandLine.overrideSettings(entry.name, entry.value);
  }
  computing.pop_back();
  entry.graph = present;
  entry.isPerGraph = netc::isPerGraph(entry.value);
  if (e.graph && entry.isPerGraph)
    e.graph->instances.insert(entry.name);
  entry.state = TopLevel::Done;
  return used(entry);
}

Value NameTable::used(const TopLevel &entry) {
  e.ranges.noteRead(entry.ranges);
  if (!entry.ranges.empty() && e.frame->block)
    return e.fail(use ? use : entry.tree, error::RangeAsValue, entry.name);
  return entry.value;
}

Value NameTable::ambiguous(StringRef name, FileScope &a, FileScope &b) {
  auto placeIn = [&](FileScope &file) {
    return netc::locationOf(file.names.find(name.str())->second.tree);
  };
  return e.fail(
      use ? use : e.frame->file->source->tree(),
      error::AmbiguousImport(name, a.path, b.path),
      {{placeIn(a), "one is here"}, {placeIn(b), "the other is here"}});
}

std::string NameTable::hintFor(StringRef name) {
  std::vector<std::string> visible = visibleNames();
  if (visible.empty())
    return "";
  if (std::string foreign = hintForForeign(name, visible); !foreign.empty())
    return foreign;
  for (auto &entry : e.frame->file->qualified)
    if (entry.second->names.count(name.str()))
      return netc::didYouMean((entry.first() + "." + name).str());
  auto needsImport = [](const StandardBlock &block) {
    return " needs `import " + importNameOf(block.path) + "`";
  };
  for (const StandardBlock &block : importableBlocks())
    if (block.name == name)
      return "; it" + needsImport(block);
  if (std::string near = e.nearest(name, visible); !near.empty())
    return near;
  for (const StandardBlock &block : importableBlocks())
    if (std::string meant = e.didYouMean(name, {block.name.str()});
        !meant.empty())
      return meant + " It" + needsImport(block);
  return "";
}

Message NameTable::unknownName(StringRef name) {
  std::string hint = hintFor(name);
  if (!hint.empty() || !e.showsErrors())
    return error::UnknownName(name, hint);
  std::vector<std::string> own;
  for (Scope *scope = e.frame->scope; scope; scope = scope->outer)
    for (auto &entry : scope->names)
      own.push_back(entry.first().str());
  for (auto &entry : e.frame->file->names)
    own.push_back(entry.first);
  llvm::sort(own);
  own.erase(std::unique(own.begin(), own.end()), own.end());
  return error::UnknownName(
      name, e.meantOrFew(name, own, "known besides ops and blocks:"));
}

void NameTable::nameInstance(Identity &parent, const Value &value,
                             const std::string &name) {
  if (auto *instance = value.as<std::shared_ptr<Instance>>()) {
    Identity &identity = *(*instance)->identity;
    if (identity.name.empty())
      identity.name = e.applier.unique(parent, name);
  } else if (auto *list = value.as<List>()) {
    for (auto [i, item] : llvm::enumerate(*list->items))
      nameInstance(parent, item, name + "." + std::to_string(i));
  }
}

void NameTable::bind(Tree *at, StringRef name, Value value) {
  if (name.ends_with("'")) {
    std::string carried = name.drop_back().str();
    if (!e.frame->scope->isScan || !e.frame->scope->carried.count(carried))
      return void(e.fail(at, error::NotCarried, name, carried));
    if (!e.frame->scope->next.insert({carried, value}).second)
      return void(e.fail(at, error::AssignedTwice, name));
    return;
  }
  if (std::string lack = e.calls.lackOf(value); name == "_" && !lack.empty())
    return void(e.fail(at, error::NothingDone, kindOf(value), lack));
  Scope &scope = *e.frame->scope;
  if (scope.fixed.count(name))
    return void(e.fail(at,
                       scope.carried.count(name) ? error::CarriedName
                                                 : error::LoopVariable,
                       name));
  if (scope.isScan && !scope.names.count(name))
    for (Scope *outer = scope.outer; outer; outer = outer->outer)
      if (outer->names.count(name))
        return void(e.fail(at, error::OutsideScan, name));
  auto [entry, isNew] = scope.names.insert({name, value});
  if (!isNew) {
    auto isNumber = [](const Value &v) {
      return v.is<Number>() || v.is<Axis>();
    };
    const Value &old = entry->second;
    bool sameKind =
        old.data.index() == value.data.index() ||
        (isNumber(old) && isNumber(value)) || old.isUnknown() ||
        value.isUnknown() || old.is<None>() || value.is<None>() ||
        (old.is<Function>() && value.is<std::shared_ptr<Instance>>());
    if (!sameKind)
      return void(
          e.fail(at, error::ChangedType, name, kindOf(old), kindOf(value)));
    entry->second = value;
  }
  if (e.frame->self)
    nameInstance(*e.frame->self, value, name.str());
}
