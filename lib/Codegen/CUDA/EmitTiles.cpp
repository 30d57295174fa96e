// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums of products by tiles in shared memory. Loops of an operand may be
// several, as those of a convolution's windows are: one number counts all of
// them, from which each place follows.

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
enum Operand { A, B, C };

/// The loops of a product by the operands that they move in. Strides are by
/// Operand. The last of each moves least.
struct Roles {
  SmallVector<Loop> batch, m, n, k;
  std::array<unsigned, 3> operands = {0, 1, 2}; ///< of the op
  std::array<int64_t, 3> starts;
  TileDims dims;
};
} // namespace

static int64_t pointsOf(ArrayRef<Loop> loops) {
  int64_t points = 1;
  for (const Loop &loop : loops)
    points *= loop.extent;
  return points;
}

/// The loop that moves to the next element of the operand goes last, and so do
/// others that move less.
static void sortBy(SmallVectorImpl<Loop> &loops, Operand operand) {
  llvm::stable_sort(loops, [=](const Loop &a, const Loop &b) {
    return std::abs(a.strides[operand]) > std::abs(b.strides[operand]);
  });
}

static bool isDense(ArrayRef<Loop> loops, Operand operand) {
  return !loops.empty() && loops.back().strides[operand] == 1;
}

/// None if the op is no product, or has loops of no role.
static std::optional<Roles> rolesOf(linalg::LinalgOp op) {
  auto nest = LoopNest::of(op);
  if (!isContraction(op) || !nest || nest->scatters(2))
    return std::nullopt;
  nest->collapse();
  Roles roles;
  // Columns are those that lie next to each other in the result.
  for (const Loop &loop : nest->loops)
    if (loop.isParallel && loop.strides[C] == 1 && loop.strides[A] != 0 &&
        loop.strides[B] == 0)
      roles.operands = {1, 0, 2};
  for (Loop loop : nest->loops) {
    if (roles.operands[A] == 1)
      std::swap(loop.strides[A], loop.strides[B]);
    bool a = loop.strides[A] != 0, b = loop.strides[B] != 0;
    if (!loop.isParallel)
      roles.k.push_back(loop);
    else if (a && b)
      roles.batch.push_back(loop);
    else if (b)
      roles.n.push_back(loop);
    else if (a)
      roles.m.push_back(loop);
    else
      return std::nullopt;
  }
  for (Operand operand : {A, B, C})
    roles.starts[operand] = nest->starts[roles.operands[operand]];
  sortBy(roles.n, C);
  sortBy(roles.m, A);
  sortBy(roles.k, B);
  if (isDense(roles.n, B) || !isDense(roles.k, B))
    sortBy(roles.k, A);
  TileDims &dims = roles.dims;
  dims = {pointsOf(roles.batch), pointsOf(roles.m), pointsOf(roles.n),
          pointsOf(roles.k)};
  dims.elementBits =
      getElementTypeOrSelf(op.getDpsInits()[0]).getIntOrFloatBitWidth();
  dims.isAAlongK = isDense(roles.k, A) || !isDense(roles.m, A);
  dims.isBAlongK = isDense(roles.k, B) && !isDense(roles.n, B);
  return roles;
}

std::optional<TileSchedule> netc::tileScheduleOf(linalg::LinalgOp op) {
  std::optional<Roles> roles = rolesOf(op);
  if (!roles || roles->dims.elementBits < 32)
    return std::nullopt;
  return scheduleTiles(roles->dims, DeviceInfo());
}

namespace {
class TileEmitter {
public:
  TileEmitter(linalg::LinalgOp op, linalg::FillOp fill, Roles roles,
              TileSchedule tiles)
      : op(op), fill(fill), roles(std::move(roles)), tiles(std::move(tiles)),
        b(op), type(getElementTypeOrSelf(op.getDpsInits()[0])) {}

  void emit() {
    thread = special<NVVM::ThreadIdXOp>();
    Value block = special<NVVM::BlockIdXOp>();
    Value tileN = rem(block, tiles.tilesN());
    Value rest = div(block, tiles.tilesN());
    firstN = mul(tileN, tiles.bn);
    firstM = mul(rem(rest, tiles.tilesM()), tiles.bm);
    Value batch = div(rest, tiles.tilesM());
    for (Operand operand : {A, B, C})
      bases[operand] =
          b.add(placeIn(operand, roles.batch, batch), roles.starts[operand]);
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

  /// Where an operand is after `turn` turns of loops that are counted as one.
  Value placeIn(Operand operand, ArrayRef<Loop> loops, Value turn) {
    Value place = b.index(0);
    for (const Loop &loop : llvm::reverse(loops)) {
      bool isLast = &loop == loops.begin();
      Value here = isLast ? turn : rem(turn, loop.extent);
      if (loop.strides[operand])
        place = b.add(place, mul(here, loop.strides[operand]));
      if (!isLast)
        turn = div(turn, loop.extent);
    }
    return place;
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

  /// What is true where all of these are, each left out if it always is; null
  /// if all are.
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

  /// Copies the tile of A or B whose sums start at `k`; threads that follow
  /// each other read what lies next to each other.
  void copyTile(Operand operand, Value k) {
    bool isA = operand == A;
    int64_t side = isA ? tiles.bm : tiles.bn;
    bool isAlongK = isA ? tiles.dims.isAAlongK : tiles.dims.isBAlongK;
    int64_t inner = isAlongK ? tiles.bk : side;
    for (int64_t i = 0; i < side * tiles.bk; i += TileSchedule::kThreads) {
      Value first = rem(thread, inner), second = div(thread, inner);
      // A tile's side may be less than the threads, or more.
      if (inner < TileSchedule::kThreads)
        second = b.add(second, i / inner);
      Value inK = isAlongK ? first : second, inSide = isAlongK ? second : first;
      Value atK = b.add(k, inK);
      Value at = b.add(isA ? firstM : firstN, inSide);
      Value condition = within({{atK, tiles.dims.k, tiles.bk},
                                {at, isA ? tiles.dims.m : tiles.dims.n, side}});
      Value element = where(condition, [&]() -> Value {
        Value place = b.add(bases[operand],
                            placeIn(operand, isA ? roles.m : roles.n, at));
        place = b.add(place, placeIn(operand, roles.k, atK));
        return b.create<memref::LoadOp>(b.flat(roles.operands[operand]), place);
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
    Value place = b.add(bases[C], placeIn(C, roles.m, m));
    place = b.add(place, placeIn(C, roles.n, n));
    Value memory = b.flat(roles.operands[C]);
    Value start = fill ? fill.getInputs()[0]
                       : Value(b.create<memref::LoadOp>(memory, place));
    b.create<memref::StoreOp>(b.create<arith::AddFOp>(start, sum), memory,
                              place);
  }

  linalg::LinalgOp op;
  linalg::FillOp fill;
  Roles roles;
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
  TileEmitter(op, fill, *rolesOf(op), *tiles).emit();
  return shape;
}
