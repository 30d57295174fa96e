// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Conversion/BoundedIndex.h"
#include "lib/Conversion/LinalgBuilder.h"

using namespace netc;
using namespace mlir;

/// y[.., m, ..] += x[.., k, ..] w[m, k]; the last loop is k.
static void lowerLinear(LinearOp op, LinalgBuilder &b) {
  RankedTensorType type = b.type(op.getY());
  unsigned rank = type.getRank(), over = op.getOver();
  SmallVector<int64_t> x, y;
  for (unsigned axis = 0; axis < rank; ++axis) {
    x.push_back(axis == over ? rank : axis);
    y.push_back(axis);
  }
  unsigned loops = rank + 1;
  b.set(op.getY(),
        b.contract({b.get(op.getX()), b.get(op.getW())}, b.filled(type, 0),
                   {b.project(loops, x), b.project(loops, {over, rank}),
                    b.project(loops, y)}));
}

/// The product of the operands without a reduction axis, else a contraction.
static void lowerEinsum(EinsumOp op, LinalgBuilder &b) {
  SmallVector<AffineMap> maps = op.getIndexingMaps();
  SmallVector<Value> operands;
  for (Value x : op.getXs())
    operands.push_back(b.get(x));
  RankedTensorType type = b.type(op.getY());
  if (maps.front().getNumDims() > type.getRank())
    return b.set(op.getY(), b.contract(operands, b.filled(type, 0), maps));
  maps.pop_back();
  b.set(op.getY(), b.mapTo(type, operands, maps, [](ArrayRef<Element> args) {
    Element product = args.front();
    for (Element factor : args.drop_front().drop_back())
      product = product * factor;
    return product;
  }));
}

/// Gathers the rows `ids` of the table. The axes of a row are the last axes of
/// y.
static void lowerEmbedding(EmbeddingOp op, LinalgBuilder &b) {
  Value table = b.get(op.getTable());
  RankedTensorType type = b.typeLike(op.getY(), table);
  SmallVector<int64_t> idAxes;
  for (int64_t axis = 0; axis < b.type(op.getIds()).getRank(); ++axis)
    idAxes.push_back(axis);
  Value y = b.mapTo(
      type, b.get(op.getIds()), b.project(type.getRank(), idAxes),
      [&](ArrayRef<Element> args) {
        ImplicitLocOpBuilder &e = *args[0].b;
        BoundedIndex row =
            BoundedIndex::of(e, args[0], b.type(op.getTable()).getDimSize(0));
        SmallVector<Value> at{row.index};
        for (int64_t axis = idAxes.size(); axis < type.getRank(); ++axis)
          at.push_back(e.create<linalg::IndexOp>(axis));
        return row.orZero(b.scalar(e, table, at));
      });
  b.set(op.getY(), y);
}

static void lowerEmbeddingGrad(EmbeddingGradOp op, LinalgBuilder &b) {
  Value dy = b.get(op.getDy()), ids = b.get(op.getIds());
  RankedTensorType type = b.type(op.getDtable());
  b.set(op.getDtable(),
        b.updateRows(dy, ids, b.filled(type, 0),
                     [](Element row, Element dy) { return row + dy; }));
}

void netc::addMatmulLowerings(Lowerings &lowerings) {
  lowerings.add(lowerLinear);
  lowerings.add(lowerEinsum);
  lowerings.add(lowerEmbedding);
  lowerings.add(lowerEmbeddingGrad);
}
