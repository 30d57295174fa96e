// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_HARDWARE_PRECISION_H
#define NETC_LIB_HARDWARE_PRECISION_H

#include "dialect/Rational.h"
#include "lib/Hardware/NumberFormat.h"

#include <string>

namespace netc {

/// How linear layers get operands of 8 bits: a recipe of NVIDIA's Transformer
/// Engine 2. All else is as in `mixed(bf16)`, and so are products by the router
/// of experts, those that the loss reads, and those of sizes that are no
/// multiples of 16.
struct EightBitRecipe {
  llvm::StringLiteral name;
  NumberFormat gradients; ///< of the gradient of a product's result
};

/// Of a weight: backward it is multiplied along the other axis, for which a
/// Hopper needs a transposed copy, and blocks of their own scales another one.
constexpr unsigned kCopiesIn8Bits = 2;

llvm::ArrayRef<EightBitRecipe> allEightBitRecipes();

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
  /// Of the optimizer. 8 bits are blocks of 256 with a scale in f32 for each,
  /// and leave tensors of less than 4096 elements in f32 (Dettmers et al. 2021,
  /// arXiv:2110.02861).
  NumberFormat states = NumberFormat::F32;
  const EightBitRecipe *recipe = nullptr; ///< of `products` in 8 bits, if any

  /// What values are converted to that are in a low format; f32 if none are.
  NumberFormat low() const;
  /// What the parameters are that the step updates.
  NumberFormat parameters() const { return master.value_or(weights); }
  /// Bytes of a state of so many elements.
  Rational bytesOfState(const Rational &elements) const;
  /// `mixed(bf16)`, `pure(bf16, states = f32)`.
  std::string str() const;
  bool operator==(const Precision &other) const;
};

/// Reads a number format, which for bf16 and f16 means `mixed` of it; a preset
/// of one, `mixed`, `megatron` or `pure`, perhaps with parts that differ from
/// it: `mixed(bf16, states = bf16)`; `fp8` of a recipe, `fp8(DelayedScaling)`;
/// or a record of parts alone. None if it is none of these.
std::optional<Precision> parsePrecision(llvm::StringRef text);

} // namespace netc

#endif // NETC_LIB_HARDWARE_PRECISION_H
