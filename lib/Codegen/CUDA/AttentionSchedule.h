// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How a device computes softmax(f(Q K')) V, and the gradients, as data.

#ifndef NETC_LIB_CODEGEN_CUDA_ATTENTIONSCHEDULE_H
#define NETC_LIB_CODEGEN_CUDA_ATTENTIONSCHEDULE_H

#include "lib/Codegen/CUDA/DeviceInfo.h"

#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>

namespace netc {

/// Q[rows, depth], K[keys, depth] and V[keys, columns], `batch` times.
struct AttentionDims {
  int64_t batch = 1, rows, keys, depth, columns;
  /// Which keys a mask hides: none, those after the row's own, or those before.
  enum { None, After, Before } hidden = None;
};

/// The products of a kernel along the depth and along the columns: those that
/// it executes, and those that are counted.
struct AttentionWork {
  int64_t depth, columns, countedDepth, countedColumns;
  /// Registers of a thread for 4 elements along each: 1 for the block's own
  /// rows, and 2 for sums. Registers for 2 elements of a tile.
  int64_t ofDepth, ofColumns, ofTile;

  static AttentionWork results() { return {1, 1, 1, 1, 1, 2, 1}; }
  static AttentionWork queryGradients() { return {2, 1, 2, 1, 3, 1, 2}; }
  /// Computes the scores and dP again.
  static AttentionWork keyGradients() { return {2, 2, 1, 1, 3, 3, 2}; }
};

/// A block computes bm rows of the result, 16 in each warp. It copies bn rows
/// of K and V to a stage in shared memory at a time, and keeps a running
/// maximum and sum of each row (Dao 2023, arXiv:2307.08691). Scores stay in
/// registers.
struct AttentionSchedule {
  static constexpr int64_t kStages = 2;
  /// Elements of 16 bytes, all of 16 bits.
  static constexpr int64_t kChunk = 8;

  AttentionDims dims;
  AttentionWork work;
  int64_t bm, bn;

  int64_t threads() const { return 32 * bm / 16; }
  int64_t blocksOfRows() const { return (dims.rows + bm - 1) / bm; }
  int64_t blocks() const { return dims.batch * blocksOfRows(); }
  int64_t tiles() const { return (dims.keys + bn - 1) / bn; }
  /// The tiles of a block that are not hidden as a whole: those from
  /// firstTile() on, before endOfTiles(). `row` is the block's first.
  int64_t firstTile(int64_t row) const;
  int64_t endOfTiles(int64_t row) const;
  /// The elements of a row that matrix instructions read, zeros included.
  static int64_t padded(int64_t width) { return (width + 15) / 16 * 16; }
  /// The elements from a row to the next in shared memory: an odd number of
  /// chunks, so that eight rows are in different banks.
  static int64_t stride(int64_t width) { return padded(width) + kChunk; }
  int64_t stageElements() const {
    return bn * (stride(dims.depth) + stride(dims.columns));
  }
  /// The block's own rows are in the memory of the stages before the others.
  int64_t sharedElements() const;
  int64_t sharedBytes() const { return 2 * sharedElements(); }
  /// The registers of a thread for fragments.
  int64_t registers() const;
  int64_t executedFlop() const;
  int64_t countedFlop() const;
};

/// None if there are too few rows or keys for matrix instructions, or rows too
/// long for the registers of a thread.
std::optional<AttentionSchedule> scheduleAttention(const AttentionDims &dims,
                                                   const AttentionWork &work,
                                                   const DeviceInfo &device);

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const AttentionSchedule &schedule);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_ATTENTIONSCHEDULE_H
