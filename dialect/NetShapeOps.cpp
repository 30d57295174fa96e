// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops that move elements and compute nothing.

#include "dialect/Net.h"

using namespace netc;
using namespace mlir;

static bool isNegative(const Polynomial &value) {
  std::optional<Rational> constant = value.constant();
  return constant && constant->isNegative();
}

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  if (failed(checkSameElement(getLoc(), getOperationName(), {getX(), getY()})))
    return failure();
  Polynomial elements = shapeOf(getX()).elements();
  Polynomial wanted = shapeOf(getY()).elements();
  // Two products that overflow compare equal, so check for overflow too.
  if (elements != wanted || !elements.isValid())
    return emitError() << "cannot reshape: the tensor has " << elements.str()
                       << " elements, the new shape " << wanted.str();
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  return {};
}

LogicalResult ReshapeOp::buildGradient(Gradients &gradients) {
  gradients.set(0,
                gradients.create<ReshapeOp>(getX().getType(), gradients.of(0)));
  return success();
}

//===----------------------------------------------------------------------===//
// BroadcastOp
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  Shape from = shapeOf(getX()), to = shapeOf(getY());
  if (failed(
          checkSameElement(getLoc(), getOperationName(), {getX(), getY()})) ||
      failed(checkAxes(getLoc(), getOperationName(), getAxes(), to.rank())))
    return failure();
  if (getAxes().size() != from.rank())
    return emitError() << "cannot broadcast: " << getAxes().size()
                       << " places for " << from.rank() << " axes";
  if (!llvm::is_sorted(getAxes()))
    return emitError() << "cannot broadcast: the axes must keep their order";
  for (auto [axis, place] : llvm::enumerate(getAxes()))
    if (from[axis] != to[place])
      return emitError() << "cannot broadcast: axis " << axis << " is "
                         << from[axis].str() << ", axis " << place
                         << " of the result " << to[place].str();
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getX().getType() == getType() ? getX() : OpFoldResult();
}

LogicalResult BroadcastOp::buildGradient(Gradients &gradients) {
  SmallVector<int64_t> added;
  for (int64_t axis = 0; axis < getY().getType().getRank(); ++axis)
    if (!llvm::is_contained(getAxes(), axis))
      added.push_back(axis);
  gradients.set(0, gradients.create<SumOp>(gradients.of(0), added));
  return success();
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

/// The whole permutation. An empty list swaps the last two axes.
static SmallVector<int64_t> permutationOf(ArrayRef<int64_t> order,
                                          size_t rank) {
  if (!order.empty() || rank < 2)
    return SmallVector<int64_t>(order);
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(all[rank - 2], all[rank - 1]);
  return all;
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  Shape shape = shapeOf(adaptor.getX()), result;
  SmallVector<int64_t> order = permutationOf(adaptor.getOrder(), shape.rank());
  if (order.size() != shape.rank())
    return emitOptionalError(loc, "cannot transpose: `order` lists ",
                             order.size(), " axes, the tensor has ",
                             shape.rank());
  if (failed(checkAxes(loc, getOperationName(), order, shape.rank())))
    return failure();
  for (int64_t axis : order)
    result.sizes.push_back(shape[axis]);
  return inferTensor(loc, getOperationName(), elementOf(adaptor.getX()), result,
                     types);
}

SmallVector<int64_t> TransposeOp::getPermutation() {
  return permutationOf(getOrder(), getX().getType().getRank());
}

SmallVector<AxisSource> TransposeOp::getAxisSources(unsigned, unsigned axis) {
  return {AxisSource{0, unsigned(getPermutation()[axis])}};
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  SmallVector<int64_t> order = getPermutation();
  if (llvm::is_sorted(order))
    return getX();
  if (auto inner = getX().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> innerOrder = inner.getPermutation();
    for (int64_t &axis : order)
      axis = innerOrder[axis];
    setOrder(order);
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return {};
}

LogicalResult TransposeOp::buildGradient(Gradients &gradients) {
  SmallVector<int64_t> order = getPermutation(), inverse(order.size());
  for (auto [place, axis] : llvm::enumerate(order))
    inverse[axis] = place;
  gradients.set(0, gradients.create<TransposeOp>(gradients.of(0), inverse));
  return success();
}

//===----------------------------------------------------------------------===//
// ConcatOp
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  ValueRange xs = adaptor.getXs();
  if (xs.empty())
    return emitOptionalError(loc, "cannot concat: no tensors");
  Shape shape = shapeOf(xs.front());
  int64_t over = adaptor.getOver();
  if (failed(checkAxes(loc, getOperationName(), over, shape.rank())) ||
      failed(checkSameElement(loc, getOperationName(), xs)))
    return failure();
  Polynomial sum;
  for (Value x : xs) {
    Shape other = shapeOf(x);
    if (other.rank() == shape.rank())
      shape[over] = other[over];
    if (failed(checkSameShape(loc, getOperationName(), shape, "in one tensor",
                              other, "in another")))
      return failure();
    sum += other[over];
  }
  shape[over] = sum;
  return inferTensor(loc, getOperationName(), elementOf(xs.front()), shape,
                     types);
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getXs().size() == 1 ? getXs().front() : OpFoldResult();
}

LogicalResult ConcatOp::buildGradient(Gradients &gradients) {
  Polynomial start;
  for (auto [i, x] : llvm::enumerate(getXs())) {
    if (gradients.wants(i))
      gradients.set(i, gradients.create<SliceOp>(
                           x.getType(), gradients.of(0), getOverAttr(),
                           PolynomialAttr::get(getContext(), start)));
    start += shapeOf(x)[getOver()];
  }
  return success();
}

//===----------------------------------------------------------------------===//
// StackOp
//===----------------------------------------------------------------------===//

LogicalResult StackOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  ValueRange xs = adaptor.getXs();
  if (xs.empty())
    return emitOptionalError(loc, "cannot stack: no tensors");
  if (failed(checkSameElement(loc, getOperationName(), xs)))
    return failure();
  Shape shape = shapeOf(xs.front());
  for (Value x : xs.drop_front())
    if (failed(checkSameShape(loc, getOperationName(), shape, "in one tensor",
                              shapeOf(x), "in another")))
      return failure();
  shape.sizes.insert(shape.sizes.begin() + (shape.rank() ? 1 : 0), xs.size());
  return inferTensor(loc, getOperationName(), elementOf(xs.front()), shape,
                     types);
}

SmallVector<AxisSource> StackOp::getAxisSources(unsigned, unsigned axis) {
  if (axis == getAxis())
    return {};
  return {AxisSource{0, axis < getAxis() ? axis : axis - 1}};
}

LogicalResult StackOp::buildGradient(Gradients &gradients) {
  Shape layer = shapeOf(getY());
  layer[getAxis()] = 1;
  Type layerType = tensorOf(elementOf(getY()), layer);
  for (auto [i, x] : llvm::enumerate(getXs())) {
    if (!gradients.wants(i))
      continue;
    Value dx = gradients.create<SliceOp>(
        layerType, gradients.of(0), getAxis(),
        PolynomialAttr::get(getContext(), Polynomial(i)));
    gradients.set(i, gradients.create<ReshapeOp>(x.getType(), dx));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// SplitOp
//===----------------------------------------------------------------------===//

LogicalResult SplitOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  // Each part is a value: without a limit, one number could ask for any amount
  // of memory.
  constexpr int64_t maxParts = 65536;
  Shape shape = shapeOf(adaptor.getX());
  int64_t over = adaptor.getOver();
  if (failed(checkAxes(loc, getOperationName(), over, shape.rank())))
    return failure();
  Polynomial size = shape[over];
  SmallVector<Polynomial> parts(adaptor.getParts());
  if (parts.size() == 1) {
    int64_t count = adaptor.getParts().front();
    if (count < 1 || count > maxParts)
      return emitOptionalError(loc, "cannot split into ", count,
                               " parts, possible are 1 to ", maxParts);
    std::optional<Polynomial> part = size.floorDivide(count);
    if (!part || *part * count != size)
      return emitOptionalError(loc, "cannot split: axis ", over, " is ",
                               size.str(), ", which has no ", count,
                               " equal parts");
    parts.assign(count, *part);
  }
  Polynomial sum;
  for (const Polynomial &part : parts)
    sum += part;
  if (sum != size)
    return emitOptionalError(loc, "cannot split: the parts add up to ",
                             sum.str(), ", axis ", over, " is ", size.str());
  for (const Polynomial &part : parts) {
    shape[over] = part;
    if (failed(inferTensor(loc, getOperationName(), elementOf(adaptor.getX()),
                           shape, types)))
      return failure();
  }
  return success();
}

LogicalResult SplitOp::buildGradient(Gradients &gradients) {
  SmallVector<Value> parts;
  for (auto [i, y] : llvm::enumerate(getYs())) {
    Value dy = gradients.of(i);
    if (!dy)
      dy = gradients.create<ConstantOp>(y.getType(), llvm::APFloat(0.0));
    parts.push_back(dy);
  }
  gradients.set(0, gradients.create<ConcatOp>(parts, getOver()));
  return success();
}

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

/// Whether `part` fits into `whole` from `start` on, along `axis`. Accepts what
/// depends on a free axis.
static LogicalResult verifySlice(Operation *op, Value whole, Value part,
                                 int64_t axis, const Polynomial &start) {
  Location loc = op->getLoc();
  StringRef name = op->getName().getStringRef();
  Shape from = shapeOf(whole), to = shapeOf(part);
  if (failed(checkAxes(loc, name, axis, from.rank())) ||
      failed(checkSameElement(loc, name, {whole, part})))
    return failure();
  Polynomial size = from[axis];
  if (to.rank() == from.rank())
    from[axis] = to[axis];
  if (failed(
          checkSameShape(loc, name, from, "in the whole", to, "in the slice")))
    return failure();
  std::optional<Rational> fixed = start.constant();
  if (!start.isValid() || (fixed && !fixed->isInteger()) || isNegative(start) ||
      isNegative(size - start - to[axis]))
    return op->emitError() << "cannot slice: positions " << start.str()
                           << " to " << (start + to[axis]).str() << " of axis "
                           << axis << ", which is " << size.str();
  return success();
}

LogicalResult SliceOp::verify() {
  return verifySlice(*this, getX(), getY(), getAxis(), getStart().getValue());
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  return getX().getType() == getType() ? getX() : OpFoldResult();
}

LogicalResult SliceOp::buildGradient(Gradients &gradients) {
  gradients.set(0,
                gradients.create<SliceGradOp>(getX().getType(), gradients.of(0),
                                              getAxisAttr(), getStartAttr()));
  return success();
}

LogicalResult SliceGradOp::verify() {
  return verifySlice(*this, getDx(), getDy(), getAxis(), getStart().getValue());
}

//===----------------------------------------------------------------------===//
// PadOp
//===----------------------------------------------------------------------===//

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  Shape shape = shapeOf(adaptor.getX());
  int64_t over = adaptor.getOver(), low = adaptor.getLow(),
          high = adaptor.getHigh();
  if (failed(checkAxes(loc, getOperationName(), over, shape.rank())))
    return failure();
  if (low < 0 || high < 0)
    return emitOptionalError(loc, "cannot pad by ", std::min(low, high));
  shape[over] += Polynomial(low) + high;
  return inferTensor(loc, getOperationName(), elementOf(adaptor.getX()), shape,
                     types);
}

LogicalResult PadOp::buildGradient(Gradients &gradients) {
  Polynomial low = int64_t(getLow());
  gradients.set(0, gradients.create<SliceOp>(
                       getX().getType(), gradients.of(0), getOverAttr(),
                       PolynomialAttr::get(getContext(), low)));
  return success();
}

//===----------------------------------------------------------------------===//
// ReverseOp, ShiftOp
//===----------------------------------------------------------------------===//

LogicalResult ReverseOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferAlong(loc, getOperationName(), adaptor.getOver(),
                    adaptor.getOperands(), types);
}

LogicalResult ReverseOp::buildGradient(Gradients &gradients) {
  gradients.set(0, gradients.create<ReverseOp>(gradients.of(0), getOver()));
  return success();
}

LogicalResult ShiftOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  Shape shape = shapeOf(adaptor.getX());
  int64_t over = adaptor.getOver(), by = adaptor.getBy();
  if (failed(checkAxes(loc, getOperationName(), over, shape.rank())))
    return failure();
  if (by < 0 || isNegative(shape[over] - by))
    return emitOptionalError(loc, "cannot shift by ", by, ": axis ", over,
                             " is ", shape[over].str());
  types.push_back(adaptor.getX().getType());
  return success();
}

//===----------------------------------------------------------------------===//
// UnfoldOp
//===----------------------------------------------------------------------===//

LogicalResult UnfoldOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor op,
                                         SmallVectorImpl<Type> &types) {
  Shape shape = shapeOf(op.getX());
  int64_t over = op.getOver();
  if (failed(checkAxes(loc, getOperationName(), over, shape.rank())))
    return failure();
  shape.sizes.insert(shape.sizes.begin() + over + 1, op.getSize().getValue());
  return inferTensor(loc, getOperationName(), elementOf(op.getX()), shape,
                     types);
}

SmallVector<AxisSource> UnfoldOp::getAxisSources(unsigned, unsigned axis) {
  if (axis == getOver() + 1)
    return {};
  return {AxisSource{0, axis <= getOver() ? axis : axis - 1}};
}

LogicalResult UnfoldOp::buildGradient(Gradients &g) {
  g.set(0, g.create<UnfoldGradOp>(getX().getType(), g.of(0), getOverAttr()));
  return success();
}

LogicalResult UnfoldGradOp::verify() {
  Shape shape = shapeOf(getDy());
  if (getOver() + 1 >= shape.rank())
    return emitOpError() << "adds up axis " << getOver() + 1
                         << ", its operand has " << shape.rank() << " axes";
  shape.sizes.erase(shape.sizes.begin() + getOver() + 1);
  return checkSameShape(getLoc(), "unfold_grad", shape, "without the windows",
                        shapeOf(getDx()), "in the result");
}

//===----------------------------------------------------------------------===//
// LowerTriangleOp
//===----------------------------------------------------------------------===//

static LogicalResult inferTriangle(std::optional<Location> loc, StringRef op,
                                   Value square, SmallVectorImpl<Type> &types) {
  Shape shape = shapeOf(square);
  size_t rank = shape.rank();
  if (rank < 2 || shape[rank - 2] != shape[rank - 1])
    return emitOptionalError(
        loc, "a triangle needs two equal axes at the end, the tensor has ",
        rank < 2 ? Twine(rank).str()
                 : shape[rank - 2].str() + " and " + shape[rank - 1].str());
  Polynomial side = shape.sizes.pop_back_val();
  shape.sizes.back() = side * (side - 1) / 2;
  return inferTensor(loc, op, elementOf(square), shape, types);
}

LogicalResult LowerTriangleOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location> loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  return inferTriangle(loc, getOperationName(), adaptor.getX(), types);
}

SmallVector<AxisSource> LowerTriangleOp::getAxisSources(unsigned,
                                                        unsigned axis) {
  if (axis + 1 == getY().getType().getRank())
    return {};
  return {AxisSource{0, axis}};
}

LogicalResult LowerTriangleOp::buildGradient(Gradients &gradients) {
  gradients.set(0, gradients.create<LowerTriangleGradOp>(getX().getType(),
                                                         gradients.of(0)));
  return success();
}

LogicalResult LowerTriangleGradOp::verify() {
  SmallVector<Type> types;
  if (failed(inferTriangle(getLoc(), getOperationName(), getDx(), types)))
    return failure();
  return verifyGradient(*this, getDy(), shapeOf(types.front()));
}
