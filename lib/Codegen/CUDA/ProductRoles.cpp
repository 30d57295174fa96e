// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/ProductRoles.h"

#include "lib/Codegen/LinalgQueries.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace netc;
using namespace mlir;

using Loop = LoopNest::Loop;

/// The loop that moves to the next element of the operand goes last, and so do
/// others that move less.
static void sortRole(SmallVectorImpl<Loop> &loops, ContractionOperand operand) {
  llvm::stable_sort(loops, [=](const Loop &a, const Loop &b) {
    return std::abs(a.strides[operand]) > std::abs(b.strides[operand]);
  });
}

static bool isDenseRole(ArrayRef<Loop> loops, ContractionOperand operand) {
  return !loops.empty() && loops.back().strides[operand] == 1;
}

std::optional<ProductRoles> ProductRoles::of(linalg::LinalgOp op) {
  auto nest = LoopNest::of(op);
  if (!isContraction(op) || !nest || nest->scatters(2))
    return std::nullopt;
  nest->collapse();
  ProductRoles roles;
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
  for (ContractionOperand operand : {A, B, C})
    roles.starts[operand] = nest->starts[roles.operands[operand]];
  sortRole(roles.n, C);
  sortRole(roles.m, A);
  sortRole(roles.k, B);
  if (isDenseRole(roles.n, B) || !isDenseRole(roles.k, B))
    sortRole(roles.k, A);
  TileDims &dims = roles.dims;
  dims = {ContractionDims::pointsOf(roles.batch),
          ContractionDims::pointsOf(roles.m),
          ContractionDims::pointsOf(roles.n),
          ContractionDims::pointsOf(roles.k)};
  dims.elementBits =
      getElementTypeOrSelf(op.getDpsInits()[0]).getIntOrFloatBitWidth();
  dims.isAAlongK = isDenseRole(roles.k, A) || !isDenseRole(roles.m, A);
  dims.isBAlongK = isDenseRole(roles.k, B) && !isDenseRole(roles.n, B);
  return roles;
}

//===----------------------------------------------------------------------===//
// ProductBuilder
//===----------------------------------------------------------------------===//

Value ProductBuilder::rem(Value a, int64_t by) {
  return b.create<arith::RemUIOp>(a, b.index(by));
}
Value ProductBuilder::div(Value a, int64_t by) {
  return b.create<arith::DivUIOp>(a, b.index(by));
}
Value ProductBuilder::mul(Value a, int64_t by) {
  return b.create<arith::MulIOp>(a, b.index(by));
}

void ProductBuilder::placeTile(int64_t bm, int64_t bn) {
  int64_t tilesM = llvm::divideCeil(roles.dims.m, bm);
  int64_t tilesN = llvm::divideCeil(roles.dims.n, bn);
  Value block = special<NVVM::BlockIdXOp>();
  firstN = mul(rem(block, tilesN), bn);
  Value rest = div(block, tilesN);
  firstM = mul(rem(rest, tilesM), bm);
  Value batch = div(rest, tilesM);
  for (ContractionOperand operand : {A, B, C})
    bases[operand] =
        b.add(placeIn(operand, roles.batch, batch), roles.starts[operand]);
}

Value ProductBuilder::placeIn(ContractionOperand operand, ArrayRef<Loop> loops,
                              Value turn) {
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

Value ProductBuilder::below(Value at, int64_t extent, int64_t step) {
  if (extent % step == 0)
    return {};
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, at,
                                 b.index(extent));
}

Value ProductBuilder::both(Value first, Value second) {
  if (!first || !second)
    return first ? first : second;
  return b.create<arith::AndIOp>(first, second);
}

Value ProductBuilder::where(Value condition, Type type,
                            function_ref<Value()> value) {
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

void ProductBuilder::enterWhere(Value condition) {
  if (!condition)
    return;
  auto choice = b.create<scf::IfOp>(condition, /*withElse=*/false);
  b.setInsertionPointToStart(choice.thenBlock());
}

void ProductBuilder::addToC(Value place, Value sum) {
  Value memory = b.flat(roles.operands[C]);
  Value start = fill ? fill.getInputs()[0]
                     : Value(b.create<memref::LoadOp>(memory, place));
  b.create<memref::StoreOp>(b.create<arith::AddFOp>(start, sum), memory, place);
}

void ProductBuilder::finish() {
  if (fill)
    fill.erase();
  op.erase();
}
