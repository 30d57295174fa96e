// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Into how many parts a sum is cut that too few threads would compute.

#ifndef NETC_LIB_CODEGEN_CUDA_SUMSCHEDULE_H
#define NETC_LIB_CODEGEN_CUDA_SUMSCHEDULE_H

#include "lib/Codegen/CUDA/TileSchedule.h"

namespace netc {

/// What one result of a reduction is computed by.
enum class SumKind {
  Product, ///< a tile of a product
  Row,     ///< a warp: what is summed up lies side by side
  Column   ///< a thread: results lie side by side
};

struct SumDims {
  SumKind kind;
  /// Results that are computed at once: tiles, rows or columns.
  int64_t units;
  /// How many numbers are summed up for each.
  int64_t depth;
};

/// How many parts give all multiprocessors work, and are long enough for what
/// is written and read again to be little beside the sum itself; 1: none.
int64_t partsOf(const SumDims &dims, const DeviceInfo &device);
/// The number of parts near `wanted` that all are equally long.
int64_t equalParts(int64_t extent, int64_t wanted);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_SUMSCHEDULE_H
