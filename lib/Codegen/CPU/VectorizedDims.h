// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CPU_VECTORIZEDDIMS_H
#define NETC_LIB_CODEGEN_CPU_VECTORIZEDDIMS_H

#include "lib/Codegen/ContractionDims.h"

namespace netc {

/// The loops of a contraction that is computed with vectors. The vectorized
/// loop is the last one of n, or of k for dot products.
struct VectorizedDims : ContractionDims {
  /// Sorts the loops of a contraction. None if neither a loop of n nor one of k
  /// can be vectorized.
  static std::optional<VectorizedDims> of(LoopNest nest);

  VectorizedDims() = default;
  VectorizedDims(ContractionDims dims) : ContractionDims(std::move(dims)) {}

  /// Vectors run along n in both A and B: a sum of element-wise products.
  bool isElementwise = false;
  /// Vectors run along k: each element of C is a dot product.
  bool isDot = false;
  /// Vectors run along n in C, but B is contiguous along k: packing transposes
  /// B.
  bool isTransposed = false;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CPU_VECTORIZEDDIMS_H
