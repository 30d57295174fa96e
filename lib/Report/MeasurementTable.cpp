// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Format.h"
#include "lib/Report/Grid.h"
#include "lib/Report/MeasurementReport.h"
#include "lib/Report/Page.h"
#include "lib/Units/Units.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>

using namespace netc;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static std::string quantity(double value, const Dimension &dimension) {
  return formatQuantity(Rational(std::llround(value)), dimension);
}

static std::string flopRate(double value) {
  return quantity(value, Dimension(Dimension::Flop) / Dimension::Time);
}

static std::string bytes(double value) {
  return quantity(value, Dimension::Data);
}

/// With 3 decimals below 10, and fewer above.
static std::string number(double value) {
  double size = std::abs(value);
  return fmt::format("{:.{}f}", value,
                     size < 10     ? 3
                     : size < 100  ? 2
                     : size < 1000 ? 1
                                   : 0);
}

namespace {
/// The unit of the times in a table.
struct TimeUnit {
  const char *name;
  double perSecond;

  /// A unit in which `seconds`, and a thousandth of them, have digits.
  static TimeUnit of(double seconds) {
    return seconds < 0.01 ? TimeUnit{"µs", 1e6} : TimeUnit{"ms", 1e3};
  }
  std::string operator()(double seconds) const {
    return number(seconds * perSecond);
  }
};
} // namespace

static std::string time(double seconds, TimeUnit unit) {
  return seconds > 0 ? unit(seconds) : "·";
}

static std::string percent(double share, int digits = 1) {
  return fmt::format("{:.{}f} %", share * 100, digits);
}

static std::string percent(std::optional<double> share) {
  return share ? percent(*share) : "·";
}

static std::string number(std::optional<double> value) {
  return value ? number(*value) : "·";
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

namespace {
/// The table of one measurement's layers.
class LayerTimes {
public:
  LayerTimes(const Measurement &measurement, const Peaks &peaks,
             const TableOptions &options)
      : parts(measuredParts(measurement, peaks)), options(options),
        unit(TimeUnit::of(parts.front().work.seconds())),
        grid({Grid::Left, Grid::Left, Grid::Right, Grid::Right, Grid::Right,
              Grid::Right, Grid::Right, Grid::Right, Grid::Right, Grid::Left,
              Grid::Right, Grid::Right, Grid::Left}) {}

  Grid build() {
    std::vector<Grid::Cell> head;
    auto in = [&](const char *what) {
      return fmt::format("{} {}", what, unit.name);
    };
    for (const std::string &title :
         {std::string("layer"), std::string("op"), std::string("FLOP"),
          in("forward"), in("backward"), in("update"), std::string("share"),
          std::string("GFLOP/s"), std::string("FLOP/byte"),
          std::string("bound by"), in("roof"), std::string("of roof"),
          std::string()})
      head.push_back({title, Style::Dim});
    grid.add(std::move(head));
    grid.addRule();
    if (options.depth != 0) {
      addChildren(parts.front(), 0);
      grid.addRule();
    }
    addRow("all ops", "", parts.front().work, Style::Bold);
    return std::move(grid);
  }

private:
  static constexpr size_t maxMinorRows = 4;

  bool isMinor(const MeasuredPart &part) const {
    return part.children.empty() && part.work.matmul == 0;
  }

  /// Adds a row for each part with time or FLOP. Many ops without products are
  /// summed up.
  void addChildren(const MeasuredPart &parent, unsigned level) {
    std::vector<const MeasuredPart *> shown, minor;
    for (unsigned child : parent.children) {
      const MeasuredPart &part = parts[child];
      if (part.work.flop() == 0 && part.work.seconds() == 0)
        continue;
      shown.push_back(&part);
      if (isMinor(part))
        minor.push_back(&part);
    }
    bool isSummed = minor.size() > maxMinorRows;
    for (const MeasuredPart *part : shown) {
      if (isSummed && isMinor(*part))
        continue;
      llvm::StringRef name = llvm::StringRef(part->path);
      bool isLast = isLayer(parts, *part);
      addRow(indented(name.substr(name.rfind('.') + 1), level),
             isLast ? part->op : "", part->work, Style::Plain);
      if (!isLast && level + 1 < options.depth)
        addChildren(*part, level + 1);
    }
    if (!isSummed)
      return;
    Work sum;
    for (const MeasuredPart *part : minor)
      sum.add(part->work);
    addRow(indented(fmt::format("{} other ops", minor.size()), level), "", sum,
           Style::Plain);
  }

  static std::string indented(llvm::StringRef name, unsigned level) {
    return std::string(level * 2, ' ') + name.str();
  }

  void addRow(std::string name, std::string op, const Work &work, Style style) {
    double seconds = work.seconds(), all = parts.front().work.seconds();
    bool isTimed = seconds > 0, hasFlop = work.flop() > 0;
    std::string flop = quantity(work.flop(), Dimension::Flop);
    grid.add(
        {{std::move(name), style},
         {std::move(op), Style::Dim},
         {hasFlop ? flop.substr(0, flop.rfind("FLOP")) : "· ", style},
         {time(work.forward, unit), style},
         {time(work.backward, unit), style},
         {time(work.update, unit), style},
         {isTimed ? percent(seconds / all) : "", style},
         {isTimed && hasFlop ? number(work.flop() / seconds * 1e-9) : "",
          style},
         {work.bytes && hasFlop ? number(work.flop() / double(work.bytes)) : "",
          style},
         {work.bound().empty() ? "·" : work.bound().str(), Style::Dim},
         {isTimed && work.roof() > 0 ? time(work.roof(), unit) : "", style},
         {isTimed && work.roof() > 0 ? percent(work.roof() / seconds, 0) : "",
          style},
         {work.whyAboveRoof().str(), Style::Dim}});
  }

  const std::vector<MeasuredPart> parts;
  const TableOptions &options;
  const TimeUnit unit;
  Grid grid;
};
} // namespace

//===----------------------------------------------------------------------===//
// A batch size
//===----------------------------------------------------------------------===//

/// Such as `435.1 GFLOP/s over the step: 79.5 % of the measured peak, 82.0 % of
/// the datasheet's`.
static std::string rateText(const Rate &rate, const Measurement &measurement,
                            const Peaks &peaks, const char *of = "the step") {
  std::vector<std::string> shares;
  if (auto share = rate.ofMeasured(peaks))
    shares.push_back(percent(*share) + " of the measured peak" +
                     (rate.byFormat.size() > 1 ? "s" : ""));
  if (auto share = rate.ofDatasheet(peaks))
    shares.push_back(percent(*share) + " of the datasheet's");
  if (auto share = rate.ofClock(measurement))
    shares.push_back(percent(*share) + " at the clock of the steps");
  return flopRate(rate.perSecond()) + " over " + of +
         (shares.empty() ? "" : ": ") + llvm::join(shares, ", ");
}

/// Such as `image from a.npy, label at random`.
static std::string dataText(const Measurement &measurement) {
  std::vector<std::string> inputs;
  for (const auto &[name, file] : measurement.dataFiles)
    inputs.push_back(name + (file ? " from " + *file : " at random"));
  return llvm::join(inputs, ", ");
}

/// Adds the code, the clock and the power of a GPU.
static void addDevice(Lines &lines, const Measurement::Device &device) {
  lines.add("code", fmt::format("for {}, compiled by the driver in {} s; {} "
                                "launches a step",
                                device.arch, number(device.compiling),
                                device.launches));
  std::vector<std::string> clock, power;
  auto add = [](std::vector<std::string> &to, const char *text,
                std::optional<double> value, double unit = 1) {
    if (value)
      to.push_back(fmt::format(fmt::runtime(text), number(*value * unit)));
  };
  add(clock, "{} GHz by cycles", device.hertz, 1e-9);
  if (const auto &telemetry = device.telemetry) {
    add(clock, "{} GHz by NVML", telemetry->hertz, 1e-9);
    add(clock, "at lowest {}", telemetry->lowestHertz, 1e-9);
    add(power, "{} W", telemetry->watts);
    add(power, "{} J a step", telemetry->joulesPerStep);
    add(power, "at most {} °C", telemetry->celsius);
    if (!telemetry->slowdowns.empty())
      power.push_back("slowed by " + telemetry->slowdowns);
  }
  lines.add("clock", clock.empty() ? "unknown" : llvm::join(clock, ", "));
  lines.add("power", power.empty() ? "unknown: there is no NVML"
                                   : llvm::join(power, ", "));
}

/// A smaller share of the step outside of ops is not reported.
static constexpr double minOutside = 0.03;

static void writeBatch(Page &page, const Measurement &measurement,
                       const Peaks &peaks, const TableOptions &options) {
  page.heading(fmt::format("batch {}", measurement.batch));
  page.grid(LayerTimes(measurement, peaks, options).build());

  const Measurement::Step &step = measurement.step;
  MatmulShare share = matmulShare(measurement);
  TimeUnit unit = TimeUnit::of(step.median);
  std::string confidence;
  if (step.low && step.high)
    confidence = fmt::format(", with 95 % confidence {} to {}", unit(*step.low),
                             unit(*step.high));
  Lines lines;
  lines.add("step",
            fmt::format("{} {}{}; {} examples/s", unit(step.median), unit.name,
                        confidence, number(measurement.batch / step.median)),
            Style::Bold);
  lines.add("",
            fmt::format("the median of {} after {} to warm up{}",
                        counted(measurement.steps - measurement.warmup, "step"),
                        measurement.warmup,
                        measurement.stable ? "" : ", which were never stable"));
  std::optional<double> outside = outsideOfOps(measurement);
  if (outside && *outside > minOutside)
    lines.add("outside of ops",
              percent(*outside) +
                  " of the step; the shares above are of what ops take");
  lines.add("model FLOP", rateText(modelRate(measurement), measurement, peaks));
  lines.add("hardware FLOP",
            rateText(hardwareRate(measurement), measurement, peaks));
  std::map<std::string, Rate> formats = ratesByFormat(measurement);
  for (const auto &[format, rate] : formats)
    if (formats.size() > 1)
      lines.add("in " + format,
                quantity(rate.flop(), Dimension::Flop) + ", " +
                    rateText(rate, measurement, peaks, "their ops"));
  lines.add("all FLOP", flopRate(rateOfAll(measurement).perSecond()) +
                            " over the step, with those that are not matmul");
  lines.add("matmul ops",
            fmt::format("{} of the time of all ops, {} of the FLOP",
                        percent(share.time), percent(share.flop)));
  lines.add("memory",
            fmt::format("{} planned, {} if no two tensors shared any; the "
                        "process took {}",
                        bytes(measurement.arena), bytes(measurement.buffers),
                        bytes(measurement.peakRss)));
  if (!measurement.losses.empty())
    lines.add("loss",
              fmt::format("{:.6g}, at last {:.6g}", measurement.losses.front(),
                          measurement.losses.back()));
  lines.add("data", dataText(measurement));
  if (measurement.arena <= measurement.l2)
    lines.add("L2", "all tensors fit into its " + bytes(*measurement.l2));
  if (measurement.device)
    addDevice(lines, *measurement.device);
  page.lines(lines);
}

//===----------------------------------------------------------------------===//
// All batch sizes
//===----------------------------------------------------------------------===//

namespace {
/// A column of tables that have a row for each batch size.
struct Column {
  std::string title;
  std::function<std::string(const Measurement &)> cell;
};
} // namespace

/// The columns that these tables share. Times are in the unit of the shortest.
static std::vector<Column> stepColumns(llvm::ArrayRef<MeasuredRun> runs) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const MeasuredRun &run : runs)
    for (const Measurement &measurement : run.batches)
      shortest = std::min(shortest, measurement.step.median);
  TimeUnit unit = TimeUnit::of(shortest);
  return {{"batch",
           [](auto &measurement) { return std::to_string(measurement.batch); }},
          {fmt::format("step {}", unit.name),
           [unit](auto &measurement) { return unit(measurement.step.median); }},
          {"examples/s",
           [](auto &measurement) {
             return number(measurement.batch / measurement.step.median);
           }},
          {"planned memory",
           [](auto &measurement) { return bytes(measurement.arena); }}};
}

static std::vector<Grid::Cell> headOf(llvm::ArrayRef<Column> columns) {
  std::vector<Grid::Cell> head;
  for (const Column &column : columns)
    head.push_back({column.title, Style::Dim});
  return head;
}

static std::vector<Grid::Cell> rowOf(llvm::ArrayRef<Column> columns,
                                     const Measurement &measurement) {
  std::vector<Grid::Cell> row;
  for (const Column &column : columns)
    row.push_back({column.cell(measurement)});
  return row;
}

static void writeBatches(Page &page, const MeasuredRun &run) {
  std::vector<Column> columns = stepColumns(run);
  columns.push_back({"process", [](auto &measurement) {
                       return bytes(measurement.peakRss);
                     }});
  columns.push_back({"backward/forward time", [](auto &measurement) {
                       return number(backwardRatio(measurement).time);
                     }});
  columns.push_back({"FLOP", [](auto &measurement) {
                       return number(backwardRatio(measurement).flop);
                     }});
  Grid grid(llvm::SmallVector<Grid::Align>(columns.size(), Grid::Right));
  grid.add(headOf(columns));
  grid.addRule();
  std::vector<BatchFigures> figures;
  for (const Measurement &measurement : run.batches) {
    std::vector<Grid::Cell> row = rowOf(columns, measurement);
    row.front().style = Style::Bold;
    grid.add(std::move(row));
    figures.push_back({measurement.batch,
                       measurement.batch / measurement.step.median,
                       Rational(measurement.arena)});
  }
  page.grid(grid);
  if (figures.size() < 2)
    return;
  llvm::sort(figures, [](const BatchFigures &a, const BatchFigures &b) {
    return a.batch < b.batch;
  });
  page.batches(figures);
}

/// The names that sweeps vary, in the order of the runs.
static std::vector<std::string> variedNames(const MeasurementReport &report) {
  std::vector<std::string> names;
  auto add = [&](const auto &values) {
    for (const auto &[name, value] : values)
      if (!llvm::is_contained(names, name))
        names.push_back(name);
  };
  for (const MeasuredRun &run : report.runs)
    add(run.values);
  for (const Misfit &misfit : report.misfits)
    add(misfit.values);
  return names;
}

/// Writes a row for each run, point of a sweep and batch size, if there are
/// several runs or points, or some do not fit.
static void writeSummary(Page &page, const MeasurementReport &report) {
  if (report.runs.size() < 2 && report.misfits.empty())
    return;
  std::vector<std::string> varied = variedNames(report);
  std::vector<Column> columns = stepColumns(report.runs);
  columns.push_back({"model FLOP", [](auto &measurement) {
                       return flopRate(modelRate(measurement).perSecond());
                     }});
  std::vector<Grid::Cell> head = {{"run", Style::Dim}};
  for (const std::string &name : varied)
    head.push_back({name, Style::Dim});
  llvm::append_range(head, headOf(columns));
  for (Method method : allMethods)
    head.push_back({nameOf(method).str(), Style::Dim});
  llvm::SmallVector<Grid::Align> aligns(head.size(), Grid::Right);
  aligns.front() = Grid::Left;
  Grid grid(aligns);
  grid.add(head);
  grid.addRule();
  auto begin = [&](const std::string &run, const auto &of) {
    std::map<std::string, std::string> values(of.begin(), of.end());
    std::vector<Grid::Cell> row = {{run}};
    for (const std::string &name : varied)
      row.push_back({values[name]});
    return row;
  };
  for (const MeasuredRun &run : report.runs)
    for (const Measurement &measurement : run.batches) {
      std::vector<Grid::Cell> row = begin(measurement.run, run.values);
      llvm::append_range(row, rowOf(columns, measurement));
      for (Method method : allMethods) {
        std::optional<Rate> rate = rateBy(method, run, measurement);
        row.push_back({percent(rate ? report.peaks.measured
                                          ? rate->ofMeasured(report.peaks)
                                          : rate->ofDatasheet(report.peaks)
                                    : std::nullopt)});
      }
      grid.add(std::move(row));
    }
  for (const Misfit &misfit : report.misfits) {
    std::vector<Grid::Cell> row = begin(misfit.run, misfit.values);
    row.push_back({misfit.batch ? std::to_string(*misfit.batch) : ""});
    row.push_back({"does not fit"});
    row.push_back({""});
    row.push_back({bytes(misfit.needed) + " of " + bytes(misfit.available)});
    row.resize(head.size());
    grid.add(std::move(row));
  }
  page.section("summary",
               fmt::format(" · utilization of the {} peak",
                           report.peaks.measured ? "measured" : "datasheet's"));
  page.grid(grid);
}

static void writeMethods(Page &page, const MeasuredRun &run,
                         const Peaks &peaks) {
  Grid grid({Grid::Right, Grid::Left, Grid::Right, Grid::Right, Grid::Right,
             Grid::Right});
  std::vector<Grid::Cell> head = {{"batch", Style::Dim},
                                  {"utilization of", Style::Dim}};
  for (Method method : allMethods)
    head.push_back({nameOf(method).str(), Style::Dim});
  grid.add(std::move(head));
  grid.add({{""},
            {"by the time of", Style::Dim},
            {"step", Style::Dim},
            {"passes at 1", Style::Dim},
            {"passes", Style::Dim},
            {"all steps", Style::Dim}});
  grid.addRule();
  auto addRow = [&](const Measurement &measurement, const char *name,
                    auto share, const auto &of) {
    std::vector<Grid::Cell> row = {
        {std::to_string(measurement.batch), Style::Bold}, {name, Style::Dim}};
    for (Method method : allMethods) {
      std::optional<Rate> rate = rateBy(method, run, measurement);
      row.push_back({percent(rate ? ((*rate).*share)(of) : std::nullopt)});
    }
    grid.add(std::move(row));
  };
  for (const Measurement &measurement : run.batches) {
    if (peaks.measured)
      addRow(measurement, "measured peak", &Rate::ofMeasured, peaks);
    if (hardwareRate(measurement).ofDatasheet(peaks))
      addRow(measurement, "datasheet", &Rate::ofDatasheet, peaks);
    if (hardwareRate(measurement).ofClock(measurement))
      addRow(measurement, "peak at its clock", &Rate::ofClock, measurement);
  }
  page.grid(grid);
}

std::string netc::processorText(const Measurement &any, const Peaks &peaks) {
  if (!any.gpu.empty())
    return any.gpu;
  std::string text = any.machine + ", " + counted(any.cores, "core");
  if (peaks.clock)
    text += fmt::format(" at {:.2f} GHz ({})", *peaks.clock * 1e-9,
                        peaks.clockSource == "measured" ? "measured"
                                                        : "as it says");
  return text;
}

static std::string withSource(const std::string &rate, bool isMeasured) {
  return rate + (isMeasured ? " measured" : " by the datasheet");
}

/// Such as `61.2 TFLOP/s measured, 66.9 TFLOP/s by the datasheet`.
static std::string peakText(std::optional<double> measured,
                            std::optional<double> datasheet) {
  std::vector<std::string> peak;
  if (measured)
    peak.push_back(withSource(flopRate(*measured), /*isMeasured=*/true));
  if (datasheet)
    peak.push_back(withSource(flopRate(*datasheet), /*isMeasured=*/false));
  return peak.empty() ? "unknown" : llvm::join(peak, ", ");
}

static void writeMachine(Page &page, const Measurement &any,
                         const Peaks &peaks) {
  Lines lines;
  lines.add("machine", processorText(any, peaks));
  lines.add("peak, f32", peakText(peaks.measured, peaks.datasheet) +
                             (peaks.datasheet ? ": " + peaks.assumed : ""));
  auto in = [](const std::map<std::string, double> &peaks,
               const std::string &format) {
    auto found = peaks.find(format);
    return found == peaks.end() ? std::nullopt : std::optional(found->second);
  };
  for (const std::string &format : otherFormats(any, peaks))
    lines.add("peak, " + format, peakText(in(peaks.formats, format),
                                          in(peaks.datasheetFormats, format)));
  auto byteRate = [](double value) {
    return quantity(value, Dimension(Dimension::Data) / Dimension::Time);
  };
  for (const MemoryLevel &level : peaks.levels)
    lines.add(level.name,
              withSource(byteRate(level.bandwidth), level.isMeasured) +
                  (level.bytes ? ", holds " + bytes(*level.bytes) : ""));
  if (peaks.copy)
    lines.add("", byteRate(*peaks.copy) + " of a copy");
  lines.add("counted", "1 multiply-add = 2 FLOP");
  page.lines(lines);
}

void netc::writeMeasurement(Page &page, const MeasurementReport &report,
                            const TableOptions &options) {
  page.chart(report);
  writeSummary(page, report);
  for (const MeasuredRun &run : report.runs) {
    const Measurement &any = run.batches.front();
    std::string at = textOf(run.values);
    page.section(
        any.run + (at.empty() ? "" : " at " + at),
        fmt::format(
            "{} {} · {} lowering for {}", any.trains() ? " trains" : " runs",
            any.network, any.lowering,
            any.gpu.empty() ? any.isa + " · " + counted(any.threads, "thread")
                            : any.target));
    writeMachine(page, any, report.peaks);
    for (const Measurement &measurement : run.batches)
      writeBatch(page, measurement, report.peaks, options);
    writeBatches(page, run);
    writeMethods(page, run, report.peaks);
  }
}
