// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/ResolveHardware.h"
#include "dialect/Net.h"
#include "lib/Analysis/Alignment.h"
#include "lib/Analysis/Cost.h"
#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Hardware/Defaults.h"
#include "lib/Hardware/Precision.h"
#include <set>

using namespace netc;
using namespace mlir;

/// The format of products, which selects the peak: that of the policy or, if
/// types in the text state other formats than f32, one of these. None if
/// neither does. If no product can be in the 8 bits that are asked for, it is
/// that of 16 bits.
static std::optional<NumberFormat>
formatOf(const RunFacts &run, const std::set<NumberFormat> &formats) {
  std::optional<Precision> precision = parsePrecision(run.precision);
  if (!precision) {
    if (formats.empty() || formats == std::set{NumberFormat::F32})
      return std::nullopt;
    return formats.count(NumberFormat::F32) ? NumberFormat::F32
                                            : *formats.begin();
  }
  auto isIn8Bits = [](NumberFormat format) {
    return traitsOf(format).storedBits == 8;
  };
  return precision->gradientsIn8Bits() && formats.count(precision->low()) &&
                 llvm::none_of(formats, isIn8Bits)
             ? precision->low()
             : precision->products;
}

/// The device that the run names, if any, with the peaks that the run or a
/// `hardware` section states. Fails, with an error at the name, if it is not
/// known.
static FailureOr<std::optional<Accelerator>>
deviceOf(Operation *job, const RunFacts &run, const AcceleratorTable &table) {
  std::optional<Accelerator> device;
  if (!run.device.empty() && !run.hasOwnDevice) {
    device = table.find(run.device);
    if (!device) {
      InFlightDiagnostic error =
          emitError(placeOf(job, "device"), error::UnknownDevice, run.device,
                    table.didYouMean(run.device));
      StringRef rate = run.device;
      bool isRate = rate.size() > 1 && StringRef("GTPE").contains(rate[0]) &&
                    llvm::is_contained({"F", "FLOP", "FLOPS", "flops"},
                                       rate.drop_front());
      error.attachNote()
          << (isRate ? "a rate is `" + rate.take_front().str() +
                           "FLOP/s`, as in `10 PFLOP/s-days`"
                     : "a `hardware` section describes a device of your own");
      return error;
    }
  }
  if (run.peaks.empty())
    return device;
  if (!device) {
    device.emplace();
    device->title = run.device;
  }
  device->name = run.hasOwnDevice ? run.device : "peak";
  device->peaks.clear();
  for (const auto &[format, rate] : run.peaks) {
    std::optional<NumberFormat> known = parseNumberFormat(format);
    assert(known && "an unknown format got into the step");
    device->peaks.push_back(
        {*known, ArithmeticUnit::Matrix, {rate, "", false}});
  }
  return device;
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

/// The key that a number format comes from, or the one that does not fit it.
static StringRef keyOfFormat(const RunFacts &run) {
  return run.precision.empty() ? "device" : "precision";
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
  if (lacksFormat || isTimed(run))
    warn(placeOf(job, lacksFormat ? keyOfFormat(run) : "took"), symbolOf(job),
         WarningId::NoPeak)
        << "there is no compute by time: " << why;
}

/// Warns of products in a format for which a device has no units.
/// `lacking`: who has not what.
static void warnOfFormat(Operation *job, const RunFacts &run,
                         const Accelerator &device, StringRef lacking,
                         NumberFormat format, NumberFormat taken) {
  auto has = [&](NumberFormat format) {
    return llvm::any_of(
        device.peaks, [&](const Peak &peak) { return peak.format == format; });
  };
  if (isSamePeak(taken, format) || has(format))
    return;
  const FormatTraits &asked = traitsOf(format);
  warn(placeOf(job, keyOfFormat(run)), symbolOf(job), WarningId::NoSuchUnits)
      << lacking << " for " << asked.name
      << "; such products are taken to run in " << traitsOf(taken).name
      << (asked.bits == 16 && has(NumberFormat::F16)
              ? ", and `mixed(f16)` would not"
              : "");
}

/// Sets the device's peak for each number format of products. If one of
/// `formats` has none, neither has the run.
static void takePeaks(Operation *job, RunFacts &run, const HardwareFacts &facts,
                      HardwareGuess &guess,
                      const std::set<NumberFormat> &formats) {
  if (run.peak || !facts.device || !guess.peak)
    return;
  std::string lacking = run.peaks.empty() || run.hasOwnDevice
                            ? "`" + facts.device->title + "` has no units"
                            : "`peak` has no rate";
  for (const FormatTraits &traits : allFormats()) {
    bool isStated = facts.format && (traits.format == facts.format ||
                                     formats.count(traits.format));
    llvm::Expected<PeakChoice> choice = facts.device->peakFor(traits.format);
    if (!choice) {
      std::string why = llvm::toString(choice.takeError());
      if (isStated && guess.peak) {
        guess.peak.reset();
        guess.whyNoPeak = std::move(why);
      }
      continue;
    }
    run.peaks[traits.name.str()] = choice->peak.flopPerSecond.value;
    // In which format a framework runs the rest in f32 is its choice.
    bool isRest = traits.format == NumberFormat::F32 &&
                  (run.precision.empty() || traits.format != facts.format);
    if (isStated && !isRest)
      warnOfFormat(job, run, *facts.device, lacking, traits.format,
                   choice->peak.format);
  }
}

static void complete(RunFacts &run, const HardwareFacts &facts,
                     const HardwareGuess &guess) {
  if (facts.device && facts.device->memoryBytes)
    run.deviceMemory = facts.device->memoryBytes->value;
  if (facts.device && facts.device->bandwidthBytesPerSecond)
    run.deviceBandwidth = facts.device->bandwidthBytesPerSecond->value;
  if (guess.format)
    run.peakFormat = guess.format;
  if (guess.peak)
    run.peak = guess.peak;
  if (!facts.utilization)
    run.assumedUtilization = guess.utilization;
  run.assumptions = guess.assumptions;
}

LogicalResult
netc::resolveHardware(ModuleOp module,
                      function_ref<const AcceleratorTable &()> accelerators,
                      ModuleOp written) {
  for (Operation &job : *module.getBody()) {
    const RunFacts *found = runFactsOf(&job);
    if (!found)
      continue;
    RunFacts run = *found;
    if (run.device.empty() && !run.peak && run.peaks.empty() && !isTimed(run))
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
    // A sum of jobs has no step.
    const std::set<NumberFormat> formats =
        step ? formatsOfProducts(step) : std::set<NumberFormat>();
    facts.format = formatOf(run, formats);
    auto aligned = [&] { return alignedShare(step, 8); };
    if (step)
      facts.alignedShare = aligned;
    HardwareGuess guess = completeHardware(facts, table);
    takePeaks(&job, run, facts, guess, formats);
    warnOfYear(&job, facts);
    warnOfNoPeak(&job, run, facts, guess);
    complete(run, facts, guess);
    job.setAttr("run", RunAttr::get(module.getContext(), run));
  }
  return success();
}
