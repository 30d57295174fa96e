// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/AuditReport.h"

#include "lib/Audit/Rules.h"
#include "lib/Report/Format.h"
#include "lib/Report/Writers.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>
#include <map>

using namespace netc;
using namespace netc::audit;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

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
      !audit.hasBackward)
    return std::nullopt;
  std::optional<Rational> peak = audit.run->peakOf(&Figures::model);
  if (!peak)
    return std::nullopt;
  return flop / (*peak * Rational(audit.step.duration())) * 1000000000;
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
// Text
//===----------------------------------------------------------------------===//

/// `1.0152`: four decimals, as tools print ratios of counters.
static std::string ratioText(const Rational &ratio) {
  return fmt::format("{:.4f}", ratio.toDouble());
}

static std::string seconds(int64_t nanoseconds) {
  return formatQuantity(Rational::fraction(nanoseconds, 1000000000),
                        Dimension::Time);
}

/// Without control characters, which a trace may contain and a terminal obeys.
static std::string printable(StringRef text) {
  std::string kept;
  for (char letter : text)
    kept += llvm::isPrint(letter) || (letter & 0x80) ? letter : '?';
  return kept;
}

/// Small shares are given with more decimals.
static std::string shareText(const Rational &share) {
  return percent(share, share < Rational::fraction(1, 100) ? 3 : 1);
}

static std::string ruleText(const RowClaim &claim, const Row &row) {
  if (claim.flop == row.exact)
    return "";
  if (claim.rules.empty())
    return "unexplained";
  return llvm::join(
      llvm::map_range(claim.rules,
                      [](const Rule *rule) { return rule->id.str(); }),
      " + ");
}

/// `3 × layer1.0.conv1 …`, or the only layer.
static std::string layersText(const AuditRows &rows) {
  std::string layer = rows.first->layer.empty() ? "·" : rows.first->layer;
  return rows.rows.size() == 1
             ? layer
             : fmt::format("{} × {} …", rows.rows.size(), layer);
}

static void writeRead(Page &page, const Audit &audit) {
  const trace::Trace &trace = *audit.trace;
  const TracedStep &step = audit.step;
  std::string rest = " · " + trace.tool;
  if (!trace.device.empty())
    rest += " · " + printable(trace.device);
  if (audit.run)
    rest += " · " + audit.run->name().str() +
            (audit.run->isInference ? " runs " : " trains ") +
            audit.run->network().str();
  for (const auto &[axis, size] : audit.sizes)
    rest += " · " + axis + " = " + size.str();
  page.section(audit.file, rest);
  page.paragraph(fmt::format(
      "{} events · {} · FLOP of products, 1 multiply-add = 2 FLOP",
      exact(Rational(trace.read)),
      step.name.empty()
          ? "no steps are marked: the trace is one"
          : fmt::format("{}, the median of {}", printable(step.name),
                        counted(Rational(step.steps), "step"))));
}

static void writeCoverage(Page &page, const Audit &audit) {
  Lines lines;
  const Coverage &coverage = audit.coverage;
  std::string parts;
  for (Confidence confidence : {Confidence::Exact, Confidence::Sum,
                                Confidence::Order, Confidence::None}) {
    const Rational &flop = coverage.flop[unsigned(confidence)];
    if (!flop.isZero())
      parts += (parts.empty() ? "" : ", ") +
               percent(flop / coverage.total(), 1) + " " +
               (confidence == Confidence::None ? std::string("not at all")
                                               : nameOf(confidence).str());
  }
  if (audit.run)
    lines.add("matched",
              fmt::format("{} of {}: {}; and {:.1f} % of the time of products",
                          percent(coverage.share(), 1), flop(coverage.total()),
                          parts, coverage.time * 100),
              audit.isComparable() ? Style::Good : Style::Bad);
  auto list = [&](StringRef label, bool ofTrace) {
    std::map<std::string, size_t> ops;
    for (const Row &row : audit.rows)
      if (!row.other && (ofTrace ? row.isTraced && !row.isSpecified
                                 : row.isSpecified && !row.isTraced))
        ++ops[row.op + " " + row.phase];
    std::string text;
    for (auto &[op, times] : ops)
      text += (text.empty() ? "" : ", ") + std::to_string(times) + " × " + op;
    if (!text.empty())
      lines.add(label.str(), text);
  };
  list("not in the trace", false);
  if (audit.run)
    list("only in the trace", true);
  page.lines(lines);
  if (!audit.divergence)
    return;
  page.heading("where they part first");
  Grid grid({Grid::Left, Grid::Left});
  grid.add({{"specification", Style::Dim}, {"trace", Style::Dim}});
  grid.addRule();
  const Divergence &divergence = *audit.divergence;
  for (size_t i = 0;
       i < std::max(divergence.specified.size(), divergence.traced.size()); ++i)
    grid.add({{i < divergence.specified.size() ? divergence.specified[i] : ""},
              {i < divergence.traced.size() ? divergence.traced[i] : ""}});
  page.grid(grid);
}

static void writeRows(Page &page, const Audit &audit) {
  std::vector<Grid::Align> columns = {Grid::Left,   Grid::Left,  Grid::Left,
                                      Grid::Detail, Grid::Right, Grid::Right};
  std::vector<Grid::Cell> head;
  for (const char *title : {"layer", "op", "phase", "match", "time", "exact"})
    head.push_back({title, Style::Dim});
  for (const Claim &claim : audit.claims) {
    head.push_back({claim.id, Style::Dim});
    head.push_back({"ratio", Style::Dim});
    head.push_back({"rule", Style::Dim});
    columns.insert(columns.end(), {Grid::Right, Grid::Right, Grid::Left});
  }
  Grid grid(columns);
  grid.add(std::move(head));
  grid.addRule();
  for (const AuditRows &rows : foldRows(audit)) {
    const Row &row = *rows.first;
    Rational exact = rows.exact();
    int64_t time = 0;
    for (const Row *each : rows.rows)
      time += each->nanoseconds;
    std::vector<Grid::Cell> cells = {
        {layersText(rows)},
        {row.op, Style::Dim},
        {row.phase},
        {row.other ? "" : nameOf(row.confidence).str(), Style::Dim},
        {time ? seconds(time) : ""},
        {flopCell(exact)}};
    for (auto [i, claim] : llvm::enumerate(row.claims)) {
      Rational flop = rows.flop(i);
      bool isEqual = claim.flop == row.exact;
      cells.push_back({flopCell(flop), isEqual ? Style::Plain : Style::Bad});
      cells.push_back({exact.isZero() ? "" : ratioText(flop / exact),
                       isEqual ? Style::Dim : Style::Bad});
      cells.push_back({ruleText(claim, row), Style::Bad});
    }
    grid.add(std::move(cells));
  }
  grid.addRule();
  std::vector<Grid::Cell> total = {{"total", Style::Bold},
                                   {},
                                   {},
                                   {},
                                   {},
                                   {flopCell(audit.hardware), Style::Bold}};
  for (const Claim &claim : audit.claims) {
    std::optional<Rational> ratio = ratioOf(audit, claim);
    total.push_back({flopCell(claim.total), Style::Bold});
    total.push_back({ratio ? ratioText(*ratio) : "", Style::Bold});
    total.push_back({});
  }
  grid.add(std::move(total));
  page.grid(grid);
}

/// `torch.profiler counts 34.1 % of this step: -65.9 % no-backward ..`
static void writeTotals(Page &page, const Audit &audit) {
  Lines lines;
  if (audit.run)
    lines.add("exact", fmt::format("{}, which is {}", flop(audit.model),
                                   exact(audit.model)));
  for (auto [i, claim] : llvm::enumerate(audit.claims)) {
    std::optional<Rational> ratio = ratioOf(audit, claim);
    if (!ratio) {
      lines.add(claim.id, "is not compared as a whole: too little is matched");
      continue;
    }
    std::vector<RuleShare> shares = sharesOfRules(audit, i);
    lines.add(claim.id,
              fmt::format("counts {} of this step, {}{}", percent(*ratio, 1),
                          exact(claim.total), shares.empty() ? "" : ":"),
              claim.total == audit.model ? Style::Good : Style::Bad);
    for (const RuleShare &share : shares)
      lines.add("",
                fmt::format("{:+.1f} %  {}, in {}: {}",
                            (share.difference / audit.model).toDouble() * 100,
                            share.rule ? share.rule->id : "unexplained",
                            counted(Rational(share.rows), "row"),
                            share.rule ? share.rule->meaning : "?"));
  }
  page.lines(lines);
}

static void writeLevels(Page &page, const Audit &audit) {
  const Levels &levels = audit.step.levels;
  Lines lines;
  auto share = [&](int64_t time) {
    return shareText(Rational::fraction(time, audit.step.duration()));
  };
  if (audit.step.duration() <= 0)
    return;
  lines.add("step", seconds(audit.step.duration()) + " on the host");
  if (levels.kernels)
    lines.add("GPU", fmt::format("{} by {} of {}; {} as their union, {} "
                                 "without communication",
                                 share(levels.sum),
                                 counted(Rational(levels.kernels), "kernel"),
                                 seconds(levels.sum), share(levels.unionOfAll),
                                 share(levels.withoutCommunication)));
  if (std::optional<Rational> exactly = modelUtilization(audit, audit.model)) {
    lines.add("MFU", shareText(*exactly) + " by the exact count");
    for (const Claim &claim : audit.claims)
      if (claim.total != audit.model)
        lines.add("", shareText(*modelUtilization(audit, claim.total)) +
                          " by " + claim.id);
    if (audit.hardware != audit.model)
      lines.add("HFU", shareText(*modelUtilization(audit, audit.hardware)));
  }
  if (audit.levels)
    for (const Level &level : unitLevels())
      if (std::optional<double> value = audit.levels->levels.*level.value) {
        std::optional<double> cap = level.id == "tensor_issue"
                                        ? audit.gpu.tensorIssueCap()
                                        : std::nullopt;
        std::optional<double> joined = audit.levels->joined.*level.value;
        lines.add(
            level.id.str(),
            fmt::format("{:.1f} %{}{}", *value * 100,
                        cap ? fmt::format(", cap {:.1f} %", *cap * 100) : "",
                        joined ? fmt::format("; joined {:.1f} %", *joined * 100)
                               : ""));
      }
  page.lines(lines);
}

void netc::writeAudit(Page &page, const AuditReport &report,
                      const TableOptions &) {
  for (const Audit *audit : report.audits) {
    writeRead(page, *audit);
    writeCoverage(page, *audit);
    writeRows(page, *audit);
    writeTotals(page, *audit);
    writeLevels(page, *audit);
    Lines notes;
    for (const Note &note : audit->notes)
      notes.add("note", fmt::format("{} [{}]", note.text, note.id));
    page.lines(notes);
    page.timeline(*audit);
  }
  if (!report.expects.empty())
    writeExpects(page, report.expects, Conventions());
}
