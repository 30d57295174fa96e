// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The macro-kernel of a contraction: loops over the tiles of columns and rows
// of a block, around a micro-kernel. If the schedule says so, A and B are
// packed first.

#ifndef NETC_LIB_CODEGEN_CPU_MACROKERNEL_H
#define NETC_LIB_CODEGEN_CPU_MACROKERNEL_H

#include "lib/Codegen/CPU/ContractionSchedule.h"

namespace netc {

class MacroKernelEmitter {
public:
  /// Sums start from `start`, or from C if it is null. The tiles go through
  /// `epilogue`, if it is not null.
  MacroKernelEmitter(mlir::linalg::LinalgOp op,
                     const ContractionSchedule &schedule, mlir::Value start,
                     mlir::linalg::GenericOp epilogue);

protected:
  using Loop = LoopNest::Loop;
  using Loops = llvm::SmallVector<Loop>;
  /// By ContractionOperand, then by operand of the epilogue: its memory, and
  /// the current offset in it, in elements.
  struct Operands {
    llvm::SmallVector<mlir::Value> memory, at;
  };
  /// The buffers of the packed copies of A and B, and of a tile of C that only
  /// the epilogue reads; null if they are not needed.
  struct PackBuffers {
    mlir::Value a, b, c;
  };

  /// The operands after `iteration` iterations of a loop.
  Operands move(Operands operands, const Loop &loop, mlir::Value iteration);
  /// Allocates the buffers of packed copies. In a parallel loop, each thread
  /// then has its own.
  PackBuffers createPackBuffers(const BlockSchedule &schedule);
  /// Emits the rows `m` of a block, for all its columns and a block `k` of
  /// sums, which is the last one if `isLast`.
  void emitMacroKernel(const BlockSchedule &schedule, const Loops &m,
                       const KBlock &k, bool isLast, const PackBuffers &buffers,
                       Operands operands);

  NestBuilder b;
  const ContractionSchedule &schedule;
  /// The value that sums start from; null if they start from C.
  mlir::Value start;
  mlir::linalg::GenericOp epilogue;
  /// C, to find it among the operands of the epilogue.
  mlir::Value result;
  mlir::Type element;
  mlir::VectorType vector;
  int64_t lanes, kPack;
  /// Vectors of elements of A or B: one for each lane of `vector` (`factors`),
  /// and as many as a multiply-add takes for each (`packs`).
  mlir::VectorType factors, packs;

private:
  /// The offsets of a row, or of a vector of columns, from the start of the
  /// tile.
  struct TileOffset {
    int64_t inA = 0, inB = 0, inC = 0;
  };
  using TileOffsets = llvm::ArrayRef<TileOffset>;
  using Values = llvm::SmallVector<mlir::Value>;
  /// A block, with the strides of its loops in the operands or in their packed
  /// copies.
  struct Block {
    const BlockSchedule &schedule;
    Loops m, k;
    llvm::ArrayRef<Prefetch> prefetches;
    /// Whether this is the last block of k.
    bool isLast;
  };
  /// The vectors in a tile of columns. `lastLanes` is the number of lanes in
  /// use of the last vector, or 0 if it is full.
  struct Columns {
    llvm::SmallVector<TileOffset> offsets;
    int64_t lastLanes = 0;
  };

  mlir::Value createPackBuffer(int64_t elements);
  /// A buffer for a tile of sums that only the epilogue reads; null if there is
  /// none.
  mlir::Value createTile(const BlockSchedule &schedule);
  /// Puts the elements of kPack vectors side by side in each lane.
  mlir::Value interleave(llvm::ArrayRef<mlir::Value> vectors);
  /// Loads kPack iterations of the last loop of k, `stride` elements apart, as
  /// a pack. Only `count` of them are loaded; the rest are zeros.
  mlir::Value loadPack(mlir::Value memory, mlir::Value at, int64_t stride,
                       int64_t count, mlir::Value mask);
  /// Packs the rows of A in a block. The block's strides become those of the
  /// copy.
  void packA(Block &block, mlir::Value buffer, Operands &operands);
  /// The same where A is contiguous along m: for each pack of k, the MR rows of
  /// a tile are side by side (micro-panels).
  void packPanelsOfA(Block &block, mlir::Value buffer,
                     const Operands &operands);
  /// Packs the part of B that a tile of columns reads.
  void packB(Block &block, const Columns &columns, mlir::Value buffer,
             Operands &operands);
  /// Packs a part of B that is contiguous along k, by transposing squares.
  void copyTransposed(const Loop &sum, const Columns &columns,
                      const Operands &from, mlir::Value at, mlir::Value buffer,
                      mlir::Value to);
  /// Sets the strides of `k` in an operand to those of a packed copy that has
  /// `elements` contiguous elements for each iteration. Returns the size of the
  /// copy in elements.
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
  /// Sets the strides in C of loops over the rows of a tile, of `sizes`, to
  /// those in the tile's own buffer.
  static void layOutTile(Loops &m, llvm::ArrayRef<int64_t> sizes,
                         int64_t columns);
  /// Emits the epilogue of a tile with `sizes` iterations of the loops `m`.
  void emitEpilogue(llvm::ArrayRef<Loop> m, llvm::ArrayRef<int64_t> sizes,
                    const Columns &columns, const Operands &operands);
  /// Calls `body` with the start and the sizes of each tile over `loops`.
  void
  forEachTile(llvm::ArrayRef<Loop> loops, llvm::ArrayRef<int64_t> sizes,
              size_t depth, llvm::SmallVector<int64_t> chosen,
              const Operands &operands, bool isParallel,
              llvm::function_ref<void(Operands, llvm::ArrayRef<int64_t>)> body);
  /// The offsets of the rows or columns of a tile with `sizes` iterations.
  static llvm::SmallVector<TileOffset>
  tileOffsets(llvm::ArrayRef<Loop> loops, llvm::ArrayRef<int64_t> sizes);
  /// The vectors in a tile of so many columns.
  Columns vectorsOf(int64_t columns);

  /// Emits the loops of k with the accumulators as loop-carried values. The
  /// last loop advances by `step`; its remainder follows.
  Values emitKLoops(
      const Block &block, size_t depth, const Operands &operands,
      mlir::ValueRange accumulators, int64_t step,
      llvm::function_ref<Values(const Operands &, mlir::ValueRange, int64_t)>
          body);
  /// Emits a tile of C: elements of A, which are broadcast, times vectors of B;
  /// or vectors of both, if the contraction is element-wise.
  void emitMicroKernel(const Block &block, const Operands &operands,
                       TileOffsets rows, const Columns &columns);
  /// Emits a tile of dot products, with vectors along k.
  void emitDots(const Block &block, const Operands &operands, TileOffsets rows,
                TileOffsets columns);
  /// `start` has the offsets at the start of the tile, `operands` those in the
  /// current iteration of k.
  void emitPrefetch(const Prefetch &prefetch, const Block &block,
                    const Operands &start, const Operands &operands,
                    TileOffsets rows, TileOffsets columns);

  void prefetch(const Operands &operands, ContractionOperand operand,
                mlir::Value at, CacheLevel level);
  /// Loads a vector of columns of B, or a pack of `count` iterations of k.
  mlir::Value loadColumns(const Block &block, const Operands &operands,
                          const TileOffset &column, int64_t count,
                          mlir::Value mask);
  /// Broadcasts an element of A, or a pack of `count` iterations of k.
  mlir::Value broadcastRow(const Block &block, const Operands &operands,
                           const TileOffset &row, int64_t count);
  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value sum);
  mlir::Value loadScalar(const Operands &operands, ContractionOperand operand,
                         int64_t shift);
  /// Loads `lanes` elements; those that `mask` excludes are 0.
  mlir::Value loadVector(const Operands &operands, ContractionOperand operand,
                         int64_t shift, mlir::Value mask);
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CPU_MACROKERNEL_H
