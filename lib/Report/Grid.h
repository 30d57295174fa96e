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
    Detail, ///< left-aligned; left out if a line is too narrow
    Bar     ///< a bar that shows the number beside it
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
  /// A rule is a row without cells.
  llvm::ArrayRef<std::vector<Cell>> lines() const { return rows; }
  /// Lines start with `indent` blanks, and none ends in blanks. With a `width`,
  /// no line is longer unless a word is: bars shrink or grow, details are left
  /// out, and long cells continue on the next line.
  void print(llvm::raw_ostream &os, unsigned indent, bool colour,
             unsigned width = 0) const;

private:
  std::vector<size_t> widthsFor(unsigned indent, unsigned width) const;

  llvm::SmallVector<Align> columns;
  std::vector<std::vector<Cell>> rows; ///< an empty one is a rule
};

/// Lines of a label and a text.
class Lines {
public:
  Lines() : grid({Grid::Left, Grid::Left}) {}
  void add(std::string label, std::string text, Style style = Style::Plain) {
    grid.add({{std::move(label), Style::Dim}, {std::move(text), style}});
  }
  void print(llvm::raw_ostream &os, bool colour) const {
    grid.print(os, 2, colour);
  }
  /// Two columns. A line without a label continues the one above.
  const Grid &asGrid() const { return grid; }

private:
  Grid grid;
};

/// Breaks `text` into lines of at most `width` columns, unless a word is
/// longer. All lines have the indentation of the first. A number and its unit
/// stay on one line.
std::vector<std::string> wrapped(llvm::StringRef text, size_t width);

} // namespace netc

#endif // NETC_LIB_REPORT_GRID_H
