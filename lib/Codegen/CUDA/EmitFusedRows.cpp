// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops on the same rows. A warp has a row, of which its lanes keep the elements
// in registers from op to op, and what a reduction finds is known to all lanes.

#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/RowOps.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace netc;
using namespace mlir;

namespace {
class FusedRowsEmitter {
public:
  FusedRowsEmitter(ArrayRef<Operation *> ops, RowOp first)
      : ops(ops), b(ops.front()->getLoc(), ops.front()), rows(first.rows()),
        ofLane(first.length() / kWarpLanes) {}

  KernelShape emit() {
    Value thread = threadIndex(b);
    row = b.create<arith::DivUIOp>(thread, index(kWarpLanes));
    lane = b.create<arith::RemUIOp>(thread, index(kWarpLanes));
    Value isOne =
        b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, row, index(rows));
    auto guard = b.create<scf::IfOp>(isOne, /*withElseRegion=*/false);
    b.setInsertionPointToStart(guard.thenBlock());
    for (Operation *op : ops) {
      if (auto fill = dyn_cast<linalg::FillOp>(op))
        ofRow[fill.getDpsInits()[0]] = fill.getInputs()[0];
      else if (auto rowOp = *RowOp::of(op); rowOp.reduces())
        reduce(rowOp);
      else
        compute(rowOp);
    }
    return KernelShape{rows * kWarpLanes};
  }

private:
  Value index(int64_t value) { return b.create<arith::ConstantIndexOp>(value); }

  /// The loops of an op at element number `number` of the lane.
  PointBuilder pointOf(RowOp &op, int64_t number) {
    PointBuilder at(op.op, b);
    unsigned last = op.op.getNumLoops() - 1;
    at.setIvs(llvm::to_vector(llvm::seq<unsigned>(0, last)), row);
    at.ivs[last] = b.create<arith::AddIOp>(lane, index(number * kWarpLanes));
    for (OpOperand *input : op.op.getDpsInputOperands())
      if (!op.op.getMatchingBlockArgument(input).use_empty())
        at.known[input->getOperandNumber()] = read(op, at, *input, number);
    return at;
  }

  /// An input's element, which is loaded once.
  Value read(RowOp &op, PointBuilder &at, OpOperand &input, int64_t number) {
    RowAccess access = op.accessTo(input);
    if (access == RowAccess::Other)
      return at.load(input);
    Value &value = access == RowAccess::Element ? elementOf(input.get(), number)
                                                : ofRow[input.get()];
    if (!value)
      value = at.load(input);
    return value;
  }

  Value &elementOf(Value memref, int64_t number) {
    SmallVector<Value> &all = elements[memref];
    all.resize(ofLane);
    return all[number];
  }

  /// Whether a tensor is read by no other kernel.
  static bool isTemporary(OpOperand &init) {
    return init.get().getDefiningOp<memref::AllocOp>();
  }

  void compute(RowOp &op) {
    SmallVector<Value> none(op.op.getNumDpsInits());
    for (int64_t number = 0; number < ofLane; ++number) {
      PointBuilder at = pointOf(op, number);
      for (auto [init, result] :
           llvm::zip_equal(op.op.getDpsInitsMutable(), at.payload(none))) {
        elementOf(init.get(), number) = result;
        if (!isTemporary(init))
          at.store(result, init);
      }
    }
  }

  void reduce(RowOp &op) {
    SmallVector<Value> parts;
    for (unsigned result = 0; result < op.op.getNumDpsInits(); ++result)
      parts.push_back(b.create<arith::ConstantOp>(
          *arith::getNeutralElement(combinerOf(op.op, result))));
    for (int64_t number = 0; number < ofLane; ++number)
      parts = pointOf(op, number).payload(parts);
    PointBuilder at = pointOf(op, 0);
    for (auto [result, init] : llvm::enumerate(op.op.getDpsInitsMutable())) {
      Value total = combineLanes(b, op.op, unsigned(result), parts[result]);
      Value &value = ofRow[init.get()];
      value = combine(b, op.op, unsigned(result), value ? value : at.load(init),
                      total);
      if (!isTemporary(init))
        storeOnce(at, value, init);
    }
  }
  void storeOnce(PointBuilder &at, Value value, OpOperand &init) {
    Value isFirst =
        b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, lane, index(0));
    auto guard = b.create<scf::IfOp>(isFirst, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(guard.thenBlock());
    at.store(value, init);
  }

  ArrayRef<Operation *> ops;
  ImplicitLocOpBuilder b;
  const int64_t rows, ofLane;
  Value row, lane;
  /// By memref: the lane's elements, and what is the same in a row.
  DenseMap<Value, SmallVector<Value>> elements;
  DenseMap<Value, Value> ofRow;
};
} // namespace

std::optional<KernelShape> netc::emitFusedRows(func::FuncOp kernel) {
  auto regions = kernel.getOps<scf::ExecuteRegionOp>();
  if (!llvm::hasSingleElement(regions))
    return std::nullopt;
  SmallVector<Operation *> ops;
  std::optional<RowOp> first;
  for (auto op : (*regions.begin()).getRegion().getOps<linalg::LinalgOp>()) {
    ops.push_back(op);
    auto rowOp = RowOp::of(op);
    if (!rowOp && !isa<linalg::FillOp>(*op))
      return std::nullopt;
    if (!first)
      first = rowOp;
  }
  if (!first)
    return std::nullopt;
  KernelShape shape = FusedRowsEmitter(ops, *first).emit();
  eraseWithBuffers(ops);
  return shape;
}
