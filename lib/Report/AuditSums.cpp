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
           return claim.flop == row.exact;
         });
}

static bool areAlike(const Row &a, const Row &b) {
  auto sameClaim = [](const RowClaim &x, const RowClaim &y) {
    return x.flop == y.flop && x.rules == y.rules;
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

std::optional<Rational> netc::ratioOf(const Audit &audit, const Claim &claim) {
  if (!audit.isComparable() || audit.model.isZero())
    return std::nullopt;
  return claim.total / audit.model;
}

std::optional<Rational> netc::modelUtilization(const Audit &audit,
                                               const Rational &flop) {
  if (!audit.run || !audit.isComparable() || audit.step.duration() <= 0 ||
      audit.isRepeated || !(audit.hasBackward || audit.run->isInference))
    return std::nullopt;
  std::optional<Rational> peak = audit.run->peakOf(&Figures::model);
  if (!peak)
    return std::nullopt;
  return flop / (*peak * Rational(audit.step.deviceTime())) * 1000000000;
}

std::optional<Rational> netc::utilizationInKernels(const Audit &audit) {
  if (audit.hasCountersAlone()) {
    std::optional<Rational> peak =
        audit.run ? audit.run->peakOf(&Figures::model) : std::nullopt;
    if (!peak || audit.wholeTime() <= 0)
      return std::nullopt;
    return audit.model / (*peak * Rational(audit.wholeTime())) * 1000000000;
  }
  std::optional<Rational> use = modelUtilization(audit, audit.model);
  if (!use || audit.step.levels.unionOfAll <= 0)
    return std::nullopt;
  return *use * Rational(audit.step.deviceTime()) /
         Rational(audit.step.levels.unionOfAll);
}

std::optional<double> netc::utilizationAtClock(const Audit &audit) {
  if (!audit.run || !audit.hasCountersAlone() || audit.wholeTime() <= 0)
    return std::nullopt;
  for (NumberFormat format : audit.run->formats())
    if (format != NumberFormat::F16 && format != NumberFormat::BF16)
      return std::nullopt;
  std::optional<double> clock = clockOf(*audit.trace),
                        perCycle = audit.gpu.tensorFlopPerCycle();
  if (!clock || !perCycle)
    return std::nullopt;
  return audit.model.toDouble() /
         (*perCycle * *clock * double(audit.wholeTime()) * 1e-9);
}

std::vector<RuleShare> netc::sharesOfRules(const Audit &audit, size_t claim) {
  std::vector<RuleShare> shares;
  for (const Row &row : audit.rows) {
    const RowClaim &has = row.claims[claim];
    Rational difference = has.flop - row.exact;
    if (difference.isZero())
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
    if (has.rules.size() == 2) {
      add(has.rules[0], difference - has.other);
      add(has.rules[1], has.other);
    } else {
      add(has.rules.empty() ? nullptr : has.rules.front(), difference);
    }
  }
  llvm::stable_sort(shares, [](const RuleShare &a, const RuleShare &b) {
    return a.difference.abs() > b.difference.abs();
  });
  return shares;
}

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

namespace {
/// A sum of rows; of their levels, those that are known, by time.
class LevelSum {
public:
  void add(const Row &row) {
    sum.nanoseconds += row.nanoseconds;
    if (!row.levels)
      return;
    for (auto [i, level] : llvm::enumerate(unitLevels()))
      if (std::optional<double> value = *row.levels.*level.value) {
        values[i] += *value * double(row.nanoseconds);
        times[i] += double(row.nanoseconds);
      }
  }
  LevelRow row(std::string name, bool isLayer) const {
    LevelRow row = sum;
    row.name = std::move(name);
    row.isLayer = isLayer;
    for (auto [i, level] : llvm::enumerate(unitLevels()))
      if (times[i] > 0)
        row.levels.*level.value = values[i] / times[i];
    return row;
  }

private:
  static constexpr size_t most = 8;
  LevelRow sum;
  std::array<double, most> values{}, times{};
};
} // namespace

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
    rows.push_back(sum.row("products, " + name.str(), false));
  for (const auto &[name, sum] : layers)
    rows.push_back(sum.row(name.str(), true));
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
