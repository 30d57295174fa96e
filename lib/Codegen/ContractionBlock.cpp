// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/ContractionBlock.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace netc;
using namespace mlir;

/// How many turns of the sum before its use B is fetched, where it is read once
/// and its rows are too far apart for the processor to foresee.
static constexpr int64_t kPrefetchTurns = 12;
/// The same where threads pass by blocks of the sum that the second cache
/// holds.
static constexpr int64_t kRowTurns = 8;
/// From how long a sum on the result is asked for before it, and added after.
static constexpr int64_t kLongSum = 64;

BlockEmitter::BlockEmitter(linalg::LinalgOp op, Roles roles,
                           const VectorIsa &isa)
    : b(op), roles(std::move(roles)) {
  for (unsigned operand : {A, B, C})
    memory[operand] = b.flat(operand);
  if (this->roles.isSwapped)
    std::swap(memory[A], memory[B]);
  element = cast<MemRefType>(memory[C].getType()).getElementType();
  lanes = isa.bits / element.getIntOrFloatBitWidth();
  vector = VectorType::get({lanes}, element);
}

SmallVector<BlockEmitter::Place>
BlockEmitter::placesOf(ArrayRef<Loop> loops, ArrayRef<int64_t> sizes) {
  SmallVector<Place> places(1);
  for (auto [loop, size] : llvm::zip_equal(loops, sizes)) {
    SmallVector<Place> next;
    for (const Place &place : places)
      for (int64_t i = 0; i < size; ++i)
        next.push_back({place.inA + i * loop.strides[A],
                        place.inB + i * loop.strides[B],
                        place.inC + i * loop.strides[C]});
    places = std::move(next);
  }
  return places;
}

BlockEmitter::Offsets BlockEmitter::move(Offsets at, const Loop &loop,
                                         Value turn) {
  b.advance(at, loop, turn);
  return at;
}

int64_t BlockEmitter::sizeOf(ContractionOperand operand) const {
  return cast<MemRefType>(memory[operand].getType()).getNumElements();
}

int64_t BlockEmitter::blockLength() const {
  int64_t length = blockTurns;
  for (const Loop &loop : innerSums)
    length *= loop.extent;
  return length;
}

void BlockEmitter::makeColumnPanel() {
  if (!packsColumns)
    return;
  int64_t elements = tileVectors * lanes * blockLength();
  columnPanel = b.create<memref::AllocaOp>(MemRefType::get({elements}, element),
                                           b.getI64IntegerAttr(64));
}

void BlockEmitter::emitColumns(Offsets at, int64_t turns) {
  // First what is left of the loop that was cut, then whole loops.
  blockSums = innerSums;
  if (!outerSums.empty()) {
    blockSums.insert(blockSums.begin(), outerSums.back());
    blockSums.front().extent = turns;
  }
  if (!packsRows)
    return emitOuterColumns(0, at);
  SmallVector<Loop> rows = roles.rows;
  packRows(at);
  std::swap(memory[A], rowPanel);
  at[A] = b.index(0);
  emitOuterColumns(0, at);
  std::swap(memory[A], rowPanel);
  roles.rows = rows;
}

void BlockEmitter::packRows(Offsets at) {
  SmallVector<Loop> from = roles.rows, sums = blockSums;
  int64_t length = layBlock(A, 1);
  for (Loop &row : llvm::reverse(roles.rows)) {
    row.strides[A] = length;
    length *= row.extent;
  }
  SmallVector<Loop> to = roles.rows;
  llvm::append_range(from, ArrayRef(sums).drop_back());
  llvm::append_range(to, ArrayRef(blockSums).drop_back());
  auto copy = [&](Value at, Value to) {
    b.forBlocks(sums.back().extent, lanes, false,
                [&](Value turn, int64_t turns) {
                  Value mask = b.maskOf(vector, turns);
                  Value part = loadVector(A, b.add(at, turn), 0, mask);
                  b.storeVector(part, rowPanel, b.add(to, turn), mask);
                });
  };
  copyBlock(A, from, to, at[A], b.index(0), copy);
}

int64_t BlockEmitter::layBlock(ContractionOperand operand, int64_t elements) {
  for (Loop &loop : llvm::reverse(blockSums)) {
    loop.strides[operand] = elements;
    elements *= loop.extent;
  }
  return elements;
}

void BlockEmitter::copyBlock(ContractionOperand operand, ArrayRef<Loop> from,
                             ArrayRef<Loop> packed, Value at, Value to,
                             function_ref<void(Value, Value)> copy) {
  if (from.empty())
    return copy(at, to);
  const Loop &loop = from.front();
  b.forEach(loop.extent, 1, false, [&](Value turn) {
    copyBlock(operand, from.drop_front(), packed.drop_front(),
              b.add(at, b.scaled(turn, loop.strides[operand])),
              b.add(to, b.scaled(turn, packed.front().strides[operand])), copy);
  });
}

void BlockEmitter::emitOuterColumns(size_t depth, Offsets at) {
  if (roles.isDot) {
    emitTiles(roles.columns, columnTile.sizes, 0, {}, at, columnsInParallel,
              [&](Offsets start, ArrayRef<int64_t> sizes) {
                SmallVector<Place> columns = placesOf(roles.columns, sizes);
                emitRowTiles(start, columns, 0);
              });
    return;
  }
  if (depth + 1 < roles.columns.size()) {
    const Loop &loop = roles.columns[depth];
    b.forEach(loop.extent, 1, false, [&](Value turn) {
      emitOuterColumns(depth + 1, move(at, loop, turn));
    });
    return;
  }
  const Loop &loop = roles.columns.back();
  int64_t width = tileVectors * lanes;
  b.forBlocks(
      loop.extent, width, columnsInParallel, [&](Value turn, int64_t count) {
        if (columnsInParallel)
          makeColumnPanel();
        emitPanel(move(at, loop, turn),
                  vectorsOf(llvm::divideCeil(count, lanes)), count % lanes);
      });
}

void BlockEmitter::emitPanel(Offsets at, ArrayRef<Place> columns,
                             int64_t lastLanes) {
  if (!packsColumns)
    return emitRowTiles(at, columns, lastLanes);
  SmallVector<Loop> scattered = blockSums;
  layBlock(B, columns.size() * lanes);
  if (roles.isTransposed)
    copyBlock(B, ArrayRef(scattered).drop_back(), blockSums, at[B], b.index(0),
              [&](Value at, Value to) {
                copyTransposed(at, to, columns.size(), lastLanes);
              });
  else
    copyBlock(B, scattered, blockSums, at[B], b.index(0),
              [&](Value at, Value to) {
                for (auto [i, column] : llvm::enumerate(columns)) {
                  bool isLast = i + 1 == columns.size();
                  Value mask = isLast ? b.maskOf(vector, lastLanes) : Value();
                  b.create<vector::StoreOp>(loadVector(B, at, column.inB, mask),
                                            columnPanel, b.add(to, column.inB));
                }
              });
  std::swap(memory[B], columnPanel);
  at[B] = b.index(0);
  emitRowTiles(at, columns, lastLanes);
  std::swap(memory[B], columnPanel);
  blockSums = scattered;
}

void BlockEmitter::copyTransposed(Value at, Value to, int64_t vectors,
                                  int64_t lastLanes) {
  const Loop &sum = blockSums.back();
  int64_t next = roles.columns.back().strides[B], width = vectors * lanes;
  Value zeros = b.create<arith::ConstantOp>(b.getZeroAttr(vector));
  auto square = [&](Value turn, int64_t turns) {
    Value from = b.add(at, turn);
    Value onto = b.add(to, b.scaled(turn, width));
    Value mask = b.maskOf(vector, turns);
    for (int64_t i = 0; i < vectors; ++i) {
      bool isCut = i + 1 == vectors && lastLanes != 0;
      SmallVector<Value> rows(lanes, zeros);
      for (int64_t row = 0; row < (isCut ? lastLanes : lanes); ++row)
        rows[row] = loadVector(B, from, (i * lanes + row) * next, mask);
      rows = b.transpose(rows);
      for (int64_t row = 0; row < turns; ++row)
        b.create<vector::StoreOp>(rows[row], columnPanel,
                                  b.add(onto, row * width + i * lanes));
    }
  };
  b.forBlocks(sum.extent, lanes, false, square);
}

SmallVector<BlockEmitter::Place> BlockEmitter::vectorsOf(int64_t count) {
  SmallVector<Place> vectors;
  for (int64_t i = 0; i < count; ++i)
    vectors.push_back(
        {roles.isElementwise ? i * lanes : 0, i * lanes, i * lanes});
  return vectors;
}

void BlockEmitter::emitTiles(
    ArrayRef<Loop> loops, ArrayRef<int64_t> sizes, size_t depth,
    SmallVector<int64_t> chosen, Offsets at, bool parallel,
    function_ref<void(Offsets, ArrayRef<int64_t>)> body) {
  if (depth == loops.size())
    return body(at, chosen);
  const Loop &loop = loops[depth];
  int64_t size = std::min(sizes[depth], loop.extent);
  b.forBlocks(loop.extent, size, parallel, [&](Value turn, int64_t taken) {
    SmallVector<int64_t> now = chosen;
    now.push_back(taken);
    emitTiles(loops, sizes, depth + 1, now, move(at, loop, turn), false, body);
  });
}

void BlockEmitter::emitRowTiles(Offsets at, ArrayRef<Place> columns,
                                int64_t lastLanes) {
  emitTiles(roles.rows, rowTile.sizes, 0, {}, at, false,
            [&](Offsets start, ArrayRef<int64_t> sizes) {
              SmallVector<Place> rows = placesOf(roles.rows, sizes);
              if (roles.isDot)
                emitDots(start, rows, columns);
              else
                emitTile(start, rows, columns, lastLanes);
            });
}

Value BlockEmitter::loadScalar(ContractionOperand operand, Value at,
                               int64_t shift) {
  return b.create<memref::LoadOp>(memory[operand], b.add(at, shift));
}

void BlockEmitter::prefetch(ContractionOperand operand, Value at, Near level) {
  b.prefetch(memory[operand], at, /*isWrite=*/operand == C, level);
}

void BlockEmitter::askAhead(Value start, const Offsets &at,
                            ArrayRef<Place> rows, ArrayRef<Place> columns) {
  if (packsRows || roles.isElementwise || roles.rows.empty() ||
      blockSums.empty())
    return;
  const Loop &row = roles.rows.back(), &sum = blockSums.back();
  int64_t line = kLineBytes * 8 / element.getIntOrFloatBitWidth();
  bool rowsFollow = blockSums.size() == 1 && roles.rows.size() == 1 &&
                    sum.strides[A] == 1 && row.strides[A] == sum.extent;
  int64_t tile = rows.size() * row.strides[A];
  if (rowsFollow && tile < sizeOf(A)) {
    // The next tile, a line a turn, from its first row to its last.
    Value turn = b.create<arith::SubIOp>(at[A], start);
    prefetch(A, b.add(b.add(start, tile), b.scaled(turn, line)), Near::Second);
  } else if (row.strides[A] == 1 && sum.strides[A] >= line) {
    // The next turns: rows that lie next to each other are in one line or two,
    // and each of them would ask for it.
    Value next = b.add(at[A], kRowTurns * sum.strides[A]);
    prefetch(A, next, Near::First);
    prefetch(A, b.add(next, rows.back().inA), Near::First);
    if (!packsColumns && sum.strides[B] >= line)
      for (const Place &column : columns)
        prefetch(B, b.add(at[B], kRowTurns * sum.strides[B] + column.inB),
                 Near::First);
    // The same rows in the next block of the sums.
    if (!outerSums.empty())
      prefetch(A, b.add(at[A], blockTurns * outerSums.back().strides[A]),
               Near::Second);
  }
}

Value BlockEmitter::loadVector(ContractionOperand operand, Value at,
                               int64_t shift, Value mask) {
  Value start = b.add(at, shift);
  return b.loadVector(vector, memory[operand], start, mask);
}

void BlockEmitter::storeVector(Value value, Value at, int64_t shift,
                               Value mask) {
  b.storeVector(value, memory[C], b.add(at, shift), mask);
}

SmallVector<Value> BlockEmitter::emitSums(
    size_t depth, Offsets at, ValueRange sums, int64_t step,
    function_ref<SmallVector<Value>(Offsets, ValueRange, int64_t)> body) {
  if (depth == blockSums.size())
    return body(at, sums, 0);
  const Loop &loop = blockSums[depth];
  int64_t extent = loop.extent;
  bool isLast = depth + 1 == blockSums.size();
  int64_t by = isLast ? step : 1;
  int64_t even = extent / by * by;
  SmallVector<Value> results(sums);
  if (even > 0)
    results = b.loop(even, by, sums, [&](Value turn, ValueRange carried) {
      return emitSums(depth + 1, move(at, loop, turn), carried, step, body);
    });
  if (even < extent)
    results = body(move(at, loop, b.index(even)), results, extent - even);
  return results;
}

void BlockEmitter::emitTile(Offsets at, ArrayRef<Place> rows,
                            ArrayRef<Place> columns, int64_t lastLanes) {
  Value lastMask = b.maskOf(vector, lastLanes);
  auto mask = [&](size_t column) {
    return column + 1 == columns.size() ? lastMask : Value();
  };
  // A long sum leaves time to fetch what it is added to.
  bool isLong = blockLength() >= kLongSum, addsLast = isLong && !start;
  Value first;
  if (start)
    first = b.create<vector::BroadcastOp>(vector, start);
  else if (addsLast)
    first = b.create<arith::ConstantOp>(b.getZeroAttr(vector));
  SmallVector<Value> sums;
  for (const Place &row : rows)
    for (auto [i, column] : llvm::enumerate(columns)) {
      if (isLong)
        prefetch(C, b.add(at[C], row.inC + column.inC), Near::First);
      sums.push_back(
          first ? first : loadVector(C, at[C], row.inC + column.inC, mask(i)));
    }
  // How far on B is asked for.
  SmallVector<std::pair<int64_t, Near>> asked;
  if (asksForB)
    asked.push_back(
        {kPrefetchTurns * roles.sums.back().strides[B], Near::First});
  if (aheadOfB != 0)
    asked.push_back({aheadOfB, Near::Second});
  sums =
      emitSums(0, at, sums, 1, [&](Offsets now, ValueRange carried, int64_t) {
        SmallVector<Value> next, vectors;
        for (auto [i, column] : llvm::enumerate(columns))
          vectors.push_back(loadVector(B, now[B], column.inB, mask(i)));
        for (auto [distance, level] : asked)
          for (const Place &column : columns)
            prefetch(B, b.add(now[B], column.inB + distance), level);
        askAhead(at[A], now, rows, columns);
        size_t place = 0;
        for (const Place &row : rows) {
          Value broadcast;
          if (!roles.isElementwise)
            broadcast = b.create<vector::BroadcastOp>(
                vector, loadScalar(A, now[A], row.inA));
          for (auto [i, column] : llvm::enumerate(columns)) {
            Value factor =
                broadcast
                    ? broadcast
                    : loadVector(A, now[A], row.inA + column.inA, mask(i));
            next.push_back(
                b.create<vector::FMAOp>(factor, vectors[i], carried[place++]));
          }
        }
        return next;
      });
  size_t place = 0;
  for (const Place &row : rows)
    for (auto [i, column] : llvm::enumerate(columns)) {
      int64_t shift = row.inC + column.inC;
      Value sum = sums[place++];
      if (addsLast)
        sum =
            b.create<arith::AddFOp>(loadVector(C, at[C], shift, mask(i)), sum);
      storeVector(sum, at[C], shift, mask(i));
    }
}

void BlockEmitter::emitDots(Offsets at, ArrayRef<Place> rows,
                            ArrayRef<Place> columns) {
  Value zeros = b.create<arith::ConstantOp>(b.getZeroAttr(vector));
  SmallVector<Value> sums(rows.size() * columns.size(), zeros);
  sums = emitSums(
      0, at, sums, lanes, [&](Offsets now, ValueRange carried, int64_t rest) {
        Value mask = b.maskOf(vector, rest);
        SmallVector<Value> next, vectors;
        for (const Place &column : columns)
          vectors.push_back(loadVector(B, now[B], column.inB, mask));
        size_t place = 0;
        for (const Place &row : rows) {
          Value factor = loadVector(A, now[A], row.inA, mask);
          for (Value other : vectors)
            next.push_back(
                b.create<vector::FMAOp>(factor, other, carried[place++]));
        }
        return next;
      });
  size_t place = 0;
  sums = b.sumsOf(sums);
  for (const Place &row : rows)
    for (const Place &column : columns) {
      Value old = start ? start : loadScalar(C, at[C], row.inC + column.inC);
      Value sum = b.create<arith::AddFOp>(old, sums[place++]);
      b.create<memref::StoreOp>(sum, memory[C],
                                b.add(at[C], row.inC + column.inC));
    }
}
