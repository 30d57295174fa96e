// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Format.h"
#include "lib/Report/Page.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>
#include <fmt/format.h>
#include <set>

using namespace netc;
using llvm::StringRef;

namespace {
/// An item in both reports; null in one that lacks it.
template <typename T> struct Pair { const T *before, *after; };
} // namespace

/// Pairs items with equal keys, in the order of `before`. Those that only
/// `after` has come last.
template <typename T, typename KeyOf>
static std::vector<Pair<T>> pairUp(llvm::ArrayRef<const T *> before,
                                   llvm::ArrayRef<const T *> after,
                                   KeyOf keyOf) {
  llvm::StringMap<const T *> found;
  std::vector<Pair<T>> pairs;
  for (const T *item : after)
    found[keyOf(*item)] = item;
  llvm::StringMap<bool> seen;
  for (const T *item : before) {
    auto other = found.find(keyOf(*item));
    pairs.push_back({item, other == found.end() ? nullptr : other->second});
    seen[keyOf(*item)] = true;
  }
  for (const T *item : after)
    if (!seen.count(keyOf(*item)))
      pairs.push_back({nullptr, item});
  return pairs;
}

/// If each side has exactly one item without a counterpart, these are a pair.
template <typename T> static void pairTheRest(std::vector<Pair<T>> &pairs) {
  auto isOld = [](const Pair<T> &pair) { return !pair.after; };
  auto isNew = [](const Pair<T> &pair) { return !pair.before; };
  if (llvm::count_if(pairs, isOld) != 1 || llvm::count_if(pairs, isNew) != 1)
    return;
  auto added = llvm::find_if(pairs, isNew);
  llvm::find_if(pairs, isOld)->after = added->after;
  pairs.erase(added);
}

/// `a ⇒ b`; `a` if both are equal; the other one if one is empty.
static std::string change(const std::string &before, const std::string &after) {
  return before == after                   ? before
         : before.empty() || after.empty() ? before + after
                                           : before + " ⇒ " + after;
}

/// The relative change, `+12.5 %`; empty if there is none, or if it is not a
/// number.
static std::string changeOf(const Polynomial &before, const Polynomial &after) {
  std::optional<Rational> ratio = shareOf(after, before);
  if (!ratio || *ratio == 1)
    return "";
  double percent = ratio->toDouble() * 100 - 100;
  return std::abs(percent) < 0.1 ? fmt::format("{:+.1g} %", percent)
                                 : fmt::format("{:+.1f} %", percent);
}

//===----------------------------------------------------------------------===//
// Networks
//===----------------------------------------------------------------------===//

static Polynomial othersOf(const Figures &figures) {
  return figures[Phase::Forward].other + figures.backward().other;
}

namespace {
class LayerChanges {
public:
  explicit LayerChanges(unsigned depth)
      : depth(depth), grid({Grid::Left, Grid::Left, Grid::Right, Grid::Right,
                            Grid::Right, Grid::Right, Grid::Right}) {
    std::vector<Grid::Cell> head;
    for (const char *title : {"layer", "shape", "parameters", "forward",
                              "backward", "other", "change"})
      head.push_back({title, Style::Dim});
    grid.add(std::move(head));
    grid.addRule();
  }

  /// The table of rows that differ; null if none does.
  const Grid *build(const LayerRow &before, const LayerRow &after) {
    if (depth != 0) {
      addChildren(before, after, 0);
      if (hasChanges)
        grid.addRule();
    }
    if (!hasChanges && isSame(before, after))
      return nullptr;
    addRow({&before, &after}, 0, Style::Bold);
    return &grid;
  }
  /// The number of blocks that did not change.
  unsigned unchanged() const { return numUnchanged; }

private:
  /// The keys that rows are paired by: names, but numbers for copies (`0–11`).
  static std::vector<std::string> keysOf(llvm::ArrayRef<LayerRow> rows) {
    std::vector<std::string> keys;
    unsigned copies = 0;
    for (const LayerRow &row : rows)
      keys.push_back(llvm::isDigit(row.name[0]) ? fmt::format("#{}", copies++)
                                                : row.name);
    return keys;
  }

  /// Whether all shown fields are equal.
  static bool isSame(const LayerRow &a, const LayerRow &b) {
    const Figures &x = a.figures, &y = b.figures;
    return a.shape == b.shape && x.parameters == y.parameters &&
           x[Phase::Forward].matmul == y[Phase::Forward].matmul &&
           x.backward().matmul == y.backward().matmul &&
           othersOf(x) == othersOf(y);
  }

  void addChildren(const LayerRow &before, const LayerRow &after,
                   unsigned level) {
    llvm::DenseMap<const LayerRow *, std::string> keys;
    std::vector<const LayerRow *> rows[2];
    for (auto [row, side] : {std::pair(&before, 0), std::pair(&after, 1)})
      for (auto [child, key] :
           llvm::zip(row->children, keysOf(row->children))) {
        keys[&child] = key;
        rows[side].push_back(&child);
      }
    for (const Pair<LayerRow> &pair :
         pairUp<LayerRow>(rows[0], rows[1],
                          [&](const LayerRow &row) { return keys[&row]; })) {
      if (pair.before && pair.after && isSame(*pair.before, *pair.after)) {
        ++numUnchanged;
        continue;
      }
      hasChanges = true;
      addRow(pair, level, Style::Plain);
      if (pair.before && pair.after && level + 1 < depth)
        addChildren(*pair.before, *pair.after, level + 1);
    }
  }

  void addRow(const Pair<LayerRow> &pair, unsigned level, Style style) {
    auto both = [&](auto text) {
      return change(pair.before ? text(*pair.before) : "",
                    pair.after ? text(*pair.after) : "");
    };
    auto flops = [&](auto costOf) {
      return both([&](const LayerRow &row) {
        return StringRef(flopCell(costOf(row.figures))).trim().str();
      });
    };
    std::string what = !pair.before ? "new"
                       : !pair.after
                           ? "gone"
                           : changeOf(productsOf(pair.before->figures),
                                      productsOf(pair.after->figures));
    if (!pair.before || !pair.after)
      style = Style::Dim;
    grid.add({{std::string(level * 2, ' ') +
                   both([](const LayerRow &row) { return row.name; }),
               style},
              {both([](const LayerRow &row) { return row.shape; }), Style::Dim},
              {both([](const LayerRow &row) {
                 return row.figures.parameters.isZero()
                            ? std::string("·")
                            : quantity(row.figures.parameters, {});
               }),
               style},
              {flops([](const Figures &figures) {
                 return figures[Phase::Forward].matmul;
               }),
               style},
              {flops([](const Figures &figures) {
                 return figures.backward().matmul;
               }),
               style},
              {flops(othersOf), style},
              {what, style}});
  }

  const unsigned depth;
  Grid grid;
  unsigned numUnchanged = 0;
  bool hasChanges = false;
};
} // namespace

/// Writes a network or run that only one of the reports has.
static void writeLone(Page &page, StringRef name, bool isInFirst) {
  page.section(name, isInFirst ? " · only in the first file"
                               : " · only in the second file");
}

static void writeNetworks(Page &page, const Pair<Network> &pair,
                          const TableOptions &options) {
  if (!pair.before || !pair.after) {
    writeLone(page, (pair.before ? pair.before : pair.after)->name(),
              pair.before);
    return;
  }
  page.section(change(pair.before->name().str(), pair.after->name().str()), "");
  LayerChanges changes(options.depth);
  const Grid *grid = changes.build(layerRows(pair.before->parts),
                                   layerRows(pair.after->parts));
  if (grid)
    page.grid(*grid);
  Lines lines;
  auto add = [&](const char *label, auto textOf) {
    std::string a = textOf(*pair.before), b = textOf(*pair.after);
    if (a != b)
      lines.add(label, change(a, b));
  };
  auto ofRoot = [](const Network &network) -> const Figures & {
    return network.parts.root().figures;
  };
  add("conventions", [](const Network &network) {
    return conventionsText(network.conventions);
  });
  add("parameters", [&](const Network &network) {
    return exact(ofRoot(network).parameters);
  });
  add("saved for backward", [&](const Network &network) {
    return bytes(ofRoot(network).activations);
  });
  add("memory traffic",
      [&](const Network &network) { return bytes(ofRoot(network).traffic()); });
  if (grid && options.depth != 0)
    lines.add("blocks as before", std::to_string(changes.unchanged()));
  if (!lines.asGrid().lines().empty())
    page.lines(lines);
  else if (!grid)
    page.paragraph("costs the same");
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static std::vector<RunReport> jobsOf(const RunReport &report) {
  std::vector<RunReport> jobs;
  for (size_t i = 0; i < report.run->jobs.size(); ++i)
    jobs.push_back(report.ofJob(i));
  return jobs;
}

static void writeRunPairs(Page &page, llvm::ArrayRef<RunReport> before,
                          llvm::ArrayRef<RunReport> after);

namespace {
/// Lines for figures of two runs that differ.
class RunLinesOfDifference {
public:
  explicit RunLinesOfDifference(const Pair<RunReport> &pair)
      : pair(pair), a(*pair.before->run), b(*pair.after->run) {}

  Lines write() {
    addStep();
    addTotals();
    addMemory();
    return std::move(lines);
  }

private:
  void addStep();
  void addTotals();
  void addMemory();
  void addAs(std::string label, const RunReport::Figure &figure,
             const RunReport::TextOf &textOf);
  void add(std::string label, const RunReport::Figure &figure,
           Dimension dimension) {
    addAs(std::move(label), figure, [=](const Rational &value) {
      return formatQuantity(value, dimension);
    });
  }
  void addCost(std::string label, std::function<Cost(const Figures &)> costOf) {
    auto flop = [=](const Run &run) {
      return run.hasStep() ? costOf(run.step()).total().constant()
                           : std::nullopt;
    };
    add(std::move(label), flop, Dimension::Flop);
  }

  const Pair<RunReport> &pair;
  const Run &a, &b;
  Lines lines;
};
} // namespace

void RunLinesOfDifference::addAs(std::string label,
                                 const RunReport::Figure &figure,
                                 const RunReport::TextOf &textOf) {
  std::optional<Rational> before = figure(a), after = figure(b);
  std::string from = pair.before->text(figure, textOf),
              to = pair.after->text(figure, textOf);
  if (before == after && from == to)
    return;
  std::string relative = before && after ? changeOf(*before, *after) : "";
  lines.add(std::move(label), (before ? from : "none") + " ⇒ " +
                                  (after ? to : "none") +
                                  (relative.empty() ? "" : "; " + relative));
}

void RunLinesOfDifference::addStep() {
  if (!(a.conventions == b.conventions))
    lines.add("conventions", change(conventionsText(a.conventions),
                                    conventionsText(b.conventions)));
  add("steps", [](const Run &run) { return run.steps; }, {});
  add(
      "batch", [](const Run &run) { return run.batch; }, Dimension::Example);
  add(
      "examples", [](const Run &run) { return run.examples; },
      Dimension::Example);
  add(
      "tokens", [](const Run &run) { return run.tokens; }, Dimension::Token);
  addCost("one step, all ops",
          [](const Figures &step) { return step.hardware(); });
  addCost("  its update",
          [](const Figures &step) { return step[Phase::Update]; });
  addCost("  its recomputation",
          [](const Figures &step) { return step[Phase::Recompute]; });
  std::set<NumberFormat> formats;
  for (const Run *run : {&a, &b})
    for (NumberFormat format : run->formats())
      formats.insert(format);
  if (formats.size() > 1)
    for (NumberFormat format : formats)
      addCost(
          "one step in " + traitsOf(format).name.str(),
          [format](const Figures &step) { return step.in(format).hardware(); });
}

void RunLinesOfDifference::addTotals() {
  add("compute", &Run::modelFlop, Dimension::Flop);
  add("compute by time", &Run::flopByTime, Dimension::Flop);
  addAs("utilization", &Run::modelUtilization,
        [](const Rational &share) { return percent(share, 1); });
  addAs("device time", &Run::deviceTime,
        [](const Rational &seconds) { return deviceTime(seconds / 3600); });
  add("time", &Run::time, Dimension::Time);
  if (a.precision != b.precision)
    lines.add("precision", (a.precision.empty() ? "f32" : a.precision) + " ⇒ " +
                               (b.precision.empty() ? "f32" : b.precision));
}

void RunLinesOfDifference::addMemory() {
  add("memory per device", &Run::memoryPerDevice, Dimension::Data);
  for (auto [name, part] : Memory::parts()) {
    auto ofPart = [part = part](const Run &run) -> const BytesByType & {
      return run.memory.*part;
    };
    add(
        "  " + name.str(),
        [=](const Run &run) { return ofPart(run).total().constant(); },
        Dimension::Data);
    std::set<std::string> types;
    for (const Run *run : {&a, &b})
      for (const auto &[type, bytes] : ofPart(*run).types())
        types.insert(type);
    if (types.size() > 1)
      for (const std::string &type : types)
        add(
            "  " + name.str() + " in " + type,
            [=](const Run &run) { return ofPart(run).of(type).constant(); },
            Dimension::Data);
  }
  add("memory traffic", &Run::trafficOfStep, Dimension::Data);
  add(
      "  of conversions",
      [](const Run &run) {
        return run.hasStep() ? run.step().converted.constant() : std::nullopt;
      },
      Dimension::Data);
}

static void writeRuns(Page &page, const Pair<RunReport> &pair) {
  if (!pair.before || !pair.after) {
    writeLone(page, (pair.before ? pair.before : pair.after)->run->name(),
              pair.before);
    return;
  }
  page.section(
      change(pair.before->run->name().str(), pair.after->run->name().str()),
      "");
  Lines lines = RunLinesOfDifference(pair).write();
  if (lines.asGrid().lines().empty())
    page.paragraph("costs the same");
  else
    page.lines(lines);
  writeRunPairs(page, jobsOf(*pair.before), jobsOf(*pair.after));
}

static void writeRunPairs(Page &page, llvm::ArrayRef<RunReport> before,
                          llvm::ArrayRef<RunReport> after) {
  auto pointers = [](llvm::ArrayRef<RunReport> reports) {
    std::vector<const RunReport *> runs;
    for (const RunReport &report : reports)
      runs.push_back(&report);
    return runs;
  };
  std::vector<Pair<RunReport>> runs = pairUp<RunReport>(
      pointers(before), pointers(after),
      [](const RunReport &report) { return report.run->shortName(); });
  pairTheRest(runs);
  for (const Pair<RunReport> &pair : runs)
    writeRuns(page, pair);
}

void netc::writeDifference(Page &page, const Report &before,
                           const Report &after, const TableOptions &options) {
  auto nameOfNetwork = [](const Network &network) { return network.name(); };
  std::vector<Pair<Network>> networks =
      pairUp<Network>(before.networks, after.networks, nameOfNetwork);
  pairTheRest(networks);
  for (const Pair<Network> &pair : networks)
    writeNetworks(page, pair, options);

  writeRunPairs(page, before.runs, after.runs);
}
