// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Query.h"

#include "lib/Analysis/QueryPath.h"

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
    if (path.take({"batch"}))
      return last(audit.examples().value_or(Rational()), "examples");
    if (path.take({"matched"}))
      return last(audit.coverage.share(), "");
    if (path.take({"unexplained"}))
      return last(unexplained(), "");
    if (path.take({"unknown"}))
      return last(unknown(), "");
    if (path.take({"kernels"}))
      return last(kernels(), "");
    if (path.take({"time"})) {
      if (!audit.trace->hasTimes || step.duration() <= 0)
        return notTraced("time", "the trace has no times");
      return last(Rational::fraction(step.duration(), 1000000000), "s");
    }
    if (path.take({"gpu"})) {
      if (!step.levels.kernels || step.duration() <= 0)
        return notTraced("gpu", "the step has no kernels of a device");
      return last(Rational::fraction(step.levels.sum, step.deviceTime()), "");
    }
    if (path.take({"flop"})) {
      if (llvm::none_of(step.products, [](const TracedProduct &product) {
            return product.flop.has_value();
          }))
        return notTraced("flop", "no shape in the trace tells it");
      return last(flopIn(path.take({"forward", "backward", "recompute"}),
                         [](const Row &row) { return row.traced; }),
                  "FLOP");
    }
    for (auto [i, claim] : llvm::enumerate(audit.claims))
      if (path.take({claim.member}))
        return ofClaim(i);
    return path.complain();
  }

private:
  Answer last(const Rational &value, StringRef unit) {
    return path.atEnd() ? Answer(Quantity{value, unit})
                        : Answer(path.complain());
  }

  Answer notTraced(StringRef figure, StringRef why) {
    return error::FigureNotTraced(figure, why);
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

  Answer ofClaim(size_t i) {
    bool isRatio = path.take({"ratio"}).has_value();
    Rational flop = flopIn(std::nullopt,
                           [&](const Row &row) { return row.claims[i].flop; });
    if (!isRatio)
      return last(flop, "FLOP");
    Rational exact =
        flopIn(std::nullopt, [](const Row &row) { return row.exact; });
    if (exact.isZero())
      return notTraced("ratio", "the exact count is 0");
    return last(flop / exact, "");
  }

  size_t kernels() const {
    size_t launches = 0;
    for (const KernelRow &kernel : audit.kernels)
      launches += kernel.launches;
    return launches;
  }

  size_t unexplained() const {
    size_t rows = 0;
    for (const Row &row : audit.rows)
      for (const RowClaim &claim : row.claims)
        rows += claim.flop != row.exact && claim.rules.empty();
    return rows;
  }

  size_t unknown() const {
    size_t times = 0;
    for (const Unknown &unknown : audit.unknown)
      times += unknown.times;
    return times;
  }

  const Audit &audit;
  const Query &query;
  QueryPath path;
  std::vector<StringRef> asked; ///< paths of parts
};
} // namespace

Answer netc::audit::answer(const Audit &audit, const Query &query) {
  return TraceAnswer(audit, query).find();
}
