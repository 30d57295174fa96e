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

LogicalResult netc::givePeaks(ModuleOp module) {
  // Read only where a device is named: it takes milliseconds.
  std::optional<AcceleratorTable> table;
  for (StepOp step : module.getOps<StepOp>()) {
    DictionaryAttr run = step.getRun();
    auto name = run.getAs<StringAttr>("device");
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
      std::string meant = table->suggestion(name);
      InFlightDiagnostic error =
          emitError(at) << "unknown device `" << name.getValue() << "`"
                        << (meant.empty() ? ""
                                          : "; did you mean " + meant + "?");
      error.attachNote()
          << "a `hardware` section describes a device of your own";
      return error;
    }
    auto precision = run.getAs<StringAttr>("precision");
    StringRef text = precision ? precision.getValue() : "f32";
    if (!matmulFormat(text)) {
      auto key = run.getAs<LocationAttr>("precision_at");
      return emitError(key ? Location(key) : step.getLoc())
             << "`" << text
             << "` is not a precision; write a number format such as `bf16`, "
                "or "
             << "`mixed(f16)`";
    }
    llvm::Expected<PeakChoice> choice = (*device)->peakFor(text);
    if (!choice) {
      // A device of unknown speed: operations are counted all the same.
      llvm::consumeError(choice.takeError());
      continue;
    }
    NamedAttrList attributes(run);
    attributes.set("peak",
                   PolynomialAttr::get(module.getContext(),
                                       choice->peak.flopPerSecond.value));
    step.setRunAttr(attributes.getDictionary(module.getContext()));
  }
  return success();
}
