// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/AuditPictures.h"
#include "lib/Report/Format.h"
#include "lib/Report/MeasurementReport.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <fmt/format.h>
#include <set>

using namespace netc;

/// Lengths in pixels.
static constexpr double left = 52, top = 58, plotHeight = 240, barWidth = 15,
                        groupGap = 22, runGap = 44, right = 16, rowHeight = 300,
                        below = 40, noteHeight = 16, leastBar = 2,
                        maxWidth = 1100, minWidth = 520;
/// Estimated widths of letters in pixels.
static constexpr double boldLetter = 8, smallLetter = 5.5;
/// The most letters of a name under a cluster of bars.
static constexpr size_t maxLetters = 24;
/// Colours by method, which also differ in lightness.
static constexpr llvm::StringRef colours[] = {"#b9c4d0", "#e69f00", "#0072b2",
                                              "#56b4a0"};

static std::string text(double x, double y, llvm::StringRef anchor,
                        llvm::StringRef words, llvm::StringRef extra = "") {
  return fmt::format(
      "  <text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x,
      y, anchor.str(), extra.str(), escapedHtml(words));
}

static std::string rectangle(double x, double y, double width, double height,
                             llvm::StringRef fill, llvm::StringRef title) {
  return fmt::format("  <rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                     "height=\"{:.1f}\" fill=\"{}\"><title>{}</title></rect>\n",
                     x, y, width, height, fill.str(), escapedHtml(title));
}

/// Names that tell the runs apart: those of runs, of networks or both; with
/// the values of points of sweeps.
static std::vector<std::string> namesOf(llvm::ArrayRef<MeasuredRun> runs) {
  std::vector<std::string> names;
  for (auto name :
       {+[](const Measurement &any) { return any.run; },
        +[](const Measurement &any) { return any.network; },
        +[](const Measurement &any) { return any.network + " " + any.run; }}) {
    names.clear();
    for (const MeasuredRun &run : runs) {
      names.push_back(name(run.batches.front()));
      for (const auto &[key, value] : run.values)
        names.back() += " " + value;
    }
    if (std::set(names.begin(), names.end()).size() == names.size())
      break;
  }
  return names;
}

/// Keeps both ends of a long name, since names often differ only there.
static std::string withBothEnds(const std::string &name) {
  if (name.size() <= maxLetters)
    return name;
  size_t behind = (maxLetters - 1) / 2, before = maxLetters - 1 - behind;
  return name.substr(0, before) + "…" + name.substr(name.size() - behind);
}

namespace {
/// The bars of a run, with a group for each batch size, and its name below. A
/// run that is wider than the picture has several clusters.
struct Cluster {
  const MeasuredRun *run;
  std::string name;
  llvm::ArrayRef<Measurement> batches;
  double width; ///< of the bars or the name in pixels, without gaps
};

class Chart {
public:
  explicit Chart(const MeasurementReport &report);
  void print(llvm::raw_ostream &os, bool isInline) const;

private:
  using Row = std::vector<Cluster>;

  std::optional<double> share(Method method, const MeasuredRun &run,
                              const Measurement &measurement) const;
  double groupWidth() const { return methods.size() * barWidth + groupGap; }
  double widthOf(llvm::ArrayRef<Measurement> batches) const {
    return batches.size() * groupWidth() - groupGap;
  }
  static double widthOf(const Row &row) {
    double sum = 0;
    for (const Cluster &cluster : row)
      sum += cluster.width + runGap;
    return sum;
  }
  void addRun(const MeasuredRun &run, const std::string &name);
  std::vector<std::string> notes() const;
  void printRow(llvm::raw_ostream &os, const Row &row, double axis) const;
  void printCluster(llvm::raw_ostream &os, const Cluster &cluster, double x,
                    double axis) const;

  const MeasurementReport &report;
  std::vector<Method> methods; ///< methods with a measurement
  std::vector<Row> rows;
  double width = minWidth;
  double tick, height; ///< shares of the peak
};
} // namespace

Chart::Chart(const MeasurementReport &report) : report(report) {
  double highest = 0;
  for (Method method : allMethods) {
    bool isKnown = false;
    for (const MeasuredRun &run : report.runs)
      for (const Measurement &measurement : run.batches) {
        std::optional<double> value = share(method, run, measurement);
        isKnown |= value.has_value();
        highest = std::max(highest, value.value_or(0));
      }
    if (isKnown)
      methods.push_back(method);
  }
  tick = highest > 0.5 ? 0.2 : highest > 0.1 ? 0.1 : 0.02;
  height = std::max(std::ceil(highest / tick), 1.0) * tick;

  std::vector<std::string> names = namesOf(report.runs);
  for (auto [run, name] : llvm::zip(report.runs, names))
    addRun(run, name);
  for (const Row &row : rows)
    width = std::max(width, left + widthOf(row) + right);
  for (const std::string &note : notes())
    width = std::max(width, left + note.size() * smallLetter + right);
}

std::optional<double> Chart::share(Method method, const MeasuredRun &run,
                                   const Measurement &measurement) const {
  std::optional<Rate> rate = rateBy(method, run, measurement);
  if (!rate)
    return std::nullopt;
  return rate->ofMeasured(report.peaks);
}

void Chart::addRun(const MeasuredRun &run, const std::string &name) {
  double room = maxWidth - left - right;
  double nameWidth = std::min(name.size(), maxLetters) * boldLetter;
  llvm::ArrayRef<Measurement> rest = run.batches;
  while (!rest.empty()) {
    auto batches = rest.take_front((room - runGap + groupGap) / groupWidth());
    rest = rest.drop_front(batches.size());
    double width = std::max(widthOf(batches), nameWidth);
    if (rows.empty() || widthOf(rows.back()) + width + runGap > room)
      rows.emplace_back();
    rows.back().push_back({&run, name, batches, width});
  }
}

/// The lines below the bars: what was measured, the peaks and conventions.
std::vector<std::string> Chart::notes() const {
  const Measurement &any = report.runs.front().batches.front();
  std::string peak = fmt::format("peak {:.4g} GFLOP/s f32 measured",
                                 report.peaks.flops() * 1e-9);
  if (report.peaks.datasheet)
    peak += fmt::format(", {:.4g} by the datasheet",
                        *report.peaks.datasheet * 1e-9);
  for (const std::string &format : otherFormats(any, report.peaks))
    peak += fmt::format(", {:.4g} {} measured",
                        report.peaks.flopsOf(format) * 1e-9, format);
  std::vector<std::string> notes = {
      processorText(any, report.peaks) +
          (any.gpu.empty()
               ? ", " + counted(any.threads, "thread") + ", " + any.isa
               : ", " + any.cpu),
      peak + "; " + conventionsText(Conventions()) + "; netc " +
          report.version};
  if (!report.misfits.empty())
    notes.push_back(counted(report.misfits.size(), "point") +
                    " without bars, for lack of memory");
  return notes;
}

void Chart::printCluster(llvm::raw_ostream &os, const Cluster &cluster,
                         double x, double axis) const {
  double middle = x + cluster.width / 2;
  x = middle - widthOf(cluster.batches) / 2;
  for (const Measurement &measurement : cluster.batches) {
    std::string batch = std::to_string(measurement.batch);
    for (auto [i, method] : llvm::enumerate(methods))
      if (auto value = share(method, *cluster.run, measurement)) {
        // Even a small value has a visible bar.
        double bar = std::max(*value / height * plotHeight, leastBar);
        os << rectangle(x + barWidth * i, axis - bar, barWidth - 2, bar,
                        colours[unsigned(method)],
                        fmt::format("{}, batch {}, {}: {:.1f} %", cluster.name,
                                    batch, nameOf(method).str(), *value * 100));
      }
    os << text(x + (groupWidth() - groupGap) / 2, axis + 17, "middle", batch);
    x += groupWidth();
  }
  os << text(middle, axis + 35, "middle", withBothEnds(cluster.name),
             " font-weight=\"bold\"");
}

void Chart::printRow(llvm::raw_ostream &os, const Row &row, double axis) const {
  for (double line = 0; line < height + tick / 2; line += tick) {
    double y = axis - line / height * plotHeight;
    os << fmt::format("  <line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" "
                      "y2=\"{:.1f}\"{}/>\n",
                      left, width - right, y, y,
                      line > 0 ? "" : " class=\"axis\"");
    os << text(left - 6, y + 4, "end", fmt::format("{:.0f} %", line * 100));
  }
  os << text(left - 6, axis + 17, "end", "batch");
  double x = left + runGap / 2;
  for (const Cluster &cluster : row) {
    printCluster(os, cluster, x, axis);
    x += cluster.width + runGap;
  }
}

void Chart::print(llvm::raw_ostream &os, bool isInline) const {
  const std::vector<std::string> notes = this->notes();
  double bottom = top + rows.size() * rowHeight;
  os << fmt::format("<svg class=\"picture\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
                    "width=\"{0:.0f}\" height=\"{1:.0f}\"",
                    width, bottom + below + (notes.size() - 2) * noteHeight);
  if (isInline)
    os << " role=\"img\" aria-label=\"Utilization of the measured peak\">\n";
  else
    os << " xmlns=\"http://www.w3.org/2000/svg\" font-family=\"Helvetica, "
          "Arial, sans-serif\">\n";
  if (!isInline) {
    os << "<style>\n" << pictureStyle() << "</style>\n";
    os << "  <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n";
  }
  os << text(left, 22, "start", "Utilization of the measured peak",
             " class=\"heading\"");
  double key = left;
  for (Method method : methods) {
    os << rectangle(key, 34, 11, 11, colours[unsigned(method)], nameOf(method));
    os << text(key + 16, 44, "start", nameOf(method));
    key += 76;
  }
  for (auto [i, row] : llvm::enumerate(rows))
    printRow(os, row, top + i * rowHeight + plotHeight);
  for (auto [i, note] : llvm::enumerate(notes))
    os << text(left, bottom + 8 + i * noteHeight, "start", note,
               " class=\"small dim\"");
  os << "</svg>\n";
}

void netc::printChart(llvm::raw_ostream &os, const MeasurementReport &report,
                      bool isInline) {
  Chart(report).print(os, isInline);
}
