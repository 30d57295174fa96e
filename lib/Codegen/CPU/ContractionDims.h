// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CPU_CONTRACTIONDIMS_H
#define NETC_LIB_CODEGEN_CPU_CONTRACTIONDIMS_H

#include "lib/Codegen/CPU/LoopNest.h"

namespace netc {

/// The operands of a contraction, C[m, n] += A[m, k] B[k, n].
enum ContractionOperand { A, B, C };

/// The loops of a contraction by the operands that they move in. Strides are by
/// ContractionOperand, then by operand of an epilogue.
struct ContractionDims {
  using Loop = LoopNest::Loop;

  /// Classifies the loops of a sum of products. None if neither a loop of n nor
  /// one of k can be vectorized.
  static std::optional<ContractionDims> of(LoopNest nest);

  /// batch advances in A, B and C; m in A and C; n in B and C; k in A and B.
  /// The vectorized loop is the last of its kind.
  llvm::SmallVector<Loop> batch, m, n, k;
  /// Vectors run along n in both A and B: an element-wise product that is
  /// summed.
  bool isElementwise = false;
  /// Vectors run along k: each element of C is a dot product of two rows.
  bool isDot = false;
  /// Vectors run along n in C, but along the last k in B: packing transposes B.
  bool isTransposed = false;
  /// The number of the op's operand that is A, B and C.
  std::array<unsigned, 3> operands = {0, 1, 2};
  /// By ContractionOperand, in elements: its memory from first to last.
  std::array<int64_t, 3> sizes = {};
  /// Where the loops start, in elements: in A, B and C, then in the operands of
  /// an epilogue.
  llvm::SmallVector<int64_t> starts;

  /// The product of the extents.
  static int64_t pointsOf(llvm::ArrayRef<Loop> loops);
  size_t numLoops() const {
    return batch.size() + m.size() + n.size() + k.size();
  }
  int64_t points() const {
    return pointsOf(batch) * pointsOf(m) * pointsOf(n) * pointsOf(k);
  }
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CPU_CONTRACTIONDIMS_H
