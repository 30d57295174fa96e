// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CPU/ContractionDims.h"

using namespace netc;
using namespace mlir;

using Loop = LoopNest::Loop;

/// Number of rows of C from which on transposing B while packing it pays.
static constexpr int64_t kMinTransposeRows = 48;
/// Shorter loops are not vectorized.
static constexpr int64_t kMinVectorExtent = 8;

int64_t ContractionDims::pointsOf(ArrayRef<Loop> loops) {
  int64_t points = 1;
  for (const Loop &loop : loops)
    points *= loop.extent;
  return points;
}

/// Sorts loops by the operands that they advance in. A is operand 0 of the op,
/// or operand 1 if `isSwapped`.
static ContractionDims classify(const LoopNest &nest, bool isSwapped) {
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

/// Sorts parallel loops by their strides in C, and reduction loops by their
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

/// Moves the vectorized loop to the end.
static void makeLast(SmallVectorImpl<Loop> &loops, const Loop *loop) {
  auto *first = loops.begin() + (loop - loops.begin());
  std::rotate(first, first + 1, loops.end());
}

std::optional<ContractionDims> ContractionDims::of(LoopNest nest) {
  nest.collapse();
  sortLoops(nest);

  // Try either operand as B, and prefer the longer vectors.
  std::optional<ContractionDims> found;
  int64_t longest = 0;
  for (bool swap : {false, true}) {
    ContractionDims dims = classify(nest, swap);
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
  // Depthwise convolution: a batch loop that is contiguous in A, B and C is
  // vectorized.
  ContractionDims dims = classify(nest, false);
  if (!dims.n.empty())
    dims = classify(nest, true);
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
    dims = classify(nest, swap);
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
  // Both operands are contiguous along k: dot products.
  dims = classify(nest, false);
  if (!dims.n.empty())
    dims = classify(nest, true);
  for (const Loop &loop : dims.k)
    if (loop.strides[A] == 1 && loop.strides[B] == 1 &&
        loop.extent >= kMinVectorExtent) {
      makeLast(dims.k, &loop);
      dims.isDot = true;
      return dims;
    }
  return found;
}
