// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Contractions as tiles in shared memory. Each of m, n and k may be several
// loops, as those of a convolution's windows. They are linearized to one index,
// from which the offset in an operand is computed.

#include "lib/Codegen/CPU/ContractionDims.h"
#include "lib/Codegen/CPU/LoopNest.h"
#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/TileSchedule.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace netc;
using namespace mlir;

using Loop = LoopNest::Loop;

namespace {
using Operand = ContractionOperand;

/// The loops of a contraction, sorted by the operands that they advance in.
/// Strides are indexed by Operand; the smallest are last.
struct ProductLoops {
  SmallVector<Loop> batch, m, n, k;
  std::array<unsigned, 3> operands = {0, 1, 2}; ///< of the op
  std::array<int64_t, 3> starts;
  TileDims dims;
};
} // namespace

/// Sorts by descending strides, so that a contiguous loop is last.
static void sortBy(SmallVectorImpl<Loop> &loops, Operand operand) {
  llvm::stable_sort(loops, [=](const Loop &a, const Loop &b) {
    return std::abs(a.strides[operand]) > std::abs(b.strides[operand]);
  });
}

static bool isDense(ArrayRef<Loop> loops, Operand operand) {
  return !loops.empty() && loops.back().strides[operand] == 1;
}

/// None if the op is no contraction, or a loop is none of batch, m, n and k.
static std::optional<ProductLoops> productLoopsOf(linalg::LinalgOp op) {
  auto nest = LoopNest::of(op);
  if (!isContraction(op) || !nest || nest->scatters(2))
    return std::nullopt;
  nest->collapse();
  ProductLoops product;
  // Swap A and B if that makes n contiguous in the result.
  for (const Loop &loop : nest->loops)
    if (loop.isParallel && loop.strides[C] == 1 && loop.strides[A] != 0 &&
        loop.strides[B] == 0)
      product.operands = {1, 0, 2};
  for (Loop loop : nest->loops) {
    if (product.operands[A] == 1)
      std::swap(loop.strides[A], loop.strides[B]);
    bool a = loop.strides[A] != 0, b = loop.strides[B] != 0;
    if (!loop.isParallel)
      product.k.push_back(loop);
    else if (a && b)
      product.batch.push_back(loop);
    else if (b)
      product.n.push_back(loop);
    else if (a)
      product.m.push_back(loop);
    else
      return std::nullopt;
  }
  for (Operand operand : {A, B, C})
    product.starts[operand] = nest->starts[product.operands[operand]];
  sortBy(product.n, C);
  sortBy(product.m, A);
  sortBy(product.k, B);
  if (isDense(product.n, B) || !isDense(product.k, B))
    sortBy(product.k, A);
  TileDims &dims = product.dims;
  dims = {ContractionDims::pointsOf(product.batch),
          ContractionDims::pointsOf(product.m),
          ContractionDims::pointsOf(product.n),
          ContractionDims::pointsOf(product.k)};
  dims.elementBits =
      getElementTypeOrSelf(op.getDpsInits()[0]).getIntOrFloatBitWidth();
  dims.isAAlongK = isDense(product.k, A) || !isDense(product.m, A);
  dims.isBAlongK = isDense(product.k, B) && !isDense(product.n, B);
  return product;
}

std::optional<TileSchedule> netc::tileScheduleOf(linalg::LinalgOp op) {
  std::optional<ProductLoops> product = productLoopsOf(op);
  if (!product || product->dims.elementBits < 32)
    return std::nullopt;
  return scheduleTiles(product->dims, DeviceInfo());
}

namespace {
class TileEmitter {
public:
  TileEmitter(linalg::LinalgOp op, linalg::FillOp fill, ProductLoops product,
              TileSchedule tiles)
      : op(op), fill(fill), product(std::move(product)),
        tiles(std::move(tiles)), b(op),
        type(getElementTypeOrSelf(op.getDpsInits()[0])) {}

  void emit() {
    thread = special<NVVM::ThreadIdXOp>();
    Value block = special<NVVM::BlockIdXOp>();
    Value tileN = rem(block, tiles.tilesN());
    Value rest = div(block, tiles.tilesN());
    firstN = mul(tileN, tiles.bn);
    firstM = mul(rem(rest, tiles.tilesM()), tiles.bm);
    Value batch = div(rest, tiles.tilesM());
    for (Operand operand : {A, B, C})
      bases[operand] = b.add(offsetIn(operand, product.batch, batch),
                             product.starts[operand]);
    threadN = rem(thread, TileSchedule::kSide);
    threadM = div(thread, TileSchedule::kSide);
    shared[A] = buffer("tile_a", tiles.strideA());
    shared[B] = buffer("tile_b", tiles.strideB());

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
    if (fill)
      fill.erase();
    op.erase();
  }

private:
  int64_t rows() const { return tiles.bm / TileSchedule::kSide; }
  int64_t columns() const { return tiles.bn / TileSchedule::kSide; }

  template <typename Register> Value special() {
    Value narrow = b.create<Register>(b.getI32Type());
    return b.create<arith::IndexCastUIOp>(b.getIndexType(), narrow);
  }
  Value rem(Value a, int64_t by) {
    return b.create<arith::RemUIOp>(a, b.index(by));
  }
  Value div(Value a, int64_t by) {
    return b.create<arith::DivUIOp>(a, b.index(by));
  }
  Value mul(Value a, int64_t by) {
    return b.create<arith::MulIOp>(a, b.index(by));
  }

  /// The offset in an operand at the linearized index of `loops`.
  Value offsetIn(Operand operand, ArrayRef<Loop> loops, Value index) {
    Value offset = b.index(0);
    for (const Loop &loop : llvm::reverse(loops)) {
      bool isLast = &loop == loops.begin();
      Value here = isLast ? index : rem(index, loop.extent);
      if (loop.strides[operand])
        offset = b.add(offset, mul(here, loop.strides[operand]));
      if (!isLast)
        index = div(index, loop.extent);
    }
    return offset;
  }

  Value buffer(StringRef name, int64_t stride) {
    auto kernel = op->getParentOfType<func::FuncOp>();
    auto memory = MemRefType::get({tiles.bk * stride}, type, AffineMap(),
                                  b.getI64IntegerAttr(kSharedSpace));
    OpBuilder top(kernel);
    std::string unique = (kernel.getName() + "_" + name).str();
    top.create<memref::GlobalOp>(op.getLoc(), unique,
                                 top.getStringAttr("private"), memory,
                                 top.getUnitAttr(), /*constant=*/false,
                                 /*alignment=*/top.getI64IntegerAttr(16));
    return b.create<memref::GetGlobalOp>(memory, unique);
  }

  /// The conjunction of `index < extent`. Leaves out conditions that always
  /// hold because `step` divides the extent. Null if all hold.
  Value within(ArrayRef<std::tuple<Value, int64_t, int64_t>> bounds) {
    Value all;
    for (auto [at, extent, step] : bounds) {
      if (extent % step == 0)
        continue;
      Value here = b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, at,
                                           b.index(extent));
      all = all ? b.create<arith::AndIOp>(all, here) : here;
    }
    return all;
  }

  /// `value()` where the condition holds, else zero.
  Value where(Value condition, function_ref<Value()> value) {
    if (!condition)
      return value();
    auto choice = b.create<scf::IfOp>(type, condition, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    b.create<scf::YieldOp>(value());
    b.setInsertionPointToStart(choice.elseBlock());
    Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(type));
    b.create<scf::YieldOp>(zero);
    return choice.getResult(0);
  }

  /// Copies the tile of A or B that starts at `k` to shared memory. Consecutive
  /// threads read consecutive elements.
  void copyTile(Operand operand, Value k) {
    bool isA = operand == A;
    int64_t side = isA ? tiles.bm : tiles.bn;
    bool isAlongK = isA ? tiles.dims.isAAlongK : tiles.dims.isBAlongK;
    int64_t inner = isAlongK ? tiles.bk : side;
    for (int64_t i = 0; i < side * tiles.bk; i += TileSchedule::kThreads) {
      Value first = rem(thread, inner), second = div(thread, inner);
      // A tile may have fewer elements along a side than the block has threads,
      // or more.
      if (inner < TileSchedule::kThreads)
        second = b.add(second, i / inner);
      Value inK = isAlongK ? first : second, inSide = isAlongK ? second : first;
      Value atK = b.add(k, inK);
      Value at = b.add(isA ? firstM : firstN, inSide);
      Value condition = within({{atK, tiles.dims.k, tiles.bk},
                                {at, isA ? tiles.dims.m : tiles.dims.n, side}});
      Value element = where(condition, [&]() -> Value {
        Value offset = b.add(
            bases[operand], offsetIn(operand, isA ? product.m : product.n, at));
        offset = b.add(offset, offsetIn(operand, product.k, atK));
        return b.create<memref::LoadOp>(b.flat(product.operands[operand]),
                                        offset);
      });
      Value to =
          b.add(mul(inK, isA ? tiles.strideA() : tiles.strideB()), inSide);
      b.create<memref::StoreOp>(element, shared[operand], to);
    }
  }

  SmallVector<Value> addProducts(ValueRange sums) {
    return b.loop(tiles.bk, 1, sums, [&](Value k, ValueRange sums) {
      auto read = [&](Operand operand, int64_t stride, Value of, int64_t i) {
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
    Value condition =
        within({{m, tiles.dims.m, tiles.bm}, {n, tiles.dims.n, tiles.bn}});
    OpBuilder::InsertionGuard guard(b);
    if (condition) {
      auto choice = b.create<scf::IfOp>(condition, /*withElse=*/false);
      b.setInsertionPointToStart(choice.thenBlock());
    }
    Value offset = b.add(bases[C], offsetIn(C, product.m, m));
    offset = b.add(offset, offsetIn(C, product.n, n));
    Value memory = b.flat(product.operands[C]);
    Value start = fill ? fill.getInputs()[0]
                       : Value(b.create<memref::LoadOp>(memory, offset));
    b.create<memref::StoreOp>(b.create<arith::AddFOp>(start, sum), memory,
                              offset);
  }

  linalg::LinalgOp op;
  linalg::FillOp fill;
  ProductLoops product;
  TileSchedule tiles;
  NestBuilder b;
  Type type;
  Value thread, threadM, threadN, firstM, firstN;
  std::array<Value, 3> bases;
  std::array<Value, 2> shared;
};
} // namespace

std::optional<KernelShape> netc::emitTiles(linalg::LinalgOp op,
                                           linalg::FillOp fill) {
  std::optional<TileSchedule> tiles = tileScheduleOf(op);
  if (!tiles)
    return std::nullopt;
  KernelShape shape{tiles->blocks() * TileSchedule::kThreads,
                    TileSchedule::kThreads};
  TileEmitter(op, fill, *productLoopsOf(op), *tiles).emit();
  return shape;
}
