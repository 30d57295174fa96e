// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_CAUSAL_H
#define NETC_LIB_ANALYSIS_CAUSAL_H

#include "dialect/Net.h"
#include "llvm/ADT/DenseMap.h"

namespace netc {

/// The products of which a causal mask hides all points above the diagonal of
/// an L x L square, each with its L: those that read a masked tensor, and those
/// of which only what is not masked is read. Attention has two, the scores and
/// the weighted sum, and their gradients four.
///
/// An op that computes element by element, softmax and dropout leave hidden
/// what is hidden, so do their gradients; an op that moves elements does not.
llvm::DenseMap<mlir::Operation *, Polynomial>
findCausalProducts(mlir::Operation *graph);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_CAUSAL_H
