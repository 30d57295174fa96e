// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_EVENTCOST_H
#define NETC_LIB_AUDIT_EVENTCOST_H

#include "dialect/Rational.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <optional>

namespace netc::audit {

/// The numbers of elements of a product's operands and result, sorted. With the
/// FLOP, they determine its shape except for the order of axes.
using Elements = std::array<Rational, 3>;

/// The cost of a product, from the shapes in its event.
struct EventCost {
  std::optional<Rational> flop; ///< none if shapes or arguments are missing
  Elements elements;
  /// FLOP by the formula of FlopCounterMode of PyTorch 2.15; 0 if it has none
  /// for the op. None if it has one, but shapes or arguments are missing.
  std::optional<Rational> counter;
  /// Elements of the result of a matrix product. Only this differs between the
  /// two gradients of a product.
  std::optional<Rational> made = std::nullopt;
  /// The part of `flop` for the gradient of a convolution's weight.
  std::optional<Rational> weight = std::nullopt;
  int64_t groups = 1; ///< of a convolution; 1 if the trace does not state them
  /// The shape of an example that a convolution reads; empty if not known. Of
  /// images of other sizes the elements may be equal.
  llvm::ArrayRef<int64_t> read = {};
  /// The sizes of a convolution's window; empty if not known.
  llvm::ArrayRef<int64_t> window = {};
  /// The dilations of a convolution, 1 where its window has one element; empty
  /// if not known.
  llvm::SmallVector<int64_t, 3> dilation = {};
  /// Whether a convolution is a transposed one; none if that is not known.
  std::optional<bool> isTransposed = std::nullopt;
  /// The shape of the first operand of data; empty if not known.
  llvm::ArrayRef<int64_t> operand = {};
  /// Elements of the scores of attention, which a fused kernel has inside.
  std::optional<Rational> scores = std::nullopt;
};

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_EVENTCOST_H
