// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The inside of a contraction: a block of rows and sums, packed if its schedule
// says so, as loops over tiles of columns and rows around a micro-kernel.

#ifndef NETC_LIB_CODEGEN_CPU_MACROKERNEL_H
#define NETC_LIB_CODEGEN_CPU_MACROKERNEL_H

#include "lib/Codegen/CPU/ContractionSchedule.h"

namespace netc {

class MacroKernelEmitter {
public:
  /// Sums start from `start`, or from what is in memory if it is null. Tiles go
  /// through `epilogue`, if it is not null.
  MacroKernelEmitter(mlir::linalg::LinalgOp op,
                     const ContractionSchedule &schedule, mlir::Value start,
                     mlir::linalg::GenericOp epilogue);

protected:
  using Loop = LoopNest::Loop;
  using Loops = llvm::SmallVector<Loop>;
  /// By ContractionOperand, then by operand of the epilogue: its memory and
  /// where to be in it.
  struct Operands {
    llvm::SmallVector<mlir::Value> memory, at;
  };
  /// Where copies go, and the sums of a tile that C itself has no need of; null
  /// if there are none.
  struct PackBuffers {
    mlir::Value a, b, c;
  };

  /// The same after `iteration` iterations of a loop.
  Operands move(Operands operands, const Loop &loop, mlir::Value iteration);
  /// Where the copies of a block go; to be called where a thread's work begins.
  PackBuffers createPackBuffers(const BlockSchedule &schedule);
  /// The rows `m` of a block, for all its columns and for the sums `k`, which
  /// are the last ones or not.
  void emitMacroKernel(const BlockSchedule &schedule, const Loops &m,
                       const KBlock &k, bool isLast, const PackBuffers &buffers,
                       Operands operands);

  NestBuilder b;
  const ContractionSchedule &schedule;
  /// What sums start from.
  mlir::Value start;
  mlir::linalg::GenericOp epilogue;
  /// What the epilogue reads.
  mlir::Value result;
  mlir::Type element;
  mlir::VectorType vector;
  int64_t lanes, kPack;
  /// Elements of A and B as they are multiplied: one for each place of
  /// `vector`, and whole packs of them.
  mlir::VectorType factors, packs;

private:
  /// A row or a vector of columns of a tile: where it starts in the operands,
  /// from the start of the tile.
  struct Place {
    int64_t inA = 0, inB = 0, inC = 0;
  };
  using Places = llvm::ArrayRef<Place>;
  using Values = llvm::SmallVector<mlir::Value>;
  /// A block as its loops walk over the operands or their copies.
  struct Block {
    const BlockSchedule &schedule;
    Loops m, k;
    llvm::ArrayRef<Prefetch> prefetches;
    /// Whether no sums follow.
    bool isLast;
  };
  /// Columns of a tile: their vectors, and how many elements the last one has
  /// if it is cut, or 0.
  struct Columns {
    llvm::SmallVector<Place> places;
    int64_t lastLanes = 0;
  };

  mlir::Value createPackBuffer(int64_t elements);
  /// For the sums of a tile, which an epilogue takes at once.
  mlir::Value createTile(const BlockSchedule &schedule);
  /// The elements of as many vectors as a pack has iterations, side by side.
  mlir::Value interleave(llvm::ArrayRef<mlir::Value> vectors);
  /// `count` iterations of the last sum, `stride` apart in an operand, as a
  /// pack, with zeros for those that are not there.
  mlir::Value loadPack(mlir::Value memory, mlir::Value at, int64_t stride,
                       int64_t count, mlir::Value mask);
  /// Copies what a block reads of A, row by row, and lets its loops walk over
  /// the copy.
  void packA(Block &block, mlir::Value buffer, Operands &operands);
  /// The same where rows lie next to each other: as packs of all rows.
  void packRowsOfA(Block &block, mlir::Value buffer, const Operands &operands);
  /// The same for what the columns of a tile read of B.
  void packB(Block &block, const Columns &columns, mlir::Value buffer,
             Operands &operands);
  /// Copies a part of B along the last sum, by squares of vectors.
  void copyTransposed(const Loop &sum, const Columns &columns,
                      const Operands &from, mlir::Value at, mlir::Value buffer,
                      mlir::Value to);
  /// Lets loops over sums walk over a copy of an operand that has `elements`
  /// next to each other for each iteration. Returns its length.
  int64_t layOut(Loops &k, ContractionOperand operand, int64_t elements) const;
  /// Calls `copy` for each iteration of the loops `from`, with the place in the
  /// operand and that in its copy, over which `packed` walk.
  void forEachCopy(ContractionOperand operand, llvm::ArrayRef<Loop> from,
                   llvm::ArrayRef<Loop> packed, mlir::Value at, mlir::Value to,
                   llvm::function_ref<void(mlir::Value, mlir::Value)> copy);

  void emitColumns(const Block &block, const PackBuffers &buffers, size_t depth,
                   const Operands &operands);
  void emitColumnTile(Block block, const Columns &columns,
                      const PackBuffers &buffers, Operands operands);
  void emitRowTiles(const Block &block, const Columns &columns,
                    mlir::Value tile, const Operands &operands);
  /// Lets loops over the rows of a tile, of `sizes`, walk over its own memory.
  static void layOutTile(Loops &m, llvm::ArrayRef<int64_t> sizes,
                         int64_t columns);
  /// The element-wise op on a tile with `sizes` iterations of the loops `m`.
  void emitEpilogue(llvm::ArrayRef<Loop> m, llvm::ArrayRef<int64_t> sizes,
                    const Columns &columns, const Operands &operands);
  /// Calls `body` for each tile over `loops`, where it starts and its sizes.
  void
  emitTiles(llvm::ArrayRef<Loop> loops, llvm::ArrayRef<int64_t> sizes,
            size_t depth, llvm::SmallVector<int64_t> chosen,
            const Operands &operands, bool isParallel,
            llvm::function_ref<void(Operands, llvm::ArrayRef<int64_t>)> body);
  /// The places of a tile that has `sizes` iterations of the loops.
  static llvm::SmallVector<Place> placesOf(llvm::ArrayRef<Loop> loops,
                                           llvm::ArrayRef<int64_t> sizes);
  Columns vectorsOf(int64_t columns);

  /// The sums of a block, which carry accumulators; the last one `step`
  /// iterations at a time, and what is left behind these.
  Values emitSums(
      const Block &block, size_t depth, const Operands &operands,
      mlir::ValueRange accumulators, int64_t step,
      llvm::function_ref<Values(const Operands &, mlir::ValueRange, int64_t)>
          body);
  /// Scalars of A times vectors of B, or vectors of both.
  void emitMicroKernel(const Block &block, const Operands &operands,
                       Places rows, const Columns &columns);
  /// Rows and columns are vectors along the last sum.
  void emitDots(const Block &block, const Operands &operands, Places rows,
                Places columns);
  /// `start` is where the tile starts, `operands` where its sums are.
  void emitPrefetch(const Prefetch &prefetch, const Block &block,
                    const Operands &start, const Operands &operands,
                    Places rows, Places columns);

  void prefetch(const Operands &operands, ContractionOperand operand,
                mlir::Value at, CacheLevel level);
  /// Elements of B in the columns of a vector, of `count` iterations of a pack.
  mlir::Value loadColumns(const Block &block, const Operands &operands,
                          const Place &column, int64_t count, mlir::Value mask);
  /// An element of A, or a pack of them, in each place of a vector.
  mlir::Value broadcastRow(const Block &block, const Operands &operands,
                           const Place &row, int64_t count);
  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value sum);
  mlir::Value loadScalar(const Operands &operands, ContractionOperand operand,
                         int64_t shift);
  /// `lanes` elements, or those of `mask`.
  mlir::Value loadVector(const Operands &operands, ContractionOperand operand,
                         int64_t shift, mlir::Value mask);
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CPU_MACROKERNEL_H
