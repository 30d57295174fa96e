// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CPU_VECTORIZEDDIMS_H
#define NETC_LIB_CODEGEN_CPU_VECTORIZEDDIMS_H

#include "lib/Codegen/ContractionDims.h"

namespace netc {

/// The loops of a contraction that is computed by vectors. The vectorized loop
/// is the last of its kind.
struct VectorizedDims : ContractionDims {
  /// Classifies the loops of a sum of products. None if neither a loop of n nor
  /// one of k can be vectorized.
  static std::optional<VectorizedDims> of(LoopNest nest);

  VectorizedDims() = default;
  VectorizedDims(ContractionDims dims) : ContractionDims(std::move(dims)) {}

  /// Vectors run along n in both A and B: an element-wise product that is
  /// summed.
  bool isElementwise = false;
  /// Vectors run along k: each element of C is a dot product of two rows.
  bool isDot = false;
  /// Vectors run along n in C, but along the last k in B: packing transposes B.
  bool isTransposed = false;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CPU_VECTORIZEDDIMS_H
