// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/Passes.h"
#include "lib/Codegen/Perturbation.h"
#include "lib/Conversion/Element.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_PERTURBARITHMETIC
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

/// Whether the result of an op is rounded.
static bool isRounded(Operation *op) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isF64())
    return false;
  if (isa<math::MathDialect>(op->getDialect()))
    return !isa<math::AbsFOp>(op);
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp>(op);
}

RoundingError RoundingError::of(FloatType format) {
  auto subnormal = APFloat::getSmallest(format.getFloatSemantics());
  return {std::ldexp(1, -int(format.getFPMantissaWidth())),
          subnormal.convertToDouble() / 2};
}

Value netc::perturb(OpBuilder &b, ModuleOp module, Value value,
                    RoundingError error) {
  constexpr StringRef name = "netc_perturb";
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function) {
    auto atStart = OpBuilder::atBlockBegin(module.getBody());
    Type f64 = b.getF64Type();
    function = atStart.create<func::FuncOp>(
        module.getLoc(), name, b.getFunctionType({f64, f64, f64}, {f64}));
    function.setPrivate();
  }
  Location loc = value.getLoc();
  auto constant = [&](double number) -> Value {
    return b.create<arith::ConstantOp>(loc, b.getF64FloatAttr(number));
  };
  Value unit = constant(error.unit), least = constant(error.least);
  return b.create<func::CallOp>(loc, function, ValueRange{value, unit, least})
      .getResult(0);
}

namespace {
struct PerturbArithmetic
    : netc::impl::PerturbArithmeticBase<PerturbArithmetic> {
  void runOnOperation() override {
    OpBuilder b(&getContext());
    getOperation().walk([&](Operation *op) {
      // A subnormal number of 16 bits is rounded to either neighbor.
      if (auto rounding = dyn_cast<arith::TruncFOp>(op)) {
        b.setInsertionPoint(rounding);
        auto format = cast<FloatType>(rounding.getType());
        if (isFloat16(format) && rounding.getIn().getType().isF64())
          rounding.setOperand(perturb(b, getOperation(), rounding.getIn(),
                                      {0, RoundingError::of(format).least}));
      }
      if (!isRounded(op))
        return;
      b.setInsertionPointAfter(op);
      Value exact = op->getResult(0);
      Value rounded =
          perturb(b, getOperation(), exact, RoundingError::of(b.getF32Type()));
      exact.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
    });
  }
};
} // namespace
