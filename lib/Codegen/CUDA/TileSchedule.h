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

/// Extents of a product, and what its operands have next to each other.
struct TileDims {
  int64_t batch = 1, m, n, k;
  unsigned elementBits = 32;
  bool isAAlongK = false, isBAlongK = false;
};

/// Blocks of threads, each of which computes a tile of bm x bn elements of a
/// product, bk terms of the sums at a time.
struct TileGrid {
  TileDims dims;
  int64_t bm, bn, bk;

  int64_t tilesM() const { return (dims.m + bm - 1) / bm; }
  int64_t tilesN() const { return (dims.n + bn - 1) / bn; }
  int64_t blocks() const { return dims.batch * tilesM() * tilesN(); }
  /// How many blocks a multiprocessor computes one after the other, at most.
  int64_t waves(const DeviceInfo &device) const;
  /// Products and sums that all threads execute, those outside of C and of the
  /// sums too.
  int64_t executedFlop() const;
  int64_t countedFlop() const {
    return 2 * dims.batch * dims.m * dims.n * dims.k;
  }
  /// Prints the extents and the number of blocks.
  void print(llvm::raw_ostream &os) const;
};

/// A block copies bk columns of A and rows of B to shared memory at a time.
/// Each of its 16 x 16 threads keeps every 16th row and column of the tile in
/// registers.
struct TileSchedule : TileGrid {
  static constexpr int64_t kSide = 16;
  static constexpr int64_t kThreads = kSide * kSide;

  /// Elements from one k to the next in shared memory. A row more where threads
  /// that follow each other write several k: else they met in a bank.
  int64_t strideA() const { return bm + dims.isAAlongK; }
  int64_t strideB() const { return bn + dims.isBAlongK; }
  int64_t sharedBytes() const {
    return bk * (strideA() + strideB()) * dims.elementBits / 8;
  }
};

/// Of the tiles that fit the device, that which takes the fewest cycles by what
/// it computes and reads of shared memory, when as many blocks as there are
/// multiprocessors go at once. None where products are too few for tiles.
std::optional<TileSchedule> scheduleTiles(const TileDims &dims,
                                          const DeviceInfo &device);

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const TileSchedule &schedule);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_TILESCHEDULE_H
