// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Format.h"
#include "lib/Report/MeasurementReport.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <fmt/format.h>

using namespace netc;

namespace {
/// Of the picture, in its pixels.
constexpr double left = 52, top = 58, plotHeight = 240, barWidth = 15,
                 groupGap = 22, right = 16, below = 92, minWidth = 520;
/// By method: distinct in lightness too.
constexpr llvm::StringRef colours[] = {"#b9c4d0", "#e69f00", "#0072b2",
                                       "#56b4a0"};

struct Group {
  std::string network, batch;
  std::vector<std::optional<double>> shares; ///< by method
};
} // namespace

static std::string text(double x, double y, llvm::StringRef anchor,
                        llvm::StringRef words, llvm::StringRef extra = "") {
  std::string safe;
  llvm::raw_string_ostream os(safe);
  llvm::printHTMLEscaped(words, os);
  return fmt::format(
      "  <text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x,
      y, anchor.str(), extra.str(), safe);
}

static std::string rectangle(double x, double y, double width, double height,
                             llvm::StringRef fill, llvm::StringRef title) {
  std::string safe;
  llvm::raw_string_ostream os(safe);
  llvm::printHTMLEscaped(title, os);
  return fmt::format("  <rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                     "height=\"{:.1f}\" fill=\"{}\"><title>{}</title></rect>\n",
                     x, y, width, height, fill.str(), safe);
}

static std::vector<Group> groupsOf(const MeasurementReport &report) {
  std::vector<Group> groups;
  for (const MeasuredRun &run : report.runs)
    for (const Measurement &measurement : run.batches) {
      Group group{measurement.run, std::to_string(measurement.batch), {}};
      for (Method method : allMethods) {
        std::optional<Rate> rate = rateBy(method, run, measurement);
        group.shares.push_back(
            rate ? std::optional(rate->perSecond() / report.peaks.measured)
                 : std::nullopt);
      }
      groups.push_back(std::move(group));
    }
  return groups;
}

static std::string bars(const Group &group, double x, double height) {
  std::string svg;
  for (Method method : allMethods) {
    std::optional<double> share = group.shares[unsigned(method)];
    double place = x + barWidth * unsigned(method);
    if (!share)
      continue;
    double size = *share / height * plotHeight;
    svg +=
        rectangle(place, top + plotHeight - size, barWidth - 2, size,
                  colours[unsigned(method)],
                  fmt::format("{}, batch {}, {}: {:.1f} %", group.network,
                              group.batch, nameOf(method).str(), *share * 100));
  }
  return svg;
}

void netc::printChart(llvm::raw_ostream &os, const MeasurementReport &report) {
  std::vector<Group> groups = groupsOf(report);
  double highest = 0;
  for (const Group &group : groups)
    for (std::optional<double> share : group.shares)
      highest = std::max(highest, share.value_or(0));
  // A whole number of tenths, or of hundredths where all is low.
  double tick = highest > 0.5 ? 0.2 : highest > 0.1 ? 0.1 : 0.02;
  double height = std::max(std::ceil(highest / tick), 1.0) * tick;
  double groupWidth = 4 * barWidth + groupGap;
  double width =
      std::max(left + groups.size() * groupWidth + groupGap + right, minWidth);
  double total = top + plotHeight + below;

  os << fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" "
      "fill=\"#222\">\n",
      width, total);
  os << fmt::format(
      "  <rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#fff\"/>\n", width,
      total);
  os << text(left, 22, "start", "Utilization of the measured peak",
             " font-size=\"15\" font-weight=\"bold\"");
  double key = left;
  for (Method method : allMethods) {
    os << rectangle(key, 34, 11, 11, colours[unsigned(method)], nameOf(method));
    os << text(key + 16, 44, "start", nameOf(method));
    key += 76;
  }
  for (double line = 0; line < height + tick / 2; line += tick) {
    double y = top + plotHeight - line / height * plotHeight;
    os << fmt::format("  <line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" "
                      "y2=\"{:.1f}\" stroke=\"{}\"/>\n",
                      left, width - right, y, y, line > 0 ? "#ddd" : "#222");
    os << text(left - 6, y + 4, "end", fmt::format("{:.0f} %", line * 100));
  }

  double x = left + groupGap, axis = top + plotHeight;
  for (size_t i = 0; i < groups.size(); ++i) {
    os << bars(groups[i], x, height);
    os << text(x + 2 * barWidth, axis + 17, "middle", groups[i].batch);
    size_t end = i;
    while (end + 1 < groups.size() &&
           groups[end + 1].network == groups[i].network)
      ++end;
    if (i == 0 || groups[i - 1].network != groups[i].network)
      os << text(x + 2 * barWidth + (end - i) * groupWidth / 2, axis + 35,
                 "middle", groups[i].network, " font-weight=\"bold\"");
    x += groupWidth;
  }
  os << text(left - 6, axis + 17, "end", "batch");

  const Measurement &any = report.runs.front().batches.front();
  std::string machine = any.machine + ", " + counted(any.cores, "core") + ", " +
                        counted(any.threads, "thread") + ", " + any.isa;
  std::string peak = fmt::format("peak {:.4g} GFLOP/s f32 measured",
                                 report.peaks.measured * 1e-9);
  if (report.peaks.datasheet)
    peak += fmt::format(", {:.4g} by the datasheet",
                        *report.peaks.datasheet * 1e-9);
  os << text(left, axis + 60, "start", machine, " fill=\"#666\"")
     << text(left, axis + 76, "start", peak + "; netc " + report.version,
             " fill=\"#666\"");
  os << "</svg>\n";
}
