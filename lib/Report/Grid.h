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
    Bar ///< a bar() to the left, which repeats a number beside it
  };

  struct Cell {
    std::string text;
    Style style = Style::Plain;
  };

  explicit Grid(llvm::ArrayRef<Align> columns)
      : columns(columns.begin(), columns.end()) {}

  void add(std::vector<Cell> row) { rows.push_back(std::move(row)); }
  /// A line across all columns.
  void addRule() { rows.emplace_back(); }
  llvm::ArrayRef<Align> aligns() const { return columns; }
  /// Of a rule, no cells.
  llvm::ArrayRef<std::vector<Cell>> lines() const { return rows; }
  /// Every line starts with `indent` blanks; none ends in any.
  void print(llvm::raw_ostream &os, unsigned indent, bool colour) const;

private:
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

/// A bar of up to `width` columns, in eighths of a column.
std::string bar(double share, unsigned width);

} // namespace netc

#endif // NETC_LIB_REPORT_GRID_H
