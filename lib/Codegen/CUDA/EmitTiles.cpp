// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Contractions by tiles in shared memory.

#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/ProductBuilder.h"
#include "lib/Codegen/CUDA/Ptx.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace netc;
using namespace mlir;

std::optional<TileSchedule> netc::tileScheduleOf(linalg::LinalgOp op,
                                                 const DeviceInfo &device) {
  std::optional<TiledDims> dims = TiledDims::of(op);
  Type sum = getElementTypeOrSelf(op.getDpsInits()[0]);
  auto isWide = [&](Value factor) {
    return getElementTypeOrSelf(factor.getType()) == sum;
  };
  if (!dims || dims->tile.elementBits < 32 ||
      !llvm::all_of(op.getDpsInputs(), isWide))
    return std::nullopt;
  return scheduleTiles(dims->tile, device);
}

namespace {
class TileEmitter : ProductBuilder {
public:
  TileEmitter(linalg::LinalgOp op, linalg::FillOp fill, TileSchedule tiles)
      : ProductBuilder(op, fill, epilogueOf(op)), tiles(std::move(tiles)),
        type(getElementTypeOrSelf(op.getDpsInits()[0])) {}

  void emit() {
    placeTile(tiles.bm, tiles.bn);
    thread = indexIn<NVVM::ThreadIdXOp>(b);
    threadN = b.rem(thread, TileSchedule::kSide);
    threadM = b.div(thread, TileSchedule::kSide);
    shared[A] = sharedBuffer(b, "tile_a", type, tiles.bk * tiles.strideA());
    shared[B] = sharedBuffer(b, "tile_b", type, tiles.bk * tiles.strideB());

    Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(type));
    SmallVector<Value> sums(rows() * columns(), zero);
    sums = b.loop(tiles.dims.k, tiles.bk, sums, [&](Value k, ValueRange sums) {
      copyTile(A, k);
      copyTile(B, k);
      b.create<NVVM::Barrier0Op>();
      SmallVector<Value> more = addProducts(sums);
      b.create<NVVM::Barrier0Op>();
      return more;
    });
    for (int64_t i = 0; i < rows(); ++i)
      for (int64_t j = 0; j < columns(); ++j)
        store(i, j, sums[i * columns() + j]);
    finish();
  }

private:
  int64_t rows() const { return tiles.bm / TileSchedule::kSide; }
  int64_t columns() const { return tiles.bn / TileSchedule::kSide; }

  /// Copies the tile of A or B from `k` on. Consecutive threads read
  /// consecutive elements.
  void copyTile(ContractionOperand operand, Value k) {
    bool isA = operand == A;
    int64_t side = isA ? tiles.bm : tiles.bn;
    bool isAlongK = dims.isAlongK(operand);
    int64_t inner = isAlongK ? tiles.bk : side;
    for (int64_t i = 0; i < side * tiles.bk; i += TileSchedule::kThreads) {
      Value first = b.rem(thread, inner), second = b.div(thread, inner);
      // The threads copy several rows of the tile at a time.
      second = b.add(second, i / inner);
      Value inK = isAlongK ? first : second, inSide = isAlongK ? second : first;
      Value atK = b.add(k, inK);
      Value at = b.add(isA ? firstM : firstN, inSide);
      Value condition = both(isInBounds(atK, tiles.dims.k, tiles.bk),
                             isInBounds(at, dims.extentOf(operand), side));
      Value element = where(condition, type, [&]() -> Value {
        Value place =
            b.add(bases[operand], placeIn(operand, dims.sideOf(operand), at));
        place = b.add(place, placeIn(operand, dims.k, atK));
        return b.create<memref::LoadOp>(b.flat(dims.operands[operand]), place);
      });
      Value to =
          b.add(mul(inK, isA ? tiles.strideA() : tiles.strideB()), inSide);
      b.create<memref::StoreOp>(element, shared[operand], to);
    }
  }

  SmallVector<Value> addProducts(ValueRange sums) {
    return b.loop(tiles.bk, 1, sums, [&](Value k, ValueRange sums) {
      auto read = [&](ContractionOperand operand, int64_t stride, Value of,
                      int64_t i) {
        Value at = b.add(b.add(mul(k, stride), of), i * TileSchedule::kSide);
        return b.create<memref::LoadOp>(shared[operand], at);
      };
      SmallVector<Value> left, right, more;
      for (int64_t i = 0; i < rows(); ++i)
        left.push_back(read(A, tiles.strideA(), threadM, i));
      for (int64_t j = 0; j < columns(); ++j)
        right.push_back(read(B, tiles.strideB(), threadN, j));
      for (int64_t i = 0; i < rows(); ++i)
        for (int64_t j = 0; j < columns(); ++j)
          more.push_back(b.create<math::FmaOp>(left[i], right[j],
                                               sums[i * columns() + j]));
      return more;
    });
  }

  void store(int64_t i, int64_t j, Value sum) {
    Value m = b.add(b.add(firstM, threadM), i * TileSchedule::kSide);
    Value n = b.add(b.add(firstN, threadN), j * TileSchedule::kSide);
    OpBuilder::InsertionGuard guard(b);
    enterWhere(both(isInBounds(m, tiles.dims.m, tiles.bm),
                    isInBounds(n, tiles.dims.n, tiles.bn)));
    ProductBuilder::store(placesOfRow(m), n, sum);
  }

  TileSchedule tiles;
  Type type;
  Value thread, threadM, threadN;
  std::array<Value, 2> shared;
};
} // namespace

std::optional<KernelShape> netc::emitTiles(linalg::LinalgOp op,
                                           linalg::FillOp fill,
                                           const DeviceInfo &device) {
  std::optional<TileSchedule> tiles = tileScheduleOf(op, device);
  if (!tiles)
    return std::nullopt;
  KernelShape shape{tiles->blocks() * TileSchedule::kThreads,
                    TileSchedule::kThreads};
  TileEmitter(op, fill, *tiles).emit();
  return shape;
}
