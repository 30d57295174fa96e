// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_HARDWARE_PRECISION_H
#define NETC_LIB_HARDWARE_PRECISION_H

#include "lib/Hardware/NumberFormat.h"

#include <string>

namespace netc {

/// A recipe of NVIDIA's Transformer Engine 2 for linear layers with operands of
/// 8 bits.
struct EightBitRecipe {
  llvm::StringLiteral name;
  NumberFormat gradients; ///< the format of the gradient of a product's result
  int64_t multiple;       ///< that all sizes of a product must be multiples of
};

/// The 8-bit copies of a weight. The backward pass multiplies along the other
/// axis, for which Hopper needs a transposed copy, and block scales need a copy
/// with scales along that axis.
constexpr unsigned kCopiesIn8Bits = 2;

llvm::ArrayRef<EightBitRecipe> allEightBitRecipes();

/// The formats of a run's values, as `precision` states them.
/// docs/Accounting.md lists those of frameworks.
struct Precision {
  /// The format of operands of matrix products, whose sums are f32. Peaks are
  /// for this format. If it is an 8-bit float, only linear layers are in it,
  /// without routers of experts, the layers whose results the loss reads, and
  /// those with a size that is no multiple of multipleIn8Bits(); other
  /// products are in low().
  NumberFormat products = NumberFormat::F32;
  /// The format of values between products, if the op does not ask for f32. f32
  /// means the lists of PyTorch's autocast. With a lower format, the whole
  /// network except for its loss is in it.
  NumberFormat residual = NumberFormat::F32;
  /// The format of the weights. If it is an 8-bit float, only those that
  /// products in 8 bits read are in it.
  NumberFormat weights = NumberFormat::F32;
  /// The format of the copies that the update changes, if it does not change
  /// the weights.
  std::optional<NumberFormat> master;
  /// The format of gradients of weights.
  NumberFormat gradients = NumberFormat::F32;
  /// The format of the optimizer's state. In 8 bits, tensors with fewer than
  /// 4096 elements stay in f32 (Dettmers et al. 2021, arXiv:2110.02861).
  NumberFormat states = NumberFormat::F32;
  /// The recipe for 8-bit products, if there is one.
  const EightBitRecipe *recipe = nullptr;

  /// The 16-bit format that values in low precision are converted to; f32 if
  /// there is none.
  NumberFormat low() const;
  /// Whether everything is in f64, which has no parts.
  bool isF64() const;
  /// The 8-bit format of the gradients of products; none if products are not in
  /// 8-bit floats.
  std::optional<NumberFormat> gradientsIn8Bits() const;
  /// What all sizes of a product in 8 bits are multiples of: rows of 16 bytes,
  /// also along the rows of the input, which the gradient of the weight sums.
  int64_t multipleIn8Bits() const { return recipe ? recipe->multiple : 16; }
  /// Why the parts do not go together; none if they do.
  std::optional<llvm::StringRef> conflict() const;
  /// The format of weights that no product in 8 bits reads.
  NumberFormat otherWeights() const;
  /// The format of the parameters that the step updates.
  NumberFormat parameters() const { return master.value_or(weights); }
  /// `mixed(bf16)`, `pure(bf16, states = f32)`.
  std::string str() const;
  bool operator==(const Precision &other) const;
};

/// Reads a number format (`bf16` and `f16` mean `mixed` of it, `f64` is that of
/// all values), a preset
/// `mixed`, `megatron` or `pure` with parts that differ, such as `mixed(bf16,
/// states = bf16)`, an 8-bit recipe such as `fp8(DelayedScaling)`, or a record
/// of parts. None for other text; `why` then says what is wrong or would be
/// right.
std::optional<Precision> parsePrecision(llvm::StringRef text,
                                        std::string *why = nullptr);

} // namespace netc

#endif // NETC_LIB_HARDWARE_PRECISION_H
