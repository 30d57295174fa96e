// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_PRODUCTROLES_H
#define NETC_LIB_CODEGEN_CUDA_PRODUCTROLES_H

#include "lib/Codegen/CPU/ContractionDims.h"
#include "lib/Codegen/CUDA/TileSchedule.h"

namespace netc {

/// The loops of a product by the operands that they move in. Strides are by
/// ContractionOperand. The last of each moves least. Loops of a role may be
/// several, as those of a convolution's windows are: one number counts all of
/// them, from which each place follows.
struct ProductRoles {
  using Loop = LoopNest::Loop;

  /// None if the op is no product, or has loops of no role.
  static std::optional<ProductRoles> of(mlir::linalg::LinalgOp op);

  llvm::SmallVector<Loop> batch, m, n, k;
  std::array<unsigned, 3> operands = {0, 1, 2}; ///< of the op
  std::array<int64_t, 3> starts;
  TileDims dims;

  /// The rows of A or the columns of B.
  llvm::ArrayRef<Loop> sideOf(ContractionOperand operand) const {
    return operand == A ? m : n;
  }
  int64_t extentOf(ContractionOperand operand) const {
    return operand == A ? dims.m : dims.n;
  }
  bool isAlongK(ContractionOperand operand) const {
    return operand == A ? dims.isAAlongK : dims.isBAlongK;
  }
};

/// Emits code for a block of threads that computes a tile of a product.
class ProductBuilder {
protected:
  ProductBuilder(mlir::linalg::LinalgOp op, mlir::linalg::FillOp fill,
                 ProductRoles roles)
      : op(op), fill(fill), roles(std::move(roles)), b(op) {}

  /// Sets which tile this block computes, of so many rows and columns.
  void placeTile(int64_t bm, int64_t bn);

  template <typename Register> mlir::Value special() {
    mlir::Value narrow = b.create<Register>(b.getI32Type());
    return b.create<mlir::arith::IndexCastUIOp>(b.getIndexType(), narrow);
  }
  mlir::Value rem(mlir::Value a, int64_t by);
  mlir::Value div(mlir::Value a, int64_t by);
  mlir::Value mul(mlir::Value a, int64_t by);

  /// Where an operand is after `turn` turns of loops that are counted as one.
  mlir::Value placeIn(ContractionOperand operand,
                      llvm::ArrayRef<LoopNest::Loop> loops, mlir::Value turn);
  /// Whether `at` is below `extent`; null, which is always, if steps of `step`
  /// do not pass it.
  mlir::Value below(mlir::Value at, int64_t extent, int64_t step);
  /// Whether both hold, of which null always does.
  mlir::Value both(mlir::Value first, mlir::Value second);
  /// `value()` where the condition holds, else zero.
  mlir::Value where(mlir::Value condition, mlir::Type type,
                    llvm::function_ref<mlir::Value()> value);
  /// Goes on where the condition holds only. Returns to where it was when the
  /// guard ends.
  void enterWhere(mlir::Value condition);
  /// Adds a sum to the element of C at `place`, or to what C was filled with.
  void addToC(mlir::Value place, mlir::Value sum);
  /// Takes the op and its fill out.
  void finish();

  mlir::linalg::LinalgOp op;
  mlir::linalg::FillOp fill;
  ProductRoles roles;
  NestBuilder b;
  mlir::Value firstM, firstN;
  std::array<mlir::Value, 3> bases;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_PRODUCTROLES_H
