// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Conversion/BoundedIndex.h"
#include "lib/Conversion/LinalgBuilder.h"

using namespace netc;
using namespace mlir;

static void lowerReshape(ReshapeOp op, LinalgBuilder &b) {
  // Lower only the last of consecutive reshapes. There are several, since
  // reports show each one in its block.
  Value x = op.getX();
  while (auto inner = x.getDefiningOp<ReshapeOp>())
    x = inner.getX();
  Value tensor = b.get(x);
  b.set(op.getY(), b.reshape(tensor, b.typeLike(op.getY(), tensor)));
}

static void lowerBroadcast(BroadcastOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  RankedTensorType type = b.typeLike(op.getY(), x);
  b.set(op.getY(), b.mapTo(type, x, b.project(type.getRank(), op.getAxes()),
                           [](ArrayRef<Element> x) { return x[0]; }));
}

static void lowerTranspose(TransposeOp op, LinalgBuilder &b) {
  b.set(op.getY(), b.transpose(b.get(op.getX()), op.getPermutation()));
}

/// Inserts `parts` into `whole`, one after the other along `axis`.
static Value placeAlong(LinalgBuilder &b, ArrayRef<Value> parts, Value whole,
                        int64_t axis) {
  SmallVector<int64_t> starts(
      cast<RankedTensorType>(whole.getType()).getRank());
  for (Value part : parts) {
    whole = b.place(part, whole, starts);
    starts[axis] += cast<RankedTensorType>(part.getType()).getDimSize(axis);
  }
  return whole;
}

static void lowerConcat(ConcatOp op, LinalgBuilder &b) {
  SmallVector<Value> parts;
  for (Value x : op.getXs())
    parts.push_back(b.stored(x));
  b.set(op.getY(),
        placeAlong(b, parts, b.empty(b.storedType(op.getY())), op.getOver()));
}

static void lowerStack(StackOp op, LinalgBuilder &b) {
  RankedTensorType type = b.storedType(op.getY());
  SmallVector<int64_t> sizes(type.getShape());
  sizes[op.getAxis()] = 1;
  auto partType = RankedTensorType::get(sizes, type.getElementType());
  SmallVector<Value> parts;
  for (Value x : op.getXs())
    parts.push_back(b.reshape(b.stored(x), partType));
  b.set(op.getY(), placeAlong(b, parts, b.empty(type), op.getAxis()));
}

static void lowerSplit(SplitOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  SmallVector<int64_t> starts(b.type(op.getX()).getRank());
  for (Value y : op.getYs()) {
    b.set(y, b.slice(x, starts, b.type(y).getShape()));
    starts[op.getOver()] += b.type(y).getDimSize(op.getOver());
  }
}

/// `start` at `axis`, 0 elsewhere.
static SmallVector<int64_t> startsAt(RankedTensorType type, int64_t axis,
                                     const Polynomial &start) {
  SmallVector<int64_t> starts(type.getRank());
  starts[axis] = *start.toInt64();
  return starts;
}

static void lowerSlice(SliceOp op, LinalgBuilder &b) {
  RankedTensorType type = b.type(op.getY());
  b.set(op.getY(),
        b.slice(b.get(op.getX()),
                startsAt(type, op.getAxis(), op.getStart().getValue()),
                type.getShape()));
}

static void lowerSliceGrad(SliceGradOp op, LinalgBuilder &b) {
  Value dy = b.get(op.getDy());
  RankedTensorType type = b.typeLike(op.getDx(), dy);
  b.set(op.getDx(),
        b.place(dy, b.filled(type, 0),
                startsAt(type, op.getAxis(), op.getStart().getValue())));
}

static void lowerPad(PadOp op, LinalgBuilder &b) {
  SmallVector<int64_t> low(b.type(op.getX()).getRank()), high = low;
  low[op.getOver()] = op.getLow();
  high[op.getOver()] = op.getHigh();
  b.set(op.getY(),
        b.pad(b.get(op.getX()), low, high, op.getValue().convertToDouble()));
}

/// Element i of `axis` is element `source(i)` of x.
static Value gather(LinalgBuilder &b, Value x, RankedTensorType type,
                    int64_t axis,
                    function_ref<Value(OpBuilder &, Location, Value)> source) {
  return b.mapTo(type, {}, {}, [&](ArrayRef<Element> args) {
    ImplicitLocOpBuilder &e = *args[0].b;
    SmallVector<Value> at;
    for (int64_t i = 0; i < type.getRank(); ++i)
      at.push_back(e.create<linalg::IndexOp>(i));
    at[axis] = source(e, e.getLoc(), at[axis]);
    return b.scalar(e, x, at);
  });
}

static void lowerReverse(ReverseOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  RankedTensorType type = b.typeLike(op.getY(), x);
  int64_t last = type.getDimSize(op.getOver()) - 1;
  b.set(op.getY(), gather(b, x, type, op.getOver(),
                          [&](OpBuilder &e, Location loc, Value at) -> Value {
                            Value end =
                                e.create<arith::ConstantIndexOp>(loc, last);
                            return e.create<arith::SubIOp>(loc, end, at);
                          }));
}

/// Moves elements by `by` towards the start, and fills the end (or the start)
/// with -1.
static void lowerShift(ShiftOp op, LinalgBuilder &b) {
  RankedTensorType type = b.type(op.getY());
  int64_t axis = op.getOver(), size = type.getDimSize(axis);
  int64_t by = std::clamp<int64_t>(op.getBy(), -size, size);
  SmallVector<int64_t> from(type.getRank()), to(type.getRank());
  SmallVector<int64_t> sizes(type.getShape());
  sizes[axis] = size - std::abs(by);
  (by > 0 ? from : to)[axis] = std::abs(by);
  Value y = b.filled(type, -1);
  if (sizes[axis] > 0)
    y = b.place(b.slice(b.get(op.getX()), from, sizes), y, to);
  b.set(op.getY(), y);
}

/// Calls `body` for each element below the diagonal of the last two axes of
/// `square`, with its indices there and in the one axis that replaces them.
static Value
belowDiagonal(LinalgBuilder &b, RankedTensorType square, Value init,
              function_ref<Value(ValueRange, ValueRange, Value)> body) {
  int64_t outer = square.getRank() - 2;
  SmallVector<Value> bounds;
  for (int64_t size : square.getShape().drop_back())
    bounds.push_back(b.index(size));
  Value one = b.index(1), two = b.index(2);
  return b
      .loops(bounds, init,
             [&](ValueRange rows, ValueRange carried) {
               Value row = rows.back();
               return b.loops(
                   row, carried, [&](ValueRange column, ValueRange carried) {
                     Value above = b.create<arith::SubIOp>(row, one);
                     Value start = b.create<arith::DivUIOp>(
                         b.create<arith::MulIOp>(row, above), two);
                     // Row 0 has no such column, and its product is unused.
                     SmallVector<Value> in(rows), out(rows.take_front(outer));
                     in.push_back(column[0]);
                     out.push_back(b.create<arith::AddIOp>(start, column[0]));
                     return SmallVector<Value>{body(in, out, carried[0])};
                   });
             })
      .front();
}

static void lowerLowerTriangle(LowerTriangleOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  b.set(op.getY(),
        belowDiagonal(b, b.type(op.getX()), b.empty(b.typeLike(op.getY(), x)),
                      [&](ValueRange in, ValueRange out, Value y) -> Value {
                        return b.insert(b.scalar(x, in), y, out);
                      }));
}

static void lowerLowerTriangleGrad(LowerTriangleGradOp op, LinalgBuilder &b) {
  Value dy = b.get(op.getDy());
  RankedTensorType type = b.typeLike(op.getDx(), dy);
  b.set(op.getDx(),
        belowDiagonal(b, type, b.filled(type, 0),
                      [&](ValueRange in, ValueRange out, Value dx) -> Value {
                        return b.insert(b.scalar(dy, out), dx, in);
                      }));
}

/// The index t - j of an axis with windows.
static BoundedIndex placeOf(ImplicitLocOpBuilder &e, Value t, Value j,
                            int64_t size) {
  Value before = e.create<arith::SubIOp>(t, j);
  return BoundedIndex::of(
      e, e.create<arith::IndexCastOp>(e.getI64Type(), before), size);
}

static void lowerUnfold(UnfoldOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  RankedTensorType type = b.typeLike(op.getY(), x);
  int64_t over = op.getOver();
  b.set(op.getY(), b.mapTo(type, {}, {}, [&](ArrayRef<Element> args) {
    ImplicitLocOpBuilder &e = *args[0].b;
    SmallVector<Value> at;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      at.push_back(e.create<linalg::IndexOp>(axis));
    BoundedIndex place =
        placeOf(e, at[over], at[over + 1], type.getDimSize(over));
    at[over] = place.index;
    at.erase(at.begin() + over + 1);
    return place.orZero(b.scalar(e, x, at));
  }));
}

static void lowerUnfoldGrad(UnfoldGradOp op, LinalgBuilder &b) {
  Value dy = b.get(op.getDy());
  RankedTensorType type = b.type(op.getDx());
  int64_t over = op.getOver();
  auto add = [&](ValueRange from, ValueRange carried) {
    BoundedIndex place =
        placeOf(b, from[over], from[over + 1], type.getDimSize(over));
    SmallVector<Value> at(from);
    at[over] = place.index;
    at.erase(at.begin() + over + 1);
    Element more{&b, b.scalar(dy, from)};
    return SmallVector<Value>{b.addAt(place, at, carried[0], more)};
  };
  b.set(op.getDx(),
        b.loops(b.bounds(b.type(op.getDy()).getShape()), b.filled(type, 0), add)
            .front());
}

static void lowerLiteral(LiteralOp op, LinalgBuilder &b) {
  auto values = cast<DenseElementsAttr>(op.getValues());
  RankedTensorType type = b.type(op.getY());
  if (auto element = dyn_cast<FloatType>(type.getElementType());
      element && element != values.getElementType())
    values = cast<DenseFPElementsAttr>(values).mapValues(
        element, [&](const APFloat &value) {
          APFloat wide = value;
          bool loses;
          wide.convert(element.getFloatSemantics(),
                       APFloat::rmNearestTiesToEven, &loses);
          return wide.bitcastToAPInt();
        });
  b.set(op.getY(), b.create<arith::ConstantOp>(type, values));
}

/// All tables of the same kind and shape share a slot.
static void lowerTable(TableOp op, LinalgBuilder &b) {
  RankedTensorType type = b.type(op.getY());
  std::string name = "table." + op.getInit().str();
  SmallString<16> theta;
  op.getTheta().toString(theta);
  name += "." + theta.str().str();
  for (int64_t size : type.getShape())
    name += "." + std::to_string(size);
  b.set(op.getY(),
        b.read(name, type, Role::State, *program::initOf(op.getInit().str()),
               op.getThetaAttr()));
}

static void lowerConstant(ConstantOp op, LinalgBuilder &b) {
  b.set(op.getY(),
        b.filled(b.type(op.getY()), op.getValue().convertToDouble()));
}

void netc::addShapeLowerings(Lowerings &lowerings) {
  lowerings.add(lowerReshape);
  lowerings.add(lowerBroadcast);
  lowerings.add(lowerTranspose);
  lowerings.add(lowerConcat);
  lowerings.add(lowerStack);
  lowerings.add(lowerSplit);
  lowerings.add(lowerSlice);
  lowerings.add(lowerSliceGrad);
  lowerings.add(lowerPad);
  lowerings.add(lowerReverse);
  lowerings.add(lowerShift);
  lowerings.add(lowerLowerTriangle);
  lowerings.add(lowerLowerTriangleGrad);
  lowerings.add(lowerUnfold);
  lowerings.add(lowerUnfoldGrad);
  lowerings.add(lowerConstant);
  lowerings.add(lowerLiteral);
  lowerings.add(lowerTable);
}
