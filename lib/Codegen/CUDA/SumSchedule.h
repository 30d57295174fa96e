// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Decides into how many parts a reduction with few results is split.

#ifndef NETC_LIB_CODEGEN_CUDA_SUMSCHEDULE_H
#define NETC_LIB_CODEGEN_CUDA_SUMSCHEDULE_H

#include "lib/Codegen/CUDA/TileSchedule.h"

namespace netc {

/// What computes a result of a reduction.
enum class SumKind {
  Product, ///< a block, which computes a tile of a product
  Row,     ///< a warp, since the values to reduce are contiguous
  Columns, ///< a block, for several results that are contiguous
  Column   ///< a thread
};

struct SumDims {
  SumKind kind;
  /// The number of results that are computed in parallel: tiles, rows, blocks
  /// of columns, or columns.
  int64_t units;
  /// The number of values that are reduced for each.
  int64_t depth;
};

/// The number of parts that gives all multiprocessors work, or fewer if parts
/// would be so short that partial results cost more than splitting saves. 1
/// means not to split.
int64_t partsOf(const SumDims &dims, const DeviceInfo &device);
/// The fewest products of a sum that a part adds up.
constexpr int64_t kLeastProducts = 256;
/// The largest number of equal parts of `extent` that is at most `wanted`.
int64_t equalParts(int64_t extent, int64_t wanted);

/// A reduction whose results are `units` times `extent` contiguous columns.
struct ColumnDims {
  int64_t units, extent;
  /// The number of values that are reduced for each result.
  int64_t depth;
};

/// How a block reduces columns: each of `lanes` threads accesses `width`
/// columns of a row, and the block `rows` rows at once.
struct ColumnSchedule {
  int64_t columns() const { return lanes * width; }
  int64_t threads() const { return lanes * rows; }
  int64_t blocksOf(const ColumnDims &dims) const;

  int64_t width, lanes, rows;
};

/// The fewest rows that a block reduces.
constexpr int64_t kLeastRows = 4;
/// The schedule whose accesses are the longest, for threads that access `width`
/// columns.
ColumnSchedule longestRuns(const ColumnDims &dims, int64_t width);
/// The same, with shorter accesses where that gives all multiprocessors work.
ColumnSchedule scheduleColumns(const ColumnDims &dims, int64_t width,
                               const DeviceInfo &device);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_SUMSCHEDULE_H
