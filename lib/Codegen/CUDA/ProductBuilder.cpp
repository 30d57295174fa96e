// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/ProductBuilder.h"

#include "lib/Codegen/CUDA/Ptx.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace netc;
using namespace mlir;

using Loop = LoopNest::Loop;

Value ProductBuilder::mul(Value a, int64_t by) {
  return b.create<arith::MulIOp>(a, b.index(by));
}

void ProductBuilder::placeTile(int64_t bm, int64_t bn) {
  int64_t tilesM = llvm::divideCeil(dims.tile.m, bm);
  int64_t tilesN = llvm::divideCeil(dims.tile.n, bn);
  Value block = indexIn<NVVM::BlockIdXOp>(b);
  firstN = mul(b.rem(block, tilesN), bn);
  Value rest = b.div(block, tilesN);
  firstM = mul(b.rem(rest, tilesM), bm);
  Value batch = b.div(rest, tilesM);
  for (ContractionOperand operand : {A, B, C})
    bases[operand] =
        b.add(placeIn(operand, dims.batch, batch), dims.starts[operand]);
}

Value ProductBuilder::placeIn(ContractionOperand operand, ArrayRef<Loop> loops,
                              Value iteration) {
  Value place = b.index(0);
  for (const Loop &loop : llvm::reverse(loops)) {
    bool isLast = &loop == loops.begin();
    Value here = isLast ? iteration : b.rem(iteration, loop.extent);
    if (loop.strides[operand])
      place = b.add(place, mul(here, loop.strides[operand]));
    if (!isLast)
      iteration = b.div(iteration, loop.extent);
  }
  return place;
}

Value ProductBuilder::isInBounds(Value at, int64_t extent, int64_t step) {
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
  Value memory = b.flat(dims.operands[C]);
  Value start = fill ? fill.getInputs()[0]
                     : Value(b.create<memref::LoadOp>(memory, place));
  b.create<memref::StoreOp>(b.create<arith::AddFOp>(start, sum), memory, place);
}

void ProductBuilder::finish() {
  if (fill)
    fill.erase();
  op.erase();
}
