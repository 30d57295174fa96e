// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Conversion/LinalgBuilder.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace netc;
using namespace mlir;

/// Offsets, sizes and strides of element `at` of one axis.
static std::array<SmallVector<OpFoldResult>, 3>
elementOf(LinalgBuilder &b, RankedTensorType type, int64_t axis, Value at) {
  SmallVector<OpFoldResult> starts(type.getRank(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(b.getIndexAttr(size));
  starts[axis] = at;
  sizes[axis] = b.getIndexAttr(1);
  return {starts, sizes, strides};
}

/// A loop that carries the outputs, each turn placing its element, then the
/// carried values.
static LogicalResult lowerScan(ScanOp op, LinalgBuilder &b,
                               const Lowerings &lowerings) {
  SmallVector<Value> inits;
  unsigned numOutputs = op.getNumOutputs();
  for (Value output : op.getValues().take_front(numOutputs))
    inits.push_back(b.empty(b.type(output)));
  for (Value init : op.getInits())
    inits.push_back(b.get(init));
  int64_t trip = *op.getTrip().getValue().toInt64();
  Location loc = op.getLoc();

  LogicalResult result = success();
  SmallVector<Value> values =
      b.loops(b.index(trip), inits, [&](ValueRange turn, ValueRange carried) {
        Value at = turn.front();
        if (op.getReversed())
          at = b.create<arith::SubIOp>(b.index(trip - 1), at);
        Block &body = op.getBlock();
        unsigned argument = 0;
        for (auto [sequence, axis] :
             llvm::zip_equal(op.getSequences(), op.getAxes())) {
          auto [starts, sizes, strides] =
              elementOf(b, b.type(sequence), axis, at);
          BlockArgument element = body.getArgument(argument++);
          // Not at once: upstream simplifies a slice that loses one of two
          // axes of size 1 to another one.
          Value slice = b.create<tensor::ExtractSliceOp>(
              b.get(sequence), starts, sizes, strides);
          b.set(element, b.reshape(slice, b.type(element)));
        }
        for (Value value : carried.drop_front(numOutputs))
          b.set(body.getArgument(argument++), value);

        b.turns.push_back(turn.front());
        if (failed(lowerings.lower(body, b)))
          result = failure();
        b.turns.pop_back();
        b.setLoc(loc);
        if (failed(result))
          return SmallVector<Value>(carried);

        OperandRange yielded = op.getYield().getValues();
        SmallVector<Value> next;
        for (auto [i, axis] : llvm::enumerate(op.getOutAxes())) {
          auto [starts, sizes, strides] =
              elementOf(b, b.type(op.getValues()[i]), axis, at);
          next.push_back(b.create<tensor::InsertSliceOp>(
              b.get(yielded[i]), carried[i], starts, sizes, strides));
        }
        // In place, so that each turn finds the values where the last one did.
        for (auto [value, old] :
             llvm::zip_equal(yielded.drop_front(numOutputs),
                             carried.drop_front(numOutputs)))
          next.push_back(b.create<bufferization::MaterializeInDestinationOp>(
                              b.get(value), old)
                             .getResult());
        return next;
      });
  if (failed(result))
    return failure();
  for (auto [net, tensor] : llvm::zip_equal(op.getValues(), values))
    b.set(net, tensor);
  return success();
}

void netc::addScanLowering(Lowerings &lowerings) {
  lowerings.add<ScanOp>([&lowerings](ScanOp op, LinalgBuilder &b) {
    return lowerScan(op, b, lowerings);
  });
  // Its operands are read by the loop.
  lowerings.add<YieldOp>([](YieldOp, LinalgBuilder &) { return success(); });
}
