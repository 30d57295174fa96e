// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Conversion/LinalgBuilder.h"

#include <limits>

using namespace netc;
using namespace mlir;

/// The number of elements that a reduction over `axes` combines.
static double countOf(RankedTensorType type, ArrayRef<int64_t> axes) {
  double count = 1;
  for (int64_t axis : axes)
    count *= type.getDimSize(axis);
  return count;
}

/// The sum of element-wise products over `axes`.
static Value sumProducts(LinalgBuilder &b, Value x, Value y,
                         ArrayRef<int64_t> axes) {
  return b.reduce({x, y}, axes, 0, [](ArrayRef<Element> args) {
    return args[2] + args[0] * args[1];
  });
}

/// Each element - `reduced`, which lacks `axes`.
static Value differences(LinalgBuilder &b, Value x, Value reduced,
                         ArrayRef<int64_t> axes) {
  return b.mapWith(x, reduced, axes,
                   [](ArrayRef<Element> args) { return args[0] - args[1]; });
}

static void lowerSum(SumOp op, LinalgBuilder &b) {
  b.set(op.getY(), b.sum(b.get(op.getX()), op.getOver()));
}

static void lowerGlobalNorm(GlobalNormOp op, LinalgBuilder &b) {
  Value sum = b.filled(b.type(op.getY()), 0);
  for (Value x : op.getXs()) {
    int64_t rank = b.type(x).getRank();
    sum = b.generic(b.get(x), sum, {b.identity(rank), b.project(rank, {})},
                    [](ArrayRef<Element> args) -> SmallVector<Element> {
                      return {args[1] + args[0] * args[0]};
                    })
              .front();
  }
  b.set(op.getY(),
        b.map(sum, [](ArrayRef<Element> args) { return sqrt(args[0]); }));
}

static void lowerAllFinite(AllFiniteOp op, LinalgBuilder &b) {
  Value all = b.filled(b.type(op.getY()), 1);
  for (Value x : op.getXs()) {
    int64_t rank = b.type(x).getRank();
    all = b.generic(b.get(x), all, {b.identity(rank), b.project(rank, {})},
                    [](ArrayRef<Element> args) -> SmallVector<Element> {
                      Element most = number(
                          args[0], std::numeric_limits<double>::infinity());
                      Element isFinite = most > args[0].apply<math::AbsFOp>();
                      return {args[1].apply<arith::AndIOp>(isFinite)};
                    })
              .front();
  }
  b.set(op.getY(), all);
}

static void lowerMean(MeanOp op, LinalgBuilder &b) {
  Value sum = b.sum(b.get(op.getX()), op.getOver());
  b.set(op.getY(), b.divide(sum, countOf(b.type(op.getX()), op.getOver())));
}

static void lowerMeanGrad(MeanGradOp op, LinalgBuilder &b) {
  double count = op.getCount().getValue().constant()->toDouble();
  b.set(op.getDx(), b.divide(b.get(op.getDy()), count));
}

/// In the payload of an op whose loops are the axes of `type`: the position of
/// an element among those that a reduction over `axes` combines.
static Value placeAmong(ImplicitLocOpBuilder &e, RankedTensorType type,
                        ArrayRef<int64_t> axes) {
  Value place = e.create<arith::ConstantIndexOp>(0);
  for (int64_t axis : axes) {
    Value size = e.create<arith::ConstantIndexOp>(type.getDimSize(axis));
    place = e.create<arith::AddIOp>(e.create<arith::MulIOp>(place, size),
                                    e.create<linalg::IndexOp>(axis));
  }
  return place;
}

/// The extremum of those elements, and its position. It is the element that no
/// other one `beats`. Starts from `lowest`.
template <typename OpTy>
static void lowerExtreme(OpTy op, LinalgBuilder &b, double lowest,
                         function_ref<Element(Element, Element)> beats) {
  RankedTensorType from = b.type(op.getX());
  RankedTensorType type = b.typeLike(op.getY(), b.get(op.getX()));
  RankedTensorType places = b.type(op.getIndices());
  AffineMap kept =
      b.project(from.getRank(), b.others(from.getRank(), op.getOver()));
  SmallVector<Value> results = b.generic(
      b.get(op.getX()), {b.filled(type, lowest), b.filled(places, 0)},
      {b.identity(from.getRank()), kept, kept},
      [&](ArrayRef<Element> args) -> SmallVector<Element> {
        ImplicitLocOpBuilder &e = *args[0].b;
        Value place = e.create<arith::IndexCastOp>(
            places.getElementType(), placeAmong(e, from, op.getOver()));
        Element better = beats(args[0], args[1]);
        return {select(better, args[0], args[1]),
                select(better, Element{&e, place}, args[2])};
      });
  b.set(op.getY(), results[0]);
  b.set(op.getIndices(), results[1]);
}

static void lowerMax(MaxOp op, LinalgBuilder &b) {
  lowerExtreme(op, b, -std::numeric_limits<double>::infinity(),
               [](Element x, Element y) { return x > y; });
}

static void lowerMin(MinOp op, LinalgBuilder &b) {
  lowerExtreme(op, b, std::numeric_limits<double>::infinity(),
               [](Element x, Element y) { return y > x; });
}

static void lowerExtremeGrad(ExtremeGradOp op, LinalgBuilder &b) {
  Value dy = b.get(op.getDy()), indices = b.get(op.getIndices());
  RankedTensorType type = b.type(op.getDx());
  SmallVector<int64_t> kept = b.others(type.getRank(), op.getOver());
  if (!b.isReference()) {
    AffineMap map = b.project(type.getRank(), kept);
    return b.set(
        op.getDx(),
        b.mapTo(b.typeLike(op.getDx(), dy), {dy, indices}, {map, map},
                [&](ArrayRef<Element> args) {
                  ImplicitLocOpBuilder &e = *args[0].b;
                  Value place = e.create<arith::IndexCastOp>(
                      args[1].type(), placeAmong(e, type, op.getOver()));
                  Element taken{
                      &e, e.create<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                                  place, args[1])};
                  return select(taken, args[0], number(args[0], 0));
                }));
  }
  SmallVector<Value> bounds;
  for (int64_t axis : kept)
    bounds.push_back(b.index(type.getDimSize(axis)));
  auto add = [&](ValueRange at, ValueRange carried) {
    SmallVector<Value> to(type.getRank());
    for (auto [axis, index] : llvm::zip_equal(kept, at))
      to[axis] = index;
    Value place =
        b.create<arith::IndexCastOp>(b.getIndexType(), b.scalar(indices, at));
    for (int64_t axis : llvm::reverse(op.getOver())) {
      Value size = b.index(type.getDimSize(axis));
      to[axis] = b.create<arith::RemUIOp>(place, size);
      place = b.create<arith::DivUIOp>(place, size);
    }
    Element old{&b, b.scalar(carried[0], to)}, more{&b, b.scalar(dy, at)};
    Value sum = b.create<tensor::InsertOp>(old + more, carried[0], to);
    return SmallVector<Value>{sum};
  };
  b.set(op.getDx(), b.loops(bounds, b.filled(type, 0), add).front());
}

static void lowerSoftmax(SoftmaxOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  int64_t over = op.getOver();
  Value largest = b.largest(x, over);
  Value exps = b.mapWith(x, largest, over, [](ArrayRef<Element> args) {
    return exp(args[0] - args[1]);
  });
  b.set(op.getY(),
        b.mapWith(exps, b.sum(exps, over), over,
                  [](ArrayRef<Element> args) { return args[0] / args[1]; }));
}

static void lowerSoftmaxGrad(SoftmaxGradOp op, LinalgBuilder &b) {
  Value dy = b.get(op.getDy()), y = b.get(op.getY());
  int64_t over = op.getOver();
  Value dot = sumProducts(b, dy, y, over);
  b.set(op.getDx(), b.mapWith({dy, y}, dot, over, [](ArrayRef<Element> args) {
    return args[1] * (args[0] - args[2]);
  }));
}

static void lowerLogSoftmax(LogSoftmaxOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  int64_t over = op.getOver();
  Value centered = differences(b, x, b.largest(x, over), over);
  Value sums = b.reduce(centered, over, 0, [](ArrayRef<Element> args) {
    return args[1] + exp(args[0]);
  });
  Value logs = b.map(sums, [](ArrayRef<Element> args) { return log(args[0]); });
  b.set(op.getY(), differences(b, centered, logs, over));
}

static void lowerLogSoftmaxGrad(LogSoftmaxGradOp op, LinalgBuilder &b) {
  Value dy = b.get(op.getDy()), y = b.get(op.getY());
  int64_t over = op.getOver();
  b.set(op.getDx(),
        b.mapWith({dy, y}, b.sum(dy, over), over, [](ArrayRef<Element> args) {
          return args[0] - exp(args[1]) * args[2];
        }));
}

static Element rsqrt(Element x) { return x.apply<math::RsqrtOp>(); }

/// Mean and variance over `axes` in one pass, from the differences d = x - v to
/// a value v near the mean. The mean is v + sum d / n, and the variance (sum
/// d^2 - (sum d)^2 / n) / n. Since v is near the mean, there is little
/// cancellation even if the elements are far from 0. v is the mean along the
/// last axis, at the middle of the other axes: windows at the border would
/// reach into padding, where values are smaller.
static std::pair<Value, Value> momentsOf(LinalgBuilder &b, Value x,
                                         ArrayRef<int64_t> axes) {
  RankedTensorType type = b.type(x);
  double count = countOf(type, axes);
  SmallVector<int64_t> kept = b.others(type.getRank(), axes), sizes;
  for (int64_t axis : kept)
    sizes.push_back(type.getDimSize(axis));
  auto reduced = RankedTensorType::get(sizes, type.getElementType());
  SmallVector<AffineExpr> middle;
  for (int64_t size : type.getShape())
    middle.push_back(b.getAffineConstantExpr(size / 2));
  for (auto [loop, axis] : llvm::enumerate(kept))
    middle[axis] = b.getAffineDimExpr(loop);
  middle[axes.back()] = b.getAffineDimExpr(kept.size());
  unsigned loops = kept.size() + 1;
  // Each element is scaled, so that no op has to follow.
  double share = 1.0 / double(type.getDimSize(axes.back()));
  Value near = b.generic(x, b.filled(reduced, 0),
                         {AffineMap::get(loops, 0, middle, b.getContext()),
                          b.identity(loops).dropResult(kept.size())},
                         [&](ArrayRef<Element> args) -> SmallVector<Element> {
                           return {args[1] + args[0] * share};
                         })
                   .front();

  Value left = differences(b, x, near, axes);
  Value sum = b.sum(left, axes), squares = sumProducts(b, left, left, axes);
  Value mean = b.map({near, sum}, [&](ArrayRef<Element> args) {
    return args[0] + args[1] / count;
  });
  Value variance = b.map({sum, squares}, [&](ArrayRef<Element> args) {
    Element rest = args[1] - args[0] * args[0] / count;
    return max(rest, number(rest, 0)) / count;
  });
  return {mean, variance};
}

static void lowerNormalize(NormalizeOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  ArrayRef<int64_t> over = op.getOver();
  double count = countOf(b.type(op.getX()), over);
  double eps = op.getEps().convertToDouble();
  Value mean, centered, variance;
  // If the batch is not reduced, the elements of one example are still in the
  // cache for a second pass.
  if (!b.isReference() && llvm::is_contained(over, 0)) {
    std::tie(mean, variance) = momentsOf(b, x, over);
    centered = differences(b, x, mean, over);
  } else {
    mean = b.divide(b.sum(x, over), count);
    centered = differences(b, x, mean, over);
    variance = b.divide(sumProducts(b, centered, centered, over), count);
  }
  Value rstd =
      b.map(variance, [&](ArrayRef<Element> v) { return rsqrt(v[0] + eps); });
  b.set(op.getY(), b.mapWith(centered, rstd, over, [](ArrayRef<Element> args) {
    return args[0] * args[1];
  }));
  b.set(op.getMean(), mean);
  b.set(op.getVariance(), variance);
  b.set(op.getRstd(), rstd);
}

static void lowerNormalizeGrad(NormalizeGradOp op, LinalgBuilder &b) {
  Value dy = b.get(op.getDy()), y = b.get(op.getY());
  ArrayRef<int64_t> over = op.getOver();
  double count = countOf(b.type(op.getDy()), over);
  Value mean = b.divide(b.sum(dy, over), count);
  Value along = b.divide(sumProducts(b, dy, y, over), count);
  b.set(op.getDx(), b.mapWith({dy, y}, {mean, along, b.get(op.getRstd())}, over,
                              [](ArrayRef<Element> args) {
                                Element dy = args[0], y = args[1];
                                return args[4] * (dy - args[2] - y * args[3]);
                              }));
}

static void lowerRmsNormalize(RmsNormalizeOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  ArrayRef<int64_t> over = op.getOver();
  double count = countOf(b.type(op.getX()), over);
  double eps = op.getEps().convertToDouble();
  Value rstd = b.map(sumProducts(b, x, x, over), [&](ArrayRef<Element> sum) {
    return rsqrt(sum[0] / count + eps);
  });
  b.set(op.getY(), b.mapWith(x, rstd, over, [](ArrayRef<Element> args) {
    return args[0] * args[1];
  }));
  b.set(op.getRstd(), rstd);
}

static void lowerRmsNormalizeGrad(RmsNormalizeGradOp op, LinalgBuilder &b) {
  Value dy = b.get(op.getDy()), y = b.get(op.getY());
  ArrayRef<int64_t> over = op.getOver();
  double count = countOf(b.type(op.getDy()), over);
  Value along = b.divide(sumProducts(b, dy, y, over), count);
  b.set(op.getDx(), b.mapWith({dy, y}, {along, b.get(op.getRstd())}, over,
                              [](ArrayRef<Element> args) {
                                return args[3] * (args[0] - args[1] * args[2]);
                              }));
}

static LogicalResult lowerMovingAverage(MovingAverageOp op, LinalgBuilder &b) {
  if (!b.isHeld(op.getBuffer()))
    return op.emitError("a moving average takes a buffer, this is a value that "
                        "the step computes");
  double momentum = op.getMomentum().convertToDouble();
  Value moved = b.map({b.get(op.getBuffer()), b.get(op.getValue())},
                      [&](ArrayRef<Element> args) {
                        return args[0] + (args[1] - args[0]) * momentum;
                      });
  b.write(moved, b.slotOf(op.getBuffer()));
  return success();
}

/// The place beside `at` on an axis of this size, above it or below, and
/// whether there is none. Then it is `at` itself.
static std::pair<SmallVector<Value>, Value> beside(LinalgBuilder &b,
                                                   ArrayRef<Value> at,
                                                   int64_t axis, int64_t size,
                                                   bool isAbove) {
  Value end = b.index(isAbove ? size - 1 : 0), one = b.index(1);
  Value isEnd =
      b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, at[axis], end);
  Value next = isAbove ? Value(b.create<arith::AddIOp>(at[axis], one))
                       : Value(b.create<arith::SubIOp>(at[axis], one));
  SmallVector<Value> place(at);
  place[axis] = b.create<arith::SelectOp>(isEnd, at[axis], next);
  return {place, isEnd};
}

/// The place of an iteration that goes along an axis of this size, down if
/// `isDown`.
static SmallVector<Value> placeOf(LinalgBuilder &b, ValueRange iteration,
                                  int64_t axis, int64_t size, bool isDown) {
  SmallVector<Value> at(iteration);
  if (isDown)
    at[axis] = b.create<arith::SubIOp>(b.index(size - 1), at[axis]);
  return at;
}

/// Each result combines the previous one, or `start`, with an element.
template <typename OpTy>
static void lowerCumulative(OpTy op, LinalgBuilder &b, double start,
                            function_ref<Element(Element, Element)> combine) {
  Value x = b.get(op.getX());
  RankedTensorType type = b.type(op.getY());
  int64_t over = op.getOver(), size = type.getDimSize(over);
  auto add = [&](ValueRange iteration, ValueRange carried) {
    auto at = placeOf(b, iteration, over, size, op.getReverse());
    auto [from, isFirst] = beside(b, at, over, size, op.getReverse());
    Element last{&b, b.scalar(carried[0], from)}, more{&b, b.scalar(x, at)};
    last = select({&b, isFirst}, number(last, start), last);
    return SmallVector<Value>{
        b.create<tensor::InsertOp>(combine(last, more), carried[0], at)};
  };
  b.set(op.getY(),
        b.loops(b.bounds(type.getShape()), b.filled(type, 0), add).front());
}

static void lowerCumsum(CumsumOp op, LinalgBuilder &b) {
  lowerCumulative(op, b, 0, [](Element x, Element y) { return x + y; });
}

static void lowerCumprod(CumprodOp op, LinalgBuilder &b) {
  lowerCumulative(op, b, 1, [](Element x, Element y) { return x * y; });
}

/// Goes against the direction of the products: each sum is dy + the last sum
/// times the element there, and the gradient is the sum times the product that
/// the element was multiplied with.
static void lowerCumprodGrad(CumprodGradOp op, LinalgBuilder &b) {
  Value dy = b.get(op.getDy()), x = b.get(op.getX()), y = b.get(op.getY());
  RankedTensorType type = b.type(op.getDx());
  int64_t over = op.getOver(), size = type.getDimSize(over);
  bool isReverse = op.getReverse();
  auto add = [&](ValueRange iteration, ValueRange carried) {
    auto at = placeOf(b, iteration, over, size, !isReverse);
    auto [from, isFirst] = beside(b, at, over, size, !isReverse);
    auto [to, isLast] = beside(b, at, over, size, isReverse);
    Element last{&b, b.scalar(carried[0], from)}, next{&b, b.scalar(x, from)};
    Element product{&b, b.scalar(y, to)}, more{&b, b.scalar(dy, at)};
    Element rest = last * next;
    Element sum = more + select({&b, isFirst}, number(rest, 0), rest);
    product = select({&b, isLast}, number(product, 1), product);
    return SmallVector<Value>{
        b.create<tensor::InsertOp>(sum, carried[0], at),
        b.create<tensor::InsertOp>(sum * product, carried[1], at)};
  };
  Value zeros = b.filled(type, 0);
  b.set(op.getDx(),
        b.loops(b.bounds(type.getShape()), {zeros, zeros}, add).back());
}

void netc::addReduceLowerings(Lowerings &lowerings) {
  lowerings.add(lowerSum);
  lowerings.add(lowerGlobalNorm);
  lowerings.add(lowerAllFinite);
  lowerings.add(lowerMean);
  lowerings.add(lowerMeanGrad);
  lowerings.add(lowerMax);
  lowerings.add(lowerMin);
  lowerings.add(lowerExtremeGrad);
  lowerings.add(lowerSoftmax);
  lowerings.add(lowerSoftmaxGrad);
  lowerings.add(lowerLogSoftmax);
  lowerings.add(lowerLogSoftmaxGrad);
  lowerings.add(lowerNormalize);
  lowerings.add(lowerNormalizeGrad);
  lowerings.add(lowerRmsNormalize);
  lowerings.add(lowerRmsNormalizeGrad);
  lowerings.add(lowerMovingAverage);
  lowerings.add(lowerCumsum);
  lowerings.add(lowerCumprod);
  lowerings.add(lowerCumprodGrad);
}
