// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Datasets, hardware sections, and `train`: a run becomes a net.step.

#include "dialect/Spelling.h"
#include "lib/Frontend/SweepPlanner.h"
#include "lib/Hardware/NumberFormat.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Sections
//===----------------------------------------------------------------------===//

static std::vector<std::string> namesOf(llvm::ArrayRef<const char *> keys) {
  return {keys.begin(), keys.end()};
}

/// Whether a number without symbols is above 0 and in this unit.
static bool isPositive(const Value &value, Dimension dimension) {
  std::optional<Number> number = numberOf(value);
  std::optional<Rational> constant =
      number && !number->real ? number->exact.constant() : std::nullopt;
  return constant && *constant > Rational(0) && number->dimension == dimension;
}

/// Whether a value is of this unit, or unknown.
static bool mayBeIn(const Value &value, Dimension dimension) {
  std::optional<Number> number = numberOf(value);
  return value.isUnknown() || (number && number->dimension == dimension);
}

std::optional<Message> Program::mistakeInDataset(const SectionEntry &entry) {
  const Value &value = entry.value;
  if (value.isUnknown())
    return std::nullopt;
  std::optional<Number> number = numberOf(value);
  if (entry.name == kBatchAxis)
    return error::BatchInDataset();
  if (llvm::is_contained(datasetKeys, entry.name)) {
    Dimension::Base unit =
        entry.name == "tokens" ? Dimension::Token : Dimension::Example;
    if (isPositive(value, {}) || isPositive(value, unit))
      return std::nullopt;
    return error::DatasetNotPositive(entry.name,
                                     number ? ", not " + textOf(value) : "");
  }
  bool isSize = number && !number->real && number->exact.constant() &&
                isUnitOfSizes(number->dimension);
  if (value.is<TypeValue>() || value.is<Distribution>() || isSize)
    return std::nullopt;
  return error::DatasetField(entry.name, number ? textOf(value) : kindOf(value),
                             e.didYouMean(entry.name, namesOf(datasetKeys)));
}

std::optional<Message> netc::mistakeInPeak(const Value &value) {
  auto isRate = [](const Value &value) {
    std::optional<Number> rate = numberOf(value);
    return mayBeIn(value, Dimension(Dimension::Flop) / Dimension::Time) &&
           (!rate || (!rate->real && rate->exact.isConstant()));
  };
  auto *record = value.as<Record>();
  if (!record)
    return isRate(value)
               ? std::nullopt
               : std::optional<Message>(error::PeakNoRate(textOf(value)));
  for (auto &[format, rate] : *record->fields)
    if (!parseNumberFormat(format))
      return error::UnknownFormat(format,
                                  netc::didYouMean(format, formatNames()));
    else if (!isRate(rate))
      return error::PeakNoRate(textOf(rate));
  return std::nullopt;
}

std::optional<Message> Program::mistakeInHardware(const SectionEntry &entry) {
  const auto &[name, value, at] = entry;
  if (!llvm::is_contained(hardwareKeys, name))
    return error::UnknownHardwareKey(
        name, e.meantOrAll(name, namesOf(hardwareKeys), "it has"));
  if (value.isUnknown())
    return std::nullopt;
  Dimension rateOfData = Dimension(Dimension::Data) / Dimension::Time;
  auto takes = [&name = name](const Value &value, StringRef expected) {
    return error::WrongKind(name, expected,
                            numberOf(value) ? textOf(value) : kindOf(value));
  };
  auto unless = [&, &value = value](bool fits, StringRef expected) {
    return fits ? std::nullopt : std::optional<Message>(takes(value, expected));
  };
  if (name == "memory")
    return unless(isPositive(value, Dimension::Data), "bytes, such as `80 GB`");
  if (name == "bandwidth")
    return unless(isPositive(value, rateOfData), "a rate such as `900 GB/s`");
  if (name == "node") {
    std::optional<Number> count = numberOf(value);
    return unless(
        (isPositive(value, {}) || isPositive(value, Dimension::Device)) &&
            (!count || count->exact.toInt64()),
        "the number of devices in one, such as `8`");
  }
  if (name == "power")
    return unless(isPositive(value, {}), "watts without a unit, as `300`");
  if (name != "link")
    return mistakeInPeak(value);
  auto *record = value.as<Record>();
  if (!record)
    return unless(isPositive(value, rateOfData), "rates such as `600 GB/s`");
  for (auto &[kind, rate] : *record->fields)
    if (!rate.isUnknown() && !isPositive(rate, rateOfData))
      return takes(rate, "rates such as `600 GB/s`");
  return std::nullopt;
}

std::vector<SectionEntry> Program::entriesOf(const Section &section,
                                             bool areMiddle) {
  NetParser::SectionContext *tree = section.tree;
  bool isDataset = tree->kind->getText() == "dataset";
  Scope parameters;
  if (section.arguments)
    for (auto &[name, value] : *section.arguments)
      parameters.names[name] = value;
  Evaluator::TopScope top(e, *section.file);
  Scope &scope = top.scope;
  scope.outer = &parameters;
  std::vector<SectionEntry> entries;
  for (NetParser::StmtContext *stmt : tree->body()->stmt()) {
    auto *bind = ruleCast<NetParser::BindContext>(stmt);
    if (!bind) {
      e.fail(stmt, isDataset ? error::NotInDataset : error::NotInHardware);
      continue;
    }
    bool isMiddle = areMiddle;
    Value value = e.eval(bind->expr(), isMiddle);
    for (NetParser::TargetContext *target : bind->target()) {
      SectionEntry entry{target->getStart()->getText(), value, bind};
      bool isSize =
          isDataset && entry.name != "examples" && entry.name != "tokens";
      if (auto *number = std::get_if<Number>(&entry.value.data);
          number && isMiddle && isSize)
        number->exact = number->exact.ceil();
      std::optional<Message> mistake =
          isDataset ? mistakeInDataset(entry) : mistakeInHardware(entry);
      if (auto *number = std::get_if<Number>(&entry.value.data);
          number && isDataset && !isSize && !isMiddle && !mistake &&
          !number->exact.constant()->isInteger())
        mistake = error::DatasetNotWhole(entry.name, textOf(value));
      if (scope.names.count(entry.name))
        mistake = error::DuplicateKey(entry.name);
      if (mistake)
        entry.value = e.fail(bind, *mistake);
      scope.names[entry.name] = entry.value;
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

void Program::checkSection(const Section &section) {
  NetParser::SectionContext *tree = section.tree;
  std::string name = tree->ID()->getText();
  if (tree->kind->getText() == "hardware") {
    // A device name must be one that `8 Card` can use as a unit.
    std::variant<Literal, Message> read = parseQuantity("8", name);
    auto *literal = std::get_if<Literal>(&read);
    if (!literal || literal->device != name)
      e.fail(tree, error::DeviceName, name);
  }
  if (!tree->params())
    entriesOf(section);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Collects the names of a job and of the jobs in it: `run`, `run.critic`.
static void collectNames(NetParser::JobContext *job, const std::string &around,
                         std::vector<std::string> &names) {
  if (!job->ID() && job->expr().empty())
    return;
  names.push_back(around + netc::nameOf(job));
  for (NetParser::JobContext *inner : jobsIn(job))
    collectNames(inner, around + netc::nameOf(job) + ".", names);
}

void Program::collectExpectations(FileScope &file, NetParser::JobContext *job) {
  if (!job->body())
    return;
  for (NetParser::StmtContext *stmt : job->body()->stmt()) {
    if (auto *expect = ruleCast<NetParser::ExpectContext>(stmt))
      expectations.push_back({expect, &file});
    else if (auto *inner = ruleCast<NetParser::JobStmtContext>(stmt))
      collectExpectations(file, inner->job());
  }
}

void Program::elaborateRun(FileScope &file, NetParser::JobContext *job,
                           mlir::ModuleOp into) {
  RunBuilder run(e, file, job, e.commandLine.setPoint());
  auto networkOf = [&](StringRef name) {
    return mlir::dyn_cast_or_null<NetworkOp>(operationNamed(name));
  };
  std::vector<std::string> names;
  collectNames(job, "", names);
  bool wanted = names.empty();
  for (const std::string &name : names)
    wanted |= isWanted(name, runs, e.options.onlyRuns);
  if (!wanted) {
    if (!job->expr().empty())
      if (NetworkOp network = networkOf(job->expr(0)->getText()))
        giveAxes(network, run.readAxes());
    return;
  }
  for (const std::string &name : names)
    leftOut.erase(name);
  ErrorNote note = e.commandLine.overrideNote(job);
  std::vector<Tree *> &ofRun = e.ranges.ofRun(netc::nameOf(job));
  mlir::Block::OpListType &ops = into.getBody()->getOperations();
  mlir::Operation *before = ops.empty() ? nullptr : &ops.back();
  {
    Ranges::Reads reads(e.ranges);
    if (!run.build(into))
      return;
    ofRun = reads.all().vec();
  }
  constexpr size_t maxRanges = 6;
  if (ofRun.size() > maxRanges)
    e.fail(job, error::TooManyRanges, maxRanges, ofRun.size());
  collectExpectations(file, job);
  auto made = before ? std::next(before->getIterator()) : ops.begin();
  for (mlir::Operation &op : llvm::make_range(made, ops.end())) {
    operations[mlir::SymbolTable::getSymbolName(&op)] = &op;
    auto step = mlir::dyn_cast<StepOp>(op);
    NetworkOp network = step ? networkOf(step.getNetwork()) : NetworkOp();
    if (!network)
      continue;
    bool isSized =
        llvm::any_of(e.commandLine.overrides, [&](const Override &each) {
          return !each.isList() && isIn(each.job, job) &&
                 step.getAxes().contains(each.name);
        });
    if (isSized && network.getAxes().empty())
      e.commandLine.overridden.insert(network.getSymName());
    giveAxes(network, step.getAxes());
  }
  SweepPlanner(e).check(job);
}

void Program::giveAxes(NetworkOp network, mlir::DictionaryAttr axesOfRun) {
  if (!axesOfRun || !network.getAxes().empty())
    return;
  mlir::NamedAttrList axes(axesOfRun);
  axes.erase(kBatchAxis);
  network.setAxesAttr(axes.getDictionary(e.context));
}
