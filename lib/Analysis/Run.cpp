// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/Run.h"

#include "dialect/Net.h"
#include "lib/Analysis/Decoding.h"
#include "lib/Analysis/DecodingPasses.h"
#include "lib/Analysis/WarnOfUpdates.h"
#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Units/Units.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <set>

using namespace netc;
using namespace mlir;

StringRef Run::name() const {
  return SymbolTable::getSymbolName(op).getValue();
}

StringRef Run::network() const {
  return op->getAttrOfType<StringAttr>("network").getValue();
}

/// Whether the cost of a job is part of the run's.
static bool isCounted(const Run &job) { return !job.isTuning; }

bool Run::hasStep() const {
  return jobs.empty() || (steps && llvm::all_of(jobs, [](const Run &job) {
                            return !isCounted(job) || job.times;
                          }));
}

/// `cost` divided by `unit`; none if the result is not a polynomial.
static std::optional<Cost> divided(const Cost &cost, const Polynomial &unit) {
  Cost part{cost.matmul / unit, cost.other / unit, cost.transcendental / unit};
  if (!part.total().isValid() || !part.transcendental.isValid())
    return std::nullopt;
  return part;
}

std::optional<Cost> Run::totalByAmount(const Cost &ofStep) const {
  if (tokens && !parts.root().inputs.empty()) {
    Axes axes(cast<StepOp>(op).getAxes());
    Polynomial perStep =
        axes.evaluate(shapeOf(parts.root().inputs.front()).elements());
    if (std::optional<Cost> cost = divided(ofStep, perStep))
      return *cost * *tokens;
  }
  if (examples)
    if (std::optional<Cost> cost =
            divided(ofStep, Polynomial::symbol(kBatchAxis)))
      return *cost * *examples;
  return std::nullopt;
}

std::optional<Cost>
Run::total(const std::function<Cost(const Figures &)> &ofStep) const {
  if (jobs.empty() && !steps)
    return totalByAmount(ofStep(step()));
  if (jobs.empty())
    return ofStep(step()) * *steps;
  Cost sum;
  for (const Run &job : llvm::make_filter_range(jobs, isCounted)) {
    std::optional<Cost> cost = job.total(ofStep);
    if (!cost)
      return std::nullopt;
    sum += *cost;
  }
  return sum;
}

std::optional<Rational> Run::modelFlop() const {
  std::optional<Cost> cost = total(&Figures::model);
  return cost ? cost->matmul.constant() : std::nullopt;
}

std::optional<Rational> Run::hardwareFlop() const {
  std::optional<Cost> cost = total(&Figures::hardware);
  return cost ? cost->matmul.constant() : std::nullopt;
}

std::optional<Rational> Run::sumOfJobs(
    const std::function<std::optional<Rational>(const Run &)> &figure) const {
  if (llvm::none_of(jobs, isCounted))
    return std::nullopt;
  Rational sum;
  for (const Run &job : llvm::make_filter_range(jobs, isCounted)) {
    std::optional<Rational> part = figure(job);
    if (!part)
      return std::nullopt;
    sum += *part;
  }
  return sum;
}

/// The value to 53 binary digits, if it is not whole.
static Rational rounded(const Rational &value) {
  if (!value.isValid() || value.isInteger())
    return value;
  int exponent;
  double fraction = std::frexp(value.toDouble(), &exponent);
  return Rational(int64_t(std::ldexp(fraction, 53))) *
         Rational(2).pow(exponent - 53);
}

std::optional<Rational> Run::sumOfTimes(
    const std::function<std::optional<Rational>(const Run &)> &time) const {
  std::optional<Rational> sum = sumOfJobs(time);
  if (!sum || sum->isValid())
    return sum;
  return sumOfJobs([&](const Run &job) { return rounded(*time(job)); });
}

std::optional<Rational>
Run::atTwo(const std::function<Cost(const Figures &)> &ofStep) const {
  if (!jobs.empty())
    return sumOfJobs([&](const Run &job) { return job.atTwo(ofStep); });
  std::optional<Cost> cost = total(ofStep);
  std::optional<Rational> flop = cost ? cost->matmul.constant() : std::nullopt;
  return flop ? std::optional(*flop * 2 / conventions.fma) : std::nullopt;
}

std::optional<Rational> Run::tokensPerStep() const {
  return tokensPerExample && batch ? std::optional(*tokensPerExample * *batch)
                                   : std::nullopt;
}

std::optional<Rational> Run::positions() const {
  if (tokensPerExample)
    return tokensPerExample;
  auto found = llvm::find_if(
      axes, [](const auto &axis) { return axis.first == kSequenceAxis; });
  return found == axes.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Rational> Run::reportedDeviceTime() const {
  return deviceSeconds ? deviceSeconds : sumOfJobs(&Run::reportedDeviceTime);
}

std::optional<Rational> Run::deviceTime() const {
  if (deviceSeconds)
    return deviceSeconds;
  if (!jobs.empty())
    return sumOfTimes(&Run::deviceTime);
  std::optional<Rational> flop = atTwo(&Figures::model),
                          share = knownUtilization();
  if (!flop || !peak || !share)
    return std::nullopt;
  return *flop / (*peakOf(&Figures::model) * *share);
}

std::optional<Rational> Run::time() const {
  if (took)
    return took;
  if (!deviceSeconds && !jobs.empty())
    return sumOfTimes(&Run::time);
  std::optional<Rational> seconds = deviceTime();
  return seconds && devices ? std::optional(*seconds / *devices) : std::nullopt;
}

std::optional<Rational> Run::flopByTime() const {
  if (tookFlop)
    return tookFlop;
  if (!deviceSeconds)
    return sumOfJobs(&Run::flopByTime);
  if (!peak || !knownUtilization())
    return std::nullopt;
  return *deviceSeconds * *peakOf(&Figures::model) * *knownUtilization();
}

/// FLOP that the devices could do at their peaks in the time of the run or, if
/// it has none, in the times of its jobs.
static std::optional<Rational>
capacityOf(const Run &run, const std::function<Cost(const Figures &)> &ofStep) {
  if (!run.deviceSeconds)
    return run.sumOfJobs(
        [&](const Run &job) { return capacityOf(job, ofStep); });
  return run.peak ? std::optional(*run.deviceSeconds * *run.peakOf(ofStep))
                  : std::nullopt;
}

static std::optional<Rational>
shareOfCapacity(const Run &run,
                const std::function<Cost(const Figures &)> &ofStep) {
  std::optional<Rational> flop = run.atTwo(ofStep),
                          most = capacityOf(run, ofStep);
  return flop && most ? std::optional(*flop / *most) : std::nullopt;
}

std::optional<Rational> Run::modelUtilization() const {
  return shareOfCapacity(*this, &Figures::model);
}

std::optional<Rational> Run::hardwareUtilization() const {
  return shareOfCapacity(*this, &Figures::hardware);
}

Rational Run::peakIn(NumberFormat format) const {
  // Without a stated precision, f32 stands for the format that is assumed.
  if (precision.empty() && format == NumberFormat::F32)
    return *peak;
  auto found = peaks.find(traitsOf(format).name.str());
  return found == peaks.end() ? *peak : found->second;
}

/// The value rounded down to a multiple of 1 / `parts`.
static Rational roundedDown(const Rational &value, int64_t parts) {
  return (value * parts).floor() / parts;
}

std::optional<Rational>
Run::peakOf(const std::function<Cost(const Figures &)> &ofStep) const {
  if (!peak || !hasStep())
    return peak;
  Rational flop, weighted;
  for (NumberFormat format : step().formats()) {
    std::optional<Rational> part = ofStep(step().in(format)).matmul.constant();
    if (!part)
      return peak;
    flop += *part;
    weighted += *part * (*peak / peakIn(format));
  }
  if (weighted.isZero() || weighted == flop)
    return peak;
  // In whole FLOP/s, to 12 digits: a long fraction would leave no room for its
  // product with a time.
  constexpr int64_t digits = 1'000'000'000'000;
  Rational mean = *peak * roundedDown(flop / weighted, digits);
  return mean.isValid() ? mean.floor() : *peak;
}

std::string Run::namesOfFormats() const {
  std::vector<StringRef> names;
  for (NumberFormat format : formats())
    if (!step().in(format).hardware().matmul.isZero())
      names.push_back(traitsOf(format).name);
  return llvm::join(names, " and ");
}

std::optional<Rational> Run::memoryPerDevice() const {
  return memory.total().constant();
}

bool Run::fitsOnDevice() const {
  std::optional<Rational> needed = memoryPerDevice();
  return !needed || !deviceMemory || *needed <= *deviceMemory;
}

std::optional<Rational> Run::trafficOfStep() const {
  return hasStep() ? step().traffic().constant() : std::nullopt;
}

std::optional<Rational> Run::trafficTime() const {
  if (!jobs.empty())
    return sumOfTimes(&Run::trafficTime);
  std::optional<Rational> bytes = trafficOfStep();
  return bytes && steps && deviceBandwidth
             ? std::optional(*bytes * *steps / *deviceBandwidth)
             : std::nullopt;
}

std::vector<NumberFormat> Run::formats() const {
  std::set<NumberFormat> formats;
  for (NumberFormat format : step().formats())
    formats.insert(format);
  for (const Run &job : jobs)
    for (NumberFormat format : job.formats())
      formats.insert(format);
  return {formats.begin(), formats.end()};
}

Rational Run::examplesPerPart() const {
  return (batch.value_or(1) / devices.value_or(1) / accumulate.value_or(1))
      .ceil();
}

Rational Run::examplesPerDevice() const {
  return examplesPerPart() * accumulate.value_or(1);
}

std::string Run::lastStep() const {
  if (!steps || !batch || !examples || *steps * *batch == *examples)
    return "";
  Rational left = *examples - (*steps - 1) * *batch;
  return "the last step is filled up, from " + formatQuantity(left, {}) +
         " to " + formatQuantity(*batch, Dimension::Example);
}

//===----------------------------------------------------------------------===//
// The rule of three
//===----------------------------------------------------------------------===//

/// Records on the part of a product of the forward pass what it reads.
static void noteOperands(const CountedOp &product) {
  bool readsWeight = false;
  std::function<void(Value)> look = [&](Value operand) {
    forEachSource(operand, [&](Value base) {
      auto parameter = base.getDefiningOp<ParameterOp>();
      readsWeight |= bool(parameter);
      product.part.readsFrozen |= parameter && !parameter.getTrainable();
      // A slice of what a loop iterates over, such as the weights of experts.
      if (Value sequence = sequenceOf(base))
        look(sequence);
    });
  };
  for (Value operand : product.op->getOperands())
    look(operand);
  product.part.multipliesActivations |= !readsWeight;
}

/// Records on the part of an op why its gradients may cost more or less than
/// twice its forward pass. A gradient that is a product without a sum is that
/// of `n t e, n e -> n t` with respect to its first input; the other way round,
/// `n t, n e -> n t e` sums nothing, and its gradients do.
static void noteProduct(const CountedOp &counted) {
  auto einsum = dyn_cast<EinsumOp>(counted.op);
  if (counted.phase == Phase::Forward) {
    auto op = dyn_cast<CostOpInterface>(counted.op);
    bool isOuter = einsum && einsum.getXs().size() > 1;
    if (isOuter || (op && !op.getCost().matmul.isZero()))
      noteOperands(counted);
    return;
  }
  bool isGradient = counted.phase == Phase::InputGradient ||
                    counted.phase == Phase::WeightGradient;
  counted.part.hasGradientWithoutSum |=
      einsum && isGradient && !einsum.isContraction();
}

/// The gradients that the last iteration of a loop omits: that of a
/// recurrence's first state, if it is constant.
static DenseSet<Operation *> gradientsOmittedLast(StepOp step) {
  DenseSet<Operation *> omitted;
  step.walk([&](ScanOp scan) {
    if (enclosingPhase(scan) != Phase::Forward)
      for (Operation *op : scan.getOpsOmittedLast())
        omitted.insert(op);
  });
  return omitted;
}

/// The innermost instance that contains all `layers`; empty for the network.
static StringRef commonInstance(ArrayRef<std::string> layers) {
  StringRef common = layers.front();
  for (StringRef layer : layers)
    while (!common.empty() && layer != common &&
           !(layer.starts_with(common) && layer[common.size()] == '.')) {
      size_t dot = common.rfind('.');
      common = dot == StringRef::npos ? "" : common.take_front(dot);
    }
  return common;
}

namespace {
/// Layers whose gradients cost more or less than twice their forward pass, for
/// one reason.
class Deviants {
public:
  void add(const PartTree &tree, const Part &layer, const Rational &more) {
    if (more.isZero())
      return;
    flop += more;
    if (std::exchange(last, &layer) == &layer)
      return;
    size_t copies = 1;
    StringRef rolled;
    for (const Part *part = &layer; part != &tree.root();
         part = &tree.parts[part->parent]) {
      copies *= part->copies;
      if (part->copies != 1)
        rolled = part->path;
    }
    number += copies;
    names.push_back(layer.path.str());
    // The second of several copies, for what they have in common.
    if (auto [repeat, copy] = rolled.rsplit('.'); !rolled.empty())
      names.push_back((repeat + "." + Twine(std::stoul(copy.str()) + 1) +
                       layer.path.drop_front(rolled.size()))
                          .str());
  }

  bool empty() const { return names.empty(); }
  const Rational &flopOfStep() const { return flop; }

  /// "`a`", "`a` and `b`", "`trunk` (12 layers)", "`a` and 11 other layers".
  std::string list() const {
    auto quote = [](StringRef name) { return ("`" + name + "`").str(); };
    std::string first = quote(names.front());
    if (number == 1)
      return first;
    if (number == 2)
      return first + " and " + quote(names.back());
    std::string common = commonInstance(names).str();
    if (!common.empty())
      return quote(common) + " (" + std::to_string(number) + " layers)";
    return first + " and " + std::to_string(number - 1) + " other layers";
  }

private:
  std::vector<std::string> names;
  size_t number = 0; ///< of layers
  const Part *last = nullptr;
  Rational flop;
};
} // namespace

/// Sets `ruleOfThree` and `deviations` if all figures that they need are known.
static void compareWithRuleOfThree(Run &run) {
  bool isKnown = llvm::all_of(run.parts.parts, [](const Part &part) {
    return llvm::all_of(part.figures.costs, [](const Cost &cost) {
      return cost.matmul.isConstant();
    });
  });
  if (!run.steps || !isKnown || run.isInference)
    return;
  Rational examplesPerStep = run.batch.value_or(1);
  Rational examples = run.examples.value_or(examplesPerStep * *run.steps);
  Rational tripled =
      *run.step()[Phase::Forward].matmul.constant() * 3 / examplesPerStep;
  run.ruleOfThree = tripled * examples;

  Deviants noInputGradient, noWeightGradient, noFirstGradient, moreGradients,
      noSums, sumsBackward;
  for (const Part &part : run.parts.parts) {
    const Figures &figures = part.figures;
    Rational forward = *figures[Phase::Forward].matmul.constant();
    Rational weight = *figures[Phase::WeightGradient].matmul.constant();
    Rational more = *figures.backward().matmul.constant() - forward * 2;
    if (!part.isLeaf() || more.isZero())
      continue;
    const Part &layer =
        run.parts.isLayer(part) ? part : run.parts.parts[part.parent];
    if (!more.isNegative()) {
      (forward.isZero() ? sumsBackward : moreGradients)
          .add(run.parts, layer, more);
      continue;
    }
    Rational missing;
    if (part.readsFrozen)
      missing = std::max(more, weight - forward);
    noWeightGradient.add(run.parts, layer, missing);
    (part.hasGradientWithoutSum ? noSums
     : part.omitsLastGradient   ? noFirstGradient
                                : noInputGradient)
        .add(run.parts, layer, more - missing);
  }

  auto explain = [&](std::string reason, const Rational &flop) {
    if (!flop.isZero())
      run.deviations.push_back({std::move(reason), flop});
  };
  auto explainLayers = [&](StringRef before, const Deviants &deviants,
                           StringRef after) {
    if (!deviants.empty())
      explain((before + deviants.list() + after).str(),
              deviants.flopOfStep() * *run.steps);
  };
  explainLayers("no input gradient for ", noInputGradient, "");
  explainLayers("no gradient of the constant first state for ", noFirstGradient,
                "");
  explainLayers("a gradient that sums nothing, so is no matmul, for ", noSums,
                "");
  explainLayers("no weight gradient for ", noWeightGradient,
                ", which is frozen");
  explainLayers("more than two gradients for ", moreGradients, "");
  explainLayers("gradients that are matmul for ", sumsBackward,
                ", which sums nothing forward, so is none there");
  explain("products in the optimizer",
          *run.step()[Phase::Update].matmul.constant() * *run.steps);
  explain(run.lastStep(), tripled * (*run.steps * examplesPerStep - examples));
  llvm::stable_sort(run.deviations, [](const Deviation &a, const Deviation &b) {
    return a.flop.abs() > b.flop.abs();
  });
}

/// Sets `parameterRule` and the deviations of the count from it.
static void compareWithParameters(Run &run) {
  std::optional<Rational> exactly = run.modelFlop(),
                          parameters = run.activeParameters().constant();
  std::optional<Rational> tokens = run.tokens;
  if (!tokens && run.tokensPerExample && run.examples)
    tokens = *run.examples * *run.tokensPerExample;
  if (!run.tokensPerExample || !tokens || !exactly || !parameters)
    return;
  unsigned passes = run.isInference ? 1 : 3;
  Rational rule = *parameters * *tokens * run.conventions.fma * passes;
  run.parameterRule = rule;
  Polynomial ofStep;
  for (const Part &part : run.parts.parts)
    if (part.isLeaf() && part.multipliesActivations)
      ofStep += part.figures.model().matmul;
  std::optional<Cost> cost = run.total([&](const Figures &) {
    return Cost{ofStep, 0, 0};
  });
  std::optional<Rational> products =
      cost ? cost->matmul.constant() : std::nullopt;
  if (!products)
    return;
  auto explain = [&](const char *reason, const Rational &flop) {
    if (!flop.isZero())
      run.parameterDeviations.push_back({reason, flop});
  };
  explain("products of two activations, as in attention", *products);
  explain("parameters that are in no product, or in several, and gradients "
          "that nobody needs",
          *exactly - rule - *products);
}

//===----------------------------------------------------------------------===//
// analyzeRun
//===----------------------------------------------------------------------===//

static void setFacts(Run &run, const RunFacts &facts) {
  static_cast<RunFacts &>(run) = facts;
  run.deviceSeconds = run.tookDeviceSeconds;
  if (!run.deviceSeconds && run.took && run.devices)
    run.deviceSeconds = *run.took * *run.devices;
}

/// Makes `bytes` those of `other` if these are more, or the sum if free axes
/// prevent a comparison.
static void raise(BytesByType &bytes, const BytesByType &other) {
  std::optional<Rational> difference =
      (bytes.total() - other.total()).constant();
  if (!difference)
    bytes += other;
  else if (difference->isNegative())
    bytes = other;
}

/// The sizes of axes on one device, which has a share of the batch. Of what
/// grows with the square of the batch, as scores of all pairs, it has a share
/// too: those of its examples with all others of a part of the batch.
static Axes axesOfDevice(const Run &run) {
  auto step = cast<StepOp>(run.op);
  Axes axes(step.getAxes());
  if (!run.batch)
    return axes;
  constexpr size_t maxPower = 4;
  SmallVector<Rational> powers{run.examplesPerPart()};
  Rational all = (*run.batch / run.accumulate.value_or(1)).ceil();
  while (powers.size() < maxPower)
    powers.push_back(powers.back() * all);
  axes.know(kBatchAxis, Moments(powers));
  return axes;
}

/// Calls `function` for the memory of each weight on one device, by its name.
static void forEachMemory(
    const Run &run,
    function_ref<void(const std::string &, const Memory &)> function) {
  Axes axes = axesOfDevice(run);
  auto evaluate = [&](const BytesByType &bytes) {
    return bytes.map(
        [&](const Polynomial &ofType) { return axes.evaluate(ofType); });
  };
  for (const auto &[name, counted] : run.counted->byName) {
    Memory memory;
    for (auto [part, bytes] : Memory::parts())
      memory.*bytes = evaluate(counted.*bytes);
    if (name.empty())
      for (const BytesByType &peak : run.counted->recomputed)
        raise(memory.activations, evaluate(peak));
    function(name, memory);
  }
}

std::vector<KeptValue> Run::kept() const {
  if (!counted || !decodeAxis.empty())
    return {};
  Axes axes = axesOfDevice(*this);
  std::vector<KeptValue> values = counted->kept;
  for (KeptValue &value : values) {
    value.elements = axes.evaluate(value.elements);
    value.bytes = axes.evaluate(value.bytes);
  }
  return values;
}

static void warnOfGuesses(StepOp op, const Axes &axes) {
  for (const std::string &axis : axes.getInMinima())
    warn(op.getLoc(), op.getSymName(), WarningId::GuessedMoments)
        << "`" << axis
        << "` varies: a window over it, or another minimum, is that of its "
           "mean";
  if (axes.getGuessed().empty())
    return;
  std::string names, guesses;
  unsigned known = 0;
  for (auto &[axis, power] : axes.getGuessed()) {
    std::string exponent = "^" + std::to_string(power);
    known = std::max(known, axes.numKnown(axis));
    names += (names.empty() ? "`" : ", `") + axis + "`";
    guesses += (guesses.empty() ? "E[" : ", E[") + axis + exponent +
               "] is taken as E[" + axis + "]" + exponent;
  }
  InFlightDiagnostic warning =
      warn(op.getLoc(), op.getSymName(), WarningId::GuessedMoments);
  if (known < 2)
    warning << "only the mean of " << names << " is known";
  else
    warning << "no more than " << known << " powers of " << names
            << " are known";
  warning << ": " << guesses << ", which is low";
}

/// Whether the hardware time is proportional to what is assumed, so that it has
/// a range.
static bool isTimeInRange(const Run &run) {
  std::optional<Rational> flop = run.flopByTime();
  return !flop || (*flop * Rational(10).pow(9)).isValid();
}

static LogicalResult failOutOfRange(const Run &run) {
  return emitError(run.op->getLoc(), error::RunCostOutOfRange, run.name());
}

/// Gradient accumulation: each part of the batch runs all but the update, and
/// adds its gradients to those before in place.
static void accumulate(PartTree &tree, const Rational &parts) {
  for (Part &part : tree.parts) {
    Figures &figures = part.figures;
    for (Phase phase : {Phase::Forward, Phase::InputGradient,
                        Phase::WeightGradient, Phase::Recompute}) {
      figures[phase] = figures[phase] * parts;
      for (auto &[format, costs] : figures.byFormat)
        costs[unsigned(phase)] = costs[unsigned(phase)] * parts;
    }
    figures[Phase::WeightGradient].other += figures.trainable * (parts - 1);
    figures.read = (figures.read - figures.updateRead) * parts +
                   figures.updateRead + figures.gradients * 2 * (parts - 1);
    figures.written = (figures.written - figures.updateWritten) * parts +
                      figures.updateWritten + figures.gradients * (parts - 1);
    figures.converted = (figures.converted - figures.updateConverted) * parts +
                        figures.updateConverted;
  }
}

/// Evaluates what all devices read and write: each reads the whole network for
/// its share of the batch.
static void evaluateMovements(PartTree &tree, Axes &ofDevice,
                              const Rational &devices) {
  for (Part &part : tree.parts)
    for (Polynomial Figures::*moved : Figures::movements())
      if (Polynomial &bytes = part.figures.*moved; !bytes.isZero())
        bytes = ofDevice.evaluate(bytes) * devices;
}

/// A decoder reads its weights and keys again in each pass, so that a device
/// mostly waits for its memory. If that takes longer than the operations of
/// these passes, the utilization is what it leaves.
static void limitUtilization(Run &run, const Rational &positions) {
  std::optional<Rational> bytes = run.step().readAgain.constant(),
                          flop = run.step().model().matmul.constant();
  if (!run.assumedUtilization || !run.deviceBandwidth || !run.peak || !bytes ||
      !flop || flop->isZero())
    return;
  // Of device-seconds of a step. Weights, the most of it, are multiplied by
  // each position alike.
  Rational rate = *run.peakOf(&Figures::model),
           computing =
               *flop * 2 / run.conventions.fma / rate / *run.assumedUtilization,
           made = std::min(*run.decode / positions, Rational(1)),
           waiting = *bytes / *run.deviceBandwidth;
  if (!(waiting > computing * made))
    return;
  constexpr int64_t digits = 1'000'000'000;
  Rational reached =
      roundedDown(*run.assumedUtilization * computing /
                      (computing * (Rational(1) - made) + waiting),
                  digits);
  if (!reached.isValid() || reached.isZero())
    return;
  run.assumedUtilization = reached;
  for (Assumption &taken : run.assumptions)
    if (taken.key == "utilization")
      taken = {"utilization", formatQuantity(reached * 100, {}, 3) + " %",
               "what passes leave that read " +
                   formatQuantity(*bytes, Dimension::Data) + " again at " +
                   formatQuantity(*run.deviceBandwidth,
                                  Dimension(Dimension::Data) / Dimension::Time),
               Rational::fraction(1, 2), 1};
}

/// The run that `op` states, for a step that is already counted.
static FailureOr<Run>
evaluateRun(StepOp op, const Conventions &conventions, PartTree parts,
            std::shared_ptr<const CountedMemory> counted) {
  Run run;
  run.op = op;
  run.conventions = conventions;
  run.parts = std::move(parts);
  run.symbolic = run.parts.root().figures;
  run.counted = std::move(counted);
  Axes axes(op.getAxes());
  setFacts(run, op.getRun().getFacts());
  run.isAverage = axes.haveDistributions();
  for (NamedAttribute axis : op.getAxes())
    if (axis.getName() != kBatchAxis)
      if (auto size = axes.evaluate(Polynomial::symbol(axis.getName().str()))
                          .constant())
        run.axes.emplace_back(axis.getName().str(), *size);
  decodeInPasses(run, axes);
  forEachMemory(run, [&](const std::string &, const Memory &memory) {
    run.memory += memory;
  });
  if (run.devices && *run.devices > 1 && run.fitsOnDevice()) {
    Axes ofDevice = axesOfDevice(run);
    decodeInPasses(run, ofDevice);
    evaluateMovements(run.parts, ofDevice, *run.devices);
  }
  run.parts.evaluate(axes);
  if (run.accumulate)
    accumulate(run.parts, *run.accumulate);
  if (failed(verifyCounts(op, run.parts)))
    return failure();
  if (run.decode)
    limitUtilization(
        run, *axes.evaluate(Polynomial::symbol(run.decodeAxis)).constant());
  compareWithRuleOfThree(run);
  compareWithParameters(run);
  if (!run.memory.total().isValid() || !isTimeInRange(run) ||
      (run.steps && !run.total(&Figures::model)->total().isValid()))
    return failOutOfRange(run);
  warnOfGuesses(op, axes);
  run.isGuessed = !axes.getGuessed().empty();
  return run;
}

/// Warns of a decoder whose positions read later ones.
static void warnOfUnmasked(StepOp op) {
  std::optional<Decoding> decoding = Decoding::of(op);
  Operation *unmasked = decoding ? decoding->findUnmasked(op) : nullptr;
  if (unmasked)
    warn(placeOf(op, "decode"), op.getSymName(), WarningId::UnmaskedDecoding)
        << "`decode` makes positions one by one, but no causal mask hides "
           "those "
           "after it from a position in `"
        << nameOf(unmasked) << "`; it is counted as if one did";
  Operation *ahead = decoding ? decoding->findLookingAhead(op) : nullptr;
  if (ahead)
    warn(placeOf(op, "decode"), op.getSymName(), WarningId::UnmaskedDecoding)
        << "`decode` makes positions one by one, but in `" << nameOf(ahead)
        << "` a position reads some after it; it is counted as if it did not";
}

FailureOr<StepOp> netc::findStep(ModuleOp module, StringRef run) {
  StepOp found;
  for (auto step : module.getOps<StepOp>()) {
    if (!run.empty() && step.getSymName() != run)
      continue;
    if (found)
      return emitError(step.getLoc(), error::SeveralRuns, found.getSymName());
    found = step;
  }
  for (auto job : module.getOps<JobOp>())
    if (!found && job.getSymName() == run)
      return emitError(job.getLoc(), error::SumOfJobs, run,
                       cast<StringAttr>(job.getJobs()[0]).getValue());
  if (!found)
    return emitError(module.getLoc(), error::NoRun);
  return found;
}

static PartTree countPartsOfStep(StepOp op, const Conventions &conventions) {
  DenseSet<Operation *> omittedLast = gradientsOmittedLast(op);
  return countParts(op, conventions, [&](const CountedOp &op) {
    noteProduct(op);
    op.part.omitsLastGradient |= omittedLast.contains(op.op);
  });
}

PartTree netc::countPartsOfRun(const Run &run) {
  return countPartsOfStep(cast<StepOp>(run.op), run.conventions);
}

FailureOr<Run> netc::analyzeRun(StepOp op, const Conventions &conventions) {
  warnOfUnmasked(op);
  warnOfUpdates(op);
  PartTree parts = countPartsOfStep(op, conventions);
  auto counted = std::make_shared<CountedMemory>();
  counted->byName = countMemoryByName(op);
  counted->recomputed = countRecomputed(op);
  counted->kept = keptValues(op);
  counted->shared = op.getRun().getFacts().shared;
  return evaluateRun(op, conventions, std::move(parts), std::move(counted));
}

FailureOr<Run> netc::reevaluateRun(const Run &run, StepOp op, PartTree parts) {
  return evaluateRun(op, run.conventions, std::move(parts), run.counted);
}

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

/// Collects all steps of a run.
static void collectSteps(const Run &run, SmallVectorImpl<const Run *> &steps) {
  if (run.jobs.empty())
    steps.push_back(&run);
  for (const Run &job : run.jobs)
    collectSteps(job, steps);
}

/// A weight has the formats of one step at a time: those that take more.
static void raiseWeights(Memory &held, const Memory &other) {
  constexpr BytesByType Memory::*parts[] = {&Memory::weights, &Memory::copies,
                                            &Memory::master};
  Polynomial difference;
  for (auto part : parts)
    difference += (held.*part).total() - (other.*part).total();
  std::optional<Rational> more = difference.constant();
  for (auto part : parts)
    if (!more)
      raise(held.*part, other.*part);
    else if (more->isNegative())
      held.*part = other.*part;
}

/// The memory that the steps of a job share. A weight of the top level's
/// `critic` is called `critic.w` in networks that use it, and `w` where
/// `critic` is the network.
static Memory unionOfMemory(const Run &job) {
  SmallVector<const Run *> steps;
  collectSteps(job, steps);
  std::map<std::string, Memory> all;
  for (const Run *step : steps)
    forEachMemory(*step, [&](const std::string &name, const Memory &memory) {
      bool isShared = llvm::is_contained(step->counted->shared,
                                         StringRef(name).split('.').first);
      std::string owner = isShared ? "" : step->network().str() + ".";
      Memory &held = all[name.empty() ? name : owner + name];
      raiseWeights(held, memory);
      for (BytesByType Memory::*part :
           {&Memory::gradients, &Memory::optimizer, &Memory::activations,
            &Memory::constants})
        raise(held.*part, memory.*part);
    });
  Memory sum;
  for (auto &[name, memory] : all)
    sum += memory;
  return sum;
}

FailureOr<Run> netc::analyzeJob(JobOp op, const Conventions &conventions,
                                std::vector<Run> jobs) {
  Run run;
  run.op = op;
  run.conventions = conventions;
  run.jobs = std::move(jobs);
  run.parts.parts.emplace_back();
  setFacts(run, op.getRun().getFacts());
  run.memory = unionOfMemory(run);
  for (const Run &job : run.jobs) {
    run.isAverage |= job.isAverage;
    run.isGuessed |= job.isGuessed;
  }
  if (run.hasStep())
    for (const Run &job : run.jobs)
      if (isCounted(job)) {
        run.parts.parts.front().figures += job.step().repeated(*job.times);
        run.symbolic += job.symbolic.repeated(*job.times);
      }
  std::optional<Cost> model = run.total(&Figures::model);
  if (!run.step().isValid() || !run.memory.total().isValid() ||
      !isTimeInRange(run) || (model && !model->total().isValid()))
    return failOutOfRange(run);
  return run;
}
