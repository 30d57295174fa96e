// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/AuditPictures.h"

#include "lib/Report/Format.h"

#include <fmt/format.h>

using namespace netc;
using namespace netc::audit;
using llvm::StringRef;

static std::string words(double x, double y, StringRef style, StringRef text) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                     style.str(), x, y, escapedHtml(text));
}

static std::string box(StringRef style, double x, double y, double width,
                       double height, StringRef title = "") {
  return fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" "
                     "width=\"{:.2f}\" height=\"{:.1f}\"><title>{}</title>"
                     "</rect>\n",
                     style.str(), x, y, width, height, escapedHtml(title));
}

std::string netc::pictureLabel(StringRef layer) {
  return shortened(layer, 29, Keep::Last);
}

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

namespace {
struct Column {
  std::string title;
  std::optional<double> UnitLevels::*level; ///< null for the time
};
} // namespace

static std::string titleOfLevel(StringRef id) {
  std::string title = id.str();
  std::replace(title.begin(), title.end(), '_', ' ');
  return title == "sm" || title == "smsp" || title == "dram"
             ? StringRef(title).upper()
             : title;
}

Picture netc::levelBarsOf(const Audit &audit) {
  Picture picture{"levels", "How busy the device was, by layer", "", 0};
  if (audit.hasCountersAlone())
    picture.label = "How busy the device was, by kernel";
  std::vector<LevelRow> rows = levelRows(audit);
  int64_t whole = audit.wholeTime();
  if (rows.empty() || (whole <= 0 && !audit.hasCountersAlone()))
    return picture;
  constexpr size_t most = 64;
  if (rows.size() > most)
    rows.resize(most);
  std::vector<Column> columns;
  if (whole > 0)
    columns.push_back(
        {audit.hasCountersAlone() ? "of all" : "of the step", nullptr});
  for (const Level &level : unitLevels())
    if (llvm::any_of(rows, [&](const LevelRow &row) {
          return (row.levels.*level.value).has_value();
        }))
      columns.push_back({titleOfLevel(level.id), level.value});
  if (columns.empty())
    return picture;

  constexpr double left = 230, top = 26, rowHeight = 20, bar = 12, gap = 14,
                   figure = 50, least = 0.5;
  double width = (Picture::width - left) / double(columns.size());
  std::string &text = picture.body;
  for (auto [i, column] : llvm::enumerate(columns))
    text += words(left + i * width, 14, "dim", column.title);
  double y = top;
  for (auto [i, row] : llvm::enumerate(rows)) {
    if (row.isLayer && !rows[i - 1].isLayer)
      y += rowHeight / 2;
    text += words(left - 8, y + bar - 1, row.isLayer ? "right" : "right title",
                  pictureLabel(row.name));
    for (auto [place, column] : llvm::enumerate(columns)) {
      std::optional<double> value =
          column.level ? row.levels.*column.level
                       : double(row.nanoseconds) / double(whole);
      double x = left + place * width, track = width - gap - figure;
      text += box("none", x, y, track, bar);
      if (value) {
        text += box(row.isLayer ? "forward" : "backward", x, y,
                    std::max(least, std::min(*value, 1.) * track), bar,
                    fmt::format("{}: {} {:.2f} %", row.name, column.title,
                                *value * 100));
      }
      text += words(x + track + 4, y + bar - 1, "dim",
                    value ? fmt::format("{:.1f} %", *value * 100) : "?");
      std::optional<double> cap = audit.gpu.tensorIssueCap();
      if (column.level == &UnitLevels::tensorIssue && cap)
        text += fmt::format("<line class=\"cap\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" "
                            "y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n",
                            x + *cap * track, y - 2, y + bar + 2);
    }
    y += rowHeight;
  }
  picture.height = y + 4;
  return picture;
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

Picture netc::batchBarsOf(llvm::ArrayRef<BatchFigures> sizes) {
  Picture picture{"batches", "Throughput and memory by batch", "", 0};
  if (sizes.empty())
    return picture;
  constexpr double left = 110, top = 26, rowHeight = 26, bar = 16, middle = 560,
                   length = 300;
  double fastest = 0, largest = 1;
  for (const BatchFigures &size : sizes) {
    fastest = std::max(fastest, size.throughput);
    largest = std::max(largest, size.memory.value_or(0).toDouble());
  }
  std::string &text = picture.body;
  text += words(left - 8, 14, "right dim", "batch");
  text += words(left, 14, "dim", "examples/s, and of the one above");
  text += words(middle, 14, "dim", "memory, and of the one above");
  for (auto [i, size] : llvm::enumerate(sizes)) {
    double y = top + rowHeight * i;
    text += words(left - 8, y + 12, "right", size.batch.str());
    auto draw = [&](double x, StringRef style, double value, double most,
                    std::string label, double before) {
      double width = value / most * length;
      if (before > 0)
        label += fmt::format(", {:.2f} ×", value / before);
      text += box(style, x, y, width, bar, label);
      text += words(x + width + 6, y + 12, "dim", label);
    };
    const BatchFigures *before = i ? &sizes[i - 1] : nullptr;
    draw(left, "forward", size.throughput, fastest,
         fmt::format("{:.4g}", size.throughput),
         before ? before->throughput : 0);
    if (size.memory)
      draw(middle, "again", size.memory->toDouble(), largest,
           inBytes(*size.memory) + (size.isSpecified ? " specified" : ""),
           before ? before->memory.value_or(0).toDouble() : 0);
  }
  picture.height = top + rowHeight * sizes.size();
  return picture;
}

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

std::vector<Picture> netc::picturesOf(const Audit &audit) {
  return {timelineOf(audit), levelBarsOf(audit), claimBarsOf(audit)};
}

std::string netc::inlineSvg(const Picture &picture) {
  if (picture.body.empty())
    return "";
  return fmt::format("<svg class=\"picture {}\" viewBox=\"0 0 {:.0f} {:.0f}\" "
                     "role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
                     picture.kind.str(), Picture::width, picture.height,
                     picture.label.str(), picture.body);
}

void netc::printAuditSvg(llvm::raw_ostream &os, const AuditReport &report) {
  constexpr double margin = 20, titleHeight = 26, gap = 18;
  std::string body;
  double y = margin;
  auto title = [&](StringRef text) {
    body += words(margin, y + 15, "title", text);
    y += titleHeight;
  };
  auto draw = [&](const Picture &picture) {
    if (picture.body.empty())
      return;
    body += fmt::format("<svg class=\"picture {}\" x=\"{:.0f}\" y=\"{:.0f}\" "
                        "width=\"{:.0f}\" height=\"{:.0f}\">\n{}</svg>\n",
                        picture.kind.str(), margin, y, Picture::width,
                        picture.height, picture.body);
    y += picture.height + gap;
  };
  if (Picture batches = batchBarsOf(figuresOf(batchRows(report.audits)));
      !batches.body.empty()) {
    title("By batch");
    draw(batches);
  }
  for (const Audit *audit : report.audits) {
    title(audit->file + (audit->run ? ", " + audit->run->network().str() : ""));
    for (const Picture &picture : picturesOf(*audit)) {
      if (!picture.body.empty())
        body += words(margin, y + 11, "dim", picture.label), y += titleHeight;
      draw(picture);
    }
  }
  os << fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "
                    "{0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                    "font-family=\"Helvetica, Arial, sans-serif\" "
                    "font-size=\"12\">\n<style>\n",
                    Picture::width + 2 * margin, y);
  os << pictureStyle()
     << "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n"
     << body << "</svg>\n";
}
