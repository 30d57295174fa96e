// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Format.h"
#include "lib/Report/Writers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

using namespace netc;
using llvm::StringRef;

namespace {
/// A column of the summary. It is left out if it is empty for all runs.
struct SummaryColumn {
  const char *title;
  std::function<std::string(const RunReport &)> cell;
  /// Whether it is also left out if it is equal for all runs.
  bool tellsDifferences = false;
  /// Whether the cell of a run is shown as bad.
  std::function<bool(const RunReport &)> isBad = [](const RunReport &) {
    return false;
  };
};
} // namespace

static bool exceedsDevice(const RunReport &report) {
  std::optional<MemoryVerdict> verdict = memoryVerdict(*report.run);
  return verdict && !verdict->fits;
}

static std::string fitText(const RunReport &report) {
  std::optional<MemoryVerdict> verdict = memoryVerdict(*report.run);
  if (!verdict)
    return "";
  return verdict->fits ? "fits " + inBytes(verdict->capacity)
                       : "exceeds " + inBytes(verdict->capacity);
}

static std::vector<SummaryColumn> summaryColumns() {
  return {
      {"compute",
       [](const RunReport &report) {
         std::optional<Rational> flop = report.run->modelFlop();
         return flop ? flopCell(*flop) : "";
       }},
      {"by time",
       [](const RunReport &report) {
         return report.computeByTime ? flopCell(report.computeByTime->flop)
                                     : "";
       }},
      {"ratio",
       [](const RunReport &report) {
         std::optional<Comparison> both = compareMethods(*report.run);
         return both ? formatQuantity(both->ratio, {}, 3) : "";
       }},
      {"MFU",
       [](const RunReport &report) {
         std::optional<Rational> share = report.run->modelUtilization();
         return share ? inPercent(*share) : "";
       }},
      {"T",
       [](const RunReport &report) {
         std::optional<Rational> positions = report.run->positions();
         return positions ? exact(*positions) : "";
       }},
      {"tokens a step",
       [](const RunReport &report) {
         std::optional<Rational> tokens = report.run->tokensPerStep();
         return tokens ? formatQuantity(*tokens, {}) : "";
       }},
      {"precision",
       [](const RunReport &report) { return report.run->precision; },
       /*tellsDifferences=*/true},
      {"memory",
       [](const RunReport &report) {
         std::optional<Rational> memory = report.run->memoryPerDevice();
         return memory ? inBytes(*memory) : "";
       }},
      {"device", fitText, /*tellsDifferences=*/false, exceedsDevice},
  };
}

void netc::writeSummary(Page &page, const Report &report) {
  if (report.runs.size() < 2)
    return;
  std::vector<std::vector<Grid::Cell>> rows(report.runs.size() + 1);
  rows.front().push_back({"run", Style::Dim});
  for (auto [run, row] : llvm::zip_equal(report.runs, llvm::drop_begin(rows)))
    row.push_back({run.run->name().str()});
  auto add = [&](const SummaryColumn &column) {
    std::vector<std::string> cells;
    for (const RunReport &run : report.runs)
      cells.push_back(column.cell(run));
    if (llvm::all_of(cells, [](StringRef cell) { return cell.empty(); }) ||
        (column.tellsDifferences && llvm::all_equal(cells)))
      return;
    rows.front().push_back({column.title, Style::Dim});
    for (auto [run, cell, row] :
         llvm::zip_equal(report.runs, cells, llvm::drop_begin(rows)))
      row.push_back(
          {std::move(cell), column.isBad(run) ? Style::Bad : Style::Plain});
  };
  for (const SummaryColumn &column : summaryColumns())
    add(column);
  llvm::SmallVector<Grid::Align> aligns(rows.front().size(), Grid::Right);
  aligns.front() = Grid::Left;
  size_t figures = aligns.size();
  add({"warnings", [&](const RunReport &run) {
         std::set<std::string> ids;
         forEachRun(*run.run, [&](const Run &part) {
           for (const Warning &warning : report.warnings)
             if (warning.about == part.name())
               ids.insert(warning.id);
         });
         return llvm::join(ids, " ");
       }});
  if (rows.front().size() > figures)
    aligns.push_back(Grid::Left);

  Grid grid(aligns);
  for (auto [i, row] : llvm::enumerate(rows)) {
    grid.add(std::move(row));
    if (i == 0)
      grid.addRule();
  }
  page.section("summary", fmt::format(" · {} runs · FLOP", report.runs.size()));
  page.grid(grid);
}
