// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/netc/Peaks.h"
#include "dialect/Net.h"
#include "lib/Hardware/Hardware.h"

using namespace netc;
using namespace mlir;

/// The device of a `hardware` section: its peaks stand in the step, by format.
static FailureOr<std::optional<Accelerator>>
ownDevice(Location at, DictionaryAttr run, StringRef name) {
  Accelerator device;
  device.name = name.str();
  for (NamedAttribute attribute : run) {
    StringRef format = attribute.getName();
    if (!format.consume_front("peak_"))
      continue;
    std::optional<NumberFormat> known = parseNumberFormat(format);
    if (!known)
      return emitError(at) << "`" << format
                           << "` is not a number format; there are f64, f32, "
                           << "tf32, f16, bf16, f8, i8 and i4";
    Rational rate =
        *cast<PolynomialAttr>(attribute.getValue()).getValue().constant();
    device.peaks.push_back({*known, ArithmeticUnit::Matrix, {rate, "", false}});
  }
  if (device.peaks.empty())
    return std::optional<Accelerator>();
  return std::optional(device);
}

/// What the step says of its number format, `f32` where it says nothing. Fails,
/// with an error there, if that is none.
static FailureOr<StringRef> precisionOf(StepOp step) {
  auto precision = step.getRun().getAs<StringAttr>("precision");
  if (!precision)
    return StringRef("f32");
  if (matmulFormat(precision.getValue()))
    return precision.getValue();
  auto key = step.getRun().getAs<LocationAttr>("precision_at");
  return emitError(key ? Location(key) : step.getLoc())
         << "`" << precision.getValue()
         << "` is not a precision; write a number format such as `bf16`, or "
         << "`mixed(f16)`";
}

LogicalResult netc::givePeaks(ModuleOp module) {
  // Read only where a device is named: it takes milliseconds.
  std::optional<AcceleratorTable> table;
  for (StepOp step : module.getOps<StepOp>()) {
    DictionaryAttr run = step.getRun();
    FailureOr<StringRef> precision = precisionOf(step);
    if (failed(precision))
      return failure();
    auto give = [&](NumberFormat format, std::optional<Rational> peak) {
      NamedAttrList attributes(run);
      attributes.set("peak_format", StringAttr::get(module.getContext(),
                                                    traitsOf(format).name));
      if (peak)
        attributes.set("peak", PolynomialAttr::get(module.getContext(), *peak));
      step.setRunAttr(attributes.getDictionary(module.getContext()));
    };
    auto name = run.getAs<StringAttr>("device");
    if (run.get("peak") && run.get("precision"))
      give(*matmulFormat(*precision), std::nullopt);
    if (!name || run.get("peak"))
      continue;
    auto where = run.getAs<LocationAttr>("device_at");
    Location at = where ? Location(where) : step.getLoc();
    FailureOr<std::optional<Accelerator>> device = ownDevice(at, run, name);
    if (failed(device))
      return failure();
    if (!*device && run.get("device_own"))
      continue;
    if (!*device) {
      if (!table)
        table = AcceleratorTable::builtin();
      *device = table->find(name);
    }
    if (!*device) {
      InFlightDiagnostic error = emitError(at)
                                 << "unknown device `" << name.getValue() << "`"
                                 << table->didYouMean(name);
      error.attachNote()
          << "a `hardware` section describes a device of your own";
      return error;
    }
    llvm::Expected<PeakChoice> choice = (*device)->peakFor(*precision);
    if (choice)
      give(choice->peak.format, choice->peak.flopPerSecond.value);
    else
      // A device of unknown speed: operations are counted all the same.
      llvm::consumeError(choice.takeError());
  }
  return success();
}
