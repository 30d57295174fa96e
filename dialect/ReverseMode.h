// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_REVERSEMODE_H
#define NETC_DIALECT_REVERSEMODE_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace netc {

/// The buffer of a dynamic loss scale: the current scale / the initial scale.
constexpr llvm::StringLiteral kLossScaleGrowth = "loss_scale_growth";

/// Facts about the values of a graph that is differentiated, including those in
/// the bodies of loops.
struct DifferentiatedGraph {
  /// Values that depend on a trained parameter and that a seed depends on.
  llvm::DenseSet<mlir::Value> wanted;
  /// Values that depend on an input of the graph.
  llvm::DenseSet<mlir::Value> activations;
  /// The gradients of activations, in the order in which they are built.
  std::vector<mlir::Value> activationGradients;
};

/// Reverse-mode differentiation of one block. Visits the ops from the last to
/// the first and applies each op's rule.
class ReverseMode {
public:
  /// Gradients are built at the position of `builder`.
  ReverseMode(DifferentiatedGraph &graph, mlir::OpBuilder &builder)
      : graph(graph), builder(builder) {}

  bool wants(mlir::Value value) const { return graph.wanted.contains(value); }
  /// The sum of the gradients of `value` so far; null if there are none.
  mlir::Value of(mlir::Value value) const { return gradients.lookup(value); }
  /// Adds to the gradient of `value`, if it is wanted.
  void add(mlir::Value value, mlir::Value gradient);

  /// Fails, with an error on the op, if an op on the way has no gradient.
  mlir::LogicalResult run(mlir::Block &block);

  DifferentiatedGraph &graph;

private:
  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, mlir::Value> gradients;
};

} // namespace netc

#endif // NETC_DIALECT_REVERSEMODE_H
