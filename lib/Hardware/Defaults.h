// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_HARDWARE_DEFAULTS_H
#define NETC_LIB_HARDWARE_DEFAULTS_H

#include "lib/Hardware/Assumption.h"
#include "lib/Hardware/Hardware.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace netc {

/// The facts about a run that its hardware can be guessed from.
struct HardwareFacts {
  std::optional<Accelerator> device; ///< has no peaks if the model is unknown
  std::optional<Rational> peak;      ///< FLOP/s of a device
  std::optional<NumberFormat> format;
  std::optional<Rational> utilization;
  std::optional<Rational> deviceHours; ///< of all devices
  std::optional<int> year;             ///< of the training
  /// Whether a company trained it.
  std::optional<bool> isCompanys;
  std::string framework;    ///< one of knownFrameworks, or empty
  bool readsTokens = false; ///< whether the network is a language model
  /// The share of the forward pass in products whose sizes are all multiples of
  /// 8. Null if not known; called only if needed.
  llvm::function_ref<Rational()> alignedShare = nullptr;
};

/// The completed facts. Peak and format stay unknown if neither the device nor
/// the year is known, or if the device has no peak for the format.
struct HardwareGuess {
  std::optional<Rational> peak;
  /// Empty if there is a peak, or nothing to guess it from.
  std::string whyNoPeak;
  std::optional<NumberFormat> format;
  Rational utilization;
  std::vector<Assumption> assumptions;
};

/// The names of frameworks that HardwareFacts can have.
llvm::ArrayRef<llvm::StringRef> knownFrameworks();

/// Whether a device runs two formats at the same peak. The 8-bit formats share
/// one.
bool isSamePeak(NumberFormat a, NumberFormat b);

/// Completes the facts by the heuristics of Sevilla et al., "Estimating
/// training compute of deep learning models", 2022. docs/Accounting.md
/// describes them, and the refinements.
HardwareGuess completeHardware(const HardwareFacts &facts,
                               const AcceleratorTable &table);

} // namespace netc

#endif // NETC_LIB_HARDWARE_DEFAULTS_H
