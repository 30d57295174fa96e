// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_HARDWARE_DEFAULTS_H
#define NETC_LIB_HARDWARE_DEFAULTS_H

#include "lib/Hardware/Assumption.h"
#include "lib/Hardware/Hardware.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace netc {

/// What a run says of its hardware, and of itself as far as that tells of it.
struct HardwareFacts {
  std::optional<Accelerator> device; ///< has no peaks if its make is unknown
  std::optional<Rational> peak;      ///< FLOP/s of a device
  std::optional<NumberFormat> format;
  std::optional<Rational> utilization;
  std::optional<Rational> deviceHours; ///< of all devices
  std::optional<int> year;             ///< in which it was trained
  std::optional<bool> isCompanys;
  std::string framework;    ///< one of knownFrameworks, or empty
  bool readsTokens = false; ///< the network is a language model
  /// The share of the forward pass in products of which all sizes are multiples
  /// of 8. Null if not known; called only if it matters.
  llvm::function_ref<Rational()> alignedShare = nullptr;
};

/// The facts, completed. Peak and format stay unknown where neither the device
/// nor the year is known, or the device has no peak for the format.
struct HardwareGuess {
  std::optional<Rational> peak;
  std::string whyNoPeak; ///< empty if there is one, or nothing to take it from
  std::optional<NumberFormat> format;
  Rational utilization;
  std::vector<Assumption> assumptions;
};

llvm::ArrayRef<llvm::StringRef> knownFrameworks();

/// By the heuristics of "Estimating training compute of deep learning models"
/// (Sevilla et al. 2022): docs/Accounting.md says which, and where they are
/// sharpened.
HardwareGuess completeHardware(const HardwareFacts &facts,
                               const AcceleratorTable &table);

} // namespace netc

#endif // NETC_LIB_HARDWARE_DEFAULTS_H
