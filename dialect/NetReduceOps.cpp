// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums, means, extremes, and normalizations.

#include "dialect/Net.h"
#include "dialect/Repetition.h"

using namespace netc;
using namespace mlir;

/// The axes of a tensor of this rank that are not reduced, in order.
static SmallVector<int64_t> keptAxes(size_t rank, ArrayRef<int64_t> over) {
  SmallVector<int64_t> kept;
  for (int64_t axis = 0; axis < int64_t(rank); ++axis)
    if (!llvm::is_contained(over, axis))
      kept.push_back(axis);
  return kept;
}

static SmallVector<int64_t> keptAxes(Value x, ArrayRef<int64_t> over) {
  return keptAxes(shapeOf(x).rank(), over);
}

/// Appends the type of x, with the axes `over` removed.
static LogicalResult inferReduced(std::optional<Location> loc, StringRef op,
                                  Value x, ArrayRef<int64_t> over,
                                  SmallVectorImpl<Type> &types) {
  Shape shape = shapeOf(x);
  if (failed(checkAxes(loc, op, over, shape.rank())))
    return failure();
  return inferTensor(loc, op, elementOf(x), shape.without(over), types);
}

//===----------------------------------------------------------------------===//
// SumOp, MeanOp
//===----------------------------------------------------------------------===//

LogicalResult SumOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  return inferReduced(loc, getOperationName(), adaptor.getX(),
                      adaptor.getOver(), types);
}

SmallVector<AxisSource> SumOp::getAxisSources(unsigned, unsigned axis) {
  return {AxisSource{0, unsigned(keptAxes(getX(), getOver())[axis])}};
}

LogicalResult SumOp::buildGradient(Gradients &gradients) {
  gradients.set(0,
                gradients.create<BroadcastOp>(getX().getType(), gradients.of(0),
                                              keptAxes(getX(), getOver())));
  return success();
}

LogicalResult MeanOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  return inferReduced(loc, getOperationName(), adaptor.getX(),
                      adaptor.getOver(), types);
}

SmallVector<AxisSource> MeanOp::getAxisSources(unsigned, unsigned axis) {
  return {AxisSource{0, unsigned(keptAxes(getX(), getOver())[axis])}};
}

LogicalResult MeanOp::buildGradient(Gradients &gradients) {
  Shape shape = shapeOf(getX());
  Polynomial count = 1;
  for (int64_t axis : getOver())
    count *= shape[axis];
  // Divide before the broadcast: one division per mean.
  Value share = gradients.create<MeanGradOp>(
      gradients.of(0), PolynomialAttr::get(getContext(), count));
  gradients.set(0, gradients.create<BroadcastOp>(getX().getType(), share,
                                                 keptAxes(getX(), getOver())));
  return success();
}

LogicalResult MeanGradOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getDy().getType());
  return success();
}

//===----------------------------------------------------------------------===//
// GlobalNormOp
//===----------------------------------------------------------------------===//

LogicalResult GlobalNormOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> loc,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  ValueRange xs = adaptor.getXs();
  if (xs.empty())
    return emitOptionalError(loc, "`global_norm` is of one tensor or more");
  if (failed(checkSameElement(loc, getOperationName(), xs)))
    return failure();
  return inferTensor(loc, getOperationName(), elementOf(xs.front()), Shape(),
                     types);
}

static Polynomial elementsOf(Operation *op) {
  Polynomial elements;
  for (OpOperand &x : op->getOpOperands())
    elements += shapeOf(x.get()).elements() * copiesOf(x);
  return elements;
}

Polynomial GlobalNormOp::getElements() { return elementsOf(*this); }

LogicalResult GlobalNormOp::buildGradient(Gradients &gradients) {
  // The derivative of the norm is x / norm.
  Value share = gradients.create<DivOp>(gradients.of(0), getY());
  for (auto [i, x] : llvm::enumerate(getXs())) {
    if (!gradients.wants(i))
      continue;
    Value shares =
        gradients.create<BroadcastOp>(x.getType(), share, ArrayRef<int64_t>());
    gradients.set(i, gradients.create<MulOp>(x, shares));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// AllFiniteOp
//===----------------------------------------------------------------------===//

LogicalResult AllFiniteOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> loc,
                                            Adaptor,
                                            SmallVectorImpl<Type> &types) {
  return inferTensor(loc, getOperationName(), IntegerType::get(context, 1),
                     Shape(), types);
}

Polynomial AllFiniteOp::getElements() { return elementsOf(*this); }

//===----------------------------------------------------------------------===//
// MaxOp, MinOp
//===----------------------------------------------------------------------===//

/// Appends the types of the extremes and of their indices.
static LogicalResult inferExtreme(std::optional<Location> loc, StringRef op,
                                  Value x, ArrayRef<int64_t> over,
                                  SmallVectorImpl<Type> &types) {
  if (failed(inferReduced(loc, op, x, over, types)))
    return failure();
  types.push_back(
      tensorOf(IntegerType::get(x.getContext(), 64), shapeOf(x).without(over)));
  return success();
}

/// The gradient goes only to the elements that were selected.
template <typename OpTy>
static LogicalResult buildExtremeGradient(OpTy op, Gradients &gradients) {
  gradients.set(
      0, gradients.create<ExtremeGradOp>(op.getX().getType(), gradients.of(0),
                                         op.getIndices(), op.getOver()));
  return success();
}

LogicalResult MaxOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  return inferExtreme(loc, getOperationName(), adaptor.getX(),
                      adaptor.getOver(), types);
}

SmallVector<AxisSource> MaxOp::getAxisSources(unsigned, unsigned axis) {
  return {AxisSource{0, unsigned(keptAxes(getX(), getOver())[axis])}};
}

LogicalResult MaxOp::buildGradient(Gradients &gradients) {
  return buildExtremeGradient(*this, gradients);
}

LogicalResult MinOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  return inferExtreme(loc, getOperationName(), adaptor.getX(),
                      adaptor.getOver(), types);
}

SmallVector<AxisSource> MinOp::getAxisSources(unsigned, unsigned axis) {
  return {AxisSource{0, unsigned(keptAxes(getX(), getOver())[axis])}};
}

LogicalResult MinOp::buildGradient(Gradients &gradients) {
  return buildExtremeGradient(*this, gradients);
}

LogicalResult ExtremeGradOp::verify() {
  Shape shape = shapeOf(getDx());
  if (failed(checkAxes(getLoc(), getOperationName(), getOver(), shape.rank())))
    return failure();
  Shape kept = shape.without(getOver());
  if (failed(checkSameShape(getLoc(), getOperationName(), kept,
                            "in what is kept", shapeOf(getDy()),
                            "in the gradient")))
    return failure();
  return checkSameShape(getLoc(), getOperationName(), kept, "in what is kept",
                        shapeOf(getIndices()), "in the indices");
}

//===----------------------------------------------------------------------===//
// SoftmaxOp
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferAlong(loc, getOperationName(), adaptor.getOver(),
                    adaptor.getOperands(), types);
}

LogicalResult SoftmaxOp::buildGradient(Gradients &gradients) {
  gradients.set(
      0, gradients.create<SoftmaxGradOp>(gradients.of(0), getY(), getOver()));
  return success();
}

LogicalResult SoftmaxGradOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> loc,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  return inferAlong(loc, getOperationName(), adaptor.getOver(),
                    adaptor.getOperands(), types);
}

LogicalResult LogSoftmaxOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> loc,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  return inferAlong(loc, getOperationName(), adaptor.getOver(),
                    adaptor.getOperands(), types);
}

Polynomial LogSoftmaxOp::getSums() {
  return shapeOf(getX()).without(int64_t(getOver())).elements();
}

LogicalResult LogSoftmaxOp::buildGradient(Gradients &gradients) {
  gradients.set(0, gradients.create<LogSoftmaxGradOp>(gradients.of(0), getY(),
                                                      getOver()));
  return success();
}

LogicalResult LogSoftmaxGradOp::inferReturnTypes(MLIRContext *,
                                                 std::optional<Location> loc,
                                                 Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  return inferAlong(loc, getOperationName(), adaptor.getOver(),
                    adaptor.getOperands(), types);
}

//===----------------------------------------------------------------------===//
// NormalizeOp, RmsNormalizeOp
//===----------------------------------------------------------------------===//

/// Appends the type of x, then `statistics` times its type without the axes
/// `over`. Elements of the statistics have 32 bits or more.
static LogicalResult inferNorm(std::optional<Location> loc, StringRef op,
                               Value x, ArrayRef<int64_t> over,
                               unsigned statistics,
                               SmallVectorImpl<Type> &types) {
  types.push_back(x.getType());
  Shape shape = shapeOf(x);
  if (failed(checkAxes(loc, op, over, shape.rank())))
    return failure();
  Type element = elementOf(x);
  if (element.getIntOrFloatBitWidth() < 32)
    element = Float32Type::get(x.getContext());
  if (failed(inferTensor(loc, op, element, shape.without(over), types)))
    return failure();
  types.append(statistics - 1, types.back());
  return success();
}

/// The first result has the axes of x, the others those that are not in `over`.
static AxisSource normSource(Value x, ArrayRef<int64_t> over, unsigned result,
                             unsigned axis) {
  return {0, result == 0 ? axis : unsigned(keptAxes(x, over)[axis])};
}

static LogicalResult inferNormGrad(std::optional<Location> loc, StringRef op,
                                   Value dy, Value y, Value rstd,
                                   ArrayRef<int64_t> over,
                                   SmallVectorImpl<Type> &types) {
  Shape shape = shapeOf(y);
  if (failed(checkAxes(loc, op, over, shape.rank())) ||
      failed(checkSameShape(loc, op, shape.without(over), "in the mean",
                            shapeOf(rstd), "in `rstd`")))
    return failure();
  return inferSameShape(loc, op, {y, dy}, types);
}

LogicalResult NormalizeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  return inferNorm(loc, getOperationName(), adaptor.getX(), adaptor.getOver(),
                   3, types);
}

SmallVector<AxisSource> NormalizeOp::getAxisSources(unsigned result,
                                                    unsigned axis) {
  return {normSource(getX(), getOver(), result, axis)};
}

LogicalResult NormalizeOp::buildGradient(Gradients &gradients) {
  if (gradients.of(1) || gradients.of(2) || gradients.of(3))
    return emitError() << "cannot differentiate `normalize` through its mean, "
                          "variance or rstd";
  gradients.set(0, gradients.create<NormalizeGradOp>(gradients.of(0), getY(),
                                                     getRstd(), getOver()));
  return success();
}

LogicalResult NormalizeGradOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location> loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  return inferNormGrad(loc, getOperationName(), adaptor.getDy(), adaptor.getY(),
                       adaptor.getRstd(), adaptor.getOver(), types);
}

LogicalResult RmsNormalizeOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> loc,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  return inferNorm(loc, getOperationName(), adaptor.getX(), adaptor.getOver(),
                   1, types);
}

SmallVector<AxisSource> RmsNormalizeOp::getAxisSources(unsigned result,
                                                       unsigned axis) {
  return {normSource(getX(), getOver(), result, axis)};
}

LogicalResult RmsNormalizeOp::buildGradient(Gradients &gradients) {
  if (gradients.of(1))
    return emitError()
           << "cannot differentiate `rms_normalize` through its rstd";
  gradients.set(0, gradients.create<RmsNormalizeGradOp>(gradients.of(0), getY(),
                                                        getRstd(), getOver()));
  return success();
}

LogicalResult
RmsNormalizeGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                     Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  return inferNormGrad(loc, getOperationName(), adaptor.getDy(), adaptor.getY(),
                       adaptor.getRstd(), adaptor.getOver(), types);
}

//===----------------------------------------------------------------------===//
// MovingAverageOp
//===----------------------------------------------------------------------===//

LogicalResult MovingAverageOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location> loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &) {
  return checkSameShape(loc, getOperationName(), shapeOf(adaptor.getBuffer()),
                        "in the buffer", shapeOf(adaptor.getValue()),
                        "in the value");
}

//===----------------------------------------------------------------------===//
// CumsumOp
//===----------------------------------------------------------------------===//

LogicalResult CumsumOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor op,
                                         SmallVectorImpl<Type> &types) {
  return inferAlong(loc, getOperationName(), op.getOver(), op.getOperands(),
                    types);
}

// Element i is in all sums from i on, so the gradient sums in reverse.
LogicalResult CumsumOp::buildGradient(Gradients &g) {
  g.set(0, g.create<CumsumOp>(g.of(0), getOver(), !getReverse()));
  return success();
}

//===----------------------------------------------------------------------===//
// CumprodOp
//===----------------------------------------------------------------------===//

LogicalResult CumprodOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor op,
                                          SmallVectorImpl<Type> &types) {
  return inferAlong(loc, getOperationName(), op.getOver(), op.getOperands(),
                    types);
}

LogicalResult CumprodOp::buildGradient(Gradients &g) {
  g.set(0, g.create<CumprodGradOp>(g.of(0), getX(), getY(), getOver(),
                                   getReverse()));
  return success();
}

LogicalResult CumprodGradOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> loc,
                                              Adaptor op,
                                              SmallVectorImpl<Type> &types) {
  return inferAlong(loc, getOperationName(), op.getOver(), op.getOperands(),
                    types);
}
