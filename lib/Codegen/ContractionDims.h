// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CONTRACTIONDIMS_H
#define NETC_LIB_CODEGEN_CONTRACTIONDIMS_H

#include "lib/Codegen/LoopNest.h"

namespace netc {

/// The operands of a contraction, C[m, n] += A[m, k] B[k, n].
enum ContractionOperand { A, B, C };

/// The loops of a contraction by the operands that they move in. Strides are by
/// ContractionOperand, then by operand of an epilogue.
struct ContractionDims {
  using Loop = LoopNest::Loop;

  /// Sorts the loops of a sum of products. A is operand 0 of the op, or operand
  /// 1 if `isSwapped`. A parallel loop that moves in neither is one of m.
  static ContractionDims of(const LoopNest &nest, bool isSwapped);

  /// batch advances in A, B and C; m in A and C; n in B and C; k in A and B.
  llvm::SmallVector<Loop> batch, m, n, k;
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

#endif // NETC_LIB_CODEGEN_CONTRACTIONDIMS_H
