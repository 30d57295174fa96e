// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/ResolveHardware.h"
#include "dialect/Net.h"
#include "lib/Analysis/Alignment.h"
#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Hardware/Defaults.h"
#include "lib/Hardware/Precision.h"

using namespace netc;
using namespace mlir;

/// The device of a `hardware` section. The step has its peaks, by format.
static std::optional<Accelerator> ownDevice(const RunFacts &run) {
  if (!run.hasOwnDevice)
    return std::nullopt;
  Accelerator device;
  device.name = device.title = run.device;
  for (const auto &[format, rate] : run.peaks) {
    std::optional<NumberFormat> known = parseNumberFormat(format);
    assert(known && "an unknown format got into the step");
    device.peaks.push_back({*known, ArithmeticUnit::Matrix, {rate, "", false}});
  }
  return device.peaks.empty() ? std::nullopt : std::optional(device);
}

/// The format of products, which selects the peak; none if the run does not
/// state it. If no product can be in the 8 bits that are asked for, it is that
/// of 16 bits. `step` is null for a sum of jobs.
static std::optional<NumberFormat> formatOf(const RunFacts &run, StepOp step) {
  std::optional<Precision> precision = parsePrecision(run.precision);
  if (!precision)
    return std::nullopt;
  if (!precision->gradientsIn8Bits() || !step)
    return precision->products;
  bool has8Bits = false, has16Bits = false;
  step.walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (auto element = dyn_cast<FloatType>(netc::elementOf(value))) {
        has8Bits |= element.getWidth() == 8;
        has16Bits |= element.getWidth() == 16;
      }
  });
  return has16Bits && !has8Bits ? precision->low() : precision->products;
}

/// The device that the run names, if any. Fails, with an error at the name, if
/// it is not known.
static FailureOr<std::optional<Accelerator>>
deviceOf(Operation *job, const RunFacts &run, const AcceleratorTable &table) {
  if (run.device.empty())
    return std::optional<Accelerator>();
  Location at = placeOf(job, "device");
  std::optional<Accelerator> own = ownDevice(run);
  if (own || run.hasOwnDevice)
    return own;
  std::optional<Accelerator> device = table.find(run.device);
  if (device)
    return device;
  InFlightDiagnostic error = emitError(at, error::UnknownDevice, run.device,
                                       table.didYouMean(run.device));
  error.attachNote() << "a `hardware` section describes a device of your own";
  return error;
}

/// Checks that the device-time is of the same kind of device as the hardware,
/// or else the peak would differ. If only one of them is a known device,
/// `device` becomes that one.
static LogicalResult mergeDeviceOfTime(Operation *job, const RunFacts &run,
                                       const AcceleratorTable &table,
                                       std::optional<Accelerator> &device) {
  if (run.tookDevice.empty() || run.tookDevice == run.device)
    return success();
  std::optional<Accelerator> other = table.find(run.tookDevice);
  if (other && other->peaks.empty())
    return success();
  if (other && device && device->peaks.empty()) {
    device = other;
    return success();
  }
  if (other && device && other->hasPeaksOf(*device))
    return success();
  return emitError(placeOf(job, "took"), error::TookInAnotherDevice,
                   run.tookDevice, run.device);
}

/// Whether the network's first input is a sequence of integers.
static bool readsTokens(StepOp step) {
  Block &body = step.getBody().front();
  if (body.getNumArguments() == 0)
    return false;
  auto type = cast<RankedTensorType>(body.getArgument(0).getType());
  return isa<IntegerType>(type.getElementType()) && type.getRank() > 1;
}

/// The same for any step of a run or its jobs.
static bool readsTokens(ModuleOp module, Operation &job) {
  std::string name = SymbolTable::getSymbolName(&job).str();
  return llvm::any_of(module.getOps<StepOp>(), [&](StepOp step) {
    StringRef other = step.getSymName();
    return (other == name || other.starts_with(name + ".")) &&
           readsTokens(step);
  });
}

static bool isTimed(const RunFacts &run) {
  return run.took || run.tookDeviceSeconds;
}

/// The run's facts about its hardware.
static HardwareFacts factsOf(const RunFacts &run) {
  HardwareFacts facts;
  facts.peak = run.peak;
  facts.utilization = run.utilization;
  if (run.year)
    facts.year = run.year->toInt64();
  if (run.trainedBy)
    facts.isCompanys = run.trainedBy == TrainedBy::Company;
  facts.framework = run.framework;
  RunFacts::Number seconds = run.tookDeviceSeconds;
  if (run.took && run.devices)
    seconds = *run.took * *run.devices;
  if (seconds)
    facts.deviceHours = *seconds / 3600;
  return facts;
}

static StringRef symbolOf(Operation *job) {
  return SymbolTable::getSymbolName(job);
}

/// Warns of a device that was released after the year of the run.
static void warnOfYear(Operation *job, const HardwareFacts &facts) {
  std::optional<int> released =
      facts.device ? facts.device->year() : std::nullopt;
  if (released && facts.year && *facts.year < *released)
    warn(placeOf(job, "device"), symbolOf(job), WarningId::ReleasedLater)
        << "`" << facts.device->title << "` was released in " << *released
        << ", after the `year` of the run, " << *facts.year;
}

/// Warns if a reported time or number format has no effect, since there is no
/// peak.
static void warnOfNoPeak(Operation *job, const RunFacts &run,
                         const HardwareFacts &facts,
                         const HardwareGuess &guess) {
  if (run.took && !facts.deviceHours) {
    warn(placeOf(job, "took"), symbolOf(job), WarningId::NoDeviceTime)
        << "there is no compute by time: on how many devices is not "
           "said; write `hardware = 8 V100`, or a device-time";
    return;
  }
  if (guess.peak || run.tookFlop)
    return;
  std::string why = guess.whyNoPeak;
  if (why.empty() && !run.device.empty())
    why = "`" + run.device + "` has no `peak`";
  bool lacksFormat =
      facts.format && facts.device && !facts.device->peaks.empty();
  if (lacksFormat ? !run.precision.empty() : isTimed(run))
    warn(placeOf(job, lacksFormat ? "precision" : "took"), symbolOf(job),
         WarningId::NoPeak)
        << "there is no compute by time: " << why;
}

/// Warns of products in a format for which a device has no units.
static void warnOfFormat(Operation *job, const RunFacts &run,
                         const HardwareFacts &facts,
                         const HardwareGuess &guess) {
  if (!facts.format || !guess.format || !facts.device || run.peak)
    return;
  const FormatTraits &asked = traitsOf(*facts.format),
                     &taken = traitsOf(*guess.format);
  auto has = [&](NumberFormat format) {
    return llvm::any_of(facts.device->peaks, [&](const Peak &peak) {
      return peak.format == format;
    });
  };
  if (isSamePeak(taken.format, asked.format) || has(asked.format))
    return;
  warn(placeOf(job, "precision"), symbolOf(job), WarningId::NoSuchUnits)
      << "`" << facts.device->title << "` has no units for " << asked.name
      << "; such products are taken to run in " << taken.name
      << (asked.bits == 16 && has(NumberFormat::F16)
              ? ", and `mixed(f16)` would not"
              : "");
}

static RunFacts complete(RunFacts run, const HardwareFacts &facts,
                         const HardwareGuess &guess) {
  if (facts.device && facts.device->memoryBytes)
    run.deviceMemory = facts.device->memoryBytes->value;
  if (guess.format)
    run.peakFormat = guess.format;
  // Products in other formats have peaks of their own.
  if (!run.peak && facts.device)
    for (const FormatTraits &traits : allFormats()) {
      llvm::Expected<PeakChoice> other = facts.device->peakFor(traits.format);
      if (other)
        run.peaks[traits.name.str()] = other->peak.flopPerSecond.value;
      else
        llvm::consumeError(other.takeError());
    }
  if (guess.peak)
    run.peak = guess.peak;
  if (!facts.utilization)
    run.assumedUtilization = guess.utilization;
  run.assumptions = guess.assumptions;
  return run;
}

LogicalResult
netc::resolveHardware(ModuleOp module,
                      function_ref<const AcceleratorTable &()> accelerators,
                      ModuleOp written) {
  for (Operation &job : *module.getBody()) {
    const RunFacts *found = runFactsOf(&job);
    if (!found)
      continue;
    const RunFacts &run = *found;
    if (run.device.empty() && !run.peak && !isTimed(run))
      continue;
    const AcceleratorTable &table = accelerators();
    FailureOr<std::optional<Accelerator>> device = deviceOf(&job, run, table);
    if (failed(device) || failed(mergeDeviceOfTime(&job, run, table, *device)))
      return failure();
    HardwareFacts facts = factsOf(run);
    facts.device = *device;
    facts.readsTokens = readsTokens(written ? written : module, job);
    auto step = dyn_cast<StepOp>(job);
    if (step && written)
      step = cast<StepOp>(
          SymbolTable::lookupSymbolIn(written, step.getSymNameAttr()));
    facts.format = formatOf(run, step);
    auto aligned = [&] { return alignedShare(step, 8); };
    if (step)
      facts.alignedShare = aligned;
    HardwareGuess guess = completeHardware(facts, table);
    warnOfYear(&job, facts);
    warnOfNoPeak(&job, run, facts, guess);
    warnOfFormat(&job, run, facts, guess);
    job.setAttr("run",
                RunAttr::get(module.getContext(), complete(run, facts, guess)));
  }
  return success();
}
