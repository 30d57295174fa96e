// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// `train`: a run becomes a net.step; its sweep, one for each point.

#include "lib/Frontend/RunBuilder.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

mlir::Operation *Elaborator::elaborateRun(FileScope &file,
                                          NetParser::JobContext *job,
                                          mlir::ModuleOp into,
                                          const Point &point) {
  if (job->kind->getText() == "infer") {
    fail(job, "`infer` is not there yet");
    return nullptr;
  }
  if (job->expr().empty()) {
    fail(
        job,
        "a `train` at the top level says what it trains: `train Net on Data as "
        "name { .. }`");
    return nullptr;
  }
  StepOp step = RunBuilder(*this, file, job, point).build(into);
  if (!step || !point.empty())
    return step;
  if (job->body())
    for (NetParser::StmtContext *stmt : job->body()->stmt())
      if (auto *expect = ruleCast<NetParser::ExpectContext>(stmt))
        expectations.push_back({expect, &file});
  // The network is reported at the sizes that its dataset gives.
  auto network = mlir::dyn_cast_or_null<NetworkOp>(
      mlir::SymbolTable::lookupSymbolIn(into, step.getNetwork()));
  if (network && network.getAxes().empty()) {
    mlir::NamedAttrList axes(step.getAxes());
    axes.erase("N");
    network.setAxesAttr(axes.getDictionary(context));
  }
  return step;
}

std::vector<std::string> Elaborator::sweepable(NetParser::JobContext *job) {
  std::vector<std::string> names(std::begin(runKeys), std::end(runKeys));
  for (auto &[name, entry] : main->names)
    if (ruleCast<NetParser::BindContext>(entry.tree))
      names.push_back(name);
  Value net = eval(job->expr(0));
  const BlockDecl *block = nullptr;
  if (auto *function = net.as<Function>())
    block = function->block;
  else if (auto *instance = net.as<std::shared_ptr<Instance>>())
    block = (*instance)->function.block;
  if (block)
    for (const Parameter &setting : parametersOf({block->name, block}).settings)
      names.push_back(setting.name);
  // The free axes that the step was elaborated with.
  auto step = mlir::dyn_cast_or_null<StepOp>(
      mlir::SymbolTable::lookupSymbolIn(*module, job->ID()->getText()));
  if (step)
    for (mlir::NamedAttribute axis : step.getAxes())
      if (axis.getName() != "N")
        names.push_back(axis.getName().str());
  return names;
}

std::optional<std::vector<SweepPoint>> Elaborator::sweep(StringRef run) {
  std::vector<SweepPoint> points;
  auto entry = main->names.find(run.str());
  auto *job = entry == main->names.end()
                  ? nullptr
                  : ruleCast<NetParser::JobContext>(entry->second.tree);
  if (!job || !job->body())
    return points;
  Scope scope;
  Frame top;
  top.file = main;
  top.scope = &scope;
  Frame *outer = std::exchange(frame, &top);
  auto leave = llvm::make_scope_exit([&] { frame = outer; });

  std::vector<std::pair<std::string, std::vector<Value>>> varied;
  size_t total = 1;
  NetParser::SweepContext *tree = nullptr;
  for (NetParser::StmtContext *stmt : job->body()->stmt()) {
    auto *sweep = ruleCast<NetParser::SweepContext>(stmt);
    if (!sweep)
      continue;
    tree = sweep;
    for (NetParser::EachContext *each : sweep->each()) {
      std::optional<std::vector<Value>> values =
          itemsOf(each->expr(), eval(each->expr()));
      if (!values)
        return std::nullopt;
      std::string name = each->ID()->getText();
      std::vector<std::string> known = sweepable(job);
      if (!llvm::is_contained(known, name)) {
        fail(each, "there is no key, axis, setting or constant `" + name +
                       "` to vary" + didYouMean(name, known));
        return std::nullopt;
      }
      if (llvm::any_of(varied, [&](auto &v) { return v.first == name; })) {
        fail(each, "`" + name + "` is varied twice");
        return std::nullopt;
      }
      if (values->empty()) {
        fail(each, "`" + name + "` is varied over no value");
        return std::nullopt;
      }
      if (values->size() > options.limits.maxSweepPoints / total) {
        fail(sweep, "the sweep has more than " +
                        llvm::Twine(options.limits.maxSweepPoints) +
                        " points; `--max-sweep` allows more");
        return std::nullopt;
      }
      total *= values->size();
      varied.push_back({each->ID()->getText(), std::move(*values)});
    }
  }
  if (!tree)
    return points;
  for (size_t index = 0; index < total; ++index) {
    Point point;
    SweepPoint result;
    size_t rest = index, weight = total;
    for (auto &[name, values] : varied) {
      weight /= values.size();
      point.push_back({name, values[rest / weight]});
      rest %= weight;
      result.values.push_back({name, textOf(point.back().second)});
    }
    unsigned before = errors;
    // A top-level constant of that name takes the point's value.
    std::vector<std::pair<TopLevel *, TopLevel>> saved;
    for (auto &[name, entry] : main->names)
      saved.push_back({&entry, entry});
    for (auto &[name, entry] : main->names) {
      entry.state = TopLevel::Untouched;
      for (auto &[key, value] : point)
        if (key == name && ruleCast<NetParser::BindContext>(entry.tree)) {
          entry.state = TopLevel::Done;
          entry.isPerGraph = false;
          entry.value = value;
        }
    }
    result.module = mlir::ModuleOp::create(locationOf(tree));
    elaborateRun(*main, job, *result.module, point);
    for (auto &[entry, old] : saved)
      *entry = old;
    if (errors != before)
      return std::nullopt;
    points.push_back(std::move(result));
  }
  return points;
}
