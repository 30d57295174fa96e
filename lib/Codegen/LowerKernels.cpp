// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/LoopNest.h"
#include "lib/Codegen/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_LOWERKERNELS
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

/// Sums may be taken in another order, which is what vectors need.
static void allowReordering(Operation *op) {
  if (auto arith = dyn_cast<arith::ArithFastMathInterface>(op))
    op->setAttr(arith.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(
                    op->getContext(), arith::FastMathFlags::reassoc |
                                          arith::FastMathFlags::contract |
                                          arith::FastMathFlags::nsz));
}

namespace {
struct LowerKernels : netc::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;

  void runOnOperation() override {
    VectorIsa vectors = VectorIsa::of(isa);
    getOperation().walk([](linalg::LinalgOp op) { op->walk(allowReordering); });
    // First sums of products, which take the fills before them along.
    for (linalg::LinalgOp op : findOps())
      if (!emitReduction(op, vectors) && isContraction(op))
        (void)emitContraction(op, vectors);
    for (linalg::LinalgOp op : findOps())
      (void)emitLoops(op);
  }

  SmallVector<linalg::LinalgOp> findOps() {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    return ops;
  }
};
} // namespace
