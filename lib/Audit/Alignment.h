// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_ALIGNMENT_H
#define NETC_LIB_AUDIT_ALIGNMENT_H

#include "lib/Audit/Match.h"

namespace netc::audit {

/// A product, as compared in an alignment.
struct Item {
  std::optional<Rational> flop;
  Elements elements;
  ProductKind kind;
  int64_t groups; ///< of a convolution
  /// The shape of an example that a convolution reads; see EventCost.
  llvm::ArrayRef<int64_t> read;
  /// The parts of the names around it, from the outside.
  llvm::ArrayRef<llvm::StringRef> names;
  llvm::StringRef op; ///< of a specification: `linear`

  /// Whether the sizes of both agree, or one of them does not tell its sizes.
  bool hasSizesOf(const Item &other) const {
    const Elements unknown = {};
    return (elements == other.elements || elements == unknown ||
            other.elements == unknown) &&
           haveSameShape(read, other.read);
  }
  /// A fused kernel of attention is several products.
  bool mayBe(const Item &other) const {
    return (kind == ProductKind::Attention) ==
           (other.kind == ProductKind::Attention);
  }
};

/// Items of both sequences that belong together, by position.
struct Block {
  size_t i, j;         ///< the first items in the first and the second sequence
  size_t many, others; ///< the numbers of items
  Confidence confidence;
};

/// Aligns two sequences: what is equal by FLOP, what adds up, and what one of
/// them lacks.
std::vector<Block> alignItems(llvm::ArrayRef<Item> first,
                              llvm::ArrayRef<Item> second);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_ALIGNMENT_H
