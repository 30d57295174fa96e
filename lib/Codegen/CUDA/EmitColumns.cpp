// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions of columns, whose results lie side by side. The threads of a block
// read several rows at once, by 16 bytes each. A thread reduces every so many
// rows of its columns; the block then combines the parts in a fixed order.

#include "lib/Codegen/CUDA/BlockBuilder.h"
#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Ptx.h"
#include "lib/Codegen/CUDA/RowOps.h"
#include "lib/Codegen/CUDA/SumSchedule.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace netc;
using namespace mlir;

using Loop = LoopNest::Loop;

/// Rows that a thread loads before it adds the first of them.
static constexpr int64_t kRowsAhead = 4;

namespace {
/// The loops of a reduction: over the columns, which are contiguous in the
/// results, over rows, and all others.
struct ColumnLoops {
  static std::optional<ColumnLoops> of(linalg::LinalgOp op);

  const Loop &columns() const { return nest.loops[along]; }

  LoopNest nest;
  size_t along; ///< the loop over columns
  SmallVector<Loop> rows{}, others{};
  int64_t depth = 1, units = 1;
};

class ColumnCode : BlockBuilder {
public:
  ColumnCode(linalg::LinalgOp op, Fills fills, const ColumnLoops &loops,
             const ColumnSchedule &schedule)
      : BlockBuilder(op), op(op), fills(std::move(fills)), loops(loops),
        schedule(schedule), at(op, b), inputs(op.getNumDpsInputs()),
        results(op.getNumDpsInits()) {}

  KernelShape emit();

private:
  using Elements = SmallVector<SmallVector<Value>>; ///< by operand and column

  bool isAlongRows(unsigned operand) const {
    return llvm::any_of(loops.rows, [=](const Loop &loop) {
      return loop.strides[operand] != 0;
    });
  }
  /// The elements of an operand in a row of the thread's columns.
  SmallVector<Value> load(unsigned operand, Value row);
  /// Reduces some rows, `step` apart from `row` on, of which all are loaded
  /// first.
  SmallVector<Value> reduce(Value row, int64_t count, ValueRange sums);
  /// The thread's parts of the results, by result and column.
  SmallVector<Value> reduceRows(Value firstRow);
  /// Combines the parts of all threads, and stores the results.
  void combineThreads(ValueRange sums, Value group);

  linalg::LinalgOp op;
  Fills fills;
  const ColumnLoops &loops;
  const ColumnSchedule &schedule;
  PointBuilder at;
  unsigned inputs, results;
  Value thread;
  SmallVector<Value> starts; ///< by operand: the first column of the thread
  Elements same;             ///< elements that are the same in all rows
};
} // namespace

std::optional<ColumnLoops> ColumnLoops::of(linalg::LinalgOp op) {
  std::optional<LoopNest> nest = LoopNest::of(op);
  unsigned inputs = op.getNumDpsInputs();
  if (!nest || op.hasIndexSemantics() || nest->points() == 0 ||
      nest->scatters(inputs) || !reducesFloats(op))
    return std::nullopt;
  nest->collapse();
  auto isOfColumns = [&](const Loop &loop) {
    auto strides = ArrayRef(loop.strides);
    return loop.isParallel &&
           llvm::is_contained(strides.take_front(inputs), 1) &&
           llvm::all_equal(strides.drop_front(inputs)) && strides.back() == 1 &&
           llvm::all_of(strides, [](int64_t stride) {
             return stride == 0 || stride == 1;
           });
  };
  auto *columns = llvm::find_if(nest->loops, isOfColumns);
  if (columns == nest->loops.end())
    return std::nullopt;
  ColumnLoops loops{*nest, size_t(columns - nest->loops.begin())};
  for (Loop &loop : nest->loops) {
    if (&loop == columns)
      continue;
    (loop.isParallel ? loops.others : loops.rows).push_back(loop);
    (loop.isParallel ? loops.units : loops.depth) *= loop.extent;
  }
  // The outermost loop is the one with the largest strides.
  llvm::stable_sort(loops.rows, [](const Loop &a, const Loop &b) {
    return std::abs(a.strides[0]) > std::abs(b.strides[0]);
  });
  return loops;
}

SmallVector<Value> ColumnCode::load(unsigned operand, Value row) {
  if (!same[operand].empty())
    return same[operand];
  Value place = b.add(starts[operand], placeIn(operand, loops.rows, row));
  return loadElements(b, op, loops.nest, operand, loops.along, schedule.width,
                      place);
}

SmallVector<Value> ColumnCode::reduce(Value row, int64_t count,
                                      ValueRange sums) {
  SmallVector<Elements> loaded(count, Elements(inputs));
  for (int64_t i = 0; i < count; ++i)
    for (unsigned operand = 0; operand < inputs; ++operand)
      if (!op.getMatchingBlockArgument(&op->getOpOperand(operand)).use_empty())
        loaded[i][operand] = load(operand, b.add(row, i * schedule.rows));
  SmallVector<Value> reduced(sums);
  for (const Elements &elements : loaded)
    for (int64_t column = 0; column < schedule.width; ++column) {
      SmallVector<Value> old;
      for (unsigned result = 0; result < results; ++result)
        old.push_back(reduced[result * schedule.width + column]);
      for (unsigned operand = 0; operand < inputs; ++operand)
        if (!elements[operand].empty())
          at.known[operand] = elements[operand][column];
      for (auto [result, value] : llvm::enumerate(at.payload(old)))
        reduced[result * schedule.width + column] = value;
    }
  return reduced;
}

SmallVector<Value> ColumnCode::reduceRows(Value firstRow) {
  SmallVector<Value> sums;
  for (unsigned result = 0; result < results; ++result)
    sums.append(schedule.width,
                b.create<arith::ConstantOp>(
                    *arith::getNeutralElement(combinerOf(op, result))));
  int64_t step = schedule.rows * kRowsAhead, whole = loops.depth / step * step;
  auto from = [&](int64_t begin, int64_t end, int64_t count) {
    if (begin == end)
      return;
    auto loop = b.create<scf::ForOp>(b.add(firstRow, begin), b.index(end),
                                     b.index(schedule.rows * count), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    b.create<scf::YieldOp>(
        reduce(loop.getInductionVar(), count, loop.getRegionIterArgs()));
    sums = loop.getResults();
  };
  from(0, whole, kRowsAhead);
  from(whole, loops.depth, 1);
  return sums;
}

void ColumnCode::combineThreads(ValueRange sums, Value group) {
  int64_t width = schedule.width, threads = schedule.threads();
  // Columns of consecutive threads are in different banks.
  int64_t pitch = threads + kWarpLanes / width;
  SmallVector<Value> parts;
  for (unsigned result = 0; result < results; ++result) {
    parts.push_back(sharedBuffer(b, "columns_" + std::to_string(result),
                                 b.getF32Type(), width * pitch));
    for (int64_t i = 0; i < width; ++i)
      b.create<memref::StoreOp>(sums[result * width + i], parts.back(),
                                b.add(thread, i * pitch));
  }
  b.create<NVVM::Barrier0Op>();
  for (int64_t first = 0; first < schedule.columns(); first += threads) {
    OpBuilder::InsertionGuard guard(b);
    Value column = b.add(thread, first);
    Value whole = b.add(mul(group, schedule.columns()), column);
    enterWhere(
        both(isInBounds(column, schedule.columns(), threads),
             isInBounds(whole, loops.columns().extent, schedule.columns())));
    Value start = b.add(mul(b.rem(column, width), pitch), b.div(column, width));
    SmallVector<Value> totals;
    for (unsigned result = 0; result < results; ++result)
      totals.push_back(b.create<memref::LoadOp>(parts[result], start));
    totals =
        b.loop(schedule.rows - 1, 1, totals, [&](Value row, ValueRange old) {
          Value place = b.add(start, mul(b.add(row, 1), schedule.lanes));
          SmallVector<Value> next;
          for (unsigned result = 0; result < results; ++result)
            next.push_back(
                combine(b, op, result, old[result],
                        b.create<memref::LoadOp>(parts[result], place)));
          return next;
        });
    for (unsigned result = 0; result < results; ++result) {
      Value place = b.add(starts[inputs + result], whole);
      Value memory = b.flat(inputs + result);
      Value before = fills.size()
                         ? fills[result].getInputs()[0]
                         : b.create<memref::LoadOp>(memory, place).getResult();
      b.create<memref::StoreOp>(combine(b, op, result, before, totals[result]),
                                memory, place);
    }
  }
}

KernelShape ColumnCode::emit() {
  int64_t extent = loops.columns().extent;
  int64_t groups = llvm::divideCeil(extent, schedule.columns());
  Value block = indexIn<NVVM::BlockIdXOp>(b);
  thread = indexIn<NVVM::ThreadIdXOp>(b);
  Value group = b.rem(block, groups), unit = b.div(block, groups);
  Value column = b.add(mul(group, schedule.columns()),
                       mul(b.rem(thread, schedule.lanes), schedule.width));
  // Lanes beyond the last column read it again, and store nothing.
  if (extent % schedule.columns() != 0)
    column = b.create<arith::MinUIOp>(column, b.index(extent - schedule.width));
  for (unsigned operand = 0; operand < loops.nest.numOperands; ++operand) {
    Value place =
        b.add(placeIn(operand, loops.others, unit), loops.nest.starts[operand]);
    // Threads store other columns than they load.
    if (operand < inputs && loops.columns().strides[operand] != 0)
      place = b.add(place, column);
    starts.push_back(place);
  }
  same.resize(inputs);
  for (unsigned operand = 0; operand < inputs; ++operand)
    if (!isAlongRows(operand))
      same[operand] = load(operand, b.index(0));
  SmallVector<Value> sums = reduceRows(b.div(thread, schedule.lanes));
  combineThreads(sums, group);
  for (linalg::FillOp fill : fills)
    fill.erase();
  op.erase();
  return {loops.units * groups * schedule.threads(), schedule.threads()};
}

std::optional<KernelShape> netc::emitColumns(linalg::LinalgOp op, Fills fills,
                                             const DeviceInfo &device) {
  std::optional<ColumnLoops> loops = ColumnLoops::of(op);
  if (!loops || loops->depth < kLeastRows)
    return std::nullopt;
  int64_t width = widthOf(op, loops->nest, op.getNumDpsInputs(), loops->along,
                          /*isWhole=*/true);
  ColumnSchedule schedule = scheduleColumns(
      {loops->units, loops->columns().extent, loops->depth}, width, device);
  return ColumnCode(op, fills, *loops, schedule).emit();
}
