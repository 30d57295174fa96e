// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_MATCH_H
#define NETC_LIB_AUDIT_MATCH_H

#include "lib/Audit/SpecifiedStep.h"

namespace netc::audit {

/// How sure it is that products of a trace are those of a specification.
enum class Confidence {
  Exact, ///< FLOP and sizes are equal, or FLOP and the place in the step
  Sum,   ///< several of one side are one or several of the other
  Order, ///< the trace has no sizes, the order and the kind of op agree
  None   ///< one side alone
};
llvm::StringRef nameOf(Confidence confidence);

/// Products of both sides that are the same, as indices.
struct Match {
  llvm::SmallVector<unsigned, 2> specified, traced;
  Confidence confidence = Confidence::None;
  TracedProduct::Phase phase = TracedProduct::Forward;
  /// Of a gradient or what is run again, the match of its forward product, if
  /// it has one.
  std::optional<unsigned> forward;
};

/// Finds for each product of the specification those of the trace that are it.
/// Nothing is lost: what has no counterpart is a match of its own, of one side.
/// Forward products are aligned in order; gradients follow them by the numbers
/// of autograd, and are aligned where there are none; what is run again follows
/// what it repeats. Matches of the specification come first, in its order.
std::vector<Match> match(llvm::ArrayRef<SpecifiedProduct> specified,
                         llvm::ArrayRef<TracedProduct> traced);

/// The sizes at which most forward products have the FLOP of the trace; those
/// of the specification, where no others have more. `fixed` are not looked
/// for.
Sizes findSizes(const SpecifiedStep &step, const trace::Trace &trace,
                const TracedStep &traced, const Sizes &fixed);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_MATCH_H
