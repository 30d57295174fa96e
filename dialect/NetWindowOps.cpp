// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops that slide a window over axes.

#include "dialect/Net.h"
#include "dialect/OneExample.h"
#include <numeric>

using namespace netc;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

namespace {
/// A window that slides over the axes `over` of a tensor. Each list has one
/// number per axis; `i` in the methods is a position in these lists.
struct Window {
  StringRef op;
  ArrayRef<int64_t> over;
  SmallVector<int64_t> size;
  ArrayRef<int64_t> stride, low, high;
  SmallVector<int64_t> dilation;
  bool ceil = false;

  LogicalResult check(std::optional<Location> loc, size_t rank) const;

  /// The number of elements from the first tap to the last.
  Polynomial span(size_t i) const {
    return Polynomial(dilation[i]) * (size[i] - 1) + 1;
  }
  /// The number of windows on n elements. Fails, with an error at `loc`, if
  /// none fits.
  FailureOr<Polynomial> count(std::optional<Location> loc, size_t i,
                              const Polynomial &n) const;
  /// The smallest number of elements that has `count` windows.
  Polynomial reach(size_t i, const Polynomial &count) const {
    return (count - 1) * stride[i] + span(i) - low[i] - high[i];
  }
  /// Replaces the size of each axis in `over` by the number of windows.
  FailureOr<Shape> slide(std::optional<Location> loc, Shape shape) const;
};
} // namespace

/// The window that an op's settings describe.
template <typename OpTy>
static Window windowOf(StringRef name, OpTy &op, ArrayRef<int64_t> size,
                       ArrayRef<int64_t> dilation) {
  name.consume_front("net.");
  return {
      name,        op.getOver(), SmallVector<int64_t>(size),    op.getStride(),
      op.getLow(), op.getHigh(), SmallVector<int64_t>(dilation)};
}

static LogicalResult needsFixedSize(std::optional<Location> loc,
                                    const Polynomial &size) {
  return emitOptionalError(
      loc, "`", size.str(), "` must have a fixed size; write `",
      size.symbols().front(), " = 128` in the net's signature, for instance");
}

static LogicalResult checkOver(std::optional<Location> loc, StringRef op,
                               ArrayRef<int64_t> over, size_t rank) {
  if (over.empty())
    return emitOptionalError(loc, "`", op,
                             "` has no axis to work over; label axes D, H, W "
                             "or L, or set `over`");
  return checkAxes(loc, op, over, rank);
}

/// Whether a setting has one number per axis, each at least `least`.
static LogicalResult checkSetting(std::optional<Location> loc, StringRef op,
                                  StringRef setting, ArrayRef<int64_t> values,
                                  size_t axes, int64_t least) {
  if (values.size() != axes)
    return emitOptionalError(loc, "`", setting, "` of `", op, "` has length ",
                             values.size(), ", it works over ", axes, " axes");
  for (int64_t value : values)
    if (value < least || value > Shape::maxSize)
      return emitOptionalError(loc, "`", setting, "` of `", op, "` is ", value,
                               ", possible are ", least, " to ",
                               Shape::maxSize);
  return success();
}

LogicalResult Window::check(std::optional<Location> loc, size_t rank) const {
  if (failed(checkOver(loc, op, over, rank)) ||
      failed(checkSetting(loc, op, "k", size, over.size(), 1)) ||
      failed(checkSetting(loc, op, "stride", stride, over.size(), 1)) ||
      failed(checkSetting(loc, op, "low", low, over.size(), 0)) ||
      failed(checkSetting(loc, op, "high", high, over.size(), 0)) ||
      failed(checkSetting(loc, op, "dilation", dilation, over.size(), 1)))
    return failure();
  return success();
}

FailureOr<Polynomial> Window::count(std::optional<Location> loc, size_t i,
                                    const Polynomial &n) const {
  Polynomial room = n + low[i] + high[i] - span(i);
  if (std::optional<Rational> fixed = room.constant();
      fixed && fixed->isNegative())
    return emitOptionalError(loc, "window of `", op, "` spans ", span(i).str(),
                             " elements, axis ", over[i], " has ",
                             (room + span(i)).str(),
                             ", padding included; a smaller window or more "
                             "padding fits");
  if (isNegativeOfOne(room))
    return emitOptionalError(loc, "window of `", op, "` spans ", span(i).str(),
                             " elements of axis ", over[i], ", `", n.str(),
                             "`: `", kBatchAxis,
                             "` is the examples of a batch, and counts are of "
                             "one; give the axis another name");
  std::optional<Polynomial> steps =
      (ceil ? room + (stride[i] - 1) : room).floorDivide(stride[i]);
  if (!steps)
    return needsFixedSize(loc, n);
  if (ceil) {
    // A window that would start after the last element is left out.
    std::optional<int64_t> behind = (*steps * stride[i] - low[i] - n).toInt64();
    if (behind && *behind >= 0)
      return *steps;
  }
  return *steps + 1;
}

FailureOr<Shape> Window::slide(std::optional<Location> loc, Shape shape) const {
  for (auto [i, axis] : llvm::enumerate(over)) {
    FailureOr<Polynomial> windows = count(loc, i, shape[axis]);
    if (failed(windows))
      return failure();
    shape[axis] = *windows;
  }
  return shape;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The window of a convolution with a weight of [.., .., k..], after the checks
/// that all convolutions share.
template <typename OpTy>
static FailureOr<Window> convWindow(std::optional<Location> loc, StringRef name,
                                    OpTy &op, const Shape &x,
                                    const Shape &weight) {
  Window window = windowOf(name, op, {}, op.getDilation());
  size_t axes = window.over.size();
  if (weight.rank() != axes + 2)
    return emitOptionalError(loc, "`", window.op, "` over ", axes,
                             " axes takes a weight of ", axes + 2,
                             " axes, it has ", weight.rank());
  for (const Polynomial &size : ArrayRef(weight.sizes).drop_front(2)) {
    std::optional<int64_t> fixed = size.toInt64();
    if (!fixed)
      return needsFixedSize(loc, size);
    window.size.push_back(*fixed);
  }
  SmallVector<int64_t> used(window.over);
  used.push_back(op.getChannel());
  int64_t groups = op.getGroups();
  if (failed(window.check(loc, x.rank())) ||
      failed(checkAxes(loc, name, used, x.rank())) ||
      failed(checkSetting(loc, window.op, "groups", groups, 1, 1)))
    return failure();
  if (groups > 1 &&
      (!weight[0].toInt64() || *weight[0].toInt64() % groups != 0))
    return emitOptionalError(loc, "`groups` of `", window.op, "` is ", groups,
                             ", which does not divide ", weight[0].str(),
                             " channels");
  return window;
}

static LogicalResult checkChannels(std::optional<Location> loc, StringRef op,
                                   const Polynomial &taken,
                                   const Polynomial &given) {
  op.consume_front("net.");
  if (taken != given)
    return emitOptionalError(loc, "`", op, "` takes ", taken.str(),
                             " channels, its input has ", given.str());
  return success();
}

/// The shape of a convolution's result, from the shapes of its operands.
template <typename OpTy>
static FailureOr<Shape> convShape(std::optional<Location> loc, StringRef name,
                                  OpTy &op, const Shape &x,
                                  const Shape &weight) {
  FailureOr<Window> window = convWindow(loc, name, op, x, weight);
  if (failed(window) ||
      failed(checkChannels(loc, name, weight[1] * op.getGroups(),
                           x[op.getChannel()])))
    return failure();
  FailureOr<Shape> shape = window->slide(loc, x);
  if (succeeded(shape))
    (*shape)[op.getChannel()] = weight[0];
  return shape;
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> loc, Adaptor op,
                                       SmallVectorImpl<Type> &types) {
  if (failed(checkSameElement(loc, getOperationName(), op.getOperands())))
    return failure();
  FailureOr<Shape> shape = convShape(loc, getOperationName(), op,
                                     shapeOf(op.getX()), shapeOf(op.getW()));
  if (failed(shape))
    return failure();
  return inferTensor(loc, getOperationName(), elementOf(op.getX()), *shape,
                     types);
}

LogicalResult ConvOp::buildGradient(Gradients &g) {
  if (g.wants(0)) {
    Shape x = shapeOf(getX()), y = shapeOf(getY()), weight = shapeOf(getW());
    FailureOr<Window> window =
        convWindow(getLoc(), getOperationName(), *this, x, weight);
    SmallVector<int64_t> extra;
    for (auto [i, axis] : llvm::enumerate(getOver()))
      extra.push_back(*(x[axis] - window->reach(i, y[axis])).toInt64());
    g.set(0, g.create<ConvTransposeOp>(g.of(0), getW(), getStride(), getLow(),
                                       getHigh(), getDilation(), getGroups(),
                                       extra, getOver(), getChannel()));
  }
  if (g.wants(1))
    g.set(1, g.create<ConvWeightGradOp>(getW().getType(), getX(), g.of(0),
                                        getStride(), getLow(), getHigh(),
                                        getDilation(), getGroups(), getOver(),
                                        getChannel()));
  return success();
}

LogicalResult ConvTransposeOp::inferReturnTypes(MLIRContext *context,
                                                std::optional<Location> loc,
                                                Adaptor op,
                                                SmallVectorImpl<Type> &types) {
  Shape shape = shapeOf(op.getX()), weight = shapeOf(op.getW());
  if (failed(checkSameElement(loc, getOperationName(), op.getOperands())))
    return failure();
  FailureOr<Window> window =
      convWindow(loc, getOperationName(), op, shape, weight);
  if (failed(window) ||
      failed(checkChannels(loc, getOperationName(), weight[0],
                           shape[op.getChannel()])) ||
      failed(checkSetting(loc, window->op, "extra", op.getExtra(),
                          window->over.size(), 0)))
    return failure();
  for (auto [i, axis] : llvm::enumerate(window->over)) {
    if (op.getExtra()[i] >= window->stride[i])
      return emitOptionalError(
          loc, "`extra` of `", window->op, "` is ", op.getExtra()[i],
          ", it must be below the stride ", window->stride[i]);
    shape[axis] = window->reach(i, shape[axis]) + op.getExtra()[i];
  }
  shape[op.getChannel()] = weight[1] * op.getGroups();
  return inferTensor(loc, getOperationName(), elementOf(op.getX()), shape,
                     types);
}

// conv_transpose is the input gradient of a convolution with the same weight,
// so its input gradient is that convolution. In the weight gradient, the
// result's gradient is the input of that convolution, and x has the place of
// its result's gradient.
LogicalResult ConvTransposeOp::buildGradient(Gradients &g) {
  if (g.wants(0))
    g.set(0, g.create<ConvOp>(g.of(0), getW(), getStride(), getLow(), getHigh(),
                              getDilation(), getGroups(), getOver(),
                              getChannel()));
  if (g.wants(1))
    g.set(1, g.create<ConvWeightGradOp>(getW().getType(), g.of(0), getX(),
                                        getStride(), getLow(), getHigh(),
                                        getDilation(), getGroups(), getOver(),
                                        getChannel()));
  return success();
}

LogicalResult ConvWeightGradOp::verify() {
  FailureOr<Shape> shape = convShape(getLoc(), getOperationName(), *this,
                                     shapeOf(getX()), shapeOf(getDw()));
  if (failed(shape))
    return failure();
  return verifyGradient(*this, getDy(), *shape);
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

template <typename OpTy> static Window avgPoolWindow(StringRef name, OpTy &op) {
  return windowOf(name, op, op.getK(),
                  SmallVector<int64_t>(op.getOver().size(), 1));
}

/// The shape of the result of pooling.
static FailureOr<Shape> poolShape(std::optional<Location> loc,
                                  const Window &window, const Shape &x) {
  if (failed(window.check(loc, x.rank())))
    return failure();
  for (size_t i = 0; i < window.over.size(); ++i)
    for (int64_t padding : {window.low[i], window.high[i]})
      if (std::optional<int64_t> span = window.span(i).toInt64();
          span && padding >= *span)
        return emitOptionalError(loc, "`", window.op, "` pads ", padding,
                                 " elements, its window spans ", *span);
  return window.slide(loc, x);
}

/// `high` plus the padding that rounding up adds: with it, rounding down gives
/// the same windows.
static SmallVector<int64_t> fullPadding(const Window &window, const Shape &x,
                                        const Shape &y) {
  SmallVector<int64_t> high(window.high);
  for (auto [i, axis] : llvm::enumerate(window.over)) {
    int64_t missing = *(window.reach(i, y[axis]) - x[axis]).toInt64();
    high[i] += std::max<int64_t>(missing, 0);
  }
  return high;
}

LogicalResult MaxPoolOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          Adaptor op,
                                          SmallVectorImpl<Type> &types) {
  Window window = windowOf(getOperationName(), op, op.getK(), op.getDilation());
  window.ceil = op.getCeil();
  FailureOr<Shape> shape = poolShape(loc, window, shapeOf(op.getX()));
  if (failed(shape) || failed(inferTensor(loc, getOperationName(),
                                          elementOf(op.getX()), *shape, types)))
    return failure();
  types.push_back(tensorOf(IntegerType::get(context, 64), *shape));
  return success();
}

LogicalResult MaxPoolOp::buildGradient(Gradients &g) {
  Window window = windowOf(getOperationName(), *this, getK(), getDilation());
  SmallVector<int64_t> high =
      fullPadding(window, shapeOf(getX()), shapeOf(getY()));
  g.set(0, g.create<MaxPoolGradOp>(getX().getType(), g.of(0), getIndices(),
                                   getK(), getStride(), getLow(), high,
                                   getDilation(), getOver()));
  return success();
}

LogicalResult MaxPoolGradOp::verify() {
  Window window = windowOf(getOperationName(), *this, getK(), getDilation());
  FailureOr<Shape> shape = poolShape(getLoc(), window, shapeOf(getDx()));
  if (failed(shape))
    return failure();
  if (shapeOf(getIndices()) != *shape)
    return emitOpError() << "takes indices of the shape of its gradient, not "
                         << getIndices().getType();
  return verifyGradient(*this, getDy(), *shape);
}

LogicalResult AvgPoolOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          Adaptor op,
                                          SmallVectorImpl<Type> &types) {
  Window window = avgPoolWindow(getOperationName(), op);
  window.ceil = op.getCeil();
  FailureOr<Shape> shape = poolShape(loc, window, shapeOf(op.getX()));
  if (failed(shape))
    return failure();
  return inferTensor(loc, getOperationName(), elementOf(op.getX()), *shape,
                     types);
}

LogicalResult AvgPoolOp::buildGradient(Gradients &g) {
  SmallVector<int64_t> high =
      fullPadding(avgPoolWindow(getOperationName(), *this), shapeOf(getX()),
                  shapeOf(getY()));
  g.set(0, g.create<AvgPoolGradOp>(getX().getType(), g.of(0), getK(),
                                   getStride(), getLow(), high, getOver()));
  return success();
}

LogicalResult AvgPoolGradOp::verify() {
  FailureOr<Shape> shape = poolShape(
      getLoc(), avgPoolWindow(getOperationName(), *this), shapeOf(getDx()));
  if (failed(shape))
    return failure();
  return verifyGradient(*this, getDy(), *shape);
}

//===----------------------------------------------------------------------===//
// Adaptive pooling
//===----------------------------------------------------------------------===//

/// The shape of the result of adaptive pooling. With one window per axis, any
/// size fits.
static FailureOr<Shape> adaptiveShape(std::optional<Location> loc, StringRef op,
                                      Shape shape, ArrayRef<int64_t> over,
                                      ArrayRef<int64_t> size) {
  op.consume_front("net.");
  if (failed(checkOver(loc, op, over, shape.rank())) ||
      failed(checkSetting(loc, op, "size", size, over.size(), 1)))
    return failure();
  for (auto [axis, windows] : llvm::zip_equal(over, size)) {
    if (windows != 1 && !shape[axis].isConstant())
      return needsFixedSize(loc, shape[axis]);
    shape[axis] = windows;
  }
  return shape;
}

/// The number of elements of all windows, counting shared elements twice. For n
/// windows on m elements, two neighbours share an element unless their border
/// falls between elements. That happens at gcd(m, n) borders, the last one
/// included.
static Polynomial countCovered(const Shape &x, const Shape &y,
                               ArrayRef<int64_t> over) {
  Shape covered = x;
  for (int64_t axis : over) {
    int64_t windows = *y[axis].toInt64();
    if (windows > 1)
      covered[axis] += windows - std::gcd(windows, *x[axis].toInt64());
  }
  return covered.elements();
}

LogicalResult
AdaptiveAvgPoolOp::inferReturnTypes(MLIRContext *context,
                                    std::optional<Location> loc, Adaptor op,
                                    SmallVectorImpl<Type> &types) {
  FailureOr<Shape> shape = adaptiveShape(
      loc, getOperationName(), shapeOf(op.getX()), op.getOver(), op.getSize());
  if (failed(shape))
    return failure();
  return inferTensor(loc, getOperationName(), elementOf(op.getX()), *shape,
                     types);
}

Polynomial AdaptiveAvgPoolOp::getCovered() {
  return countCovered(shapeOf(getX()), shapeOf(getY()), getOver());
}

LogicalResult AdaptiveAvgPoolOp::buildGradient(Gradients &g) {
  g.set(0,
        g.create<AdaptiveAvgPoolGradOp>(getX().getType(), g.of(0), getOver()));
  return success();
}

LogicalResult AdaptiveAvgPoolGradOp::verify() {
  Shape dy = shapeOf(getDy());
  if (failed(checkAxes(getLoc(), getOperationName(), getOver(), dy.rank())))
    return failure();
  SmallVector<int64_t> size;
  for (int64_t axis : getOver()) {
    std::optional<int64_t> fixed = dy[axis].toInt64();
    if (!fixed)
      return needsFixedSize(getLoc(), dy[axis]);
    size.push_back(*fixed);
  }
  FailureOr<Shape> shape = adaptiveShape(getLoc(), getOperationName(),
                                         shapeOf(getDx()), getOver(), size);
  if (failed(shape))
    return failure();
  return verifyGradient(*this, getDy(), *shape);
}

Polynomial AdaptiveAvgPoolGradOp::getCovered() {
  return countCovered(shapeOf(getDx()), shapeOf(getDy()), getOver());
}
