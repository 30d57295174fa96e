// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRANSFORMS_DATAFLOW_H
#define NETC_LIB_TRANSFORMS_DATAFLOW_H

#include "mlir/IR/Block.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace netc {

/// The data flow in a block, including the bodies of its loops.
class DataFlow {
public:
  using Values = llvm::DenseSet<mlir::Value>;

  explicit DataFlow(mlir::Block &block);

  /// `roots`, and all values computed from them through floating-point values.
  /// Integers have no gradients.
  Values differentiableFrom(mlir::ValueRange roots) const;
  /// `roots`, and all values computed from them.
  Values computedFrom(mlir::ValueRange roots) const;
  /// `roots`, and all values that they are computed from.
  Values usedFor(mlir::ValueRange roots) const;

private:
  using Edges = llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>>;

  Edges next, previous;
};

} // namespace netc

#endif // NETC_LIB_TRANSFORMS_DATAFLOW_H
