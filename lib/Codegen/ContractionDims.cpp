// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/ContractionDims.h"

using namespace netc;
using namespace mlir;

int64_t ContractionDims::pointsOf(ArrayRef<Loop> loops) {
  int64_t points = 1;
  for (const Loop &loop : loops)
    points *= loop.extent;
  return points;
}

ContractionDims ContractionDims::of(const LoopNest &nest, bool isSwapped) {
  ContractionDims dims;
  if (isSwapped)
    dims.operands = {1, 0, 2};
  dims.starts.assign(nest.starts.begin(), nest.starts.end());
  if (isSwapped)
    std::swap(dims.starts[A], dims.starts[B]);
  for (unsigned operand : {A, B, C})
    dims.sizes[operand] = nest.sizes[dims.operands[operand]];
  for (Loop loop : nest.loops) {
    if (isSwapped)
      std::swap(loop.strides[A], loop.strides[B]);
    bool a = loop.strides[A] != 0, b = loop.strides[B] != 0;
    if (!loop.isParallel)
      dims.k.push_back(loop);
    else if (a && b)
      dims.batch.push_back(loop);
    else if (b)
      dims.n.push_back(loop);
    else
      dims.m.push_back(loop);
  }
  return dims;
}
