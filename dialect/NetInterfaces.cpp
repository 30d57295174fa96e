// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/ElementName.h"
#include "dialect/Net.h"
#include "dialect/ReverseMode.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace netc;
using namespace mlir;

Cost &Cost::operator+=(const Cost &cost) {
  matmul += cost.matmul;
  other += cost.other;
  transcendental += cost.transcendental;
  return *this;
}

Cost Cost::operator*(const Polynomial &factor) const {
  return {matmul * factor, other * factor, transcendental * factor};
}

SmallVector<AxisSource> netc::sameAxis(Operation *op, unsigned result,
                                       unsigned axis) {
  auto rankOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getRank();
  };
  if (op->getNumOperands() == 0 ||
      rankOf(op->getResult(result)) != rankOf(op->getOperand(0)))
    return {};
  return {AxisSource{0, axis}};
}

void netc::flowThrough(Operation *op, function_ref<void(Value, Value)> flow) {
  for (Value operand : op->getOperands())
    for (Value result : op->getResults())
      flow(operand, result);
}

Value netc::beforeWidening(Value value) {
  auto convert = value.getDefiningOp<ConvertOp>();
  bool isWidened = convert && isFloat(convert.getX()) && isFloat(value) &&
                   elementOf(convert.getX()).getIntOrFloatBitWidth() <
                       elementOf(value).getIntOrFloatBitWidth();
  return isWidened ? beforeWidening(convert.getX()) : value;
}

Value netc::conversionOf(Value value, Type element) {
  for (Operation *user : value.getUsers())
    if (auto convert = dyn_cast<ConvertOp>(user);
        convert && elementOf(convert.getY()) == element &&
        convert->getBlock() == value.getParentBlock())
      return convert;
  return {};
}

Value netc::convertTo(OpBuilder &builder, Location loc, Value value,
                      Type element) {
  if (elementOf(value) == element)
    return value;
  value = beforeWidening(value);
  if (elementOf(value) == element)
    return value;
  if (Value made = conversionOf(value, element))
    return made;
  return builder.create<ConvertOp>(loc, tensorOf(element, shapeOf(value)),
                                   value);
}

Value Gradients::of(unsigned result) const {
  return block.of(op->getResult(result));
}

Value Gradients::ofProduct() {
  Value dy = of(0);
  auto format = op->getAttrOfType<TypeAttr>(kGradientFormat);
  return format ? convertTo(builder, op->getLoc(), dy, format.getValue()) : dy;
}

bool Gradients::wants(unsigned operand) const {
  return block.wants(op->getOperand(operand));
}

void Gradients::set(unsigned operand, Value gradient) {
  assert(wants(operand) && "a gradient that nobody wants");
  Value value = op->getOperand(operand);
  // The gradient of an 8-bit operand keeps the format of the product's
  // gradients.
  if (!is8BitFloat(value))
    gradient = convertTo(builder, op->getLoc(), gradient, elementOf(value));
  block.add(value, gradient);
}

LogicalResult netc::checkAxes(std::optional<Location> loc, StringRef op,
                              ArrayRef<int64_t> axes, size_t rank) {
  op.consume_front("net.");
  llvm::SmallBitVector seen(rank);
  for (int64_t axis : axes) {
    if (axis < 0 || size_t(axis) >= rank)
      return emitOptionalError(loc, "`", op, "` works over axis ", axis,
                               ", its operand has ", rank, " axes");
    if (seen.test(axis))
      return emitOptionalError(loc, "`", op, "` works over axis ", axis,
                               " twice");
    seen.set(axis);
  }
  return success();
}

LogicalResult netc::checkSameElement(std::optional<Location> loc, StringRef op,
                                     ValueRange operands) {
  op.consume_front("net.");
  for (Value operand : operands.drop_front())
    if (elementOf(operand) != elementOf(operands.front()))
      return emitOptionalError(loc, "`", op,
                               "` takes tensors of one element type, not of `",
                               elementName(elementOf(operands.front())),
                               "` and `", elementName(elementOf(operand)), "`");
  return success();
}

FailureOr<Type> netc::elementOfProduct(std::optional<Location> loc,
                                       StringRef op, ValueRange operands) {
  if (llvm::all_of(operands, is8BitFloat))
    return Type(BFloat16Type::get(operands.front().getContext()));
  if (failed(checkSameElement(loc, op, operands)))
    return failure();
  return elementOf(operands.front());
}

LogicalResult netc::checkSameShape(std::optional<Location> loc, StringRef op,
                                   const Shape &a, StringRef inA,
                                   const Shape &b, StringRef inB) {
  op.consume_front("net.");
  if (a.rank() != b.rank())
    return emitOptionalError(loc, "the tensors of `", op,
                             "` do not fit: ", a.rank(), " axes ", inA, ", ",
                             b.rank(), " ", inB);
  for (size_t axis = 0; axis < a.rank(); ++axis)
    if (a[axis] != b[axis])
      return emitOptionalError(
          loc, "the tensors of `", op, "` do not fit: axis ", axis, " is ",
          a[axis].str(), " ", inA, ", ", b[axis].str(), " ", inB);
  return success();
}

LogicalResult netc::inferTensor(std::optional<Location> loc, StringRef op,
                                Type element, const Shape &shape,
                                SmallVectorImpl<Type> &types) {
  op.consume_front("net.");
  if (shape.rank() > Shape::maxRank)
    return emitOptionalError(loc, "result of `", op, "` has ", shape.rank(),
                             " axes, at most ", Shape::maxRank,
                             " are possible");
  if (std::optional<size_t> axis = shape.invalidAxis())
    return emitOptionalError(loc, "axis ", *axis, " of the result of `", op,
                             "` has ", shape[*axis].str(),
                             " elements, possible are 1 to ", Shape::maxSize);
  types.push_back(tensorOf(element, shape));
  return success();
}

LogicalResult netc::inferSameShape(std::optional<Location> loc, StringRef op,
                                   ValueRange operands,
                                   SmallVectorImpl<Type> &types) {
  if (failed(checkSameElement(loc, op, operands)))
    return failure();
  for (Value operand : operands.drop_front())
    if (failed(checkSameShape(loc, op, shapeOf(operands.front()), "on the left",
                              shapeOf(operand), "on the right")))
      return failure();
  types.push_back(operands.front().getType());
  return success();
}

Type netc::widestOf(Type a, Type b) {
  if (a == b)
    return a;
  unsigned inA = a.getIntOrFloatBitWidth(), inB = b.getIntOrFloatBitWidth();
  return inA == inB ? Float32Type::get(a.getContext()) : inA > inB ? a : b;
}

LogicalResult netc::inferWidest(std::optional<Location> loc, StringRef op,
                                ValueRange operands,
                                SmallVectorImpl<Type> &types) {
  if (!llvm::all_of(operands, isFloat))
    return inferSameShape(loc, op, operands, types);
  Type widest = elementOf(operands.front());
  for (Value operand : operands.drop_front()) {
    if (failed(checkSameShape(loc, op, shapeOf(operands.front()), "on the left",
                              shapeOf(operand), "on the right")))
      return failure();
    widest = widestOf(widest, elementOf(operand));
  }
  types.push_back(tensorOf(widest, shapeOf(operands.front())));
  return success();
}

LogicalResult netc::inferAlong(std::optional<Location> loc, StringRef op,
                               ArrayRef<int64_t> axes, ValueRange operands,
                               SmallVectorImpl<Type> &types) {
  if (failed(checkAxes(loc, op, axes, shapeOf(operands.front()).rank())))
    return failure();
  return inferSameShape(loc, op, operands, types);
}

LogicalResult netc::verifyGradient(Operation *op, Value dy,
                                   const Shape &expected) {
  Type type = tensorOf(elementOf(op->getResult(0)), expected);
  if (dy.getType() != type)
    return op->emitOpError()
           << "takes a gradient " << type << ", it is given " << dy.getType();
  return success();
}

#include "dialect/NetInterfaces.cpp.inc"
