// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/ProductBuilder.h"

#include "lib/Codegen/CUDA/Ptx.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace netc;
using namespace mlir;

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
