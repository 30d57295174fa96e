// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/Views.h"
#include "lib/Conversion/LinalgBuilder.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace netc;
using namespace mlir;

/// Offsets, sizes and strides of the slice with index `at` on one axis.
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

/// Whether a value shares the memory of one that a loop around it carries,
/// which the loop overwrites at the end of an iteration.
static bool isCarried(Value value) {
  bool isCarried = false;
  forEachBase(value, [&](Value base) {
    auto argument = dyn_cast<BlockArgument>(base);
    auto loop = argument ? dyn_cast<ScanOp>(argument.getOwner()->getParentOp())
                         : ScanOp();
    isCarried |= loop && argument.getArgNumber() >= loop.getSequences().size();
  });
  return isCarried;
}

/// The tensor of `value` in memory of its own.
static Value ownTensor(LinalgBuilder &b, Value value) {
  Value tensor = b.stored(value);
  if (!isCarried(value))
    return tensor;
  return b.create<bufferization::AllocTensorOp>(
      cast<RankedTensorType>(tensor.getType()), ValueRange(), tensor);
}

namespace {
/// Lowers a scan to a loop that carries the outputs, into which each iteration
/// inserts its slice, and the carried values.
class ScanLowering {
public:
  ScanLowering(ScanOp op, LinalgBuilder &b, const Lowerings &lowerings)
      : op(op), b(b), lowerings(lowerings), numOutputs(op.getNumOutputs()),
        trip(*op.getTrip().getValue().toInt64()) {}

  LogicalResult lower() {
    SmallVector<Value> values;
    for (Value output : op.getValues().take_front(numOutputs))
      values.push_back(b.empty(b.storedType(output)));
    for (Value init : op.getInits())
      values.push_back(ownTensor(b, init));
    // Fast code does not peel the last iteration, since it could omit little
    // there.
    SmallPtrSet<Operation *, 4> omitted;
    if (b.isReference())
      omitted = op.getOpsOmittedLast();
    values = b.loops(b.index(omitted.empty() ? trip : trip - 1), values,
                     [&](ValueRange iteration, ValueRange carried) {
                       return lowerIteration(iteration.front(), carried, {});
                     });
    if (!omitted.empty())
      values = lowerIteration(b.index(trip - 1), values, omitted);
    for (auto [net, tensor] : llvm::zip_equal(op.getValues(), values))
      b.set(net, tensor);
    return result;
  }

private:
  /// Lowers one iteration. Returns the values that are carried to the next.
  SmallVector<Value>
  lowerIteration(Value iteration, ValueRange carried,
                 const SmallPtrSet<Operation *, 4> &omitted) {
    Location loc = op.getLoc();
    Value at = iteration;
    if (op.getReversed())
      at = b.create<arith::SubIOp>(b.index(trip - 1), at);
    Block &body = op.getBlock();
    unsigned argument = 0;
    for (auto [sequence, axis] :
         llvm::zip_equal(op.getSequences(), op.getAxes())) {
      auto [starts, sizes, strides] = elementOf(b, b.type(sequence), axis, at);
      BlockArgument element = body.getArgument(argument++);
      // Two ops: upstream's simplification may drop the wrong one of two axes
      // of size 1.
      Value slice = b.create<tensor::ExtractSliceOp>(b.get(sequence), starts,
                                                     sizes, strides);
      b.set(element, b.reshape(slice, b.typeLike(element, slice)));
    }
    for (Value value : carried.drop_front(numOutputs))
      b.set(body.getArgument(argument++), value);

    b.inductionVariables.push_back(iteration);
    if (failed(lowerings.lower(body, b, omitted)))
      result = failure();
    b.inductionVariables.pop_back();
    b.setLoc(loc);
    if (failed(result))
      return SmallVector<Value>(carried);

    OperandRange yielded = op.getYield().getValues();
    SmallVector<Value> following;
    for (auto [value, argument, old] : llvm::zip_equal(
             yielded.drop_front(numOutputs),
             body.getArguments().drop_front(op.getSequences().size()),
             carried.drop_front(numOutputs)))
      following.push_back(omitted.contains(value.getDefiningOp()) ? old
                          : value == argument                     ? b.get(value)
                                              : ownTensor(b, value));
    SmallVector<Value> next;
    for (auto [i, axis] : llvm::enumerate(op.getOutAxes())) {
      auto [starts, sizes, strides] =
          elementOf(b, b.type(op.getValues()[i]), axis, at);
      next.push_back(b.create<tensor::InsertSliceOp>(
          b.stored(yielded[i]), carried[i], starts, sizes, strides));
    }
    // Write in place, so that each iteration finds the values in the same
    // memory.
    for (auto [value, old] :
         llvm::zip_equal(following, carried.drop_front(numOutputs)))
      next.push_back(
          b.create<bufferization::MaterializeInDestinationOp>(value, old)
              .getResult());
    return next;
  }

  ScanOp op;
  LinalgBuilder &b;
  const Lowerings &lowerings;
  const unsigned numOutputs;
  const int64_t trip;
  LogicalResult result = success();
};
} // namespace

void netc::addScanLowering(Lowerings &lowerings) {
  lowerings.add<ScanOp>([&lowerings](ScanOp op, LinalgBuilder &b) {
    return ScanLowering(op, b, lowerings).lower();
  });
  // The loop reads its operands.
  lowerings.add<YieldOp>([](YieldOp, LinalgBuilder &) { return success(); });
}
