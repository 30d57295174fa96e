// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CONVERSION_ELEMENT_H
#define NETC_LIB_CONVERSION_ELEMENT_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace netc {

/// An element of a tensor in the payload of a linalg op, or a vector of them.
/// Operators build the arithmetic; a number takes the type of the other
/// operand.
struct Element {
  mlir::ImplicitLocOpBuilder *b;
  mlir::Value value;

  operator mlir::Value() const { return value; }
  mlir::Type type() const { return value.getType(); }

  template <typename OpTy> Element apply() const {
    return {b, b->create<OpTy>(value)};
  }
  template <typename OpTy> Element apply(Element other) const {
    return {b, b->create<OpTy>(value, other.value)};
  }
};

/// Whether elements of a type are bf16 or f16.
inline bool isFloat16(mlir::Type element) {
  return mlir::isa<mlir::FloatType>(element) &&
         element.getIntOrFloatBitWidth() == 16;
}

inline Element number(Element like, double value) {
  auto &b = *like.b;
  mlir::TypedAttr attr =
      b.getFloatAttr(mlir::getElementTypeOrSelf(like.type()), value);
  if (auto vector = mlir::dyn_cast<mlir::VectorType>(like.type()))
    attr = mlir::DenseElementsAttr::get(vector, mlir::Attribute(attr));
  return {&b, b.create<mlir::arith::ConstantOp>(attr)};
}

inline Element operator+(Element x, Element y) {
  return x.apply<mlir::arith::AddFOp>(y);
}
inline Element operator-(Element x, Element y) {
  return x.apply<mlir::arith::SubFOp>(y);
}
inline Element operator*(Element x, Element y) {
  return x.apply<mlir::arith::MulFOp>(y);
}
inline Element operator/(Element x, Element y) {
  return x.apply<mlir::arith::DivFOp>(y);
}
inline Element operator+(Element x, double y) { return x + number(x, y); }
inline Element operator*(Element x, double y) { return x * number(x, y); }
inline Element operator/(Element x, double y) { return x / number(x, y); }
inline Element operator-(double x, Element y) { return number(y, x) - y; }
inline Element operator/(double x, Element y) { return number(y, x) / y; }
inline Element operator-(Element x) { return x.apply<mlir::arith::NegFOp>(); }
inline Element exp(Element x) { return x.apply<mlir::math::ExpOp>(); }
inline Element log(Element x) { return x.apply<mlir::math::LogOp>(); }
inline Element sqrt(Element x) { return x.apply<mlir::math::SqrtOp>(); }
inline Element max(Element x, Element y) {
  return x.apply<mlir::arith::MaximumFOp>(y);
}
inline Element min(Element x, Element y) {
  return x.apply<mlir::arith::MinimumFOp>(y);
}

/// Comparisons and selects. Only comparisons of floats count as FLOP.
inline Element operator>(Element x, Element y) {
  auto &b = *x.b;
  return {&b, b.create<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::OGT,
                                            x.value, y.value)};
}
inline Element select(Element condition, Element yes, Element no) {
  auto &b = *condition.b;
  return {&b, b.create<mlir::arith::SelectOp>(condition, yes, no)};
}

} // namespace netc

#endif // NETC_LIB_CONVERSION_ELEMENT_H
