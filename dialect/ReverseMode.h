// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_REVERSEMODE_H
#define NETC_DIALECT_REVERSEMODE_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace netc {

/// The buffer that a dynamic loss scale keeps: the scale over what it started
/// as.
constexpr llvm::StringLiteral kLossScaleGrowth = "loss_scale_growth";

/// What is known of the values of a graph that is differentiated, in the bodies
/// of its loops too.
struct DifferentiatedGraph {
  /// Values that depend on a trained parameter, and that the seeds depend on.
  llvm::DenseSet<mlir::Value> wanted;
  /// Values that depend on an input of the graph.
  llvm::DenseSet<mlir::Value> activations;
  /// The gradients of activations, as they are built.
  std::vector<mlir::Value> activationGradients;
};

/// Reverse-mode differentiation of one block: carries gradients from the last
/// op to the first, each by the op's own rule.
class ReverseMode {
public:
  /// Gradients are built where `builder` stands.
  ReverseMode(DifferentiatedGraph &graph, mlir::OpBuilder &builder)
      : graph(graph), builder(builder) {}

  bool wants(mlir::Value value) const { return graph.wanted.contains(value); }
  /// The sum of what was added to the gradient of `value`; null if nothing was.
  mlir::Value of(mlir::Value value) const { return gradients.lookup(value); }
  /// Adds to the gradient of `value`, if that is wanted.
  void add(mlir::Value value, mlir::Value gradient);

  /// Fails, with an error on the op, if one has no gradient.
  mlir::LogicalResult run(mlir::Block &block);

  DifferentiatedGraph &graph;

private:
  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, mlir::Value> gradients;
};

} // namespace netc

#endif // NETC_DIALECT_REVERSEMODE_H
