// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/AuditPictures.h"
#include "lib/Report/Format.h"
#include "lib/Report/MeasurementReport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <fmt/format.h>

using namespace netc;
using llvm::StringRef;

// Defines `texts`: Page.css and Picture.css.
#include "lib/Report/Style.inc"

StringRef netc::pictureStyle() { return texts[1]; }

/// The text in HTML, with no-break spaces between numbers and their units.
static std::string unitsKept(StringRef text) {
  std::string kept;
  for (size_t i = 0; i < text.size(); ++i) {
    bool isOfUnit = text[i] == ' ' && i > 0 && llvm::isDigit(text[i - 1]) &&
                    !text.substr(i + 1).starts_with("to ");
    kept += isOfUnit ? "\u00a0" : escapedHtml(text.substr(i, 1));
  }
  return kept;
}

//===----------------------------------------------------------------------===//
// Pictures
//===----------------------------------------------------------------------===//

namespace {
/// A bar in the chart of shares.
struct Bar {
  std::string name;
  double forward = 0, backward = 0; ///< shares of the total
  double share() const { return forward + backward; }
};
} // namespace

/// The shares of blocks in the FLOP of products. If there are many, the largest
/// have bars, in program order, and the others share the last one. Empty if a
/// share depends on a free axis.
static std::vector<Bar> barsOf(const LayerRow &total) {
  constexpr size_t maxBars = 12;
  Polynomial whole = productsOf(total.figures);
  std::vector<Bar> bars;
  for (const LayerRow &row : total.children) {
    std::optional<Rational> share = shareOf(productsOf(row.figures), whole),
                            forward = shareOf(
                                row.figures[Phase::Forward].matmul, whole);
    if (!share || !forward)
      return {};
    if (!share->isZero())
      bars.push_back(
          {row.name, forward->toDouble(), (*share - *forward).toDouble()});
  }
  if (bars.size() <= maxBars)
    return bars;
  std::vector<double> shares;
  for (const Bar &bar : bars)
    shares.push_back(bar.share());
  llvm::sort(shares, std::greater<double>());
  Bar others;
  size_t kept = 0, summed = 0;
  llvm::erase_if(bars, [&](const Bar &bar) {
    if (bar.share() >= shares[maxBars - 1] && kept < maxBars) {
      ++kept;
      return false;
    }
    ++summed;
    others.forward += bar.forward;
    others.backward += bar.backward;
    return true;
  });
  others.name = fmt::format("{} others", summed);
  bars.push_back(others);
  return bars;
}

/// Draws the chart of shares. Lengths are percentages, so that the picture is
/// as wide as the page and its letters have the page's size.
static std::string chartOf(llvm::ArrayRef<Bar> bars) {
  constexpr int rowHeight = 34, keyHeight = 24;
  std::string svg = fmt::format(
      "<svg width=\"100%\" height=\"{}\" role=\"img\" aria-label=\"Share of "
      "each block\">",
      keyHeight + rowHeight * bars.size());
  svg += "<rect class=\"forward\" y=\"3\" width=\"10\" height=\"10\"/>"
         "<text x=\"15\" y=\"13\">forward</text>";
  svg +=
      "<rect class=\"backward\" x=\"80\" y=\"3\" width=\"10\" height=\"10\"/>"
      "<text x=\"95\" y=\"13\">backward</text>\n";
  int y = keyHeight;
  for (const Bar &bar : bars) {
    svg += fmt::format(
        "<text y=\"{0}\">{1}</text>"
        "<text class=\"dim\" x=\"100%\" y=\"{0}\" text-anchor=\"end\">{2:.1f} "
        "%</text>"
        "<rect class=\"forward\" y=\"{3}\" width=\"{4:.2f}%\" height=\"9\"/>"
        "<rect class=\"backward\" x=\"{4:.2f}%\" y=\"{3}\" width=\"{5:.2f}%\" "
        "height=\"9\"/>\n",
        y + 13, escapedHtml(bar.name), bar.share() * 100, y + 18,
        bar.forward * 100, bar.backward * 100);
    y += rowHeight;
  }
  return svg + "</svg>\n";
}

/// Draws estimates and their ranges on a logarithmic axis.
static std::string axisOf(llvm::ArrayRef<Estimate> estimates) {
  constexpr int rowHeight = 40, axisHeight = 24;
  double low = INFINITY, high = 0;
  for (const Estimate &estimate : estimates) {
    low = std::min(low, estimate.low.toDouble());
    high = std::max(high, estimate.high.toDouble());
  }
  if (!(low > 0))
    return "";
  int first = std::floor(std::log10(low)), last = std::ceil(std::log10(high));
  last = std::max(last, first + 1);
  auto place = [&](double value) {
    return (std::log10(value) - first) / (last - first) * 100;
  };
  int bottom = rowHeight * estimates.size();
  std::string svg = fmt::format("<svg width=\"100%\" height=\"{}\" "
                                "role=\"img\" aria-label=\"Both methods\">\n",
                                bottom + axisHeight);
  int step = (last - first + 4) / 5;
  for (int power = first; power <= last; ++power)
    svg += fmt::format("<line x1=\"{0:.2f}%\" x2=\"{0:.2f}%\" y1=\"0\" "
                       "y2=\"{1}\"/>\n",
                       place(std::pow(10, power)), bottom);
  for (int power = first; power <= last; power += step)
    svg += fmt::format(
        "<text class=\"dim\" x=\"{:.2f}%\" y=\"{}\" text-anchor=\"{}\">1e{} "
        "</text>\n",
        place(std::pow(10, power)), bottom + 17,
        power == first  ? "start"
        : power == last ? "end"
                        : "middle",
        power);
  int y = 0;
  for (const Estimate &estimate : estimates) {
    svg += fmt::format(
        "<text y=\"{0}\">{1}, {2}</text>"
        "<line class=\"range\" x1=\"{3:.2f}%\" x2=\"{4:.2f}%\" y1=\"{5}\" "
        "y2=\"{5}\"/>"
        "<circle class=\"forward\" cx=\"{6:.2f}%\" cy=\"{5}\" r=\"6\"/>\n",
        y + 14, escapedHtml(estimate.label), flop(estimate.value),
        place(estimate.low.toDouble()), place(estimate.high.toDouble()), y + 27,
        place(estimate.value.toDouble()));
    y += rowHeight;
  }
  return svg + "</svg>\n";
}

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

static const char *classOf(Style style) {
  switch (style) {
  case Style::Plain:
    return "";
  case Style::Bold:
    return "bold";
  case Style::Dim:
    return "dim";
  case Style::Good:
    return "good";
  case Style::Bad:
    return "bad";
  }
  llvm_unreachable("every style is listed");
}

namespace {
class HtmlPage : public Page {
public:
  HtmlPage(llvm::raw_ostream &out, StringRef title, StringRef version)
      : out(out), os(body) {
    out << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta "
           "charset=\"utf-8\">\n<meta name=\"viewport\" "
           "content=\"width=device-width, initial-scale=1\">\n<title>"
        << escapedHtml(title) << "</title>\n<style>\n"
        << pictureStyle() << texts[0] << "</style>\n</head>\n<body>\n";
    out << "<header><h1>" << escapedHtml(title) << "</h1>netc " << version
        << " · FLOP of products; dense peaks</header>\n";
  }
  ~HtmlPage() override {
    endSection();
    if (titles.size() > 1) {
      out << "<nav><ol>\n";
      for (auto [i, title] : llvm::enumerate(titles))
        out << "<li><a href=\"#part" << i + 1 << "\">" << escapedHtml(title)
            << "</a></li>\n";
      out << "</ol></nav>\n";
    }
    out << body << "</body>\n</html>\n";
  }

  void section(StringRef title, StringRef rest) override {
    endSection();
    isOpen = true;
    rest = rest.trim();
    rest.consume_front("· ");
    titles.push_back(title.str());
    os << "<section id=\"part" << titles.size() << "\">\n<h2>"
       << escapedHtml(title) << " <span>" << escapedHtml(rest)
       << "</span></h2>\n";
  }
  void heading(StringRef text) override {
    os << "<h3>" << escapedHtml(text) << "</h3>\n";
  }
  void paragraph(StringRef text) override {
    os << "<p>" << escapedHtml(text) << "</p>\n";
  }

  void grid(const Grid &grid) override {
    llvm::ArrayRef<std::vector<Grid::Cell>> rows = grid.lines();
    bool hasHead = rows.size() > 1 && rows[1].empty(), isRuled = false;
    os << (hasHead ? "<table>\n" : "<table class=\"plain\">\n");
    llvm::ArrayRef<Grid::Cell> head;
    if (hasHead)
      head = rows.front();
    for (const std::vector<Grid::Cell> &cells : rows) {
      isRuled |= cells.empty();
      if (cells.empty())
        continue;
      const char *cell = hasHead && &cells == rows.begin() ? "th" : "td";
      os << (isRuled ? "<tr class=\"rule\">" : "<tr>");
      isRuled = false;
      for (auto [i, content] : llvm::enumerate(cells)) {
        Grid::Align align = grid.aligns()[i];
        if (align == Grid::Bar)
          continue;
        os << '<' << cell << " class=\""
           << (align == Grid::Right ? "right " : "") << classOf(content.style)
           << '"';
        if (i < head.size() && &cells != rows.begin())
          os << " data-of=\"" << escapedHtml(head[i].text) << '"';
        os << '>' << unitsKept(StringRef(content.text).rtrim()) << "</" << cell
           << '>';
      }
      os << "</tr>\n";
    }
    os << "</table>\n";
  }

  void lines(const Lines &lines) override {
    os << "<dl>\n";
    for (const std::vector<Grid::Cell> &cells : lines.asGrid().lines()) {
      bool goesOn = cells[0].text.empty();
      std::string text = escapedHtml(StringRef(cells[1].text).trim());
      if (goesOn)
        os << "<dt></dt><dd><div>" << text << "</div></dd>\n";
      else
        os << "<dt>" << escapedHtml(cells[0].text) << "</dt><dd class=\""
           << classOf(cells[1].style) << "\">" << text << "</dd>\n";
    }
    os << "</dl>\n";
  }

  void layers(const LayerRow &total) override {
    if (std::vector<Bar> bars = barsOf(total); !bars.empty())
      os << chartOf(bars);
    os << "<div>\n<div class=\"row head\">";
    for (const char *title : {"layer", "op", "shape", "parameters", "forward",
                              "backward", "other", "share"})
      cell(title, title);
    os << "</div>\n";
    for (const LayerRow &row : total.children)
      layer(row, 0);
    os << "<div class=\"row total\">";
    cells(total, 0);
    os << "</div>\n</div>\n";
  }

  void compare(llvm::ArrayRef<Estimate> estimates) override {
    if (estimates.size() > 1)
      os << axisOf(estimates);
  }

  void pictures(const audit::Audit &audit) override {
    for (const Picture &picture : picturesOf(audit)) {
      if (!picture.body.empty())
        heading(picture.label);
      os << inlineSvg(picture);
    }
  }
  void batches(llvm::ArrayRef<BatchFigures> sizes) override {
    os << inlineSvg(batchBarsOf(sizes));
  }
  void chart(const MeasurementReport &report) override {
    printChart(os, report, /*isInline=*/true);
  }

private:
  void endSection() {
    if (isOpen)
      os << "</section>\n";
    isOpen = false;
  }

  void layer(const LayerRow &row, unsigned level) {
    if (row.children.empty()) {
      os << "<div class=\"row\">";
      cells(row, level);
      os << "</div>\n";
      return;
    }
    os << "<details><summary class=\"row\">";
    cells(row, level);
    os << "</summary>\n";
    for (const LayerRow &child : row.children)
      layer(child, level + 1);
    os << "</details>\n";
  }

  void cell(StringRef column, StringRef text) {
    os << "<span class=\"" << column << "\">" << escapedHtml(text.trim())
       << "</span>";
  }

  void cells(const LayerRow &row, unsigned level) {
    const Figures &figures = row.figures;
    os << "<span style=\"--level:" << level << "\">" << escapedHtml(row.name)
       << "</span>";
    cell("op", row.op);
    cell("shape", row.shape);
    cell("parameters",
         figures.parameters.isZero() ? "·" : quantity(figures.parameters, {}));
    cell("forward", flopCell(figures[Phase::Forward].matmul));
    cell("backward", flopCell(figures.backward().matmul));
    cell("other",
         flopCell(figures[Phase::Forward].other + figures.backward().other));
    double share = row.share ? row.share->toDouble() : 0;
    os << fmt::format(
        "<span class=\"share\" style=\"--part:{:.1f}%\">{}</span>", share * 100,
        shareCell(row.share));
  }

  llvm::raw_ostream &out;
  std::string body; ///< printed after the index
  llvm::raw_string_ostream os;
  std::vector<std::string> titles;
  bool isOpen = false;
};
} // namespace

std::unique_ptr<Page> netc::htmlPage(llvm::raw_ostream &os, StringRef title,
                                     StringRef version) {
  return std::make_unique<HtmlPage>(os, title, version);
}
