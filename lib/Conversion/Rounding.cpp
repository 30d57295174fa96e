// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Conversion/Rounding.h"

#include "lib/Conversion/LinalgBuilder.h"

#include <cmath>
#include <limits>

using namespace netc;
using namespace mlir;

static Element uncounted(Element x) {
  x.value.getDefiningOp()->setAttr(kUncounted, x.b->getUnitAttr());
  return x;
}

static Element compare(arith::CmpFPredicate predicate, Element x, Element y) {
  return uncounted(
      {x.b, x.b->create<arith::CmpFOp>(predicate, x.value, y.value)});
}

static unsigned mantissaOf(FloatType type) {
  return type.getFPMantissaWidth() - 1; // without the leading one
}

/// Of a normal number that stays one: the mantissa loses its last bits.
static Element roundMantissa(Element x, unsigned lost) {
  ImplicitLocOpBuilder &b = *x.b;
  Type bits = b.getIntegerType(x.type().getIntOrFloatBitWidth());
  auto number = [&](uint64_t value) -> Element {
    return {&b, b.create<arith::ConstantOp>(b.getIntegerAttr(bits, value))};
  };
  uint64_t below = (uint64_t(1) << lost) - 1;
  Element all{&b, b.create<arith::BitcastOp>(bits, x.value)};
  Element isOdd =
      all.apply<arith::ShRUIOp>(number(lost)).apply<arith::AndIOp>(number(1));
  Element up = all.apply<arith::AddIOp>(number(below / 2))
                   .apply<arith::AddIOp>(isOdd)
                   .apply<arith::AndIOp>(number(~below));
  return {&b, b.create<arith::BitcastOp>(x.type(), up.value)};
}

Element netc::rounded(Element x, FloatType format) {
  auto from = cast<FloatType>(x.type());
  const llvm::fltSemantics &semantics = format.getFloatSemantics();
  Element y = roundMantissa(x, mantissaOf(from) - mantissaOf(format));
  bool hasExponents =
      llvm::APFloat::semanticsMinExponent(semantics) ==
      llvm::APFloat::semanticsMinExponent(from.getFloatSemantics());
  if (!hasExponents) {
    double least =
        llvm::APFloat::getSmallestNormalized(semantics).convertToDouble();
    double largest = llvm::APFloat::getLargest(semantics).convertToDouble();
    double unit = std::ldexp(least, -int(mantissaOf(format)));
    // Below the normal numbers, the format has multiples of the smallest one.
    Element scaled = uncounted(x * (1 / unit));
    Element whole = uncounted(scaled.apply<math::RoundEvenOp>());
    Element small = uncounted(whole * unit);
    Element size = uncounted(x.apply<math::AbsFOp>());
    y = select(compare(arith::CmpFPredicate::OLT, size, number(x, least)),
               small, y);
    double infinity = std::numeric_limits<double>::infinity();
    auto beyond = [&](arith::CmpFPredicate predicate, double sign) {
      y = select(compare(predicate, y, number(x, sign * largest)),
                 number(x, sign * infinity), y);
    };
    beyond(arith::CmpFPredicate::OGT, 1);
    beyond(arith::CmpFPredicate::OLT, -1);
  }
  // What is no number has any mantissa, and stays.
  return select(compare(arith::CmpFPredicate::UNO, x, x), x, y);
}
