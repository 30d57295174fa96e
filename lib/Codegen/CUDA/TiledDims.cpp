// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/TiledDims.h"

#include "lib/Codegen/LinalgQueries.h"

using namespace netc;
using namespace mlir;

using Loop = LoopNest::Loop;

/// Sorts loops by their stride in an operand, largest first.
static void sortLoops(SmallVectorImpl<Loop> &loops,
                      ContractionOperand operand) {
  llvm::stable_sort(loops, [=](const Loop &a, const Loop &b) {
    return std::abs(a.strides[operand]) > std::abs(b.strides[operand]);
  });
}

static bool isDense(ArrayRef<Loop> loops, ContractionOperand operand) {
  return !loops.empty() && loops.back().strides[operand] == 1;
}

/// Whether the columns of the result, along which it is contiguous, are those
/// of operand 0.
static bool hasColumnsFirst(const LoopNest &nest) {
  return llvm::any_of(nest.loops, [](const Loop &loop) {
    return loop.isParallel && loop.strides[C] == 1 && loop.strides[A] != 0 &&
           loop.strides[B] == 0;
  });
}

std::optional<TiledDims> TiledDims::of(linalg::LinalgOp op,
                                       linalg::GenericOp epilogue) {
  auto nest = LoopNest::of(op, epilogue);
  if (!isContraction(op) || !nest || nest->scatters(2))
    return std::nullopt;
  nest->collapse();
  if (epilogue) {
    auto alone = LoopNest::of(op);
    alone->collapse();
    if (alone->loops.size() != nest->loops.size())
      return std::nullopt;
  }
  TiledDims dims = ContractionDims::of(*nest, hasColumnsFirst(*nest));
  if (llvm::any_of(dims.m,
                   [](const Loop &loop) { return loop.strides[A] == 0; }))
    return std::nullopt;
  sortLoops(dims.n, C);
  sortLoops(dims.m, A);
  sortLoops(dims.k, B);
  if (isDense(dims.n, B) || !isDense(dims.k, B))
    sortLoops(dims.k, A);
  dims.tile = {pointsOf(dims.batch), pointsOf(dims.m), pointsOf(dims.n),
               pointsOf(dims.k)};
  dims.tile.elementBits =
      getElementTypeOrSelf(op.getDpsInits()[0]).getIntOrFloatBitWidth();
  dims.tile.isAAlongK = isDense(dims.k, A) || !isDense(dims.m, A);
  dims.tile.isBAlongK = isDense(dims.k, B) && !isDense(dims.n, B);
  return dims;
}
