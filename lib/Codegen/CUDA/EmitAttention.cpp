// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Attention in one kernel, by matrix instructions. Each warp computes 16 rows.
// Lane 4 r + q holds, of a fragment of 16 x 8, rows r and r + 8, and of each
// columns 2 q and 2 q + 1. So the scores of a tile are, once they are rounded,
// the fragments that the product with V reads.

#include "lib/Codegen/CUDA/Attention.h"
#include "lib/Codegen/CUDA/BlockBuilder.h"
#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Ptx.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace netc;
using namespace mlir;

using Loop = LoopNest::Loop;
using Schedule = AttentionSchedule;

namespace {
class AttentionEmitter : BlockBuilder {
public:
  AttentionEmitter(Attention attention, Schedule schedule)
      : BlockBuilder(attention.scores), attention(std::move(attention)),
        schedule(std::move(schedule)),
        format(cast<FloatType>(
            getElementTypeOrSelf(this->attention.scores->getOperand(0)))),
        f32(b.getF32Type()), ptx(b) {
    b.addOperandsOf(this->attention.product);
  }

  void emit();

private:
  /// The sums of a thread: of fragments of the result, and by row of the two
  /// that it has, the largest score and the sum of exponentials so far.
  struct State {
    SmallVector<Value> sums;
    std::array<Value, 2> largest, total;

    SmallVector<Value> values() const {
      SmallVector<Value> all(sums);
      llvm::append_range(all, largest);
      llvm::append_range(all, total);
      return all;
    }
    static State of(ValueRange values) {
      State state;
      state.sums = llvm::to_vector(values.drop_back(4));
      values = values.take_back(4);
      state.largest = {values[0], values[1]};
      state.total = {values[2], values[3]};
      return state;
    }
  };

  /// Rows of an operand that are copied to shared memory.
  struct Tile {
    AttentionOperand operand;
    ArrayRef<Loop> along; ///< the loops of its rows
    Loop inRow;
    int64_t extent, rows; ///< all rows, and those of the tile
  };

  Value number(double value) {
    return b.create<arith::ConstantOp>(b.getF32FloatAttr(value));
  }
  Value memoryOf(AttentionOperand operand) {
    unsigned q = attention.operandOfQ(), p = attention.operandOfWeights();
    unsigned numbers[] = {q, 1 - q, 3 + (1 - p), 3 + 2};
    return b.flat(numbers[operand]);
  }
  Value memrefOf(AttentionOperand operand) {
    return operand == Q || operand == K
               ? attention.scores->getOperand(operand == Q
                                                  ? attention.operandOfQ()
                                                  : 1 - attention.operandOfQ())
               : attention.product->getOperand(
                     operand == V ? 1 - attention.operandOfWeights() : 2);
  }
  bool areMultiples(AttentionOperand operand, const Loop &inRow, int64_t of);

  void beginCopy(const Tile &tile, Value first, Value to);
  void beginStage(Value tile, Value stage);
  void beginLater(Value tile);
  SmallVector<SmallVector<Value>> loadQueries();
  SmallVector<Value> loadMatrices(Value address, int64_t width, Value row,
                                  Value column, int64_t k, bool isTransposed);

  void placeRows(Value batch);
  void setIvs(int64_t half, ArrayRef<Loop> loops, Value number);
  SmallVector<Value> scoresOf(Value tileOfK);
  void addFragment(MutableArrayRef<Value> sums, int64_t fragment,
                   ValueRange left, ValueRange right);
  Value elementAt(Value score, int64_t half, Value key);

  Value exp(Value x);
  void addToRows(State &state, MutableArrayRef<Value> elements);
  void addProducts(State &state, ArrayRef<Value> weights, Value tileOfV);
  State addTile(Value tile, const State &before);
  void store(State &state);

  /// The combination of the values of the four lanes of a row.
  template <typename OpTy> Value overRow(Value value) {
    for (int32_t apart : {1, 2})
      value = b.create<OpTy>(value, ptx.shuffle(value, apart));
    return value;
  }

  Attention attention;
  Schedule schedule;
  FloatType format;
  Type f32;
  PtxBuilder ptx;
  Value thread, lane, firstRow;
  std::array<Value, 4> bases;
  Value shared, start; ///< the tiles, and their address
  /// The offset of a lane's row and column in four matrices: in those of Q and
  /// V, whose second one differs in the row, and in those of K.
  Value rowInMatrices, columnInMatrices, rowInK, columnInK;
  SmallVector<SmallVector<Value>> queries;
  /// By half: the row of this thread; whether it exists, or null if it does;
  /// and the induction variables of `elements`, without that of the key.
  std::array<Value, 2> rows, isRow;
  std::array<SmallVector<Value>, 2> ivs;
};
} // namespace

void AttentionEmitter::emit() {
  Value block = indexIn<NVVM::BlockIdXOp>(b);
  thread = indexIn<NVVM::ThreadIdXOp>(b);
  lane = ptx.lane();
  firstRow = mul(b.rem(block, schedule.blocksOfRows()), schedule.bm);
  Value batch = b.div(block, schedule.blocksOfRows());
  for (AttentionOperand operand : {Q, K, V, O})
    bases[operand] = b.add(placeIn(operand, attention.batch, batch),
                           attention.starts[operand]);
  shared = sharedBuffer(b, "tiles", format, schedule.sharedElements());
  start = ptx.addressOf(shared);
  Value inEight = ptx.rem(lane, 8), second = ptx.mul(ptx.div(lane, 16), 8),
        first = ptx.mul(ptx.rem(ptx.div(lane, 8), 2), 8);
  rowInMatrices = ptx.add(first, inEight);
  columnInMatrices = second;
  rowInK = ptx.add(second, inEight);
  columnInK = first;
  queries = loadQueries();
  placeRows(batch);

  b.create<NVVM::Barrier0Op>();
  beginStage(b.index(0), b.index(0));
  ptx.commitCopies();
  State state;
  state.sums.assign(Schedule::padded(schedule.dims.columns) / 8 * 4, number(0));
  state.largest = {number(-INFINITY), number(-INFINITY)};
  state.total = {number(0), number(0)};
  SmallVector<Value> last = b.loop(
      schedule.tiles(), 1, state.values(), [&](Value tile, ValueRange before) {
        ptx.waitForCopies(0);
        b.create<NVVM::Barrier0Op>();
        beginLater(tile);
        ptx.commitCopies();
        return addTile(tile, State::of(before)).values();
      });
  state = State::of(last);
  store(state);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Whether all rows of an operand start at multiples of this number of
/// elements, and are contiguous, and as long as a multiple of it.
bool AttentionEmitter::areMultiples(AttentionOperand operand, const Loop &inRow,
                                    int64_t of) {
  int64_t bytes =
      getElementTypeOrSelf(memrefOf(operand)).getIntOrFloatBitWidth() / 8;
  auto isMultiple = [&](const Loop &loop) {
    return loop.strides[operand] % of == 0;
  };
  return inRow.strides[operand] == 1 && inRow.extent % of == 0 &&
         attention.starts[operand] % of == 0 &&
         alignmentOf(memrefOf(operand)) % (of * bytes) == 0 &&
         llvm::all_of(attention.batch, isMultiple) &&
         llvm::all_of(attention.rows, isMultiple) && isMultiple(attention.keys);
}

/// Begins to copy the rows from `first` on to element `to` of shared memory.
/// What is out of bounds becomes 0.
void AttentionEmitter::beginCopy(const Tile &tile, Value first, Value to) {
  const int64_t width = tile.inRow.extent, padded = Schedule::padded(width);
  const bool isChunked =
      areMultiples(tile.operand, tile.inRow, Schedule::kChunk);
  const int64_t unit = isChunked ? Schedule::kChunk : 1;
  const int64_t count = tile.rows * padded / unit;
  for (int64_t i = 0; i < count; i += schedule.threads()) {
    OpBuilder::InsertionGuard guard(b);
    Value number = b.add(thread, i);
    // All lanes of a warp agree, since a warp copies 32 of an even number.
    enterWhere(isInBounds(number, count, schedule.threads()));
    Value row = b.div(number, padded / unit),
          column = mul(b.rem(number, padded / unit), unit);
    Value at = b.add(first, row);
    Value isInside = both(isInBounds(at, tile.extent, tile.rows),
                          isInBounds(column, width, padded));
    Value from = b.add(placeIn(tile.operand, tile.along, at),
                       b.scaled(column, tile.inRow.strides[tile.operand]));
    from = b.add(bases[tile.operand], from);
    if (isInside)
      from = b.create<arith::SelectOp>(isInside, from, b.index(0));
    Value place = b.add(to, b.add(mul(row, Schedule::stride(width)), column));
    Value memory = memoryOf(tile.operand);
    if (isChunked) {
      Value bytes = ptx.i32(2 * unit);
      if (isInside)
        bytes = b.create<arith::SelectOp>(isInside, bytes, ptx.i32(0));
      ptx.beginCopy(ptx.addressOf(start, place, 2),
                    ptx.globalAddressOf(memory, from, 2), bytes);
      continue;
    }
    Value element = b.create<memref::LoadOp>(memory, from);
    Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(format));
    if (isInside)
      element = b.create<arith::SelectOp>(isInside, element, zero);
    b.create<memref::StoreOp>(element, shared, place);
  }
}

/// Begins to copy a tile of K and of V to a stage.
void AttentionEmitter::beginStage(Value tile, Value stage) {
  Value first = mul(tile, schedule.bn);
  Value to = mul(stage, schedule.stageElements());
  int64_t keys = schedule.dims.keys;
  beginCopy({K, attention.keys, attention.depth, keys, schedule.bn}, first, to);
  beginCopy({V, attention.keys, attention.columns, keys, schedule.bn}, first,
            b.add(to, schedule.bn * Schedule::stride(schedule.dims.depth)));
}

/// Begins to copy the tile after this one, if there is one.
void AttentionEmitter::beginLater(Value tile) {
  Value later = b.add(tile, 1);
  OpBuilder::InsertionGuard guard(b);
  enterWhere(b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, later,
                                     b.index(schedule.tiles())));
  beginStage(later, b.rem(later, Schedule::kStages));
}

/// Loads the fragments of the warp's rows of Q.
SmallVector<SmallVector<Value>> AttentionEmitter::loadQueries() {
  beginCopy(
      {Q, attention.rows, attention.depth, schedule.dims.rows, schedule.bm},
      firstRow, b.index(0));
  ptx.commitCopies();
  ptx.waitForCopies(0);
  b.create<NVVM::Barrier0Op>();
  Value row = ptx.add(ptx.mul(ptx.div(ptx.thread(), 32), 16), rowInMatrices);
  SmallVector<SmallVector<Value>> fragments;
  for (int64_t k = 0; k < schedule.dims.depth; k += 16)
    fragments.push_back(loadMatrices(start, schedule.dims.depth, row,
                                     columnInMatrices, k,
                                     /*isTransposed=*/false));
  return fragments;
}

/// Loads four matrices from rows of `width` elements at an address. `k` is
/// added to the column.
SmallVector<Value> AttentionEmitter::loadMatrices(Value address, int64_t width,
                                                  Value row, Value column,
                                                  int64_t k,
                                                  bool isTransposed) {
  Value place = ptx.add(ptx.mul(row, 2 * Schedule::stride(width)),
                        ptx.mul(ptx.add(column, ptx.i32(k)), 2));
  return ptx.loadMatrices(ptx.add(address, place), isTransposed);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Sets the induction variables of the two rows of this thread. Those of a row
/// that does not exist are those of row 0.
void AttentionEmitter::placeRows(Value batch) {
  unsigned axes = attention.elements.getNumLoops();
  Value inWarp = b.div(ptx.index(lane), 4);
  Value ofWarp = mul(b.div(thread, 32), 16);
  for (int64_t half : {0, 1}) {
    rows[half] = b.add(b.add(firstRow, ofWarp), b.add(inWarp, 8 * half));
    isRow[half] = isInBounds(rows[half], schedule.dims.rows, schedule.bm);
    Value row = rows[half];
    if (isRow[half])
      row = b.create<arith::SelectOp>(isRow[half], row, b.index(0));
    ivs[half].resize(axes);
    setIvs(half, attention.rows, row);
    setIvs(half, attention.batch, batch);
  }
}

void AttentionEmitter::setIvs(int64_t half, ArrayRef<Loop> loops,
                              Value number) {
  for (const Loop &loop : llvm::reverse(loops)) {
    ivs[half][loop.dims[0].first] = b.rem(number, loop.extent);
    number = b.div(number, loop.extent);
  }
}

/// Q K' for the warp's rows and a tile of K, at an address.
SmallVector<Value> AttentionEmitter::scoresOf(Value tileOfK) {
  SmallVector<Value> scores(schedule.bn / 8 * 4, number(0));
  for (auto [k, query] : llvm::enumerate(queries))
    for (int64_t j = 0; j < schedule.bn; j += 16) {
      SmallVector<Value> keys = loadMatrices(
          tileOfK, schedule.dims.depth, ptx.add(rowInK, ptx.i32(j)), columnInK,
          int64_t(k) * 16, /*isTransposed=*/false);
      for (int64_t half : {0, 1})
        addFragment(scores, j / 8 + half, query,
                    ValueRange(keys).slice(2 * half, 2));
    }
  return scores;
}

/// Adds a product to fragment number `fragment` of `sums`.
void AttentionEmitter::addFragment(MutableArrayRef<Value> sums,
                                   int64_t fragment, ValueRange left,
                                   ValueRange right) {
  MutableArrayRef<Value> sum = sums.slice(fragment * 4, 4);
  SmallVector<Value> more =
      ptx.addProduct(format, left, right, ValueRange(sum));
  llvm::copy(more, sum.begin());
}

/// f(score), or -inf if there is no such key.
Value AttentionEmitter::elementAt(Value score, int64_t half, Value key) {
  Value isKey = isInBounds(key, schedule.dims.keys, schedule.bn);
  PointBuilder at(attention.elements, b);
  llvm::copy(ivs[half], at.ivs.begin());
  at.ivs[attention.keys.dims[0].first] =
      isKey ? b.create<arith::SelectOp>(isKey, key, b.index(0)) : key;
  for (OpOperand *input : attention.elements.getDpsInputOperands())
    if (input->get() == attention.scores.getDpsInits()[0])
      at.known[input->getOperandNumber()] = score;
  Value element = at.payload(Value())[0];
  if (element.getType() != f32)
    element = b.create<arith::ExtFOp>(f32, element);
  return isKey ? b.create<arith::SelectOp>(isKey, element, number(-INFINITY))
               : element;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// exp(x), by the function unit for powers of 2.
Value AttentionEmitter::exp(Value x) {
  return ptx.exp2(b.create<arith::MulFOp>(x, number(1.4426950408889634)));
}

/// Replaces elements by their exponentials, relative to the largest of their
/// row so far, and brings what was summed up before to the same scale.
void AttentionEmitter::addToRows(State &state,
                                 MutableArrayRef<Value> elements) {
  for (int64_t half : {0, 1}) {
    auto isOfRow = [=](size_t i) { return int64_t(i) / 2 % 2 == half; };
    Value largest = state.largest[half];
    for (size_t i = 0; i < elements.size(); ++i)
      if (isOfRow(i))
        largest = b.create<arith::MaximumFOp>(largest, elements[i]);
    largest = overRow<arith::MaximumFOp>(largest);
    // If all scores so far are -inf, so are their differences to any number.
    Value isNone = b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, largest,
                                           number(-INFINITY));
    Value shift = b.create<arith::SelectOp>(isNone, number(0), largest);
    Value scale = exp(b.create<arith::SubFOp>(state.largest[half], shift));
    Value total = b.create<arith::MulFOp>(state.total[half], scale);
    for (size_t i = 0; i < elements.size(); ++i)
      if (isOfRow(i)) {
        elements[i] = exp(b.create<arith::SubFOp>(elements[i], shift));
        total = b.create<arith::AddFOp>(total, elements[i]);
      }
    for (size_t i = 0; i < state.sums.size(); ++i)
      if (isOfRow(i))
        state.sums[i] = b.create<arith::MulFOp>(state.sums[i], scale);
    state.largest[half] = largest;
    state.total[half] = total;
  }
}

/// Adds the product of weights and a tile of V, at an address.
void AttentionEmitter::addProducts(State &state, ArrayRef<Value> weights,
                                   Value tileOfV) {
  for (int64_t key = 0; key < schedule.bn; key += 16) {
    ArrayRef<Value> two = weights.slice(key / 8 * 4, 8);
    SmallVector<Value> left;
    for (int64_t i = 0; i < 8; i += 2)
      left.push_back(ptx.pack(format, two[i], two[i + 1]));
    for (int64_t j = 0; j < schedule.dims.columns; j += 16) {
      SmallVector<Value> right = loadMatrices(
          tileOfV, schedule.dims.columns, ptx.add(rowInMatrices, ptx.i32(key)),
          columnInMatrices, j, /*isTransposed=*/true);
      for (int64_t half : {0, 1})
        addFragment(state.sums, j / 8 + half, left,
                    ValueRange(right).slice(2 * half, 2));
    }
  }
}

AttentionEmitter::State AttentionEmitter::addTile(Value tile,
                                                  const State &before) {
  State state = before;
  Value stage = b.rem(tile, Schedule::kStages);
  Value tileOfK = ptx.addressOf(start, mul(stage, schedule.stageElements()), 2);
  Value tileOfV =
      ptx.add(tileOfK,
              ptx.i32(2 * schedule.bn * Schedule::stride(schedule.dims.depth)));
  SmallVector<Value> elements = scoresOf(tileOfK);
  Value inRow = mul(b.rem(ptx.index(lane), 4), 2);
  Value firstKey = b.add(mul(tile, schedule.bn), inRow);
  for (auto [i, element] : llvm::enumerate(elements)) {
    int64_t number = int64_t(i);
    Value key = b.add(firstKey, number / 4 * 8 + number % 2);
    element = elementAt(element, number / 2 % 2, key);
  }
  addToRows(state, elements);
  addProducts(state, elements, tileOfV);
  return state;
}

/// Divides the sums by those of the exponentials, and stores them.
void AttentionEmitter::store(State &state) {
  auto two = VectorType::get({2}, f32);
  Value memory = memoryOf(O);
  const int64_t columns = schedule.dims.columns,
                stride = attention.columns.strides[O];
  const bool isPaired = areMultiples(O, attention.columns, 2);
  for (int64_t half : {0, 1}) {
    Value total = overRow<arith::AddFOp>(state.total[half]);
    OpBuilder::InsertionGuard guard(b);
    enterWhere(isRow[half]);
    Value place = b.add(bases[O], placeIn(O, attention.rows, rows[half]));
    for (int64_t j = 0; j < columns; j += 8) {
      Value column = b.add(mul(b.rem(ptx.index(lane), 4), 2), j);
      std::array<Value, 2> pair;
      for (int64_t e : {0, 1})
        pair[e] = b.create<arith::DivFOp>(state.sums[j / 8 * 4 + 2 * half + e],
                                          total);
      OpBuilder::InsertionGuard guard(b);
      if (isPaired) {
        enterWhere(isInBounds(column, columns, 8));
        Value both = b.create<vector::BroadcastOp>(two, pair[0]);
        both = b.create<vector::InsertOp>(pair[1], both, int64_t(1));
        b.create<vector::StoreOp>(both, memory, b.add(place, column));
        continue;
      }
      for (int64_t e : {0, 1}) {
        OpBuilder::InsertionGuard guard(b);
        Value at = b.add(column, e);
        enterWhere(isInBounds(at, columns, 8));
        b.create<memref::StoreOp>(pair[e], memory,
                                  b.add(place, b.scaled(at, stride)));
      }
    }
  }
}

static SmallVector<Operation *> opsOfAttention(func::FuncOp kernel) {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (op->hasAttr(kAttention))
      ops.push_back(op);
  });
  return ops;
}

std::optional<AttentionSchedule>
netc::attentionScheduleOf(func::FuncOp kernel, const DeviceInfo &device) {
  SmallVector<Operation *> ops = opsOfAttention(kernel);
  if (ops.empty() || !isa<scf::ExecuteRegionOp>(ops.front()->getParentOp()))
    return std::nullopt;
  auto attention = Attention::of(ops);
  return attention ? scheduleAttention(attention->sizes(), device)
                   : std::nullopt;
}

std::optional<KernelShape> netc::emitAttention(func::FuncOp kernel,
                                               const DeviceInfo &device) {
  auto schedule = attentionScheduleOf(kernel, device);
  if (!schedule)
    return std::nullopt;
  SmallVector<Operation *> ops = opsOfAttention(kernel);
  AttentionEmitter(*Attention::of(ops), *schedule).emit();
  SetVector<Operation *> buffers;
  for (Operation *op : llvm::reverse(ops)) {
    for (Value operand : op->getOperands())
      if (auto buffer = operand.getDefiningOp<memref::AllocOp>())
        buffers.insert(buffer);
    op->erase();
  }
  for (Operation *buffer : buffers) {
    for (Operation *view : llvm::make_early_inc_range(buffer->getUsers()))
      view->erase();
    buffer->erase();
  }
  return KernelShape{schedule->blocks() * schedule->threads(),
                     schedule->threads()};
}
