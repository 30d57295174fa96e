// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_ATTENTION_H
#define NETC_LIB_CODEGEN_CUDA_ATTENTION_H

#include "lib/Codegen/CUDA/AttentionSchedule.h"
#include "lib/Codegen/LoopNest.h"

namespace netc {

/// The attribute of the ops of an attention, which follow each other: a number
/// that is, for the product Q K', which operand is Q; for the product with V,
/// which operand is the weights; and otherwise 0.
constexpr llvm::StringLiteral kAttention = "net.attention";

enum AttentionOperand { Q, K, V, O };

/// What a kernel computes: scores = Q K', elements = f(scores), and product =
/// softmax(elements) V, on memrefs.
struct Attention {
  using Loop = LoopNest::Loop;

  /// From the ops with kAttention, in their order. None if LoopNest::of()
  /// fails.
  static std::optional<Attention> of(llvm::ArrayRef<mlir::Operation *> ops);

  mlir::linalg::GenericOp scores, elements, product;
  /// Loops with their strides by AttentionOperand. Those over axes of the
  /// scores have the axis in `dims`.
  llvm::SmallVector<Loop> batch, rows;
  Loop keys, depth, columns;
  /// By AttentionOperand: the offset of the first element.
  std::array<int64_t, 4> starts;

  unsigned operandOfQ() const;
  unsigned operandOfWeights() const;
  AttentionDims sizes() const;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_ATTENTION_H
