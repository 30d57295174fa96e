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
// Text
//===----------------------------------------------------------------------===//

/// `1.0152`: with four decimals.
static std::string ratioText(const Rational &ratio) {
  return fmt::format("{:.4f}", ratio.toDouble());
}

static std::string seconds(int64_t nanoseconds) {
  return formatQuantity(Rational::fraction(nanoseconds, 1000000000),
                        Dimension::Time);
}

/// A name from the trace, shortened for tables. It may have any length.
static std::string nameText(StringRef text) {
  return shortened(text, 60, Keep::First);
}

/// What is nearly all is not all: as many decimals as tell it.
static std::string partText(double share) {
  constexpr int most = 9;
  std::string text;
  for (int digits = 1; digits <= most; ++digits) {
    text = fmt::format("{:.{}f} %", share * 100, digits);
    if (share == 1 || text != fmt::format("{:.{}f} %", 100., digits))
      break;
  }
  return text;
}

/// Small shares have more decimals.
static std::string shareText(const Rational &share) {
  if (share > 0 && share < Rational::fraction(1, 100000))
    return fmt::format("{:.2g} %", share.toDouble() * 100);
  return percent(share, share < Rational::fraction(1, 100) ? 3 : 1);
}

static std::string ruleText(const RowClaim &claim, const Row &row) {
  if (!claim.differs(row))
    return "";
  if (claim.rules.empty())
    return "unexplained";
  return llvm::join(llvm::map_range(claim.rules,
                                    [](const Explanation &each) {
                                      return each.rule->id.str();
                                    }),
                    " + ");
}

/// `3 × layer1.0.conv1 …`, or the only layer.
static std::string layersText(const AuditRows &rows) {
  std::string layer = nameText(rows.first->layer);
  if (rows.rows.size() == 1)
    return layer.empty() ? "·" : layer;
  return layer.empty() ? fmt::format("{} ×", rows.rows.size())
                       : fmt::format("{} × {} …", rows.rows.size(), layer);
}

static const UnitLevels *levelsIn(const LevelRow &row) { return &row.levels; }
static const UnitLevels *levelsIn(const KernelRow &row) {
  return row.levels.get();
}

static void writeRead(Page &page, const Audit &audit) {
  const trace::Trace &trace = *audit.trace;
  const TracedStep &step = audit.step;
  std::string rest = " · " + trace.tool;
  if (!trace.device.empty())
    rest += " · " + trace.device;
  if (audit.run)
    rest += " · " + audit.run->name().str() +
            (audit.run->isInference ? " runs " : " trains ") +
            audit.run->network().str();
  for (const auto &[axis, size] : audit.sizes)
    rest += " · " + axis + " = " +
            exact(axis == kBatchAxis ? *audit.examples() : size);
  if (audit.passes.size() > 1)
    rest += fmt::format(" in {} passes", audit.passes.size());
  if (audit.hasCountersAlone() && !trace.capability.empty())
    rest += " · CC " + trace.capability;
  page.section(audit.file, rest);
  if (audit.hasCountersAlone())
    return page.paragraph((audit.hasSumsAlone() ? "sums of " : "counters of ") +
                          counted(Rational(trace.read), "kernel") +
                          ", without a timeline");
  page.paragraph(fmt::format(
      "{} events · {} · FLOP of products, 1 multiply-add = 2 FLOP",
      exact(Rational(trace.read)),
      step.name.empty()
          ? step.steps > 1
                ? fmt::format("no steps are marked: the last of {} passes",
                              step.steps)
                : "no steps are marked: the trace is one"
      : step.isAskedFor && step.steps == 1
          ? trace::shownName(step.name)
          : fmt::format("{}, the median of {}{}", trace::shownName(step.name),
                        counted(Rational(step.steps), "step"),
                        step.cutSteps
                            ? fmt::format(", without {} that {} cut",
                                          step.cutSteps,
                                          step.cutSteps == 1 ? "is" : "are")
                            : "")));
}

static std::string unknownText(const Audit &audit) {
  constexpr size_t most = 6;
  std::string text;
  for (const Unknown &unknown :
       llvm::ArrayRef(audit.unknown).take_front(most)) {
    text +=
        fmt::format("{}{} × {}{}", text.empty() ? "" : ", ", unknown.times,
                    unknown.isKernel ? "kernel " : "", nameText(unknown.name));
  }
  if (audit.unknown.size() > most)
    text += fmt::format(", {} more", audit.unknown.size() - most);
  return text + ": may multiply, and no count has their FLOP";
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
               partText((flop / coverage.total()).toDouble()) + " " +
               (confidence == Confidence::None ? std::string("not at all")
                                               : nameOf(confidence).str());
  }
  if (audit.run)
    lines.add("matched",
              fmt::format("{} of {}: {}", partText(coverage.share().toDouble()),
                          flop(coverage.total()), parts) +
                  (coverage.time ? "; and " + partText(*coverage.time) +
                                       " of the time of products"
                                 : ""),
              audit.isComparable() ? Style::Good : Style::Bad);
  auto list = [&](StringRef label, auto is) {
    std::map<std::string, size_t> ops;
    for (const Row &row : audit.rows)
      if (!row.other && row.isTraced != row.isSpecified && is(row))
        ++ops[nameText(row.op) + " " + row.phase.str()];
    std::string text;
    for (auto &[op, times] : ops)
      text += (text.empty() ? "" : ", ") + std::to_string(times) + " × " + op;
    if (!text.empty())
      lines.add(label.str(), text);
  };
  list("not in the trace", [](const Row &row) { return row.isSpecified; });
  if (audit.run)
    list("only in the trace",
         [](const Row &row) { return row.isTraced && !row.products.empty(); });
  list("only in the counts",
       [](const Row &row) { return row.isTraced && row.products.empty(); });
  if (!audit.unknown.empty())
    lines.add("not known", unknownText(audit), Style::Bad);
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
    grid.add(
        {{i < divergence.specified.size() ? divergence.specified[i] : ""},
         {i < divergence.traced.size() ? nameText(divergence.traced[i]) : ""}});
  page.grid(grid);
}

static void writeRows(Page &page, const Audit &audit) {
  if (audit.rows.empty())
    return;
  std::vector<Grid::Align> columns = {Grid::Left, Grid::Detail, Grid::Left,
                                      Grid::Left, Grid::Right,  Grid::Right};
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
  grid.allowParts(/*keys=*/3, /*group=*/3);
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
        {nameText(row.op), Style::Dim},
        {row.phase.str()},
        {row.other ? "" : nameOf(row.confidence).str(), Style::Dim},
        {time ? seconds(time) : ""},
        {row.isUnknown ? "?" : flopCell(exact)}};
    for (auto [i, claim] : llvm::enumerate(row.claims)) {
      Rational flop = rows.flop(i);
      bool isEqual = !claim.differs(row);
      if (claim.isUnknown) {
        cells.insert(cells.end(), {{"?"}, {}, {}});
        continue;
      }
      cells.push_back({flopCell(flop), isEqual ? Style::Plain : Style::Bad});
      cells.push_back({exact.isZero() ? "" : ratioText(flop / exact),
                       isEqual ? Style::Dim : Style::Bad});
      cells.push_back({ruleText(claim, row), Style::Bad});
    }
    grid.add(std::move(cells));
  }
  grid.addRule();
  std::vector<Grid::Cell> total = {
      {"total", Style::Bold},
      {},
      {},
      {},
      {},
      {audit.hardware.isZero() && !audit.unknown.empty()
           ? "?"
           : flopCell(audit.hardware),
       Style::Bold}};
  for (auto [i, claim] : llvm::enumerate(audit.claims)) {
    bool isWhole = !claim.isPartial && audit.rowsUnknownTo(i) == 0;
    std::optional<Rational> ratio = ratioOf(audit, claim);
    total.push_back({isWhole                ? flopCell(claim.total)
                     : claim.total.isZero() ? "?"
                                            : "≥ " + flopCell(claim.total),
                     Style::Bold});
    total.push_back({isWhole && ratio ? ratioText(*ratio) : "", Style::Bold});
    total.push_back({});
  }
  grid.add(std::move(total));
  page.grid(grid);
}

/// What the exact count is based on, as a suffix; empty for a run.
static StringRef sourceOf(const Audit &audit) {
  if (audit.run)
    return "";
  return audit.step.isNamed() ? ", as the program states it"
                              : ", by the shapes in the trace";
}

/// What percentages are of. A run is known also where the trace is not.
static StringRef wholeOf(const Audit &audit) {
  return audit.run || audit.unknown.empty() ? "this step"
                                            : "what is known of this step";
}

/// Writes what each tool counts, and why: `torch.profiler counts 34.1 % of this
/// step: -65.9 % no-backward ..`
static void writeTotals(Page &page, const Audit &audit) {
  Lines lines;
  bool isKnown = audit.run || audit.trace->hasShapes ||
                 llvm::any_of(audit.step.products, [](auto &product) {
                   return product.cost->flop.has_value();
                 });
  if (!isKnown)
    return;
  bool isNothingKnown = audit.model.isZero() && !audit.unknown.empty();
  lines.add("exact",
            isNothingKnown
                ? "?"
                : fmt::format("{}, which is {}{}{}{}", flop(audit.model),
                              audit.model.isInteger() ? "" : "about ",
                              exact(audit.model), sourceOf(audit).str(),
                              audit.unknown.empty()
                                  ? ""
                                  : ", without what is not known"));
  for (auto [i, claim] : llvm::enumerate(audit.claims)) {
    size_t rows = audit.rowsUnknownTo(i);
    if (rows || claim.isPartial) {
      std::string why =
          claim.isPartial
              ? "kernels lack a counter"
              : fmt::format("the shapes of {} do not tell {}",
                            counted(Rational(rows), "row"),
                            claim.total.isZero() ? "it" : "the rest");
      lines.add(claim.id,
                fmt::format("counts {}: {}",
                            claim.total.isZero()
                                ? "?"
                                : "at least " + exact(claim.total),
                            why),
                Style::Bad);
      continue;
    }
    if (audit.isComparable() && audit.model.isZero()) {
      lines.add(claim.id,
                "counts " + exact(claim.total) +
                    (isNothingKnown ? ", where the exact count is not known"
                                    : ", where the exact count is 0"));
      continue;
    }
    std::optional<Rational> ratio = ratioOf(audit, claim);
    if (!ratio) {
      lines.add(claim.id, "is not compared as a whole: too little is matched");
      continue;
    }
    std::vector<RuleShare> shares = sharesOfRules(audit, i);
    Rational ofKnown = claim.total - claim.ofUnknown;
    lines.add(claim.id,
              fmt::format("counts {} of {}, {}{}{}",
                          partText(ratio->toDouble()), wholeOf(audit).str(),
                          exact(ofKnown),
                          claim.ofUnknown.isZero()
                              ? ""
                              : fmt::format(", and {} of what is not known",
                                            exact(claim.ofUnknown)),
                          shares.empty() ? "" : ":"),
              ofKnown == audit.model ? Style::Good : Style::Bad);
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

/// Adds a line for each known level. `joined` introduces the share of the time
/// for which it is known.
static void addLevels(Lines &lines, const Audit &audit, StringRef joined) {
  if (!audit.levels)
    return;
  for (const Level &level : unitLevels()) {
    auto reason =
        llvm::find_if(audit.levels->impossible, [&](const LevelNote &note) {
          return note.id == level.id;
        });
    if (std::optional<double> value = audit.levels->levels.*level.value) {
      std::optional<double> cap = level.id == "tensor_issue"
                                      ? audit.gpu.tensorIssueCap()
                                      : std::nullopt;
      std::optional<double> share = audit.levels->joined.*level.value;
      lines.add(
          level.id.str(),
          fmt::format(
              "{:.1f} %{}{}", *value * 100,
              cap ? fmt::format(", cap {:.1f} %", *cap * 100) : "",
              share ? fmt::format("; {} {:.1f} %", joined.str(), *share * 100)
                    : ""));
    } else if (reason != audit.levels->impossible.end()) {
      lines.add(level.id.str(), "?, since " + reason->text, Style::Bad);
    }
  }
}

/// What counters of CUDA cores leave out. That tensor cores did nothing is
/// known if each kernel says so.
static StringRef besidesCudaCores(const SummedLevels &levels) {
  bool didNothing = false;
  for (auto level : {&UnitLevels::tensorActive, &UnitLevels::tensorIssue})
    if (levels.levels.*level) {
      if (*(levels.levels.*level) > 0)
        return "; tensor cores worked, whose FLOP no counter has";
      didNothing |= levels.joined.*level == 1;
    }
  return didNothing ? ", and none of tensor cores"
                    : "; those of tensor cores are not counted";
}

/// Writes the figures of counters without a timeline.
static void writeCounted(Page &page, const Audit &audit) {
  Lines lines;
  if (audit.run)
    lines.add("exact", fmt::format("{}, which is {}", flop(audit.model),
                                   exact(audit.model)));
  for (const Claim &claim : audit.claims)
    lines.add(claim.id, (claim.isPartial ? "at least " : "") +
                            exact(claim.total) +
                            " FLOP of CUDA cores in f32 and f64" +
                            besidesCudaCores(*audit.levels).str());
  std::optional<double> clock = clockOf(*audit.trace);
  if (int64_t time = audit.wholeTime())
    lines.add("kernels",
              seconds(time) +
                  (audit.hasSumsAlone() ? " in all" : " under the counters") +
                  (clock ? fmt::format(", at {:.2f} GHz", *clock / 1e9) : ""));
  addLevels(lines, audit, "counted for");
  if (std::optional<Rational> use = utilizationInKernels(audit)) {
    std::optional<double> atClock = utilizationAtClock(audit);
    lines.add("in kernels",
              shareText(*use) + " of the peak by the exact count" +
                  (atClock ? fmt::format("; {:.1f} % of what tensor cores do "
                                         "in f16 at the clock of the counters",
                                         *atClock * 100)
                           : ""));
  }
  page.lines(lines);
}

static void writeLevels(Page &page, const Audit &audit) {
  const Levels &levels = audit.step.levels;
  Lines lines;
  auto share = [&](int64_t time) {
    return shareText(Rational::fraction(time, audit.step.deviceTime()));
  };
  if (audit.step.duration() <= 0)
    return;
  const TracedStep &step = audit.step;
  std::string onHost =
      seconds(step.end - step.start) + (step.name.empty() && step.steps == 1
                                            ? ", all of the trace"
                                            : " on the host");
  lines.add("step",
            step.isLongerOnDevice()
                ? seconds(step.duration()) +
                      " from its first kernel to the end of its last, " + onHost
                : onHost);
  auto addTimes = [&](std::string label, const KernelTimes &times, auto share,
                      StringRef ofDevices) {
    lines.add(std::move(label),
              fmt::format(
                  "{} by {} of {}{}; {} as their union, {} without "
                  "communication",
                  share(times.sum), counted(Rational(times.kernels), "kernel"),
                  seconds(times.sum), ofDevices.str(), share(times.unionOfAll),
                  share(times.withoutCommunication)));
  };
  bool areSeveral = levels.devices.size() > 1;
  if (levels.kernels)
    addTimes("GPU", levels, share,
             areSeveral ? fmt::format(", the mean of {} devices",
                                      levels.devices.size())
                        : std::string());
  constexpr size_t mostDevices = 16;
  if (areSeveral)
    for (const DeviceTimes &device :
         llvm::ArrayRef(levels.devices).take_front(mostDevices))
      addTimes(
          fmt::format("device {}", device.device), device,
          [&](int64_t time) {
            return shareText(Rational::fraction(time, step.duration()));
          },
          "");
  if (levels.devices.size() > mostDevices)
    lines.add(
        "", fmt::format("and {} other devices",
                        exact(Rational(levels.devices.size() - mostDevices))));
  if (std::optional<Rational> exactly =
          modelUtilization(audit, audit.ranModel)) {
    lines.add("MFU", shareText(*exactly) + " by the exact count");
    for (const Claim &claim : audit.claims)
      if (claim.total != audit.ranModel && !claim.isPartial)
        lines.add("", shareText(*modelUtilization(audit, claim.total)) +
                          " by " + claim.id);
    if (audit.ranHardware != audit.ranModel)
      lines.add("HFU", shareText(*modelUtilization(audit, audit.ranHardware)));
  }
  if (std::optional<Rational> inKernels = utilizationInKernels(audit))
    lines.add("in kernels",
              shareText(*inKernels) + " of the peak while one runs");
  if (levels.smEfficiency && !audit.levels)
    lines.add("SM",
              fmt::format("{:.1f} % by the profiler's estimate, occupancy "
                          "{:.1f} %, of the time of kernels",
                          *levels.smEfficiency * 100, *levels.occupancy * 100));
  if (const std::optional<JoinedCounters> &joined = audit.joined)
    lines.add("joined",
              fmt::format("{:.1f} % of the kernels' time: {} of {}, with {} of "
                          "{} that were counted",
                          joined->time * 100, joined->kernels,
                          counted(Rational(joined->all), "kernel"),
                          joined->counted, joined->whole),
              joined->time < 0.9 ? Style::Bad : Style::Plain);
  addLevels(lines, audit, "joined");
  page.lines(lines);
}

/// Writes a table of levels, with a column for each level that any row has.
template <typename Rows, typename Begin>
static void writeLevelGrid(Page &page, StringRef heading,
                           std::vector<Grid::Cell> head,
                           std::vector<Grid::Align> columns, const Rows &rows,
                           Begin begin) {
  std::vector<const Level *> shown;
  for (const Level &level : unitLevels())
    if (llvm::any_of(rows, [&](const auto &row) {
          const UnitLevels *levels = levelsIn(row);
          return levels && (levels->*level.value).has_value();
        }))
      shown.push_back(&level);
  for (const Level *level : shown) {
    head.push_back({level->id.str(), Style::Dim});
    columns.push_back(Grid::Right);
  }
  Grid grid(columns);
  grid.add(std::move(head));
  grid.addRule();
  for (const auto &row : rows) {
    std::vector<Grid::Cell> cells = begin(row);
    const UnitLevels *levels = levelsIn(row);
    for (const Level *level : shown)
      cells.push_back(
          {levels && levels->*level->value
               ? fmt::format("{:.1f} %", *(levels->*level->value) * 100)
               : "?"});
    grid.add(std::move(cells));
  }
  page.heading(heading);
  page.grid(grid);
}

/// Writes a table of levels by layer, if there are any, and a table of kernels.
static void writeParts(Page &page, const Audit &audit) {
  int64_t whole = audit.wholeTime();
  if (whole <= 0 && !audit.hasCountersAlone())
    return;
  auto share = [&](int64_t time) {
    return whole > 0 ? shareText(Rational::fraction(time, whole)) : "?";
  };
  constexpr size_t mostLayers = 16, mostKernels = 8;
  std::vector<LevelRow> layers = levelRows(audit);
  if (audit.levels && !layers.empty() && !audit.hasCountersAlone()) {
    auto firstLayer =
        llvm::find_if(layers, [](const LevelRow &row) { return row.isLayer; });
    std::stable_sort(firstLayer, layers.end(),
                     [](const LevelRow &a, const LevelRow &b) {
                       return a.nanoseconds > b.nanoseconds;
                     });
    size_t before = firstLayer - layers.begin();
    layers.resize(std::min(layers.size(), before + mostLayers));
    writeLevelGrid(page, "levels, of the time of each part",
                   {{"part", Style::Dim},
                    {"kernels", Style::Dim},
                    {"of the step", Style::Dim}},
                   {Grid::Left, Grid::Right, Grid::Right}, layers,
                   [&](const LevelRow &row) -> std::vector<Grid::Cell> {
                     return {{nameText(row.name)},
                             {seconds(row.nanoseconds)},
                             {share(row.nanoseconds)}};
                   });
  }
  if (audit.kernels.empty())
    return;
  llvm::ArrayRef<KernelRow> kernels = audit.kernels;
  bool areMore = kernels.size() > mostKernels;
  writeLevelGrid(
      page,
      areMore ? fmt::format("the {} kernels of {} that take most time",
                            mostKernels, kernels.size())
              : std::string("kernels"),
      {{"kernel", Style::Dim},
       {"launches", Style::Dim},
       {"time", Style::Dim},
       {audit.hasCountersAlone() ? "of all" : "of the step", Style::Dim}},
      {Grid::Left, Grid::Right, Grid::Right, Grid::Right},
      kernels.take_front(mostKernels),
      [&](const KernelRow &row) -> std::vector<Grid::Cell> {
        return {{nameText(row.name)},
                {std::to_string(row.launches)},
                {row.nanoseconds ? seconds(row.nanoseconds) : "?"},
                {share(row.nanoseconds)}};
      });
}

static void writeBatches(Page &page, llvm::ArrayRef<const Audit *> audits) {
  std::vector<BatchRow> rows = batchRows(audits);
  if (rows.empty())
    return;
  page.section("by batch", " · examples/s by the time of a step on the host");
  Grid grid({Grid::Right, Grid::Right, Grid::Right, Grid::Right, Grid::Right,
             Grid::Right, Grid::Right, Grid::Detail});
  std::vector<Grid::Cell> head;
  for (const char *title : {"batch", "step", "examples/s", "× above",
                            "memory, traced", "specified", "MFU", "trace"})
    head.push_back({title, Style::Dim});
  grid.add(std::move(head));
  grid.addRule();
  for (auto [i, row] : llvm::enumerate(rows)) {
    std::optional<Rational> use =
        modelUtilization(*row.audit, row.audit->ranModel);
    grid.add(
        {{row.batch.str()},
         {seconds(row.audit->step.duration())},
         {fmt::format("{:.4g}", row.throughput.toDouble())},
         {i ? fmt::format("{:.2f}",
                          (row.throughput / rows[i - 1].throughput).toDouble())
            : ""},
         {row.measured ? inBytes(Rational(*row.measured)) : "?"},
         {row.specified ? inBytes(*row.specified) : "?"},
         {use ? shareText(*use) : "?"},
         {row.audit->file, Style::Dim}});
  }
  page.grid(grid);
  page.batches(figuresOf(rows));
}

void netc::writeAudit(Page &page, const AuditReport &report,
                      const TableOptions &) {
  for (const Audit *audit : report.audits) {
    writeRead(page, *audit);
    if (audit->hasCountersAlone()) {
      writeCounted(page, *audit);
    } else {
      writeCoverage(page, *audit);
      writeRows(page, *audit);
      writeTotals(page, *audit);
      writeLevels(page, *audit);
    }
    writeParts(page, *audit);
    Lines notes;
    for (const Note &note : audit->notes)
      notes.add("note", fmt::format("{} [{}]", note.text, note.id));
    page.lines(notes);
    page.pictures(*audit);
  }
  writeBatches(page, report.audits);
  if (!report.expects.empty())
    writeExpects(page, report.expects, Conventions());
}
