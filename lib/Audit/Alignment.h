// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_ALIGNMENT_H
#define NETC_LIB_AUDIT_ALIGNMENT_H

#include "lib/Audit/BandedAlignment.h"

namespace netc::audit {

/// A product of a sequence that is aligned.
struct Item {
  std::optional<Rational> flop;
  Elements elements;
  std::optional<Rational> made; ///< elements of its results, of all iterations
  ProductKind kind;
  int64_t groups; ///< of a convolution
  /// Of a convolution; see EventCost.
  llvm::ArrayRef<int64_t> read, window, dilation;
  std::optional<bool> isTransposed;
  /// The parts of the names around it, from the outside.
  llvm::ArrayRef<llvm::StringRef> names;
  llvm::StringRef op; ///< `linear` of a specification; empty for a trace
  /// Whether it has a gradient; none if the trace does not tell.
  std::optional<bool> hasGradient;
  /// Whether it is the gradient of a weight; none if it may be any.
  std::optional<bool> isOfWeight;
  /// Whether it cannot be a part of one product with the item before: it reads
  /// the result of that, or an op that computes lies between.
  bool isApart;
  Rational iterations; ///< of a specification's loop
  /// Elements of its weight; 0 if not known.
  Rational weight;

  /// Whether the sizes of both are equal, or unknown for one of them.
  bool hasSizesOf(const Item &other) const {
    const Elements unknown = {};
    return (elements == other.elements || elements == unknown ||
            other.elements == unknown) &&
           haveSameWindows(*this, other);
  }
  /// Whether convolutions are alike in all but their FLOP, as far as is known.
  /// `traced` is of a trace, which may not state groups.
  bool mayAddUpTo(const Item &traced) const {
    return haveSameWindows(*this, traced) &&
           (traced.groups == 1 || groups == traced.groups);
  }
  /// Whether both are attention, or neither: a fused kernel of attention is
  /// several products. And whether both have the same result: the two gradients
  /// of a product differ in nothing else.
  bool mayBe(const Item &other) const {
    bool areGradientsOfOne =
        elements == other.elements && made && other.made && made != other.made;
    return !areGradientsOfOne && (kind == ProductKind::Attention) ==
                                     (other.kind == ProductKind::Attention);
  }
};

/// Whether products are as many others, as far as their sizes are known: parts
/// of a result, or terms of a sum, which make the whole result each. A
/// convolution may be products of matrices if the sizes are known.
bool haveSameResults(llvm::ArrayRef<Item> some, llvm::ArrayRef<Item> others);

/// Aligns two sequences: items with equal FLOP, items whose FLOP add up to one
/// of the other sequence, and items that one sequence lacks.
std::vector<Block> alignItems(llvm::ArrayRef<Item> first,
                              llvm::ArrayRef<Item> second);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_ALIGNMENT_H
