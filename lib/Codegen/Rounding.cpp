// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/Rounding.h"

#include "mlir/IR/BuiltinTypes.h"

#include <cmath>
#include <limits>

using namespace netc;
using namespace mlir;

/// `type` with another element type, as a vector if it is one.
static Type withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.clone(element) : element;
}

/// An integer constant of the type of `like`; a splat if that is a vector.
static Element integer(Element like, uint64_t value) {
  TypedAttr attr =
      like.b->getIntegerAttr(getElementTypeOrSelf(like.type()), int64_t(value));
  if (auto vector = dyn_cast<VectorType>(like.type()))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return {like.b, like.b->create<arith::ConstantOp>(attr)};
}

template <typename OpTy> static Element convert(Element x, Type element) {
  return {x.b, x.b->create<OpTy>(withElement(x.type(), element), x.value)};
}

static Element compare(arith::CmpFPredicate predicate, Element x, Element y) {
  return {x.b, x.b->create<arith::CmpFOp>(predicate, x.value, y.value)};
}

static unsigned mantissaOf(FloatType type) {
  return type.getFPMantissaWidth() - 1; // the leading bit is implicit
}

/// Rounds a normal number to `lost` fewer bits of the mantissa, to nearest,
/// ties to even. The result must be normal, too.
static Element roundMantissa(Element x, unsigned lost) {
  ImplicitLocOpBuilder &b = *x.b;
  unsigned width = getElementTypeOrSelf(x.type()).getIntOrFloatBitWidth();
  uint64_t below = (uint64_t(1) << lost) - 1;
  Element all = convert<arith::BitcastOp>(x, b.getIntegerType(width));
  Element isOdd = all.apply<arith::ShRUIOp>(integer(all, lost))
                      .apply<arith::AndIOp>(integer(all, 1));
  Element up = all.apply<arith::AddIOp>(integer(all, below / 2))
                   .apply<arith::AddIOp>(isOdd)
                   .apply<arith::AndIOp>(integer(all, ~below));
  return {&b, b.create<arith::BitcastOp>(x.type(), up.value)};
}

/// The value of `format` nearest to x, in x's type.
static Element nearest(Element x, FloatType format) {
  auto from = cast<FloatType>(getElementTypeOrSelf(x.type()));
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
    // The subnormals of `format` are the multiples of its smallest one.
    Element small = (x * (1 / unit)).apply<math::RoundEvenOp>() * unit;
    Element size = x.apply<math::AbsFOp>();
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
  // NaN stays as it is.
  return select(compare(arith::CmpFPredicate::UNO, x, x), x, y);
}

/// An f16 whose bits are read as those of an f32 is this many times too small:
/// the exponent biases are 15 and 127.
static constexpr double kHalfScale = 0x1p112;
/// The exponent bits of infinity and NaN in f32.
static constexpr uint32_t kExponentBits = 0x7f800000;

static Element isFinite(Element x) {
  Element size = x.apply<math::AbsFOp>();
  Element infinity = number(x, std::numeric_limits<double>::infinity());
  return {x.b, x.b->create<arith::CmpFOp>(arith::CmpFPredicate::OLT, size,
                                          infinity)};
}

/// The f32 with the value of an f16, given by its bits.
static Element widenHalf(Element bits) {
  ImplicitLocOpBuilder &b = *bits.b;
  Element wide = convert<arith::ExtUIOp>(bits, b.getI32Type());
  auto shifted = [&](uint32_t mask, uint32_t by) {
    return wide.apply<arith::AndIOp>(integer(wide, mask))
        .apply<arith::ShLIOp>(integer(wide, by));
  };
  Element size = shifted(0x7fff, 13), sign = shifted(0x8000, 16);
  Element scaled = convert<arith::BitcastOp>(size, b.getF32Type());
  scaled = convert<arith::BitcastOp>(scaled * kHalfScale, b.getI32Type());
  Element isNone{&b, b.create<arith::CmpIOp>(arith::CmpIPredicate::uge, size,
                                             integer(size, 0x7c00 << 13))};
  size = select(isNone, size.apply<arith::OrIOp>(integer(size, kExponentBits)),
                scaled);
  return convert<arith::BitcastOp>(size.apply<arith::OrIOp>(sign),
                                   b.getF32Type());
}

/// The bits of x as an f16, which must represent x exactly.
static Value narrowHalf(Element x) {
  ImplicitLocOpBuilder &b = *x.b;
  Element all = convert<arith::BitcastOp>(x, b.getI32Type());
  Element small =
      convert<arith::BitcastOp>(x * (1 / kHalfScale), b.getI32Type());
  // NaN keeps the highest bits of its mantissa.
  small = select(isFinite(x), small,
                 all.apply<arith::AndIOp>(integer(all, 0x0fffe000)));
  Element size = small.apply<arith::AndIOp>(integer(small, 0x7fffffff))
                     .apply<arith::ShRUIOp>(integer(small, 13));
  Element sign = all.apply<arith::AndIOp>(integer(all, 0x80000000))
                     .apply<arith::ShRUIOp>(integer(all, 16));
  return convert<arith::TruncIOp>(size.apply<arith::OrIOp>(sign),
                                  b.getI16Type());
}

/// Rounds an f32 to bf16, the upper half of its bits; ties go to even.
static Value roundToBfloat(Element x) {
  ImplicitLocOpBuilder &b = *x.b;
  Element bits = convert<arith::BitcastOp>(x, b.getI32Type());
  Element isOdd = bits.apply<arith::ShRUIOp>(integer(bits, 16))
                      .apply<arith::AndIOp>(integer(bits, 1));
  Element up = bits.apply<arith::AddIOp>(integer(bits, 0x7fff))
                   .apply<arith::AddIOp>(isOdd);
  Element isNumber{&b,
                   b.create<arith::CmpFOp>(arith::CmpFPredicate::ORD, x, x)};
  // A NaN becomes quiet, so that it stays a NaN.
  Element quiet = bits.apply<arith::OrIOp>(integer(bits, 0x00400000));
  up = select(isNumber, up, quiet);
  return convert<arith::TruncIOp>(up.apply<arith::ShRUIOp>(integer(up, 16)),
                                  b.getI16Type());
}

Value netc::widened(Element bits, FloatType format, Type element,
                    bool converts) {
  ImplicitLocOpBuilder &b = *bits.b;
  Element wide = bits;
  if (format.isBF16()) {
    wide = convert<arith::ExtUIOp>(bits, b.getI32Type());
    wide = wide.apply<arith::ShLIOp>(integer(wide, 16));
    wide = convert<arith::BitcastOp>(wide, b.getF32Type());
  } else if (converts) {
    wide = convert<arith::BitcastOp>(bits, format);
    wide = convert<arith::ExtFOp>(wide, b.getF32Type());
  } else {
    wide = widenHalf(bits);
  }
  return element.isF32() ? wide : convert<arith::ExtFOp>(wide, element);
}

Value netc::rounded(Element x, FloatType format, bool converts) {
  ImplicitLocOpBuilder &b = *x.b;
  bool isWide = getElementTypeOrSelf(x.type()).isF64();
  // The value that nearest() returns is exact in f32, so it is rounded only
  // once.
  if (isWide || !(format.isBF16() || converts))
    x = nearest(x, format);
  if (isWide)
    x = convert<arith::TruncFOp>(x, b.getF32Type());
  if (!converts)
    return format.isBF16() ? roundToBfloat(x) : narrowHalf(x);
  return convert<arith::BitcastOp>(convert<arith::TruncFOp>(x, format),
                                   b.getI16Type());
}
