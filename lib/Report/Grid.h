// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_GRID_H
#define NETC_LIB_REPORT_GRID_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace netc {

enum class Style { Plain, Bold, Dim, Good, Bad };

/// `text` with the escape codes of `style` around it, if `colour` is set.
std::string styled(llvm::StringRef text, Style style, bool colour);

/// Text in columns, each as wide as its widest cell.
class Grid {
public:
  enum Align {
    Left,
    Right,
    Detail, ///< to the left, and left out where a line is too narrow for all
    Bar     ///< a share, drawn, which repeats a number beside it
  };

  struct Cell {
    std::string text;
    Style style = Style::Plain;
    double share = 0; ///< of a bar
  };

  explicit Grid(llvm::ArrayRef<Align> columns)
      : columns(columns.begin(), columns.end()) {}

  void add(std::vector<Cell> row) { rows.push_back(std::move(row)); }
  /// A line across all columns.
  void addRule() { rows.emplace_back(); }
  llvm::ArrayRef<Align> aligns() const { return columns; }
  /// Of a rule, no cells.
  llvm::ArrayRef<std::vector<Cell>> lines() const { return rows; }
  /// Every line starts with `indent` blanks; none ends in any. With a `width`,
  /// lines are no longer than that as far as words allow: bars shrink to
  /// nothing, cells go on in the next line, and details are left out. Bars grow
  /// where there is room.
  void print(llvm::raw_ostream &os, unsigned indent, bool colour,
             unsigned width = 0) const;

private:
  std::vector<size_t> widthsFor(unsigned indent, unsigned width) const;

  llvm::SmallVector<Align> columns;
  std::vector<std::vector<Cell>> rows; ///< an empty one is a rule
};

/// Lines of a label and what it says.
class Lines {
public:
  Lines() : grid({Grid::Left, Grid::Left}) {}
  void add(std::string label, std::string text, Style style = Style::Plain) {
    grid.add({{std::move(label), Style::Dim}, {std::move(text), style}});
  }
  void print(llvm::raw_ostream &os, bool colour) const {
    grid.print(os, 2, colour);
  }
  /// Of two columns. A line without a label goes on with the one above.
  const Grid &asGrid() const { return grid; }

private:
  Grid grid;
};

/// `text` in lines of at most `width` columns, as far as words allow; behind
/// the first, blanks as in front of it. A number keeps its unit.
std::vector<std::string> wrapped(llvm::StringRef text, size_t width);

} // namespace netc

#endif // NETC_LIB_REPORT_GRID_H
