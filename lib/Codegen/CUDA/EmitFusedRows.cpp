// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops on the same rows. A warp or a block has a row, of which its lanes keep
// the elements in registers from op to op, and what a reduction finds is known
// to all lanes.

#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Ptx.h"
#include "lib/Codegen/CUDA/RowOps.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace netc;
using namespace mlir;

namespace {
/// What the lanes of a row have: groups of `width` elements, those of a group
/// by consecutive lanes.
struct RowLayout {
  static RowLayout of(MutableArrayRef<RowOp> ops);

  int64_t lanes() const { return warps * kWarpLanes; }
  int64_t groups() const { return length / (lanes() * width); }

  int64_t rows, length, warps, width;
};

/// The lanes' values of what the ops of a row read or write, by memref.
struct RowValues {
  DenseMap<Value, SmallVector<Value>> elements;
  DenseMap<Value, Value> ofRow; ///< the same for all lanes
  unsigned buffers = 0;         ///< of shared memory
};

/// Emits one of the ops.
class RowOpCode {
public:
  RowOpCode(RowOp &op, const RowLayout &layout, RowValues &values, Value row,
            Value lane)
      : op(op), layout(layout), values(values), b(op.op), at(op.op, b),
        last(op.op.getNumLoops() - 1), lane(lane) {
    unsigned rowLoops = op.hasElements ? last : last + 1;
    at.setIvs(llvm::to_vector(llvm::seq<unsigned>(0, rowLoops)), row);
  }

  void emit() {
    if (!op.hasElements)
      computeOnce();
    else
      op.reduces() ? reduce() : compute();
  }

private:
  /// Calls `body` for each element of the lane, at which `at` is, and `after`
  /// at the end of each group with its number.
  void forElements(function_ref<void()> body,
                   function_ref<void(int64_t)> after);
  /// The elements of an input in a group, which are loaded once.
  SmallVector<Value> read(OpOperand &input, int64_t group);
  Value offsetOf(OpOperand &operand, int64_t group);

  void compute();
  void reduce();
  /// Computes what a row has once, in all lanes.
  void computeOnce();
  /// Sets such a result, which one lane stores if another kernel reads it.
  void setOnce(OpOperand &init, Value value);
  /// The result of all warps of a row.
  Value combineWarps(unsigned result, Value part);
  /// Emits `body` for the lanes whose `number` is 0.
  void where(Value number, function_ref<void()> body);

  RowOp &op;
  const RowLayout &layout;
  RowValues &values;
  NestBuilder b;
  PointBuilder at;
  unsigned last;
  Value lane;
};
} // namespace

RowLayout RowLayout::of(MutableArrayRef<RowOp> ops) {
  DenseSet<Value> elements;
  int64_t width = ops[0].length();
  for (RowOp &op : ops) {
    if (!op.hasElements)
      continue;
    op.addElements(elements);
    width = std::min(width, widthOf(op.op, op.nest, op.nest.numOperands,
                                    op.op.getNumLoops() - 1, /*isWhole=*/true));
  }
  RowLayout layout{ops[0].rows(), ops[0].length(),
                   *warpsOfRow(ops[0].length(), elements.size()), width};
  while (layout.length % (layout.lanes() * layout.width) != 0)
    layout.width /= 2;
  return layout;
}

/// Whether a tensor is read by no other kernel.
static bool isTemporary(OpOperand &init) {
  return init.get().getDefiningOp<memref::AllocOp>();
}

Value RowOpCode::offsetOf(OpOperand &operand, int64_t group) {
  SmallVector<Value> ivs(at.ivs);
  ivs[last] = b.add(b.scaled(lane, layout.width),
                    group * layout.lanes() * layout.width);
  return netc::offsetOf(b, op.nest, operand.getOperandNumber(), ivs);
}

SmallVector<Value> RowOpCode::read(OpOperand &input, int64_t group) {
  RowAccess access = op.accessTo(input);
  if (access == RowAccess::Row) {
    Value &value = values.ofRow[input.get()];
    if (!value)
      value = at.load(input);
    return SmallVector<Value>(layout.width, value);
  }
  auto load = [&] {
    return loadElements(b, op.op, op.nest, input.getOperandNumber(), last,
                        layout.width, offsetOf(input, group));
  };
  if (access == RowAccess::Other)
    return load();
  SmallVector<Value> &elements = values.elements[input.get()];
  int64_t first = group * layout.width;
  if (int64_t(elements.size()) <= first)
    llvm::append_range(elements, load());
  return SmallVector<Value>(ArrayRef(elements).slice(first, layout.width));
}

void RowOpCode::forElements(function_ref<void()> body,
                            function_ref<void(int64_t)> after) {
  SmallVector<OpOperand *> operands = op.reads();
  // A store could delay loads that follow.
  for (int64_t group = 0; group < layout.groups(); ++group)
    for (OpOperand *operand : operands)
      if (op.accessTo(*operand) == RowAccess::Element)
        read(*operand, group);
  for (int64_t group = 0; group < layout.groups(); ++group) {
    SmallVector<SmallVector<Value>> elements;
    for (OpOperand *operand : operands)
      elements.push_back(read(*operand, group));
    for (int64_t i = 0; i < layout.width; ++i) {
      at.ivs[last] = b.add(b.scaled(lane, layout.width),
                           group * layout.lanes() * layout.width + i);
      for (auto [operand, all] : llvm::zip_equal(operands, elements))
        at.known[operand->getOperandNumber()] = all[i];
      body();
    }
    after(group);
  }
}

void RowOpCode::compute() {
  SmallVector<SmallVector<Value>> results(op.op.getNumDpsInits());
  auto compute = [&] {
    SmallVector<Value> old;
    for (OpOperand &init : op.op.getDpsInitsMutable())
      old.push_back(at.known.lookup(init.getOperandNumber()));
    for (auto [all, result] : llvm::zip_equal(results, at.payload(old)))
      all.push_back(result);
  };
  auto storeGroup = [&](int64_t group) {
    for (auto [init, all] :
         llvm::zip_equal(op.op.getDpsInitsMutable(), results))
      if (!isTemporary(init))
        storeElements(b, op.op, op.nest, init.getOperandNumber(), last,
                      offsetOf(init, group),
                      ArrayRef(all).take_back(layout.width));
  };
  forElements(compute, storeGroup);
  for (auto [init, all] : llvm::zip_equal(op.op.getDpsInits(), results))
    values.elements[init] = std::move(all);
}

void RowOpCode::reduce() {
  SmallVector<Value> parts;
  for (unsigned result = 0; result < op.op.getNumDpsInits(); ++result)
    parts.push_back(b.create<arith::ConstantOp>(
        *arith::getNeutralElement(combinerOf(op.op, result))));
  forElements([&] { parts = at.payload(parts); }, [](int64_t) {});
  for (auto [result, init] : llvm::enumerate(op.op.getDpsInitsMutable())) {
    // All lanes load an old value before lanes wait for each other.
    Value &value = values.ofRow[init.get()];
    if (!value)
      value = at.load(init);
    Value total = combineLanes(b, op.op, unsigned(result), parts[result]);
    total = combineWarps(unsigned(result), total);
    setOnce(init, combine(b, op.op, unsigned(result), value, total));
  }
}

void RowOpCode::computeOnce() {
  SmallVector<Value> old(op.op.getNumDpsInits());
  for (OpOperand *operand : op.reads())
    if (op.accessTo(*operand) == RowAccess::Row)
      at.known[operand->getOperandNumber()] = read(*operand, 0).front();
  for (auto [value, init] : llvm::zip_equal(old, op.op.getDpsInitsMutable()))
    value = at.known.lookup(init.getOperandNumber());
  SmallVector<Value> results = at.payload(old);
  for (auto [result, init] :
       llvm::zip_equal(results, op.op.getDpsInitsMutable()))
    setOnce(init, result);
}

void RowOpCode::setOnce(OpOperand &init, Value value) {
  values.ofRow[init.get()] = value;
  if (!isTemporary(init))
    where(lane, [&] { at.store(value, init); });
}

Value RowOpCode::combineWarps(unsigned result, Value part) {
  if (layout.warps == 1)
    return part;
  Value parts = sharedBuffer(b, "row_" + std::to_string(values.buffers++),
                             part.getType(), layout.warps);
  where(b.rem(lane, kWarpLanes), [&] {
    b.create<memref::StoreOp>(part, parts, b.div(lane, kWarpLanes));
  });
  b.create<NVVM::Barrier0Op>();
  Value total = b.create<memref::LoadOp>(parts, b.index(0));
  for (int64_t warp = 1; warp < layout.warps; ++warp)
    total = combine(b, op.op, result, total,
                    b.create<memref::LoadOp>(parts, b.index(warp)));
  return total;
}

void RowOpCode::where(Value number, function_ref<void()> body) {
  Value isFirst =
      b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, number, b.index(0));
  auto guard = b.create<scf::IfOp>(isFirst, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(guard.thenBlock());
  body();
}

/// Emits the ops, which are in one region, in the place of each.
static KernelShape emit(ArrayRef<Operation *> ops,
                        MutableArrayRef<RowOp> rowOps) {
  RowLayout layout = RowLayout::of(rowOps);
  ImplicitLocOpBuilder b(ops.front()->getLoc(), ops.front());
  // If warps share a row, it has a block of its own, which can be waited for.
  KernelShape shape{layout.rows * layout.lanes(),
                    layout.warps == 1 ? kBlockThreads : layout.lanes()};
  Value row, lane;
  if (layout.warps == 1) {
    Value thread = threadIndex(b),
          lanes = b.create<arith::ConstantIndexOp>(kWarpLanes);
    row = b.create<arith::DivUIOp>(thread, lanes);
    lane = b.create<arith::RemUIOp>(thread, lanes);
  } else {
    row = indexIn<NVVM::BlockIdXOp>(b);
    lane = indexIn<NVVM::ThreadIdXOp>(b);
  }
  if (shape.threads % shape.ofBlock != 0) {
    Value isOne =
        b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, row,
                                b.create<arith::ConstantIndexOp>(layout.rows));
    auto guard = b.create<scf::IfOp>(isOne, /*withElseRegion=*/false);
    for (Operation *op : ops)
      op->moveBefore(guard.thenYield());
  }
  RowValues values;
  for (Operation *op : ops)
    if (auto fill = dyn_cast<linalg::FillOp>(op))
      values.ofRow[fill.getDpsInits()[0]] = fill.getInputs()[0];
  for (RowOp &op : rowOps)
    RowOpCode(op, layout, values, row, lane).emit();
  eraseWithBuffers(ops);
  return shape;
}

std::optional<KernelShape> netc::emitFusedRows(func::FuncOp kernel) {
  auto regions = kernel.getOps<scf::ExecuteRegionOp>();
  if (!llvm::hasSingleElement(regions))
    return std::nullopt;
  SmallVector<Operation *> ops;
  std::vector<RowOp> rowOps;
  for (auto op : (*regions.begin()).getRegion().getOps<linalg::LinalgOp>()) {
    ops.push_back(op);
    ArrayRef<int64_t> extents;
    if (!rowOps.empty())
      extents = rowOps[0].extents;
    if (auto rowOp = RowOp::beside(extents, op))
      rowOps.push_back(std::move(*rowOp));
    else if (!isa<linalg::FillOp>(*op))
      return std::nullopt;
  }
  if (rowOps.empty())
    return std::nullopt;
  return emit(ops, rowOps);
}
