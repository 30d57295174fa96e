// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_CAUSAL_H
#define NETC_LIB_ANALYSIS_CAUSAL_H

#include "dialect/Net.h"
#include "llvm/ADT/DenseMap.h"

namespace netc {

/// A product of which a causal mask hides points of a square or, of windows, a
/// rectangle of rows and columns.
struct CausalProduct {
  Polynomial rows, columns;
  Polynomial seen; ///< points that are not hidden
};

/// The products of which a causal mask hides what is right of the diagonal, or
/// left of its window: those that read a masked tensor, and those of which only
/// what is not masked is read. Attention has two, the scores and the weighted
/// sum, and their gradients four.
///
/// An op that computes element by element, softmax and dropout leave hidden
/// what is hidden, so do their gradients; an op that moves elements does not.
llvm::DenseMap<mlir::Operation *, CausalProduct>
findCausalProducts(mlir::Operation *graph);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_CAUSAL_H
