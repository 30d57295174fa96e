// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Opaque.h"
#include "lib/Report/Format.h"
#include "lib/Report/Page.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <fmt/format.h>

using namespace netc;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// `image: N×3×224×224, label: N`.
template <typename Names, typename Values>
static std::string signature(Names names, Values values) {
  std::string list;
  for (auto [name, value] : llvm::zip(names, values))
    list += (list.empty() ? "" : ", ") + name.str() + ": " +
            sizesText(shapeOf(value).sizes);
  return list;
}

//===----------------------------------------------------------------------===//
// Warnings
//===----------------------------------------------------------------------===//

namespace {
/// The figure of a run that a warning stands beside.
enum class Beside { Compute, HardwareTime, Utilization, Memory };
} // namespace

static Beside figureOf(const Warning &warning) {
  return llvm::StringSwitch<Beside>(warning.id)
      .Cases("released-later", "no-device-time", "no-peak", "changed-run",
             Beside::HardwareTime)
      .Cases("impossible-time", "jobs-took-longer", Beside::Utilization)
      .Case("unknown-placement", Beside::Memory)
      .Default(Beside::Compute);
}

static std::string textOf(const Warning &warning) {
  return warning.text + (warning.id.empty() ? "" : " [-W" + warning.id + "]");
}

/// Those about a run and its jobs that belong to one figure.
static void addWarnings(Lines &lines, const Run &run, Beside figure,
                        llvm::ArrayRef<Warning> warnings) {
  for (const Warning &warning : warnings)
    if (warning.about == run.name() && figureOf(warning) == figure)
      lines.add("warning", textOf(warning), Style::Bad);
  for (const Run &job : run.jobs)
    addWarnings(lines, job, figure, warnings);
}

/// Those that no network or run of the report shows.
static void writeOtherWarnings(Page &page, const Report &report) {
  std::set<StringRef> shown;
  for (const Network *network : report.networks)
    shown.insert(network->name());
  std::function<void(const Run &)> addRun = [&](const Run &run) {
    shown.insert(run.name());
    llvm::for_each(run.jobs, addRun);
  };
  for (const RunReport &run : report.runs)
    addRun(*run.run);
  Lines lines;
  for (const Warning &warning : report.warnings)
    if (!shown.count(warning.about))
      lines.add(fmt::format("{}:{}", warning.file, warning.line),
                textOf(warning), Style::Bad);
  if (lines.asGrid().lines().empty())
    return;
  page.section("warnings", "");
  page.lines(lines);
}

//===----------------------------------------------------------------------===//
// Networks
//===----------------------------------------------------------------------===//

namespace {
/// The table of the layers of one network.
class LayerTable {
public:
  explicit LayerTable(unsigned depth)
      : depth(depth),
        grid({Grid::Left, Grid::Left, Grid::Left, Grid::Right, Grid::Right,
              Grid::Right, Grid::Right, Grid::Right, Grid::Bar}) {}

  Grid build(const LayerRow &total) {
    std::vector<Grid::Cell> head;
    for (const char *title : {"layer", "op", "shape", "parameters", "forward",
                              "backward", "other", "share"})
      head.push_back({title, Style::Dim});
    grid.add(std::move(head));
    grid.addRule();
    if (depth != 0) {
      addAll(total.children, 0);
      grid.addRule();
    }
    addRow(total, 0, Style::Bold);
    return std::move(grid);
  }

private:
  void addAll(llvm::ArrayRef<LayerRow> rows, unsigned level) {
    for (const LayerRow &row : rows) {
      addRow(row, level, Style::Plain);
      if (level + 1 < depth)
        addAll(row.children, level + 1);
    }
  }

  void addRow(const LayerRow &row, unsigned level, Style style) {
    const Cost &forward = row.figures[Phase::Forward];
    Cost backward = row.figures.backward();
    grid.add({{std::string(level * 2, ' ') + row.name, style},
              {row.op, Style::Dim},
              {row.shape, Style::Dim},
              {row.figures.parameters.isZero()
                   ? "·"
                   : quantity(row.figures.parameters, {}),
               style},
              {flopCell(forward.matmul), style},
              {flopCell(backward.matmul), style},
              {flopCell(forward.other + backward.other), style},
              {shareCell(row.share), style},
              {bar(row.share, 10), Style::Good}});
  }

  const unsigned depth;
  Grid grid;
};
} // namespace

Grid netc::layerGrid(const LayerRow &total, unsigned depth) {
  return LayerTable(depth).build(total);
}

/// Whether a part is in it of which nobody says how large it is.
static bool isUnknown(const Figures &figures) {
  return llvm::any_of(figures.model().matmul.symbols(), [](StringRef symbol) {
    return symbol.starts_with(unknownCost);
  });
}

/// What bytes that hold no activations of opaque parts are followed by.
static std::string besideOpaque(const PartTree &parts) {
  bool hasOpaque = llvm::any_of(
      parts.parts, [](const Part &part) { return part.op == "opaque"; });
  return hasOpaque ? ", without those in opaque parts" : "";
}

/// What figures that hold recomputation, if there is some, are labelled with.
static std::string withRecomputation(const Figures &figures) {
  return figures[Phase::Recompute].total().isZero() ? ""
                                                    : ", with recomputation";
}

static void addPolynomials(Lines &lines, const Figures &figures) {
  auto add = [&](const char *label, const Cost &cost) {
    if (!cost.matmul.isZero())
      lines.add(label, cost.matmul.str() + " FLOP");
    if (!cost.other.isZero())
      lines.add(label + std::string(", other"), cost.other.str() + " FLOP");
  };
  add("forward", figures[Phase::Forward]);
  add("backward", figures.backward());
  add("optimizer", figures[Phase::Update]);
  add("recomputation", figures[Phase::Recompute]);
}

static void writeNetwork(Page &page, const Network &network,
                         llvm::ArrayRef<Warning> warnings,
                         const TableOptions &options) {
  NetworkOp op = network.op;
  const Figures &figures = network.parts.root().figures;
  page.section(
      network.name(),
      "(" +
          signature(op.getInputs().getAsRange<mlir::StringAttr>(),
                    op.getBlock().getArguments()) +
          ") → " +
          signature(op.getReturn().getNames().getAsRange<mlir::StringAttr>(),
                    op.getReturn().getOperands()));
  std::string parameters = counted(figures.parameters, "parameter");
  if (isUnknown(figures))
    parameters = "of unknown size, " + parameters + " known";
  if (figures.trainable != figures.parameters)
    parameters += ", " + exact(figures.trainable) + " trainable";
  if (!figures.idle.isZero())
    parameters += ", " + exact(figures.parameters - figures.idle) + " active";
  parameters += " · FLOP of one example";
  for (auto &[name, size] : network.freeAxes())
    if (size && name != "N")
      parameters += ", " + name + " = " + exact(*size);
  page.paragraph(parameters + " · " + conventionsText(network.conventions));
  page.layers(layerRows(network.parts));

  Lines lines;
  for (const Warning &warning : warnings)
    if (warning.about == network.name())
      lines.add("warning", textOf(warning), Style::Bad);
  if (!isUnknown(figures))
    lines.add("saved for backward",
              bytes(figures.activations) + besideOpaque(network.parts));
  if (options.symbolic)
    addPolynomials(lines, network.symbolic);
  page.lines(lines);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static std::string inFlop(const Rational &value) { return flop(value); }
static std::string inBytes(const Rational &value) { return bytes(value); }
static std::string inPercent(const Rational &share) {
  return percent(share, 1);
}
static std::string inDeviceTime(const Rational &seconds) {
  return deviceTime(seconds / 3600);
}

/// `450,420 steps of 256 examples; 115.3M examples, 90 epochs`.
static std::string durationText(const Run &run) {
  if (!run.steps)
    return run.jobs.empty() ? "the number of steps is not known"
                            : "the sum of its jobs";
  std::string text = counted(*run.steps, "step");
  if (run.batch)
    text += " of " + counted(*run.batch, "example");
  std::string seen;
  auto add = [&](const std::optional<Rational> &value, Dimension::Base unit) {
    if (value)
      seen += (seen.empty() ? ": " : ", ") + formatQuantity(*value, unit);
  };
  add(run.examples, Dimension::Example);
  add(run.tokens, Dimension::Token);
  add(run.epochs, Dimension::Epoch);
  return text + seen;
}

static void writeSteps(Page &page, const Run &run) {
  Grid grid({Grid::Left, Grid::Right, Grid::Right, Grid::Right, Grid::Bar});
  grid.add({{"", Style::Dim},
            {"matmul FLOP", Style::Dim},
            {"other FLOP", Style::Dim},
            {"share", Style::Dim}});
  grid.addRule();
  const Figures &step = run.step();
  Cost hardware = step.hardware();
  auto add = [&](std::string name, const Cost &cost, Style style) {
    std::optional<Rational> share =
        style == Style::Bold ? std::nullopt
                             : shareOf(cost.total(), hardware.total());
    grid.add({{std::move(name), style},
              {flopCell(cost.matmul), style},
              {flopCell(cost.other), style},
              {shareCell(share), style},
              {bar(share, 10), Style::Good}});
  };
  add("forward", step[Phase::Forward], Style::Plain);
  add("backward, input gradients", step[Phase::InputGradient], Style::Plain);
  add("backward, weight gradients", step[Phase::WeightGradient], Style::Plain);
  add("optimizer", step[Phase::Update], Style::Plain);
  if (!step[Phase::Recompute].total().isZero())
    add("recomputation", step[Phase::Recompute], Style::Plain);
  grid.addRule();
  std::string label = withRecomputation(step);
  add("one step" + label, hardware, Style::Bold);
  if (std::optional<Cost> all = run.total(&Figures::hardware))
    add((run.steps ? counted(*run.steps, "step") : "all of it") + label, *all,
        Style::Bold);
  page.grid(grid);
}

namespace {
/// The table of what a run is made of, a row for each job.
class JobTable {
public:
  explicit JobTable(const Run &run)
      : run(run), whole(run.total(&Figures::hardware)),
        grid({Grid::Left, Grid::Left, Grid::Right, Grid::Right, Grid::Right,
              Grid::Right, Grid::Left}) {}

  void write(Page &page) {
    std::vector<Grid::Cell> head;
    for (const char *title :
         {"job", "", "steps", "one step", "all steps", "share"})
      head.push_back({title, Style::Dim});
    grid.add(std::move(head));
    grid.addRule();
    addJobs(run, 0, true);
    grid.addRule();
    std::optional<Cost> model = run.total(&Figures::model);
    bool isMore = whole && model && whole->matmul != model->matmul;
    addRow(isMore ? "total, with recomputation" : "total", "", run,
           std::nullopt, Style::Bold);
    page.grid(grid);
  }

private:
  void addJobs(const Run &around, unsigned level, bool isCounted) {
    for (const Run &job : around.jobs) {
      std::string does = job.isInference ? "infer" : "train";
      if (job.jobs.empty())
        does += " " + job.network().str();
      if (job.times && *job.times != 1)
        does += ", " + exact(*job.times) + " times a step";
      if (job.decode)
        does += ", " + counted(*job.decode, "position") + " one by one";
      if (job.isTuning)
        does += ", tuning, not counted";
      bool counts = isCounted && !job.isTuning;
      std::optional<Cost> all = job.total(&Figures::hardware);
      std::optional<Rational> share;
      if (counts && all && whole)
        share = shareOf(all->matmul, whole->matmul);
      addRow(std::string(level * 2, ' ') + job.shortName().str(), does, job,
             share, counts ? Style::Plain : Style::Dim);
      addJobs(job, level + 1, counts);
    }
  }

  void addRow(std::string name, std::string does, const Run &job,
              const std::optional<Rational> &share, Style style) {
    std::optional<Cost> all = job.total(&Figures::hardware);
    grid.add(
        {{std::move(name), style},
         {std::move(does), Style::Dim},
         {job.steps ? exact(*job.steps) : "", style},
         {job.hasStep() ? flopCell(job.step().hardware().matmul) : "", style},
         {all ? flopCell(all->matmul) : "", style},
         {shareCell(share), style},
         {bar(share, 10), Style::Good}});
  }

  const Run &run;
  const std::optional<Cost> whole;
  Grid grid;
};
} // namespace

static void addRuleOfThree(Lines &lines, const Run &run) {
  Rational rule = *run.ruleOfThree, exactly = *run.modelFlop();
  if (rule.isZero())
    return;
  Rational off = (exactly - rule) / rule;
  lines.add("rule of three",
            flop(rule) + " = 3 × forward × examples; the count is " +
                (off.isZero() ? "the same"
                              : percent(off.abs(), 2) +
                                    (off.isNegative() ? " below" : " above")));
  for (const Deviation &deviation : run.deviations)
    lines.add("", fmt::format("{:+8.2f} %  {}",
                              (deviation.flop / rule).toDouble() * 100,
                              deviation.reason));
}

/// ` = 3,640 PFLOP/s-days`; empty for what is little of one.
static std::string inPetaflopDays(const Rational &flop) {
  Rational days = petaflopDays(flop);
  if (days < Rational::fraction(1, 10))
    return "";
  return " = " + (days < 100 ? formatQuantity(days, {}) : exact(days.floor())) +
         " PFLOP/s-days";
}

/// `8.1e21 FLOP (4e21 FLOP to 1.2e22 FLOP)`
static std::string flopByTimeText(const HardwareTime &time) {
  return flop(time.flop) + inParentheses(flop(time.low), flop(time.high));
}

/// `8.1e21 FLOP = 60,000 device-hours at 30 % of 125 TFLOP/s, f16`.
static std::string hardwareTimeText(const HardwareTime &time, bool isSum) {
  std::string text = flopByTimeText(time) + inPetaflopDays(time.flop);
  if (isSum)
    return text + ", the sum of its jobs";
  if (!time.deviceHours || !time.peak || !time.utilization)
    return text + ", as reported";
  return text + " = " + deviceTime(*time.deviceHours) + " at " +
         percent(*time.utilization, 0) + " of " +
         formatQuantity(*time.peak,
                        Dimension(Dimension::Flop) / Dimension::Time) +
         (time.format.empty() ? "" : ", " + time.format);
}

static void addHardwareTime(Lines &lines, const std::string &label,
                            const Run &run, const HardwareTime &time) {
  bool isSum = !run.reportedFlop && !run.deviceSeconds;
  lines.add(label, hardwareTimeText(time, isSum));
  for (const Assumption &assumption : time.defaults)
    lines.add("", fmt::format("assumes `{}` {}: {}; × {:.2g} to {:.2g}",
                              assumption.key, assumption.taken,
                              assumption.reason, assumption.low.toDouble(),
                              assumption.high.toDouble()));
}

/// Those of the jobs that report theirs.
static void addHardwareTimesOfJobs(Lines &lines, const RunReport &report) {
  for (size_t i = 0; i < report.run->jobs.size(); ++i) {
    RunReport job = report.ofJob(i);
    std::string label = "  of `" + job.run->shortName().str() + "`";
    if (job.run->isTuning)
      label += ", not counted";
    if (job.hardwareTime)
      addHardwareTime(lines, label, *job.run, *job.hardwareTime);
    addHardwareTimesOfJobs(lines, job);
  }
}

static void addComparison(Lines &lines, const Comparison &comparison) {
  bool isFar = !comparison.causes.empty();
  lines.add("both methods",
            "by time " + formatQuantity(comparison.ratio, {}, 3) +
                " × by operations; geometric mean " +
                flop(comparison.geometricMean),
            isFar ? Style::Bad : Style::Plain);
  if (isFar)
    lines.add("", "warning: more than a factor of 2 apart; the usual causes:");
  for (const std::string &cause : comparison.causes)
    lines.add("", "  " + cause);
}

/// The share of the peak that was used in the time that is reported, else the
/// time that the count would take.
static void addUtilization(Lines &lines, const RunReport &report) {
  const Run &run = *report.run;
  std::string peak =
      run.peak ? formatQuantity(*run.peak,
                                Dimension(Dimension::Flop) / Dimension::Time)
               : "";
  if (std::optional<Rational> model = run.modelUtilization()) {
    Rational hardware = *run.hardwareUtilization();
    lines.add("utilization",
              report.text(&Run::modelUtilization, inPercent) +
                  (hardware == *model
                       ? ""
                       : " (MFU), with recomputation " +
                             report.text(&Run::hardwareUtilization, inPercent) +
                             " (HFU)") +
                  (run.deviceSeconds ? " of " + peak : "") + " over " +
                  report.text(&Run::reportedDeviceTime, inDeviceTime),
              hardware > 1 ? Style::Bad : Style::Plain);
    return;
  }
  std::optional<Rational> seconds = run.deviceTime();
  if (!seconds || run.reportedDeviceTime() || run.flopByTime())
    return;
  std::string text = report.text(&Run::deviceTime, inDeviceTime);
  if (!run.jobs.empty())
    text += ", the sum of its jobs";
  else
    text += " at " + percent(*run.knownUtilization(), 0) + " of " + peak +
            (run.utilization ? "" : ", which is assumed");
  lines.add("device time", text);
}

static void addMemory(Lines &lines, const RunReport &report) {
  const Run &run = *report.run;
  const Memory &memory = run.memory;
  lines.add(
      "memory per device",
      fmt::format("{}{}{} = {} weights + {} gradients + {} optimizer + {} "
                  "activations{}{}",
                  bytes(memory.total()), run.isAverage ? " on average" : "",
                  report.rangeText(&Run::memoryPerDevice, inBytes),
                  bytes(memory.weights), bytes(memory.gradients),
                  bytes(memory.optimizer), bytes(memory.activations),
                  memory.constants.isZero()
                      ? ""
                      : " + " + bytes(memory.constants) + " constants",
                  besideOpaque(run.parts)));
  if (!run.hasStep())
    return;
  Polynomial moved = run.step().traffic();
  std::string text = bytes(moved) +
                     report.rangeText(&Run::trafficOfStep, inBytes) +
                     " a step, each op by itself";
  if (std::optional<Rational> intensity =
          shareOf(run.step().model().total(), moved))
    text += "; " + formatQuantity(*intensity, {}, 3) + " FLOP a byte";
  lines.add("memory traffic", text);
}

static void addPlan(Lines &lines, const RunReport &report,
                    const std::string &job = "") {
  auto bytes = [](int64_t count) {
    return formatQuantity(count, Dimension::Data);
  };
  if (const PlannedMemory *plan = report.plan())
    lines.add(
        "memory planned",
        fmt::format("{}{} for {} at batch {}; {} if no two tensors shared any",
                    job, bytes(plan->arena), plan->target, plan->batch,
                    bytes(plan->buffers)));
  for (size_t i = 0; i < report.run->jobs.size(); ++i) {
    RunReport part = report.ofJob(i);
    addPlan(lines, part, "`" + part.run->shortName().str() + "`: ");
  }
}

namespace {
/// A column of the table of a sweep; a cell is empty where a point has no such
/// figure.
struct SweepColumn {
  const char *title;
  std::function<std::string(const RunReport &)> cell;
};
} // namespace

static std::vector<SweepColumn> sweepColumns() {
  auto withRange = [](const RunReport::Figure &figure, auto textOf) {
    return [=](const RunReport &point) { return point.text(figure, textOf); };
  };
  auto ofStep = [](Cost (Figures::*costOf)() const) {
    return [=](const RunReport &point) {
      auto flop = [=](const Run &run) {
        return run.hasStep() ? (run.step().*costOf)().matmul : Polynomial();
      };
      return flopCell(flop(*point.run)) +
             point.rangeText(
                 [=](const Run &run) { return flop(run).constant(); },
                 [](const Rational &flop) { return flopCell(flop); });
    };
  };
  return {
      {"steps", withRange([](const Run &run) { return run.steps; },
                          [](const Rational &steps) { return exact(steps); })},
      {"one step", ofStep(&Figures::model)},
      {"with recomputation",
       [=](const RunReport &point) {
         return point.run->step()[Phase::Recompute].total().isZero()
                    ? ""
                    : ofStep(&Figures::hardware)(point);
       }},
      {"compute", withRange(&Run::modelFlop, inFlop)},
      {"hardware time",
       [](const RunReport &point) {
         return point.hardwareTime ? flopByTimeText(*point.hardwareTime) : "";
       }},
      {"utilization", withRange(&Run::modelUtilization, inPercent)},
      {"device time", withRange(
                          [](const Run &run) {
                            return run.reportedDeviceTime() ? std::nullopt
                                                            : run.deviceTime();
                          },
                          inDeviceTime)},
      {"memory per device",
       [](const RunReport &point) {
         return bytes(point.run->memory.total()) +
                point.rangeText(&Run::memoryPerDevice, inBytes);
       }},
  };
}

/// Whether the figures of all points stay what they are when only what is
/// varied at `place` changes.
static bool changesNothing(size_t place, llvm::ArrayRef<RunReport> sweep,
                           llvm::ArrayRef<std::vector<std::string>> figures) {
  std::map<std::vector<std::string>, std::vector<std::string>> seen;
  for (auto [row, cells] : llvm::zip_equal(sweep, figures)) {
    std::vector<std::string> others;
    for (auto [i, value] : llvm::enumerate(row.values))
      others.push_back(i == place ? "" : value.second);
    if (seen.try_emplace(std::move(others), cells).first->second != cells)
      return false;
  }
  return seen.size() < sweep.size();
}

static void writeSweep(Page &page, llvm::ArrayRef<RunReport> sweep) {
  std::vector<Grid::Cell> head;
  for (auto &[name, value] : sweep.front().values)
    head.push_back({name, Style::Dim});
  std::vector<std::vector<std::string>> figures(sweep.size());
  for (const SweepColumn &column : sweepColumns()) {
    std::vector<std::string> cells;
    for (const RunReport &point : sweep)
      cells.push_back(column.cell(point));
    if (llvm::all_of(cells, [](const std::string &cell) { return cell == ""; }))
      continue;
    head.push_back({column.title, Style::Dim});
    for (auto [row, cell] : llvm::zip_equal(figures, cells))
      row.push_back(std::move(cell));
  }
  Grid grid(llvm::SmallVector<Grid::Align>(head.size(), Grid::Right));
  grid.add(std::move(head));
  grid.addRule();
  for (auto [row, cells] : llvm::zip_equal(sweep, figures)) {
    std::vector<Grid::Cell> line;
    for (auto &[name, value] : row.values)
      line.push_back({value});
    for (const std::string &cell : cells)
      line.push_back({cell});
    grid.add(std::move(line));
  }
  page.heading("sweep");
  page.grid(grid);
  Lines lines;
  for (auto [place, varied] : llvm::enumerate(sweep.front().values))
    if (changesNothing(place, sweep, figures))
      lines.add("`" + varied.first + "`", "changes none of these figures");
  page.lines(lines);
}

/// The compute by each method that there is one by.
static std::vector<Estimate> bothMethods(const RunReport &report) {
  std::vector<Estimate> estimates;
  auto counted = [](const Run &run) { return run.atTwo(&Figures::model); };
  if (std::optional<Rational> flop = counted(*report.run)) {
    auto range = report.range(counted);
    const char *label = report.run->conventions.fma == 2
                            ? "by operations"
                            : "by operations, two for a multiply-add";
    estimates.push_back({label, range ? range->first : *flop, *flop,
                         range ? range->second : *flop});
  }
  if (const std::optional<HardwareTime> &time = report.hardwareTime)
    estimates.push_back(
        {"by hardware time", time->low, time->flop, time->high});
  return estimates;
}

/// "`T` has no size in this run".
static std::string haveNoSize(llvm::ArrayRef<std::string> axes) {
  std::string names;
  for (const std::string &axis : axes)
    names += (names.empty() ? "`" : ", `") + axis + "`";
  return names + (axes.size() == 1 ? " has" : " have") + " no size in this run";
}

static void writeRun(Page &page, const RunReport &report,
                     llvm::ArrayRef<Warning> warnings,
                     const TableOptions &options) {
  const Run &run = *report.run;
  auto warn = [&](Lines &lines, Beside figure) {
    addWarnings(lines, run, figure, warnings);
  };
  std::string about;
  if (!run.network().empty())
    about = (run.isInference ? " runs " : " trains ") + run.network().str();
  about += " · " + durationText(run);
  if (run.devices)
    about += " · " + exact(*run.devices) + " " + run.device;
  page.section(run.name(), about + " · " + conventionsText(run.conventions));
  if (run.jobs.empty())
    writeSteps(page, run);
  else
    JobTable(run).write(page);

  Lines lines;
  if (std::optional<Cost> cost = run.total(&Figures::model)) {
    const Polynomial &model = cost->matmul;
    lines.add("compute",
              flop(model) + report.rangeText(&Run::modelFlop, inFlop) +
                  (model.isConstant()
                       ? (run.isGuessed ? ", about " : ", exactly ") +
                             exact(model) + inPetaflopDays(*model.constant())
                       : "; " + haveNoSize(model.symbols())),
              Style::Bold);
  }
  if (run.ruleOfThree)
    addRuleOfThree(lines, run);
  else if (std::string last = run.lastStep(); !last.empty())
    lines.add("", last);
  warn(lines, Beside::Compute);
  if (report.hardwareTime)
    addHardwareTime(lines, "hardware time", run, *report.hardwareTime);
  addHardwareTimesOfJobs(lines, report);
  warn(lines, Beside::HardwareTime);
  if (std::optional<Comparison> comparison = compareMethods(run))
    addComparison(lines, *comparison);
  addUtilization(lines, report);
  warn(lines, Beside::Utilization);
  if (!isUnknown(run.symbolic))
    addMemory(lines, report);
  warn(lines, Beside::Memory);
  addPlan(lines, report);
  if (options.symbolic)
    addPolynomials(lines, run.symbolic);
  page.lines(lines);
  page.compare(bothMethods(report));
  if (!report.sweep.empty())
    writeSweep(page, report.sweep);
}

//===----------------------------------------------------------------------===//
// Expects
//===----------------------------------------------------------------------===//

/// `conventions` are those of the report.
static void writeExpects(Page &page, llvm::ArrayRef<Verdict> expects,
                         const Conventions &conventions) {
  size_t holding = llvm::count_if(
      expects, [](const Verdict &verdict) { return verdict.holds; });
  page.section("expect",
               fmt::format(" · {} of {} hold{}{}", holding, expects.size(),
                           expects.size() == 1 ? "s" : "",
                           conventions == Conventions()
                               ? ""
                               : ", by the conventions of the file"));
  Grid grid({Grid::Left, Grid::Left, Grid::Left, Grid::Left});
  for (const Verdict &verdict : expects) {
    StringRef text = verdict.text;
    text.consume_front("expect ");
    Style style = verdict.holds ? Style::Good : Style::Bad;
    grid.add({{verdict.holds ? "✓" : "✗", style},
              {text.ltrim().str()},
              {verdict.value.text, verdict.holds ? Style::Plain : Style::Bad},
              {fmt::format("{}:{}", verdict.file, verdict.line), Style::Dim}});
  }
  page.grid(grid);
}

//===----------------------------------------------------------------------===//
// All together
//===----------------------------------------------------------------------===//

void netc::writeReport(Page &page, const Report &report,
                       const TableOptions &options) {
  for (const Network *network : report.networks)
    writeNetwork(page, *network, report.warnings, options);
  for (const RunReport &run : report.runs)
    writeRun(page, run, report.warnings, options);
  writeOtherWarnings(page, report);
  if (!report.expects.empty())
    writeExpects(page, report.expects, report.conventions);
}

namespace {
class TextPage : public Page {
public:
  TextPage(llvm::raw_ostream &os, const TableOptions &options)
      : os(os), options(options) {}

  void section(StringRef title, StringRef rest) override {
    os << separator << styled(title, Style::Bold, options.colour) << rest
       << '\n';
    separator = "\n";
  }
  void heading(StringRef text) override { os << "\n  " << text << '\n'; }
  void paragraph(StringRef text) override { os << text << '\n'; }
  void grid(const Grid &grid) override {
    os << '\n';
    grid.print(os, 2, options.colour);
  }
  void lines(const Lines &lines) override {
    if (!lines.asGrid().lines().empty())
      grid(lines.asGrid());
  }
  void layers(const LayerRow &total) override {
    grid(layerGrid(total, options.depth));
  }

private:
  llvm::raw_ostream &os;
  const TableOptions options;
  StringRef separator;
};
} // namespace

std::unique_ptr<Page> netc::textPage(llvm::raw_ostream &os,
                                     const TableOptions &options) {
  return std::make_unique<TextPage>(os, options);
}
