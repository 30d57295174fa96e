// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_HARDWARE_PRECISION_H
#define NETC_LIB_HARDWARE_PRECISION_H

#include "lib/Hardware/NumberFormat.h"

#include <string>

namespace netc {

/// The formats in which a run computes and keeps its values: what `precision`
/// says. docs/Accounting.md has what frameworks do.
struct Precision {
  /// Operands of matrix products, whose sums are f32. A peak is of this format.
  NumberFormat products = NumberFormat::F32;
  /// Values between products where no op asks for f32. f32 stands for the lists
  /// of PyTorch's autocast; with fewer bits, the whole network but its loss is
  /// in this format.
  NumberFormat residual = NumberFormat::F32;
  NumberFormat weights = NumberFormat::F32;
  /// What the update changes, where that is not the weights.
  std::optional<NumberFormat> master;
  NumberFormat gradients = NumberFormat::F32; ///< of weights
  NumberFormat states = NumberFormat::F32;    ///< of the optimizer

  /// What values are converted to that are in a low format; f32 if none are.
  NumberFormat low() const;
  /// What the parameters are that the step updates.
  NumberFormat parameters() const { return master.value_or(weights); }
  /// `mixed(bf16)`, `pure(bf16, states = f32)`.
  std::string str() const;
  bool operator==(const Precision &other) const;
};

/// Reads a number format, which for bf16 and f16 means `mixed` of it; a preset
/// of one, `mixed`, `megatron` or `pure`, perhaps with parts that differ from
/// it: `mixed(bf16, states = bf16)`; or a record of parts alone. None if it is
/// none of these.
std::optional<Precision> parsePrecision(llvm::StringRef text);

} // namespace netc

#endif // NETC_LIB_HARDWARE_PRECISION_H
