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
    const TracedStep &step = audit.step;
    if (path.take({"batch"})) {
      auto size = audit.sizes.find(kBatchAxis.str());
      return last(size == audit.sizes.end() ? Rational() : size->second,
                  "examples");
    }
    if (path.take({"matched"}))
      return last(audit.coverage.share(), "");
    if (path.take({"unexplained"}))
      return last(unexplained(), "");
    if (path.take({"unknown"}))
      return last(unknown(), "");
    if (path.take({"kernels"}))
      return last(step.levels.kernels, "");
    if (path.take({"time"}))
      return last(Rational::fraction(step.duration(), 1000000000), "s");
    if (path.take({"gpu"}))
      return last(step.duration() > 0
                      ? Rational::fraction(step.levels.sum, step.duration())
                      : Rational(),
                  "");
    if (path.take({"flop"}))
      return last(flopIn(path.take({"forward", "backward", "recompute"}),
                         [](const Row &row) { return row.traced; }),
                  "FLOP");
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

  bool isAskedFor(const Row &row) const {
    return query.parts.empty() ||
           llvm::any_of(query.parts, [&](StringRef part) {
             StringRef layer = row.layer;
             return layer.consume_front(part) &&
                    (layer.empty() || layer.front() == '.');
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
    Rational exact =
        flopIn(std::nullopt, [](const Row &row) { return row.exact; });
    return isRatio ? last(exact.isZero() ? Rational() : flop / exact, "")
                   : last(flop, "FLOP");
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
};
} // namespace

Answer netc::audit::answer(const Audit &audit, const Query &query) {
  return TraceAnswer(audit, query).find();
}
