// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Conversion/LinalgBuilder.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_SORTROWS
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

/// With fewer places, threads for the columns are enough.
static constexpr int64_t kLeastPlaces = 64;
/// Ranks take more than the places. Beyond so many, they take longer than to go
/// through the places one by one.
static constexpr int64_t kMostPlaces = 1 << 20;
/// With fewer places, segments save less than their kernels take to launch.
static constexpr int64_t kLeastSegmented = 4096;
/// The most places of a row that a thread adds up, one after another. Further
/// ones of that row are a part of their own.
static constexpr int64_t kPartPlaces = 64;
/// With fewer places, the places of a row are not split into parts.
static constexpr int64_t kLeastSplit = 16 * kPartPlaces;

namespace {
/// A perfect nest that reads and writes an element of a table in each
/// iteration: in a row that follows from the place, the induction variables of
/// some of its loops, and in a column of the other ones.
class RowUpdates {
public:
  static std::optional<RowUpdates> of(scf::ForOp outermost);

  /// Lets iterations of the same row follow each other, in their order.
  void sort();

private:
  explicit RowUpdates(scf::ForOp outermost) : outermost(outermost) {}
  bool findLoops();
  bool findRow();

  Block &body() { return *loops.back().getBody(); }
  /// Whether each iteration adds a number to an element, or nothing.
  bool isSum();
  /// The rows of all places.
  Value rowsOfPlaces(ImplicitLocOpBuilder &b);
  /// The place of each number in the order of rows.
  Value orderOf(ImplicitLocOpBuilder &b, Value rows);
  Value inOrder(ImplicitLocOpBuilder &b, Value rows, Value order);
  void mapPlace(ImplicitLocOpBuilder &b, Value place, IRMapping &values);

  /// A nest over numbers, in a loop with this attribute, and columns, which
  /// returns the changed table.
  using Change = function_ref<Value(ImplicitLocOpBuilder &, Value number,
                                    ValueRange columns, Value table)>;
  Value nestOverColumns(ImplicitLocOpBuilder &b, int64_t numbers, Value table,
                        StringRef attribute, Change change);
  /// The indices of an element of a table.
  SmallVector<Value> indicesOf(Value row, ValueRange columns);
  /// The nest over the places in their order. The rows that it writes are
  /// `numbers`.
  Value updateInOrder(ImplicitLocOpBuilder &b, Value order, Value numbers,
                      Value table);
  /// For each number in the order of rows, the first number of its part: those
  /// of one row, as far as no multiple of kPartPlaces lies between.
  Value partsOf(ImplicitLocOpBuilder &b, Value sorted);
  /// The same result, by sums of the parts, which are added to the rows.
  Value addParts(ImplicitLocOpBuilder &b, Value order, Value sorted);

  scf::ForOp outermost;
  SmallVector<scf::ForOp> loops, placeLoops, columnLoops;
  tensor::InsertOp insert;
  Value row;
  SetVector<Operation *> rowSlice; ///< what computes the row
  int64_t places = 1;
};
} // namespace

bool RowUpdates::findLoops() {
  getPerfectlyNestedLoops(loops, outermost);
  for (auto [number, loop] : llvm::enumerate(loops)) {
    bool isPlain = loop.getNumResults() == 1 &&
                   getConstantIntValue(loop.getLowerBound()) == 0 &&
                   getConstantIntValue(loop.getStep()) == 1 &&
                   getConstantIntValue(loop.getUpperBound());
    if (!isPlain)
      return false;
    if (number == 0)
      continue;
    scf::ForOp around = loops[number - 1];
    if (loop.getInitArgs()[0] != around.getRegionIterArg(0) ||
        around.getYieldedValues()[0] != loop.getResult(0))
      return false;
  }
  return true;
}

bool RowUpdates::findRow() {
  scf::ForOp innermost = loops.back();
  Value table = innermost.getRegionIterArg(0);
  insert = innermost.getYieldedValues()[0].getDefiningOp<tensor::InsertOp>();
  if (!insert || insert.getDest() != table)
    return false;
  for (Operation *user : table.getUsers()) {
    auto read = dyn_cast<tensor::ExtractOp>(user);
    if (user != insert && (!read || read.getIndices() != insert.getIndices()))
      return false;
  }
  SmallVector<Value> computed;
  for (Value index : insert.getIndices()) {
    auto loop = llvm::find_if(loops, [&](scf::ForOp loop) {
      return loop.getInductionVar() == index;
    });
    if (loop == loops.end())
      computed.push_back(index);
    else
      columnLoops.push_back(*loop);
  }
  if (computed.size() != 1)
    return false;
  row = computed.front();
  for (scf::ForOp loop : loops)
    if (!llvm::is_contained(columnLoops, loop)) {
      placeLoops.push_back(loop);
      places *= *getConstantIntValue(loop.getUpperBound());
    }
  BackwardSliceOptions inBody;
  inBody.inclusive = true;
  inBody.omitBlockArguments = true;
  inBody.filter = [&](Operation *op) { return op->getBlock() == &body(); };
  getBackwardSlice(row, &rowSlice, inBody);
  return !rowSlice.empty() && llvm::all_of(rowSlice, [&](Operation *op) {
    return isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
           llvm::none_of(op->getOperands(), [&](Value operand) {
             return operand == table ||
                    llvm::any_of(columnLoops, [&](scf::ForOp loop) {
                      return loop.getInductionVar() == operand;
                    });
           });
  });
}

std::optional<RowUpdates> RowUpdates::of(scf::ForOp outermost) {
  RowUpdates updates(outermost);
  if (!updates.findLoops() || !updates.findRow() ||
      updates.places < kLeastPlaces || updates.places > kMostPlaces)
    return std::nullopt;
  return updates;
}

static Value integer(ImplicitLocOpBuilder &b, Value index) {
  return b.create<arith::IndexCastOp>(b.getI64Type(), index);
}
static Value index(ImplicitLocOpBuilder &b, Value integer) {
  return b.create<arith::IndexCastOp>(b.getIndexType(), integer);
}

void RowUpdates::mapPlace(ImplicitLocOpBuilder &b, Value place,
                          IRMapping &values) {
  for (scf::ForOp loop : llvm::reverse(placeLoops)) {
    Value extent = b.create<arith::ConstantIndexOp>(
        *getConstantIntValue(loop.getUpperBound()));
    values.map(loop.getInductionVar(), b.create<arith::RemUIOp>(place, extent));
    place = b.create<arith::DivUIOp>(place, extent);
  }
}

/// A tensor of i64 with a number for each place.
static Value numbers(ImplicitLocOpBuilder &b, int64_t places,
                     function_ref<Value(ImplicitLocOpBuilder &, Value)> of) {
  auto type = RankedTensorType::get({places}, b.getI64Type());
  Value none = b.create<tensor::EmptyOp>(type.getShape(), b.getI64Type());
  auto generic = b.create<linalg::GenericOp>(
      type, ValueRange(), none, b.getMultiDimIdentityMap(1),
      utils::IteratorType::parallel,
      [&](OpBuilder &nested, Location loc, ValueRange) {
        ImplicitLocOpBuilder inner(loc, nested);
        Value number = of(inner, inner.create<linalg::IndexOp>(0));
        inner.create<linalg::YieldOp>(number);
      });
  return generic.getResult(0);
}

Value RowUpdates::rowsOfPlaces(ImplicitLocOpBuilder &b) {
  return numbers(b, places, [&](ImplicitLocOpBuilder &inner, Value place) {
    IRMapping values;
    mapPlace(inner, place, values);
    for (Operation *op : rowSlice)
      inner.clone(*op, values);
    return integer(inner, values.lookup(row));
  });
}

static Value zerosOf(ImplicitLocOpBuilder &b, RankedTensorType type) {
  Value empty =
      b.create<tensor::EmptyOp>(type.getShape(), type.getElementType());
  Value zero =
      b.create<arith::ConstantOp>(b.getZeroAttr(type.getElementType()));
  return b.create<linalg::FillOp>(zero, empty).getResult(0);
}

/// For each key, how many of its segment are smaller: `keys` has a row for each
/// segment. All keys differ.
static Value ranksInSegments(ImplicitLocOpBuilder &b, Value keys) {
  auto type = cast<RankedTensorType>(keys.getType());
  Value none = zerosOf(b, type);
  AffineExpr segment, one, other;
  bindDims(b.getContext(), segment, one, other);
  AffineMap own = AffineMap::get(3, 0, {segment, one}, b.getContext());
  AffineMap others = AffineMap::get(3, 0, {segment, other}, b.getContext());
  auto parallel = utils::IteratorType::parallel;
  auto ranks = b.create<linalg::GenericOp>(
      type, ValueRange{keys, keys}, none, ArrayRef{own, others, own},
      ArrayRef{parallel, parallel, utils::IteratorType::reduction},
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        ImplicitLocOpBuilder inner(loc, nested);
        Value isBefore = inner.create<arith::CmpIOp>(arith::CmpIPredicate::slt,
                                                     elements[1], elements[0]);
        Value one = inner.create<arith::ExtUIOp>(b.getI64Type(), isBefore);
        inner.create<linalg::YieldOp>(ValueRange(
            inner.create<arith::AddIOp>(elements[2], one).getResult()));
      });
  return ranks.getResult(0);
}

/// The numbers that `of` returns for each place, each at the index beside it.
/// These are different.
static Value permuted(
    ImplicitLocOpBuilder &b, int64_t places,
    function_ref<std::pair<Value, Value>(ImplicitLocOpBuilder &, Value)> of) {
  Value empty = b.create<tensor::EmptyOp>(places, b.getI64Type());
  Value from = b.create<arith::ConstantIndexOp>(0);
  auto loop = b.create<scf::ForOp>(
      from, b.create<arith::ConstantIndexOp>(places),
      b.create<arith::ConstantIndexOp>(1), empty,
      [&](OpBuilder &nested, Location loc, Value place, ValueRange result) {
        ImplicitLocOpBuilder inner(loc, nested);
        auto [number, at] = of(inner, place);
        Value next =
            inner.create<tensor::InsertOp>(number, result[0], index(inner, at));
        inner.create<scf::YieldOp>(next);
      });
  loop->setDiscardableAttr(kIndependent, b.getUnitAttr());
  return loop.getResult(0);
}

/// The number of places in a segment, a power of two unless one has all: a
/// place is compared with all others of its own, and found in the order of the
/// others by bisection.
static int64_t lengthOfSegments(int64_t places) {
  int64_t best = places, fewest = places;
  if (places < kLeastSegmented)
    return places;
  for (int64_t length = 2; length < places; length *= 2) {
    // A step of a bisection waits for its load, and takes about two compares.
    int64_t compares = length + llvm::divideCeil(places, length) * 2 *
                                    (llvm::Log2_64(length) + 1);
    if (compares < fewest) {
      best = length;
      fewest = compares;
    }
  }
  return best;
}

/// For each of the first `places` keys, how many of all are smaller. `sorted`
/// has those of each segment of `length` in their order.
static Value ranksInAll(ImplicitLocOpBuilder &b, Value keys, Value sorted,
                        int64_t places, int64_t length) {
  int64_t segments =
      cast<RankedTensorType>(sorted.getType()).getNumElements() / length;
  Value starts =
      numbers(b, segments, [&](ImplicitLocOpBuilder &inner, Value segment) {
        return inner
            .create<arith::MulIOp>(
                integer(inner, segment),
                inner.create<arith::ConstantIntOp>(length, 64))
            .getResult();
      });
  auto type = RankedTensorType::get({places}, b.getI64Type());
  Value own = b.create<tensor::ExtractSliceOp>(
      type, keys, ArrayRef<OpFoldResult>{b.getIndexAttr(0)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(places)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  Value none = zerosOf(b, type);
  AffineMap place = AffineMap::get(2, 0, b.getAffineDimExpr(0));
  AffineMap segment = AffineMap::get(2, 0, b.getAffineDimExpr(1));
  auto ranks = b.create<linalg::GenericOp>(
      type, ValueRange{own, starts}, none, ArrayRef{place, segment, place},
      ArrayRef{utils::IteratorType::parallel, utils::IteratorType::reduction},
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        ImplicitLocOpBuilder inner(loc, nested);
        Value key = elements[0], start = elements[1], end = start;
        // Moves `end` on by `step` if the key before it is smaller.
        auto move = [&](int64_t step) {
          auto constant = [&](int64_t value) {
            return inner.create<arith::ConstantIntOp>(value, 64);
          };
          Value last = inner.create<arith::AddIOp>(end, constant(step - 1));
          Value other =
              inner.create<tensor::ExtractOp>(sorted, index(inner, last));
          Value isBefore = inner.create<arith::CmpIOp>(
              arith::CmpIPredicate::slt, other, key);
          Value next = inner.create<arith::AddIOp>(last, constant(1));
          end = inner.create<arith::SelectOp>(isBefore, next, end);
        };
        for (int64_t step = length / 2; step >= 1; step /= 2)
          move(step);
        move(1);
        Value smaller = inner.create<arith::SubIOp>(end, start);
        inner.create<linalg::YieldOp>(ValueRange(
            inner.create<arith::AddIOp>(elements[2], smaller).getResult()));
      });
  return ranks.getResult(0);
}

Value RowUpdates::orderOf(ImplicitLocOpBuilder &b, Value rows) {
  int64_t length = lengthOfSegments(places);
  int64_t segments = llvm::divideCeil(places, length);
  int64_t padded = segments * length;
  // Lower rows come first, and of one row the places in their order. What fills
  // the last segment comes behind all.
  Value keys = numbers(b, padded, [&](ImplicitLocOpBuilder &inner, Value at) {
    Value place = at;
    if (padded != places)
      place = inner.create<arith::MinUIOp>(
          at, inner.create<arith::ConstantIndexOp>(places - 1));
    Value row = inner.create<tensor::ExtractOp>(rows, place);
    Value ofRow = inner.create<arith::MulIOp>(
        row, inner.create<arith::ConstantIntOp>(padded, 64));
    Value key = inner.create<arith::AddIOp>(ofRow, integer(inner, at));
    if (padded == places)
      return key;
    Value isPlace =
        inner.create<arith::CmpIOp>(arith::CmpIPredicate::eq, place, at);
    return inner
        .create<arith::SelectOp>(
            isPlace, key,
            inner.create<arith::AddIOp>(
                inner.create<arith::ConstantIntOp>(
                    std::numeric_limits<int64_t>::max() - padded, 64),
                integer(inner, at)))
        .getResult();
  });
  auto type = RankedTensorType::get({segments, length}, b.getI64Type());
  ReassociationIndices both{0, 1};
  Value inRows = b.create<tensor::ExpandShapeOp>(type, keys, ArrayRef{both});
  Value ranks = b.create<tensor::CollapseShapeOp>(ranksInSegments(b, inRows),
                                                  ArrayRef{both});
  if (segments > 1) {
    Value sorted =
        permuted(b, padded, [&](ImplicitLocOpBuilder &inner, Value place) {
          Value key = inner.create<tensor::ExtractOp>(keys, place);
          Value rank = inner.create<tensor::ExtractOp>(ranks, place);
          Value size = inner.create<arith::ConstantIntOp>(length, 64);
          Value segment =
              inner.create<arith::DivUIOp>(integer(inner, place), size);
          Value start = inner.create<arith::MulIOp>(segment, size);
          return std::pair(
              key, inner.create<arith::AddIOp>(start, rank).getResult());
        });
    ranks = ranksInAll(b, keys, sorted, places, length);
  }
  return permuted(b, places, [&](ImplicitLocOpBuilder &inner, Value place) {
    Value rank = inner.create<tensor::ExtractOp>(ranks, place);
    return std::pair(integer(inner, place), rank);
  });
}

Value RowUpdates::inOrder(ImplicitLocOpBuilder &b, Value rows, Value order) {
  return numbers(b, places, [&](ImplicitLocOpBuilder &inner, Value number) {
    Value place = inner.create<tensor::ExtractOp>(order, number);
    return inner.create<tensor::ExtractOp>(rows, index(inner, place))
        .getResult();
  });
}

bool RowUpdates::isSum() {
  Value table = loops.back().getRegionIterArg(0);
  auto readsTable = [&](Value value) {
    SetVector<Operation *> slice;
    BackwardSliceOptions inBody;
    inBody.inclusive = true;
    inBody.omitBlockArguments = true;
    inBody.filter = [&](Operation *op) { return op->getBlock() == &body(); };
    getBackwardSlice(value, &slice, inBody);
    return llvm::any_of(slice, [&](Operation *op) {
      return llvm::is_contained(op->getOperands(), table);
    });
  };
  std::function<bool(Value)> addsTo = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (auto read = dyn_cast_or_null<tensor::ExtractOp>(op))
      return read.getTensor() == table;
    if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
      return !readsTable(select.getCondition()) &&
             addsTo(select.getTrueValue()) && addsTo(select.getFalseValue());
    if (auto sum = dyn_cast_or_null<arith::AddFOp>(op))
      return (addsTo(sum.getLhs()) && !readsTable(sum.getRhs())) ||
             (addsTo(sum.getRhs()) && !readsTable(sum.getLhs()));
    auto difference = dyn_cast_or_null<arith::SubFOp>(op);
    return difference && addsTo(difference.getLhs()) &&
           !readsTable(difference.getRhs());
  };
  return insert.getScalar().getType().isF32() && addsTo(insert.getScalar());
}

SmallVector<Value> RowUpdates::indicesOf(Value row, ValueRange columns) {
  SmallVector<Value> indices;
  for (Value index : insert.getIndices()) {
    bool isRow = index == this->row;
    indices.push_back(isRow ? row : columns.front());
    if (!isRow)
      columns = columns.drop_front();
  }
  return indices;
}

Value RowUpdates::nestOverColumns(ImplicitLocOpBuilder &b, int64_t numbers,
                                  Value table, StringRef attribute,
                                  Change change) {
  Value zero = b.create<arith::ConstantIndexOp>(0),
        one = b.create<arith::ConstantIndexOp>(1);
  SmallVector<Value> bounds{b.create<arith::ConstantIndexOp>(numbers)};
  for (scf::ForOp loop : columnLoops)
    bounds.push_back(loop.getUpperBound());
  SmallVector<Value> zeros(bounds.size(), zero), ones(bounds.size(), one);
  scf::LoopNest nest = scf::buildLoopNest(
      b, b.getLoc(), zeros, bounds, ones, table,
      [&](OpBuilder &nested, Location loc, ValueRange ivs, ValueRange tables) {
        ImplicitLocOpBuilder inner(loc, nested);
        return SmallVector<Value>{
            change(inner, ivs.front(), ivs.drop_front(), tables[0])};
      });
  nest.loops.front()->setDiscardableAttr(attribute, b.getUnitAttr());
  return nest.results[0];
}

Value RowUpdates::updateInOrder(ImplicitLocOpBuilder &b, Value order,
                                Value numbers, Value table) {
  return nestOverColumns(
      b, places, table, kSegments,
      [&](ImplicitLocOpBuilder &inner, Value number, ValueRange columns,
          Value changed) {
        IRMapping values;
        Value place = inner.create<tensor::ExtractOp>(order, number);
        mapPlace(inner, index(inner, place), values);
        for (auto [loop, iv] : llvm::zip_equal(columnLoops, columns))
          values.map(loop.getInductionVar(), iv);
        values.map(loops.back().getRegionIterArg(0), changed);
        Value rowOf = inner.create<tensor::ExtractOp>(numbers, number);
        values.map(row, index(inner, rowOf));
        for (Operation &op : body().without_terminator())
          if (&op != row.getDefiningOp())
            inner.clone(op, values);
        Value result = values.lookup(insert.getResult());
        result.setType(changed.getType());
        return result;
      });
}

Value RowUpdates::partsOf(ImplicitLocOpBuilder &b, Value sorted) {
  auto type = cast<RankedTensorType>(sorted.getType());
  Value none = b.create<tensor::EmptyOp>(type.getShape(), b.getI64Type());
  Value zero = b.create<arith::ConstantIndexOp>(0),
        one = b.create<arith::ConstantIndexOp>(1);
  Value most = b.create<arith::ConstantIndexOp>(kPartPlaces);
  auto firstOf = [&](ImplicitLocOpBuilder &inner, Value number) {
    Value rowOf = inner.create<tensor::ExtractOp>(sorted, number);
    Value earlier = inner.create<arith::RemUIOp>(number, most);
    auto back = inner.create<scf::ForOp>(
        zero, earlier, one, number,
        [&](OpBuilder &nested, Location loc, Value, ValueRange first) {
          ImplicitLocOpBuilder body(loc, nested);
          Value before = body.create<arith::SubIOp>(first[0], one);
          Value isSame = body.create<arith::CmpIOp>(
              arith::CmpIPredicate::eq, rowOf,
              body.create<tensor::ExtractOp>(sorted, before));
          Value next = body.create<arith::SelectOp>(isSame, before, first[0]);
          body.create<scf::YieldOp>(next);
        });
    return back.getResult(0);
  };
  auto loop = b.create<scf::ForOp>(
      zero, b.create<arith::ConstantIndexOp>(places), one, none,
      [&](OpBuilder &nested, Location loc, Value number, ValueRange parts) {
        ImplicitLocOpBuilder inner(loc, nested);
        Value part = integer(inner, firstOf(inner, number));
        Value next = inner.create<tensor::InsertOp>(part, parts[0], number);
        inner.create<scf::YieldOp>(next);
      });
  loop->setDiscardableAttr(kIndependent, b.getUnitAttr());
  return loop.getResult(0);
}

/// Whether the row of a number is also that of the number before.
static Value continuesRow(ImplicitLocOpBuilder &b, Value sorted, Value number) {
  Value zero = b.create<arith::ConstantIndexOp>(0);
  Value isFirst =
      b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, number, zero);
  Value before = b.create<arith::SelectOp>(
      isFirst, zero,
      b.create<arith::SubIOp>(number, b.create<arith::ConstantIndexOp>(1)));
  Value isSame = b.create<arith::CmpIOp>(
      arith::CmpIPredicate::eq, b.create<tensor::ExtractOp>(sorted, number),
      b.create<tensor::ExtractOp>(sorted, before));
  return b.create<arith::SelectOp>(
      isFirst, b.create<arith::ConstantIntOp>(0, 1), isSame);
}

Value RowUpdates::addParts(ImplicitLocOpBuilder &b, Value order, Value sorted) {
  Value table = outermost.getInitArgs()[0];
  auto type = cast<RankedTensorType>(table.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [axis, index] : llvm::enumerate(insert.getIndices()))
    if (index == row)
      shape[axis] = places;
  Value zeros = zerosOf(b, RankedTensorType::get(shape, type.getElementType()));
  Value sums = updateInOrder(b, order, partsOf(b, sorted), zeros);

  // Adds a part to a row if it is the first of it, or if it is not.
  auto add = [&](ImplicitLocOpBuilder &inner, bool isFirst, Value number,
                 Value rowOf, ValueRange columns, Value changed) {
    auto sum = [&](OpBuilder &nested, Location loc) {
      ImplicitLocOpBuilder then(loc, nested);
      SmallVector<Value> to = indicesOf(index(then, rowOf), columns);
      Value old = then.create<tensor::ExtractOp>(changed, to);
      Value more =
          then.create<tensor::ExtractOp>(sums, indicesOf(number, columns));
      Value next = then.create<arith::AddFOp>(old, more);
      then.create<scf::YieldOp>(
          then.create<tensor::InsertOp>(next, changed, to).getResult());
    };
    auto keep = [&](OpBuilder &nested, Location loc) {
      nested.create<scf::YieldOp>(loc, changed);
    };
    Value continues = continuesRow(inner, sorted, number);
    auto either = isFirst ? inner.create<scf::IfOp>(continues, keep, sum)
                          : inner.create<scf::IfOp>(continues, sum, keep);
    return either.getResult(0);
  };
  table = nestOverColumns(
      b, places, table, kIndependent,
      [&](ImplicitLocOpBuilder &inner, Value number, ValueRange columns,
          Value changed) {
        Value rowOf = inner.create<tensor::ExtractOp>(sorted, number);
        return add(inner, /*isFirst=*/true, number, rowOf, columns, changed);
      });
  // Further parts of a row begin at multiples of kPartPlaces.
  int64_t parts = llvm::divideCeil(places, kPartPlaces);
  auto firstOf = [&](ImplicitLocOpBuilder &inner, Value part) -> Value {
    return inner.create<arith::MulIOp>(
        part, inner.create<arith::ConstantIndexOp>(kPartPlaces));
  };
  Value rows = numbers(b, parts, [&](ImplicitLocOpBuilder &inner, Value part) {
    return inner.create<tensor::ExtractOp>(sorted, firstOf(inner, part))
        .getResult();
  });
  return nestOverColumns(
      b, parts, table, kSegments,
      [&](ImplicitLocOpBuilder &inner, Value part, ValueRange columns,
          Value changed) {
        Value rowOf = inner.create<tensor::ExtractOp>(rows, part);
        return add(inner, /*isFirst=*/false, firstOf(inner, part), rowOf,
                   columns, changed);
      });
}

void RowUpdates::sort() {
  ImplicitLocOpBuilder b(outermost.getLoc(), outermost);
  Value rows = rowsOfPlaces(b), order = orderOf(b, rows);
  Value sorted = inOrder(b, rows, order);
  Value table =
      places >= kLeastSplit && isSum()
          ? addParts(b, order, sorted)
          : updateInOrder(b, order, sorted, outermost.getInitArgs()[0]);
  outermost.getResult(0).replaceAllUsesWith(table);
  outermost.erase();
}

namespace {
struct SortRows : netc::impl::SortRowsBase<SortRows> {
  void runOnOperation() override {
    std::vector<RowUpdates> found;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      auto updates = RowUpdates::of(loop);
      if (!updates)
        return WalkResult::advance();
      found.push_back(std::move(*updates));
      return WalkResult::skip();
    });
    for (RowUpdates &updates : found)
      updates.sort();
  }
};
} // namespace
