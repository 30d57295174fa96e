// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CONTRACTIONDIMS_H
#define NETC_LIB_CODEGEN_CONTRACTIONDIMS_H

#include "lib/Codegen/LoopNest.h"

namespace netc {

/// The operands of a contraction, C[m, n] += A[m, k] B[k, n], with any number
/// of loops for each of m, n and k, and batch loops around them.
enum ContractionOperand { A, B, C };

/// The loops of a contraction, sorted by the operands whose address they
/// advance. Strides are indexed by ContractionOperand, then by the operands of
/// an epilogue.
struct ContractionDims {
  using Loop = LoopNest::Loop;

  /// Sorts the loops of an op for which isContraction() holds. A is operand 0
  /// of the op, or operand 1 if `isSwapped`. A parallel loop with stride 0 in
  /// both A and B belongs to m.
  static ContractionDims of(const LoopNest &nest, bool isSwapped);

  /// Parallel loops that advance both A and B (batch), A or neither (m), or B
  /// (n), and the reduction loops (k).
  llvm::SmallVector<Loop> batch, m, n, k;
  /// The numbers of the op's operands that are A, B and C.
  std::array<unsigned, 3> operands = {0, 1, 2};
  /// By ContractionOperand: the elements from the first to the last in memory,
  /// both included.
  std::array<int64_t, 3> sizes = {};
  /// The offset of the first access, in elements: in A, B and C, then in the
  /// operands of an epilogue.
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

#endif // NETC_LIB_CODEGEN_CONTRACTIONDIMS_H
