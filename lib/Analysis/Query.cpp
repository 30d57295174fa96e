// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/Query.h"

#include "dialect/Opaque.h"
#include "lib/Analysis/QueryPath.h"
#include "llvm/ADT/StringExtras.h"

#include <functional>

using namespace netc;
using llvm::ArrayRef;
using llvm::StringRef;

using Answer = std::variant<Quantity, Message>;

/// The answer with a figure, which must be a number.
static Answer number(const Polynomial &value, StringRef unit) {
  if (!value.isValid())
    return error::OutOfRange();
  if (std::optional<Rational> constant = value.constant())
    return Quantity{*constant, unit};
  for (const std::string &symbol : value.symbols())
    if (StringRef(symbol).starts_with(unknownCost))
      return error::OpaqueCost();
  return error::FigureOfFreeSize(value.symbols().front(), value.str());
}

/// The answer at the end of a path; anything after it is an error.
static Answer last(QueryPath &path, const Polynomial &value, StringRef unit) {
  return path.atEnd() ? number(value, unit) : Answer(path.complain());
}

static std::optional<StringRef> takePartOfCost(QueryPath &path) {
  return path.take({"matmul", "other", "transcendental", "total"});
}

static Answer answerCost(QueryPath &path, const Cost &cost,
                         std::optional<StringRef> part) {
  return last(path,
              part == "other"            ? cost.other
              : part == "transcendental" ? cost.transcendental
              : part == "total"          ? cost.total()
                                         : cost.matmul,
              "FLOP");
}

static Answer answerCost(QueryPath &path, const Cost &cost) {
  return answerCost(path, cost, takePartOfCost(path));
}

//===----------------------------------------------------------------------===//
// Networks
//===----------------------------------------------------------------------===//

/// The part with this path, or an error about the first component that does not
/// exist.
static std::variant<const Part *, Message>
findPart(const PartTree &tree, StringRef owner, StringRef path) {
  auto [part, rest] = tree.descend(path);
  if (rest.empty())
    return part;
  StringRef name = rest.split('.').first;
  std::vector<StringRef> names;
  for (unsigned child : part->children)
    names.push_back(tree.parts[child].name());
  std::string hint = didYouMean(name, names);
  if (name.empty()) {
    name = rest;
    hint = "; a part is one copy, as in `layer[0]`, not a range";
  } else if (names.empty()) {
    hint = "; it is not made of parts";
  } else if (hint.empty() && names.size() <= 8) {
    hint = "; its parts are `" + llvm::join(names, "`, `") + "`";
  }
  return error::UnknownPart(part->path.empty() ? owner : part->path, name,
                            hint);
}

std::variant<std::vector<const Part *>, Message>
netc::findParts(const PartTree &tree, StringRef owner, const Query &query) {
  std::vector<StringRef> names(query.parts.begin(), query.parts.end());
  if (names.empty())
    names.push_back("");
  auto isIn = [](StringRef part, StringRef whole) {
    return part.consume_front(whole) && (part.empty() || part[0] == '.');
  };
  for (auto [i, one] : llvm::enumerate(names))
    for (StringRef other : llvm::ArrayRef(names).drop_front(i + 1))
      if (isIn(one, other) || isIn(other, one))
        return one == other ? error::PartTwice(one)
                            : error::PartInPart(one, other);
  std::vector<const Part *> parts;
  for (StringRef name : names) {
    std::string separator = query.part.empty() || name.empty() ? "" : ".";
    auto found = findPart(tree, owner,
                          (query.part + llvm::Twine(separator) + name).str());
    if (auto *message = std::get_if<Message>(&found))
      return *message;
    parts.push_back(std::get<const Part *>(found));
  }
  return parts;
}

/// The sum over the parts of a query.
static std::variant<Figures, Message>
figuresOf(const PartTree &tree, StringRef owner, const Query &query) {
  auto parts = findParts(tree, owner, query);
  if (auto *message = std::get_if<Message>(&parts))
    return *message;
  Figures sum;
  for (const Part *part : std::get<0>(parts))
    sum += part->figures;
  return sum;
}

static Answer answerFigures(QueryPath &path, const Figures &figures) {
  if (path.take({"params"})) {
    std::optional<StringRef> which =
        path.take({"trainable", "frozen", "active"});
    return last(path,
                which == "trainable" ? figures.trainable
                : which == "frozen"  ? figures.parameters - figures.trainable
                : which == "active"  ? figures.parameters - figures.idle
                                     : figures.parameters,
                "");
  }
  if (path.take({"forward"}))
    return answerCost(path, figures[Phase::Forward]);
  if (path.take({"backward"})) {
    std::optional<StringRef> which = path.take({"input", "weight"});
    return answerCost(path, which == "input"    ? figures[Phase::InputGradient]
                            : which == "weight" ? figures[Phase::WeightGradient]
                                                : figures.backward());
  }
  if (path.take({"activations"}))
    return last(path, figures.activations, "bytes");
  return path.complain();
}

Answer netc::answer(const Network &network, const Query &query) {
  auto sum = figuresOf(network.parts, network.name(), query);
  if (auto *message = std::get_if<Message>(&sum))
    return *message;
  QueryPath path(query.part.empty() ? network.name() : query.part,
                 query.members);
  return answerFigures(path, std::get<Figures>(sum));
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

namespace {
/// Answers a query about a run.
class RunAnswer {
public:
  RunAnswer(const Run &run, const Query &query)
      : run(run), query(query), path(run.name(), query.members) {}

  Answer find() {
    llvm::SmallVector<StringRef> jobs;
    for (const Run &job : run.jobs)
      jobs.push_back(job.shortName());
    if (std::optional<StringRef> name = path.take(jobs)) {
      Query rest = query;
      rest.members = query.members.drop_front();
      return answer(run.jobs[llvm::find(jobs, *name) - jobs.begin()], rest);
    }
    if (path.take({"steps"}))
      return known("steps", run.steps, "steps");
    if (path.take({"batch"}))
      return known("batch", run.batch, "examples");
    if (path.take({"examples"}))
      return known("examples", run.examples, "examples");
    if (path.take({"tokens"}))
      return known("tokens", run.tokens, "tokens");
    if (path.take({"epochs"}))
      return known("epochs", run.epochs, "epochs");
    if (path.take({"step"}))
      return run.hasStep() ? cost(false) : hasNoStep();
    if (path.take({"compute"})) {
      if (path.take({"by_time"}))
        return finish(byTime(), "FLOP");
      if (path.take({"rule_of_three"}))
        return finish(need("duration", run.ruleOfThree), "FLOP");
      return cost(true);
    }
    if (path.take({"memory_per_device"}))
      return memory();
    if (path.take({"bytes"}))
      return run.hasStep() ? traffic() : hasNoStep();
    if (path.take({"time"}))
      return finish(time(), "s");
    if (path.take({"device_time"}))
      return finish(bestDeviceTime(), "device*s");
    if (path.take({"utilization"})) {
      CostOfStep ofStep = &Figures::model;
      if (path.take({"hardware"}))
        ofStep = &Figures::hardware;
      return finish(need("duration", run.atTwo(ofStep)) / capacity(ofStep), "");
    }
    return path.complain();
  }

  ArrayRef<StringRef> following() const { return path.following(); }

private:
  using CostOfStep = std::function<Cost(const Figures &)>;

  static CostOfStep phase(Phase phase) {
    return [phase](const Figures &step) { return step[phase]; };
  }

  CostOfStep backward() {
    if (path.take({"input"}))
      return phase(Phase::InputGradient);
    if (path.take({"weight"}))
      return phase(Phase::WeightGradient);
    return &Figures::backward;
  }

  /// The cost of one step, or of all.
  Answer cost(bool ofAll) {
    CostOfStep ofStep = &Figures::model;
    if (path.take({"forward"}))
      ofStep = phase(Phase::Forward);
    else if (path.take({"backward"}))
      ofStep = backward();
    else if (path.take({"update"}))
      ofStep = phase(Phase::Update);
    else if (path.take({"recompute"}))
      ofStep = phase(Phase::Recompute);
    else if (path.take({"hardware"}))
      ofStep = &Figures::hardware;
    llvm::SmallVector<StringRef> used;
    for (NumberFormat format : run.formats())
      used.push_back(traitsOf(format).name);
    std::optional<StringRef> name = path.take(formatNames(), used);
    std::optional<StringRef> part = takePartOfCost(path);
    if (part && !name)
      name = path.take(formatNames(), used);
    if (name)
      ofStep = [ofStep, format = *parseNumberFormat(*name)](
                   const Figures &step) { return ofStep(step.in(format)); };
    auto step = figuresOf(run.parts, run.name(), query);
    if (auto *message = std::get_if<Message>(&step))
      return *message;
    std::optional<Cost> sum =
        !ofAll       ? std::optional(ofStep(std::get<Figures>(step)))
        : isOfPart() ? run.total([&](const Figures &) {
            return ofStep(std::get<Figures>(step));
          })
                     : run.total(ofStep);
    if (!sum) {
      missing = "duration";
      return lacksKey();
    }
    return answerCost(path, *sum, part);
  }

  Answer traffic() {
    auto step = figuresOf(run.parts, run.name(), query);
    if (auto *message = std::get_if<Message>(&step))
      return *message;
    const Figures &figures = std::get<Figures>(step);
    return last(path,
                path.take({"conversions"}) ? figures.converted
                                           : figures.traffic(),
                "bytes");
  }

  Answer hasNoStep() {
    return error::NoStep(run.name(), run.jobs.front().name());
  }

  Answer memory() {
    const Memory &memory = run.memory;
    for (auto [name, part] : Memory::parts())
      if (path.take({name})) {
        const BytesByType &bytes = memory.*part;
        llvm::SmallVector<StringRef> used;
        for (const auto &[type, ofType] : bytes.types())
          used.push_back(type);
        std::vector<StringRef> types = formatNames();
        llvm::append_range(types, used);
        if (std::optional<StringRef> type = path.take(types, used))
          return ofWhole(bytes.of(*type), "bytes");
        return ofWhole(bytes.total(), "bytes");
      }
    return ofWhole(memory.total(), "bytes");
  }

  /// The value of a key of the specification. A missing one is recorded.
  Rational need(StringRef key, const std::optional<Rational> &value) {
    if (!value && missing.empty())
      missing = key;
    return value.value_or(1);
  }
  /// The same, unless the query states the value.
  Rational needOrGiven(StringRef key, const std::optional<Rational> &value) {
    for (const auto &[name, number] : query.numbers)
      if (name == key)
        return number;
    return need(key, value);
  }

  Rational peak(const CostOfStep &ofStep = &Figures::model) {
    return needOrGiven("peak", run.peakOf(ofStep));
  }
  Rational utilization() { return needOrGiven("utilization", run.utilization); }
  Rational devices() { return need("hardware", run.devices); }
  /// Whether the figure must be summed over jobs, since the run does not state
  /// it.
  bool isOfJobs() const { return !run.deviceSeconds && !run.jobs.empty(); }
  /// The sum over the jobs that count. A value that one lacks is recorded as
  /// missing.
  Rational sum(const std::function<Rational(RunAnswer &)> &figure,
               decltype(&Run::sumOfJobs) over = &Run::sumOfJobs) {
    return *(run.*over)([&](const Run &job) {
      RunAnswer of(job, query);
      Rational value = figure(of);
      if (missing.empty()) {
        missing = of.missing;
        lacking = of.lacking;
      }
      return std::optional(value);
    });
  }
  /// The reported device-time in device-seconds.
  Rational deviceTime() {
    return run.took && !run.deviceSeconds ? *run.took * devices()
                                          : need("took", run.deviceSeconds);
  }
  /// The reported device-time, or else the time that the compute takes.
  Rational bestDeviceTime() {
    if (isOfJobs() && !run.took)
      return sum(&RunAnswer::bestDeviceTime, &Run::sumOfTimes);
    return run.deviceSeconds ? *run.deviceSeconds
                             : model() / (peak() * utilization());
  }
  Rational time() {
    if (run.took)
      return *run.took;
    return isOfJobs() ? sum(&RunAnswer::time, &Run::sumOfTimes)
                      : bestDeviceTime() / devices();
  }
  Rational byTime() {
    if (run.tookFlop)
      return *run.tookFlop;
    if (isOfJobs() && !run.took)
      return sum(&RunAnswer::byTime);
    return deviceTime() * peak() *
           needOrGiven("utilization", run.knownUtilization());
  }
  /// The products that the devices could do in the reported time; `ofStep`
  /// reads them from the cost of a step.
  Rational capacity(const CostOfStep &ofStep) {
    if (isOfJobs() && !run.took)
      return sum([&](RunAnswer &job) { return job.capacity(ofStep); });
    return deviceTime() * peak(ofStep);
  }
  Rational model() { return need("duration", run.atTwo(&Figures::model)); }

  bool isOfPart() const { return !query.part.empty() || !query.parts.empty(); }

  Answer lacksKey() {
    return error::FigureLacksKey(llvm::join(query.members, "."), missing,
                                 lacking->name());
  }

  /// A figure at the end of the path that exists only for the whole network.
  Answer ofWhole(const Polynomial &value, StringRef unit) {
    if (isOfPart() && path.atEnd())
      return error::UnknownFigure(
          query.parts.empty() ? query.part : StringRef(query.parts.front()),
          llvm::join(query.members, "."),
          "; there are `step`, `compute` and `bytes`");
    return last(path, value, unit);
  }

  Answer finish(const Rational &value, StringRef unit) {
    return missing.empty() || isOfPart() ? ofWhole(value, unit) : lacksKey();
  }
  Answer known(StringRef key, const std::optional<Rational> &value,
               StringRef unit) {
    return finish(need(key, value), unit);
  }

  const Run &run;
  const Query &query;
  QueryPath path;
  StringRef missing;
  const Run *lacking = &run; ///< the run that lacks the value
};
} // namespace

Answer netc::answer(const Run &run, const Query &query) {
  return RunAnswer(run, query).find();
}

//===----------------------------------------------------------------------===//
// Possible members
//===----------------------------------------------------------------------===//

static void add(std::vector<std::string> &names, ArrayRef<StringRef> more) {
  for (StringRef name : more)
    if (!llvm::is_contained(names, name))
      names.push_back(name.str());
}

std::vector<std::string> netc::membersOf(const Network &network,
                                         ArrayRef<std::string> members) {
  QueryPath path(network.name(), members);
  answerFigures(path, network.parts.root().figures);
  std::vector<std::string> names;
  add(names, path.following());
  return names;
}

std::vector<std::string> netc::membersOf(const Run &run,
                                         ArrayRef<std::string> members) {
  Query query{"", members, {}, {}};
  RunAnswer answer(run, query);
  answer.find();
  std::vector<std::string> names;
  add(names, answer.following());
  return names;
}
