// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Conversion/BoundedIndex.h"
#include "lib/Conversion/LinalgBuilder.h"

#include <limits>

using namespace netc;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static Value integer(ImplicitLocOpBuilder &e, int64_t value) {
  return e.create<arith::ConstantIntOp>(value, 64);
}
static Value numberOf(ImplicitLocOpBuilder &e, Value index) {
  return e.create<arith::IndexCastOp>(e.getI64Type(), index);
}
//===----------------------------------------------------------------------===//
// Elements along an axis
//===----------------------------------------------------------------------===//

/// Searches all elements k times for the largest that was not selected yet.
static void lowerTopK(TopKOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  RankedTensorType type = b.type(op.getPlaces());
  int64_t axis = op.getOver(), size = b.type(op.getX()).getDimSize(axis);
  Type element = b.type(op.getX()).getElementType();
  Value lowest = b.constant(element, -std::numeric_limits<double>::infinity());
  Value none = integer(b, -1), no = b.create<arith::ConstantIntOp>(0, 1);

  auto choose = [&](ValueRange at, ValueRange carried) {
    Value places = carried[0];
    SmallVector<Value> other(at);
    auto compare = [&](ValueRange candidate, ValueRange best) {
      Value place = numberOf(b, candidate[0]);
      auto isSame = [&](ValueRange before, ValueRange taken) {
        other[axis] = before[0];
        Value same = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                             b.scalar(places, other), place);
        return SmallVector<Value>{b.create<arith::OrIOp>(taken[0], same)};
      };
      Value taken = b.loops(at[axis], no, isSame).front();
      SmallVector<Value> from(at);
      from[axis] = candidate[0];
      Element here{&b, b.scalar(x, from)};
      // The first remaining element is a candidate, whatever its value.
      Value isFirst = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt,
                                              best[1], integer(b, 0));
      Value wins = b.create<arith::OrIOp>(here > Element{&b, best[0]}, isFirst);
      Value skips =
          b.create<arith::XOrIOp>(taken, b.create<arith::ConstantIntOp>(1, 1));
      wins = b.create<arith::AndIOp>(wins, skips);
      return SmallVector<Value>{
          b.create<arith::SelectOp>(wins, here, best[0]),
          b.create<arith::SelectOp>(wins, place, best[1])};
    };
    SmallVector<Value> best = b.loops(b.index(size), {lowest, none}, compare);
    Value chosen = b.create<tensor::InsertOp>(best[1], places, at);
    return SmallVector<Value>{chosen};
  };
  b.set(op.getPlaces(),
        b.loops(b.bounds(type.getShape()), b.filled(type, 0), choose).front());
}

static void lowerTake(TakeOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  RankedTensorType type = b.typeLike(op.getY(), x);
  int64_t over = op.getOver(), size = b.type(op.getX()).getDimSize(over);
  Value y =
      b.mapTo(type, b.get(op.getPlaces()), b.identity(type.getRank()),
              [&](ArrayRef<Element> args) {
                ImplicitLocOpBuilder &e = *args[0].b;
                BoundedIndex place = BoundedIndex::of(e, args[0], size);
                SmallVector<Value> at;
                for (int64_t axis = 0; axis < type.getRank(); ++axis)
                  at.push_back(axis == over ? place.index
                                            : e.create<linalg::IndexOp>(axis));
                return place.orZero(b.scalar(e, x, at));
              });
  b.set(op.getY(), y);
}

static void lowerTakeGrad(TakeGradOp op, LinalgBuilder &b) {
  Value dy = b.get(op.getDy()), places = b.get(op.getPlaces());
  int64_t over = op.getOver(), size = b.type(op.getDx()).getDimSize(over);
  auto add = [&](ValueRange from, ValueRange carried) {
    BoundedIndex place = BoundedIndex::of(b, b.scalar(places, from), size);
    SmallVector<Value> at(from);
    at[over] = place.index;
    Element more{&b, b.scalar(dy, from)};
    return SmallVector<Value>{b.addAt(place, at, carried[0], more)};
  };
  b.set(op.getDx(), b.loops(b.bounds(b.type(op.getDy()).getShape()),
                            b.filled(b.type(op.getDx()), 0), add)
                        .front());
}

//===----------------------------------------------------------------------===//
// Rows along an axis
//===----------------------------------------------------------------------===//

static void lowerGather(GatherOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  RankedTensorType type = b.typeLike(op.getY(), x), from = b.type(op.getX());
  int64_t over = op.getOver(), numbers = b.type(op.getIds()).getRank();
  SmallVector<int64_t> idAxes = llvm::to_vector(llvm::seq<int64_t>(0, numbers));
  Value y =
      b.mapTo(type, b.get(op.getIds()), b.project(type.getRank(), idAxes),
              [&](ArrayRef<Element> args) {
                ImplicitLocOpBuilder &e = *args[0].b;
                BoundedIndex row =
                    BoundedIndex::of(e, args[0], from.getDimSize(over));
                SmallVector<Value> at;
                for (int64_t axis = 0; axis < over; ++axis)
                  at.push_back(e.create<linalg::IndexOp>(axis));
                at.push_back(row.index);
                for (int64_t axis = numbers; axis < type.getRank(); ++axis)
                  at.push_back(e.create<linalg::IndexOp>(axis));
                return row.orZero(b.scalar(e, x, at));
              });
  b.set(op.getY(), y);
}

static void lowerScatterAdd(ScatterAddOp op, LinalgBuilder &b) {
  Value ids = b.get(op.getIds()), values = b.get(op.getValues());
  int64_t over = op.getOver(), numbers = b.type(op.getIds()).getRank();
  int64_t size = b.type(op.getX()).getDimSize(over);
  auto add = [&](ValueRange from, ValueRange carried) {
    BoundedIndex row =
        BoundedIndex::of(b, b.scalar(ids, from.take_front(numbers)), size);
    SmallVector<Value> at(from.take_front(over));
    at.push_back(row.index);
    llvm::append_range(at, from.drop_front(numbers));
    Element more{&b, b.scalar(values, from)};
    return SmallVector<Value>{b.addAt(row, at, carried[0], more)};
  };
  RankedTensorType type = b.type(op.getX());
  b.set(op.getY(),
        b.loops(b.bounds(b.type(op.getValues()).getShape()),
                b.converted(b.get(op.getX()), type.getElementType()), add)
            .front());
}

static void lowerArange(ArangeOp op, LinalgBuilder &b) {
  RankedTensorType type = b.type(op.getY());
  b.set(op.getY(), b.mapTo(type, {}, {}, [&](ArrayRef<Element> args) {
    ImplicitLocOpBuilder &e = *args[0].b;
    Value place = e.create<linalg::IndexOp>(0);
    return Element{&e,
                   e.create<arith::IndexCastOp>(type.getElementType(), place)};
  }));
}

//===----------------------------------------------------------------------===//
// Rows and the slots of experts
//===----------------------------------------------------------------------===//

/// The bounded index of a slot, counted over all experts.
static BoundedIndex placeIn(RankedTensorType slots, ImplicitLocOpBuilder &e,
                            Value number) {
  return BoundedIndex::of(e, number, slots.getDimSize(0) * slots.getDimSize(1));
}

/// The indices [expert, slot] of a slot.
static SmallVector<Value> slotOf(ImplicitLocOpBuilder &e,
                                 const BoundedIndex &place,
                                 RankedTensorType slots) {
  Value perExpert = e.create<arith::ConstantIndexOp>(slots.getDimSize(1));
  return {e.create<arith::DivUIOp>(place.index, perExpert),
          e.create<arith::RemUIOp>(place.index, perExpert)};
}

/// Writes a row into each slot that `places` name. `rowOf` computes the index
/// of the row from the index of the place.
static Value scatter(LinalgBuilder &b, Value rows, Value places,
                     RankedTensorType slots,
                     function_ref<SmallVector<Value>(ValueRange)> rowOf) {
  unsigned rank = cast<RankedTensorType>(places.getType()).getRank();
  SmallVector<int64_t> sizes(
      cast<RankedTensorType>(places.getType()).getShape());
  sizes.push_back(slots.getDimSize(2));
  auto put = [&](ValueRange indices, ValueRange carried) {
    ValueRange from = indices.take_front(rank);
    BoundedIndex place = placeIn(slots, b, b.scalar(places, from));
    SmallVector<Value> to = slotOf(b, place, slots), at = rowOf(from);
    to.push_back(indices.back());
    at.push_back(indices.back());
    Element old{&b, b.scalar(carried[0], to)}, row{&b, b.scalar(rows, at)};
    return SmallVector<Value>{
        b.insert(place.updated(old, row), carried[0], to)};
  };
  return b.loops(b.bounds(sizes), b.filled(slots, 0), put).front();
}

/// The slots of the choices: first choices first, then in the order of the
/// rows. A choice that is not an expert gets none.
static Value assign(LinalgBuilder &b, Value choices, RankedTensorType slots,
                    RankedTensorType type) {
  auto countType = RankedTensorType::get({slots.getDimSize(0)}, b.getI64Type());
  SmallVector<int64_t> sizes{type.getShape().back()};
  llvm::append_range(sizes, type.getShape().drop_back());
  Value perExpert = integer(b, slots.getDimSize(1));
  auto next = [&](ValueRange indices, ValueRange carried) {
    SmallVector<Value> at(indices.drop_front());
    at.push_back(indices.front());
    BoundedIndex expert =
        BoundedIndex::of(b, b.scalar(choices, at), slots.getDimSize(0));
    Value count = b.scalar(carried[1], expert.index);
    Value hasRoom =
        b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, count, perExpert);
    hasRoom = b.create<arith::AndIOp>(hasRoom, expert.isInside);
    Value place = b.create<arith::AddIOp>(
        b.create<arith::MulIOp>(numberOf(b, expert.index), perExpert), count);
    place = b.create<arith::SelectOp>(hasRoom, place, integer(b, -1));
    Value more = b.create<arith::AddIOp>(
        count, b.create<arith::ExtUIOp>(b.getI64Type(), expert.isInside));
    return SmallVector<Value>{
        b.create<tensor::InsertOp>(place, carried[0], at),
        b.create<tensor::InsertOp>(more, carried[1], expert.index)};
  };
  return b
      .loops(b.bounds(sizes), {b.filled(type, 0), b.filled(countType, 0)}, next)
      .front();
}

static void lowerDispatch(DispatchOp op, LinalgBuilder &b) {
  RankedTensorType slots = b.typeLike(op.getSlots(), b.get(op.getX()));
  Value places =
      assign(b, b.get(op.getChoices()), slots, b.type(op.getPlaces()));
  b.set(op.getPlaces(), places);
  b.set(op.getSlots(),
        scatter(b, b.get(op.getX()), places, slots, [](ValueRange place) {
          return SmallVector<Value>(place.drop_back());
        }));
}

static void lowerCollect(CollectOp op, LinalgBuilder &b) {
  Value slots = b.get(op.getSlots());
  RankedTensorType type = b.typeLike(op.getY(), slots);
  RankedTensorType from = b.type(op.getSlots());
  SmallVector<int64_t> placeAxes =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank() - 1));
  Value y =
      b.mapTo(type, b.get(op.getPlaces()), b.project(type.getRank(), placeAxes),
              [&](ArrayRef<Element> args) {
                ImplicitLocOpBuilder &e = *args[0].b;
                BoundedIndex place = placeIn(from, e, args[0]);
                SmallVector<Value> at = slotOf(e, place, from);
                at.push_back(e.create<linalg::IndexOp>(type.getRank() - 1));
                return place.orZero(b.scalar(e, slots, at));
              });
  b.set(op.getY(), y);
}

static void lowerCollectGrad(CollectGradOp op, LinalgBuilder &b) {
  b.set(op.getDslots(),
        scatter(b, b.get(op.getDy()), b.get(op.getPlaces()),
                b.typeLike(op.getDslots(), b.get(op.getDy())),
                [](ValueRange place) { return SmallVector<Value>(place); }));
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

static void lowerRelativePosition(RelativePositionOp op, LinalgBuilder &b) {
  RankedTensorType type = b.type(op.getY());
  int64_t size = std::max(type.getDimSize(0), type.getDimSize(1));
  b.set(op.getY(), b.mapTo(type, {}, {}, [&](ArrayRef<Element> args) {
    ImplicitLocOpBuilder &e = *args[0].b;
    Value t = numberOf(e, e.create<linalg::IndexOp>(0));
    Value s = numberOf(e, e.create<linalg::IndexOp>(1));
    Value ahead = e.create<arith::SubIOp>(s, t);
    Value behind = e.create<arith::SubIOp>(t, s);
    Value distance = op.getCausal()
                         ? e.create<arith::MaxSIOp>(behind, integer(e, 0))
                         : e.create<arith::MaxSIOp>(ahead, behind);
    auto count = [&](Value isMore, Value bucket, int64_t more) -> Value {
      Value sum = e.create<arith::AddIOp>(bucket, integer(e, more));
      return e.create<arith::SelectOp>(isMore, sum, bucket);
    };
    auto reaches = [&](Value distance, int64_t least) -> Value {
      return e.create<arith::CmpIOp>(arith::CmpIPredicate::sge, distance,
                                     integer(e, least));
    };
    Value bucket = integer(e, 0);
    for (int64_t least : op.getThresholds())
      if (least < size)
        bucket = count(reaches(distance, least), bucket, 1);
    if (!op.getCausal())
      bucket = count(reaches(ahead, 1), bucket, op.getBucketsOfDirection());
    return Element{&e, bucket};
  }));
}

void netc::addIndexLowerings(Lowerings &lowerings) {
  lowerings.add(lowerTopK);
  lowerings.add(lowerTake);
  lowerings.add(lowerTakeGrad);
  lowerings.add(lowerDispatch);
  lowerings.add(lowerCollect);
  lowerings.add(lowerCollectGrad);
  lowerings.add(lowerRelativePosition);
  lowerings.add(lowerGather);
  lowerings.add(lowerScatterAdd);
  lowerings.add(lowerArange);
}
