// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CONTRACTIONROLES_H
#define NETC_LIB_CODEGEN_CONTRACTIONROLES_H

#include "lib/Codegen/LoopNest.h"

namespace netc {

/// The operands of a sum of products, C[m, n] += A[m, k] B[k, n].
enum ContractionOperand { A, B, C };

/// The loops of a sum of products by what they move. Strides are by
/// ContractionOperand.
struct Roles {
  /// Sorts the loops of `nest`; none if neither columns nor sums can be
  /// vectors.
  static std::optional<Roles> of(const LoopNest &nest);

  /// The loop of the vectors is last.
  llvm::SmallVector<LoopNest::Loop> batches, rows, columns, sums;
  /// Columns are vectors in A and B alike: an element-wise product, summed.
  bool isElementwise = false;
  /// Vectors run along a sum: rows and columns are products of vectors.
  bool isDot = false;
  /// Columns are vectors in C, but in B the last sum is: copies of B are
  /// transposed.
  bool isTransposed = false;
  /// A is the second operand of the op.
  bool isSwapped = false;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CONTRACTIONROLES_H
