// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How a device computes C[m, n] += A[m, k] B[k, n], as data.

#ifndef NETC_LIB_CODEGEN_CUDA_TILESCHEDULE_H
#define NETC_LIB_CODEGEN_CUDA_TILESCHEDULE_H

#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>

namespace netc {

/// The limits of a device that decide about tiles. The defaults are those of
/// the smallest device that code is emitted for.
struct DeviceInfo {
  int64_t multiprocessors = 108;
  /// Shared memory that a block has without opting in to more, in bytes.
  int64_t sharedBytes = 48 << 10;
  /// Per multiprocessor and cycle: multiply-adds of f32, and 4-byte words read
  /// from shared memory.
  int64_t multiplyAdds = 128, sharedWords = 32;
};

/// Extents of a contraction, and whether A and B are contiguous along k rather
/// than along m and n.
struct TileDims {
  int64_t batch = 1, m, n, k;
  unsigned elementBits = 32;
  bool isAAlongK = false, isBAlongK = false;
};

/// A block computes a tile of bm x bn elements of C. It copies bm x bk elements
/// of A and bk x bn of B to shared memory at a time. Each of its 16 x 16
/// threads keeps every 16th row and column of the tile in registers.
struct TileSchedule {
  static constexpr int64_t kSide = 16;
  static constexpr int64_t kThreads = kSide * kSide;

  TileDims dims;
  int64_t bm, bn, bk;

  int64_t tilesM() const { return (dims.m + bm - 1) / bm; }
  int64_t tilesN() const { return (dims.n + bn - 1) / bn; }
  int64_t blocks() const { return dims.batch * tilesM() * tilesN(); }
  /// The stride of k in shared memory, in elements. It is padded by one where
  /// consecutive threads write along k, to avoid bank conflicts.
  int64_t strideA() const { return bm + dims.isAAlongK; }
  int64_t strideB() const { return bn + dims.isBAlongK; }
  int64_t sharedBytes() const {
    return bk * (strideA() + strideB()) * dims.elementBits / 8;
  }
  /// FLOP that all threads execute, including those on padding of m, n and k.
  int64_t executedFlop() const;
  int64_t countedFlop() const {
    return 2 * dims.batch * dims.m * dims.n * dims.k;
  }
};

/// The tile that fits in shared memory and takes the fewest cycles, the maximum
/// of those for arithmetic and for reads of shared memory, in waves of one
/// block per multiprocessor. None if m, n or k is too small for tiles.
std::optional<TileSchedule> scheduleTiles(const TileDims &dims,
                                          const DeviceInfo &device);

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const TileSchedule &schedule);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_TILESCHEDULE_H
