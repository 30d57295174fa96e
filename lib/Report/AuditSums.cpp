// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/AuditReport.h"

#include "lib/Audit/Rules.h"
#include "llvm/ADT/MapVector.h"

#include <map>

using namespace netc;
using namespace netc::audit;
using llvm::StringRef;

Rational AuditRows::exact() const {
  Rational sum;
  for (const Row *row : rows)
    sum += row->exact;
  return sum;
}

Rational AuditRows::flop(size_t claim) const {
  Rational sum;
  for (const Row *row : rows)
    sum += row->claims[claim].flop;
  return sum;
}

static bool isRight(const Row &row) {
  return row.isTraced && row.isSpecified &&
         llvm::all_of(row.claims, [&](const RowClaim &claim) {
           return !claim.isUnknown && claim.flop == row.exact;
         });
}

/// A claim's FLOP, whether they are not known, and its rules.
using ClaimKey =
    std::tuple<Rational, bool, std::vector<std::pair<const Rule *, Rational>>>;
/// What rows that are folded have in common: op, phase, confidence, and, if a
/// tool counts them wrong, FLOP, on which sides they are, and claims.
using RowKey =
    std::tuple<StringRef, StringRef, Confidence, std::optional<Rational>, bool,
               bool, std::vector<ClaimKey>>;

static RowKey keyOf(const Row &row) {
  RowKey key(row.op, row.phase, row.confidence, {}, true, true, {});
  if (isRight(row))
    return key;
  auto &[op, phase, confidence, exact, isTraced, isSpecified, claims] = key;
  exact = row.exact;
  isTraced = row.isTraced;
  isSpecified = row.isSpecified;
  for (const RowClaim &claim : row.claims) {
    auto &[flop, isUnknown, rules] = claims.emplace_back();
    flop = claim.flop;
    isUnknown = claim.isUnknown;
    for (const Explanation &explanation : claim.rules)
      rules.emplace_back(explanation.rule, explanation.difference);
  }
  return key;
}

std::vector<AuditRows> netc::foldRows(const Audit &audit) {
  std::vector<AuditRows> folded;
  std::map<RowKey, size_t> places;
  for (const Row &row : audit.rows) {
    auto [place, isNew] = places.try_emplace(keyOf(row), folded.size());
    if (isNew)
      folded.push_back({&row, {}});
    folded[place->second].rows.push_back(&row);
  }
  auto worst = [&](const AuditRows &rows) {
    Rational worst;
    for (size_t claim = 0; claim < audit.claims.size(); ++claim)
      worst = std::max(worst, (rows.flop(claim) - rows.exact()).abs());
    return worst;
  };
  llvm::stable_sort(folded, [&](const AuditRows &a, const AuditRows &b) {
    return worst(a) > worst(b);
  });
  return folded;
}

std::vector<RuleShare> netc::sharesOfRules(const Audit &audit, size_t claim) {
  std::vector<RuleShare> shares;
  for (const Row &row : audit.rows) {
    const RowClaim &has = row.claims[claim];
    if (!has.differs(row))
      continue;
    auto add = [&](const Rule *rule, const Rational &part) {
      auto found = llvm::find_if(
          shares, [&](const RuleShare &share) { return share.rule == rule; });
      RuleShare &share = found == shares.end()
                             ? shares.emplace_back(RuleShare{rule, 0, {}})
                             : *found;
      ++share.rows;
      share.difference += part;
    };
    for (const Explanation &explanation : has.rules)
      add(explanation.rule, explanation.difference);
    if (has.rules.empty())
      add(nullptr, has.flop - row.model());
  }
  llvm::stable_sort(shares, [](const RuleShare &a, const RuleShare &b) {
    return a.difference.abs() > b.difference.abs();
  });
  return shares;
}

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

static LevelRow rowOf(const LevelSum &sum, StringRef name, bool isLayer) {
  return {name.str(), isLayer, sum.nanoseconds(), sum.levels()};
}

std::vector<LevelRow> netc::levelRows(const Audit &audit) {
  llvm::MapVector<StringRef, LevelSum> phases, layers;
  for (const Row &row : audit.rows) {
    if (row.nanoseconds <= 0 || row.products.empty())
      continue;
    phases[row.isGradient() ? "backward" : StringRef(row.phase)].add(row);
    layers[row.layer.empty() ? StringRef(row.op) : StringRef(row.layer)].add(
        row);
  }
  std::vector<LevelRow> rows;
  LevelRow &step = rows.emplace_back();
  if (audit.hasCountersAlone()) {
    step = {"all kernels", false, audit.wholeTime(), audit.levels->levels};
    for (const KernelRow &kernel : audit.kernels)
      rows.push_back({kernel.name, true, kernel.nanoseconds, *kernel.levels});
    return rows;
  }
  if (!audit.step.levels.kernels)
    return {};
  step.name = "step";
  step.nanoseconds = audit.step.levels.sum;
  if (audit.levels)
    step.levels = audit.levels->levels;
  for (const auto &[name, sum] : phases)
    rows.push_back(rowOf(sum, "products, " + name.str(), false));
  for (const auto &[name, sum] : layers)
    rows.push_back(rowOf(sum, name, true));
  return rows;
}

/// Whether traces are of processes that train together: each has a part of one
/// batch.
static bool areRanks(llvm::ArrayRef<const Audit *> audits) {
  return !llvm::all_equal(llvm::map_range(audits, [](const Audit *audit) {
    return audit->trace->rank.value_or(0);
  }));
}

std::vector<BatchRow>
netc::batchRows(llvm::ArrayRef<const audit::Audit *> audits) {
  std::vector<BatchRow> rows;
  for (const Audit *audit : audits) {
    std::optional<Rational> size = audit->examples();
    if (!audit->run || !size || !size->isValid() || *size <= 0 ||
        audit->step.duration() <= 0)
      continue;
    BatchRow row{audit, *size, {}, audit->step.memory, audit->memory};
    row.throughput =
        *size * Rational(1000000000) / Rational(audit->step.duration());
    rows.push_back(row);
  }
  llvm::stable_sort(rows, [](const BatchRow &a, const BatchRow &b) {
    return a.batch < b.batch;
  });
  if (rows.empty() || rows.front().batch == rows.back().batch ||
      areRanks(audits))
    rows.clear();
  return rows;
}

std::vector<BatchFigures> netc::figuresOf(llvm::ArrayRef<BatchRow> rows) {
  std::vector<BatchFigures> figures;
  for (const BatchRow &row : rows)
    figures.push_back(
        {row.batch, row.throughput.toDouble(),
         row.measured ? std::optional(Rational(*row.measured)) : row.specified,
         !row.measured});
  return figures;
}
