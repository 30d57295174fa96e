// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Format.h"
#include "lib/Report/Writers.h"

#include "llvm/ADT/STLExtras.h"

using namespace netc;
using llvm::StringRef;

namespace {
/// A column of a sweep's table. Its cell is empty if the figure is unknown.
struct SweepColumn {
  const char *title;
  std::function<std::string(const RunReport &)> cell;
};
} // namespace

static std::vector<SweepColumn> sweepColumns() {
  auto withRange = [](const RunReport::Figure &figure, auto textOf) {
    return [=](const RunReport &point) { return point.text(figure, textOf); };
  };
  auto ofStep = [](Cost (Figures::*costOf)() const) {
    return [=](const RunReport &point) {
      auto flop = [=](const Run &run) {
        return run.hasStep() ? (run.step().*costOf)().matmul : Polynomial();
      };
      return flopCell(flop(*point.run)) +
             point.rangeText(
                 [=](const Run &run) { return flop(run).constant(); },
                 [](const Rational &flop) { return flopCell(flop); });
    };
  };
  return {
      {"steps", withRange([](const Run &run) { return run.steps; },
                          [](const Rational &steps) { return exact(steps); })},
      {"one step", ofStep(&Figures::model)},
      {"with recomputation",
       [=](const RunReport &point) {
         return point.run->step()[Phase::Recompute].total().isZero()
                    ? ""
                    : ofStep(&Figures::hardware)(point);
       }},
      {"compute", withRange(&Run::modelFlop, inFlop)},
      {"compute by time",
       [](const RunReport &point) {
         return point.computeByTime ? flopText(*point.computeByTime) : "";
       }},
      {"utilization", withRange(&Run::modelUtilization, inPercent)},
      {"device time", withRange(
                          [](const Run &run) {
                            return run.reportedDeviceTime() ? std::nullopt
                                                            : run.deviceTime();
                          },
                          inDeviceTime)},
      {"memory per device",
       [](const RunReport &point) {
         return bytes(point.run->memory.total()) +
                point.rangeText(&Run::memoryPerDevice, inBytes);
       }},
  };
}

/// Whether no figure of any point depends on setting number `place`.
static bool changesNothing(size_t place, llvm::ArrayRef<RunReport> sweep,
                           llvm::ArrayRef<std::vector<std::string>> figures) {
  std::map<std::vector<std::string>, std::vector<std::string>> seen;
  for (auto [row, cells] : llvm::zip_equal(sweep, figures)) {
    std::vector<std::string> others;
    for (auto [i, value] : llvm::enumerate(row.values))
      others.push_back(i == place ? "" : value.second);
    if (seen.try_emplace(std::move(others), cells).first->second != cells)
      return false;
  }
  return seen.size() < sweep.size();
}

void netc::writeSweep(Page &page, llvm::ArrayRef<RunReport> sweep) {
  std::vector<Grid::Cell> head;
  for (auto &[name, value] : sweep.front().values)
    head.push_back({name, Style::Dim});
  std::vector<std::vector<std::string>> figures(sweep.size());
  for (const SweepColumn &column : sweepColumns()) {
    std::vector<std::string> cells;
    for (const RunReport &point : sweep)
      cells.push_back(column.cell(point));
    if (llvm::all_of(cells, [](const std::string &cell) { return cell == ""; }))
      continue;
    head.push_back({column.title, Style::Dim});
    for (auto [row, cell] : llvm::zip_equal(figures, cells))
      row.push_back(std::move(cell));
  }
  Grid grid(llvm::SmallVector<Grid::Align>(head.size(), Grid::Right));
  grid.add(std::move(head));
  grid.addRule();
  for (auto [row, cells] : llvm::zip_equal(sweep, figures)) {
    std::vector<Grid::Cell> line;
    for (auto &[name, value] : row.values)
      line.push_back({value});
    for (const std::string &cell : cells)
      line.push_back({cell});
    grid.add(std::move(line));
  }
  page.heading("sweep");
  page.grid(grid);
  Lines lines;
  for (auto [place, varied] : llvm::enumerate(sweep.front().values))
    if (changesNothing(place, sweep, figures))
      lines.add("`" + varied.first + "`", "changes none of these figures");
  page.lines(lines);
}
