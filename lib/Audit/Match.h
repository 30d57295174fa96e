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
  Order, ///< the order and the kind of op agree, not the sizes
  None   ///< only on one side
};
llvm::StringRef nameOf(Confidence confidence);

/// The same products on both sides, as indices.
struct Match {
  llvm::SmallVector<unsigned, 2> specified, traced;
  Confidence confidence = Confidence::None;
  TracedProduct::Phase phase = TracedProduct::Forward;
  /// For a gradient or a recomputed product: the match of its forward product,
  /// if there is one.
  std::optional<unsigned> forward;
};

/// How many gradients a node of autograd has at most of one product: more are
/// those of a compiled function, which is a single node.
constexpr unsigned kMostGradients = 2;

/// Finds the products of the trace for each product of the specification. A
/// product without a counterpart is a match of its own. Forward products are
/// aligned in order. Gradients are matched by the sequence numbers of autograd,
/// or aligned without them. Recomputed products are matched with those that
/// they repeat. Matches of the specification come first, in its order.
std::vector<Match> match(llvm::ArrayRef<SpecifiedProduct> specified,
                         llvm::ArrayRef<TracedProduct> traced);

/// Where the passes forward and backward of a step begin, as indices of its
/// products: there are several if gradients of micro-batches are added up. A
/// single 0 where they are not alike, and in a program of netc, whose names
/// tell which product each part of the batch is of.
std::vector<size_t> microBatchesOf(llvm::ArrayRef<TracedProduct> traced);

/// The sizes for which most forward products have the FLOP of the trace. Those
/// of the specification are preferred. Sizes in `fixed` are kept.
Sizes findSizes(const SpecifiedStep &step, const trace::Trace &trace,
                const TracedStep &traced, const Sizes &fixed);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_MATCH_H
