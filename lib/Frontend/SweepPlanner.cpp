// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A run with a sweep is elaborated at each point, and a run with ranges at each
// combination of their ends.

#include "lib/Frontend/SweepPlanner.h"
#include "lib/Frontend/Mentions.h"

using namespace netc;
using llvm::StringRef;

std::vector<std::string> SweepPlanner::sweepable(NetParser::JobContext *job) {
  std::vector<std::string> names(std::begin(runKeys), std::end(runKeys));
  // Only jobs have these keys.
  if (jobsIn(job).empty())
    llvm::erase_if(names, [](StringRef name) {
      return name == "times" || name == "tuning";
    });
  for (auto &[name, entry] : e.files.main->names)
    if (ruleCast<NetParser::BindContext>(entry.tree))
      names.push_back(name);
  Value net = job->expr().empty() ? Value() : e.eval(job->expr(0));
  const BlockDecl *block = nullptr;
  if (auto *function = net.as<Function>())
    block = function->block;
  else if (auto *instance = net.as<std::shared_ptr<Instance>>())
    block = (*instance)->function.block;
  if (block)
    for (const Parameter &setting :
         e.calls.parametersOf({block->name, block}).settings)
      names.push_back(setting.name);
  // The free axes of the inputs of the steps.
  std::string run = netc::nameOf(job);
  for (auto step : e.module->getOps<StepOp>())
    if (step.getSymName() == run || step.getSymName().starts_with(run + "."))
      for (mlir::Value input : step.getBlock().getArguments())
        for (const std::string &axis : shapeOf(input).elements().symbols())
          if (axis != kBatchAxis)
            names.push_back(axis);
  return names;
}

void SweepPlanner::check(NetParser::JobContext *job) { sweepOf(job); }

bool SweepPlanner::hasRange(Expr *expr) {
  return llvm::any_of(tokensOf(expr), [&](antlr4::Token *token) {
    auto constant = e.files.main->names.find(e.wordOf(token));
    return e.wordOf(token) == "between" ||
           (constant != e.files.main->names.end() &&
            !constant->second.ranges.empty());
  });
}

void SweepPlanner::failRange(Expr *expr) { e.fail(expr, error::RangeInSweep); }

std::vector<Varied> SweepPlanner::pointsOf(NetParser::VariedContext *each,
                                           NetParser::JobContext *job) {
  std::string name = each->getStart()->getText();
  std::vector<Varied> points;
  auto constant = e.files.main->names.find(name);
  auto *list = ruleCast<NetParser::ListContext>(each->expr());
  bool isWritten =
      list && !list->comp() && llvm::all_of(list->axis(), [](auto *item) {
        return item->value && !item->label;
      });
  if (isWritten && constant != e.files.main->names.end() &&
      constant->second.isPrecision) {
    for (NetParser::AxisContext *item : list->axis())
      points.push_back({name, e.precisions.eval(item->value)});
  } else if (llvm::is_contained(writtenKeys, name)) {
    if (!isWritten) {
      e.fail(each->expr(), error::SweepWithoutBrackets, name);
      return {};
    }
    for (NetParser::AxisContext *item : list->axis())
      points.push_back({name, {}, item->value, job});
  } else {
    std::vector<Tree *> read;
    auto items = e.itemsOf(each->expr(), e.eval(each->expr(), read));
    if (!items)
      return {};
    if (!read.empty()) {
      failRange(each->expr());
      return {};
    }
    for (Value &value : *items)
      points.push_back({name, std::move(value)});
  }
  if (points.empty())
    e.fail(each, error::SweepOverNothing, name);
  return points;
}

std::optional<SweepPlanner::Sweep>
SweepPlanner::sweepOf(NetParser::JobContext *job) {
  Sweep sweep;
  unsigned before = e.errorCount();
  auto add = [&](Tree *at, std::vector<Varied> settings) {
    if (settings.size() > e.options.limits.maxSweepPoints / sweep.points)
      e.fail(at, error::SweepTooLarge, e.options.limits.maxSweepPoints);
    else
      sweep.points *= settings.size();
    sweep.tree = at;
    sweep.varied.push_back(std::move(settings));
  };
  // A sweep cannot vary a key that the command line sets.
  auto isSet = [&](const std::string &name) {
    return llvm::any_of(e.commandLine.overrides, [&](const Override &each) {
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
        e.fail(each, error::SweepUnknown, name,
               e.meantOrAll(name, known, "there are"));
      if (llvm::any_of(sweep.varied,
                       [&](auto &other) { return other[0].name == name; }))
        e.fail(each, error::SweptTwice, name);
      if (!settings.empty() && !isSet(name))
        add(tree, std::move(settings));
    }
  }
  for (const Override &each : e.commandLine.overrides) {
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
  return e.errorCount() == before ? std::optional(std::move(sweep))
                                  : std::nullopt;
}

/// The jobs whose nets may have a setting that `job` gives: the jobs around it,
/// itself, and the jobs in it.
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

bool SweepPlanner::isStructural(StringRef name, NetParser::JobContext *job) {
  if (llvm::is_contained(structuralKeys, name))
    return true;
  // A setting of the net may change the step.
  for (NetParser::JobContext *about : jobsAbout(job)) {
    if (about->expr().empty())
      continue;
    Value net = e.eval(about->expr(0));
    auto *instance = net.as<std::shared_ptr<Instance>>();
    auto *function = instance ? &(*instance)->function : net.as<Function>();
    if (function && function->block)
      for (const Parameter &setting : e.calls.parametersOf(*function).settings)
        if (setting.name == name)
          return true;
  }
  // So may a constant that the definition of the net uses, directly or
  // indirectly.
  if (!e.files.main->names.count(name.str()))
    return false;
  Mentions mentions;
  mentions.addStructure(job);
  mentions.follow(*e.files.main);
  return mentions.contains(name);
}

SweepPoint SweepPlanner::elaborateAt(const Point &point,
                                     NetParser::JobContext *job, Tree *at,
                                     bool isFacts) {
  SweepPoint result;
  std::string place;
  for (const Varied &each : point) {
    std::string text = each.text ? sourceText(each.text) : textOf(each.value);
    // Name a key of a job by `critic.batch`.
    std::string name = each.name;
    if (each.by && each.job != job)
      name = StringRef(each.by->owner).split('.').second.str() + "." + name;
    result.values.push_back({name, text});
    place += (place.empty() ? "`" : ", `") + name + " = " + text + "`";
  }
  // Set top-level constants to the values of the point.
  Recomputation anew(*e.files.main, [](const TopLevel &) { return true; });
  for (auto &[name, entry] : e.files.main->names)
    for (const Varied &each : point)
      if (each.name == name && !each.text &&
          ruleCast<NetParser::BindContext>(entry.tree)) {
        entry.state = TopLevel::Done;
        entry.isPerGraph = false;
        entry.ranges.clear();
        entry.value = each.value;
      }
  result.module = mlir::ModuleOp::create(e.locationOf(at));
  result.isFacts = isFacts;
  std::string note = "at an end of a `between`";
  if (!e.ranges.areAtEnds())
    note = "at the point " + place + " of this sweep";
  else if (!point.empty())
    note = "at the point " + place + " of the sweep, " + note;
  ErrorNote noted(e, e.locationOf(at), note);
  Point all = e.commandLine.setPoint();
  llvm::append_range(all, point);
  RunBuilder(e, *e.files.main, job, all, nullptr, isFacts)
      .build(*result.module);
  return result;
}

std::vector<SweepPoint> SweepPlanner::cornersAt(const Point &point,
                                                NetParser::JobContext *job) {
  std::vector<SweepPoint> corners;
  const std::vector<Tree *> &ranges = e.ranges.ofRun(netc::nameOf(job));
  if (!ranges.empty())
    e.ranges.atEnds(ranges, [&] {
      corners.push_back(
          elaborateAt(point, job, ranges.front(), /*isFacts=*/true));
    });
  return corners;
}

std::optional<std::vector<SweepPoint>> SweepPlanner::corners(StringRef run) {
  NetParser::JobContext *job = e.program.jobNamed(run);
  if (!job)
    return std::vector<SweepPoint>();
  Evaluator::TopScope top(e, *e.files.main);
  unsigned before = e.errorCount();
  std::vector<SweepPoint> points = cornersAt({}, job);
  return e.errorCount() == before ? std::optional(std::move(points))
                                  : std::nullopt;
}

std::vector<SweepPoint> SweepPlanner::elaborateAll(const Sweep &sweep,
                                                   NetParser::JobContext *job,
                                                   bool isFacts,
                                                   bool hasCorners) {
  std::vector<SweepPoint> points;
  unsigned before = e.errorCount();
  for (size_t index = 0; index < sweep.points; ++index) {
    if (e.options.onPoint)
      e.options.onPoint(netc::nameOf(job), index, sweep.points);
    Point point;
    size_t rest = index, weight = sweep.points;
    for (const std::vector<Varied> &settings : sweep.varied) {
      weight /= settings.size();
      point.push_back(settings[rest / weight]);
      rest %= weight;
    }
    points.push_back(elaborateAt(point, job, sweep.tree, isFacts));
    if (hasCorners && e.errorCount() == before)
      points.back().corners = cornersAt(point, job);
  }
  return points;
}

std::optional<std::vector<SweepPoint>> SweepPlanner::elaborateSweep(
    StringRef run,
    llvm::function_ref<std::vector<SweepPoint>(Sweep &,
                                               NetParser::JobContext *)>
        elaborate) {
  NetParser::JobContext *job = e.program.jobNamed(run);
  if (!job)
    return std::vector<SweepPoint>();
  Evaluator::TopScope top(e, *e.files.main);
  std::optional<Sweep> sweep = sweepOf(job);
  if (!sweep)
    return std::nullopt;
  if (!sweep->tree)
    return std::vector<SweepPoint>();
  unsigned before = e.errorCount();
  std::vector<SweepPoint> points = elaborate(*sweep, job);
  return e.errorCount() == before ? std::optional(std::move(points))
                                  : std::nullopt;
}

std::optional<std::vector<SweepPoint>> SweepPlanner::points(StringRef run) {
  return elaborateSweep(run, [&](Sweep &sweep, NetParser::JobContext *job) {
    bool isFacts = llvm::none_of(sweep.varied, [&](auto &settings) {
      const Varied &first = settings.front();
      return isStructural(first.name, first.job ? first.job : job);
    });
    return elaborateAll(sweep, job, isFacts, /*hasCorners=*/true);
  });
}

std::optional<std::vector<SweepPoint>>
SweepPlanner::stepsAtPoints(StringRef run, bool variesBatch) {
  return elaborateSweep(run, [&](Sweep &sweep, NetParser::JobContext *job) {
    llvm::erase_if(sweep.varied, [&](const std::vector<Varied> &settings) {
      StringRef name = settings.front().name;
      bool isBatch = name == "batch";
      bool isKept = isBatch ? variesBatch
                            : !llvm::is_contained(runKeys, name) ||
                                  llvm::is_contained(structuralKeys, name);
      if (!isKept) {
        sweep.points /= settings.size();
        if (!isBatch)
          mlir::emitWarning(e.locationOf(sweep.tree))
              << "`" << name
              << "` changes no step, so it is not varied where steps are run";
      }
      return !isKept;
    });
    return sweep.varied.empty() ? std::vector<SweepPoint>()
                                : elaborateAll(sweep, job, /*isFacts=*/false,
                                               /*hasCorners=*/false);
  });
}
