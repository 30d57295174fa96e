// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/HardwareTable.h"

#include "lib/Report/Grid.h"
#include "lib/Units/Units.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

using namespace netc;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// All accelerators
//===----------------------------------------------------------------------===//

static const char *markOf(const Figure &figure) {
  return figure.isUncertain ? "?" : " ";
}

/// A figure divided by 10^`power`, with a mark if it is uncertain.
static std::string cell(const Figure &figure, int power) {
  return fmt::format("{:.4g}{}",
                     (figure.value / Rational(10).pow(power)).toDouble(),
                     markOf(figure));
}

static std::string cell(const std::optional<Figure> &figure, int power) {
  return figure ? cell(*figure, power) : "· ";
}

void netc::printAccelerators(llvm::raw_ostream &os,
                             const AcceleratorTable &table, bool colour) {
  static constexpr NumberFormat formats[] = {
      NumberFormat::F64, NumberFormat::F32,  NumberFormat::TF32,
      NumberFormat::F16, NumberFormat::BF16, NumberFormat::F8E4M3};
  llvm::SmallVector<Grid::Align> columns(12, Grid::Right);
  columns[0] = columns[1] = columns[2] = Grid::Left;
  Grid grid(columns);
  std::vector<Grid::Cell> head = {
      {"name", Style::Dim}, {"vendor", Style::Dim}, {"released", Style::Dim}};
  for (NumberFormat format : formats)
    head.push_back({traitsOf(format)
                            .name.take_until([](char c) { return c == 'e'; })
                            .str() +
                        " ",
                    Style::Dim});
  for (const char *title : {"memory ", "bandwidth ", "power "})
    head.push_back({title, Style::Dim});
  grid.add(std::move(head));
  grid.add({{""},
            {""},
            {""},
            {"TFLOP/s", Style::Dim},
            {""},
            {""},
            {""},
            {""},
            {""},
            {"GB ", Style::Dim},
            {"GB/s ", Style::Dim},
            {"W ", Style::Dim}});
  grid.addRule();

  std::vector<const Accelerator *> sorted;
  for (const Accelerator &accelerator : table.accelerators())
    if (!accelerator.peaks.empty())
      sorted.push_back(&accelerator);
  llvm::stable_sort(sorted, [](const Accelerator *a, const Accelerator *b) {
    return a->released < b->released;
  });
  for (const Accelerator *accelerator : sorted) {
    std::vector<Grid::Cell> row = {{accelerator->name, Style::Bold},
                                   {accelerator->vendor},
                                   {accelerator->released}};
    for (NumberFormat format : formats) {
      const Peak *peak = accelerator->fastest(format);
      row.push_back({peak ? cell(peak->flopPerSecond, 12) : "· "});
    }
    row.push_back({cell(accelerator->memoryBytes, 9)});
    row.push_back({cell(accelerator->bandwidthBytesPerSecond, 9)});
    row.push_back({cell(accelerator->watts, 0)});
    grid.add(std::move(row));
  }
  grid.print(os, 0, colour);
  os << "\nDense peaks of the faster units; `?`: the sources conflict or are "
        "weak. `--hardware=V100` shows one, with its sources.\n";
}

//===----------------------------------------------------------------------===//
// One accelerator
//===----------------------------------------------------------------------===//

namespace {
/// The figures of one accelerator, and the sources that they cite.
class Sheet {
public:
  Sheet(const AcceleratorTable &table)
      : table(table), grid({Grid::Left, Grid::Right, Grid::Left}) {}

  void add(std::string label, const Figure &figure, const Dimension &dimension,
           StringRef remark = "") {
    std::string source = figure.source;
    for (StringRef text :
         {figure.isUncertain ? StringRef("uncertain") : "", remark})
      if (!text.empty())
        source += (source.empty() ? "" : "; ") + text.str();
    grid.add({{std::move(label), Style::Dim},
              {formatQuantity(figure.value, dimension)},
              {source, figure.isUncertain ? Style::Bad : Style::Dim}});
    noteSources(figure.source);
  }

  void print(llvm::raw_ostream &os, bool colour) const {
    grid.print(os, 2, colour);
    if (sources.empty())
      return;
    os << "\n  sources\n\n";
    Lines lines;
    for (const std::string &id : sources)
      lines.add(id, table.source(id).str());
    lines.print(os, colour);
  }

private:
  /// Collects the sources that a text cites by id.
  void noteSources(StringRef text) {
    while (!text.empty()) {
      StringRef word = text.take_while(llvm::isAlnum);
      text = text.drop_front(std::max<size_t>(word.size(), 1));
      if (!table.source(word).empty() && !llvm::is_contained(sources, word))
        sources.push_back(word.str());
    }
  }

  const AcceleratorTable &table;
  Grid grid;
  std::vector<std::string> sources; ///< in order of citation
};
} // namespace

static std::string labelOf(const Peak &peak) {
  const char *unit = peak.unit == ArithmeticUnit::Vector   ? "vector units"
                     : peak.unit == ArithmeticUnit::Matrix ? "matrix units"
                                                           : "accumulating f16";
  return (traitsOf(peak.format).name + ", " + unit).str();
}

void netc::printAccelerator(llvm::raw_ostream &os,
                            const Accelerator &accelerator,
                            const AcceleratorTable &table, bool colour) {
  os << styled(accelerator.name, Style::Bold, colour);
  for (StringRef text :
       {accelerator.title, accelerator.vendor, accelerator.released})
    if (!text.empty())
      os << " · " << text;
  os << '\n';
  if (!accelerator.aliases.empty())
    os << "also called " << llvm::join(accelerator.aliases, ", ") << '\n';
  if (!accelerator.part.empty() && accelerator.parts > 1) {
    std::string part = accelerator.name + "_" + accelerator.part;
    os << accelerator.parts << " to a device: " << part << '\n';
  }
  if (!accelerator.note.empty())
    os << accelerator.note << '\n';
  os << '\n';

  Sheet sheet(table);
  for (const Peak &peak : accelerator.peaks) {
    bool isInteger = traitsOf(peak.format).exponentBits == 0;
    sheet.add(labelOf(peak), peak.flopPerSecond,
              Dimension(isInteger ? Dimension::Op : Dimension::Flop) /
                  Dimension::Time);
  }
  Dimension bytes = Dimension::Data, rate = bytes / Dimension::Time;
  if (accelerator.memoryBytes)
    sheet.add("memory", *accelerator.memoryBytes, bytes);
  if (accelerator.bandwidthBytesPerSecond)
    sheet.add("bandwidth", *accelerator.bandwidthBytesPerSecond, rate);
  if (accelerator.linkBytesPerSecond)
    sheet.add("link", *accelerator.linkBytesPerSecond, rate,
              accelerator.linkKind);
  if (accelerator.watts)
    sheet.add("power, in W", *accelerator.watts, {});
  sheet.print(os, colour);
}
