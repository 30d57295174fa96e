// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_CAUSAL_H
#define NETC_LIB_ANALYSIS_CAUSAL_H

#include "dialect/Net.h"
#include "llvm/ADT/DenseMap.h"

namespace netc {

/// A product of which a causal mask hides points. The points are a square, or a
/// rectangle of rows and columns if the mask has a window.
struct CausalProduct {
  Polynomial rows, columns;
  Polynomial seen; ///< points that are not hidden
};

/// The products with points that a causal mask hides, right of the diagonal or
/// left of its window: products that read a masked tensor, and those whose
/// result is only read through a mask. Attention has two, the scores and the
/// weighted sum, and four of their gradients.
///
/// Element-wise ops, softmax and dropout pass masks on, as do their gradients.
/// Ops that move elements do not.
llvm::DenseMap<mlir::Operation *, CausalProduct>
findCausalProducts(mlir::Operation *graph);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_CAUSAL_H
