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

/// The pieces of a word that is a name: `layer4.`, `conv`.
static std::vector<llvm::StringRef> piecesOf(llvm::StringRef word) {
  std::vector<llvm::StringRef> pieces;
  size_t begin = 0;
  for (size_t i = 1; i + 1 < word.size(); ++i)
    if (llvm::StringRef("._/+-:").contains(word[i]) &&
        (llvm::isAlnum(word[i - 1]) || word[i - 1] == ':') &&
        llvm::isAlpha(word[i + 1])) {
      pieces.push_back(word.slice(begin, i + 1));
      begin = i + 1;
    }
  pieces.push_back(word.substr(begin));
  return pieces;
}

/// Breaks a text into lines. A longer word is broken if `breaksNames`.
static std::vector<std::string> filled(llvm::StringRef text, size_t width,
                                       bool breaksNames) {
  if (widthOf(text) <= width)
    return {text.str()};
  std::string margin(text.size() - text.ltrim(' ').size(), ' ');
  std::vector<std::string> lines;
  for (llvm::StringRef word : wordsOf(text)) {
    bool isBroken = breaksNames && margin.size() + widthOf(word) > width;
    llvm::StringRef between = " ";
    for (llvm::StringRef piece :
         isBroken ? piecesOf(word) : std::vector{word}) {
      if (!lines.empty() &&
          widthOf(lines.back()) + between.size() + widthOf(piece) <= width)
        lines.back() += (between + piece).str();
      else
        lines.push_back(margin + piece.str());
      between = "";
    }
  }
  return lines;
}

std::vector<std::string> netc::wrapped(llvm::StringRef text, size_t width) {
  return filled(text, width, /*breaksNames=*/false);
}

static constexpr size_t gap = 2, usualBar = 10, longestBar = 40;

template <typename Pieces>
std::vector<size_t> Grid::widestOf(Pieces piecesOf) const {
  std::vector<size_t> widest(columns.size());
  for (const std::vector<Cell> &row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      llvm::StringRef text = row[i].text;
      size_t margin = text.size() - text.trim(' ').size();
      for (llvm::StringRef word : wordsOf(text))
        for (llvm::StringRef piece : piecesOf(word))
          widest[i] = std::max(widest[i], margin + widthOf(piece));
    }
  return widest;
}

static std::vector<llvm::StringRef> whole(llvm::StringRef word) {
  return {word};
}

size_t Grid::totalOf(llvm::ArrayRef<size_t> widths, unsigned indent) const {
  size_t sum = indent;
  for (size_t column : widths)
    sum += column == 0 ? 0 : column + gap;
  return sum == indent ? sum : sum - gap;
}

bool Grid::fits(unsigned indent, unsigned width) const {
  return totalOf(widestOf(whole), indent) <= width;
}

std::vector<size_t> Grid::widthsFor(unsigned indent, unsigned width) const {
  std::vector<size_t> widths(columns.size());
  bool hasBars = false;
  for (const std::vector<Cell> &row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], widthOf(row[i].text));
      hasBars |= columns[i] == Bar && row[i].share > 0;
    }
  auto total = [&] { return totalOf(widths, indent); };
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
  auto shrink = [&](llvm::ArrayRef<size_t> least) {
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
  if (shrink(widestOf(whole)))
    return widths;
  widths = full;
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i] == Detail)
      widths[i] = 0;
  if (!shrink(widestOf(whole)))
    shrink(widestOf(piecesOf));
  return widths;
}

std::vector<Grid> Grid::parts(unsigned indent, unsigned width) const {
  std::vector<Grid> parts;
  auto partOf = [&](size_t begin, size_t end) {
    auto isIn = [&](size_t i) { return i < keys || (i >= begin && i < end); };
    Grid part({});
    for (auto [i, column] : llvm::enumerate(columns))
      if (isIn(i))
        part.columns.push_back(column);
    for (const std::vector<Cell> &row : rows) {
      std::vector<Cell> &cells = part.rows.emplace_back();
      for (auto [i, cell] : llvm::enumerate(row))
        if (isIn(i))
          cells.push_back(cell);
    }
    return part;
  };
  for (size_t begin = keys, end; begin < columns.size(); begin = end) {
    end = begin + group;
    while (end < columns.size() &&
           partOf(begin, end + group).fits(indent, width))
      end += group;
    parts.push_back(partOf(begin, end));
  }
  return parts;
}

void Grid::print(llvm::raw_ostream &os, unsigned indent, bool colour,
                 unsigned width) const {
  if (!group || width == 0 || fits(indent, width))
    return printPart(os, indent, colour, width);
  llvm::interleave(
      parts(indent, width), os,
      [&](const Grid &part) { part.printPart(os, indent, colour, width); },
      "\n");
}

void Grid::printPart(llvm::raw_ostream &os, unsigned indent, bool colour,
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
                                    : filled(cell.text, column, true);
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
