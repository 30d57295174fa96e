// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/netc-verify/Checks.h"

#include "dialect/ReverseMode.h"
#include "lib/Analysis/WarnOfUpdates.h"
#include "lib/Hardware/Precision.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <random>
#include <utility>

using namespace netc;
using namespace mlir;
using program::Role;
using program::Slot;

llvm::raw_ostream &Verifier::say() const {
  return llvm::outs() << subject.name() << ": ";
}

void Verifier::confirm(const Twine &what) const {
  if (!quiet)
    say() << what << '\n';
}

static const char *nameOf(Data data) {
  return data == Data::Valid ? "" : " with any integers";
}

static auto shortly(double value) { return llvm::format("%.3g", value); }

bool Verifier::isLost(const JitStep &step, bool report) {
  std::string what;
  double number = 0;
  for (const Slot &slot : step.program().slots)
    for (double value : step.values(slot))
      if (what.empty() && std::isnan(value)) {
        what = "`" + slot.name + "`";
        number = std::abs(value);
      }
  if (step.program().loss() && !std::isfinite(step.loss())) {
    what = "the loss";
    number = step.loss();
  }
  if (what.empty())
    return false;
  if (report && !std::exchange(saidLost, true))
    say() << what << " is " << shortly(number)
          << " with these data, which leaves nothing to compare\n";
  return true;
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

LoweringOptions Verifier::options(bool isReference) const {
  LoweringOptions options;
  options.target = subject.target;
  options.reference = options.counted = isReference;
  return options;
}

bool Verifier::isClean(const JitStep &step) const {
  const simulator::Device *device = step.simulated();
  if (!device || device->findings().empty())
    return true;
  for (const simulator::Finding &finding : device->findings())
    say() << step.program().lowering << " lowering: " << toString(finding)
          << '\n';
  return false;
}

JitStep *Verifier::reference() {
  if (!counting)
    counting = subject.build(*subject.step, options(/*isReference=*/true));
  return counting ? &*counting : nullptr;
}

JitStep *Verifier::fastCode() {
  if (!fast)
    fast = subject.build(*subject.step, options());
  return fast ? &*fast : nullptr;
}

JitStep *Verifier::hostReference() {
  if (isHost(subject.target))
    return reference();
  if (!hostCounting) {
    LoweringOptions onHost = options(/*isReference=*/true);
    onHost.target = program::TargetKind::Cpu;
    hostCounting = subject.build(*subject.step, onHost);
  }
  return hostCounting ? &*hostCounting : nullptr;
}

bool Verifier::verifyCounts() {
  JitStep *step = reference();
  if (!step)
    return false;
  // Counts accumulate over steps.
  const std::vector<int64_t> before = step->counts();
  step->reset(seed);
  step->run(1);
  const std::vector<int64_t> after = step->counts();
  bool same = isClean(*step);
  int64_t total = 0;
  for (auto [i, op] : llvm::enumerate(step->program().ops)) {
    int64_t counted[] = {op.matmul, op.other, op.transcendental};
    total += op.matmul + op.other;
    const char *kinds[] = {"matmul", "other", "transcendental"};
    for (int kind = 0; kind < 3; ++kind) {
      int64_t executed = after[3 * i + kind] - before[3 * i + kind];
      if (executed == counted[kind])
        continue;
      same = false;
      say() << op.name << ": " << op.op << " (" << op.phase << ") executes "
            << executed << ' ' << kinds[kind] << " FLOP, " << counted[kind]
            << " are counted\n";
    }
  }
  if (same)
    confirm("executes the " + Twine(total) +
            " FLOP that are counted, op by op");
  return same;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// The largest error of a gradient, relative to its largest element.
static constexpr double kGradientTolerance = 1e-6;
/// The number of elements of each parameter that are shifted.
static constexpr int64_t kSamples = 8;
/// The shifts, of which the smaller ones are for slopes at a kink, such as
/// relu's at 0: they may stay on one side of it.
static constexpr double kShifts[] = {1e-5, 1e-6, 1e-7};
/// Errors of smaller gradients are relative to this: if terms of order 1 cancel
/// in a loss, its rounding of 1e-16 / shift shows in a difference quotient.
static constexpr double kSmall = 1e-4;

namespace {
/// Compares the gradient of a parameter with differences of the loss.
class GradientSampler {
public:
  /// `start` is the state before a step, `after` that after it: a step of SGD
  /// with rate 1.
  GradientSampler(JitStep &step, const Slot &slot, double loss,
                  const std::vector<char> &start,
                  const std::vector<char> &after)
      : step(step), slot(slot), loss(loss), start(start),
        before(JitStep::values(slot, start)),
        gradient(JitStep::values(slot, after)), direction(slot.count()) {
    for (auto [i, value] : llvm::enumerate(gradient)) {
      value = before[i] - value;
      largest = std::max(largest, std::abs(value));
    }
  }

  double largestGradient() const { return largest; }

  /// The largest error along single elements, and along all at once, relative
  /// to the largest element.
  double error(std::mt19937_64 &random) {
    int64_t count = slot.count();
    double error = 0;
    for (int64_t sample = 0; sample < std::min(count, kSamples); ++sample) {
      int64_t i = count <= kSamples ? sample : int64_t(random() % count);
      direction.assign(count, 0);
      direction[i] = 1;
      error = larger(error, errorAlong(gradient[i], 1));
    }
    if (count <= kSamples)
      return error;
    // With random signs.
    double along = 0;
    for (int64_t i = 0; i < count; ++i) {
      direction[i] = random() & 1 ? 1 : -1;
      along += direction[i] * gradient[i];
    }
    return larger(error, errorAlong(along, std::sqrt(count)));
  }

private:
  struct Slope {
    double value;
    double kink; ///< as large as the change of the slope at a kink, else tiny
  };

  /// The larger of two numbers; NaN if one of them is.
  static double larger(double a, double b) {
    return std::isnan(a) || a >= b ? a : b;
  }

  /// How far the slope along `direction`, divided by `length`, is from what the
  /// gradient says, beyond the rounding of the loss.
  double errorAlong(double expected, double length) {
    double error = 0;
    for (double shift : kShifts) {
      Slope slope = slopeWith(shift);
      double distance = std::abs(slope.value - expected);
      double noise = 8 * 0x1p-52 * std::abs(loss) / shift;
      error = larger(distance / length - noise, 0) / std::max(largest, kSmall);
      if (!(error > kGradientTolerance && slope.kink >= distance))
        return error;
    }
    return error;
  }

  /// The loss with the parameter shifted along `direction`.
  double lossAt(double shift) {
    step.restore(start);
    std::vector<double> moved = before;
    for (auto [i, value] : llvm::enumerate(moved))
      value += shift * direction[i];
    step.assign(slot, moved);
    step.run(1);
    return step.loss();
  }

  /// The slope of the loss, exact for polynomials of degree 4. The kink is what
  /// differences say that are 0 for polynomials of degree 2.
  Slope slopeWith(double shift) {
    double right = lossAt(shift) - loss, left = lossAt(-shift) - loss;
    double farRight = lossAt(2 * shift) - loss;
    double farLeft = lossAt(-2 * shift) - loss;
    double near = right - left, far = farRight - farLeft;
    double odd = far - 2 * near;
    double even = (farRight + farLeft) / 2 - 2 * (right + left);
    return {(8 * near - far) / (12 * shift),
            (std::abs(odd) + std::abs(even)) / shift};
  }

  JitStep &step;
  const Slot &slot;
  const double loss; ///< of the step from `start`
  const std::vector<char> &start;
  const std::vector<double> before;
  std::vector<double> gradient, direction;
  double largest = 0;
};
} // namespace

bool Verifier::verifyGradients(Data data) {
  WalkResult stops = subject.plain.get().walk(
      [](StopGradientOp) { return WalkResult::interrupt(); });
  if (stops.wasInterrupted()) {
    say() << "gradients are not compared: differences of the loss see what "
             "`stop_gradient` hides\n";
    return true;
  }
  llvm::StringSet<> trained;
  subject.plain.get().walk([&](ParameterOp parameter) {
    if (parameter.getTrainable())
      trained.insert(parameter.getName());
  });
  if (trained.empty())
    return true; // also without a loss, for inference
  LoweringOptions exact = options();
  // A rounded loss is a step function, which has no slopes.
  exact.reference = exact.doubles = exact.unrounded = true;
  std::optional<JitStep> step = subject.build(*subject.plain, exact);
  if (!step)
    return false;
  step->reset(seed, data);
  const std::vector<char> start = step->save();
  step->run(1);
  if (isLost(*step, /*report=*/true))
    return false;
  const std::vector<char> after = step->save();
  const double loss = step->loss();

  std::mt19937_64 random(seed);
  double worst = 0;
  bool holds = true;
  unsigned tensors = 0;
  for (const Slot &slot : step->program().slots) {
    if (slot.role != Role::Parameter || !trained.contains(slot.name))
      continue;
    ++tensors;
    GradientSampler sampler(*step, slot, loss, start, after);
    double relative = sampler.error(random);
    worst = std::max(worst, relative);
    if (!(relative <= kGradientTolerance)) {
      holds = false;
      say() << slot.name << ": gradient is off by " << shortly(relative)
            << " of its largest, " << shortly(sampler.largestGradient())
            << '\n';
    }
  }
  holds &= isClean(*step);
  if (holds)
    confirm("gradients of " + Twine(tensors) + " parameters hold" +
            nameOf(data));
  if (verbose)
    say() << "largest error of a gradient " << shortly(worst) << '\n';
  return holds;
}

//===----------------------------------------------------------------------===//
// Fast against reference
//===----------------------------------------------------------------------===//

/// The relative error of rounding to f32.
static constexpr double kUnit = 0x1p-24;
/// The error of fast code may be this many times that of rounding in the
/// formula.
static constexpr double kFastFactor = 8;
/// Number of random perturbations of the formula.
static constexpr uint64_t kPerturbations = 3;
/// The number of perturbations if the errors are those of 16 bits. A loss is
/// one number: that of a correct program exceeds 4 times the largest error of 8
/// perturbations in 1 of 60,000 cases.
static constexpr uint64_t kRoundedPerturbations = 8;

static double unitOf(NumberFormat format) {
  return std::ldexp(0.5, -int(traitsOf(format).mantissaBits));
}

/// The rounding error of the step's format with the fewest bits, of a value or
/// a state. Two programs may round a value to different 16-bit numbers.
static double unitOf(ModuleOp module) {
  double unit = kUnit;
  auto note = [&](Type type) {
    if (auto element = dyn_cast_or_null<FloatType>(type))
      unit = std::max(unit, std::ldexp(1, -int(element.getFPMantissaWidth())));
  };
  module.walk([&](Operation *op) {
    for (Value value : op->getResults())
      note(netc::elementOf(value));
    note(statedFormat(op, kStateFormat, Type()));
  });
  return unit;
}

/// What two programs may differ by next to 0. Instructions on bf16 flush
/// subnormals to zero. In f16 a subnormal number may be rounded to either
/// neighbour.
static double leastOf(ModuleOp module) {
  double least = 0;
  auto note = [&](Type type) {
    if (type && type.isBF16())
      least = std::max(least, 0x1p-126);
    if (type && type.isF16())
      least = std::max(least, 0x1p-25);
  };
  module.walk([&](Operation *op) {
    for (Value value : op->getResults())
      note(netc::elementOf(value));
    note(statedFormat(op, kStateFormat, Type()));
  });
  return least;
}

/// Whether fast code rounds operands of products to tf32, which no reference
/// does.
static bool roundsToTF32(const Subject &subject) {
  auto step = *subject.step.get().getOps<StepOp>().begin();
  auto precision = parsePrecision(step.getRun().getFacts().precision);
  return traitsOf(subject.target).roundsToTF32 && precision &&
         precision->products == NumberFormat::TF32;
}

/// What the fast code of a step rounds to, beside f32.
static StringRef nameOfRounding(const Subject &subject) {
  return roundsToTF32(subject) ? "tf32" : "16 bits";
}

/// Lowers a dynamic loss scale until the next two steps update. If a step is
/// skipped, there is nothing to compare: without roundings nothing overflows.
static void lowerLossScale(JitStep &step) {
  auto growth = llvm::find_if(step.program().slots, [](const Slot &slot) {
    return slot.name == kLossScaleGrowth;
  });
  if (growth == step.program().slots.end())
    return;
  const std::vector<char> start = step.save();
  for (double scale = 1; scale > 0x1p-24; scale /= 2) {
    step.assign(*growth, {scale});
    step.run(1);
    step.run(2);
    bool areUpdates = step.values(*growth).front() == scale;
    step.restore(start);
    if (areUpdates)
      return step.assign(*growth, {scale});
  }
}

static double errorOf(const JitStep &step, const Slot &slot,
                      const std::vector<double> &truth) {
  double largest = 0;
  for (auto [value, exact] :
       llvm::zip_equal(step.values(*step.find(slot)), truth)) {
    double off = value == exact ? 0 : std::abs(value - exact);
    largest = std::max(largest, std::isnan(off) ? INFINITY : off);
  }
  return largest;
}

static void train(JitStep &step, int64_t steps) {
  for (int64_t i = 1; i <= steps; ++i)
    step.run(i);
}

int64_t Verifier::stepsToCompare() const {
  return holderOfLostSquares(*subject.step) ? 1 : 2;
}

const Verifier::Exact &Verifier::exactOf(JitStep &plain, JitStep &exact,
                                         bool roundsAlike, uint64_t dataSeed,
                                         Data data, bool report) {
  auto [found, isNew] =
      exacts.try_emplace(std::tuple(roundsAlike, dataSeed, data));
  Exact &result = found->second;
  if (!isNew)
    return result;
  exact.reset(dataSeed);
  exact.copyFrom(plain);
  const std::vector<char> start = exact.save();
  exact.perturb({});
  const int64_t steps = stepsToCompare();
  train(plain, steps);
  train(exact, steps);
  result.isLost = isLost(exact, report) || isLost(plain, report);
  if (result.isLost)
    return result;

  llvm::ArrayRef<Slot> slots = exact.program().slots;
  for (const Slot &slot : slots)
    result.truths.push_back(exact.values(slot));
  result.bounds.resize(slots.size());
  auto allow = [&](const JitStep &step) {
    for (auto [bound, slot, truth] :
         llvm::zip_equal(result.bounds, slots, result.truths))
      if (double error = errorOf(step, slot, truth); std::isfinite(error))
        bound = std::max(bound, error);
  };
  if (roundsAlike) {
    allow(plain);
  } else if (steps > 1) {
    // What is kept between steps is rounded to the nearest number. These errors
    // are not independent: a small update may have no effect on any weight.
    exact.restore(start);
    exact.run(1);
    plain.copyFrom(exact);
    exact.copyFrom(plain);
    exact.run(2);
    allow(exact);
  }
  for (uint64_t i = 1;
       i <= (roundsAlike ? kPerturbations : kRoundedPerturbations); ++i) {
    exact.restore(start);
    exact.perturb(Perturbation(i));
    train(exact, steps);
    allow(exact);
  }
  return result;
}

bool Verifier::compareFast(JitStep &fast, JitStep &exact, bool roundsAlike,
                           uint64_t dataSeed, Data data, bool report) {
  JitStep &plain = *hostReference();
  plain.reset(dataSeed, data);
  lowerLossScale(plain);
  fast.reset(dataSeed);
  fast.copyFrom(plain);
  train(fast, stepsToCompare());
  const Exact &known =
      exactOf(plain, exact, roundsAlike, dataSeed, data, report);
  if (known.isLost)
    return false;

  bool holds = true;
  double worst = 0;
  const double coarsest = unitOf(*subject.step);
  const double least = leastOf(*subject.step);
  for (auto [known, slot, truth] :
       llvm::zip_equal(known.bounds, exact.program().slots, known.truths)) {
    double unit = coarsest;
    if (auto format = parseNumberFormat(nameOf(fast.find(slot)->element));
        format && !roundsAlike)
      unit = unitOf(*format);
    double error = errorOf(fast, slot, truth), largest = 0;
    for (double value : truth)
      largest = std::max(largest, std::abs(value));
    double bound = std::max({known, largest * unit, least});
    if (error == 0)
      continue;
    worst = std::max(worst, error / bound);
    if (std::isfinite(error) && error <= kFastFactor * bound)
      continue;
    holds = false;
    if (report)
      say() << slot.name << ": fast code is off by " << shortly(error)
            << ", rounding by " << shortly(bound) << ", of at most "
            << shortly(largest) << '\n';
  }
  if (verbose)
    say() << "largest error of fast code " << shortly(worst)
          << " times that of rounding"
          << (roundsAlike ? "" : " to " + nameOfRounding(subject)) << '\n';
  return holds;
}

JitStep *Verifier::exactStep(bool roundsAlike) {
  std::optional<JitStep> &step = exactSteps[roundsAlike];
  if (!step) {
    LoweringOptions perturbed;
    perturbed.reference = perturbed.doubles = perturbed.perturbed = true;
    perturbed.unrounded = !roundsAlike;
    perturbed.perturbedInputs = !roundsAlike && roundsToTF32(subject);
    step = subject.build(*subject.step, perturbed);
  }
  return step ? &*step : nullptr;
}

bool Verifier::verifyFast(Data data) {
  JitStep *exact = exactStep(/*roundsAlike=*/true);
  if (!exact || !fastCode() || !reference() || !hostReference())
    return false;
  if (stepsToCompare() == 1 && !std::exchange(saidOneStep, true))
    say() << "one step is compared: squares of gradients below 6e-8 are 0 in "
             "f16, in which the optimizer keeps them, so that where a gradient "
             "is near 0 the next step is as large as `eps` lets it be\n";
  // Rounding may move the two to different sides of a kink. That shows only for
  // some data.
  auto isNear = [&](JitStep &step, JitStep &exact, bool roundsAlike) {
    auto compare = [&](uint64_t dataSeed, bool report) {
      return compareFast(step, exact, roundsAlike, dataSeed, data, report);
    };
    return (compare(seed, verbose) ||
            (compare(seed + 1, true) && compare(seed + 2, true))) &&
           isClean(step);
  };
  const bool isTF32 = roundsToTF32(subject);
  bool holds = isTF32 || isNear(*fast, *exact, /*roundsAlike=*/true);
  // The reference of another target may differ from the host's as much as fast
  // code.
  if (!isHost(subject.target))
    holds = holds && isNear(*reference(), *exact, /*roundsAlike=*/true);
  if (holds && !isTF32)
    confirm(Twine("fast code computes what the reference does") + nameOf(data));
  if (unitOf(*subject.step) == kUnit && !isTF32)
    return holds;
  // If both programs round wrongly in the same way, they agree, so compare with
  // the unrounded step too.
  JitStep *unrounded = exactStep(/*roundsAlike=*/false);
  if (!unrounded)
    return false;
  bool roundsRight = isNear(*fast, *unrounded, /*roundsAlike=*/false);
  if (roundsRight)
    confirm("fast code is as near to the exact result as rounding to " +
            nameOfRounding(subject) + " leaves it" + nameOf(data));
  return holds && roundsRight;
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

bool Verifier::verifyOrders() {
  using simulator::Order;
  bool isSimulated = false;
  for (JitStep *step : {reference(), fastCode()}) {
    if (!step)
      return false;
    isSimulated = step->simulated();
    std::vector<char> left;
    for (Order order : {Order{Order::Forward}, Order{Order::Backward},
                        Order{Order::Shuffled, seed}}) {
      if (simulator::Device *simulated = step->simulated())
        simulated->setOrder(order);
      step->reset(seed);
      for (int number : {1, 2})
        step->run(number);
      if (!isClean(*step))
        return false;
      std::vector<char> now = step->save();
      if (left.empty())
        left = now;
      if (now == left)
        continue;
      say() << step->program().lowering
            << " lowering: what is left depends on the order of blocks and "
               "warps\n";
      return false;
    }
  }
  confirm(isSimulated ? "leaves the same in any order of blocks and warps"
                      : "leaves the same each time");
  return true;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// Memory that is kept until the process ends is no leak.
extern "C" LLVM_ATTRIBUTE_USED const char *__asan_default_options() {
  return "detect_leaks=0";
}

// Defined if AddressSanitizer is in the process.
extern "C" LLVM_ATTRIBUTE_WEAK void
__asan_set_error_report_callback(void (*)(const char *));

/// Number of random data sets for a watched step.
static constexpr uint64_t kDraws = 3;

/// The watched step, for the report with which AddressSanitizer ends the
/// process.
static std::string watched;

bool Verifier::watch(bool isReference) {
  LoweringOptions options;
  options.guarded = true;
  options.reference = isReference;
  std::optional<JitStep> step = subject.build(*subject.step, options);
  if (!step)
    return false;
  watched =
      subject.name() + ": the " + (isReference ? "reference" : "fast code");
  __asan_set_error_report_callback([](const char *) {
    llvm::outs() << watched << " leaves its tensors\n";
    llvm::outs().flush();
  });
  for (uint64_t i = 0; i < kDraws; ++i)
    for (Data data : {Data::AnyIntegers, Data::AnyNumbers}) {
      step->reset(seed + i, data);
      for (int number : {1, 2})
        step->run(number);
    }
  __asan_set_error_report_callback(nullptr);
  return true;
}

bool Verifier::verifyBounds() {
  if (__asan_set_error_report_callback) {
    if (!watch(/*isReference=*/true) || !watch(/*isReference=*/false))
      return false;
    confirm("does not leave its tensors");
  }
  auto step = *subject.step.get().getOps<StepOp>().begin();
  if (llvm::none_of(step.getBlock().getArguments(), [](Value input) {
        return isa<IntegerType>(elementOf(input));
      })) {
    confirm("takes no integers");
    return true;
  }
  bool slopes = verifyGradients(Data::AnyIntegers);
  return verifyFast(Data::AnyIntegers) && slopes;
}
