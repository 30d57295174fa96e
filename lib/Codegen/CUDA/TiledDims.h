// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_TILEDDIMS_H
#define NETC_LIB_CODEGEN_CUDA_TILEDDIMS_H

#include "lib/Codegen/CUDA/TileSchedule.h"
#include "lib/Codegen/ContractionDims.h"

namespace netc {

/// The loops of a contraction that is computed by tiles, sorted by stride,
/// largest first. All loops of m are counted as one, and so are those of n, k
/// and batch; ProductBuilder::placeIn() computes the offset.
struct TiledDims : ContractionDims {
  /// None if the op is no contraction, if a loop advances in neither A nor B,
  /// or if LoopNest::of() fails.
  /// None, too, if an epilogue does not let loops be collapsed that can be
  /// without it.
  static std::optional<TiledDims> of(mlir::linalg::LinalgOp op,
                                     mlir::linalg::GenericOp epilogue = {});

  TiledDims(ContractionDims dims) : ContractionDims(std::move(dims)) {}

  TileDims tile;

  /// The loops of m for A, those of n for B.
  llvm::ArrayRef<Loop> sideOf(ContractionOperand operand) const {
    return operand == A ? m : n;
  }
  int64_t extentOf(ContractionOperand operand) const {
    return operand == A ? tile.m : tile.n;
  }
  bool isAlongK(ContractionOperand operand) const {
    return operand == A ? tile.isAAlongK : tile.isBAlongK;
  }
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_TILEDDIMS_H
