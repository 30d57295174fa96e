// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a thread does of a sum of products: blocks of its rows and sums, on
// copies where memory is not as the product wants it, tile by tile.

#ifndef NETC_LIB_CODEGEN_CONTRACTIONBLOCK_H
#define NETC_LIB_CODEGEN_CONTRACTIONBLOCK_H

#include "lib/Codegen/ContractionRoles.h"

namespace netc {

/// How the loops of the rows, or columns, are cut into tiles.
struct Tiling {
  llvm::SmallVector<int64_t> sizes; ///< by loop
  int64_t count() const {
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    return count;
  }
};

class BlockEmitter {
protected:
  using Loop = LoopNest::Loop;
  /// Where to be in A, B and C.
  using Offsets = std::array<mlir::Value, 3>;

  BlockEmitter(mlir::linalg::LinalgOp op, Roles roles, const VectorIsa &isa);

  /// After `turn` turns of a loop.
  Offsets move(Offsets at, const Loop &loop, mlir::Value turn);
  int64_t sizeOf(ContractionOperand operand) const;
  /// Points of a block of the sums, at most.
  int64_t blockLength() const;
  /// Makes room for the copy of B; to be called where a thread's work begins.
  void makeColumnPanel();
  /// The tiles of a block of `turns` turns of the last outer sum.
  void emitColumns(Offsets at, int64_t turns);

  NestBuilder b;
  Roles roles;
  /// What sums start from, if it is not in memory.
  mlir::Value start;
  mlir::Value memory[3];
  mlir::Type element;
  mlir::VectorType vector;
  int64_t lanes;
  Tiling rowTile, columnTile;
  int64_t tileVectors = 1;
  bool columnsInParallel = false;
  /// Loops of sums outside of a block; the last is cut into blocks of
  /// `blockTurns`.
  llvm::SmallVector<Loop> outerSums, innerSums;
  int64_t blockTurns = 1;
  /// Whether B is read once, and is asked for some turns before its use.
  bool asksForB = false;
  /// How far on panels of B are asked for, the next one or what is left of
  /// this; 0 if they are near.
  int64_t aheadOfB = 0;
  /// A copy of a block of B, for the columns of a tile.
  bool packsColumns = false;
  /// The same of A, for the rows of a block.
  bool packsRows = false;
  mlir::Value rowPanel;

private:
  /// A part of the rows or columns of a tile: for each, where it starts in the
  /// operands, from the start of the tile.
  struct Place {
    int64_t inA = 0, inB = 0, inC = 0;
  };

  /// The loops of a tile's inside as places, its sizes cut to `sizes`.
  llvm::SmallVector<Place> placesOf(llvm::ArrayRef<Loop> loops,
                                    llvm::ArrayRef<int64_t> sizes);
  /// Copies what a block reads of A, a row after the other, and lets the loops
  /// walk over the copy.
  void packRows(Offsets at);
  /// Lets the sums of the block walk over a copy of an operand that has
  /// `elements` next to each other for each turn. Returns its length.
  int64_t layBlock(ContractionOperand operand, int64_t elements);
  /// Calls `copy` for each turn of the loops `from`, with the place in the
  /// operand and that in its copy, over which `packed` walk.
  void copyBlock(ContractionOperand operand, llvm::ArrayRef<Loop> from,
                 llvm::ArrayRef<Loop> packed, mlir::Value at, mlir::Value to,
                 llvm::function_ref<void(mlir::Value, mlir::Value)> copy);
  void emitOuterColumns(size_t depth, Offsets at);
  /// The tiles of these columns, on a copy of what they read of B if its rows
  /// are scattered.
  void emitPanel(Offsets at, llvm::ArrayRef<Place> columns, int64_t lastLanes);
  /// Copies a panel's part of B along the last sum, by squares of vectors.
  void copyTransposed(mlir::Value at, mlir::Value to, int64_t vectors,
                      int64_t lastLanes);
  llvm::SmallVector<Place> vectorsOf(int64_t count);
  /// Calls `body` for each tile over `loops`, where it starts and its sizes.
  void
  emitTiles(llvm::ArrayRef<Loop> loops, llvm::ArrayRef<int64_t> sizes,
            size_t depth, llvm::SmallVector<int64_t> chosen, Offsets at,
            bool parallel,
            llvm::function_ref<void(Offsets, llvm::ArrayRef<int64_t>)> body);
  void emitRowTiles(Offsets at, llvm::ArrayRef<Place> columns,
                    int64_t lastLanes);
  mlir::Value loadScalar(ContractionOperand operand, mlir::Value at,
                         int64_t shift);
  using Near = NestBuilder::Near;
  void prefetch(ContractionOperand operand, mlir::Value at, Near level);
  /// Asks for what a tile of A that starts at `start` is followed by, while the
  /// sums are at `at`: from memory, it would come too late where the processor
  /// does not foresee it.
  void askAhead(mlir::Value start, const Offsets &at,
                llvm::ArrayRef<Place> rows, llvm::ArrayRef<Place> columns);
  /// `lanes` elements, or those of `mask`.
  mlir::Value loadVector(ContractionOperand operand, mlir::Value at,
                         int64_t shift, mlir::Value mask);
  void storeVector(mlir::Value value, mlir::Value at, int64_t shift,
                   mlir::Value mask);
  /// Runs the sums of a block, carrying the accumulators.
  llvm::SmallVector<mlir::Value>
  emitSums(size_t depth, Offsets at, mlir::ValueRange sums, int64_t step,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(
               Offsets, mlir::ValueRange, int64_t)>
               body);
  void emitTile(Offsets at, llvm::ArrayRef<Place> rows,
                llvm::ArrayRef<Place> columns, int64_t lastLanes);
  /// Rows and columns are vectors along the last sum.
  void emitDots(Offsets at, llvm::ArrayRef<Place> rows,
                llvm::ArrayRef<Place> columns);

  /// The loops of the block at hand.
  llvm::SmallVector<Loop> blockSums;
  mlir::Value columnPanel;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CONTRACTIONBLOCK_H
