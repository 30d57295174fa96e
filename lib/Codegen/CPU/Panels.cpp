// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CPU/Panels.h"
#include "lib/Codegen/LinalgQueries.h"

using namespace netc;
using namespace mlir;

bool netc::arePanels(int64_t columns, int64_t nr) {
  return columns > nr && columns % nr == 0;
}

ArrayRef<int64_t> netc::sizesOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

bool netc::isReordering(linalg::LinalgOp op) {
  return isConversion(op) &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity();
}

std::optional<unsigned> netc::columnAxis(linalg::GenericOp op,
                                         unsigned number) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap map = maps[number], result = maps.back();
  auto last = result.getNumResults() == 0
                  ? AffineExpr()
                  : dyn_cast<AffineDimExpr>(result.getResults().back());
  if (!last)
    return std::nullopt;
  unsigned loop = cast<AffineDimExpr>(last).getPosition();
  std::optional<unsigned> found;
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(loop))
      continue;
    if (found || expr != last)
      return std::nullopt;
    found = axis;
  }
  return maps[1 - number].isFunctionOfDim(loop) ? std::nullopt : found;
}

linalg::GenericOp netc::createCopy(OpBuilder &b, Location loc, Value source,
                                   AffineMap from, Value target, AffineMap to,
                                   linalg::LinalgOp like) {
  SmallVector<utils::IteratorType> iterators(to.getNumDims(),
                                             utils::IteratorType::parallel);
  return b.create<linalg::GenericOp>(
      loc, target.getType(), source, target, ArrayRef<AffineMap>{from, to},
      iterators, [&](OpBuilder &b, Location loc, ValueRange elements) {
        if (!like) {
          b.create<linalg::YieldOp>(loc, elements.front());
          return;
        }
        Block &body = like->getRegion(0).front();
        IRMapping values;
        values.map(body.getArgument(0), elements.front());
        for (Operation &payload : body)
          b.clone(payload, values);
      });
}

void netc::cutColumns(linalg::GenericOp op, unsigned column, unsigned packed,
                      ArrayRef<AffineExpr> order, int64_t nr) {
  Builder b(op.getContext());
  unsigned count = op.getNumLoops();
  AffineExpr panel = b.getAffineDimExpr(count),
             within = b.getAffineDimExpr(column);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (auto [i, map] : llvm::enumerate(maps)) {
    SmallVector<AffineExpr> results(map.getResults());
    for (AffineExpr &result : results)
      result = result.replace(within, panel * nr + within);
    if (i == packed)
      results.assign(order.begin(), order.end());
    map = AffineMap::get(count + 1, 0, results, b.getContext());
  }
  SmallVector<Attribute> iterators(op.getIteratorTypes().getValue());
  iterators.push_back(linalg::IteratorTypeAttr::get(
      b.getContext(), utils::IteratorType::parallel));
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  op.setIteratorTypesAttr(b.getArrayAttr(iterators));
}
