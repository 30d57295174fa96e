// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Page.h"

#include "llvm/ADT/STLExtras.h"

using namespace netc;
using llvm::StringRef;

/// Escapes Markdown in `text`. Markdown drops leading blanks, so they become en
/// spaces.
static std::string escapedMarkdown(StringRef text) {
  std::string result;
  for (StringRef front = text; front.consume_front(" "); text = front)
    result += "&ensp;";
  for (char c : text) {
    if (StringRef("\\|*<[~").contains(c))
      result += '\\';
    result += c;
  }
  return result;
}

static std::string cellText(const Grid::Cell &cell) {
  StringRef text = StringRef(cell.text).rtrim();
  bool isStrong = cell.style == Style::Bold || cell.style == Style::Bad;
  return isStrong && !text.empty() ? "**" + escapedMarkdown(text) + "**"
                                   : escapedMarkdown(text);
}

namespace {
class MarkdownPage : public Page {
public:
  MarkdownPage(llvm::raw_ostream &os, const TableOptions &options)
      : os(os), options(options) {}

  void section(StringRef title, StringRef rest) override {
    os << "## " << escapedMarkdown(title) << "\n\n";
    if (!rest.empty())
      os << escapedMarkdown((title + rest).str()) << "\n\n";
  }
  void heading(StringRef text) override { os << "### " << text << "\n\n"; }
  void paragraph(StringRef text) override {
    os << escapedMarkdown(text) << "\n\n";
  }

  void grid(const Grid &grid) override {
    llvm::ArrayRef<std::vector<Grid::Cell>> rows = grid.lines();
    // A table needs a head, even if it is empty.
    bool hasHead = rows.size() > 1 && rows[1].empty();
    row(grid, hasHead ? rows.front() : std::vector<Grid::Cell>());
    rule(grid);
    for (const std::vector<Grid::Cell> &cells : rows.drop_front(hasHead))
      if (!cells.empty())
        row(grid, cells);
    os << '\n';
  }
  void lines(const Lines &lines) override {
    for (const std::vector<Grid::Cell> &cells : lines.asGrid().lines())
      os << (cells[0].text.empty()
                 ? "  * "
                 : "* " + escapedMarkdown(cells[0].text) + ": ")
         << cellText({StringRef(cells[1].text).ltrim().str(), cells[1].style})
         << '\n';
    os << '\n';
  }
  void layers(const LayerRow &total) override {
    grid(layerGrid(total, options.depth));
  }

private:
  void row(const Grid &grid, llvm::ArrayRef<Grid::Cell> cells) {
    os << '|';
    for (auto [i, align] : llvm::enumerate(grid.aligns()))
      if (align != Grid::Bar)
        os << ' ' << (i < cells.size() ? cellText(cells[i]) : "") << " |";
    os << '\n';
  }
  void rule(const Grid &grid) {
    os << '|';
    for (Grid::Align align : grid.aligns())
      os << (align == Grid::Left || align == Grid::Detail ? "---|"
             : align == Grid::Right                       ? "---:|"
                                                          : "");
    os << '\n';
  }

  llvm::raw_ostream &os;
  const TableOptions options;
};
} // namespace

std::unique_ptr<Page> netc::markdownPage(llvm::raw_ostream &os,
                                         const TableOptions &options) {
  return std::make_unique<MarkdownPage>(os, options);
}
