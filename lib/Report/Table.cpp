// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Table.h"

#include "lib/Report/Grid.h"
#include "lib/Units/Units.h"

#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

using namespace netc;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Rounded, in a unit of readable size; a polynomial as it is.
static std::string quantity(const Polynomial &value,
                            const Dimension &dimension) {
  if (std::optional<Rational> constant = value.constant())
    return formatQuantity(*constant, dimension);
  return value.str() + " " + dimension.str();
}

static std::string flop(const Polynomial &value) {
  return quantity(value, Dimension::Flop);
}

static std::string bytes(const Polynomial &value) {
  return quantity(value, Dimension::Data);
}

/// For a column of FLOP: `8.178 G`, and a dot for nothing.
static std::string flopCell(const Polynomial &value) {
  std::string text = flop(value);
  return value.isZero() ? "· " : text.substr(0, text.rfind("FLOP"));
}

/// `25,557,032`; a fraction is rounded.
static std::string exact(const Rational &value) {
  if (!value.isInteger())
    return formatQuantity(value, {});
  std::string text = value.str();
  for (int i = int(text.size()) - 3; i > int(value.isNegative()); i -= 3)
    text.insert(i, ",");
  return text;
}

static std::string exact(const Polynomial &value) {
  std::optional<Rational> constant = value.constant();
  return constant ? exact(*constant) : value.str();
}

static std::string percent(const Rational &share, int digits) {
  return fmt::format("{:.{}f} %", share.toDouble() * 100, digits);
}

/// The share that `part` has of `whole`; none if it depends on a free axis.
static std::optional<Rational> shareOf(const Polynomial &part,
                                       const Polynomial &whole) {
  return whole.isZero() ? std::nullopt : (part / whole).constant();
}

static std::string shareCell(const std::optional<Rational> &share) {
  return share && !share->isZero() ? percent(*share, 1) : "";
}

/// The share as a bar; none if it depends on a free axis.
static std::string bar(const std::optional<Rational> &share, unsigned width) {
  return share ? bar(share->toDouble(), width) : "";
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static std::string text(llvm::ArrayRef<Polynomial> sizes) {
  std::string text;
  for (const Polynomial &size : sizes) {
    std::string factor = size.str();
    if (StringRef(factor).contains(' '))
      factor = "(" + factor + ")";
    text += (text.empty() ? "" : "×") + factor;
  }
  return text.empty() ? "scalar" : text;
}

/// The shape of one example: without the batch axis.
static std::string ofExample(const Shape &shape) {
  llvm::ArrayRef<Polynomial> sizes = shape.sizes;
  if (!sizes.empty() && sizes.front() == Polynomial::symbol("N"))
    sizes = sizes.drop_front();
  return text(sizes);
}

/// `64×56×56 → 256×28×28`, or once if nothing changes.
static std::string shapesCell(const Part &part) {
  if (!part.output)
    return "";
  std::string output = ofExample(*part.output);
  if (part.inputs.empty())
    return output;
  std::string input = ofExample(part.inputs.front());
  if (part.inputs.size() > 1)
    input += ", …";
  return input == output ? output : input + " → " + output;
}

/// `image: N×3×224×224, label: N`.
template <typename Names, typename Values>
static std::string signature(Names names, Values values) {
  std::string list;
  for (auto [name, value] : llvm::zip(names, values))
    list += (list.empty() ? "" : ", ") + name.str() + ": " +
            text(shapeOf(value).sizes);
  return list;
}

//===----------------------------------------------------------------------===//
// Networks
//===----------------------------------------------------------------------===//

namespace {
/// The table of the layers of one network.
class LayerTable {
public:
  LayerTable(const PartTree &tree, const TableOptions &options)
      : tree(tree), options(options), whole(productsOf(tree.root().figures)),
        grid({Grid::Left, Grid::Left, Grid::Left, Grid::Right, Grid::Right,
              Grid::Right, Grid::Right, Grid::Right, Grid::Left}) {}

  void print(llvm::raw_ostream &os) {
    std::vector<Grid::Cell> head;
    for (const char *title : {"layer", "op", "shape", "parameters", "forward",
                              "backward", "other", "share"})
      head.push_back({title, Style::Dim});
    grid.add(std::move(head));
    grid.addRule();
    if (options.depth != 0) {
      addChildren(tree.root(), 1, 0);
      grid.addRule();
    }
    addRow("total", tree.root(), 1, Style::Bold);
    grid.print(os, 2, options.colour);
  }

private:
  static constexpr size_t maxMinorRows = 4;

  static Polynomial productsOf(const Figures &figures) {
    return figures[Phase::Forward].matmul + figures.backward().matmul;
  }

  /// Whether these are copies of one block, made by a `repeat`, that cost the
  /// same.
  static bool areAlike(const Part &a, const Part &b) {
    auto isCopy = [](const Part &part) {
      return llvm::all_of(part.name(), llvm::isDigit);
    };
    return isCopy(a) && isCopy(b) && a.op == b.op && a.inputs == b.inputs &&
           a.output == b.output && a.children.size() == b.children.size() &&
           a.figures == b.figures;
  }

  /// An op, not an instance, that has neither products nor weights.
  static bool isMinor(const Part &part) {
    return part.isLeaf() && productsOf(part.figures).isZero() &&
           part.figures.parameters.isZero();
  }
  /// What only moves elements is no row.
  static bool isFree(const Part &part) {
    return llvm::all_of(
               part.figures.costs,
               [](const Cost &cost) { return cost.total().isZero(); }) &&
           part.figures.parameters.isZero();
  }

  /// The parts of `parent`, which stands for `times` of its kind. Many minor
  /// ops are summed up in the last row.
  void addChildren(const Part &parent, unsigned times, unsigned level) {
    llvm::SmallVector<unsigned> shown;
    llvm::copy_if(parent.children, std::back_inserter(shown),
                  [&](unsigned i) { return !isFree(tree.parts[i]); });
    Part minor;
    size_t numMinor = llvm::count_if(
        shown, [&](unsigned i) { return isMinor(tree.parts[i]); });
    if (numMinor > maxMinorRows)
      llvm::erase_if(shown, [&](unsigned i) {
        if (!isMinor(tree.parts[i]))
          return false;
        minor.figures += tree.parts[i].figures;
        return true;
      });

    llvm::ArrayRef<unsigned> rest = shown;
    while (!rest.empty()) {
      const Part &part = tree.parts[rest.front()];
      llvm::ArrayRef<unsigned> alike = rest.take_while([&](unsigned i) {
        return i == rest.front() || areAlike(part, tree.parts[i]);
      });
      rest = rest.drop_front(alike.size());
      std::string name = part.name().str();
      if (alike.size() > 1)
        name += "–" + tree.parts[alike.back()].name().str();
      addPart(std::move(name), part, times * alike.size(), level);
    }
    if (numMinor > maxMinorRows)
      addRow(indented(fmt::format("{} other ops", numMinor), level), minor,
             times, Style::Plain);
  }

  void addPart(std::string name, const Part &part, unsigned times,
               unsigned level) {
    addRow(indented(std::move(name), level), part, times, Style::Plain);
    if (!tree.isLayer(part) && level + 1 < options.depth)
      addChildren(part, times, level + 1);
  }

  static std::string indented(std::string name, unsigned level) {
    return std::string(level * 2, ' ') + std::move(name);
  }

  void addRow(std::string name, const Part &part, unsigned times, Style style) {
    const Figures &figures = part.figures;
    Cost forward = figures[Phase::Forward] * times;
    Cost backward = figures.backward() * times;
    bool isRoot = &part == &tree.root();
    std::optional<Rational> share =
        isRoot ? std::nullopt : shareOf(productsOf(figures) * times, whole);
    std::string op = tree.isLayer(part) ? part.op.str() : "";
    if (times > 1 && !part.path.empty())
      op = fmt::format("{} × {}", times, op.empty() ? "block" : op);
    grid.add({{std::move(name), style},
              {std::move(op), Style::Dim},
              {isRoot ? "" : shapesCell(part), Style::Dim},
              {figures.parameters.isZero()
                   ? "·"
                   : quantity(figures.parameters * times, {}),
               style},
              {flopCell(forward.matmul), style},
              {flopCell(backward.matmul), style},
              {flopCell(forward.other + backward.other), style},
              {shareCell(share), style},
              {bar(share, 10), Style::Good}});
  }

  const PartTree &tree;
  const TableOptions &options;
  const Polynomial whole;
  Grid grid;
};
} // namespace

static std::string conventionsText(const Conventions &conventions) {
  return fmt::format("1 multiply-add = {} FLOP{}", conventions.fma,
                     conventions.causal == Conventions::Half
                         ? ", causal attention counted half"
                         : "");
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

static void printNetwork(llvm::raw_ostream &os, const Network &network,
                         const TableOptions &options) {
  NetworkOp op = network.op;
  const Figures &figures = network.parts.root().figures;
  os << styled(network.name(), Style::Bold, options.colour) << "("
     << signature(op.getInputs().getAsRange<mlir::StringAttr>(),
                  op.getBlock().getArguments())
     << ") → "
     << signature(op.getReturn().getNames().getAsRange<mlir::StringAttr>(),
                  op.getReturn().getOperands())
     << '\n';
  std::string parameters = exact(figures.parameters) + " parameters";
  if (figures.trainable != figures.parameters)
    parameters += ", " + exact(figures.trainable) + " trainable";
  os << parameters << " · FLOP of one example";
  for (auto &[name, size] : network.freeAxes())
    if (size && name != "N")
      os << ", " << name << " = " << exact(*size);
  os << " · " << conventionsText(network.conventions) << "\n\n";
  LayerTable(network.parts, options).print(os);

  Lines lines;
  lines.add("", "");
  lines.add("saved for backward", bytes(figures.activations));
  if (options.symbolic)
    addPolynomials(lines, network.symbolic);
  lines.print(os, options.colour);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// `450,420 steps of 256 examples; 115.3M examples, 90 epochs`.
static std::string durationText(const Run &run) {
  if (!run.steps)
    return "the number of steps is not known";
  std::string text = exact(*run.steps) + " steps";
  if (run.batch)
    text += " of " + exact(*run.batch) + " examples";
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

static void printSteps(llvm::raw_ostream &os, const Run &run,
                       const TableOptions &options) {
  Grid grid({Grid::Left, Grid::Right, Grid::Right, Grid::Right, Grid::Left});
  grid.add({{"", Style::Dim},
            {"matmul FLOP", Style::Dim},
            {"other FLOP", Style::Dim},
            {"share", Style::Dim}});
  grid.addRule();
  const Figures &step = run.step();
  Cost hardware = step.model();
  hardware += step[Phase::Recompute];
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
  add("one step", hardware, Style::Bold);
  if (std::optional<Cost> all = run.compute(hardware))
    add(exact(*run.steps) + " steps", *all, Style::Bold);
  grid.print(os, 2, options.colour);
}

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
  return " = " + formatQuantity(days, {}) + " PFLOP/s-days";
}

static std::string deviceTime(const Rational &hours) {
  if (hours >= 1)
    return exact(hours) + " device-hours";
  return formatQuantity(hours * 3600,
                        Dimension(Dimension::Device) * Dimension::Time);
}

static void addHardwareTime(Lines &lines, const HardwareTime &time) {
  std::string text = flop(time.flop);
  if (time.low != time.high)
    text += " (" + flop(time.low) + " to " + flop(time.high) + ")";
  text += inPetaflopDays(time.flop);
  if (time.deviceHours && time.peak && time.utilization)
    text += " = " + deviceTime(*time.deviceHours) + " at " +
            percent(*time.utilization, 0) + " of " +
            formatQuantity(*time.peak,
                           Dimension(Dimension::Flop) / Dimension::Time) +
            (time.format.empty() ? "" : ", " + time.format);
  else
    text += ", as reported";
  lines.add("hardware time", text);
  for (const Assumption &assumption : time.defaults)
    lines.add("", fmt::format("assumes `{}` {}: {}; × {:.2g} to {:.2g}",
                              assumption.key, assumption.taken,
                              assumption.reason, assumption.low.toDouble(),
                              assumption.high.toDouble()));
}

static void addComparison(Lines &lines, const Comparison &comparison) {
  bool isFar = !comparison.causes.empty();
  lines.add(
      "both methods",
      fmt::format("by time {} × by operations; geometric mean {:.4g} FLOP",
                  formatQuantity(comparison.ratio, {}, 3),
                  comparison.geometricMean),
      isFar ? Style::Bad : Style::Plain);
  if (isFar)
    lines.add("", "warning: more than a factor of 2 apart; the usual causes:");
  for (const std::string &cause : comparison.causes)
    lines.add("", "  " + cause);
}

/// The share of the peak that was used in the time that is reported, else the
/// time that the count would take.
static void addUtilization(Lines &lines, const Run &run) {
  if (!run.peak)
    return;
  std::string peak =
      formatQuantity(*run.peak, Dimension(Dimension::Flop) / Dimension::Time);
  if (std::optional<Rational> model = run.utilizationAt(run.peak)) {
    Rational hardware = *run.hardwareUtilizationAt(run.peak);
    lines.add("utilization",
              percent(*model, 1) +
                  (hardware == *model ? ""
                                      : " (MFU), with recomputation " +
                                            percent(hardware, 1) + " (HFU)") +
                  " of " + peak + " over " +
                  deviceTime(*run.deviceSeconds / 3600));
    return;
  }
  std::optional<Rational> share = run.utilization ? run.utilization
                                                  : run.assumedUtilization,
                          flop = run.hardwareFlop();
  if (flop && share && !run.deviceSeconds && !run.reportedFlop)
    lines.add("device time", deviceTime(*flop / (*run.peak * *share * 3600)) +
                                 " at " + percent(*share, 0) + " of " + peak +
                                 (run.utilization ? "" : ", which is assumed"));
}

static void addMemory(Lines &lines, const Run &run) {
  const Memory &memory = run.memory;
  lines.add("memory per device",
            fmt::format("{} = {} weights + {} gradients + {} optimizer + {} "
                        "activations",
                        bytes(memory.total()), bytes(memory.weights),
                        bytes(memory.gradients), bytes(memory.optimizer),
                        bytes(memory.activations)));
  Polynomial moved = run.step().read + run.step().written;
  std::string text = bytes(moved) + " a step, each op by itself";
  if (std::optional<Rational> intensity =
          shareOf(run.step().model().total(), moved))
    text += "; " + formatQuantity(*intensity, {}, 3) + " FLOP a byte";
  lines.add("memory traffic", text);
}

static void addPlan(Lines &lines, const PlannedMemory &plan) {
  auto bytes = [](int64_t count) {
    return formatQuantity(count, Dimension::Data);
  };
  lines.add(
      "memory planned",
      fmt::format("{} for {} at batch {}; {} if no two tensors shared any",
                  bytes(plan.arena), plan.target, plan.batch,
                  bytes(plan.buffers)));
}

static void printSweep(llvm::raw_ostream &os, llvm::ArrayRef<SweepRow> sweep,
                       bool colour) {
  llvm::SmallVector<Grid::Align> columns(sweep.front().values.size() + 4,
                                         Grid::Right);
  Grid grid(columns);
  std::vector<Grid::Cell> head;
  for (auto &[name, value] : sweep.front().values)
    head.push_back({name, Style::Dim});
  for (const char *name : {"steps", "one step", "compute", "memory per device"})
    head.push_back({name, Style::Dim});
  grid.add(std::move(head));
  grid.addRule();
  for (const SweepRow &row : sweep) {
    std::vector<Grid::Cell> cells;
    for (auto &[name, value] : row.values)
      cells.push_back({value});
    const Run &run = *row.run;
    std::optional<Rational> model = run.modelFlop();
    cells.push_back({run.steps ? exact(*run.steps) : ""});
    cells.push_back({flopCell(run.step().model().matmul)});
    cells.push_back({model ? flop(*model) : "", Style::Bold});
    cells.push_back({bytes(run.memory.total())});
    grid.add(std::move(cells));
  }
  os << "\n  sweep\n\n";
  grid.print(os, 2, colour);
}

static void printRun(llvm::raw_ostream &os, const RunReport &report,
                     const TableOptions &options) {
  const Run &run = *report.run;
  os << styled(run.name(), Style::Bold, options.colour) << " trains "
     << run.network() << " · " << durationText(run);
  if (run.devices)
    os << " · " << exact(*run.devices) << " " << run.device;
  os << " · " << conventionsText(run.conventions) << "\n\n";
  printSteps(os, run, options);

  Lines lines;
  lines.add("", "");
  if (std::optional<Cost> cost = run.compute(run.step().model())) {
    const Polynomial &model = cost->matmul;
    lines.add("compute",
              flop(model) + (model.isConstant()
                                 ? ", exactly " + exact(model) +
                                       inPetaflopDays(*model.constant())
                                 : "; `" + model.symbols().front() +
                                       "` has no size in this run"),
              Style::Bold);
  }
  if (run.ruleOfThree)
    addRuleOfThree(lines, run);
  if (report.hardwareTime)
    addHardwareTime(lines, *report.hardwareTime);
  if (std::optional<Comparison> comparison = compareMethods(run))
    addComparison(lines, *comparison);
  addUtilization(lines, run);
  addMemory(lines, run);
  if (report.plan)
    addPlan(lines, *report.plan);
  if (options.symbolic)
    addPolynomials(lines, run.symbolic);
  lines.print(os, options.colour);
  if (!report.sweep.empty())
    printSweep(os, report.sweep, options.colour);
}

//===----------------------------------------------------------------------===//
// Expects
//===----------------------------------------------------------------------===//

static void printExpects(llvm::raw_ostream &os, llvm::ArrayRef<Verdict> expects,
                         bool colour) {
  size_t holding = llvm::count_if(
      expects, [](const Verdict &verdict) { return verdict.holds; });
  os << styled("expect", Style::Bold, colour) << " · " << holding << " of "
     << expects.size() << " hold\n\n";
  Grid grid({Grid::Left, Grid::Left, Grid::Left, Grid::Left});
  for (const Verdict &verdict : expects) {
    StringRef text = verdict.text;
    text.consume_front("expect ");
    Style style = verdict.holds ? Style::Good : Style::Bad;
    grid.add({{verdict.holds ? "✓" : "✗", style},
              {text.ltrim().str()},
              {verdict.value, verdict.holds ? Style::Plain : Style::Bad},
              {fmt::format("{}:{}", verdict.file, verdict.line), Style::Dim}});
  }
  grid.print(os, 2, colour);
}

void netc::printTable(llvm::raw_ostream &os, const Report &report,
                      const TableOptions &options) {
  const char *separator = "";
  auto begin = [&] {
    os << separator;
    separator = "\n";
  };
  for (const Network *network : report.networks) {
    begin();
    printNetwork(os, *network, options);
  }
  for (const RunReport &run : report.runs) {
    begin();
    printRun(os, run, options);
  }
  if (!report.expects.empty()) {
    begin();
    printExpects(os, report.expects, options.colour);
  }
}
