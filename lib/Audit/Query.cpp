// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Query.h"

#include "lib/Analysis/QueryPath.h"
#include "lib/Audit/Utilization.h"

#include <cmath>

using namespace netc;
using namespace netc::audit;
using llvm::StringRef;

using Answer = std::variant<Quantity, Message>;

namespace {
class TraceAnswer {
public:
  TraceAnswer(const Audit &audit, const Query &query)
      : audit(audit), query(query), path(audit.run->name(), query.members) {
    path.take({"trace"});
  }

  Answer find() {
    auto parts = findParts(audit.run->parts, audit.run->name(), query);
    if (auto *message = std::get_if<Message>(&parts))
      return *message;
    for (const Part *part : std::get<0>(parts)) {
      for (const Row &row : audit.rows)
        if (isIn(part->path, row.layer) && part->path != row.layer)
          return error::PartNotTraced(row.layer, part->path);
      asked.push_back(part->path);
    }
    const TracedStep &step = audit.step;
    for (const OfStep &figure : ofStep())
      if (path.take({figure.name})) {
        if (isOfPart())
          return notTraced(figure.name, "it is of the whole step");
        std::optional<Rational> value = figure.value(audit);
        return value ? last(*value, figure.unit)
                     : notTraced(figure.name, figure.why);
      }
    if (path.take({"matched"}))
      return matched();
    if (path.take({"unexplained"}))
      return last(unexplained(), "");
    if (path.take({"unknown"}))
      return last(unknown(), "");
    if (path.take({"kernels"}))
      return last(kernels(), "");
    if (path.take({"time"})) {
      if (step.duration() <= 0)
        return notTraced("time", "the trace has no times");
      return last(Rational::fraction(isOfPart() ? partTime() : step.duration(),
                                     1000000000),
                  "s");
    }
    if (path.take({"gpu"})) {
      if (!step.levels.kernels || step.duration() <= 0)
        return notTraced("gpu", noKernels);
      return last(Rational::fraction(isOfPart() ? partTime() : step.levels.sum,
                                     step.deviceTime()),
                  "");
    }
    for (const Level &level : unitLevels())
      if (path.take({level.id}))
        return ofLevel(level);
    if (path.take({"flop"})) {
      auto phase = path.take({"forward", "backward", "recompute"});
      if (llvm::none_of(step.products, [](const TracedProduct &product) {
            return product.cost->flop.has_value();
          }))
        return notTraced("flop", "no shape in the trace tells it");
      return last(flopIn(phase, [](const Row &row) { return row.traced; }),
                  "FLOP");
    }
    for (const auto &[member, why] : claims)
      if (path.take({member}))
        return ofClaim(member, why);
    return path.complain();
  }

private:
  Answer last(const Rational &value, StringRef unit) {
    return path.atEnd() ? Answer(Quantity{value, unit})
                        : Answer(path.complain());
  }

  /// A figure that only a whole step has.
  struct OfStep {
    StringRef name, unit;
    std::optional<Rational> (*value)(const Audit &);
    StringRef why; ///< why it is unknown, if it is
  };
  static constexpr StringRef noKernels = "the step has no kernels of a device";

  static constexpr StringRef noShapes = "the trace has no shapes";

  /// What counts FLOP, and why it may have no count.
  static constexpr std::pair<StringRef, StringRef> claims[] = {
      {"profiler", noShapes},
      {"flop_counter", noShapes},
      {"counters", "no counters of FLOP were given"},
      {"given", "no counts of a tool were given"}};

  static std::optional<Rational> shareOf(const Audit &audit, int64_t time) {
    return audit.step.levels.kernels && audit.step.duration() > 0
               ? std::optional(
                     Rational::fraction(time, audit.step.deviceTime()))
               : std::nullopt;
  }

  static llvm::ArrayRef<OfStep> ofStep() {
    static constexpr StringRef noUse =
        "it takes a peak of the run, a time, and a whole step that matches";
    static const OfStep figures[] = {
        {"batch", "examples",
         [](const Audit &audit) {
           return std::optional(audit.examples().value_or(Rational()));
         },
         ""},
        {"joined", "",
         [](const Audit &audit) {
           return audit.joined ? std::optional(fromDouble(audit.joined->time))
                               : std::nullopt;
         },
         "no counters of another run were given"},
        {"gpu_union", "",
         [](const Audit &audit) {
           return shareOf(audit, audit.step.levels.unionOfAll);
         },
         noKernels},
        {"gpu_without_communication", "",
         [](const Audit &audit) {
           return shareOf(audit, audit.step.levels.withoutCommunication);
         },
         noKernels},
        {"mfu", "",
         [](const Audit &audit) {
           return modelUtilization(audit, audit.ranModel);
         },
         noUse},
        {"hfu", "",
         [](const Audit &audit) {
           return modelUtilization(audit, audit.ranHardware);
         },
         noUse},
        {"in_kernels", "", utilizationInKernels, noUse},
    };
    return figures;
  }

  /// A share as a fraction, rounded to 1e-9.
  static Rational fromDouble(double share) {
    return Rational::fraction(std::llround(share * 1e9), 1000000000);
  }

  bool isOfPart() const { return !query.parts.empty(); }

  Answer matched() {
    if (!isOfPart())
      return last(audit.coverage.share(), "");
    Rational all, found;
    for (const Row &row : audit.rows)
      if (isAskedFor(row)) {
        all += row.exact;
        if (row.isTraced && row.confidence != Confidence::None)
          found += row.exact;
      }
    return last(all.isZero() ? Rational(1) : found / all, "");
  }

  int64_t partTime() const {
    int64_t time = 0;
    for (const Row &row : audit.rows)
      if (isAskedFor(row))
        time += row.nanoseconds;
    return time;
  }

  Answer ofLevel(const Level &level) {
    LevelSum sum;
    for (const Row &row : audit.rows)
      if (isOfPart() && isAskedFor(row))
        sum.add(row);
    UnitLevels levels = isOfPart()     ? sum.levels()
                        : audit.levels ? audit.levels->levels
                                       : UnitLevels();
    if (std::optional<double> value = levels.*level.value)
      return last(fromDouble(*value), "");
    if (audit.levels)
      for (const LevelNote &reason : audit.levels->impossible)
        if (reason.id == level.id)
          return notTraced(level.id, reason.text);
    return notTraced(level.id, "no counter tells it");
  }

  Answer notTraced(StringRef figure, StringRef why) {
    return path.atEnd() ? error::FigureNotTraced(figure, why) : path.complain();
  }

  static bool isIn(StringRef part, StringRef whole) {
    return !whole.empty() && part.consume_front(whole) &&
           (part.empty() || part.front() == '.');
  }

  bool isAskedFor(const Row &row) const {
    return query.parts.empty() || llvm::any_of(asked, [&](StringRef part) {
             return isIn(row.layer, part);
           });
  }

  template <typename Figure>
  Rational flopIn(std::optional<StringRef> phase, Figure figure) const {
    Rational sum;
    for (const Row &row : audit.rows)
      if (isAskedFor(row) &&
          (!phase ||
           (*phase == "backward" ? row.isGradient() : row.phase == *phase)))
        sum += figure(row);
    return sum;
  }

  Answer ofClaim(StringRef member, StringRef why) {
    bool isRatio = path.take({"ratio"}).has_value();
    auto claim = llvm::find_if(audit.claims, [&](const Claim &claim) {
      return claim.member == member;
    });
    if (claim == audit.claims.end())
      return notTraced(member, why);
    size_t i = claim - audit.claims.begin();
    for (const Row &row : audit.rows)
      if (isAskedFor(row) && row.claims[i].isUnknown)
        return notTraced(member, claim->isMeasured()
                                     ? "kernels lack a counter of FLOP"
                                     : "the shapes in the trace do not tell "
                                       "it");
    Rational flop = flopIn(std::nullopt, [&](const Row &row) {
      return isRatio && row.isUnknown ? Rational() : row.claims[i].flop;
    });
    if (!isRatio)
      return last(flop, "FLOP");
    Rational exact =
        flopIn(std::nullopt, [](const Row &row) { return row.model(); });
    if (exact.isZero())
      return notTraced("ratio", "the exact count is 0");
    return last(flop / exact, "");
  }

  size_t kernels() const {
    size_t launches = 0;
    if (isOfPart()) {
      for (const Row &row : audit.rows)
        launches += isAskedFor(row) ? row.kernels : 0;
      return launches;
    }
    for (const KernelRow &kernel : audit.kernels)
      launches += kernel.launches;
    return launches;
  }

  size_t unexplained() const {
    size_t rows = 0;
    for (const Row &row : audit.rows)
      if (isAskedFor(row))
        for (const RowClaim &claim : row.claims)
          rows += claim.isUnexplained(row);
    return rows;
  }

  size_t unknown() const {
    size_t times = 0;
    if (isOfPart()) {
      for (const Row &row : audit.rows)
        times += isAskedFor(row) && row.isUnknown ? row.products.size() : 0;
      return times;
    }
    for (const Unknown &unknown : audit.unknown)
      times += unknown.times;
    return times;
  }

  const Audit &audit;
  const Query &query;
  QueryPath path;
  std::vector<StringRef> asked; ///< paths of the parts
};
} // namespace

Answer netc::audit::answer(const Audit &audit, const Query &query) {
  return TraceAnswer(audit, query).find();
}

Answer netc::audit::answerWithoutTrace(const Run &run, const Query &query) {
  const trace::Trace nothing;
  Audit audit;
  audit.trace = &nothing;
  audit.run = &run;
  return TraceAnswer(audit, query).find();
}
