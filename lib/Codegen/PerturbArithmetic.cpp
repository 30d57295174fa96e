// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"

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

namespace {
struct PerturbArithmetic
    : netc::impl::PerturbArithmeticBase<PerturbArithmetic> {
  void runOnOperation() override {
    auto b = OpBuilder::atBlockBegin(getOperation().getBody());
    Type f64 = b.getF64Type();
    auto perturb =
        b.create<func::FuncOp>(getOperation().getLoc(), "netc_perturb",
                               b.getFunctionType({f64}, {f64}));
    perturb.setPrivate();
    getOperation().walk([&](Operation *op) {
      if (!isRounded(op))
        return;
      b.setInsertionPointAfter(op);
      auto call =
          b.create<func::CallOp>(op->getLoc(), perturb, op->getResult(0));
      op->getResult(0).replaceAllUsesExcept(call.getResult(0), call);
    });
  }
};
} // namespace
