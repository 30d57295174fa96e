// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Repetition.h"
#include "lib/Conversion/LinalgBuilder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <limits>

using namespace netc;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Formulas, with exactly the operations that the ops' costs count
//===----------------------------------------------------------------------===//

static Element tanh(Element x) { return x.apply<math::TanhOp>(); }
static Element erf(Element x) { return x.apply<math::ErfOp>(); }
static Element max(Element x, double y) { return max(x, number(x, y)); }
static Element min(Element x, double y) { return min(x, number(x, y)); }
static Element sigmoid(Element x) { return 1 / (exp(-x) + 1); }

static Element formula(ReluOp, Element x) { return max(x, 0); }
static Element formula(Relu6Op, Element x) { return min(max(x, 0), 6); }
static Element formula(SigmoidOp, Element x) { return sigmoid(x); }
static Element formula(TanhOp, Element x) { return tanh(x); }
static Element formula(SiluOp, Element x) { return x * sigmoid(x); }
static Element formula(GeluOp, Element x) {
  return (erf(x * M_SQRT1_2) + 1) * 0.5 * x;
}
/// The argument of tanh in the approximation of gelu.
static Element geluInner(Element x, Element square) {
  return (square * x * 0.044715 + x) * (M_SQRT2 * M_2_SQRTPI / 2);
}
static Element formula(GeluTanhOp, Element x) {
  return (tanh(geluInner(x, x * x)) + 1) * 0.5 * x;
}
static Element formula(HardsigmoidOp, Element x) {
  return min(max(x + 3, 0), 6) / 6;
}
static Element formula(HardswishOp, Element x) {
  return x * (min(max(x + 3, 0), 6) / 6);
}
static Element formula(SoftplusOp, Element x) {
  // exp overflows f32 from 89 on. The cut at 80 does not change the result in
  // f64 either.
  Element isLarge = x > number(x, 80);
  isLarge.value.getDefiningOp()->setAttr(kUncounted, x.b->getUnitAttr());
  return select(isLarge, x, log(exp(x) + 1));
}
static Element formula(LeakyReluOp op, Element x) {
  Element low = x * op.getSlope().convertToDouble();
  return select(x > number(x, 0), x, low);
}
static Element formula(EluOp op, Element x) {
  Element low = (exp(x) + -1) * op.getAlpha().convertToDouble();
  return select(x > number(x, 0), x, low);
}
static Element formula(SoftshrinkOp op, Element x) {
  double bound = op.getLambda().convertToDouble();
  return x - min(max(x, -bound), bound);
}

static Element formula(NegOp, Element x) { return -x; }
static Element formula(ExpOp, Element x) { return exp(x); }
static Element formula(LogOp, Element x) { return log(x); }
static Element formula(SqrtOp, Element x) { return sqrt(x); }
static Element formula(SinOp, Element x) { return x.apply<math::SinOp>(); }
static Element formula(CosOp, Element x) { return x.apply<math::CosOp>(); }
static Element formula(AbsOp, Element x) { return x.apply<math::AbsFOp>(); }
static Element formula(SignOp, Element x) {
  Element zero = number(x, 0), one = number(x, 1), less = number(x, -1);
  return select(x > zero, one, select(zero > x, less, zero));
}
static Element formula(PowerOp op, Element x) {
  std::optional<int64_t> products = op.getMultiplications();
  if (!products)
    return x.apply<math::PowFOp>(number(x, op.getExponent().convertToDouble()));
  Element power = x;
  for (int64_t i = 0; i < *products; ++i)
    power = power * x;
  return power;
}

/// Integers are added, multiplied and so on by other ops than floats.
template <typename FloatOp, typename IntegerOp>
static Element arithmetic(Element x, Element y) {
  return isa<FloatType>(x.type()) ? x.apply<FloatOp>(y) : x.apply<IntegerOp>(y);
}
static Element formula(AddOp, Element x, Element y) {
  return arithmetic<arith::AddFOp, arith::AddIOp>(x, y);
}
static Element formula(SubOp, Element x, Element y) {
  return arithmetic<arith::SubFOp, arith::SubIOp>(x, y);
}
static Element formula(MulOp, Element x, Element y) {
  return arithmetic<arith::MulFOp, arith::MulIOp>(x, y);
}
static Element formula(DivOp, Element x, Element y) { return x / y; }
static Element formula(MinimumOp, Element x, Element y) {
  return arithmetic<arith::MinimumFOp, arith::MinSIOp>(x, y);
}
static Element formula(MaximumOp, Element x, Element y) {
  return arithmetic<arith::MaximumFOp, arith::MaxSIOp>(x, y);
}

// Gradients: the arguments are dy, then what the forward op saved.
static Element formula(ReluGradOp, Element dy, Element y) {
  Element zero = number(y, 0);
  return select(y > zero, dy, zero);
}
static Element formula(SigmoidGradOp, Element dy, Element y) {
  return dy * (y * (1 - y));
}
static Element formula(TanhGradOp, Element dy, Element y) {
  return dy * (1 - y * y);
}
static Element formula(SiluGradOp, Element dy, Element x) {
  Element s = sigmoid(x);
  return dy * (s * (x * (1 - s) + 1));
}
static Element formula(GeluGradOp, Element dy, Element x) {
  Element cdf = (erf(x * M_SQRT1_2) + 1) * 0.5;
  Element pdf = exp(x * x * -0.5) * (M_2_SQRTPI * M_SQRT1_2 / 2);
  return dy * (x * pdf + cdf);
}
static Element formula(GeluTanhGradOp, Element dy, Element x) {
  Element square = x * x;
  Element t = tanh(geluInner(x, square));
  Element slope = (square * (3 * 0.044715) + 1) * (M_SQRT2 * M_2_SQRTPI / 2);
  return dy * (((t + 1) + x * (1 - t * t) * slope) * 0.5);
}
/// dy where low < x < high, else 0.
static Element inside(Element dy, Element x, double low, double high) {
  Element zero = number(x, 0);
  return select(x > number(x, low), select(number(x, high) > x, dy, zero),
                zero);
}
static Element formula(Relu6GradOp, Element dy, Element y) {
  return inside(dy, y, 0, 6);
}
static Element formula(HardsigmoidGradOp, Element dy, Element x) {
  return inside(dy / 6, x, -3, 3);
}
static Element formula(HardswishGradOp, Element dy, Element x) {
  Element zero = number(x, 0), one = number(x, 1);
  Element slope = (x * 2 + 3) / 6;
  slope = select(x > number(x, 3), one, slope);
  return dy * select(x > number(x, -3), slope, zero);
}
static Element formula(SoftplusGradOp, Element dy, Element x) {
  return dy * sigmoid(x);
}
static Element formula(LeakyReluGradOp op, Element dy, Element x) {
  Element low = dy * op.getSlope().convertToDouble();
  return select(x > number(x, 0), dy, low);
}
static Element formula(EluGradOp op, Element dy, Element y) {
  Element low = y + op.getAlpha().convertToDouble();
  return dy * select(y > number(y, 0), number(y, 1), low);
}

template <typename OpTy> static void lowerFormula(OpTy op, LinalgBuilder &b) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(b.get(operand));
  Value y = op->getResult(0);
  auto payload = [&](ArrayRef<Element> x) {
    if constexpr (OpTy::template hasTrait<OpTrait::OneOperand>())
      return formula(op, x[0]);
    else
      return formula(op, x[0], x[1]);
  };
  b.set(y, b.map(operands, payload, b.type(y).getElementType()));
}

template <typename... OpTys> static void addFormulas(Lowerings &lowerings) {
  (lowerings.add(lowerFormula<OpTys>), ...);
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

static void lowerCompare(CompareOp op, LinalgBuilder &b) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  // NaN satisfies only `!=`.
  auto [ofFloats, ofIntegers] =
      llvm::StringSwitch<std::pair<F, I>>(op.getRelation())
          .Case("<", {F::OLT, I::slt})
          .Case("<=", {F::OLE, I::sle})
          .Case(">", {F::OGT, I::sgt})
          .Case(">=", {F::OGE, I::sge})
          .Case("==", {F::OEQ, I::eq})
          .Default({F::UNE, I::ne});
  Value y = b.map(
      {b.get(op.getA()), b.get(op.getB())},
      [&, ofFloats = ofFloats,
       ofIntegers = ofIntegers](ArrayRef<Element> args) -> Element {
        auto &e = *args[0].b;
        if (isa<FloatType>(args[0].type()))
          return {&e, e.create<arith::CmpFOp>(ofFloats, args[0], args[1])};
        return {&e, e.create<arith::CmpIOp>(ofIntegers, args[0], args[1])};
      },
      b.getI1Type());
  b.set(op.getY(), y);
}

static void lowerWhere(WhereOp op, LinalgBuilder &b) {
  RankedTensorType type = b.type(op.getY());
  AffineMap all = b.identity(type.getRank());
  b.set(op.getY(),
        b.mapTo(type,
                {b.get(op.getCondition()), b.get(op.getA()), b.get(op.getB())},
                {all, all, all}, [](ArrayRef<Element> args) {
                  return select(args[0], args[1], args[2]);
                }));
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// Adds minus infinity to hidden elements, or multiplies them by zero. Any
/// other value is selected as the maximum of two terms, one of which is minus
/// infinity.
static void lowerMask(MaskOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  int64_t rank = b.type(op.getX()).getRank();
  double value = op.getValue().convertToDouble();
  Value y = b.map(x, [&](ArrayRef<Element> args) {
    Element x = args[0];
    auto &p = *x.b;
    Value row = p.create<linalg::IndexOp>(rank - 2);
    Value column = p.create<linalg::IndexOp>(rank - 1);
    Value isHidden = p.create<arith::ConstantIntOp>(0, 1);
    if (op.getCausal())
      isHidden =
          p.create<arith::CmpIOp>(arith::CmpIPredicate::ugt, column, row);
    if (op.getWindow() != 0) {
      Value first = p.create<arith::AddIOp>(
          column, p.create<arith::ConstantIndexOp>(op.getWindow()));
      isHidden = p.create<arith::OrIOp>(
          isHidden,
          p.create<arith::CmpIOp>(arith::CmpIPredicate::ule, first, row));
    }
    Element hidden{&p, isHidden};
    Element lowest = number(x, -std::numeric_limits<double>::infinity());
    if (std::isinf(value) && value < 0)
      return x + select(hidden, lowest, number(x, 0));
    if (value == 0)
      return x * select(hidden, number(x, 0), number(x, 1));
    return max(select(hidden, lowest, x),
               select(hidden, number(x, value), lowest));
  });
  b.set(op.getY(), y);
}

static void lowerStopGradient(StopGradientOp op, LinalgBuilder &b) {
  b.set(op.getY(), b.get(op.getX()));
}

static void lowerConvert(ConvertOp op, LinalgBuilder &b) {
  Type from = b.type(op.getX()).getElementType();
  Type to = b.type(op.getY()).getElementType();
  Value y = b.get(op.getX());
  if (from != to)
    y = b.map(
        y,
        [&](ArrayRef<Element> x) {
          bool isTruth = from.isInteger(1);
          return Element{x[0].b, convertScalarToDtype(*x[0].b, x[0].b->getLoc(),
                                                      x[0], to, isTruth)};
        },
        to);
  b.set(op.getY(), y);
}

/// x times the mask, which has the axes `over` of x, times 1 / (1 - p).
static Value applyMask(LinalgBuilder &b, Value x, Value mask,
                       ArrayRef<int64_t> over, double p) {
  auto type = cast<RankedTensorType>(x.getType());
  unsigned rank = type.getRank();
  return b.mapTo(type, {x, mask}, {b.identity(rank), b.project(rank, over)},
                 [&](ArrayRef<Element> args) {
                   Element x = args[0];
                   Element keep = select(args[1], number(x, 1), number(x, 0));
                   return x * keep * (1 / (1 - p));
                 });
}

/// Mixes 64 bits to look random (SplitMix64: Steele, Lea and Flood, Fast
/// splittable pseudorandom number generators, 2014).
static Value mix(ImplicitLocOpBuilder &b, Value z) {
  auto constant = [&](uint64_t value) {
    return b.create<arith::ConstantOp>(b.getI64IntegerAttr(value));
  };
  auto shift = [&](unsigned bits) {
    Value high = b.create<arith::ShRUIOp>(z, constant(bits));
    z = b.create<arith::XOrIOp>(z, high);
  };
  z = b.create<arith::AddIOp>(z, constant(0x9e3779b97f4a7c15));
  shift(30);
  z = b.create<arith::MulIOp>(z, constant(0xbf58476d1ce4e5b9));
  shift(27);
  z = b.create<arith::MulIOp>(z, constant(0x94d049bb133111eb));
  shift(31);
  return z;
}

/// An element of the mask is 1 with probability 1 - p. It depends on the seed
/// of the step, the op, the iterations of the loops around it, and its index.
static void lowerDropout(DropoutOp op, LinalgBuilder &b) {
  RankedTensorType maskType = b.type(op.getMask());
  auto integer = RankedTensorType::get({}, b.getI64Type());
  Value seed = b.read("seed", integer, Role::Seed);
  auto same = op->getAttrOfType<IntegerAttr>(kDraw);
  unsigned draw = same ? same.getInt() : b.nextDraw();
  double p = op.getP().convertToDouble();
  uint64_t threshold = std::ldexp(p, 32);
  AffineMap none = b.project(maskType.getRank(), {});
  Value mask = b.mapTo(maskType, seed, none, [&](ArrayRef<Element> args) {
    ImplicitLocOpBuilder &e = *args[0].b;
    auto constant = [&](uint64_t value) -> Value {
      return e.create<arith::ConstantOp>(e.getI64IntegerAttr(value));
    };
    Value bits = args[0];
    auto stir = [&](Value number) {
      bits = mix(e, e.create<arith::AddIOp>(bits, number));
    };
    stir(constant(draw));
    for (Value iteration : b.inductionVariables)
      stir(e.create<arith::IndexCastOp>(e.getI64Type(), iteration));
    Value place = constant(0);
    for (int64_t axis = 0; axis < maskType.getRank(); ++axis) {
      Value at = e.create<arith::IndexCastOp>(e.getI64Type(),
                                              e.create<linalg::IndexOp>(axis));
      Value size = constant(maskType.getDimSize(axis));
      place = e.create<arith::AddIOp>(e.create<arith::MulIOp>(place, size), at);
    }
    stir(place);
    Value high = e.create<arith::ShRUIOp>(bits, constant(32));
    Value keep = e.create<arith::CmpIOp>(arith::CmpIPredicate::uge, high,
                                         constant(threshold));
    return Element{&e, keep};
  });
  b.set(op.getMask(), mask);
  b.set(op.getY(), applyMask(b, b.get(op.getX()), mask, op.getOver(), p));
}

static void lowerDropoutGrad(DropoutGradOp op, LinalgBuilder &b) {
  b.set(op.getDx(), applyMask(b, b.get(op.getDy()), b.get(op.getMask()),
                              op.getOver(), op.getP().convertToDouble()));
}

void netc::addElementwiseLowerings(Lowerings &lowerings) {
  addFormulas<AbsOp, AddOp, CosOp, DivOp, EluGradOp, EluOp, ExpOp, GeluGradOp,
              GeluOp, GeluTanhGradOp, GeluTanhOp, HardsigmoidGradOp,
              HardsigmoidOp, HardswishGradOp, HardswishOp, LeakyReluGradOp,
              LeakyReluOp, LogOp, MaximumOp, MinimumOp, MulOp, NegOp, PowerOp,
              Relu6GradOp, Relu6Op, ReluGradOp, ReluOp, SigmoidGradOp,
              SigmoidOp, SignOp, SiluGradOp, SiluOp, SinOp, SoftplusGradOp,
              SoftplusOp, SoftshrinkOp, SqrtOp, SubOp, TanhGradOp, TanhOp>(
      lowerings);
  lowerings.add(lowerCompare);
  lowerings.add(lowerWhere);
  lowerings.add(lowerMask);
  lowerings.add(lowerStopGradient);
  lowerings.add(lowerConvert);
  lowerings.add(lowerDropout);
  lowerings.add(lowerDropoutGrad);
}
