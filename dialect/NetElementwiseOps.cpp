// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops that work on each element by itself. Activations and their gradients are
// defined in the ODS file alone.

#include "dialect/Net.h"

using namespace netc;
using namespace mlir;

static Value constant(Gradients &g, Value like, const APFloat &value) {
  return g.create<ConstantOp>(like.getType(), value);
}

//===----------------------------------------------------------------------===//
// Functions of one tensor
//===----------------------------------------------------------------------===//

LogicalResult LeakyReluOp::buildGradient(Gradients &g) {
  g.set(0, g.create<LeakyReluGradOp>(g.of(0), getX(), getSlope()));
  return success();
}

// The gradient tells from the sign of the result whether x is below zero. It
// can do so only if alpha is not negative.
LogicalResult EluOp::verify() {
  if (getAlpha().isNegative())
    return emitError() << "`elu` has alpha " << getAlpha().convertToDouble()
                       << ", it must not be negative";
  return success();
}

LogicalResult EluOp::buildGradient(Gradients &g) {
  g.set(0, g.create<EluGradOp>(g.of(0), getY(), getAlpha()));
  return success();
}

// With a negative lambda, an element could become zero from the outside.
LogicalResult SoftshrinkOp::verify() {
  if (getLambda().isNegative())
    return emitError() << "`softshrink` has lambda "
                       << getLambda().convertToDouble()
                       << ", it must not be negative";
  return success();
}

// The result is zero exactly where it does not follow the operand.
LogicalResult SoftshrinkOp::buildGradient(Gradients &g) {
  Value zero = constant(g, getY(), APFloat(0.0));
  Value follows = g.create<CompareOp>(getY(), zero, "!=");
  g.set(0, g.create<WhereOp>(follows, g.of(0), zero));
  return success();
}

LogicalResult NegOp::buildGradient(Gradients &g) {
  g.set(0, g.create<NegOp>(g.of(0)));
  return success();
}

LogicalResult ExpOp::buildGradient(Gradients &g) {
  g.set(0, g.create<MulOp>(g.of(0), getY()));
  return success();
}

LogicalResult LogOp::buildGradient(Gradients &g) {
  g.set(0, g.create<DivOp>(g.of(0), getX()));
  return success();
}

LogicalResult SqrtOp::buildGradient(Gradients &g) {
  Value twice = g.create<AddOp>(getY(), getY());
  g.set(0, g.create<DivOp>(g.of(0), twice));
  return success();
}

LogicalResult SinOp::buildGradient(Gradients &g) {
  g.set(0, g.create<MulOp>(g.of(0), g.create<CosOp>(getX())));
  return success();
}

LogicalResult CosOp::buildGradient(Gradients &g) {
  Value slope = g.create<NegOp>(g.create<SinOp>(getX()));
  g.set(0, g.create<MulOp>(g.of(0), slope));
  return success();
}

LogicalResult AbsOp::buildGradient(Gradients &g) {
  Value sign = g.create<SignOp>(getX());
  g.set(0, g.create<MulOp>(g.of(0), sign));
  return success();
}

LogicalResult SignOp::buildGradient(Gradients &g) {
  g.set(0, constant(g, getX(), APFloat(0.0)));
  return success();
}

std::optional<int64_t> PowerOp::getMultiplications() {
  for (int64_t exponent : {1, 2, 3, 4})
    if (getExponent().isExactlyValue(exponent))
      return exponent - 1;
  return std::nullopt;
}

LogicalResult PowerOp::buildGradient(Gradients &g) {
  APFloat exponent = getExponent(), one(1.0);
  if (exponent.isZero()) {
    g.set(0, constant(g, getX(), exponent));
    return success();
  }
  if (exponent == one) {
    g.set(0, g.of(0));
    return success();
  }
  Value power = getX();
  if (APFloat lower = exponent - one; lower != one)
    power = g.create<PowerOp>(power, lower);
  Value slope = g.create<MulOp>(constant(g, getX(), exponent), power);
  g.set(0, g.create<MulOp>(g.of(0), slope));
  return success();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

LogicalResult AddOp::buildGradient(Gradients &g) {
  for (unsigned operand : {0, 1})
    if (g.wants(operand))
      g.set(operand, g.of(0));
  return success();
}

LogicalResult SubOp::buildGradient(Gradients &g) {
  if (g.wants(0))
    g.set(0, g.of(0));
  if (g.wants(1))
    g.set(1, g.create<NegOp>(g.of(0)));
  return success();
}

LogicalResult MulOp::buildGradient(Gradients &g) {
  if (g.wants(0))
    g.set(0, g.create<MulOp>(g.of(0), getB()));
  if (g.wants(1))
    g.set(1, g.create<MulOp>(g.of(0), getA()));
  return success();
}

LogicalResult DivOp::buildGradient(Gradients &g) {
  // The gradient of `1 / x` needs only the result.
  if (auto number = getA().getDefiningOp<ConstantOp>();
      number && number.getValue().isExactlyValue(1.0)) {
    Value product = g.create<MulOp>(g.of(0), getY());
    g.set(1, g.create<NegOp>(g.create<MulOp>(product, getY())));
    return success();
  }
  Value quotient = g.create<DivOp>(g.of(0), getB());
  if (g.wants(0))
    g.set(0, quotient);
  if (g.wants(1)) {
    Value product = g.create<MulOp>(quotient, getY());
    g.set(1, g.create<NegOp>(product));
  }
  return success();
}

/// Passes the gradient to operand `first` where the condition holds, and to the
/// next operand elsewhere.
static LogicalResult giveToChosen(Gradients &g, Value condition, Value y,
                                  unsigned first) {
  Value zero = constant(g, y, APFloat(0.0));
  if (g.wants(first))
    g.set(first, g.create<WhereOp>(condition, g.of(0), zero));
  if (g.wants(first + 1))
    g.set(first + 1, g.create<WhereOp>(condition, zero, g.of(0)));
  return success();
}

LogicalResult MinimumOp::buildGradient(Gradients &g) {
  Value isA = g.create<CompareOp>(getA(), getB(), "<=");
  return giveToChosen(g, isA, getY(), 0);
}

LogicalResult MaximumOp::buildGradient(Gradients &g) {
  Value isA = g.create<CompareOp>(getA(), getB(), ">=");
  return giveToChosen(g, isA, getY(), 0);
}

//===----------------------------------------------------------------------===//
// CompareOp, WhereOp
//===----------------------------------------------------------------------===//

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          Adaptor op,
                                          SmallVectorImpl<Type> &types) {
  static constexpr StringLiteral relations[] = {"<",  "<=", ">",
                                                ">=", "==", "!="};
  if (!llvm::is_contained(relations, op.getRelation()))
    return emitOptionalError(loc, "`compare` has relation `", op.getRelation(),
                             "`, it must be <, <=, >, >=, == or !=");
  if (failed(inferWidest(loc, getOperationName(), op.getOperands(), types)))
    return failure();
  types.back() =
      tensorOf(IntegerType::get(context, 1), shapeOf(op.getOperands()[0]));
  return success();
}

LogicalResult WhereOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> loc, Adaptor op,
                                        SmallVectorImpl<Type> &types) {
  if (failed(
          inferWidest(loc, getOperationName(), {op.getA(), op.getB()}, types)))
    return failure();
  return checkSameShape(loc, getOperationName(), shapeOf(op.getCondition()),
                        "in the condition", shapeOf(op.getA()),
                        "in what is chosen from");
}

LogicalResult WhereOp::buildGradient(Gradients &g) {
  return giveToChosen(g, getCondition(), getY(), 1);
}

//===----------------------------------------------------------------------===//
// MaskOp
//===----------------------------------------------------------------------===//

LogicalResult MaskOp::verify() {
  size_t rank = shapeOf(getX()).rank();
  if (!isFree() && rank < 2)
    return emitOpError() << "needs two axes, its operand has " << rank;
  if (int64_t(getWindow()) < 0)
    return emitOpError() << "has a window of " << int64_t(getWindow())
                         << " places";
  return success();
}

OpFoldResult MaskOp::fold(FoldAdaptor) {
  return isFree() ? OpFoldResult(getX()) : OpFoldResult();
}

LogicalResult MaskOp::buildGradient(Gradients &g) {
  g.set(0, g.create<MaskOp>(g.of(0), getCausal(), APFloat(0.0), getWindow()));
  return success();
}

//===----------------------------------------------------------------------===//
// ConvertOp
//===----------------------------------------------------------------------===//

LogicalResult ConvertOp::verify() {
  if (shapeOf(getX()) != shapeOf(getY()))
    return emitOpError() << "changes the shape from " << getX().getType()
                         << " to " << getY().getType();
  return success();
}

/// Whether `wide` represents every value of `narrow` exactly.
static bool holds(Type wide, Type narrow) {
  auto a = dyn_cast<FloatType>(wide), b = dyn_cast<FloatType>(narrow);
  return a && b && a.getWidth() >= 2 * b.getWidth();
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  auto before = getX().getDefiningOp<ConvertOp>();
  bool isBack = before && before.getX().getType() == getType() &&
                holds(elementOf(getX()), elementOf(getY()));
  return isBack ? OpFoldResult(before.getX()) : OpFoldResult();
}

LogicalResult ConvertOp::buildGradient(Gradients &g) {
  g.set(0, g.of(0));
  return success();
}

//===----------------------------------------------------------------------===//
// DropoutOp
//===----------------------------------------------------------------------===//

/// The type of the mask of `x`. It has the axes `over` of `x`.
static RankedTensorType maskOf(Value x, ArrayRef<int64_t> over) {
  Shape shape = shapeOf(x), mask;
  for (int64_t axis : over)
    mask.sizes.push_back(shape[axis]);
  return tensorOf(IntegerType::get(x.getContext(), 1), mask);
}

LogicalResult DropoutOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          Adaptor op,
                                          SmallVectorImpl<Type> &types) {
  double p = op.getP().convertToDouble();
  if (!(p >= 0 && p < 1))
    return emitOptionalError(loc, "`dropout` has probability ", p,
                             ", it must be at least 0 and below 1");
  if (failed(checkAxes(loc, getOperationName(), op.getOver(),
                       shapeOf(op.getX()).rank())))
    return failure();
  types.assign({op.getX().getType(), maskOf(op.getX(), op.getOver())});
  return success();
}

LogicalResult DropoutOp::buildGradient(Gradients &g) {
  g.set(0, g.create<DropoutGradOp>(g.of(0), getMask(), getP(), getOver()));
  return success();
}

LogicalResult DropoutGradOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location> loc,
                                              Adaptor op,
                                              SmallVectorImpl<Type> &types) {
  if (failed(checkAxes(loc, getOperationName(), op.getOver(),
                       shapeOf(op.getDy()).rank())))
    return failure();
  Type mask = maskOf(op.getDy(), op.getOver());
  if (op.getMask().getType() != mask)
    return emitOptionalError(loc, "`dropout_grad` takes a mask ", mask,
                             ", it is given ", op.getMask().getType());
  types.push_back(op.getDy().getType());
  return success();
}
