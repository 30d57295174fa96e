// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/netc/Peaks.h"
#include "dialect/Net.h"
#include "dialect/Place.h"
#include "lib/Analysis/Alignment.h"
#include "lib/Hardware/Defaults.h"
#include "lib/Warnings/Warnings.h"

using namespace netc;
using namespace mlir;

/// The device of a `hardware` section: its peaks stand in the step, by format.
static std::optional<Accelerator> ownDevice(DictionaryAttr run,
                                            StringRef name) {
  Accelerator device;
  device.name = name.str();
  for (NamedAttribute attribute : run) {
    StringRef format = attribute.getName();
    if (!format.consume_front("peak_"))
      continue;
    std::optional<NumberFormat> known = parseNumberFormat(format);
    assert(known && "an unknown format got into the step");
    Rational rate =
        *cast<PolynomialAttr>(attribute.getValue()).getValue().constant();
    device.peaks.push_back({*known, ArithmeticUnit::Matrix, {rate, "", false}});
  }
  return device.peaks.empty() ? std::nullopt : std::optional(device);
}

/// What the run says of its number format, if anything. Fails, with an error
/// there, if that is none.
static FailureOr<std::optional<NumberFormat>> formatOf(Operation *job,
                                                       DictionaryAttr run) {
  auto precision = run.getAs<StringAttr>("precision");
  if (!precision)
    return std::optional<NumberFormat>();
  if (std::optional<NumberFormat> format = matmulFormat(precision.getValue()))
    return format;
  return emitError(placeOf(job, "precision"))
         << "`" << precision.getValue()
         << "` is not a precision; write a number format such as `bf16`, or "
         << "`mixed(f16)`";
}

/// The device that the run names, if any. Fails, with an error there, if there
/// is none of the name.
static FailureOr<std::optional<Accelerator>>
deviceOf(Operation *job, DictionaryAttr run, const AcceleratorTable &table) {
  auto name = run.getAs<StringAttr>("device");
  if (!name)
    return std::optional<Accelerator>();
  Location at = placeOf(job, "device");
  std::optional<Accelerator> own = ownDevice(run, name);
  if (own || run.get("device_own"))
    return own;
  std::optional<Accelerator> device = table.find(name);
  if (device)
    return device;
  InFlightDiagnostic error = emitError(at)
                             << "unknown device `" << name.getValue() << "`"
                             << table.didYouMean(name);
  error.attachNote() << "a `hardware` section describes a device of your own";
  return error;
}

/// A device-time in devices of another make than the hardware's has another
/// peak. Where only one of them is of a known make, `device` becomes that one.
static LogicalResult mergeDeviceOfTime(Operation *job, DictionaryAttr run,
                                       const AcceleratorTable &table,
                                       std::optional<Accelerator> &device) {
  auto name = run.getAs<StringAttr>("took_device");
  auto given = run.getAs<StringAttr>("device");
  if (!name || name == given)
    return success();
  std::optional<Accelerator> other = table.find(name);
  if (other && other->peaks.empty())
    return success();
  if (other && device && device->peaks.empty()) {
    device = other;
    return success();
  }
  if (other && device && other->hasPeaksOf(*device))
    return success();
  return emitError(placeOf(job, "took"))
         << "`took` counts `" << name.getValue() << "`, the hardware is `"
         << given.getValue() << "`; give both in the device that was used";
}

static std::optional<Rational> numberIn(DictionaryAttr run, StringRef key) {
  auto value = run.getAs<PolynomialAttr>(key);
  return value ? value.getValue().constant() : std::nullopt;
}

/// Whether the network's first input holds whole numbers, several to an
/// example.
static bool readsTokens(StepOp step) {
  Block &body = step.getBody().front();
  if (body.getNumArguments() == 0)
    return false;
  auto type = cast<RankedTensorType>(body.getArgument(0).getType());
  return isa<IntegerType>(type.getElementType()) && type.getRank() > 1;
}

/// The same of any step of a run: its own, or one of its jobs'.
static bool readsTokens(ModuleOp module, Operation &job) {
  std::string name = SymbolTable::getSymbolName(&job).str();
  return llvm::any_of(module.getOps<StepOp>(), [&](StepOp step) {
    StringRef other = step.getSymName();
    return (other == name || other.starts_with(name + ".")) &&
           readsTokens(step);
  });
}

/// What the run says that tells of its hardware.
static HardwareFacts factsOf(DictionaryAttr run) {
  HardwareFacts facts;
  facts.peak = numberIn(run, "peak");
  facts.utilization = numberIn(run, "utilization");
  if (std::optional<Rational> year = numberIn(run, "year"))
    facts.year = year->toInt64();
  if (auto by = run.getAs<StringAttr>("trained_by"))
    facts.isCompanys = by.getValue() == "company";
  if (auto framework = run.getAs<StringAttr>("framework"))
    facts.framework = framework.str();
  std::optional<Rational> seconds = numberIn(run, "took_device_seconds");
  std::optional<Rational> took = numberIn(run, "took"),
                          devices = numberIn(run, "devices");
  if (took && devices)
    seconds = *took * *devices;
  if (seconds)
    facts.deviceHours = *seconds / 3600;
  return facts;
}

static StringRef symbolOf(Operation *job) {
  return SymbolTable::getSymbolName(job);
}

/// Warns of a device that was not there in the year of the run.
static void warnOfYear(Operation *job, DictionaryAttr run,
                       const HardwareFacts &facts) {
  std::optional<int> released =
      facts.device ? facts.device->year() : std::nullopt;
  if (released && facts.year && *facts.year < *released)
    warn(placeOf(job, "device"), symbolOf(job), "released-later")
        << "`" << facts.device->title << "` was released in " << *released
        << ", after the `year` of the run, " << *facts.year;
}

/// Warns where the time that a run took, or its number format, tells nothing.
static void warnOfNoPeak(Operation *job, DictionaryAttr run,
                         const HardwareFacts &facts,
                         const HardwareGuess &guess) {
  if (run.get("took") && !facts.deviceHours) {
    warn(placeOf(job, "took"), symbolOf(job), "no-device-time")
        << "there is no compute by time: on how many devices is not "
           "said; write `hardware = 8 V100`, or a device-time";
    return;
  }
  if (guess.peak || run.get("took_flop"))
    return;
  std::string why = guess.whyNoPeak;
  auto device = run.getAs<StringAttr>("device");
  if (why.empty() && device)
    why = ("`" + device.getValue() + "` has no `peak`").str();
  bool lacksFormat =
      facts.format && facts.device && !facts.device->peaks.empty();
  StringRef key = lacksFormat ? "precision" : "took";
  if (run.get((key + "_at").str()))
    warn(placeOf(job, key), symbolOf(job), "no-peak")
        << "there is no compute by time: " << why;
}

static DictionaryAttr complete(DictionaryAttr settings,
                               const HardwareFacts &facts,
                               const HardwareGuess &guess) {
  MLIRContext *context = settings.getContext();
  NamedAttrList run(settings);
  auto text = [&](StringRef value) { return StringAttr::get(context, value); };
  auto number = [&](const Rational &value) {
    return PolynomialAttr::get(context, value);
  };
  if (facts.device && facts.device->memoryBytes)
    run.set("device_memory", number(facts.device->memoryBytes->value));
  if (guess.format)
    run.set("peak_format", text(traitsOf(*guess.format).name));
  if (guess.peak)
    run.set("peak", number(*guess.peak));
  if (!facts.utilization)
    run.set("assumed_utilization", number(guess.utilization));
  std::vector<Attribute> assumed;
  for (const Assumption &assumption : guess.assumptions) {
    NamedAttrList item;
    item.set("key", text(assumption.key));
    item.set("taken", text(assumption.taken));
    item.set("reason", text(assumption.reason));
    item.set("low", number(assumption.low));
    item.set("high", number(assumption.high));
    assumed.push_back(item.getDictionary(context));
  }
  run.set("assumed", ArrayAttr::get(context, assumed));
  return run.getDictionary(context);
}

LogicalResult
netc::givePeaks(ModuleOp module,
                function_ref<const AcceleratorTable &()> accelerators,
                ModuleOp written) {
  for (Operation &job : *module.getBody()) {
    auto run = job.getAttrOfType<DictionaryAttr>("run");
    if (!run)
      continue;
    FailureOr<std::optional<NumberFormat>> format = formatOf(&job, run);
    if (failed(format))
      return failure();
    if (!run.get("device") && !run.get("peak") && !run.get("took_at"))
      continue;
    const AcceleratorTable &table = accelerators();
    FailureOr<std::optional<Accelerator>> device = deviceOf(&job, run, table);
    if (failed(device) || failed(mergeDeviceOfTime(&job, run, table, *device)))
      return failure();
    HardwareFacts facts = factsOf(run);
    facts.format = *format;
    facts.device = *device;
    facts.readsTokens = readsTokens(written ? written : module, job);
    auto step = dyn_cast<StepOp>(job);
    if (step && written)
      step = cast<StepOp>(
          SymbolTable::lookupSymbolIn(written, step.getSymNameAttr()));
    auto aligned = [&] { return alignedShare(step, 8); };
    if (step)
      facts.alignedShare = aligned;
    HardwareGuess guess = completeHardware(facts, table);
    warnOfYear(&job, run, facts);
    warnOfNoPeak(&job, run, facts, guess);
    job.setAttr("run", complete(run, facts, guess));
  }
  return success();
}
