// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Opaque.h"
#include "lib/Report/Format.h"
#include "lib/Report/Writers.h"

#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

using namespace netc;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Names and shapes: `image: N×3×224×224, label: N`.
template <typename Names, typename Values>
static std::string signature(Names names, Values values) {
  std::string list;
  for (auto [name, value] : llvm::zip(names, values))
    list += (list.empty() ? "" : ", ") + name.str() + ": " +
            sizesText(shapeOf(value).sizes);
  return list;
}

//===----------------------------------------------------------------------===//
// Networks
//===----------------------------------------------------------------------===//

namespace {
/// The table of a network's layers.
class LayerTable {
public:
  explicit LayerTable(unsigned depth)
      : depth(depth),
        grid({Grid::Left, Grid::Left, Grid::Detail, Grid::Right, Grid::Right,
              Grid::Right, Grid::Right, Grid::Right, Grid::Bar}) {}

  Grid build(const LayerRow &total) {
    std::vector<Grid::Cell> head;
    for (const char *title : {"layer", "op", "shape", "parameters", "forward",
                              "backward", "other", "share"})
      head.push_back({title, Style::Dim});
    grid.add(std::move(head));
    grid.addRule();
    if (depth != 0) {
      addAll(total.children, 0);
      grid.addRule();
    }
    addRow(total, 0, Style::Bold);
    return std::move(grid);
  }

private:
  void addAll(llvm::ArrayRef<LayerRow> rows, unsigned level) {
    for (const LayerRow &row : rows) {
      addRow(row, level, Style::Plain);
      if (level + 1 < depth)
        addAll(row.children, level + 1);
    }
  }

  void addRow(const LayerRow &row, unsigned level, Style style) {
    const Cost &forward = row.figures[Phase::Forward];
    Cost backward = row.figures.backward();
    grid.add({{std::string(level * 2, ' ') + row.name, style},
              {row.op, Style::Dim},
              {row.shape, Style::Dim},
              {row.figures.parameters.isZero()
                   ? "·"
                   : quantity(row.figures.parameters, {}),
               style},
              {flopCell(forward.matmul), style},
              {flopCell(backward.matmul), style},
              {flopCell(forward.other + backward.other), style},
              {shareCell(row.share), style},
              barCell(row.share)});
  }

  const unsigned depth;
  Grid grid;
};
} // namespace

Grid netc::layerGrid(const LayerRow &total, unsigned depth) {
  return LayerTable(depth).build(total);
}

bool netc::isUnknown(const Figures &figures) {
  return llvm::any_of(figures.model().matmul.symbols(), [](StringRef symbol) {
    return symbol.starts_with(unknownCost);
  });
}

bool netc::hasOpaque(const PartTree &parts) {
  return llvm::any_of(parts.parts,
                      [](const Part &part) { return part.op == "opaque"; });
}

std::string netc::besideOpaque(const PartTree &parts) {
  return hasOpaque(parts) ? ", without those in opaque parts" : "";
}

void netc::addPolynomials(Lines &lines, const Figures &figures) {
  auto add = [&](const char *label, const Cost &cost) {
    if (!cost.matmul.isZero())
      lines.add(label, cost.matmul.str() + " FLOP");
    if (!cost.other.isZero())
      lines.add(label + std::string(", other"), cost.other.str() + " FLOP");
  };
  add("forward", figures[Phase::Forward]);
  add("backward", figures.backward());
  add("optimizer", figures[Phase::Update]);
  add("recomputation", figures[Phase::Recompute]);
}

static void writeNetwork(Page &page, const Network &network,
                         llvm::ArrayRef<Warning> warnings,
                         const TableOptions &options) {
  NetworkOp op = network.op;
  const Figures &figures = network.parts.root().figures;
  page.section(
      network.name(),
      "(" +
          signature(op.getInputs().getAsRange<mlir::StringAttr>(),
                    op.getBlock().getArguments()) +
          ") → " +
          signature(op.getReturn().getNames().getAsRange<mlir::StringAttr>(),
                    op.getReturn().getOperands()));
  std::string parameters = counted(figures.parameters, "parameter");
  if (isUnknown(figures))
    parameters = "of unknown size, " + parameters + " known";
  if (figures.trainable != figures.parameters)
    parameters += ", " + exact(figures.trainable) + " trainable";
  if (!figures.idle.isZero())
    parameters += ", " + exact(figures.parameters - figures.idle) + " active";
  auto axes = network.freeAxes();
  bool isBatched = llvm::any_of(
      axes, [](const auto &axis) { return axis.first == kBatchAxis; });
  parameters += isBatched ? " · FLOP of one example"
                          : " · FLOP of one pass, as no input has an axis N";
  for (auto &[name, size] : axes)
    if (size && name != kBatchAxis)
      parameters += ", " + name + " = " + exact(*size);
  page.paragraph(parameters + " · " + conventionsText(network.conventions));
  page.layers(layerRows(network.parts));

  Lines lines;
  for (const Warning &warning : warnings)
    if (warning.about == network.name())
      lines.add("warning", textOf(warning), Style::Bad);
  if (!isUnknown(figures))
    lines.add("saved for backward",
              bytes(figures.activations) + besideOpaque(network.parts));
  if (options.symbolic)
    addPolynomials(lines, network.symbolic);
  page.lines(lines);
}

//===----------------------------------------------------------------------===//
// Expects
//===----------------------------------------------------------------------===//

void netc::writeExpects(Page &page, llvm::ArrayRef<Verdict> expects,
                        const Conventions &conventions) {
  size_t holding = llvm::count_if(
      expects, [](const Verdict &verdict) { return verdict.holds; });
  page.section("expect",
               fmt::format(" · {} of {} hold{}{}", holding, expects.size(),
                           expects.size() == 1 ? "s" : "",
                           conventions == Conventions()
                               ? ""
                               : ", by the conventions of the file"));
  Grid grid({Grid::Left, Grid::Left, Grid::Left, Grid::Left});
  for (const Verdict &verdict : expects) {
    StringRef text = verdict.text;
    text.consume_front("expect ");
    Style style = verdict.holds ? Style::Good : Style::Bad;
    grid.add({{verdict.holds ? "✓" : "✗", style},
              {text.ltrim().str()},
              {verdict.value.text, verdict.holds ? Style::Plain : Style::Bad},
              {fmt::format("{}:{}{}", verdict.file, verdict.line,
                           verdict.trace.empty() ? "" : ", " + verdict.trace),
               Style::Dim}});
  }
  page.grid(grid);
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

void netc::writeReport(Page &page, const Report &report,
                       const TableOptions &options) {
  writeSummary(page, report);
  for (const Network *network : report.networks)
    writeNetwork(page, *network, report.warnings, options);
  for (const RunReport &run : report.runs)
    writeRun(page, run, report.warnings, options);
  writeOtherWarnings(page, report);
  if (!report.expects.empty())
    writeExpects(page, report.expects, report.conventions);
}

namespace {
class TextPage : public Page {
public:
  TextPage(llvm::raw_ostream &os, const TableOptions &options)
      : os(os), options(options) {}

  void section(StringRef title, StringRef rest) override {
    os << separator;
    separator = "\n";
    StringRef style = title;
    for (const std::string &line : linesOf((title + rest).str())) {
      bool isTitled = StringRef(line).starts_with(style) && !style.empty();
      os << (isTitled ? styled(title, Style::Bold, options.colour) : "")
         << StringRef(line).drop_front(isTitled ? title.size() : 0) << '\n';
      style = "";
    }
  }
  void heading(StringRef text) override { os << "\n  " << text << '\n'; }
  void paragraph(StringRef text) override {
    for (const std::string &line : linesOf(text))
      os << line << '\n';
  }
  void grid(const Grid &grid) override {
    os << '\n';
    grid.print(os, 2, options.colour, options.width);
  }
  void lines(const Lines &lines) override {
    if (!lines.asGrid().lines().empty())
      grid(lines.asGrid());
  }
  void layers(const LayerRow &total) override {
    grid(layerGrid(total, options.depth));
  }

private:
  std::vector<std::string> linesOf(StringRef text) const {
    return wrapped(text, options.width == 0 ? SIZE_MAX : options.width);
  }

  llvm::raw_ostream &os;
  const TableOptions options;
  StringRef separator;
};
} // namespace

std::unique_ptr<Page> netc::textPage(llvm::raw_ostream &os,
                                     const TableOptions &options) {
  return std::make_unique<TextPage>(os, options);
}
