// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_ATTENTION_H
#define NETC_LIB_CODEGEN_CUDA_ATTENTION_H

#include "lib/Codegen/CUDA/AttentionSchedule.h"
#include "lib/Codegen/LoopNest.h"

namespace netc {

/// The attribute of the ops that a kernel of attention consists of, which
/// follow each other: the name of an AttentionRole, "start" of a fill, or
/// kRoundedResult of an op that rounds a result.
constexpr llvm::StringLiteral kAttention = "net.attention";
constexpr llvm::StringLiteral kRoundedResult = "rounded_result";

/// What an op computes, S for short being the scores:
///   S = Q K', X = f(S), P = softmax(X) and O = P V, and for the gradients
///   dP = dO V', dS = g(P, dP, D) with D = the sums of P dP along rows,
///   dV = P' dO, dQ = dS K and dK = dS' Q.
/// Operands are in the order of the comments.
enum class AttentionRole {
  Scores,          ///< Q, K
  Elements,        ///< any element-wise op that reads S
  Largest,         ///< of a row of X
  Exponentials,    ///< X, Largest
  Sums,            ///< of a row of Exponentials
  Weights,         ///< Exponentials, Sums
  Rounded,         ///< Weights
  Results,         ///< P, V
  WeightGradients, ///< dO, V
  RoundedGradients,
  Corrections,    ///< D
  ScoreGradients, ///< any element-wise op that reads P, dP and D
  ValueGradients, ///< P, dO
  QueryGradients, ///< dS, K
  KeyGradients    ///< dS, Q
};
constexpr size_t kAttentionRoles = 15;

llvm::StringRef nameOf(AttentionRole role);
/// Whether ops of a role compute results of their kernel by a product.
bool isResult(AttentionRole role);
/// The role of an op; none if it has none.
std::optional<AttentionRole> attentionRoleOf(mlir::Operation *op);

/// The tensors that kernels of attention access.
enum AttentionOperand { Q, K, V, O, DQ, DK, DV, DO, Maximum, Sum };
constexpr size_t kAttentionOperands = 10;

/// The ops of a kernel, on memrefs, and the loops over its operands.
struct Attention {
  using Loop = LoopNest::Loop;

  /// From the ops with kAttention, in their order. None if LoopNest::of()
  /// fails.
  static std::optional<Attention> of(llvm::ArrayRef<mlir::Operation *> ops);

  mlir::linalg::GenericOp op(AttentionRole role) const {
    return ops[size_t(role)];
  }
  /// The memref that an op writes.
  mlir::Value resultOf(AttentionRole role) const {
    return op(role).getDpsInits()[0];
  }
  AttentionDims sizes() const;
  /// Whether the kernel computes gradients for keys and values. Then its blocks
  /// share out the keys, and go through the rows.
  bool isOfKeys() const { return bool(op(AttentionRole::KeyGradients)); }
  AttentionWork work() const;
  /// Whether a comparison in the payload of an op with the axes of the scores
  /// holds for keys after the row's own.
  bool isOfLaterKeys(mlir::arith::CmpIOp compare) const;

  std::array<mlir::linalg::GenericOp, kAttentionRoles> ops;
  llvm::SmallVector<mlir::linalg::GenericOp> roundings; ///< of results
  /// Loops with their strides by AttentionOperand. Those over axes of the
  /// scores have the axis in `dims`.
  llvm::SmallVector<Loop> batch, rows, keys;
  Loop depth, columns;
  /// By AttentionOperand: the memref, and the offset of its first element.
  std::array<mlir::Value, kAttentionOperands> memory;
  std::array<int64_t, kAttentionOperands> starts = {};

private:
  bool add(AttentionRole role, llvm::MutableArrayRef<Loop> axes);
  bool isCausal() const;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_ATTENTION_H
