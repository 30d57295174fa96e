// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Hardware/Precision.h"
#include "lib/Report/Format.h"
#include "lib/Report/Writers.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <fmt/format.h>

using namespace netc;
using llvm::StringRef;

/// `450,420 steps of 256 examples: 115.3M examples, 90 epochs`.
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

/// A suffix for labels of figures that include recomputation; empty if there is
/// none.
static std::string withRecomputation(const Figures &figures) {
  return figures[Phase::Recompute].total().isZero() ? ""
                                                    : ", with recomputation";
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
              barCell(share)});
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

/// `T = 2,048, 3.2M tokens a step`; empty if there is nothing to say.
static std::string sizesOfAxes(const Run &run) {
  std::string text;
  auto add = [&](const std::string &more) {
    text += (text.empty() ? "" : ", ") + more;
  };
  for (auto &[name, size] : run.axes)
    add(name + " = " + exact(size));
  if (run.axes.empty() && run.tokensPerExample)
    add("T = " + exact(*run.tokensPerExample));
  if (std::optional<Rational> tokens = run.tokensPerStep())
    add(formatQuantity(*tokens, Dimension::Token) + " a step");
  return text;
}

namespace {
/// The table of a run's jobs.
class JobTable {
public:
  explicit JobTable(const Run &run)
      : run(run), whole(run.total(&Figures::hardware)),
        grid({Grid::Left, Grid::Left, Grid::Right, Grid::Right, Grid::Right,
              Grid::Right, Grid::Bar}) {}

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
      if (std::string sizes = sizesOfAxes(job); !sizes.empty())
        does += ", " + sizes;
      if (job.decode)
        does += ", " + counted(*job.decode, "position") +
                (job.decodeTogether == Rational(1)
                     ? " one by one"
                     : ", " + exact(job.decodeTogether) + " a pass");
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
         barCell(share)});
  }

  const Run &run;
  const std::optional<Cost> whole;
  Grid grid;
};
} // namespace

/// Adds the FLOP by a rule of thumb, and how the count deviates from them.
static void addRule(Lines &lines, const std::string &label,
                    const Rational &rule, const std::string &formula,
                    const Rational &count,
                    llvm::ArrayRef<Deviation> deviations) {
  if (rule.isZero())
    return;
  // Leave out shares that round to 0.00 %.
  auto inPercents = [&](const Rational &flop) {
    double percents = (flop / rule).toDouble() * 100;
    return std::abs(percents) < 0.005 ? 0 : percents;
  };
  double off = inPercents(count - rule);
  std::string verdict = count == rule ? "the same"
                        : off == 0    ? "the same to 0.01 %"
                                   : fmt::format("{:.2f} % {}", std::abs(off),
                                                 off < 0 ? "below" : "above");
  lines.add(label, flop(rule) + " = " + formula + "; the count is " + verdict);
  for (const Deviation &deviation : deviations)
    if (double percents = inPercents(deviation.flop); percents != 0)
      lines.add("", fmt::format("{:+8.2f} %  {}", percents, deviation.reason));
}

static void addRules(Lines &lines, const Run &run) {
  if (run.ruleOfThree)
    addRule(lines, "rule of three", *run.ruleOfThree, "3 × forward × examples",
            *run.modelFlop(), run.deviations);
  else if (std::string last = run.lastStep(); !last.empty())
    lines.add("", last);
  if (!run.parameterRule)
    return;
  unsigned factor = run.conventions.fma * (run.isInference ? 1 : 3);
  Rational parameters = *run.activeParameters().constant();
  addRule(lines, fmt::format("{} N D", factor), *run.parameterRule,
          fmt::format("{} × {} parameters × {}", factor,
                      formatQuantity(parameters, {}),
                      formatQuantity(*run.parameterRule / parameters / factor,
                                     Dimension::Token)),
          *run.modelFlop(), run.parameterDeviations);
}

/// ` = 3,640 PFLOP/s-days`; empty below 0.1.
static std::string inPetaflopDays(const Rational &flop) {
  Rational days = petaflopDays(flop);
  if (days < Rational::fraction(1, 10))
    return "";
  return " = " + (days < 100 ? formatQuantity(days, {}) : exact(days.floor())) +
         " PFLOP/s-days";
}

std::string netc::flopText(const ComputeByTime &time) {
  return flop(time.flop) + inParentheses(flop(time.low), flop(time.high));
}

/// `8.1e21 FLOP = 60,000 device-hours at 30 % of 125 TFLOP/s, f16`.
static std::string computeByTimeText(const ComputeByTime &time, unsigned fma,
                                     bool isSum) {
  std::string text = flopText(time) + inPetaflopDays(time.flop);
  if (isSum)
    return text + ", the sum of its jobs";
  if (!time.deviceHours || !time.peak || !time.utilization)
    return text + ", as reported";
  return text + " = " + deviceTime(*time.deviceHours) + " at " +
         inRoundPercent(*time.utilization) + " of " +
         formatQuantity(*time.peak,
                        Dimension(Dimension::Flop) / Dimension::Time) +
         (time.format.empty() ? "" : ", " + time.format) +
         (fma == 2 ? "" : ", of which two are a multiply-add");
}

static void addComputeByTime(Lines &lines, const std::string &label,
                             const Run &run, const ComputeByTime &time) {
  bool isSum = !run.tookFlop && !run.deviceSeconds;
  lines.add(label, computeByTimeText(time, run.conventions.fma, isSum));
  for (const Assumption &assumption : time.defaults) {
    std::string low = fmt::format("{:.2g}", assumption.low.toDouble());
    std::string high = fmt::format("{:.2g}", assumption.high.toDouble());
    lines.add("", fmt::format("assumes `{}` {}: {}; × {}", assumption.key,
                              assumption.taken, assumption.reason,
                              low == high ? low : low + " to " + high));
  }
}

/// Adds the estimates of those jobs that report a time.
static void addComputeByTimeOfJobs(Lines &lines, const RunReport &report) {
  for (size_t i = 0; i < report.run->jobs.size(); ++i) {
    RunReport job = report.ofJob(i);
    std::string label = "  of `" + job.run->shortName().str() + "`";
    if (job.run->isTuning)
      label += ", not counted";
    if (job.computeByTime)
      addComputeByTime(lines, label, *job.run, *job.computeByTime);
    addComputeByTimeOfJobs(lines, job);
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
    lines.add("", "more than a factor of 2 apart; the usual causes:");
  for (const std::string &cause : comparison.causes)
    lines.add("", "  " + cause);
}

/// Adds the utilization in the reported time, or else the time that the count
/// would take.
static void addUtilization(Lines &lines, const RunReport &report) {
  const Run &run = *report.run;
  std::optional<Rational> perSecond = run.peakOf(&Figures::model);
  std::string peak =
      perSecond ? formatQuantity(*perSecond,
                                 Dimension(Dimension::Flop) / Dimension::Time)
                : "";
  if (perSecond != run.peak) {
    std::string names = run.namesOfFormats();
    peak +=
        (StringRef(names).contains(" and ") ? ", the mean of " : ", ") + names;
  }
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
  std::string text = report.text(&Run::deviceTime, inDeviceTime), reason;
  for (const Assumption &taken : run.assumptions)
    if (run.decode && taken.key == "utilization")
      reason = ": " + taken.reason;
  if (!run.jobs.empty())
    text += ", the sum of its jobs";
  else
    text += " at " + inRoundPercent(*run.knownUtilization()) + " of " + peak +
            (run.utilization ? "" : ", which is assumed") + reason;
  lines.add("device time", text);
}

/// `80 GB of each H100: fits, 12 GB (15.0 %) are left; ..`
static void addMemoryVerdict(Lines &lines, const RunReport &report) {
  const Run &run = *report.run;
  std::optional<MemoryVerdict> verdict = memoryVerdict(run);
  if (!verdict)
    return;
  const Rational &capacity = verdict->capacity, &needed = verdict->needed;
  std::string text = inBytes(capacity);
  if (!run.device.empty())
    text += " of each " + run.device;
  text += verdict->fits
              ? fmt::format(
                    ": fits, {} ({}) are left{}", inBytes(capacity - needed),
                    inPercent((capacity - needed) / capacity),
                    run.isInference ? " for the values between ops" : "")
              : fmt::format(": does not fit, {} are missing ({} × that)",
                            inBytes(needed - capacity),
                            formatQuantity(needed / capacity, {}, 3));
  if (!verdict->largest.empty())
    text += fmt::format("; the largest part: {}, {}", verdict->largest,
                        inPercent(verdict->bytesOfLargest / needed));
  auto range = report.range(&Run::memoryPerDevice);
  if (range && (range->first <= capacity) != (range->second <= capacity))
    text += "; otherwise at the other end of its range";
  lines.add("device memory", text, verdict->fits ? Style::Plain : Style::Bad);
  if (verdict->fits || !verdict->neededIfSplit)
    return;
  lines.add("",
            fmt::format("with weights, gradients and optimizer split evenly "
                        "over {} devices: {} a device, which {}",
                        exact(*run.devices), inBytes(*verdict->neededIfSplit),
                        *verdict->neededIfSplit <= capacity
                            ? "fits"
                            : "does not fit either"));
}

static std::string lossScaleText(const Run &run) {
  if (!run.lossScale)
    return "no loss scale: gradients below 6e-8 are 0";
  std::string text = "loss scale " + formatQuantity(*run.lossScale, {});
  if (run.hasDynamicLossScale())
    text += fmt::format(" at first, × {} after {} steps with finite "
                        "gradients, × {} after one without, which is skipped",
                        formatQuantity(*run.lossScaleGrowth, {}),
                        exact(*run.lossScaleInterval),
                        formatQuantity(*run.lossScaleBackoff, {}));
  return text;
}

/// Adds the formats of arithmetic and of saved values.
static void addPrecision(Lines &lines, const Run &run) {
  std::optional<Precision> precision = parsePrecision(run.precision);
  if (!precision && !run.hasStep())
    return;
  std::vector<NumberFormat> formats = run.formats();
  bool isOfTypes = !precision && llvm::any_of(formats, [](NumberFormat each) {
    return each != NumberFormat::F32;
  });
  if (precision ? precision->str() == "f32" : !isOfTypes)
    return;
  std::string shares;
  const char *before = ": of the matmul FLOP ";
  for (NumberFormat format : formats) {
    std::optional<Rational> share = shareOf(
        run.step().in(format).hardware().matmul, run.step().hardware().matmul);
    if (share && !share->isZero())
      shares += (shares.empty() ? before : ", ") + inPercent(*share) + " in " +
                traitsOf(format).name.str();
  }
  if (!precision) {
    if (!shares.empty())
      lines.add("precision", "by types in the text" + shares);
    return;
  }
  if (precision->low() == NumberFormat::F32 && !precision->isF64() &&
      precision->products != NumberFormat::F32)
    shares += "; values are counted in f32";
  if (precision->otherWeights() != precision->weights)
    shares += "; weights of other layers in " +
              traitsOf(precision->otherWeights()).name.str();
  lines.add("precision", run.precision + shares);
  if (precision->low() == NumberFormat::F16 && !run.isInference)
    lines.add("", lossScaleText(run));
}

/// The element types of each part of the memory, unless all is f32.
static std::string typesInMemory(const Memory &memory) {
  std::string text;
  for (auto [name, part] : Memory::parts()) {
    auto types = (memory.*part).types();
    if (types.empty() || (types.size() == 1 && types.front().first == "f32"))
      continue;
    text += (text.empty() ? "" : "; ") + name.str() + ": ";
    StringRef separator;
    for (const auto &[type, count] : types) {
      text +=
          separator.str() + (types.size() > 1 ? bytes(count) + " " : "") + type;
      separator = ", ";
    }
  }
  return text;
}

static void addMemory(Lines &lines, const RunReport &report) {
  const Run &run = *report.run;
  const Memory &memory = run.memory;
  auto unlessNone = [](const BytesByType &part, const char *name) {
    return part.types().empty() ? "" : " + " + bytes(part.total()) + name;
  };
  lines.add(
      "memory per device",
      fmt::format(
          "{}{}{} = {} weights{}{} + {} gradients + {} optimizer + {} "
          "activations{}{}",
          bytes(memory.total()), run.isAverage ? " on average" : "",
          report.rangeText(&Run::memoryPerDevice, inBytes),
          bytes(memory.weights.total()), unlessNone(memory.copies, " copies"),
          unlessNone(memory.master, " master"), bytes(memory.gradients.total()),
          bytes(memory.optimizer.total()), bytes(memory.activations.total()),
          unlessNone(memory.constants, " constants"), besideOpaque(run.parts)));
  if (std::string types = typesInMemory(memory); !types.empty())
    lines.add("", types);
  addMemoryVerdict(lines, report);
  if (!run.hasStep())
    return;
  Polynomial moved = run.step().traffic();
  std::string text =
      bytes(moved) + report.rangeText(&Run::trafficOfStep, inBytes) +
      (run.devices && *run.devices > 1 ? " a step of all devices" : " a step") +
      ", each op by itself";
  if (std::optional<Rational> intensity =
          shareOf(run.step().model().total(), moved))
    text += "; " + formatQuantity(*intensity, {}, 3) + " FLOP a byte";
  lines.add("memory traffic", text);
  std::optional<Rational> takes = run.trafficTime(), all = run.deviceTime();
  if (takes && all && *takes > *all) {
    // Jobs may have devices of their own.
    std::string rate;
    if (run.deviceBandwidth)
      rate =
          " at " + formatQuantity(*run.deviceBandwidth,
                                  Dimension(Dimension::Data) / Dimension::Time);
    lines.add("",
              inDeviceTime(*takes) + rate + ", longer than the device time");
  }
  const Polynomial &converted = run.step().converted;
  if (!converted.isZero()) {
    std::optional<Rational> share = shareOf(converted, moved);
    lines.add("", "conversions of formats: " + bytes(converted) + " of it" +
                      (share ? ", " + inPercent(*share) : ""));
  }
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

/// The estimates of a run's compute, from the count and from time and hardware.
static std::vector<Estimate> bothMethods(const RunReport &report) {
  std::vector<Estimate> estimates;
  if (std::optional<Rational> flop = report.run->modelFlop()) {
    auto range = report.range(&Run::modelFlop);
    estimates.push_back({"by operations", range ? range->first : *flop, *flop,
                         range ? range->second : *flop});
  }
  if (const std::optional<ComputeByTime> &time = report.computeByTime)
    estimates.push_back({"by time", time->low, time->flop, time->high});
  return estimates;
}

/// `T has no size in this run`, with the axes quoted.
static std::string haveNoSize(llvm::ArrayRef<std::string> axes) {
  std::string names;
  for (const std::string &axis : axes)
    names += (names.empty() ? "`" : ", `") + axis + "`";
  return names + (axes.size() == 1 ? " has" : " have") + " no size in this run";
}

/// `, exactly 1,352,160,000,000`, or `, about ..` if the figure rests on
/// averages or on the count of an opaque part. Empty if there is a range.
static std::string exactText(const RunReport &report, const Rational &flop) {
  if (!report.corners.empty())
    return "";
  bool isRounded = false;
  forEachRun(*report.run, [&](const Run &part) {
    isRounded |= part.isGuessed || part.isAverage || hasOpaque(part.parts);
  });
  return (isRounded ? ", about " : ", exactly ") + exact(flop);
}

void netc::writeRun(Page &page, const RunReport &report,
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
  if (std::string sizes = sizesOfAxes(run); !sizes.empty())
    about += " · " + sizes;
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
                  (model.isConstant() ? exactText(report, *model.constant()) +
                                            inPetaflopDays(*model.constant())
                                      : "; " + haveNoSize(model.symbols())),
              Style::Bold);
  }
  addRules(lines, run);
  warn(lines, Beside::Compute);
  if (report.computeByTime)
    addComputeByTime(lines, "compute by time", run, *report.computeByTime);
  addComputeByTimeOfJobs(lines, report);
  warn(lines, Beside::ComputeByTime);
  if (std::optional<Comparison> comparison = compareMethods(run))
    addComparison(lines, *comparison);
  warn(lines, Beside::Comparison);
  addUtilization(lines, report);
  warn(lines, Beside::Utilization);
  addPrecision(lines, run);
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
