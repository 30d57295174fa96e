// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/AuditReport.h"

#include "lib/Audit/Rules.h"
#include "llvm/ADT/MapVector.h"

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

static bool areAlike(const Row &a, const Row &b) {
  auto sameClaim = [](const RowClaim &x, const RowClaim &y) {
    return x.flop == y.flop && x.isUnknown == y.isUnknown && x.rules == y.rules;
  };
  if (a.op != b.op || a.phase != b.phase || a.confidence != b.confidence)
    return false;
  if (isRight(a) && isRight(b))
    return true;
  return a.exact == b.exact && a.isTraced == b.isTraced &&
         a.isSpecified == b.isSpecified &&
         std::equal(a.claims.begin(), a.claims.end(), b.claims.begin(),
                    sameClaim);
}

std::vector<AuditRows> netc::foldRows(const Audit &audit) {
  std::vector<AuditRows> folded;
  for (const Row &row : audit.rows) {
    auto found = llvm::find_if(folded, [&](const AuditRows &rows) {
      return areAlike(*rows.first, row);
    });
    if (found == folded.end())
      folded.push_back({&row, {&row}});
    else
      found->rows.push_back(&row);
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
  if (rows.empty() || rows.front().batch == rows.back().batch)
    rows.clear();
  return rows;
}
