// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_MATCH_H
#define NETC_LIB_AUDIT_MATCH_H

#include "lib/Audit/SpecifiedStep.h"

namespace netc::audit {

/// How certain it is that products of a trace are those of a specification.
enum class Confidence {
  Exact, ///< equal FLOP and sizes, or equal FLOP and name
  Sum,   ///< the FLOP of several add up to one or several of the other side
  Order, ///< the order and the kind of op agree, not the sizes; or the reverse
  None   ///< only on one side
};
llvm::StringRef nameOf(Confidence confidence);

/// The same products on both sides, as indices.
struct Match {
  llvm::SmallVector<unsigned, 2> specified, traced;
  Confidence confidence = Confidence::None;
  /// Whether it runs at another place than in the specification.
  bool isOutOfOrder = false;
  TracedProduct::Phase phase = TracedProduct::Forward;
  /// For a gradient or a recomputed product: the match of its forward product,
  /// if there is one.
  std::optional<unsigned> forward;
};

/// Matches products of the specification with those of the trace. A product
/// without a counterpart is a match by itself. Forward products are aligned in
/// order; what is left may run at another place. Gradients are matched by the
/// sequence numbers of autograd, or aligned without them. Recomputed products
/// are matched with those that they repeat. Matches of the specification come
/// first, in its order.
std::vector<Match> match(llvm::ArrayRef<SpecifiedProduct> specified,
                         llvm::ArrayRef<TracedProduct> traced);

/// Sorts matches by the specification; those that it lacks come last.
std::vector<Match> inOrder(std::vector<Match> matches);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_MATCH_H
