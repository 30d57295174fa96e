// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Grid.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Unicode.h"

#include <algorithm>

using namespace netc;

std::string netc::styled(llvm::StringRef text, Style style, bool colour) {
  const char *code = style == Style::Bold   ? "1"
                     : style == Style::Dim  ? "2"
                     : style == Style::Good ? "32"
                     : style == Style::Bad  ? "31"
                                            : "";
  if (!colour || !*code || text.empty())
    return text.str();
  return ("\033[" + llvm::Twine(code) + "m" + text + "\033[0m").str();
}

/// A bar of up to `width` columns, in eighths of a column.
static std::string bar(double share, size_t width) {
  static constexpr llvm::StringRef eighths[] = {"",  "▏", "▎", "▍",
                                                "▌", "▋", "▊", "▉"};
  unsigned parts = std::clamp(share, 0.0, 1.0) * width * 8 + 0.5;
  std::string text;
  for (unsigned i = 0; i < parts / 8; ++i)
    text += "█";
  return text + eighths[parts % 8].str();
}

static size_t widthOf(llvm::StringRef text) {
  return std::max(0, llvm::sys::unicode::columnWidthUTF8(text));
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// The words of a text. A number and its unit count as one.
static std::vector<llvm::StringRef> wordsOf(llvm::StringRef text) {
  std::vector<llvm::StringRef> words;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    bool isEnd = i == text.size();
    if (!isEnd && text[i] != ' ')
      continue;
    llvm::StringRef rest = text.substr(std::min(i + 1, text.size()));
    bool isBeforeUnit = !isEnd && i > 0 && llvm::isDigit(text[i - 1]) &&
                        !rest.empty() &&
                        (llvm::isAlpha(rest[0]) || rest[0] == '%') &&
                        !rest.starts_with("to ") && !rest.starts_with("of ");
    if (isBeforeUnit)
      continue;
    if (i > begin)
      words.push_back(text.slice(begin, i));
    begin = i + 1;
  }
  return words;
}

std::vector<std::string> netc::wrapped(llvm::StringRef text, size_t width) {
  if (widthOf(text) <= width)
    return {text.str()};
  std::string margin(text.size() - text.ltrim(' ').size(), ' ');
  std::vector<std::string> lines;
  for (llvm::StringRef word : wordsOf(text)) {
    if (!lines.empty() && widthOf(lines.back()) + 1 + widthOf(word) <= width)
      lines.back() += " " + word.str();
    else
      lines.push_back(margin + word.str());
  }
  return lines;
}

static constexpr size_t gap = 2, usualBar = 10, longestBar = 40;

std::vector<size_t> Grid::widthsFor(unsigned indent, unsigned width) const {
  std::vector<size_t> widths(columns.size()), least(columns.size());
  bool hasBars = false;
  for (const std::vector<Cell> &row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      llvm::StringRef text = row[i].text;
      widths[i] = std::max(widths[i], widthOf(text));
      size_t margin = text.size() - text.trim(' ').size();
      for (llvm::StringRef word : wordsOf(text))
        least[i] = std::max(least[i], margin + widthOf(word));
      hasBars |= columns[i] == Bar && row[i].share > 0;
    }
  auto total = [&] {
    size_t sum = indent;
    for (size_t column : widths)
      sum += column == 0 ? 0 : column + gap;
    return sum == indent ? sum : sum - gap;
  };
  auto setBars = [&](size_t length) {
    for (size_t i = 0; hasBars && i < columns.size(); ++i)
      if (columns[i] == Bar)
        widths[i] = length;
  };
  if (width == 0 || total() + gap + usualBar <= width) {
    size_t room = width == 0 ? usualBar : width - total() - gap;
    setBars(std::clamp(room, usualBar, longestBar));
    return widths;
  }
  const std::vector<size_t> full = widths;
  auto shrink = [&] {
    while (total() > width) {
      size_t widest = columns.size();
      for (size_t i = 0; i < columns.size(); ++i)
        if (widths[i] > least[i] &&
            (widest == columns.size() || widths[i] > widths[widest]))
          widest = i;
      if (widest == columns.size())
        return false;
      --widths[widest];
    }
    return true;
  };
  if (shrink())
    return widths;
  widths = full;
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i] == Detail)
      widths[i] = 0;
  shrink();
  return widths;
}

void Grid::print(llvm::raw_ostream &os, unsigned indent, bool colour,
                 unsigned width) const {
  std::vector<size_t> widths = widthsFor(indent, width);
  size_t total = 0;
  for (size_t column : widths)
    total += column == 0 ? 0 : column + gap;

  for (const std::vector<Cell> &row : rows) {
    std::string line;
    if (row.empty()) {
      for (size_t i = gap; i < total; ++i)
        line += "─";
      os.indent(indent) << styled(line, Style::Dim, colour) << '\n';
      continue;
    }
    std::vector<std::vector<std::string>> cells;
    size_t height = 1;
    for (auto [align, column, cell] : llvm::zip(columns, widths, row)) {
      cells.emplace_back();
      if (column != 0)
        cells.back() = align == Bar ? std::vector{bar(cell.share, column)}
                                    : wrapped(cell.text, column);
      height = std::max(height, cells.back().size());
    }
    for (size_t i = 0; i < height; ++i) {
      line.clear();
      // Blanks are written only before text, so that no line ends in blanks.
      size_t blanks = indent;
      for (auto [align, column, lines, cell] :
           llvm::zip(columns, widths, cells, row)) {
        std::string text = i < lines.size() ? lines[i] : "";
        size_t missing = column - std::min(column, widthOf(text));
        blanks += align == Right ? missing : 0;
        if (!llvm::StringRef(text).trim().empty()) {
          line.append(blanks, ' ');
          line += styled(text, cell.style, colour);
          blanks = 0;
        } else {
          blanks += text.size();
        }
        blanks += (align == Right ? 0 : missing) + (column == 0 ? 0 : gap);
      }
      os << llvm::StringRef(line).rtrim() << '\n';
    }
  }
}
