// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRANSFORMS_DATAFLOW_H
#define NETC_LIB_TRANSFORMS_DATAFLOW_H

#include "mlir/IR/Block.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <vector>

namespace netc {

/// The data flow in ops of a block, including the bodies of their loops.
class DataFlow {
public:
  using Values = llvm::DenseSet<mlir::Value>;

  explicit DataFlow(llvm::iterator_range<mlir::Block::iterator> ops);

  /// `roots`, and all values computed from them through floating-point values.
  /// Integers have no gradients.
  Values differentiableFrom(mlir::ValueRange roots) const;
  /// `roots`, and all values computed from them.
  Values computedFrom(mlir::ValueRange roots) const;
  /// `roots`, and all values that they are computed from.
  Values usedFor(mlir::ValueRange roots) const;

private:
  /// The successors of value i are `to[begin[i]]` up to `to[begin[i + 1]]`.
  struct Edges {
    std::vector<unsigned> begin, to;
  };
  using Flow = std::pair<unsigned, unsigned>; ///< from one value to another

  /// The edges of `flows`, from the element `from` of each to the other one.
  Edges edgesOf(llvm::ArrayRef<Flow> flows, unsigned Flow::*from,
                unsigned Flow::*to) const;
  /// `roots`, and what is reachable from them over `edges` through `passable`
  /// values.
  Values reach(mlir::ValueRange roots, const Edges &edges,
               bool (*passable)(mlir::Value)) const;

  std::vector<mlir::Value> values; ///< those that the data flows through
  llvm::DenseMap<mlir::Value, unsigned> numbers; ///< indices in `values`
  Edges next, previous;
};

} // namespace netc

#endif // NETC_LIB_TRANSFORMS_DATAFLOW_H
