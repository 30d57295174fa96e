// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Conversion/Windows.h"

#include <limits>

using namespace netc;
using namespace mlir;

namespace {
/// Windows of `taps` that slide over the spatial axes: position = window *
/// stride + tap * dilation - low. Tensors are [batch.., spatial.., channels].
struct Pool {
  LinalgBuilder &b;
  WindowAxes axes;
  SmallVector<int64_t> taps, stride, low, dilation;

  unsigned first() const { return axes.batch.size(); }
  unsigned spatial() const { return taps.size(); }
  double count() const {
    double count = 1;
    for (int64_t n : taps)
      count *= n;
    return count;
  }

  /// Loops: the axes of the result, then the taps.
  AffineMap windowMap(unsigned rank) const {
    SmallVector<int64_t> loops;
    for (unsigned i = 0; i < rank; ++i)
      loops.push_back(i);
    return b.project(rank + spatial(), loops);
  }
  AffineMap elementMap(unsigned rank) const {
    SmallVector<AffineExpr> exprs;
    for (unsigned i = 0; i < rank; ++i)
      exprs.push_back(b.getAffineDimExpr(i));
    for (unsigned i = 0; i < spatial(); ++i) {
      AffineExpr tap = b.getAffineDimExpr(rank + i);
      AffineExpr &expr = exprs[first() + i];
      expr = expr * stride[i] + tap * dilation[i];
    }
    return AffineMap::get(rank + spatial(), 0, exprs, b.getContext());
  }
  /// An operand whose only purpose is to give the loops over taps their
  /// extents.
  Value tapCounter(Type element) const {
    return b.empty(RankedTensorType::get(taps, element));
  }
  AffineMap tapMap(unsigned rank) const {
    SmallVector<int64_t> loops;
    for (unsigned i = 0; i < spatial(); ++i)
      loops.push_back(rank + i);
    return b.project(rank + spatial(), loops);
  }

  SmallVector<int64_t> reach(RankedTensorType windows) const {
    SmallVector<int64_t> sizes;
    for (unsigned i = 0; i < spatial(); ++i)
      sizes.push_back((windows.getDimSize(first() + i) - 1) * stride[i] +
                      (taps[i] - 1) * dilation[i] + 1);
    return sizes;
  }
  Value seen(Value x, RankedTensorType windows, double outside) const {
    SmallVector<int64_t> starts;
    for (int64_t before : low)
      starts.push_back(-before);
    return region(b, x, first(), starts, reach(windows), outside);
  }

  /// A zero tensor that holds all positions of taps, and the slice of it that
  /// is `x`.
  Value zeros(RankedTensorType x, RankedTensorType windows) const {
    SmallVector<int64_t> sizes(x.getShape());
    for (auto [i, size] : llvm::enumerate(reach(windows)))
      sizes[first() + i] = std::max(size, low[i] + sizes[first() + i]);
    return b.filled(RankedTensorType::get(sizes, x.getElementType()), 0);
  }
  Value crop(Value padded, RankedTensorType x) const {
    SmallVector<int64_t> starts(x.getRank());
    for (unsigned i = 0; i < spatial(); ++i)
      starts[first() + i] = low[i];
    return b.slice(padded, starts, x.getShape());
  }
};
} // namespace

template <typename OpTy>
static Pool poolOf(OpTy op, LinalgBuilder &b, Value x,
                   ArrayRef<int64_t> dilation = {}) {
  Pool pool{b,
            WindowAxes(b.type(x).getRank(), op.getOver(), std::nullopt),
            SmallVector<int64_t>(op.getK()),
            SmallVector<int64_t>(op.getStride()),
            SmallVector<int64_t>(op.getLow()),
            SmallVector<int64_t>(dilation)};
  if (dilation.empty())
    pool.dilation.assign(pool.taps.size(), 1);
  return pool;
}

//===----------------------------------------------------------------------===//
// Maximum
//===----------------------------------------------------------------------===//

static void lowerMaxPool(MaxPoolOp op, LinalgBuilder &b) {
  Pool pool = poolOf(op, b, op.getX(), op.getDilation());
  RankedTensorType type =
      pool.axes.toFront(b.typeLike(op.getY(), b.get(op.getX())));
  Type index = b.type(op.getIndices()).getElementType();
  double lowest = -std::numeric_limits<double>::infinity();
  unsigned rank = type.getRank();
  Value x = pool.seen(pool.axes.toFront(b, b.get(op.getX())), type, lowest);
  SmallVector<Value> results = b.generic(
      {x, pool.tapCounter(type.getElementType())},
      {b.filled(type, lowest),
       b.filled(RankedTensorType::get(type.getShape(), index), 0)},
      {pool.elementMap(rank), pool.tapMap(rank), pool.windowMap(rank),
       pool.windowMap(rank)},
      [&](ArrayRef<Element> args) -> SmallVector<Element> {
        ImplicitLocOpBuilder &e = *args[0].b;
        Value tap = e.create<arith::ConstantIndexOp>(0);
        for (unsigned i = 0; i < pool.spatial(); ++i) {
          Value size = e.create<arith::ConstantIndexOp>(pool.taps[i]);
          tap = e.create<arith::AddIOp>(e.create<arith::MulIOp>(tap, size),
                                        e.create<linalg::IndexOp>(rank + i));
        }
        Element number{&e, e.create<arith::IndexCastOp>(index, tap)};
        Element larger = args[0] > args[2];
        return {select(larger, args[0], args[2]),
                select(larger, number, args[3])};
      });
  b.set(op.getY(), pool.axes.back(b, results[0]));
  b.set(op.getIndices(), pool.axes.back(b, results[1]));
}

namespace {
/// Gives each position the gradients of the windows whose maximum it was, in
/// their order, so that positions are independent. Positions are those of a
/// block of `stride` from the start of a window on, which the same windows may
/// cover.
class MaxPoolGradient {
public:
  MaxPoolGradient(MaxPoolGradOp op, LinalgBuilder &b)
      : pool(poolOf(op, b, op.getDy(), op.getDilation())), b(b),
        dy(pool.axes.toFront(b, b.get(op.getDy()))),
        indices(pool.axes.toFront(b, b.get(op.getIndices()))),
        type(pool.axes.toFront(b.type(op.getDx()))) {}

  Value emit();
  const WindowAxes &axes() const { return pool.axes; }

private:
  int64_t sizeOf(Value tensor, unsigned axis) {
    return cast<RankedTensorType>(tensor.getType()).getDimSize(axis);
  }
  /// The sum of a position, with these indices of its block and of its place in
  /// it.
  Value sumAt(ValueRange block, ValueRange place);
  /// Adds the gradient of one of the windows that may cover a position.
  Value addWindow(ValueRange block, ValueRange place, ValueRange number,
                  Value sum);
  /// How many windows may cover a position.
  int64_t mostWindows(unsigned i) const {
    return llvm::divideCeil((pool.taps[i] - 1) * pool.dilation[i] + 1,
                            pool.stride[i]);
  }
  /// Requires that an index, as a number without a sign, is below a bound.
  void require(Value &condition, Value index, int64_t bound) {
    Value holds = b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, index,
                                          b.index(bound));
    condition = condition ? b.create<arith::AndIOp>(condition, holds) : holds;
  }

  Pool pool;
  LinalgBuilder &b;
  Value dy, indices;
  RankedTensorType type;
};
} // namespace

/// `next()` if the condition holds, else `old`.
static Value updateIf(LinalgBuilder &b, Value condition, Value old,
                      function_ref<Value()> next) {
  auto choice =
      b.create<scf::IfOp>(old.getType(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  b.create<scf::YieldOp>(next());
  b.setInsertionPointToStart(choice.elseBlock());
  b.create<scf::YieldOp>(old);
  return choice.getResult(0);
}

Value MaxPoolGradient::addWindow(ValueRange block, ValueRange place,
                                 ValueRange number, Value sum) {
  SmallVector<Value> window(block);
  Value tap = b.index(0), covers;
  for (unsigned i = 0; i < pool.spatial(); ++i) {
    Value &index = window[pool.first() + i];
    int64_t windows = sizeOf(dy, pool.first() + i);
    // The number of windows that start later than this one.
    Value later =
        b.create<arith::SubIOp>(b.index(mostWindows(i) - 1), number[i]);
    index = b.create<arith::SubIOp>(index, later);
    Value step = b.create<arith::AddIOp>(
        place[i], b.create<arith::MulIOp>(later, b.index(pool.stride[i])));
    Value dilation = b.index(pool.dilation[i]);
    Value here = b.create<arith::DivUIOp>(step, dilation);
    require(covers, index, windows);
    require(covers, here, pool.taps[i]);
    require(covers, b.create<arith::RemUIOp>(step, dilation), 1);
    tap = b.create<arith::AddIOp>(
        b.create<arith::MulIOp>(tap, b.index(pool.taps[i])), here);
    // What is loaded without a condition is loaded once for a block.
    index = b.create<arith::MinSIOp>(
        b.create<arith::MaxSIOp>(index, b.index(0)), b.index(windows - 1));
  }
  Value largest =
      b.create<arith::IndexCastOp>(b.getIndexType(), b.scalar(indices, window));
  Element old{&b, sum}, more{&b, b.scalar(dy, window)};
  Value isLargest =
      b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, largest, tap);
  return updateIf(b, b.create<arith::AndIOp>(covers, isLargest), sum,
                  [&] { return (old + more).value; });
}

Value MaxPoolGradient::sumAt(ValueRange block, ValueRange place) {
  SmallVector<Value> windows;
  for (unsigned i = 0; i < pool.spatial(); ++i)
    windows.push_back(b.index(mostWindows(i)));
  Value zero =
      b.create<arith::ConstantOp>(b.getZeroAttr(type.getElementType()));
  return b
      .loops(windows, zero,
             [&](ValueRange number, ValueRange sum) -> SmallVector<Value> {
               return {addWindow(block, place, number, sum[0])};
             })
      .front();
}

Value MaxPoolGradient::emit() {
  unsigned first = pool.first(), spatial = pool.spatial();
  SmallVector<int64_t> blocks(type.getShape());
  for (unsigned i = 0; i < spatial; ++i)
    blocks[first + i] =
        llvm::divideCeil(blocks[first + i] + pool.low[i], pool.stride[i]);
  // The places in a block follow the blocks, and channels come last.
  SmallVector<int64_t> bounds(blocks);
  bounds.insert(bounds.begin() + first + spatial, pool.stride.begin(),
                pool.stride.end());
  auto at = [&](ValueRange indices, ValueRange carried) -> SmallVector<Value> {
    SmallVector<Value> block(indices);
    auto *places = block.begin() + first + spatial;
    SmallVector<Value> place(places, places + spatial);
    block.erase(places, places + spatial);
    SmallVector<Value> position(block);
    Value isInside;
    for (unsigned i = 0; i < spatial; ++i) {
      Value &index = position[first + i];
      index = b.create<arith::MulIOp>(index, b.index(pool.stride[i]));
      index = b.create<arith::AddIOp>(index, place[i]);
      index = b.create<arith::SubIOp>(index, b.index(pool.low[i]));
      require(isInside, index, type.getDimSize(first + i));
    }
    Value sum = sumAt(block, place);
    return {updateIf(b, isInside, carried[0], [&]() -> Value {
      return b.create<tensor::InsertOp>(sum, carried[0], position);
    })};
  };
  return b
      .loops(b.bounds(bounds), b.empty(type), at,
             /*independent=*/first + spatial)
      .front();
}

static void lowerMaxPoolGrad(MaxPoolGradOp op, LinalgBuilder &b) {
  MaxPoolGradient gradient(op, b);
  b.set(op.getDx(), gradient.axes().back(b, gradient.emit()));
}

//===----------------------------------------------------------------------===//
// Average
//===----------------------------------------------------------------------===//

static void lowerAvgPool(AvgPoolOp op, LinalgBuilder &b) {
  Pool pool = poolOf(op, b, op.getX());
  RankedTensorType type = pool.axes.toFront(b.type(op.getY()));
  unsigned rank = type.getRank();
  Value x = pool.seen(pool.axes.toFront(b, b.get(op.getX())), type, 0);
  Value sums =
      b.generic(
           {x, pool.tapCounter(type.getElementType())}, b.filled(type, 0),
           {pool.elementMap(rank), pool.tapMap(rank), pool.windowMap(rank)},
           [](ArrayRef<Element> args) {
             return SmallVector<Element>{args[2] + args[0]};
           })
          .front();
  b.set(op.getY(), pool.axes.back(b, b.divide(sums, pool.count())));
}

static void lowerAvgPoolGrad(AvgPoolGradOp op, LinalgBuilder &b) {
  Pool pool = poolOf(op, b, op.getDy());
  Value dy = pool.axes.toFront(b, b.get(op.getDy()));
  auto windows = cast<RankedTensorType>(dy.getType());
  RankedTensorType type = pool.axes.toFront(b.type(op.getDx()));
  unsigned rank = type.getRank();
  Value sums =
      b.generic(
           {b.divide(dy, pool.count()), pool.tapCounter(type.getElementType())},
           pool.zeros(type, windows),
           {pool.windowMap(rank), pool.tapMap(rank), pool.elementMap(rank)},
           [](ArrayRef<Element> args) {
             return SmallVector<Element>{args[2] + args[0]};
           })
          .front();
  b.set(op.getDx(), pool.axes.back(b, pool.crop(sums, type)));
}

//===----------------------------------------------------------------------===//
// Adaptive average: window i of n covers floor(i m / n) to ceil((i + 1) m / n)
//===----------------------------------------------------------------------===//

/// The first element that a window covers, and the number of elements.
static std::pair<Value, Value> coveredBy(LinalgBuilder &b, Value window,
                                         int64_t windows, int64_t size) {
  Value n = b.index(windows), m = b.index(size), last = b.index(windows - 1);
  Value first = b.create<arith::MulIOp>(window, m);
  Value start = b.create<arith::DivUIOp>(first, n);
  // The quotient is rounded up.
  Value end = b.create<arith::AddIOp>(b.create<arith::AddIOp>(first, m), last);
  end = b.create<arith::DivUIOp>(end, n);
  return {start, b.create<arith::SubIOp>(end, start)};
}

/// Calls `body` for each window with index `at` and each element that it
/// covers. Calls `after` at the end of each window with the number of elements.
static Value forEachCovered(
    LinalgBuilder &b, RankedTensorType windows, RankedTensorType elements,
    ArrayRef<int64_t> over, Value init,
    function_ref<Value(ValueRange at, ValueRange element, Value carried)> body,
    function_ref<Value(ValueRange at, Value count, Value carried)> after) {
  SmallVector<Value> bounds;
  for (int64_t size : windows.getShape())
    bounds.push_back(b.index(size));
  return b
      .loops(bounds, init,
             [&](ValueRange at, ValueRange carried) {
               SmallVector<Value> starts, lengths;
               Value count = b.index(1);
               for (int64_t axis : over) {
                 auto [start, length] =
                     coveredBy(b, at[axis], windows.getDimSize(axis),
                               elements.getDimSize(axis));
                 starts.push_back(start);
                 lengths.push_back(length);
                 count = b.create<arith::MulIOp>(count, length);
               }
               Value next =
                   b.loops(lengths, carried,
                           [&](ValueRange taps, ValueRange carried) {
                             SmallVector<Value> element(at);
                             for (auto [i, axis] : llvm::enumerate(over))
                               element[axis] =
                                   b.create<arith::AddIOp>(starts[i], taps[i]);
                             return SmallVector<Value>{
                                 body(at, element, carried[0])};
                           })
                       .front();
               return SmallVector<Value>{after(at, count, next)};
             })
      .front();
}

static Element toFloat(LinalgBuilder &b, Value count, Type element) {
  Value integer = b.create<arith::IndexCastOp>(b.getI64Type(), count);
  return {&b, b.create<arith::UIToFPOp>(element, integer)};
}

static Element divideBy(LinalgBuilder &b, Value x, Value count) {
  return Element{&b, x} / toFloat(b, count, x.getType());
}

static void lowerAdaptiveAvgPool(AdaptiveAvgPoolOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  RankedTensorType from = b.type(op.getX()), type = b.type(op.getY());
  if (llvm::all_of(op.getSize(), [](int64_t n) { return n == 1; })) {
    Value sums = b.sum(x, op.getOver());
    double count = double(from.getNumElements()) / type.getNumElements();
    return b.set(op.getY(), b.reshape(b.divide(sums, count), type));
  }
  b.set(op.getY(),
        forEachCovered(
            b, type, from, op.getOver(), b.filled(type, 0),
            [&](ValueRange at, ValueRange element, Value y) -> Value {
              Element sum{&b, b.scalar(y, at)}, more{&b, b.scalar(x, element)};
              return b.create<tensor::InsertOp>(sum + more, y, at);
            },
            [&](ValueRange at, Value count, Value y) -> Value {
              return b.create<tensor::InsertOp>(
                  divideBy(b, b.scalar(y, at), count), y, at);
            }));
}

static void lowerAdaptiveAvgPoolGrad(AdaptiveAvgPoolGradOp op,
                                     LinalgBuilder &b) {
  Value dy = b.get(op.getDy());
  RankedTensorType from = b.type(op.getDy()), type = b.type(op.getDx());
  ArrayRef<int64_t> over = op.getOver();
  // First the share of each element of a window, then the sums of shares.
  Value shares = forEachCovered(
      b, from, type, over, b.empty(from),
      [](ValueRange, ValueRange, Value shares) { return shares; },
      [&](ValueRange at, Value count, Value shares) -> Value {
        return b.create<tensor::InsertOp>(divideBy(b, b.scalar(dy, at), count),
                                          shares, at);
      });
  if (llvm::all_of(over,
                   [&](int64_t axis) { return from.getDimSize(axis) == 1; })) {
    SmallVector<AffineExpr> exprs;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      exprs.push_back(llvm::is_contained(over, axis)
                          ? b.getAffineConstantExpr(0)
                          : b.getAffineDimExpr(axis));
    AffineMap map = AffineMap::get(type.getRank(), 0, exprs, b.getContext());
    return b.set(op.getDx(),
                 b.generic(shares, b.filled(type, 0),
                           {map, b.identity(type.getRank())},
                           [](ArrayRef<Element> args) {
                             return SmallVector<Element>{args[1] + args[0]};
                           })
                     .front());
  }
  b.set(op.getDx(),
        forEachCovered(
            b, from, type, over, b.filled(type, 0),
            [&](ValueRange at, ValueRange element, Value dx) -> Value {
              Element sum{&b, b.scalar(dx, element)};
              Element share{&b, b.scalar(shares, at)};
              return b.create<tensor::InsertOp>(sum + share, dx, element);
            },
            [](ValueRange, Value, Value dx) { return dx; }));
}

void netc::addPoolingLowerings(Lowerings &lowerings) {
  lowerings.add(lowerMaxPool);
  lowerings.add(lowerMaxPoolGrad);
  lowerings.add(lowerAvgPool);
  lowerings.add(lowerAvgPoolGrad);
  lowerings.add(lowerAdaptiveAvgPool);
  lowerings.add(lowerAdaptiveAvgPoolGrad);
}
