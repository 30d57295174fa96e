// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How a device computes C[m, n] += A[m, k] B[k, n] by matrix instructions, as
// data. A and B are bf16, f16 or tf32, and C is f32.

#ifndef NETC_LIB_CODEGEN_CUDA_MATRIXSCHEDULE_H
#define NETC_LIB_CODEGEN_CUDA_MATRIXSCHEDULE_H

#include "lib/Codegen/CUDA/TileSchedule.h"

namespace netc {

/// What multiplies: `mma.sync`, by a warp from registers, or `wgmma`, by a
/// warpgroup of four warps from shared memory.
enum class MatrixInstruction { Mma, Wgmma };

/// A block computes a tile of bm x bn elements. It copies bk columns of A and
/// rows of B to a stage in shared memory. There are several stages: while the
/// warps compute from one, others are copied. The warps of a block form a grid
/// over the tile, and each keeps its part of the tile in registers, as
/// fragments of 16 x 8. A warpgroup computes 64 rows and all columns of the
/// tile.
struct MatrixSchedule : TileGrid {
  static constexpr int64_t kFragmentM = 16, kFragmentN = 8;
  /// What a thread copies at once if it is contiguous.
  static constexpr int64_t kChunkBytes = 16;
  /// The rows of a warpgroup, and the elements of 16 bits of a row in shared
  /// memory that it reads: 128 bytes.
  static constexpr int64_t kGroupRows = 64, kGroupElements = 64,
                           kGroupElementBytes = 2;

  /// The fewest stages that warpgroups refill: one is read while another one is
  /// copied, and the last one may still be read. Fewer steps have one each.
  static constexpr int64_t kFewestRefilled = 3;

  /// The size of an element of A and B. An instruction sums up 32 bytes of a
  /// row of A, and a row of a stage has 64.
  int64_t elementBytes;
  int64_t warpsM, warpsN;
  int64_t stages;
  /// Whether chunks of A and of B can be copied as a whole, asynchronously.
  bool copiesA, copiesB;
  MatrixInstruction instruction = MatrixInstruction::Mma;

  bool isByWarpgroups() const {
    return instruction == MatrixInstruction::Wgmma;
  }
  int64_t fragmentK() const { return 32 / elementBytes; }
  /// Elements of a chunk.
  int64_t chunk() const { return kChunkBytes / elementBytes; }
  int64_t threads() const { return 32 * warpsM * warpsN; }
  /// The rows and columns of a warp's part of the tile.
  int64_t rows() const { return bm / warpsM; }
  int64_t columns() const { return bn / warpsN; }
  int64_t steps() const { return (dims.k + bk - 1) / bk; }
  /// How many blocks a multiprocessor has at once.
  int64_t residentBlocks(const DeviceInfo &device) const;
  int64_t stageElements() const { return (bm + bn) * bk; }
  int64_t sharedBytes() const {
    return elementBytes * stages * stageElements();
  }
  /// Sums go to shared memory, in the place of the stages, before they are
  /// stored: so many rows of each warp at once.
  int64_t stagedRows() const;
};

/// The schedule with the fewest estimated cycles of those that fit the device.
/// None if there are too few products to fill a fragment.
std::optional<MatrixSchedule> scheduleMatrix(const TileDims &dims,
                                             int64_t elementBytes, bool copiesA,
                                             bool copiesB,
                                             const DeviceInfo &device);

/// Estimated cycles of a product whose sums are split into equal parts, which
/// are written to memory and added up. None if its parts have no schedule.
std::optional<int64_t> cyclesOfParts(const TileDims &dims, int64_t elementBytes,
                                     int64_t parts, const DeviceInfo &device);

/// The order of chunks, of 16 or 32 bytes, in the rows of shared memory: chunk
/// c of a row is at place c ^ ((row >> shift) & mask). Then the chunks c of
/// eight or four consecutive rows, which are read together, are in different
/// banks.
struct Swizzle {
  static Swizzle of(int64_t chunksOfRow, int64_t chunkBytes);
  int64_t shift, mask;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const MatrixSchedule &schedule);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_MATRIXSCHEDULE_H
