// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How a device computes C[m, n] += A[m, k] B[k, n] by matrix instructions, as
// data: A and B are of 16 bits, C is f32.

#ifndef NETC_LIB_CODEGEN_CUDA_MATRIXSCHEDULE_H
#define NETC_LIB_CODEGEN_CUDA_MATRIXSCHEDULE_H

#include "lib/Codegen/CUDA/TileSchedule.h"

namespace netc {

/// A block computes a tile of bm x bn elements. Parts of bk columns of A and
/// rows of B go to shared memory, `stages` of them at once: while the warps
/// compute with one, the copies of others are on their way. The warps of a
/// block are a grid over the tile; each keeps its part in registers, as
/// fragments of 16 x 8.
struct MatrixSchedule : TileGrid {
  static constexpr int64_t kFragmentM = 16, kFragmentN = 8, kFragmentK = 16;
  /// Elements that a thread copies at once, if they lie together.
  static constexpr int64_t kChunk = 8;

  int64_t warpsM, warpsN;
  int64_t stages;
  /// Whether chunks of A and B can be copied as a whole, asynchronously.
  bool copiesA, copiesB;

  int64_t threads() const { return 32 * warpsM * warpsN; }
  /// Of a warp.
  int64_t rows() const { return bm / warpsM; }
  int64_t columns() const { return bn / warpsN; }
  int64_t stageElements() const { return (bm + bn) * bk; }
  int64_t sharedBytes() const { return 2 * stages * stageElements(); }
};

/// Of the tiles that fit the device, that which takes the fewest cycles. None
/// where there are too few products for a fragment.
std::optional<MatrixSchedule> scheduleMatrix(const TileDims &dims, bool copiesA,
                                             bool copiesB,
                                             const DeviceInfo &device);

/// A row of shared memory holds chunks of 16 bytes. Where the one with this
/// number is in its row, so that eight chunks of one number, of rows that
/// follow each other, are in different banks: its number xor'ed with
/// (row >> shift) & mask.
struct Swizzle {
  static Swizzle of(int64_t chunksOfRow);
  int64_t shift, mask;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const MatrixSchedule &schedule);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_MATRIXSCHEDULE_H
