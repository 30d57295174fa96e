// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/AttentionBuilder.h"

#include "lib/Codegen/CUDA/Kernels.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace netc;
using namespace mlir;

using Loop = LoopNest::Loop;
using Schedule = AttentionSchedule;
using Role = AttentionRole;

/// log2(e).
static constexpr double kLog2E = 1.4426950408889634;

AttentionBuilder::AttentionBuilder(Attention of, Schedule schedule)
    : BlockBuilder(of.op(Role::Scores)), attention(std::move(of)),
      schedule(std::move(schedule)),
      format(cast<FloatType>(getElementTypeOrSelf(attention.memory[Q]))),
      ptx(b) {
  Value block = indexIn<NVVM::BlockIdXOp>(b);
  thread = indexIn<NVVM::ThreadIdXOp>(b);
  lane = ptx.lane();
  Value ofRows = b.rem(block, this->schedule.blocksOfRows());
  // Blocks with the most tiles start first.
  if (this->schedule.dims.hidden == AttentionDims::After)
    ofRows = b.create<arith::SubIOp>(b.index(this->schedule.blocksOfRows() - 1),
                                     ofRows);
  firstRow = mul(ofRows, this->schedule.bm);
  Value batch = b.div(block, this->schedule.blocksOfRows());
  for (size_t operand = 0; operand < kAttentionOperands; ++operand)
    if (Value memory = attention.memory[operand]) {
      flats[operand] = b.flatten(memory);
      bases[operand] = b.add(placeIn(operand, attention.batch, batch),
                             attention.starts[operand]);
    }
  shared = sharedBuffer(b, "tiles", format, this->schedule.sharedElements());
  start = ptx.addressOf(shared);
  Value inEight = ptx.rem(lane, 8), second = ptx.mul(ptx.div(lane, 16), 8),
        first = ptx.mul(ptx.rem(ptx.div(lane, 8), 2), 8);
  rowFirst = ptx.add(first, inEight);
  columnSecond = second;
  rowSecond = ptx.add(second, inEight);
  columnFirst = first;
  placeRows(batch);
  unmasked = attention.ops;
  if (this->schedule.dims.hidden != AttentionDims::None)
    for (Role role : {Role::Elements, Role::ScoreGradients})
      if (linalg::GenericOp op = attention.op(role))
        unmasked[size_t(role)] = withoutMask(op);
}

Value AttentionBuilder::number(double value) {
  return b.create<arith::ConstantOp>(b.getF32FloatAttr(value));
}

const Loop &AttentionBuilder::inRow(AttentionOperand operand) const {
  bool isOfDepth = llvm::is_contained({Q, K, DQ, DK}, operand);
  return isOfDepth ? attention.depth : attention.columns;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Whether all rows of an operand start at multiples of this number of
/// elements, and are contiguous, and as long as a multiple of it.
bool AttentionBuilder::areMultiples(AttentionOperand operand,
                                    int64_t of) const {
  return inRow(operand).extent % of == 0 &&
         isAligned(attention.memory[operand], operand,
                   attention.starts[operand],
                   {attention.batch, attention.rows, attention.keys},
                   inRow(operand), of);
}

/// Begins to copy `count` rows from `first` on, of `extent`, to element `to` of
/// shared memory. What is out of bounds becomes 0.
void AttentionBuilder::beginCopy(AttentionOperand operand, ArrayRef<Loop> along,
                                 int64_t count, int64_t extent, Value first,
                                 Value to) {
  const int64_t width = inRow(operand).extent, padded = Schedule::padded(width);
  const bool isChunked = areMultiples(operand, Schedule::kChunk);
  const int64_t unit = isChunked ? Schedule::kChunk : 1;
  const int64_t units = count * padded / unit;
  for (int64_t i = 0; i < units; i += schedule.threads()) {
    OpBuilder::InsertionGuard guard(b);
    Value number = b.add(thread, i);
    // All lanes of a warp agree, since there is a multiple of 32.
    enterWhere(isInBounds(number, units, schedule.threads()));
    Value row = b.div(number, padded / unit),
          column = mul(b.rem(number, padded / unit), unit);
    Value at = b.add(first, row);
    Value isInside =
        both(isInBounds(at, extent, count), isInBounds(column, width, padded));
    Value from = b.add(placeIn(operand, along, at),
                       b.scaled(column, inRow(operand).strides[operand]));
    from = b.add(bases[operand], from);
    if (isInside)
      from = b.create<arith::SelectOp>(isInside, from, b.index(0));
    Value place = b.add(to, b.add(mul(row, Schedule::stride(width)), column));
    if (isChunked) {
      Value bytes = ptx.i32(2 * unit);
      if (isInside)
        bytes = b.create<arith::SelectOp>(isInside, bytes, ptx.i32(0));
      ptx.beginCopy(ptx.addressOf(start, place, 2),
                    ptx.globalAddressOf(flat(operand), from, 2), bytes);
      continue;
    }
    Value element = b.create<memref::LoadOp>(flat(operand), from);
    Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(format));
    if (isInside)
      element = b.create<arith::SelectOp>(isInside, element, zero);
    b.create<memref::StoreOp>(element, shared, place);
  }
}

/// Begins to copy a pair of tiles to their stage.
void AttentionBuilder::beginStage(AttentionOperand first,
                                  AttentionOperand second, Value tile) {
  Value stage = b.rem(tile, Schedule::kStages);
  Value to = mul(stage, schedule.stageElements());
  Value row = mul(tile, schedule.bn);
  for (AttentionOperand operand : {first, second}) {
    beginCopy(operand, across(), schedule.bn, schedule.dims.keys, row, to);
    to = b.add(to, schedule.bn * Schedule::stride(inRow(operand).extent));
  }
}

/// The first tile of this block, and the end of its tiles.
std::pair<Value, Value> AttentionBuilder::rangeOfTiles() {
  Value first = b.index(0), end = b.index(schedule.tiles());
  if (schedule.dims.hidden == AttentionDims::Before)
    first = b.create<arith::MinUIOp>(b.div(firstRow, schedule.bn),
                                     b.index(schedule.tiles() - 1));
  if (schedule.dims.hidden == AttentionDims::After) {
    Value last = b.div(b.add(firstRow, schedule.bm - 1), schedule.bn);
    end = b.create<arith::MinUIOp>(b.add(last, 1), end);
  }
  return {first, end};
}

void AttentionBuilder::forTiles(
    AttentionOperand first, AttentionOperand second,
    MutableArrayRef<Value> state,
    function_ref<void(Value, Value, Value, MutableArrayRef<Value>)> body) {
  auto [begin, end] = rangeOfTiles();
  b.create<NVVM::Barrier0Op>();
  beginStage(first, second, begin);
  ptx.commitCopies();
  auto loop = b.create<scf::ForOp>(begin, end, b.index(1), state);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value tile = loop.getInductionVar();
  ptx.waitForCopies(0);
  b.create<NVVM::Barrier0Op>();
  {
    Value later = b.add(tile, 1);
    OpBuilder::InsertionGuard guard(b);
    enterWhere(b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, later, end));
    beginStage(first, second, later);
  }
  ptx.commitCopies();
  Value stage = b.rem(tile, Schedule::kStages);
  Value atFirst = ptx.addressOf(start, mul(stage, schedule.stageElements()), 2);
  int64_t elements = schedule.bn * Schedule::stride(inRow(first).extent);
  SmallVector<Value> next(loop.getRegionIterArgs());
  body(tile, atFirst, ptx.add(atFirst, ptx.i32(2 * elements)), next);
  b.create<scf::YieldOp>(next);
  llvm::copy(loop.getResults(), state.begin());
}

AttentionBuilder::Fragments
AttentionBuilder::loadSide(AttentionOperand operand) {
  b.create<NVVM::Barrier0Op>();
  beginCopy(operand, side(), schedule.bm, schedule.dims.rows, firstRow,
            b.index(0));
  ptx.commitCopies();
  ptx.waitForCopies(0);
  b.create<NVVM::Barrier0Op>();
  Value row = ptx.add(ptx.mul(ptx.div(ptx.thread(), 32), 16), rowFirst);
  Fragments fragments;
  for (int64_t k = 0; k < inRow(operand).extent; k += 16)
    fragments.push_back(loadMatrices(start, operand, row, columnSecond, k,
                                     /*isTransposed=*/false));
  return fragments;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Loads four matrices from a tile of an operand at an address. `k` is added to
/// the column.
SmallVector<Value> AttentionBuilder::loadMatrices(Value address,
                                                  AttentionOperand operand,
                                                  Value row, Value column,
                                                  int64_t k,
                                                  bool isTransposed) {
  int64_t bytes = 2 * Schedule::stride(inRow(operand).extent);
  Value place =
      ptx.add(ptx.mul(row, bytes), ptx.mul(ptx.add(column, ptx.i32(k)), 2));
  return ptx.loadMatrices(ptx.add(address, place), isTransposed);
}

/// Adds a product to fragment number `fragment`.
void AttentionBuilder::addFragment(MutableArrayRef<Value> sums,
                                   int64_t fragment, ValueRange left,
                                   ValueRange right) {
  MutableArrayRef<Value> sum = sums.slice(fragment * 4, 4);
  SmallVector<Value> more =
      ptx.addProduct(format, left, right, ValueRange(ArrayRef<Value>(sum)));
  llvm::copy(more, sum.begin());
}

SmallVector<Value> AttentionBuilder::productOf(const Fragments &side,
                                               Value tile,
                                               AttentionOperand operand) {
  SmallVector<Value> sums(schedule.bn / 8 * 4, number(0));
  for (auto [k, left] : llvm::enumerate(side))
    for (int64_t j = 0; j < schedule.bn; j += 16) {
      SmallVector<Value> right =
          loadMatrices(tile, operand, ptx.add(rowSecond, ptx.i32(j)),
                       columnFirst, int64_t(k) * 16, /*isTransposed=*/false);
      for (int64_t half : {0, 1})
        addFragment(sums, j / 8 + half, left,
                    ValueRange(right).slice(2 * half, 2));
    }
  return sums;
}

void AttentionBuilder::addProduct(MutableArrayRef<Value> sums,
                                  ArrayRef<Value> elements, Value tile,
                                  AttentionOperand operand) {
  for (int64_t row = 0; row < schedule.bn; row += 16) {
    ArrayRef<Value> two = elements.slice(row / 8 * 4, 8);
    SmallVector<Value> left;
    for (int64_t i = 0; i < 8; i += 2)
      left.push_back(ptx.pack(format, two[i], two[i + 1]));
    for (int64_t j = 0; j < inRow(operand).extent; j += 16) {
      SmallVector<Value> right =
          loadMatrices(tile, operand, ptx.add(rowFirst, ptx.i32(row)),
                       columnSecond, j, /*isTransposed=*/true);
      for (int64_t half : {0, 1})
        addFragment(sums, j / 8 + half, left,
                    ValueRange(right).slice(2 * half, 2));
    }
  }
}

SmallVector<Value> AttentionBuilder::zeros(AttentionOperand operand) {
  return SmallVector<Value>(Schedule::padded(inRow(operand).extent) / 8 * 4,
                            number(0));
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

void AttentionBuilder::setIvs(MutableArrayRef<Value> ivs, ArrayRef<Loop> loops,
                              Value number) {
  for (const Loop &loop : llvm::reverse(loops)) {
    ivs[loop.dims[0].first] = b.rem(number, loop.extent);
    number = b.div(number, loop.extent);
  }
}

/// Sets the induction variables of the two rows of this thread. Those of a row
/// that does not exist are those of row 0.
void AttentionBuilder::placeRows(Value batch) {
  Value inWarp = b.div(ptx.index(lane), 4);
  Value ofWarp = mul(b.div(thread, 32), 16);
  for (int64_t half : {0, 1}) {
    rows[half] = b.add(b.add(firstRow, ofWarp), b.add(inWarp, 8 * half));
    isRow[half] = isInBounds(rows[half], schedule.dims.rows, schedule.bm);
    Value row = rows[half];
    if (isRow[half])
      row = b.create<arith::SelectOp>(isRow[half], row, b.index(0));
    ivs[half].resize(attention.op(Role::Elements).getNumLoops());
    setIvs(ivs[half], side(), row);
    setIvs(ivs[half], attention.batch, batch);
  }
}

/// A copy of an op of this kernel that a causal mask does not change.
linalg::GenericOp AttentionBuilder::withoutMask(linalg::GenericOp op) {
  auto copy = cast<linalg::GenericOp>(b.clone(*op));
  SmallVector<arith::SelectOp> choices;
  copy.walk([&](arith::SelectOp choice) { choices.push_back(choice); });
  for (arith::SelectOp choice : choices) {
    auto compare = choice.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!compare || !attention.isOfLaterKeys(compare))
      continue;
    Value shown = choice.getFalseValue();
    if (matchPattern(shown, m_AnyZeroFloat()))
      for (Operation *user : choice->getUsers())
        if (auto sum = dyn_cast<arith::AddFOp>(user))
          sum.replaceAllUsesWith(sum.getLhs() == choice ? sum.getRhs()
                                                        : sum.getLhs());
    choice.replaceAllUsesWith(shown);
  }
  return copy;
}

/// Whether a causal mask hides a part of a tile.
Value AttentionBuilder::mayHide(Value tile) {
  Value side = firstRow, across = mul(tile, schedule.bn);
  if (attention.isOfKeys())
    side = b.add(side, schedule.bm - 1);
  else
    across = b.add(across, schedule.bn - 1);
  return b.create<arith::CmpIOp>(attention.isOfKeys()
                                     ? arith::CmpIPredicate::ugt
                                     : arith::CmpIPredicate::ult,
                                 side, across);
}

AttentionBuilder::Place AttentionBuilder::placeOf(Value tile, size_t number,
                                                  bool mayBeHidden) {
  Value inFragment = mul(b.rem(ptx.index(lane), 4), 2);
  Value first = b.add(mul(tile, schedule.bn), inFragment);
  int64_t i = int64_t(number);
  Place place{number, i / 2 % 2, b.add(first, i / 4 * 8 + i % 2),
              {},     {},        mayBeHidden};
  place.isInside = isInBounds(place.across, schedule.dims.keys, schedule.bn);
  if (place.isInside)
    place.across =
        b.create<arith::SelectOp>(place.isInside, place.across, b.index(0));
  place.ivs = ivs[place.half];
  setIvs(place.ivs, across(), place.across);
  return place;
}

void AttentionBuilder::forElements(Value tile, MutableArrayRef<Value> elements,
                                   function_ref<void(const Place &)> visit) {
  auto visitAll = [&](bool mayBeHidden) {
    for (size_t number = 0; number < elementsOfTile(); ++number)
      visit(placeOf(tile, number, mayBeHidden));
  };
  if (schedule.dims.hidden == AttentionDims::None)
    return visitAll(true);
  SmallVector<Value> before(elements);
  auto choice = b.create<scf::IfOp>(ValueRange(before).getTypes(),
                                    mayHide(tile), /*withElseRegion=*/true);
  for (Block *block : {choice.thenBlock(), choice.elseBlock()}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    llvm::copy(before, elements.begin());
    visitAll(block == choice.thenBlock());
    b.create<scf::YieldOp>(elements);
  }
  llvm::copy(choice.getResults(), elements.begin());
}

Value AttentionBuilder::wide(Value element) {
  return element.getType().isF32()
             ? element
             : b.create<arith::ExtFOp>(b.getF32Type(), element);
}

Value AttentionBuilder::compute(Role role, const Place &place,
                                ArrayRef<Known> known) {
  linalg::GenericOp op =
      place.mayBeHidden ? attention.op(role) : unmasked[size_t(role)];
  PointBuilder at(op, b);
  llvm::copy(place.ivs, at.ivs.begin());
  for (OpOperand *input : op.getDpsInputOperands())
    for (auto [memory, element] : known)
      if (input->get() == memory)
        at.known[input->getOperandNumber()] = element;
  return at.payload(Value())[0];
}

Value AttentionBuilder::elementOf(Value score, const Place &place) {
  Value element = wide(compute(Role::Elements, place,
                               {{attention.resultOf(Role::Scores), score}}));
  return place.isInside ? b.create<arith::SelectOp>(place.isInside, element,
                                                    number(-INFINITY))
                        : element;
}

Value AttentionBuilder::exponential(Value x, Value offset) {
  return ptx.exp2(b.create<math::FmaOp>(x, number(kLog2E), offset));
}

Value AttentionBuilder::offsetOf(Value largest) {
  // If all elements are -inf, so are their differences to any number.
  Value isNone = b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, largest,
                                         number(-INFINITY));
  return b.create<arith::SelectOp>(
      isNone, number(0), b.create<arith::MulFOp>(largest, number(-kLog2E)));
}

Value AttentionBuilder::offsetOf(Value largest, Value sum) {
  return b.create<arith::SubFOp>(offsetOf(largest), ptx.log2(sum));
}

AttentionBuilder::Largest AttentionBuilder::largestOf(Value before,
                                                      ArrayRef<Value> elements,
                                                      int64_t half) {
  Value largest = before;
  for (auto [i, element] : llvm::enumerate(elements))
    if (isOfHalf(i, half))
      largest = b.create<arith::MaximumFOp>(largest, element);
  largest = overRow<arith::MaximumFOp>(largest);
  Value offset = offsetOf(largest);
  return {largest, offset, exponential(before, offset)};
}

void AttentionBuilder::storeOfRow(AttentionOperand operand, int64_t half,
                                  Value value) {
  Value memory = attention.memory[operand];
  // What the kernel allocates is read by no other.
  if (!memory || memory.getDefiningOp<memref::AllocOp>())
    return;
  Value isFirst = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                          ptx.rem(lane, 4), ptx.i32(0));
  OpBuilder::InsertionGuard guard(b);
  enterWhere(both(isRow[half], isFirst));
  Value place = b.add(bases[operand], placeIn(operand, side(), rows[half]));
  b.create<memref::StoreOp>(value, flat(operand), place);
}

void AttentionBuilder::store(AttentionOperand operand, ArrayRef<Value> sums) {
  Type element = getElementTypeOrSelf(attention.memory[operand]);
  auto two = VectorType::get({2}, b.getF32Type()),
       stored = VectorType::get({2}, element);
  const int64_t width = inRow(operand).extent,
                stride = inRow(operand).strides[operand];
  const bool isPaired = areMultiples(operand, 2);
  for (int64_t half : {0, 1}) {
    OpBuilder::InsertionGuard guard(b);
    enterWhere(isRow[half]);
    Value place = b.add(bases[operand], placeIn(operand, side(), rows[half]));
    for (int64_t j = 0; j < width; j += 8) {
      Value column = b.add(mul(b.rem(ptx.index(lane), 4), 2), j);
      const Value *pair = &sums[j / 8 * 4 + 2 * half];
      OpBuilder::InsertionGuard guard(b);
      if (isPaired) {
        enterWhere(isInBounds(column, width, 8));
        Value both = b.create<vector::BroadcastOp>(two, pair[0]);
        both = b.create<vector::InsertOp>(pair[1], both, int64_t(1));
        if (stored != two)
          both = b.create<arith::TruncFOp>(stored, both);
        b.create<vector::StoreOp>(both, flat(operand), b.add(place, column));
        continue;
      }
      for (int64_t e : {0, 1}) {
        OpBuilder::InsertionGuard guard(b);
        Value at = b.add(column, e);
        enterWhere(isInBounds(at, width, 8));
        Value one = pair[e];
        if (stored != two)
          one = b.create<arith::TruncFOp>(element, one);
        b.create<memref::StoreOp>(one, flat(operand),
                                  b.add(place, b.scaled(at, stride)));
      }
    }
  }
}
