// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The macro-kernel of a contraction: loops over tiles of columns and rows of a
// block around a micro-kernel. A and B are packed first where the schedule says
// so.

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

  /// The operands after `iteration` iterations of a loop.
  Operands move(Operands operands, const Loop &loop, mlir::Value iteration);
  /// Allocates the buffers of packed copies. To be called inside of a parallel
  /// loop, so that each thread has its own.
  PackBuffers createPackBuffers(const BlockSchedule &schedule);
  /// The rows `m` of a block, for all its columns and for the sums `k`, which
  /// are the last ones or not.
  void emitMacroKernel(const BlockSchedule &schedule, const Loops &m,
                       const KBlock &k, bool isLast, const PackBuffers &buffers,
                       Operands operands);

  NestBuilder b;
  const ContractionSchedule &schedule;
  /// The value that sums start from; null if it is C's.
  mlir::Value start;
  mlir::linalg::GenericOp epilogue;
  /// What the epilogue reads.
  mlir::Value result;
  mlir::Type element;
  mlir::VectorType vector;
  int64_t lanes, kPack;
  /// Vectors of the elements of A and B as they are multiplied: one for each
  /// lane of `vector`, and kPack for each lane.
  mlir::VectorType factors, packs;

private:
  /// The offsets of a row, or of a vector of columns, from the start of the
  /// tile.
  struct TileOffset {
    int64_t inA = 0, inB = 0, inC = 0;
  };
  using TileOffsets = llvm::ArrayRef<TileOffset>;
  using Values = llvm::SmallVector<mlir::Value>;
  /// A block with its loops' strides in the operands or in their packed copies.
  struct Block {
    const BlockSchedule &schedule;
    Loops m, k;
    llvm::ArrayRef<Prefetch> prefetches;
    /// Whether no sums follow.
    bool isLast;
  };
  /// The vectors of a tile of columns. `lastLanes` is the number of lanes of
  /// the last one if it is partial, else 0.
  struct Columns {
    llvm::SmallVector<TileOffset> offsets;
    int64_t lastLanes = 0;
  };

  mlir::Value createPackBuffer(int64_t elements);
  /// For the sums of a tile, which an epilogue takes at once.
  mlir::Value createTile(const BlockSchedule &schedule);
  /// The elements of as many vectors as a pack has iterations, side by side.
  mlir::Value interleave(llvm::ArrayRef<mlir::Value> vectors);
  /// Loads `count` iterations of the last loop of k, `stride` elements apart,
  /// as a pack. It is padded with zeros.
  mlir::Value loadPack(mlir::Value memory, mlir::Value at, int64_t stride,
                       int64_t count, mlir::Value mask);
  /// Packs the rows of A in a block, and changes the block's strides to those
  /// of the copy.
  void packA(Block &block, mlir::Value buffer, Operands &operands);
  /// The same where rows are contiguous in A: micro-panels, in which the MR
  /// rows of a tile lie side by side for each pack of k.
  void packPanelsOfA(Block &block, mlir::Value buffer,
                     const Operands &operands);
  /// Packs the part of B that a tile of columns reads.
  void packB(Block &block, const Columns &columns, mlir::Value buffer,
             Operands &operands);
  /// Packs a part of B that is contiguous along k, by transposing squares.
  void copyTransposed(const Loop &sum, const Columns &columns,
                      const Operands &from, mlir::Value at, mlir::Value buffer,
                      mlir::Value to);
  /// Changes the strides of `k` in an operand to those of a packed copy with
  /// `elements` contiguous elements for each iteration. Returns the length of
  /// the copy in elements.
  int64_t layOut(Loops &k, ContractionOperand operand, int64_t elements) const;
  /// Calls `copy` with the offsets in the operand and in its copy, for each
  /// iteration of the loops `from`. `packed` has the strides of the copy.
  void forEachCopy(ContractionOperand operand, llvm::ArrayRef<Loop> from,
                   llvm::ArrayRef<Loop> packed, mlir::Value at, mlir::Value to,
                   llvm::function_ref<void(mlir::Value, mlir::Value)> copy);

  void emitColumns(const Block &block, const PackBuffers &buffers, size_t depth,
                   const Operands &operands);
  void emitColumnTile(Block block, const Columns &columns,
                      const PackBuffers &buffers, Operands operands);
  void emitMicroTiles(const Block &block, const Columns &columns,
                      mlir::Value tile, const Operands &operands);
  /// Lets loops over the rows of a tile, of `sizes`, walk over its own memory.
  static void layOutTile(Loops &m, llvm::ArrayRef<int64_t> sizes,
                         int64_t columns);
  /// The element-wise op on a tile with `sizes` iterations of the loops `m`.
  void emitEpilogue(llvm::ArrayRef<Loop> m, llvm::ArrayRef<int64_t> sizes,
                    const Columns &columns, const Operands &operands);
  /// Calls `body` for each tile over `loops`, where it starts and its sizes.
  void
  forEachTile(llvm::ArrayRef<Loop> loops, llvm::ArrayRef<int64_t> sizes,
              size_t depth, llvm::SmallVector<int64_t> chosen,
              const Operands &operands, bool isParallel,
              llvm::function_ref<void(Operands, llvm::ArrayRef<int64_t>)> body);
  /// The offsets of the rows or columns of a tile with `sizes` iterations.
  static llvm::SmallVector<TileOffset>
  tileOffsets(llvm::ArrayRef<Loop> loops, llvm::ArrayRef<int64_t> sizes);
  Columns vectorsOf(int64_t columns);

  /// Emits the loops of k with the accumulators as loop-carried values. The
  /// last loop advances by `step`; its remainder follows.
  Values emitKLoops(
      const Block &block, size_t depth, const Operands &operands,
      mlir::ValueRange accumulators, int64_t step,
      llvm::function_ref<Values(const Operands &, mlir::ValueRange, int64_t)>
          body);
  /// Multiplies broadcast elements of A by vectors of B, or vectors of both.
  void emitMicroKernel(const Block &block, const Operands &operands,
                       TileOffsets rows, const Columns &columns);
  /// The micro-kernel of dot products: vectors run along k.
  void emitDots(const Block &block, const Operands &operands, TileOffsets rows,
                TileOffsets columns);
  /// `start` is at the start of the tile, `operands` at the current iteration
  /// of k.
  void emitPrefetch(const Prefetch &prefetch, const Block &block,
                    const Operands &start, const Operands &operands,
                    TileOffsets rows, TileOffsets columns);

  void prefetch(const Operands &operands, ContractionOperand operand,
                mlir::Value at, CacheLevel level);
  /// Loads a vector of columns of B, with `count` iterations of a pack.
  mlir::Value loadColumns(const Block &block, const Operands &operands,
                          const TileOffset &column, int64_t count,
                          mlir::Value mask);
  /// Broadcasts an element, or a pack, of A.
  mlir::Value broadcastRow(const Block &block, const Operands &operands,
                           const TileOffset &row, int64_t count);
  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value sum);
  mlir::Value loadScalar(const Operands &operands, ContractionOperand operand,
                         int64_t shift);
  /// Loads `lanes` elements, or those of `mask`.
  mlir::Value loadVector(const Operands &operands, ContractionOperand operand,
                         int64_t shift, mlir::Value mask);
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CPU_MACROKERNEL_H
