// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CPU/VectorizedDims.h"

using namespace netc;
using namespace mlir;

using Loop = LoopNest::Loop;

/// Least number of rows of C for which transposing B while packing it pays.
static constexpr int64_t kMinTransposeRows = 48;
/// Shorter loops are not vectorized.
static constexpr int64_t kMinVectorExtent = 8;

/// Sorts parallel loops by their stride in C, and reduction loops by their
/// strides in A and B, largest first.
static void sortLoops(LoopNest &nest) {
  llvm::stable_sort(nest.loops, [](const Loop &a, const Loop &b) {
    if (a.isParallel != b.isParallel)
      return a.isParallel;
    if (a.isParallel)
      return a.strides[C] > b.strides[C];
    auto step = [](const Loop &sum) {
      return std::abs(sum.strides[A]) + std::abs(sum.strides[B]);
    };
    return step(a) > step(b);
  });
}

/// Moves a loop to the end, as the vectorized one.
static void makeLast(SmallVectorImpl<Loop> &loops, const Loop *loop) {
  auto *first = loops.begin() + (loop - loops.begin());
  std::rotate(first, first + 1, loops.end());
}

std::optional<VectorizedDims> VectorizedDims::of(LoopNest nest) {
  nest.collapse();
  sortLoops(nest);

  // Try either operand as B, and prefer longer vectors.
  std::optional<VectorizedDims> found;
  int64_t longest = 0;
  for (bool swap : {false, true}) {
    VectorizedDims dims = ContractionDims::of(nest, swap);
    const Loop *best = nullptr;
    for (const Loop &loop : dims.n)
      if (loop.strides[B] == 1 && loop.strides[C] == 1 &&
          (!best || loop.extent > best->extent))
        best = &loop;
    if (!best || best->extent <= longest)
      continue;
    longest = best->extent;
    makeLast(dims.n, best);
    found = dims;
  }
  if (found && longest >= kMinVectorExtent)
    return found;
  // A depthwise convolution: a batch loop that is contiguous in A, B and C is
  // vectorized.
  VectorizedDims dims = ContractionDims::of(nest, false);
  if (!dims.n.empty())
    dims = ContractionDims::of(nest, true);
  for (const Loop &loop : dims.batch)
    if (dims.n.empty() &&
        llvm::all_of(loop.strides, [](int64_t s) { return s == 1; }) &&
        loop.extent > longest) {
      dims.n.push_back(loop);
      dims.isElementwise = true;
      dims.batch.erase(&loop);
      return dims;
    }
  // n is contiguous in C, but B is contiguous along k.
  for (bool swap : {false, true}) {
    dims = ContractionDims::of(nest, swap);
    const Loop *column = llvm::find_if(dims.n, [](const Loop &loop) {
      return loop.strides[C] == 1 && loop.extent >= kMinVectorExtent;
    });
    const Loop *sum = llvm::find_if(dims.k, [](const Loop &loop) {
      return loop.strides[B] == 1 && loop.extent >= kMinVectorExtent;
    });
    if (pointsOf(dims.m) < kMinTransposeRows || column == dims.n.end() ||
        sum == dims.k.end())
      continue;
    makeLast(dims.n, column);
    makeLast(dims.k, sum);
    dims.isTransposed = true;
    return dims;
  }
  // If both operands are contiguous along k, compute dot products.
  dims = ContractionDims::of(nest, false);
  if (!dims.n.empty())
    dims = ContractionDims::of(nest, true);
  for (const Loop &loop : dims.k)
    if (loop.strides[A] == 1 && loop.strides[B] == 1 &&
        loop.extent >= kMinVectorExtent) {
      makeLast(dims.k, &loop);
      dims.isDot = true;
      return dims;
    }
  return found;
}
