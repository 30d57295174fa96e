// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Grid.h"

#include "llvm/ADT/STLExtras.h"
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

std::string netc::bar(double share, unsigned width) {
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

void Grid::print(llvm::raw_ostream &os, unsigned indent, bool colour) const {
  constexpr size_t gap = 2;
  std::vector<size_t> widths(columns.size());
  for (const std::vector<Cell> &row : rows)
    for (auto [width, cell] : llvm::zip(widths, row))
      width = std::max(width, widthOf(cell.text));
  size_t total = 0;
  for (size_t width : widths)
    total += width == 0 ? 0 : width + gap;

  for (const std::vector<Cell> &row : rows) {
    std::string line;
    if (row.empty()) {
      for (size_t i = gap; i < total; ++i)
        line += "─";
      os.indent(indent) << styled(line, Style::Dim, colour) << '\n';
      continue;
    }
    // Blanks are held back until something follows them.
    size_t blanks = indent;
    for (auto [align, width, cell] : llvm::zip(columns, widths, row)) {
      size_t missing = width - widthOf(cell.text);
      blanks += align == Right ? missing : 0;
      if (!llvm::StringRef(cell.text).trim().empty()) {
        line.append(blanks, ' ');
        line += styled(cell.text, cell.style, colour);
        blanks = 0;
      } else {
        blanks += cell.text.size();
      }
      blanks += (align == Right ? 0 : missing) + (width == 0 ? 0 : gap);
    }
    os << llvm::StringRef(line).rtrim() << '\n';
  }
}
