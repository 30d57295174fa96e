// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/ProductBuilder.h"

#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Ptx.h"
#include "lib/Codegen/LinalgQueries.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace netc;
using namespace mlir;

/// The rows of a group of tiles, along which the numbers of blocks advance
/// first. The blocks that run at once then have about as many rows of A as
/// columns of B in common, and L2 holds both.
static constexpr int64_t kRowsOfGroup = 2048;

ProductBuilder::ProductBuilder(linalg::LinalgOp op, linalg::FillOp fill,
                               linalg::GenericOp epilogue)
    : BlockBuilder(op), op(op), fill(fill), epilogue(epilogue),
      dims(*TiledDims::of(op, epilogue)) {
  if (epilogue)
    b.addOperandsOf(epilogue);
}

void ProductBuilder::placeTile(int64_t bm, int64_t bn) {
  int64_t tilesM = llvm::divideCeil(dims.tile.m, bm);
  int64_t tilesN = llvm::divideCeil(dims.tile.n, bn);
  int64_t rows = std::min(kRowsOfGroup / bm, tilesM), rest = tilesM % rows;
  Value block = indexIn<NVVM::BlockIdXOp>(b);
  Value inBatch = b.rem(block, tilesM * tilesN),
        batch = b.div(block, tilesM * tilesN);
  Value group = b.div(inBatch, rows * tilesN),
        inGroup = b.rem(inBatch, rows * tilesN);
  Value row = b.rem(inGroup, rows), column = b.div(inGroup, rows);
  if (rest) {
    Value isLast = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, group,
                                           b.index(tilesM / rows));
    row = b.create<arith::SelectOp>(isLast, b.rem(inGroup, rest), row);
    column = b.create<arith::SelectOp>(isLast, b.div(inGroup, rest), column);
  }
  firstM = mul(b.add(mul(group, rows), row), bm);
  firstN = mul(column, bn);
  for (unsigned operand = 0; operand < dims.starts.size(); ++operand)
    bases.push_back(
        b.add(placeIn(operand, dims.batch, batch), dims.starts[operand]));
}

SmallVector<unsigned> ProductBuilder::storedOperands() {
  if (!epilogue)
    return {C};
  SmallVector<unsigned> operands;
  for (OpOperand &operand : epilogue->getOpOperands()) {
    bool isResult = epilogue.isDpsInit(&operand);
    bool isRead = !epilogue.getMatchingBlockArgument(&operand).use_empty();
    bool isC = operand.get() == op.getDpsInits()[0];
    if (!isC && (isResult || isRead) &&
        isa<MemRefType>(operand.get().getType()))
      operands.push_back(C + 1 + operand.getOperandNumber());
  }
  return operands;
}

Value ProductBuilder::memoryOf(unsigned operand) {
  return b.flat(operand <= C ? dims.operands[operand] : operand);
}

Value ProductBuilder::operandOf(unsigned operand) {
  return operand <= C ? op->getOperand(dims.operands[operand])
                      : epilogue->getOperand(operand - C - 1);
}

SmallVector<Value> ProductBuilder::placesOfRow(Value m) {
  SmallVector<Value> places(bases.size());
  for (unsigned operand : storedOperands())
    places[operand] = b.add(bases[operand], placeIn(operand, dims.m, m));
  return places;
}

int64_t ProductBuilder::columnStride(unsigned operand) {
  return dims.n.empty() ? 0 : dims.n.back().strides[operand];
}

bool ProductBuilder::isVector(unsigned operand, int64_t columns) {
  return !dims.n.empty() && dims.n.back().extent % columns == 0 &&
         isAligned(operandOf(operand), operand, dims.starts[operand],
                   {dims.batch, dims.m, dims.n}, dims.n.back(), columns);
}

SmallVector<unsigned> ProductBuilder::operandsOfColumns() {
  unsigned results =
      epilogue ? C + 1 + epilogue.getNumDpsInputs() : unsigned(C);
  SmallVector<unsigned> operands = storedOperands();
  llvm::erase_if(operands, [&](unsigned operand) {
    return operand < results && columnStride(operand) == 0;
  });
  return operands;
}

int64_t ProductBuilder::storeWidth() {
  SmallVector<unsigned> operands = operandsOfColumns();
  unsigned widest = 16;
  for (unsigned operand : operands) {
    Type element = getElementTypeOrSelf(operandOf(operand).getType());
    widest = std::max(widest, element.getIntOrFloatBitWidth());
  }
  int64_t width = kAccessBytes * 8 / widest;
  while (width > 1 && !llvm::all_of(operands, [&](unsigned operand) {
           return isVector(operand, width);
         }))
    width /= 2;
  return width;
}

bool ProductBuilder::isStaged() { return epilogue || storeWidth() < 4; }

SmallVector<Value> ProductBuilder::load(unsigned operand, Value place,
                                        size_t columns) {
  if (columnStride(operand) == 0)
    return SmallVector<Value>(columns,
                              loadVector(b, memoryOf(operand), place, 1)[0]);
  return loadVector(b, memoryOf(operand), place, columns);
}

void ProductBuilder::store(ArrayRef<Value> placesOfRow, Value n,
                           ArrayRef<Value> sums) {
  auto placeOf = [&](unsigned operand) {
    return b.add(placesOfRow[operand], placeIn(operand, dims.n, n));
  };
  auto add = [&](Value start, Value sum) -> Value {
    return b.create<arith::AddFOp>(start, sum);
  };
  SmallVector<Value> started;
  for (Value sum : sums)
    started.push_back(fill ? add(fill.getInputs()[0], sum) : sum);
  if (!epilogue) {
    Value place = placeOf(C);
    if (!fill)
      for (auto [sum, old] :
           llvm::zip_equal(started, load(C, place, sums.size())))
        sum = add(old, sum);
    return storeVector(b, started, memoryOf(C), place);
  }
  // By operand of the epilogue: its elements in each column.
  SmallVector<SmallVector<Value>> elements(epilogue->getNumOperands());
  for (OpOperand &operand : epilogue->getOpOperands()) {
    SmallVector<Value> &of = elements[operand.getOperandNumber()];
    if (operand.get() == op.getDpsInits()[0])
      of = started;
    else if (!isa<MemRefType>(operand.get().getType()))
      of.assign(sums.size(), operand.get());
    else if (!epilogue.getMatchingBlockArgument(&operand).use_empty()) {
      unsigned number = C + 1 + operand.getOperandNumber();
      of = load(number, placeOf(number), sums.size());
    } else
      of.assign(sums.size(), Value());
  }
  unsigned inputs = epilogue.getNumDpsInputs();
  SmallVector<SmallVector<Value>> results(epilogue.getNumDpsInits());
  for (size_t column = 0; column < sums.size(); ++column) {
    PointBuilder point(epilogue, b);
    SmallVector<Value> old;
    for (auto [number, of] : llvm::enumerate(elements))
      if (number < inputs)
        point.known[number] = of[column];
      else
        old.push_back(of[column]);
    for (auto [result, value] : llvm::zip_equal(results, point.payload(old)))
      result.push_back(value);
  }
  for (auto [number, values] : llvm::enumerate(results)) {
    unsigned operand = C + 1 + inputs + number;
    storeVector(b, values, memoryOf(operand), placeOf(operand));
  }
}

void ProductBuilder::finish() {
  if (epilogue)
    epilogue.erase();
  if (fill)
    fill.erase();
  op.erase();
}
