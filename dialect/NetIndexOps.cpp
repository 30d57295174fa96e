// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops that select elements by index, and ops that make indices.

#include "dialect/Net.h"
#include "llvm/ADT/SmallString.h"
#include <cmath>

using namespace netc;
using namespace mlir;

/// The type of an i64 tensor of this shape.
static Type numbersOf(Value like, const Shape &shape) {
  return tensorOf(IntegerType::get(like.getContext(), 64), shape);
}

//===----------------------------------------------------------------------===//
// TopKOp
//===----------------------------------------------------------------------===//

LogicalResult TopKOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  Shape shape = shapeOf(adaptor.getX());
  int64_t over = adaptor.getOver(), k = adaptor.getK();
  if (failed(checkAxes(loc, getOperationName(), over, shape.rank())))
    return failure();
  std::optional<int64_t> size = shape[over].toInt64();
  if (!size)
    return emitOptionalError(loc, "`top_k` looks along axis ", over,
                             ", which is ", shape[over].str(),
                             " and must have a fixed size");
  if (k < 1 || k > *size)
    return emitOptionalError(loc, "`top_k` takes the ", k,
                             " largest elements, of axis ", over, " there are ",
                             *size);
  shape[over] = k;
  types.push_back(numbersOf(adaptor.getX(), shape));
  return success();
}

//===----------------------------------------------------------------------===//
// TakeOp
//===----------------------------------------------------------------------===//

/// Whether `places` has the shape of x, apart from the size of axis `over`.
static LogicalResult checkPlaces(std::optional<Location> loc, Value x,
                                 Value places, int64_t over) {
  Shape shape = shapeOf(x), other = shapeOf(places);
  if (failed(checkAxes(loc, "take", over, shape.rank())))
    return failure();
  if (other.rank() == shape.rank())
    shape[over] = other[over];
  return checkSameShape(loc, "take", shape, "in the tensor", other,
                        "in the places");
}

LogicalResult TakeOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  if (failed(checkPlaces(loc, adaptor.getX(), adaptor.getPlaces(),
                         adaptor.getOver())))
    return failure();
  types.push_back(
      tensorOf(elementOf(adaptor.getX()), shapeOf(adaptor.getPlaces())));
  return success();
}

std::optional<Polynomial> TakeOp::getTouched(unsigned operand) {
  if (operand == 0)
    return shapeOf(getY()).elements();
  return std::nullopt;
}

Polynomial TakeOp::getIndexBound() { return shapeOf(getX())[getOver()]; }

LogicalResult TakeOp::buildGradient(Gradients &gradients) {
  Value dy = gradients.of(0);
  Type type = tensorOf(elementOf(dy), shapeOf(getX()));
  gradients.set(
      0, gradients.create<TakeGradOp>(type, dy, getPlaces(), getOverAttr()));
  return success();
}

LogicalResult TakeGradOp::verify() {
  if (failed(checkPlaces(getLoc(), getDx(), getPlaces(), getOver())))
    return failure();
  return verifyGradient(*this, getDy(), shapeOf(getPlaces()));
}

//===----------------------------------------------------------------------===//
// GatherOp, ScatterAddOp
//===----------------------------------------------------------------------===//

/// The shape of the rows of x that `ids` selects along axis `over`.
static FailureOr<Shape> rowsOf(std::optional<Location> loc, StringRef op,
                               Value x, Value ids, int64_t over) {
  Shape shape = shapeOf(x), numbers = shapeOf(ids);
  op.consume_front("net.");
  if (failed(checkAxes(loc, op, over, shape.rank())))
    return failure();
  ArrayRef<Polynomial> sizes = shape.sizes;
  ArrayRef<Polynomial> shared = sizes.take_front(over);
  if (ArrayRef<Polynomial>(numbers.sizes).take_front(over) != shared)
    return emitOptionalError(loc, "`", op,
                             "` takes numbers of rows along axis ", over,
                             ", the axes before it must be those of the rows");
  numbers.sizes.append(sizes.begin() + over + 1, sizes.end());
  return numbers;
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor op,
                                         SmallVectorImpl<Type> &types) {
  FailureOr<Shape> rows =
      rowsOf(loc, getOperationName(), op.getX(), op.getIds(), op.getOver());
  if (failed(rows))
    return failure();
  return inferTensor(loc, getOperationName(), elementOf(op.getX()), *rows,
                     types);
}

SmallVector<AxisSource> GatherOp::getAxisSources(unsigned, unsigned axis) {
  unsigned over = getOver(), numbers = shapeOf(getIds()).rank();
  if (axis < over)
    return {AxisSource{0, axis}, AxisSource{1, axis}};
  if (axis < numbers)
    return {AxisSource{1, axis}};
  return {AxisSource{0, axis - numbers + over + 1}};
}

std::optional<Polynomial> GatherOp::getTouched(unsigned operand) {
  if (operand == 0)
    return shapeOf(getY()).elements();
  return std::nullopt;
}

Polynomial GatherOp::getIndexBound() { return shapeOf(getX())[getOver()]; }

LogicalResult GatherOp::buildGradient(Gradients &g) {
  Type type = tensorOf(elementOf(g.of(0)), shapeOf(getX()));
  Value zero = g.create<ConstantOp>(type, APFloat(0.0));
  g.set(0, g.create<ScatterAddOp>(zero, getIds(), g.of(0), getOver()));
  return success();
}

LogicalResult ScatterAddOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> loc,
                                             Adaptor op,
                                             SmallVectorImpl<Type> &types) {
  FailureOr<Shape> rows =
      rowsOf(loc, getOperationName(), op.getX(), op.getIds(), op.getOver());
  if (failed(rows) ||
      failed(checkSameShape(loc, getOperationName(), *rows, "by the numbers",
                            shapeOf(op.getValues()), "in the values")))
    return failure();
  types.push_back(op.getX().getType());
  return success();
}

Polynomial ScatterAddOp::getIndexBound() { return shapeOf(getX())[getOver()]; }

LogicalResult ScatterAddOp::buildGradient(Gradients &g) {
  if (g.wants(0))
    g.set(0, g.of(0));
  if (g.wants(2))
    g.set(2, g.create<GatherOp>(g.of(0), getIds(), getOver()));
  return success();
}

//===----------------------------------------------------------------------===//
// ArangeOp
//===----------------------------------------------------------------------===//

LogicalResult ArangeOp::verify() {
  if (size_t rank = shapeOf(getY()).rank(); rank != 1)
    return emitOpError() << "numbers one axis, its result has " << rank;
  return success();
}

//===----------------------------------------------------------------------===//
// DispatchOp, CollectOp
//===----------------------------------------------------------------------===//

/// The decimal number as it is written, such as 1.25, since a double may not
/// hold it exactly.
static std::optional<Rational> exactOf(const APFloat &value) {
  SmallString<32> text;
  value.toString(text, /*FormatPrecision=*/15);
  return Rational::parse(text);
}

LogicalResult DispatchOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> loc,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  Value x = adaptor.getX(), choices = adaptor.getChoices();
  Shape rows = shapeOf(x), chosen = shapeOf(choices);
  if (rows.rank() < 2)
    return emitOptionalError(loc,
                             "`dispatch` takes rows of features, its "
                             "operand has ",
                             rows.rank(), " axes");
  Shape wanted = rows;
  if (chosen.rank() == rows.rank())
    wanted.sizes.back() = chosen.sizes.back();
  if (failed(checkSameShape(loc, getOperationName(), wanted, "in the rows",
                            chosen, "in the choices")))
    return failure();
  std::optional<Rational> capacity = exactOf(adaptor.getCapacity());
  int64_t experts = adaptor.getExperts();
  if (experts < 1 || !capacity || !(*capacity > 0))
    return emitOptionalError(
        loc, "`dispatch` has ", experts, " experts of capacity ",
        adaptor.getCapacity().convertToDouble(), ", both must be positive");
  Polynomial size = (chosen.elements() * *capacity / experts).ceil();
  Shape slots({experts, size, rows.sizes.back()});
  if (failed(inferTensor(loc, getOperationName(), elementOf(x), slots, types)))
    return failure();
  types.push_back(numbersOf(choices, chosen));
  return success();
}

SmallVector<AxisSource> DispatchOp::getAxisSources(unsigned result,
                                                   unsigned axis) {
  if (result == 1)
    return {AxisSource{1, axis}};
  if (axis == 2)
    return {AxisSource{0, unsigned(getX().getType().getRank() - 1)}};
  return {};
}

// The gradient of a row is the sum of the gradients of its choices.
Polynomial DispatchOp::getIndexBound() { return getExperts(); }

LogicalResult DispatchOp::buildGradient(Gradients &gradients) {
  Value choices = gradients.create<CollectOp>(gradients.of(0), getPlaces());
  int64_t axis = getChoices().getType().getRank() - 1;
  gradients.set(0, gradients.create<SumOp>(choices, axis));
  return success();
}

/// Whether `places` come from a dispatch, directly or as the argument of a
/// loop. Then no two choices have the same slot.
static bool areDispatched(Value places) {
  Operation *op = places.getDefiningOp();
  if (!op)
    op = places.getParentBlock()->getParentOp();
  // Where sizes are checked, the op is not in the body of another op.
  return !op || isa<DispatchOp, ScanOp>(op);
}

/// The shape of the slots of experts that `places` select; fails with an error
/// for operands that do not fit.
static FailureOr<Shape> collectedShape(std::optional<Location> loc, Value slots,
                                       Value places) {
  Shape shape = shapeOf(places), from = shapeOf(slots);
  if (from.rank() != 3)
    return emitOptionalError(
        loc, "`collect` takes [experts, slots, features], its operand has ",
        from.rank(), " axes");
  if (!areDispatched(places))
    return emitOptionalError(loc,
                             "`collect` takes the places that `dispatch` made");
  if (auto dispatch = places.getDefiningOp<DispatchOp>()) {
    Shape made = shapeOf(dispatch.getSlots());
    if (made[0] != from[0] || made[1] != from[1])
      return emitOptionalError(loc, "`collect` takes the ", made[0].str(),
                               " x ", made[1].str(),
                               " slots that `dispatch` made, here are ",
                               from[0].str(), " x ", from[1].str());
  }
  shape.sizes.push_back(from[2]);
  return shape;
}

LogicalResult CollectOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  FailureOr<Shape> shape =
      collectedShape(loc, adaptor.getSlots(), adaptor.getPlaces());
  if (failed(shape))
    return failure();
  return inferTensor(loc, getOperationName(), elementOf(adaptor.getSlots()),
                     *shape, types);
}

SmallVector<AxisSource> CollectOp::getAxisSources(unsigned, unsigned axis) {
  if (axis + 1 == getY().getType().getRank())
    return {AxisSource{0, 2}};
  return {AxisSource{1, axis}};
}

std::optional<Polynomial> CollectOp::getTouched(unsigned operand) {
  if (operand == 0)
    return shapeOf(getY()).elements();
  return std::nullopt;
}

LogicalResult CollectOp::buildGradient(Gradients &gradients) {
  gradients.set(0, gradients.create<CollectGradOp>(
                       getSlots().getType(), gradients.of(0), getPlaces()));
  return success();
}

LogicalResult CollectGradOp::verify() {
  FailureOr<Shape> shape = collectedShape(getLoc(), getDslots(), getPlaces());
  if (failed(shape))
    return failure();
  return verifyGradient(*this, getDy(), *shape);
}

//===----------------------------------------------------------------------===//
// RelativePositionOp
//===----------------------------------------------------------------------===//

LogicalResult
RelativePositionOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                     Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  constexpr int64_t maxBuckets = 4096;
  Shape shape = shapeOf(adaptor.getX());
  if (shape.rank() < 2)
    return emitOptionalError(
        loc, "`relative_position` needs two axes, its operand has ",
        shape.rank());
  int64_t buckets = adaptor.getBuckets(), distance = adaptor.getDistance();
  int64_t least = adaptor.getCausal() ? 2 : 4;
  if (buckets < least || buckets > maxBuckets || buckets % 2 != 0)
    return emitOptionalError(loc, "`relative_position` has ", buckets,
                             " buckets, possible are even numbers from ", least,
                             " to ", maxBuckets);
  if (distance <= buckets / least)
    return emitOptionalError(loc, "`relative_position` reaches to distance ",
                             distance, ", of its buckets ", buckets / least,
                             " hold one distance each");
  Shape square({shape[shape.rank() - 2], shape[shape.rank() - 1]});
  types.push_back(numbersOf(adaptor.getX(), square));
  return success();
}

SmallVector<AxisSource> RelativePositionOp::getAxisSources(unsigned,
                                                           unsigned axis) {
  return {AxisSource{0, unsigned(getX().getType().getRank() - 2 + axis)}};
}

SmallVector<int64_t> RelativePositionOp::getThresholds() {
  int64_t buckets = getBucketsOfDirection(), exact = buckets / 2;
  SmallVector<int64_t> thresholds;
  for (int64_t bucket = 1; bucket < buckets; ++bucket) {
    double part = double(bucket - exact) / double(buckets - exact);
    double least = exact * std::pow(double(getDistance()) / exact, part);
    // Rounding errors must not raise a threshold that is an integer.
    thresholds.push_back(
        bucket <= exact ? bucket : int64_t(std::ceil(least - 1e-9 * least)));
  }
  return thresholds;
}
