// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How a device computes C[m, n] += A[m, k] B[k, n], as data.

#ifndef NETC_LIB_CODEGEN_CUDA_TILESCHEDULE_H
#define NETC_LIB_CODEGEN_CUDA_TILESCHEDULE_H

#include "lib/Codegen/CUDA/DeviceInfo.h"

#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>

namespace netc {

/// The extents of a contraction, and whether A and B are contiguous along k.
struct TileDims {
  int64_t batch = 1, m, n, k;
  unsigned elementBits = 32;
  bool isAAlongK = false, isBAlongK = false;
};

/// A grid of blocks of threads. Each block computes a tile of bm x bn elements
/// of C, with bk products of each sum at a time.
struct TileGrid {
  TileDims dims;
  int64_t bm, bn, bk;

  int64_t tilesM() const { return (dims.m + bm - 1) / bm; }
  int64_t tilesN() const { return (dims.n + bn - 1) / bn; }
  int64_t blocks() const { return dims.batch * tilesM() * tilesN(); }
  /// The most blocks that a multiprocessor executes one after the other.
  int64_t waves(const DeviceInfo &device) const;
  /// FLOP that all threads execute, including those beyond the edges of C and
  /// the end of the sums.
  int64_t executedFlop() const;
  /// FLOP of the contraction.
  int64_t countedFlop() const {
    return 2 * dims.batch * dims.m * dims.n * dims.k;
  }
  /// Prints the extents and the number of blocks.
  void print(llvm::raw_ostream &os) const;
};

/// A block copies bk columns of A and rows of B to shared memory at a time.
/// Each of its 16 x 16 threads computes every 16th row and column of the tile,
/// in registers.
struct TileSchedule : TileGrid {
  static constexpr int64_t kSide = 16;
  static constexpr int64_t kThreads = kSide * kSide;

  /// Elements from one k to the next in shared memory. If an operand is
  /// contiguous along k, consecutive threads write to different k. One element
  /// of padding then puts them into different banks.
  int64_t strideA() const { return bm + dims.isAAlongK; }
  int64_t strideB() const { return bn + dims.isBAlongK; }
  int64_t sharedBytes() const {
    return bk * (strideA() + strideB()) * dims.elementBits / 8;
  }
};

/// The tiles with the fewest estimated cycles of those that fit the device,
/// from what a block multiplies and reads from shared memory, if each
/// multiprocessor executes one block at a time. None if the contraction is too
/// small for tiles.
std::optional<TileSchedule> scheduleTiles(const TileDims &dims,
                                          const DeviceInfo &device);

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const TileSchedule &schedule);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_TILESCHEDULE_H
