// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How a contraction is computed, as data: which loops are blocked and tiled,
// what is packed and prefetched, and which loops are parallel. The names are
// those of BLIS: a micro-kernel keeps MR x NR elements of C in registers; KC,
// MC and NC are the block sizes of k, m and n.

#ifndef NETC_LIB_CODEGEN_CPU_CONTRACTIONSCHEDULE_H
#define NETC_LIB_CODEGEN_CPU_CONTRACTIONSCHEDULE_H

#include "lib/Codegen/CPU/TargetInfo.h"
#include "lib/Codegen/CPU/VectorizedDims.h"

namespace netc {

/// The first cut of a contraction into blocks, inside of its batch loops.
enum class Partition {
  Whole,        ///< Nothing is cut.
  Rows,         ///< Blocks of rows.
  Columns,      ///< Tiles of columns, within blocks of rows if there are any.
  Panels,       ///< Panels of B; all rows use one panel before the next.
  ColumnBlocks, ///< Blocks of columns; each thread packs its part of B.
  Stream,       ///< Blocks of columns; B is read in the order of memory.
  SplitK,       ///< Parts of k, each with a partial result.
  BlockK,       ///< Blocks of k in sequence, each over all rows.
};

/// A prefetch in each iteration of the innermost loop of k.
struct Prefetch {
  enum class What {
    Vectors,       ///< B: each vector of the tile.
    Rows,          ///< A: the first and the last row of the tile.
    FirstRow,      ///< A: the first row of the tile.
    FollowingTile, ///< A: a cache line of the data after the tile.
  };
  What what;
  /// In elements, from what the iteration reads. For FollowingTile: from the
  /// prefetch of one iteration to that of the next.
  int64_t distance;
  CacheLevel level;
};

/// The loops of k in a block of KC iterations.
struct KBlock {
  llvm::SmallVector<LoopNest::Loop> loops;
  /// Issued in each iteration of the innermost loop.
  llvm::SmallVector<Prefetch> prefetches;
};

/// A block of the partition: a loop nest over tiles.
struct BlockSchedule {
  using Loop = LoopNest::Loop;

  /// Loops of m around all others.
  llvm::SmallVector<Loop> outerM;
  llvm::SmallVector<Loop> m, n;
  /// The loop of m that is cut into blocks of MC iterations, if there is one.
  std::optional<unsigned> mcLoop;
  int64_t mc = 0;
  /// MR: the rows of a tile, by loop of m.
  llvm::SmallVector<int64_t> mr;
  /// Loops of k around the macro-kernel. The last one is cut into blocks of KC
  /// iterations.
  llvm::SmallVector<Loop> outerK;
  int64_t kc = 1;
  /// A full block of KC iterations, and the remainder.
  KBlock wholeK, restK;
  /// Number of products that a full block adds to an element of C.
  int64_t kLength = 1;
  /// The parallel loop: over blocks of rows, or over tiles of columns.
  enum class Threads { None, TakeRows, TakeColumns };
  Threads threads = Threads::None;
  bool packsA = false, packsB = false;
  /// Whether A is packed into micro-panels, since it is contiguous along m.
  /// Else the packed copy has rows that are contiguous along k.
  bool packsPanelsOfA = false;
  /// The sizes of the packed copies, and the distance of two rows in that of A,
  /// in elements.
  int64_t packedA = 0, packedB = 0, packedRowOfA = 0;
  /// Whether C is prefetched before the loops of k, and added to the sums after
  /// them.
  bool prefetchesC = false;
};

struct ContractionSchedule {
  using Loop = LoopNest::Loop;

  VectorizedDims dims;
  /// Elements of C in a vector.
  int64_t lanes;
  /// The iterations of the last loop of k in one multiply-add: 2 for pairs of
  /// bf16, which are adjacent in packed copies; else 1.
  int64_t kPack = 1;
  /// NR: vectors along the last loop of n (`nrVectors`), or for dot products,
  /// iterations of each loop of n (`nr`).
  int64_t nrVectors = 1;
  llvm::SmallVector<int64_t> nr;

  /// The batch loop that is parallel.
  std::optional<unsigned> parallelBatch;
  Partition partition = Partition::Whole;
  /// The loop that the partition cuts into blocks of `size` iterations.
  struct Cut {
    Loop loop;
    int64_t size;
    bool isParallel; ///< Whether blocks are distributed over threads.
    /// Loops around `loop`.
    llvm::SmallVector<Loop> around;
  };
  std::optional<Cut> cut;
  /// The full block, and a shorter last one if there is one.
  llvm::SmallVector<BlockSchedule, 2> blocks;
  /// Whether each element of C is written only once, so that its sum can start
  /// from the value that C was filled with.
  bool foldsFill = false;
  /// Whether each tile of C goes through an epilogue when its sums are
  /// complete. If `foldsFill`, C itself is then never stored.
  bool hasEpilogue = false;

  /// NR in elements: the distance between two tiles of columns.
  int64_t nrElements() const { return nrVectors * lanes; }
  /// Whether threads share a loop other than a batch loop.
  bool isParallel() const {
    return (cut && cut->isParallel) ||
           blocks.front().threads != BlockSchedule::Threads::None;
  }
  /// The schedule of a block with this many iterations of the loop that is cut.
  const BlockSchedule &blockOf(int64_t iterations) const {
    return iterations == cut->size ? blocks.front() : blocks.back();
  }

  void print(llvm::raw_ostream &os) const;
};

/// Chooses how to compute a contraction whose C has elements of `elementBits`
/// bits. If A and B are bf16 (`areBfloats`), the target may multiply them in
/// pairs.
ContractionSchedule schedule(const VectorizedDims &dims, unsigned elementBits,
                             const TargetInfo &target, bool areBfloats = false);

/// The schedule of an op, with its epilogue if that can be fused. None if the
/// op is no contraction, or if none of its loops can be vectorized.
std::optional<ContractionSchedule> scheduleOf(mlir::linalg::LinalgOp op,
                                              const TargetInfo &target);

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const ContractionSchedule &schedule);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CPU_CONTRACTIONSCHEDULE_H
