// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CPU/MacroKernel.h"
#include "lib/Codegen/CPU/VectorPayload.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace netc;
using namespace mlir;

MacroKernelEmitter::MacroKernelEmitter(linalg::LinalgOp op,
                                       const ContractionSchedule &schedule,
                                       Value start, linalg::GenericOp epilogue)
    : b(op), schedule(schedule), start(start), epilogue(epilogue),
      result(op.getDpsInits()[0]),
      element(getElementTypeOrSelf(op.getDpsInits()[0].getType())),
      vector(VectorType::get({schedule.lanes}, element)), lanes(schedule.lanes),
      kPack(schedule.kPack) {
  Type factor = kPack > 1 ? b.getBF16Type() : element;
  factors = VectorType::get({lanes}, factor);
  packs = VectorType::get({lanes * kPack}, factor);
  if (epilogue)
    b.addOperandsOf(epilogue);
}

MacroKernelEmitter::Operands
MacroKernelEmitter::move(Operands operands, const Loop &loop, Value iteration) {
  b.advance(operands.at, loop, iteration);
  return operands;
}

void MacroKernelEmitter::emitMacroKernel(const BlockSchedule &schedule,
                                         const Loops &m, const KBlock &k,
                                         bool isLast,
                                         const PackBuffers &buffers,
                                         Operands operands) {
  Block block{schedule, m, k.loops, k.prefetches, isLast};
  if (schedule.packsA)
    packA(block, buffers.a, operands);
  emitColumns(block, buffers, 0, operands);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

Value MacroKernelEmitter::createPackBuffer(int64_t elements) {
  return b.create<memref::AllocaOp>(
      MemRefType::get({elements}, factors.getElementType()),
      b.getI64IntegerAttr(64));
}

Value MacroKernelEmitter::createTile(const BlockSchedule &block) {
  if (!epilogue || !schedule.foldsFill)
    return {};
  int64_t elements = schedule.nrElements();
  for (int64_t rows : block.mr)
    elements *= rows;
  return b.create<memref::AllocaOp>(MemRefType::get({elements}, element),
                                    b.getI64IntegerAttr(64));
}

MacroKernelEmitter::PackBuffers
MacroKernelEmitter::createPackBuffers(const BlockSchedule &schedule) {
  PackBuffers buffers;
  if (schedule.packsB)
    buffers.b = createPackBuffer(schedule.packedB);
  if (schedule.packsA)
    buffers.a = createPackBuffer(schedule.packedA);
  buffers.c = createTile(schedule);
  return buffers;
}

int64_t MacroKernelEmitter::layOut(Loops &k, ContractionOperand operand,
                                   int64_t elements) const {
  for (Loop &loop : llvm::reverse(k)) {
    loop.strides[operand] = elements;
    // The last loop is padded to whole packs.
    elements *= &loop == &k.back() ? int64_t(llvm::alignTo(loop.extent, kPack))
                                   : loop.extent;
  }
  return elements;
}

Value MacroKernelEmitter::interleave(ArrayRef<Value> vectors) {
  if (vectors.size() == 1)
    return vectors.front();
  assert(vectors.size() == 2 && "packs are pairs");
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < lanes; ++lane)
    order.append({lane, lanes + lane});
  return b.create<vector::ShuffleOp>(vectors[0], vectors[1], order);
}

Value MacroKernelEmitter::loadPack(Value memory, Value at, int64_t stride,
                                   int64_t count, Value mask) {
  Values rows;
  for (int64_t i = 0; i < count; ++i)
    rows.push_back(b.loadVector(factors, memory, b.add(at, i * stride), mask));
  if (count < kPack)
    rows.resize(kPack, b.create<arith::ConstantOp>(b.getZeroAttr(factors)));
  return interleave(rows);
}

void MacroKernelEmitter::forEachCopy(ContractionOperand operand,
                                     ArrayRef<Loop> from, ArrayRef<Loop> packed,
                                     Value at, Value to,
                                     function_ref<void(Value, Value)> copy) {
  if (from.empty())
    return copy(at, to);
  const Loop &loop = from.front();
  b.forEach(loop.extent, 1, false, [&](Value iteration) {
    Value nextTo =
        b.add(to, b.scaled(iteration, packed.front().strides[operand]));
    Value nextAt = b.add(at, b.scaled(iteration, loop.strides[operand]));
    forEachCopy(operand, from.drop_front(), packed.drop_front(), nextAt, nextTo,
                copy);
  });
}

void MacroKernelEmitter::packPanelsOfA(Block &block, Value buffer,
                                       const Operands &operands) {
  Loops m = block.m, k = block.k;
  int64_t mr = block.schedule.mr.back();
  int64_t length = layOut(block.k, A, mr), elements = length / mr;
  for (Loop &row : llvm::reverse(block.m)) {
    row.strides[A] = elements;
    elements *= &row == &block.m.back() ? int64_t(llvm::alignTo(row.extent, mr))
                                        : row.extent;
  }
  auto around = [](ArrayRef<Loop> rows, ArrayRef<Loop> sums) {
    Loops loops(rows.drop_back());
    llvm::append_range(loops, sums.drop_back());
    return loops;
  };
  auto copy = [&](Value at, Value to) {
    b.forBlocks(k.back().extent, kPack, false, [&](Value sum, int64_t count) {
      int64_t stride = k.back().strides[A];
      Value source = b.add(at, b.scaled(sum, stride));
      Value target = b.add(to, b.scaled(sum, block.k.back().strides[A]));
      b.forBlocks(m.back().extent, mr, false, [&](Value row, int64_t rows) {
        Value panel = b.add(target, b.scaled(row, block.m.back().strides[A]));
        for (int64_t i = 0; i < rows; i += lanes) {
          int64_t taken = std::min(rows - i, lanes);
          Value pack =
              loadPack(operands.memory[A], b.add(b.add(source, row), i), stride,
                       count, b.maskOf(factors, taken));
          b.storeVector(pack, buffer, b.add(panel, i * kPack),
                        b.maskOf(packs, taken * kPack));
        }
      });
    });
  };
  forEachCopy(A, around(m, k), around(block.m, block.k), operands.at[A],
              b.index(0), copy);
}

void MacroKernelEmitter::packA(Block &block, Value buffer, Operands &operands) {
  if (block.schedule.packsPanelsOfA) {
    packPanelsOfA(block, buffer, operands);
    operands.memory[A] = buffer;
    operands.at[A] = b.index(0);
    return;
  }
  Loops from = block.m, k = block.k;
  layOut(block.k, A, 1);
  int64_t length = block.schedule.packedRowOfA;
  for (Loop &row : llvm::reverse(block.m)) {
    row.strides[A] = length;
    length *= row.extent;
  }
  Loops to = block.m;
  llvm::append_range(from, ArrayRef(k).drop_back());
  llvm::append_range(to, ArrayRef(block.k).drop_back());
  auto copy = [&](Value at, Value to) {
    b.forBlocks(k.back().extent, lanes, false,
                [&](Value iteration, int64_t count) {
                  Value part = b.loadVector(factors, operands.memory[A],
                                            b.add(at, iteration),
                                            b.maskOf(factors, count));
                  b.storeVector(
                      part, buffer, b.add(to, iteration),
                      b.maskOf(factors, int64_t(llvm::alignTo(count, kPack))));
                });
  };
  forEachCopy(A, from, to, operands.at[A], b.index(0), copy);
  operands.memory[A] = buffer;
  operands.at[A] = b.index(0);
}

void MacroKernelEmitter::packB(Block &block, const Columns &columns,
                               Value buffer, Operands &operands) {
  Loops from = block.k;
  int64_t width = columns.offsets.size() * lanes;
  layOut(block.k, B, width);
  auto copyPacks = [&](Value at, Value to) {
    int64_t stride = from.back().strides[B];
    b.forBlocks(
        from.back().extent, kPack, false, [&](Value sum, int64_t count) {
          Value source = b.add(at, b.scaled(sum, stride));
          Value target = b.add(to, b.scaled(sum, width));
          for (auto [i, column] : llvm::enumerate(columns.offsets)) {
            bool isLast = i + 1 == columns.offsets.size();
            Value mask =
                isLast ? b.maskOf(factors, columns.lastLanes) : Value();
            Value pack = loadPack(operands.memory[B], b.add(source, column.inB),
                                  stride, count, mask);
            b.create<vector::StoreOp>(pack, buffer,
                                      b.add(target, column.inB * kPack));
          }
        });
  };
  forEachCopy(B, ArrayRef(from).drop_back(), block.k, operands.at[B],
              b.index(0), [&](Value at, Value to) {
                if (schedule.dims.isTransposed)
                  copyTransposed(from.back(), columns, operands, at, buffer,
                                 to);
                else
                  copyPacks(at, to);
              });
  operands.memory[B] = buffer;
  operands.at[B] = b.index(0);
}

void MacroKernelEmitter::copyTransposed(const Loop &sum, const Columns &columns,
                                        const Operands &from, Value at,
                                        Value buffer, Value to) {
  int64_t next = schedule.dims.n.back().strides[B];
  int64_t vectors = columns.offsets.size(), width = vectors * lanes;
  Value memory = from.memory[B];
  // A pair of bf16 is transposed as one i32.
  VectorType whole = kPack == 1 ? vector : vector.clone(b.getI32Type());
  auto as = [&](VectorType type, Value value) -> Value {
    return value.getType() == type ? value
                                   : b.create<vector::BitCastOp>(type, value);
  };
  Value zeros = b.create<arith::ConstantOp>(b.getZeroAttr(whole));
  auto square = [&](Value iteration, int64_t count) {
    Value source = b.add(at, iteration);
    Value target = b.add(to, b.scaled(iteration, width));
    Value mask = b.maskOf(packs, count);
    for (int64_t i = 0; i < vectors; ++i) {
      bool isCut = i + 1 == vectors && columns.lastLanes != 0;
      Values rows(lanes, zeros);
      for (int64_t row = 0; row < (isCut ? columns.lastLanes : lanes); ++row) {
        Value from = b.add(source, (i * lanes + row) * next);
        rows[row] = as(whole, b.loadVector(packs, memory, from, mask));
      }
      rows = b.transpose(rows);
      for (int64_t row = 0; row < int64_t(llvm::divideCeil(count, kPack));
           ++row)
        b.create<vector::StoreOp>(
            as(packs, rows[row]), buffer,
            b.add(target, (row * width + i * lanes) * kPack));
    }
  };
  b.forBlocks(sum.extent, lanes * kPack, false, square);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

SmallVector<MacroKernelEmitter::TileOffset>
MacroKernelEmitter::tileOffsets(ArrayRef<Loop> loops, ArrayRef<int64_t> sizes) {
  SmallVector<TileOffset> offsets(1);
  for (auto [loop, size] : llvm::zip_equal(loops, sizes)) {
    SmallVector<TileOffset> next;
    for (const TileOffset &offset : offsets)
      for (int64_t i = 0; i < size; ++i)
        next.push_back({offset.inA + i * loop.strides[A],
                        offset.inB + i * loop.strides[B],
                        offset.inC + i * loop.strides[C]});
    offsets = std::move(next);
  }
  return offsets;
}

MacroKernelEmitter::Columns MacroKernelEmitter::vectorsOf(int64_t columns) {
  bool isElementwise = schedule.dims.isElementwise;
  Columns vectors{{}, columns % lanes};
  for (int64_t i = 0; i < columns; i += lanes)
    vectors.offsets.push_back({isElementwise ? i : 0, i, i});
  return vectors;
}

void MacroKernelEmitter::forEachTile(
    ArrayRef<Loop> loops, ArrayRef<int64_t> sizes, size_t depth,
    SmallVector<int64_t> chosen, const Operands &operands, bool isParallel,
    function_ref<void(Operands, ArrayRef<int64_t>)> body) {
  if (depth == loops.size())
    return body(operands, chosen);
  const Loop &loop = loops[depth];
  int64_t size = std::min(sizes[depth], loop.extent);
  b.forBlocks(loop.extent, size, isParallel,
              [&](Value iteration, int64_t taken) {
                SmallVector<int64_t> now = chosen;
                now.push_back(taken);
                forEachTile(loops, sizes, depth + 1, now,
                            move(operands, loop, iteration), false, body);
              });
}

void MacroKernelEmitter::emitColumns(const Block &block,
                                     const PackBuffers &buffers, size_t depth,
                                     const Operands &operands) {
  ArrayRef<Loop> n = block.schedule.n;
  bool isParallel =
      block.schedule.threads == BlockSchedule::Threads::TakeColumns;
  if (schedule.dims.isDot)
    return forEachTile(n, schedule.nr, 0, {}, operands, isParallel,
                       [&](Operands start, ArrayRef<int64_t> sizes) {
                         emitMicroTiles(block, {tileOffsets(n, sizes)}, {},
                                        start);
                       });
  const Loop &loop = n[depth];
  if (depth + 1 < n.size())
    return b.forEach(loop.extent, 1, false, [&](Value iteration) {
      emitColumns(block, buffers, depth + 1, move(operands, loop, iteration));
    });
  b.forBlocks(loop.extent, schedule.nrElements(), isParallel,
              [&](Value iteration, int64_t columns) {
                // Each thread has buffers of its own.
                PackBuffers own = buffers;
                if (isParallel && block.schedule.packsB)
                  own.b = createPackBuffer(block.schedule.packedB);
                if (isParallel)
                  own.c = createTile(block.schedule);
                emitColumnTile(block, vectorsOf(columns), own,
                               move(operands, loop, iteration));
              });
}

void MacroKernelEmitter::emitColumnTile(Block block, const Columns &columns,
                                        const PackBuffers &buffers,
                                        Operands operands) {
  if (block.schedule.packsB)
    packB(block, columns, buffers.b, operands);
  emitMicroTiles(block, columns, buffers.c, operands);
}

void MacroKernelEmitter::emitMicroTiles(const Block &block,
                                        const Columns &columns, Value tile,
                                        const Operands &operands) {
  forEachTile(block.m, block.schedule.mr, 0, {}, operands, false,
              [&](Operands start, ArrayRef<int64_t> sizes) {
                if (schedule.dims.isDot)
                  return emitDots(block, start, tileOffsets(block.m, sizes),
                                  columns.offsets);
                Loops m = block.m;
                if (block.schedule.packsPanelsOfA)
                  m.back().strides[A] = kPack;
                if (tile) {
                  start.memory[C] = tile;
                  start.at[C] = b.index(0);
                  layOutTile(m, sizes, columns.offsets.size() * lanes);
                }
                emitMicroKernel(block, start, tileOffsets(m, sizes), columns);
                if (epilogue && block.isLast)
                  emitEpilogue(m, sizes, columns, start);
              });
}

void MacroKernelEmitter::layOutTile(Loops &m, ArrayRef<int64_t> sizes,
                                    int64_t columns) {
  for (auto [loop, size] : llvm::reverse(llvm::zip_equal(m, sizes))) {
    loop.strides[C] = columns;
    columns *= size;
  }
}

void MacroKernelEmitter::emitEpilogue(ArrayRef<Loop> m, ArrayRef<int64_t> sizes,
                                      const Columns &columns,
                                      const Operands &operands) {
  if (!m.empty())
    return b.forEach(sizes.front(), 1, false, [&](Value iteration) {
      emitEpilogue(m.drop_front(), sizes.drop_front(), columns,
                   move(operands, m.front(), iteration));
    });
  Value lastMask = b.maskOf(vector, columns.lastLanes);
  unsigned numInputs = epilogue.getNumDpsInputs();
  for (const TileOffset &column : columns.offsets) {
    Value mask = &column == &columns.offsets.back() ? lastMask : Value();
    auto offsetIn = [&](unsigned operand) {
      return b.add(operands.at[operand],
                   column.inC * schedule.dims.n.back().strides[operand]);
    };
    Values arguments;
    for (BlockArgument argument : epilogue.getBody()->getArguments()) {
      unsigned number = argument.getArgNumber();
      unsigned operand =
          epilogue->getOperand(number) == result ? unsigned(C) : C + 1 + number;
      Value memory = operands.memory[operand];
      auto type = dyn_cast<MemRefType>(memory.getType());
      if (!type || argument.use_empty())
        arguments.push_back(memory);
      else if (schedule.dims.n.back().strides[operand] == 0)
        arguments.push_back(
            b.create<memref::LoadOp>(memory, offsetIn(operand)));
      else
        arguments.push_back(b.loadVector(vector.clone(type.getElementType()),
                                         memory, offsetIn(operand), mask));
    }
    Values results = emitPayload(b, epilogue, lanes, arguments);
    for (auto [i, value] : llvm::enumerate(results)) {
      unsigned operand = C + 1 + numInputs + i;
      b.storeVector(value, operands.memory[operand], offsetIn(operand), mask);
    }
  }
}

//===----------------------------------------------------------------------===//
// Micro-kernels
//===----------------------------------------------------------------------===//

Value MacroKernelEmitter::loadColumns(const Block &block,
                                      const Operands &operands,
                                      const TileOffset &column, int64_t count,
                                      Value mask) {
  Value at = operands.at[B];
  if (kPack > 1 && block.schedule.packsB)
    return b.loadVector(packs, operands.memory[B],
                        b.add(at, column.inB * kPack), Value());
  int64_t stride = kPack > 1 ? block.k.back().strides[B] : 0;
  return loadPack(operands.memory[B], b.add(at, column.inB), stride, count,
                  mask);
}

Value MacroKernelEmitter::broadcastRow(const Block &block,
                                       const Operands &operands,
                                       const TileOffset &row, int64_t count) {
  if (kPack == 1)
    return b.create<vector::BroadcastOp>(vector,
                                         loadScalar(operands, A, row.inA));
  Type i32 = b.getI32Type();
  Value memory = operands.memory[A], at = b.add(operands.at[A], row.inA);
  int64_t stride = block.k.back().strides[A];
  auto bitsAt = [&](Value at) -> Value {
    Value number = b.create<memref::LoadOp>(memory, at);
    return b.create<arith::ExtUIOp>(
        i32, b.create<arith::BitcastOp>(b.getI16Type(), number).getResult());
  };
  Value pair;
  if (block.schedule.packsA || (stride == 1 && count == kPack)) {
    // Packed copies are padded to whole packs.
    Value both = b.loadVector(VectorType::get({kPack}, b.getBF16Type()), memory,
                              at, Value());
    both = b.create<vector::BitCastOp>(VectorType::get({1}, i32), both);
    pair = b.create<vector::ExtractOp>(both, int64_t(0));
  } else {
    pair = bitsAt(at);
    if (count == kPack) {
      Value high = b.create<arith::ShLIOp>(
          bitsAt(b.add(at, stride)),
          b.create<arith::ConstantOp>(b.getI32IntegerAttr(16)));
      pair = b.create<arith::OrIOp>(pair, high);
    }
  }
  Value all = b.create<vector::BroadcastOp>(vector.clone(i32), pair);
  return b.create<vector::BitCastOp>(packs, all);
}

Value MacroKernelEmitter::multiplyAdd(Value a, Value other, Value sum) {
  if (kPack == 1)
    return b.create<vector::FMAOp>(a, other, sum);
  return b
      .create<LLVM::CallIntrinsicOp>(
          vector, StringRef("llvm.x86.avx512bf16.dpbf16ps.512"),
          ValueRange{sum, a, other})
      .getResult(0);
}

Value MacroKernelEmitter::loadScalar(const Operands &operands,
                                     ContractionOperand operand,
                                     int64_t shift) {
  return b.loadScalar(element, operands.memory[operand],
                      b.add(operands.at[operand], shift));
}

Value MacroKernelEmitter::loadVector(const Operands &operands,
                                     ContractionOperand operand, int64_t shift,
                                     Value mask) {
  return b.loadVector(vector, operands.memory[operand],
                      b.add(operands.at[operand], shift), mask);
}

void MacroKernelEmitter::prefetch(const Operands &operands,
                                  ContractionOperand operand, Value at,
                                  CacheLevel level) {
  b.prefetch(operands.memory[operand], at, /*isWrite=*/operand == C, level);
}

void MacroKernelEmitter::emitPrefetch(const Prefetch &prefetch,
                                      const Block &block, const Operands &start,
                                      const Operands &operands,
                                      TileOffsets rows, TileOffsets columns) {
  auto request = [&](ContractionOperand operand, Value at) {
    this->prefetch(operands, operand, at, prefetch.level);
  };
  using What = Prefetch::What;
  if (prefetch.what == What::Vectors) {
    for (const TileOffset &column : columns)
      request(B, b.add(operands.at[B], column.inB + prefetch.distance));
    return;
  }
  if (prefetch.what == What::FollowingTile) {
    int64_t tile = rows.size() * block.m.back().strides[A];
    Value iteration = b.create<arith::SubIOp>(operands.at[A], start.at[A]);
    Value shift = b.scaled(iteration, prefetch.distance);
    request(A, b.add(b.add(start.at[A], tile), shift));
    return;
  }
  Value next = b.add(operands.at[A], prefetch.distance);
  request(A, next);
  if (prefetch.what == What::Rows)
    request(A, b.add(next, rows.back().inA));
}

MacroKernelEmitter::Values MacroKernelEmitter::emitKLoops(
    const Block &block, size_t depth, const Operands &operands,
    ValueRange accumulators, int64_t step,
    function_ref<Values(const Operands &, ValueRange, int64_t)> body) {
  if (depth == block.k.size())
    return body(operands, accumulators, 0);
  const Loop &loop = block.k[depth];
  int64_t extent = loop.extent;
  bool isLast = depth + 1 == block.k.size();
  int64_t by = isLast ? step : 1;
  int64_t even = extent / by * by;
  Values results(accumulators);
  if (even > 0)
    results = b.loop(
        even, by, accumulators, [&](Value iteration, ValueRange carried) {
          return emitKLoops(block, depth + 1, move(operands, loop, iteration),
                            carried, step, body);
        });
  if (even < extent)
    results = body(move(operands, loop, b.index(even)), results, extent - even);
  return results;
}

void MacroKernelEmitter::emitMicroKernel(const Block &block,
                                         const Operands &operands,
                                         TileOffsets rows,
                                         const Columns &columns) {
  Value lastMask = b.maskOf(vector, columns.lastLanes);
  auto mask = [&](size_t column) {
    return column + 1 == columns.offsets.size() ? lastMask : Value();
  };
  // If k is long, C arrives in the cache while the sums are computed.
  bool prefetchesC =
      block.schedule.prefetchesC && !(epilogue && schedule.foldsFill);
  bool addsLast = prefetchesC && !start;
  Value first;
  if (start)
    first = b.create<vector::BroadcastOp>(vector, start);
  else if (addsLast)
    first = b.create<arith::ConstantOp>(b.getZeroAttr(vector));
  Values sums;
  for (const TileOffset &row : rows)
    for (auto [i, column] : llvm::enumerate(columns.offsets)) {
      int64_t shift = row.inC + column.inC;
      if (prefetchesC)
        prefetch(operands, C, b.add(operands.at[C], shift), CacheLevel::L1);
      sums.push_back(first ? first : loadVector(operands, C, shift, mask(i)));
    }
  sums = emitKLoops(
      block, 0, operands, sums, kPack,
      [&](const Operands &now, ValueRange carried, int64_t rest) {
        int64_t count = rest == 0 ? kPack : rest;
        Values next, vectors;
        for (auto [i, column] : llvm::enumerate(columns.offsets))
          vectors.push_back(loadColumns(block, now, column, count, mask(i)));
        for (const Prefetch &prefetch : block.prefetches)
          emitPrefetch(prefetch, block, operands, now, rows, columns.offsets);
        size_t number = 0;
        for (const TileOffset &row : rows) {
          Value broadcast;
          if (!schedule.dims.isElementwise)
            broadcast = broadcastRow(block, now, row, count);
          for (auto [i, column] : llvm::enumerate(columns.offsets)) {
            Value factor =
                broadcast ? broadcast
                          : loadVector(now, A, row.inA + column.inA, mask(i));
            next.push_back(multiplyAdd(factor, vectors[i], carried[number++]));
          }
        }
        return next;
      });
  size_t number = 0;
  for (const TileOffset &row : rows)
    for (auto [i, column] : llvm::enumerate(columns.offsets)) {
      int64_t shift = row.inC + column.inC;
      Value sum = sums[number++];
      if (addsLast) {
        Value old = loadVector(operands, C, shift, mask(i));
        sum = b.create<arith::AddFOp>(old, sum);
      }
      b.storeVector(sum, operands.memory[C], b.add(operands.at[C], shift),
                    mask(i));
    }
}

void MacroKernelEmitter::emitDots(const Block &block, const Operands &operands,
                                  TileOffsets rows, TileOffsets columns) {
  Value zeros = b.create<arith::ConstantOp>(b.getZeroAttr(vector));
  Values sums(rows.size() * columns.size(), zeros);
  sums = emitKLoops(
      block, 0, operands, sums, lanes * kPack,
      [&](const Operands &now, ValueRange carried, int64_t rest) {
        Value mask = b.maskOf(packs, rest);
        auto load = [&](ContractionOperand operand, int64_t shift) {
          return b.loadVector(packs, now.memory[operand],
                              b.add(now.at[operand], shift), mask);
        };
        Values next, vectors;
        for (const TileOffset &column : columns)
          vectors.push_back(load(B, column.inB));
        size_t number = 0;
        for (const TileOffset &row : rows) {
          Value factor = load(A, row.inA);
          for (Value other : vectors)
            next.push_back(multiplyAdd(factor, other, carried[number++]));
        }
        return next;
      });
  size_t number = 0;
  sums = b.sumsOf(sums);
  for (const TileOffset &row : rows)
    for (const TileOffset &column : columns) {
      int64_t shift = row.inC + column.inC;
      Value old = start ? start : loadScalar(operands, C, shift);
      Value sum = b.create<arith::AddFOp>(old, sums[number++]);
      b.create<memref::StoreOp>(sum, operands.memory[C],
                                b.add(operands.at[C], shift));
    }
}
