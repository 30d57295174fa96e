// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Collects the keys of a run: its own, those of `like` and those of the run
// around it. Also its axes, from the dataset and from keys.

#include "lib/Frontend/RunKeys.h"
#include "lib/Frontend/ForeignNames.h"
#include "llvm/ADT/StringSwitch.h"

using namespace netc;
using llvm::StringRef;

namespace {
/// A run, and its `like`.
using Like = std::pair<NetParser::JobContext *, antlr4::ParserRuleContext *>;
} // namespace

/// Reports runs that are like each other, once, whichever is built first.
static void failCircle(Evaluator &e, llvm::MutableArrayRef<Like> circle) {
  auto first = llvm::min_element(circle, [](const Like &a, const Like &b) {
    return a.second->getStart()->getTokenIndex() <
           b.second->getStart()->getTokenIndex();
  });
  std::rotate(circle.begin(), first, circle.end());
  std::string path;
  for (auto &[run, bind] : circle)
    path += "`" + nameOf(run) + "` -> ";
  e.fail(circle.front().second, error::LikeCycle, path,
         nameOf(circle.front().first));
}

bool RunKeys::collectKeys(NetParser::JobContext *from, bool isLike) {
  auto isPassedOver = [&](const std::string &name) {
    return isLike && (name == "took" || keys.count(name) || whyUseless(name));
  };
  // Values that the point sets replace those of the file.
  llvm::StringSet<> given;
  for (const Varied &each : point)
    if (each.text && each.job == from) {
      given.insert(each.name);
      if (!isPassedOver(each.name))
        keys.insert(
            {each.name,
             {each.by ? static_cast<Tree *>(each.by->nameAt()) : each.text,
              each.text, each.by}});
    }
  for (NetParser::StmtContext *stmt :
       from->body() ? from->body()->stmt()
                    : std::vector<NetParser::StmtContext *>()) {
    auto *bind = ruleCast<NetParser::BindContext>(stmt);
    if (!bind) {
      if (isLike)
        continue;
      bool isSweep = ruleCast<NetParser::SweepContext>(stmt);
      if (isSweep && outer)
        e.fail(stmt, error::SweepInJob);
      else if (isSweep)
        sweep = stmt;
      else if (!ruleCast<NetParser::RequireContext>(stmt) &&
               !ruleCast<NetParser::ExpectContext>(stmt) &&
               !ruleCast<NetParser::JobStmtContext>(stmt))
        e.fail(stmt, error::NotInRun);
      continue;
    }
    for (NetParser::TargetContext *target : bind->target()) {
      std::string name = target->getStart()->getText();
      if (isPassedOver(name) || given.contains(name)) {
        noteReplaced(name);
        continue;
      }
      if (name == "parallel" || name == "placement")
        e.warn(bind, symbol(), WarningId::UnknownPlacement,
               "`" + name +
                   "` is not there yet; each device is taken to hold the "
                   "whole network and its share of the batch");
      if (!keys.insert({name, {bind, bind->expr()}}).second)
        e.fail(bind, error::DuplicateKey, name);
    }
  }
  return followLike(from);
}

bool RunKeys::followLike(NetParser::JobContext *from) {
  auto like = keys.find("like");
  if (like == keys.end())
    return true;
  Tree *bind = like->second.at;
  Expr *expr = like->second.expr;
  keys.erase(like);
  auto other = file.names.find(expr->getText());
  auto *otherJob = other == file.names.end()
                       ? nullptr
                       : ruleCast<NetParser::JobContext>(other->second.tree);
  if (!otherJob) {
    std::string text = expr->getText();
    std::vector<std::string> runs;
    for (auto &[name, entry] : file.names)
      if (ruleCast<NetParser::JobContext>(entry.tree) && entry.tree != from)
        runs.push_back(name);
    StringRef outer = StringRef(text).split('.').first;
    e.fail(expr, llvm::is_contained(runs, outer) && outer != text
                     ? error::LikeJob(outer, text)
                     : error::UnknownRun(
                           text, e.meantOrFew(text, runs, "the file has")));
    return false;
  }
  likes.push_back({from, bind});
  auto again =
      llvm::find_if(likes, [&](auto &like) { return like.first == otherJob; });
  if (again != likes.end()) {
    failCircle(e, llvm::MutableArrayRef<Like>(likes).drop_front(again -
                                                                likes.begin()));
    return false;
  }
  if (likes.size() > e.options.limits.maxDepth) {
    e.fail(bind, error::NestedTooDeep, e.options.limits.maxDepth);
    return false;
  }
  if (!outer && !jobsIn(otherJob).empty() && jobsIn(job).empty())
    e.warn(bind, symbol(), WarningId::LikeWithoutJobs,
           "`like` takes over the keys of `" + expr->getText() +
               "`, not its jobs");
  return collectKeys(otherJob, true);
}

void RunKeys::inheritKeys() {
  for (auto &[name, key] : outer->keys) {
    bool isOfOuter = name == "took" || name == "duration" || name == "times" ||
                     name == "tuning";
    if (isOfOuter)
      continue;
    if (keys.insert({name, key}).second)
      inherited.insert(name);
    else
      noteReplaced(name);
  }
  isChanged |= outer->isChanged;
}

void RunKeys::noteReplaced(StringRef name) {
  auto key = keys.find(name.str());
  isChanged |= key != keys.end() && key->second.by &&
               !llvm::is_contained(assumedKeys, name);
}

void RunKeys::noteOverride(const Override *by) {
  if (by && !by->isList())
    e.commandLine.overridden.insert(StringRef(symbol()).split('.').first);
}

bool RunKeys::addSettings() {
  unsigned before = e.errorCount();
  const Parameters &all = e.calls.parametersOf(net->function);
  for (const Varied &each : point)
    for (auto [parameter, setting] :
         llvm::zip_equal(all.settings, net->settings)) {
      bool isKey = each.text && llvm::is_contained(runKeys, each.name);
      if (parameter.name != each.name || isKey)
        continue;
      if (auto key = keys.find(each.name);
          key != keys.end() && key->second.expr == each.text)
        keys.erase(key);
      for (RunKeys *around = outer; around; around = around->outer)
        around->taken.insert(each.name);
      if (each.text && !isIn(job, each.job))
        continue;
      Tree *at = each.text ? static_cast<Tree *>(each.text) : netExpr();
      Value value =
          each.text ? e.calls.evalSetting(parameter, each.text) : each.value;
      if (std::optional<Message> mistake =
              e.calls.mistakeIn(parameter, net->function, value))
        e.fail(at, *mistake);
      setting = value;
      noteOverride(each.by);
      isChanged |= each.by != nullptr;
    }
  return e.errorCount() == before;
}

void RunKeys::dropTook() {
  auto took = keys.find("took");
  if (took == keys.end() || took->second.by)
    return;
  // A point of a sweep is another run, except for the point with the values of
  // the file.
  auto isAsWritten = [&](const Varied &each) {
    auto key = keys.find(each.name);
    if (each.text || key == keys.end())
      return false;
    std::optional<Number> value = netc::numberOf(each.value),
                          written = netc::numberOf(e.eval(key->second.expr));
    return value && written && value->dimension == written->dimension &&
           value->device == written->device && value->exact == written->exact;
  };
  bool isSwept = llvm::any_of(point, [&](const Varied &each) {
    return !each.by && !llvm::is_contained(assumedKeys, each.name) &&
           !isAsWritten(each);
  });
  if (isSwept) {
    keys.erase(took);
    return;
  }
  bool isOfSum = llvm::any_of(point, [&](const Varied &each) {
    return each.by && each.job != job && isIn(each.job, job) &&
           !llvm::is_contained(assumedKeys, each.name);
  });
  // Whether a setting of the net changes. The run may use it as a default.
  bool isOfNet =
      llvm::any_of(e.commandLine.overrides, [&](const Override &each) {
        return !each.job && net && net->function.block &&
               each.owner == net->function.block->name;
      });
  if (!isChanged && !isOfSum && !isOfNet)
    return;
  e.warn(took->second.at, symbol(), WarningId::ChangedRun,
         "`took` is that of the run as written, which `--set` "
         "changes, and left out");
  keys.erase(took);
}

std::optional<Message> RunKeys::whyUseless(StringRef key) const {
  if (key == "times" && !outer)
    return error::TimesWithoutOuter();
  if (key == "times" && keys.count("duration"))
    return error::TimesAndDuration();
  if (key == "tuning" && !outer)
    return error::TuningWithoutOuter();
  if (key == "decode" && !isInference())
    return error::DecodeOfTrain();
  return isInference() ? whyNotOfInference(key) : std::nullopt;
}

std::optional<Message> netc::whyNotOfInference(StringRef key) {
  auto *text = llvm::StringSwitch<const error::Text<0> *>(key)
                   .Case("loss", &error::InferLoss)
                   .Case("loss_scale", &error::InferLossScale)
                   .Case("optimizer", &error::InferOptimizer)
                   .Case("updates", &error::InferUpdates)
                   .Case("recompute", &error::InferRecompute)
                   .Case("accumulate", &error::InferAccumulate)
                   .Default(nullptr);
  return text ? std::optional((*text)()) : std::nullopt;
}

void RunKeys::checkKeys() {
  for (auto &[name, key] : keys)
    if (std::optional<Message> why = whyUseless(name); isOwn(name) && why)
      e.fail(key.at, *why);
}

/// The words that the value of a key may contain.
std::vector<std::string> netc::wordsIn(StringRef key) {
  if (key == "recompute")
    return {"full", "selective", "none"};
  if (key == "precision")
    return {"mixed", "megatron", "pure", "fp8"};
  if (key == "loss_scale")
    return {"dynamic"};
  if (key == "count")
    return {"full", "half"};
  return {};
}
/// Whether the value of a key is one of some words, which need no quotes.
static bool takesWord(StringRef key) {
  return key == "framework" || key == "trained_by";
}

/// Whether a key of a run, or an axis, takes only integers in this unit.
static bool takesWhole(StringRef key, const Dimension &unit) {
  if (key == "batch")
    return unit != Dimension::Token;
  if (key == "duration")
    return unit == Dimension::Step;
  return key == "accumulate" || key == "times" || key == "decode" ||
         key == "hardware" || key == "year" ||
         !llvm::is_contained(runKeys, key);
}

std::optional<Value> RunKeys::valueOf(StringRef key) {
  for (const Varied &each : point)
    if (each.name == key && !each.text && (!outer || !isOwn(each.name)))
      return names.names[key] = each.value;
  auto known = names.names.find(key);
  if (known != names.names.end())
    return known->second;
  auto found = keys.find(key.str());
  if (found == keys.end())
    return std::nullopt;
  auto *expr = found->second.expr;
  std::string text = expr->getText();
  bool isBareWord = takesWord(key) && ruleCast<NetParser::RefContext>(expr) &&
                    !e.nameTable.lookup(text);
  bool isMiddle = false;
  Scope words;
  words.outer = e.frame->scope;
  for (const std::string &word : wordsIn(key))
    words.names[word] = Value(word);
  InScope in(e.frame->scope, &words);
  Value value = isBareWord ? Value(text) : e.eval(expr, isMiddle);
  if (auto *number = std::get_if<Number>(&value.data);
      number && isMiddle && takesWhole(key, number->dimension))
    number->exact = number->exact.ceil();
  names.names[key] = value;
  return value;
}

std::optional<Number> RunKeys::numberOf(StringRef key) {
  std::optional<Value> value = valueOf(key);
  if (!value || value->isUnknown())
    return std::nullopt;
  std::optional<Number> number = netc::numberOf(*value);
  if (!number || number->real || !number->exact.constant()) {
    std::string instead;
    if (value->is<std::string>())
      instead = "; write it without quotes";
    else if (key == "hardware")
      instead = "; write one kind of device, such as `8 V100`";
    else if (value->is<List>())
      instead = ("; `sweep " + key + " in [..]` varies it").str();
    e.fail(placeOf(key), error::NotANumber, key,
           (number ? textOf(*value) : kindOf(*value)) + instead);
    return std::nullopt;
  }
  return number;
}

bool RunKeys::flagOf(StringRef key) {
  std::optional<Value> value = valueOf(key);
  if (!value || value->isUnknown())
    return false;
  if (!value->is<bool>())
    e.fail(placeOf(key), error::NotAFlag, key, kindOf(*value));
  return value->is<bool>() && *value->as<bool>();
}

RunKeys::Expr *RunKeys::netExpr() const {
  if (!job->expr().empty())
    return job->expr(0);
  return outer ? outer->netExpr() : nullptr;
}

RunKeys::Expr *RunKeys::datasetExpr() const {
  if (job->expr().size() == 2)
    return job->expr(1);
  return outer ? outer->datasetExpr() : nullptr;
}

std::string RunKeys::symbol() const {
  return (outer ? outer->symbol() + "." : "") + nameOf(job);
}

bool RunKeys::isDeclared(Expr *place, StringRef kind) {
  if (!ruleCast<NetParser::RefContext>(place) || !e.showsErrors())
    return true;
  std::string name = place->getText();
  if (e.nameTable.lookup(name))
    return true;
  std::vector<std::string> known;
  for (auto &[other, entry] : file.names) {
    auto *block = ruleCast<NetParser::BlockDeclContext>(entry.tree);
    auto *section = ruleCast<NetParser::SectionContext>(entry.tree);
    if ((block && block->kind->getText() == kind) ||
        (section && section->kind->getText() == kind))
      known.push_back(other);
  }
  std::string hint =
      known.empty()
          ? e.nameTable.hintFor(name)
          : e.meantOrAll(name, known, ("the file has the " + kind).str());
  if (hint.empty() && kind == "net")
    hint = hintForImport(StringRef(name).lower() + ".net");
  if (hint.empty())
    hint = "; declare it, as in `" + kind.str() + " " + name +
           (kind == "net" ? "(x: f32[N, 8]) { .. }`" : " { examples = 1000 }`");
  e.fail(place, error::UnknownName, name, hint);
  return false;
}

bool RunKeys::collectDataset() {
  Expr *place = datasetExpr();
  if (!place)
    return true;
  if (!isDeclared(place, "dataset"))
    return false;
  bool areMiddle = false;
  Value value = e.eval(place, areMiddle);
  auto *section = value.as<Section>();
  if (!section || section->tree->kind->getText() != "dataset") {
    if (!value.isUnknown())
      e.fail(place, error::NotADataset, kindOf(value));
    return false;
  }
  // The dataset has no arguments: use the defaults of its parameters.
  if (section->tree->params() && !section->arguments) {
    value = e.calls.callSection(place, *section, {});
    section = value.as<Section>();
    if (!section)
      return false;
  }
  dataset = e.program.entriesOf(*section, areMiddle);
  // Report errors in a dataset of another file at this run's use of it.
  if (section->file != &file)
    for (SectionEntry &entry : dataset)
      entry.at = place;
  return true;
}

void RunKeys::failUnknownKey(const std::string &name,
                             llvm::ArrayRef<std::string> symbols) {
  std::vector<std::string> known;
  if (e.showsErrors()) {
    known.assign(std::begin(runKeys), std::end(runKeys));
    llvm::copy_if(symbols, std::back_inserter(known),
                  [](StringRef symbol) { return symbol != kBatchAxis; });
  }
  const Key &key = keys.find(name)->second;
  if (key.by && net)
    for (const Parameter &setting :
         e.calls.parametersOf(net->function).settings)
      known.push_back(setting.name);
  std::string meant = e.meantOrAll(name, known, "there are");
  if (auto constant = file.names.find(name);
      key.by && constant != file.names.end() &&
      ruleCast<NetParser::BindContext>(constant->second.tree))
    meant = "; a constant of the file is replaced by `-D " + name + "=" +
            sourceText(key.expr) + "`";
  e.fail(key.at, error::UnknownRunKey, name, meant);
  hasUnknownKey = true;
}

std::optional<Moments> Program::sizeOfAxis(Tree *at, StringRef name,
                                           const Value &value) {
  std::optional<Moments> moments;
  if (auto *distribution = value.as<Distribution>()) {
    moments = distribution->moments;
  } else {
    std::optional<Number> number = netc::numberOf(value);
    std::optional<Rational> size =
        number && !number->real ? number->exact.constant() : std::nullopt;
    if (size && size->isInteger() && *size >= Rational(1) &&
        isUnitOfSizes(number->dimension))
      moments = Moments(*size);
    else if (!value.isUnknown())
      e.fail(at, error::AxisSize, name, textOf(value));
  }
  if (!moments || moments->mean() <= Rational(Shape::maxSize))
    return moments;
  e.fail(at, error::AxisTooLarge, name, moments->mean().str());
  return std::nullopt;
}

bool RunKeys::collectAxes() {
  std::vector<std::string> symbols;
  llvm::StringSet<> isSymbol;
  for (const NetInput &input : inputs)
    for (const Polynomial &size : input.shape.sizes)
      for (const std::string &symbol : size.symbols())
        if (isSymbol.insert(symbol).second)
          symbols.push_back(symbol);
  auto give = [&](const std::string &name, const Value &value, Tree *at) {
    if (std::optional<Moments> size = e.program.sizeOfAxis(at, name, value))
      axes.insert({name, *size});
  };
  bool hasJobs = !jobsIn(job).empty();
  for (auto &[name, key] : keys) {
    if (llvm::is_contained(runKeys, name))
      continue;
    if (isSymbol.contains(name) && name != kBatchAxis) {
      if (std::optional<Value> value = valueOf(name))
        give(name, *value, placeOf(name));
      for (RunKeys *around = outer; around; around = around->outer)
        around->taken.insert(name);
      continue;
    }
    // A key of a job may be meant for the jobs in it.
    if (isOwn(name) && !hasJobs)
      failUnknownKey(name, symbols);
  }
  for (const Varied &each : point)
    if (!each.text && isSymbol.contains(each.name) && !axes.count(each.name))
      give(each.name, each.value, job);
  llvm::StringSet<> written;
  for (const SectionEntry &entry : dataset)
    written.insert(entry.name);
  std::vector<std::string> missing = {"examples", "tokens"};
  for (const std::string &symbol : symbols)
    if (symbol != kBatchAxis && !axes.count(symbol))
      missing.push_back(symbol);
  llvm::erase_if(
      missing, [&](const std::string &name) { return written.contains(name); });
  for (auto &[name, value, at] : dataset) {
    bool isSize = value.is<Distribution>() || netc::numberOf(value);
    if (isSymbol.contains(name) && !axes.count(name)) {
      give(name, value, at);
    } else if (axes.count(name)) {
      noteReplaced(name);
    } else if (isSize && name != "examples" && name != "tokens") {
      // An axis may belong only to other nets, so only report likely
      // misspellings.
      std::string meant = e.nearest(name, missing);
      if (!meant.empty())
        value = e.fail(at, error::UnknownField, name, meant);
    }
  }
  return true;
}

bool RunKeys::collect() {
  if (!collectKeys(job, false))
    return false;
  if (outer)
    inheritKeys();
  // A run does not take over a key that is `none`. For `recompute`, that is a
  // word.
  keys.remove_if([](auto &entry) {
    return entry.first != "recompute" &&
           llvm::is_contained(runKeys, entry.first) &&
           entry.second.expr->getText() == "none";
  });
  for (auto &[name, key] : keys)
    noteOverride(key.by);
  checkKeys();
  if (!collectDataset())
    return false;
  names.outer = e.frame->scope;
  Expr *expr = netExpr();
  if (!expr && !jobsIn(job).empty()) {
    e.frame->scope = &names;
    collectAxes();
    dropTook();
    return true;
  }
  if (!expr) {
    e.fail(job, error::JobWithoutNet, job->kind->getText());
    return false;
  }
  if (!isDeclared(expr, "net"))
    return false;
  bool isSet;
  {
    Ranges::Reads reads(e.ranges);
    net = e.program.netInstance(expr, e.eval(expr));
    isSet = net && addSettings();
    if (!reads.empty())
      e.fail(expr, error::RangeInNet);
  }
  if (!isSet)
    return false;
  std::optional<std::vector<NetInput>> given = e.program.inputsOf(*net);
  if (!given)
    return false;
  inputs = std::move(*given);
  e.frame->scope = &names;
  collectAxes();
  dropTook();
  return true;
}

mlir::DictionaryAttr RunKeys::axesAttr() const {
  mlir::NamedAttrList attributes;
  for (auto &[name, moments] : axes)
    attributes.set(name, MomentsAttr::get(e.context, moments));
  return attributes.getDictionary(e.context);
}

mlir::DictionaryAttr RunKeys::readAxes() {
  mlir::Block entry;
  Evaluator::GraphScope scope(e, file, &entry);
  return collect() ? axesAttr() : mlir::DictionaryAttr();
}

void RunKeys::nameSettings() {
  // Names of the file take precedence.
  auto add = [&](const std::string &name, const Value &value) {
    if (!e.nameTable.lookupBody(name) && !e.nameTable.lookupFile(file, name))
      names.names[name] = value;
  };
  for (const Varied &each : point)
    if (!each.text)
      valueOf(each.name);
  for (auto &[name, moments] : axes)
    if (moments.isFixed())
      add(name, Number(moments.mean()));
  if (net)
    for (auto [parameter, setting] : llvm::zip_equal(
             e.calls.parametersOf(net->function).settings, net->settings))
      if (setting)
        add(parameter.name, *setting);
}

void RunKeys::checkRequires() {
  for (NetParser::StmtContext *stmt :
       job->body() ? job->body()->stmt()
                   : std::vector<NetParser::StmtContext *>())
    if (ruleCast<NetParser::RequireContext>(stmt)) {
      for (auto &[name, key] : keys)
        if (name != "loss" && name != "precision" && name != "placement" &&
            name != "optimizer" && name != "updates")
          valueOf(name);
      nameSettings();
      e.statements.run(stmt);
    }
  e.frame->scope = names.outer;
}
