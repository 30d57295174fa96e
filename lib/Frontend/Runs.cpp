// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Datasets and hardware; `train`: a run becomes a net.step, its sweep one for
// each point.

#include "dialect/Spelling.h"
#include "lib/Frontend/RunBuilder.h"
#include "lib/Hardware/NumberFormat.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Sections
//===----------------------------------------------------------------------===//

std::string Elaborator::mistakeIn(const SectionEntry &entry, bool isDataset) {
  const Value &value = entry.value;
  static const std::vector<std::string> keys = {"peak", "memory", "bandwidth",
                                                "node", "link",   "power"};
  if (!isDataset && !llvm::is_contained(keys, entry.name))
    return "a `hardware` section has no `" + entry.name + "`" +
           didYouMean(entry.name, keys);
  if (value.isUnknown())
    return "";
  std::optional<Number> number = numberOf(value);
  std::optional<Rational> constant =
      number && !number->real ? number->exact.constant() : std::nullopt;
  auto isIn = [&](Dimension dimension) {
    return constant && number->dimension == dimension;
  };
  auto isAbove0In = [&](Dimension dimension) {
    return isIn(dimension) && *constant > Rational(0);
  };
  if (isDataset) {
    if (entry.name == "N")
      return "`N` is the number of examples in a step, which is the `batch` of "
             "a run";
    if (entry.name == "examples" || entry.name == "tokens") {
      Dimension::Base unit =
          entry.name == "tokens" ? Dimension::Token : Dimension::Example;
      return isAbove0In({}) || isAbove0In(unit)
                 ? ""
                 : "`" + entry.name + "` of a dataset takes a positive number" +
                       (number ? ", not " + textOf(value) : "");
    }
    if (value.is<TypeValue>() || value.is<Distribution>() ||
        (constant && isUnitOfSizes(number->dimension)))
      return "";
    return "`" + entry.name +
           "` of a dataset takes a size, a `mean`, or a type such as `f32[3]`, "
           "not " +
           (number ? textOf(value) : kindOf(value)) +
           didYouMean(entry.name, {"examples", "tokens"});
  }
  Dimension rateOfData = Dimension(Dimension::Data) / Dimension::Time;
  auto takes = [&](const Value &value, StringRef expected) {
    return ("`" + entry.name + "` takes " + expected + ", this is " +
            (numberOf(value) ? textOf(value) : kindOf(value)))
        .str();
  };
  if (entry.name == "memory")
    return isAbove0In(Dimension::Data) ? ""
                                       : takes(value, "bytes, such as `80 GB`");
  if (entry.name == "bandwidth")
    return isAbove0In(rateOfData) ? ""
                                  : takes(value, "a rate such as `900 GB/s`");
  if (entry.name == "node")
    return isAbove0In({}) || isAbove0In(Dimension::Device)
               ? ""
               : takes(value, "the number of devices in one, such as `8`");
  if (entry.name == "power")
    return isAbove0In({}) ? "" : takes(value, "watts without a unit, as `300`");
  if (entry.name == "link") {
    auto isLink = [&](const Value &value) {
      std::optional<Number> rate = numberOf(value);
      return value.isUnknown() || (rate && rate->dimension == rateOfData);
    };
    auto *record = value.as<Record>();
    if (!record && !isLink(value))
      return takes(value, "rates such as `600 GB/s`");
    if (record)
      for (auto &[kind, rate] : *record->fields)
        if (!isLink(rate))
          return takes(rate, "rates such as `600 GB/s`");
    return "";
  }
  auto isRate = [](const Value &value) {
    std::optional<Number> rate = numberOf(value);
    return value.isUnknown() ||
           (rate && !rate->real && rate->exact.isConstant() &&
            rate->dimension ==
                Dimension(Dimension::Flop) / Dimension(Dimension::Time));
  };
  if (auto *record = value.as<Record>()) {
    for (auto &[format, rate] : *record->fields)
      if (!parseNumberFormat(format))
        return "`peak` has a rate for each number format, and none is `" +
               format + "`" + netc::didYouMean(format, formatNames());
      else if (!isRate(rate))
        return "`peak` takes rates such as `125 TFLOP/s`, this is " +
               textOf(rate);
  } else if (!isRate(value)) {
    return "`peak` takes rates such as `125 TFLOP/s`, this is " + textOf(value);
  }
  return "";
}

std::vector<SectionEntry> Elaborator::entriesOf(const Section &section,
                                                bool areMiddle) {
  NetParser::SectionContext *tree = section.tree;
  bool isDataset = tree->kind->getText() == "dataset";
  Scope parameters;
  if (section.arguments)
    for (auto &[name, value] : *section.arguments)
      parameters.names[name] = value;
  TopScope top(*this, *section.file);
  Scope &scope = top.scope;
  scope.outer = &parameters;
  std::vector<SectionEntry> entries;
  for (NetParser::StmtContext *stmt : tree->body()->stmt()) {
    auto *bind = ruleCast<NetParser::BindContext>(stmt);
    if (!bind) {
      fail(stmt, isDataset ? "a dataset holds `examples` or `tokens`, free "
                             "axes and fields"
                           : "a `hardware` section holds `peak`, `memory` and "
                             "other figures of a device");
      continue;
    }
    bool isMiddle = areMiddle;
    Value value = eval(bind->expr(), isMiddle);
    for (NetParser::TargetContext *target : bind->target()) {
      SectionEntry entry{target->getStart()->getText(), value, bind};
      bool isSize =
          isDataset && entry.name != "examples" && entry.name != "tokens";
      if (auto *number = std::get_if<Number>(&entry.value.data);
          number && isMiddle && isSize)
        number->exact = roundedUp(number->exact);
      std::string mistake = mistakeIn(entry, isDataset);
      if (auto *number = std::get_if<Number>(&entry.value.data);
          number && isDataset && !isSize && !isMiddle && mistake.empty() &&
          !number->exact.constant()->isInteger())
        mistake = "`" + entry.name +
                  "` of a dataset takes a whole number, not " + textOf(value);
      if (scope.names.count(entry.name))
        mistake = "`" + entry.name + "` is given twice";
      if (!mistake.empty())
        entry.value = fail(bind, mistake);
      scope.names[entry.name] = entry.value;
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

void Elaborator::checkSection(const Section &section) {
  NetParser::SectionContext *tree = section.tree;
  std::string name = tree->ID()->getText();
  if (tree->kind->getText() == "hardware") {
    // `8 Card` is read by the rules of units.
    std::variant<Literal, UnitError> read = parseQuantity("8", name);
    auto *literal = std::get_if<Literal>(&read);
    if (!literal || literal->device != name)
      fail(tree, "`" + name + "` cannot name a device: `8 " + name +
                     "` is read as a unit; take two letters or more, the first "
                     "in upper case");
  }
  if (!tree->params())
    entriesOf(section);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// The names of a job and of those in it: `run`, `run.critic`.
static void collectNames(NetParser::JobContext *job, const std::string &around,
                         std::vector<std::string> &names) {
  if (!job->ID() && job->expr().empty())
    return;
  names.push_back(around + netc::nameOf(job));
  for (NetParser::JobContext *inner : jobsIn(job))
    collectNames(inner, around + netc::nameOf(job) + ".", names);
}

void Elaborator::collectExpectations(FileScope &file,
                                     NetParser::JobContext *job) {
  if (!job->body())
    return;
  for (NetParser::StmtContext *stmt : job->body()->stmt()) {
    if (auto *expect = ruleCast<NetParser::ExpectContext>(stmt))
      expectations.push_back({expect, &file});
    else if (auto *inner = ruleCast<NetParser::JobStmtContext>(stmt))
      collectExpectations(file, inner->job());
  }
}

void Elaborator::elaborateRun(FileScope &file, NetParser::JobContext *job,
                              mlir::ModuleOp into) {
  RunBuilder builder(*this, file, job, setPoint());
  auto networkOf = [&](StringRef name) {
    return mlir::dyn_cast_or_null<NetworkOp>(
        mlir::SymbolTable::lookupSymbolIn(into, name));
  };
  std::vector<std::string> names;
  collectNames(job, "", names);
  bool wanted = names.empty();
  for (const std::string &name : names)
    wanted |= isWanted(name, runs, options.onlyRuns);
  if (!wanted) {
    if (!job->expr().empty())
      if (NetworkOp network = networkOf(job->expr(0)->getText()))
        giveAxes(network, builder.readAxes());
    return;
  }
  for (const std::string &name : names)
    leftOut.erase(name);
  touched.clear();
  OverrideNote note(*this, job);
  if (!builder.build(into))
    return;
  constexpr size_t maxRanges = 6;
  std::string name = netc::nameOf(job);
  rangesOf[name].assign(touched.begin(), touched.end());
  if (rangesOf[name].size() > maxRanges)
    fail(job, "a run may depend on " + llvm::Twine(maxRanges) +
                  " `between`s at most, this one depends on " +
                  llvm::Twine(rangesOf[name].size()));
  collectExpectations(file, job);
  for (auto step : into.getOps<StepOp>())
    if (step.getSymName() == name || step.getSymName().starts_with(name + "."))
      if (NetworkOp network = networkOf(step.getNetwork())) {
        bool isSized = llvm::any_of(overrides, [&](const Override &each) {
          return !each.isList() && isIn(each.job, job) &&
                 step.getAxes().contains(each.name);
        });
        if (isSized && network.getAxes().empty())
          overridden.insert(network.getSymName());
        giveAxes(network, step.getAxes());
      }
  sweepOf(job);
}

void Elaborator::giveAxes(NetworkOp network, mlir::DictionaryAttr axesOfRun) {
  if (!axesOfRun || !network.getAxes().empty())
    return;
  mlir::NamedAttrList axes(axesOfRun);
  axes.erase("N");
  network.setAxesAttr(axes.getDictionary(context));
}

//===----------------------------------------------------------------------===//
// Sweeps
//===----------------------------------------------------------------------===//

std::vector<std::string> Elaborator::sweepable(NetParser::JobContext *job) {
  std::vector<std::string> names(std::begin(runKeys), std::end(runKeys));
  // What only a job has, jobs in the run may have.
  if (jobsIn(job).empty())
    llvm::erase_if(names, [](StringRef name) {
      return name == "times" || name == "tuning";
    });
  for (auto &[name, entry] : main->names)
    if (ruleCast<NetParser::BindContext>(entry.tree))
      names.push_back(name);
  Value net = job->expr().empty() ? Value() : eval(job->expr(0));
  const BlockDecl *block = nullptr;
  if (auto *function = net.as<Function>())
    block = function->block;
  else if (auto *instance = net.as<std::shared_ptr<Instance>>())
    block = (*instance)->function.block;
  if (block)
    for (const Parameter &setting : parametersOf({block->name, block}).settings)
      names.push_back(setting.name);
  // The free axes of what the steps read.
  std::string run = netc::nameOf(job);
  for (auto step : module->getOps<StepOp>())
    if (step.getSymName() == run || step.getSymName().starts_with(run + "."))
      for (mlir::Value input : step.getBlock().getArguments())
        for (const std::string &axis : shapeOf(input).elements().symbols())
          if (axis != "N")
            names.push_back(axis);
  return names;
}

bool Elaborator::hasRange(Expr *expr) {
  return llvm::any_of(tokensOf(expr), [&](antlr4::Token *token) {
    auto constant = main->names.find(wordOf(token));
    return wordOf(token) == "between" ||
           (constant != main->names.end() && !constant->second.ranges.empty());
  });
}

void Elaborator::failRange(Expr *expr) {
  fail(expr, "a point of a sweep has one value, not what lies `between` two");
}

std::vector<Elaborator::Varied>
Elaborator::pointsOf(NetParser::VariedContext *each,
                     NetParser::JobContext *job) {
  std::string name = each->getStart()->getText();
  std::vector<Varied> points;
  if (llvm::is_contained(writtenKeys, name)) {
    auto *list = ruleCast<NetParser::ListContext>(each->expr());
    if (!list || list->comp()) {
      fail(each->expr(), "what `" + name +
                             "` is varied over is written in brackets: "
                             "`[a, b]`");
      return {};
    }
    for (NetParser::AxisContext *item : list->axis())
      points.push_back({name, {}, item->expr(), job});
  } else {
    llvm::SetVector<Tree *> outer = std::exchange(touched, {});
    auto items = itemsOf(each->expr(), eval(each->expr()));
    bool isRange = !touched.empty();
    touched = std::move(outer);
    if (!items)
      return {};
    if (isRange) {
      failRange(each->expr());
      return {};
    }
    for (Value &value : *items)
      points.push_back({name, std::move(value)});
  }
  if (points.empty())
    fail(each, "`" + name + "` is varied over no value");
  return points;
}

std::optional<Elaborator::Sweep>
Elaborator::sweepOf(NetParser::JobContext *job) {
  Sweep sweep;
  unsigned before = errors;
  auto add = [&](Tree *at, std::vector<Varied> settings) {
    if (settings.size() > options.limits.maxSweepPoints / sweep.points)
      fail(at, "the sweep has more than " +
                   llvm::Twine(options.limits.maxSweepPoints) +
                   " points; `--max-sweep` allows more");
    else
      sweep.points *= settings.size();
    sweep.tree = at;
    sweep.varied.push_back(std::move(settings));
  };
  // What the command line sets is not varied by the file.
  auto isSet = [&](const std::string &name) {
    return llvm::any_of(overrides, [&](const Override &each) {
      return each.job == job && each.name == name;
    });
  };
  for (NetParser::StmtContext *stmt :
       job->body() ? job->body()->stmt()
                   : std::vector<NetParser::StmtContext *>()) {
    auto *tree = ruleCast<NetParser::SweepContext>(stmt);
    if (!tree)
      continue;
    std::vector<std::string> known = sweepable(job);
    for (NetParser::VariedContext *each : tree->varied()) {
      std::string name = each->getStart()->getText();
      std::vector<Varied> settings = pointsOf(each, job);
      if (!llvm::is_contained(known, name))
        fail(each, "there is no key, axis, setting or constant `" + name +
                       "` to vary" + didYouMean(name, known));
      if (llvm::any_of(sweep.varied,
                       [&](auto &other) { return other[0].name == name; }))
        fail(each, "`" + name + "` is varied twice");
      if (!settings.empty() && !isSet(name))
        add(tree, std::move(settings));
    }
  }
  for (const Override &each : overrides) {
    if (!each.job || !each.isList() || !isIn(each.job, job))
      continue;
    std::vector<Varied> settings;
    for (NetParser::ExprContext *value : each.tree->expr()) {
      settings.push_back({each.name, {}, value, each.job, &each});
      if (hasRange(value))
        failRange(value);
    }
    add(each.tree, std::move(settings));
  }
  return errors == before ? std::optional(std::move(sweep)) : std::nullopt;
}

namespace {
/// Names, each once, in the order in which they are found.
struct Names {
  std::vector<std::string> list;
  llvm::StringSet<> known;

  void add(const std::string &name) {
    if (known.insert(name).second)
      list.push_back(name);
  }
  /// Adds those that occur in `tree`.
  void add(antlr4::ParserRuleContext *tree) {
    for (antlr4::Token *token : tokensOf(tree))
      add(token->getText());
  }
};
} // namespace

/// Adds the names that say what a step of `job`, and of the jobs in it, does.
static void addStructure(NetParser::JobContext *job, Names &names) {
  for (NetParser::ExprContext *expr : job->expr())
    names.add(expr);
  if (!job->body())
    return;
  for (NetParser::StmtContext *stmt : job->body()->stmt()) {
    if (auto *inner = ruleCast<NetParser::JobStmtContext>(stmt))
      addStructure(inner->job(), names);
    auto *bind = ruleCast<NetParser::BindContext>(stmt);
    std::string key = bind ? bind->target(0)->getStart()->getText() : "";
    if (llvm::is_contained(structuralKeys, key) || key == "like")
      names.add(bind->expr());
  }
}

/// Adds the names in what the names stand for, and so on.
static void addAllNamed(const FileScope &file, Names &names) {
  for (size_t i = 0; i < names.list.size(); ++i) {
    auto entry = file.names.find(names.list[i]);
    if (entry == file.names.end())
      continue;
    if (auto *job = ruleCast<NetParser::JobContext>(entry->second.tree))
      addStructure(job, names);
    else
      names.add(entry->second.tree);
  }
}

/// The jobs in whose nets a setting of `job` may be: those that it stands in,
/// it, and those in it.
static std::vector<NetParser::JobContext *>
jobsAbout(NetParser::JobContext *job) {
  std::vector<NetParser::JobContext *> jobs;
  for (antlr4::tree::ParseTree *tree = job; tree; tree = tree->parent)
    if (auto *around = ruleCast<NetParser::JobContext>(tree))
      jobs.insert(jobs.begin(), around);
  for (size_t i = jobs.size() - 1; i < jobs.size(); ++i)
    llvm::append_range(jobs, jobsIn(jobs[i]));
  return jobs;
}

bool Elaborator::isStructural(StringRef name, NetParser::JobContext *job) {
  if (llvm::is_contained(structuralKeys, name))
    return true;
  // A setting of the net.
  for (NetParser::JobContext *about : jobsAbout(job)) {
    if (about->expr().empty())
      continue;
    Value net = eval(about->expr(0));
    auto *instance = net.as<std::shared_ptr<Instance>>();
    auto *function = instance ? &(*instance)->function : net.as<Function>();
    if (function && function->block)
      for (const Parameter &setting : parametersOf(*function).settings)
        if (setting.name == name)
          return true;
  }
  // A constant that the text of the net, or of what it uses, names.
  auto constant = main->names.find(name.str());
  if (constant == main->names.end())
    return false;
  Names names;
  addStructure(job, names);
  addAllNamed(*main, names);
  return names.known.contains(name);
}

bool Elaborator::isOverridden(StringRef symbol) {
  if (overridden.contains(symbol))
    return true;
  auto isOfNet = [](const Override &each) { return !each.job; };
  if (llvm::none_of(overrides, isOfNet))
    return false;
  Names names;
  names.add(symbol.str());
  if (NetParser::JobContext *job = jobNamed(symbol))
    addStructure(job, names);
  addAllNamed(*main, names);
  return llvm::any_of(overrides, [&](const Override &each) {
    return isOfNet(each) && names.known.contains(each.owner);
  });
}

SweepPoint Elaborator::elaborateAt(const Point &point,
                                   NetParser::JobContext *job, Tree *at,
                                   bool isFacts) {
  SweepPoint result;
  std::string place;
  for (const Varied &each : point) {
    std::string text = each.text ? sourceText(each.text) : textOf(each.value);
    // `critic.batch`, of a job.
    std::string name = each.name;
    if (each.by && each.job != job)
      name = StringRef(each.by->owner).split('.').second.str() + "." + name;
    result.values.push_back({name, text});
    place += (place.empty() ? "`" : ", `") + name + " = " + text + "`";
  }
  // A top-level constant of that name takes the point's value.
  std::vector<std::pair<TopLevel *, TopLevel>> saved;
  for (auto &[name, entry] : main->names) {
    saved.push_back({&entry, entry});
    entry.state = TopLevel::Untouched;
    for (const Varied &each : point)
      if (each.name == name && !each.text &&
          ruleCast<NetParser::BindContext>(entry.tree)) {
        entry.state = TopLevel::Done;
        entry.isPerGraph = false;
        entry.ranges.clear();
        entry.value = each.value;
      }
  }
  result.module = mlir::ModuleOp::create(locationOf(at));
  result.isFacts = isFacts;
  std::string atEnd = "at an end of a `between`";
  if (ends.empty())
    sweepNote = {locationOf(at), "at the point " + place + " of this sweep"};
  else if (point.empty())
    sweepNote = {locationOf(at), atEnd};
  else
    sweepNote = {locationOf(at),
                 "at the point " + place + " of the sweep, " + atEnd};
  Point all = setPoint();
  llvm::append_range(all, point);
  RunBuilder(*this, *main, job, all, nullptr, isFacts).build(*result.module);
  sweepNote = {};
  for (auto &[entry, old] : saved)
    *entry = old;
  return result;
}

NetParser::JobContext *Elaborator::jobNamed(StringRef run) {
  for (NetParser::ItemContext *item : main->source->tree()->item())
    if (auto *stmt = ruleCast<NetParser::JobStmtContext>(item->stmt());
        stmt && netc::nameOf(stmt->job()) == run)
      return stmt->job();
  return nullptr;
}

void Elaborator::atEnds(llvm::ArrayRef<Tree *> ranges,
                        llvm::function_ref<void()> function) {
  for (size_t corner = 0; corner < size_t(1) << ranges.size(); ++corner) {
    for (auto [i, range] : llvm::enumerate(ranges))
      ends[range] = corner >> i & 1;
    function();
  }
  ends.clear();
}

std::vector<SweepPoint> Elaborator::cornersAt(const Point &point,
                                              NetParser::JobContext *job) {
  std::vector<SweepPoint> corners;
  const std::vector<Tree *> &ranges = rangesOf[netc::nameOf(job)];
  if (!ranges.empty())
    atEnds(ranges, [&] {
      corners.push_back(
          elaborateAt(point, job, ranges.front(), /*isFacts=*/true));
    });
  return corners;
}

std::optional<std::vector<SweepPoint>> Elaborator::corners(StringRef run) {
  NetParser::JobContext *job = jobNamed(run);
  if (!job)
    return std::vector<SweepPoint>();
  TopScope top(*this, *main);
  unsigned before = errors;
  std::vector<SweepPoint> points = cornersAt({}, job);
  return errors == before ? std::optional(std::move(points)) : std::nullopt;
}

std::optional<std::vector<SweepPoint>> Elaborator::sweep(StringRef run) {
  NetParser::JobContext *job = jobNamed(run);
  if (!job)
    return std::vector<SweepPoint>();
  TopScope top(*this, *main);
  std::optional<Sweep> sweep = sweepOf(job);
  if (!sweep)
    return std::nullopt;
  std::vector<SweepPoint> points;
  if (!sweep->tree)
    return points;
  unsigned before = errors;
  bool isFacts = llvm::none_of(sweep->varied, [&](auto &settings) {
    const Varied &first = settings.front();
    return isStructural(first.name, first.job ? first.job : job);
  });
  for (size_t index = 0; index < sweep->points; ++index) {
    if (options.onPoint)
      options.onPoint(run, index, sweep->points);
    Point point;
    size_t rest = index, weight = sweep->points;
    for (const std::vector<Varied> &settings : sweep->varied) {
      weight /= settings.size();
      point.push_back(settings[rest / weight]);
      rest %= weight;
    }
    points.push_back(elaborateAt(point, job, sweep->tree, isFacts));
    if (errors == before)
      points.back().corners = cornersAt(point, job);
  }
  return errors == before ? std::optional(std::move(points)) : std::nullopt;
}
