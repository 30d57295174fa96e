// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_ATTENTIONBUILDER_H
#define NETC_LIB_CODEGEN_CUDA_ATTENTIONBUILDER_H

#include "lib/Codegen/CUDA/Attention.h"
#include "lib/Codegen/CUDA/BlockBuilder.h"
#include "lib/Codegen/CUDA/Ptx.h"

namespace netc {

/// Emits the code of a block of threads for a kernel of attention. Each warp
/// has 16 rows of the block's side: rows of the scores, or keys. Lane 4 r + q
/// holds, of a fragment of 16 x 8, rows r and r + 8, and of each columns 2 q
/// and 2 q + 1: elements 0 and 1, and 2 and 3. So the scores of a tile are,
/// once they are rounded, the fragments that a product with them reads.
class AttentionBuilder : protected BlockBuilder {
public:
  AttentionBuilder(Attention attention, AttentionSchedule schedule);

protected:
  using Loop = LoopNest::Loop;
  using Schedule = AttentionSchedule;
  using Fragments = llvm::SmallVector<llvm::SmallVector<mlir::Value>>;

  /// Where an element of the scores is.
  struct Place {
    size_t number;      ///< of the element in its tile
    int64_t half;       ///< 0 for row r of the fragment, 1 for row r + 8
    mlir::Value across; ///< the number of its row or key, beside that of `half`
    mlir::Value
        isInside; ///< whether there is such a row or key; null if always
    llvm::SmallVector<mlir::Value> ivs; ///< by axis of the scores
    bool mayBeHidden;                   ///< by a causal mask
  };
  /// An element that is known, and the memref that would hold it.
  using Known = std::pair<mlir::Value, mlir::Value>;

  /// Calls `body` for each pair of tiles of two operands, with the tile's
  /// number and the addresses of both in shared memory. It replaces the values
  /// of `state`, which then has those after the last tile. While it computes,
  /// the next pair is copied.
  void
  forTiles(AttentionOperand first, AttentionOperand second,
           llvm::MutableArrayRef<mlir::Value> state,
           llvm::function_ref<void(mlir::Value tile, mlir::Value atFirst,
                                   mlir::Value atSecond,
                                   llvm::MutableArrayRef<mlir::Value> state)>
               body);
  /// Loads the fragments of the warp's own rows.
  Fragments loadSide(AttentionOperand operand);

  /// The product of the warp's rows and a tile's, both along their rows.
  llvm::SmallVector<mlir::Value>
  productOf(const Fragments &side, mlir::Value tile, AttentionOperand operand);
  /// Adds the product of elements, which are rounded, and a tile.
  void addProduct(llvm::MutableArrayRef<mlir::Value> sums,
                  llvm::ArrayRef<mlir::Value> elements, mlir::Value tile,
                  AttentionOperand operand);
  llvm::SmallVector<mlir::Value> zeros(AttentionOperand operand);

  /// Where element `number` that a thread has of a tile of scores is.
  Place placeOf(mlir::Value tile, size_t number, bool mayBeHidden = true);
  /// Visits the elements that a thread has of a tile of scores, to replace
  /// `elements`. Where a causal mask hides nothing of the tile, it is not
  /// computed.
  void forElements(mlir::Value tile,
                   llvm::MutableArrayRef<mlir::Value> elements,
                   llvm::function_ref<void(const Place &)> visit);
  size_t elementsOfTile() const { return schedule.bn / 8 * 4; }
  /// An element that an op computes from known ones, and others that it reads.
  mlir::Value compute(AttentionRole role, const Place &place,
                      llvm::ArrayRef<Known> known);
  /// Computes an element of X. -inf where there is none.
  mlir::Value elementOf(mlir::Value score, const Place &place);
  mlir::Value wide(mlir::Value element);

  /// The largest element of a row so far.
  struct Largest {
    mlir::Value value, offset;
    mlir::Value scale; ///< of exponentials before
  };
  Largest largestOf(mlir::Value before, llvm::ArrayRef<mlir::Value> elements,
                    int64_t half);
  /// What exponential() adds so that the largest element of a row has 1.
  mlir::Value offsetOf(mlir::Value largest);
  /// The same so that the exponentials have the sum 1.
  mlir::Value offsetOf(mlir::Value largest, mlir::Value sum);
  /// e^x times 2^offset.
  mlir::Value exponential(mlir::Value x, mlir::Value offset);
  /// Combines the values of the four lanes of a row.
  template <typename OpTy> mlir::Value overRow(mlir::Value value) {
    for (int32_t apart : {1, 2})
      value = b.create<OpTy>(value, ptx.shuffle(value, apart));
    return value;
  }

  /// Stores the rows of a result.
  void store(AttentionOperand operand, llvm::ArrayRef<mlir::Value> sums);
  /// Stores what a row has one of, if another kernel reads it.
  void storeOfRow(AttentionOperand operand, int64_t half, mlir::Value value);

  mlir::Value number(double value);
  mlir::Value flat(AttentionOperand operand) const { return flats[operand]; }
  static bool isOfHalf(size_t element, int64_t half) {
    return int64_t(element) / 2 % 2 == half;
  }

  Attention attention;
  AttentionSchedule schedule;
  mlir::FloatType format;
  PtxBuilder ptx;
  mlir::Value lane;
  /// By half: the row of this thread in the block's side, and whether it
  /// exists, which is null if it does.
  std::array<mlir::Value, 2> rows, isRow;
  /// By half: the induction variables of the rows and the batch.
  std::array<llvm::SmallVector<mlir::Value>, 2> ivs;
  std::array<mlir::Value, kAttentionOperands> bases;

private:
  bool areMultiples(AttentionOperand operand, int64_t of) const;
  llvm::ArrayRef<Loop> side() const {
    return attention.isOfKeys() ? attention.keys : attention.rows;
  }
  llvm::ArrayRef<Loop> across() const {
    return attention.isOfKeys() ? attention.rows : attention.keys;
  }
  const Loop &inRow(AttentionOperand operand) const;

  std::pair<mlir::Value, mlir::Value> rangeOfTiles();
  void placeRows(mlir::Value batch);
  mlir::linalg::GenericOp withoutMask(mlir::linalg::GenericOp op);
  mlir::Value mayHide(mlir::Value tile);
  void setIvs(llvm::MutableArrayRef<mlir::Value> ivs,
              llvm::ArrayRef<Loop> loops, mlir::Value number);
  void beginCopy(AttentionOperand operand, llvm::ArrayRef<Loop> along,
                 int64_t count, int64_t extent, mlir::Value first,
                 mlir::Value to);
  void beginStage(AttentionOperand first, AttentionOperand second,
                  mlir::Value tile);
  llvm::SmallVector<mlir::Value>
  loadMatrices(mlir::Value address, AttentionOperand operand, mlir::Value row,
               mlir::Value column, int64_t k, bool isTransposed);
  void addFragment(llvm::MutableArrayRef<mlir::Value> sums, int64_t fragment,
                   mlir::ValueRange left, mlir::ValueRange right);

  /// The ops with the axes of the scores, without a causal mask.
  std::array<mlir::linalg::GenericOp, kAttentionRoles> unmasked;
  std::array<mlir::Value, kAttentionOperands> flats;
  mlir::Value thread, firstRow;
  mlir::Value shared, start; ///< the tiles, and their address
  /// The row and column of a lane in four matrices whose second one differs in
  /// the row, or in the column.
  mlir::Value rowFirst, columnFirst, rowSecond, columnSecond;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_ATTENTIONBUILDER_H
