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

/// `text`, with the escape codes of `style` around it if `colour` is set.
std::string styled(llvm::StringRef text, Style style, bool colour);

/// A text table. Columns are as wide as their widest cell.
class Grid {
public:
  enum Align {
    Left,
    Right,
    Detail, ///< left-aligned; omitted if the line is too narrow
    Bar     ///< a bar for the number next to it
  };

  struct Cell {
    std::string text;
    Style style = Style::Plain;
    double share = 0; ///< length of a bar, from 0 to 1
  };

  explicit Grid(llvm::ArrayRef<Align> columns)
      : columns(columns.begin(), columns.end()) {}
  /// Lets a grid that is too wide for a line be printed in parts, one below the
  /// other: each has the first `keys` columns, and as many groups of `group`
  /// columns behind them as fit.
  void allowParts(size_t keys, size_t group) {
    this->keys = keys;
    this->group = group;
  }

  void add(std::vector<Cell> row) { rows.push_back(std::move(row)); }
  /// Adds a rule across all columns.
  void addRule() { rows.emplace_back(); }
  llvm::ArrayRef<Align> aligns() const { return columns; }
  /// A rule is a row without cells.
  llvm::ArrayRef<std::vector<Cell>> lines() const { return rows; }
  /// Prints rows with `indent` blanks before and none after them. If `width` is
  /// not 0, lines are at most that long: bars shrink, details are omitted, long
  /// cells wrap, and last names break at their joints. Only a longer word
  /// exceeds it.
  void print(llvm::raw_ostream &os, unsigned indent, bool colour,
             unsigned width = 0) const;

private:
  std::vector<size_t> widthsFor(unsigned indent, unsigned width) const;
  /// The widths of the longest cell, word, or piece of a word, by column.
  template <typename Pieces>
  std::vector<size_t> widestOf(Pieces piecesOf) const;
  size_t totalOf(llvm::ArrayRef<size_t> widths, unsigned indent) const;
  bool fits(unsigned indent, unsigned width) const;
  std::vector<Grid> parts(unsigned indent, unsigned width) const;
  void printPart(llvm::raw_ostream &os, unsigned indent, bool colour,
                 unsigned width) const;

  llvm::SmallVector<Align> columns;
  size_t keys = 0, group = 0;          ///< 0 if all columns stand in one part
  std::vector<std::vector<Cell>> rows; ///< empty for a rule
};

/// Lines with a label and a text.
class Lines {
public:
  Lines() : grid({Grid::Left, Grid::Left}) {}
  void add(std::string label, std::string text, Style style = Style::Plain) {
    grid.add({{std::move(label), Style::Dim}, {std::move(text), style}});
  }
  void print(llvm::raw_ostream &os, bool colour) const {
    grid.print(os, 2, colour);
  }
  /// As two columns. A line without a label continues the one above.
  const Grid &asGrid() const { return grid; }

private:
  Grid grid;
};

/// Breaks `text` into lines of at most `width` columns; only a longer word
/// exceeds it. All lines have the indentation of the first. A number and its
/// unit stay together.
std::vector<std::string> wrapped(llvm::StringRef text, size_t width);

} // namespace netc

#endif // NETC_LIB_REPORT_GRID_H
