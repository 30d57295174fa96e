// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How a contraction is computed, as data: which loops are cut into blocks and
// tiles, what is packed and prefetched, and what threads share. Names are those
// of BLIS: a micro-kernel keeps MR x NR elements of C in registers; KC, MC and
// NC are the sizes of blocks of the sums, the rows and the columns.

#ifndef NETC_LIB_CODEGEN_CPU_CONTRACTIONSCHEDULE_H
#define NETC_LIB_CODEGEN_CPU_CONTRACTIONSCHEDULE_H

#include "lib/Codegen/CPU/ContractionDims.h"
#include "lib/Codegen/TargetInfo.h"

namespace netc {

/// What is cut into blocks first, which threads share if several run.
enum class Partition {
  Whole,        ///< Nothing.
  Rows,         ///< Blocks of rows.
  Columns,      ///< Tiles of columns, within blocks of rows if there are any.
  Panels,       ///< Panels of B, by which all rows pass.
  ColumnBlocks, ///< Blocks of columns, for which each thread packs B.
  Stream,       ///< Blocks of columns, for which B is read in order of memory.
  SplitK,       ///< Parts of the sums, each with a result of its own.
  BlockK,       ///< Blocks of the sums, one after the other: each by rows.
};

/// In each iteration of the sums.
struct Prefetch {
  enum class What {
    Vectors,       ///< Of B: each vector of the tile.
    Rows,          ///< Of A: the first and the last row of the tile.
    FirstRow,      ///< Of A: the first row of the tile.
    FollowingTile, ///< Of A: a cache line of what follows the tile.
  };
  What what;
  /// In elements, from those that are read. Of the following tile, what the
  /// prefetches of two iterations are apart.
  int64_t distance;
  CacheLevel level;
};

/// The loops over the sums of a block.
struct KBlock {
  llvm::SmallVector<LoopNest::Loop> loops;
  /// In each iteration of the innermost loop.
  llvm::SmallVector<Prefetch> prefetches;
};

/// A block of the partition: a loop nest over tiles.
struct BlockSchedule {
  using Loop = LoopNest::Loop;

  /// Loops of rows around all others.
  llvm::SmallVector<Loop> outerM;
  llvm::SmallVector<Loop> m, n;
  /// The loop of m that is cut into blocks of MC iterations, if there is one.
  std::optional<unsigned> mcLoop;
  int64_t mc = 0;
  /// Rows of a tile, by loop of m.
  llvm::SmallVector<int64_t> mr;
  /// Loops of sums around a block of them; the last one is cut into blocks of
  /// KC iterations.
  llvm::SmallVector<Loop> outerK;
  int64_t kc = 1;
  /// A whole block of the sums and what is left behind the last one.
  KBlock wholeK, restK;
  /// Products that a whole block sums for an element of C.
  int64_t kLength = 1;
  /// Whether threads share the outermost loop over blocks of rows, or that over
  /// tiles of columns.
  enum class Threads { None, TakeRows, TakeColumns };
  Threads threads = Threads::None;
  bool packsA = false, packsB = false;
  /// Elements of the copies.
  int64_t packedA = 0, packedB = 0;
  /// C is prefetched, and added when the sums are done.
  bool prefetchesC = false;
};

struct ContractionSchedule {
  using Loop = LoopNest::Loop;

  ContractionDims dims;
  /// Elements of C that a vector has.
  int64_t lanes;
  /// Iterations of the last sum that a multiply-add takes: 2 where A and B are
  /// pairs of bf16, next to each other in panels.
  int64_t kPack = 1;
  /// Columns of a micro-kernel: vectors of the last loop of n; of dot products,
  /// by loop of n.
  int64_t nrVectors = 1;
  llvm::SmallVector<int64_t> nr;

  /// The loop of the batch that threads share.
  std::optional<unsigned> parallelBatch;
  Partition partition = Partition::Whole;
  /// A loop that the partition cuts into blocks of `size` iterations.
  struct Cut {
    Loop loop;
    int64_t size;
    bool isParallel; ///< Threads take the blocks.
    llvm::SmallVector<Loop> around;
  };
  std::optional<Cut> cut;
  /// A whole block, and a last one that is shorter if there is one.
  llvm::SmallVector<BlockSchedule, 2> blocks;
  /// Whether each element of C is summed at once, so that sums can start from
  /// what C was filled with.
  bool foldsFill = false;
  /// Whether each tile of C goes through an element-wise op when its sums are
  /// done. Then C is never stored if `foldsFill`.
  bool hasEpilogue = false;

  /// Elements from a column of a micro-kernel's width to the next one.
  int64_t nrElements() const { return nrVectors * lanes; }
  /// Whether threads share what the partition says.
  bool isParallel() const {
    return (cut && cut->isParallel) ||
           blocks.front().threads != BlockSchedule::Threads::None;
  }
  const BlockSchedule &blockOf(int64_t iterations) const {
    return iterations == cut->size ? blocks.front() : blocks.back();
  }

  void print(llvm::raw_ostream &os) const;
};

/// Chooses how to compute a contraction, of which C has elements of so many
/// bits. If those of A and B `areBfloats`, the target may take them by pairs.
ContractionSchedule schedule(const ContractionDims &dims, unsigned elementBits,
                             const TargetInfo &target, bool areBfloats = false);

/// The element-wise op that the kernel of a product takes along: what follows a
/// fill and the product in an `scf.execute_region`. Null if there is none.
mlir::linalg::GenericOp epilogueOf(mlir::linalg::LinalgOp product);

/// Of an op; none if it is no contraction, or none that has vectors.
std::optional<ContractionSchedule> scheduleOf(mlir::linalg::LinalgOp op,
                                              const TargetInfo &target);

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const ContractionSchedule &schedule);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CPU_CONTRACTIONSCHEDULE_H
