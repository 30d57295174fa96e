// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/NetAttributes.h"
#include "lib/Codegen/CPU/ContractionSchedule.h"
#include "lib/Codegen/CPU/Emitters.h"
#include "lib/Codegen/CPU/Passes.h"
#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/PrintSchedule.h"
#include "lib/Conversion/LinalgBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_LOWERKERNELS
#include "lib/Codegen/CPU/Passes.h.inc"
} // namespace netc

/// Whether a result is rounded to f16. LLVM computes it in f16 if the operands
/// were widened from f16. If it might reorder such operations, it would drop
/// the roundings between them.
static bool isRoundedToHalf(Operation *op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    auto rounding = dyn_cast<arith::TruncFOp>(user);
    return rounding && rounding.getOut().getType().isF16();
  });
}

/// Lets LLVM reorder sums, which vectorization needs, but not roundings to 16
/// bits.
static void allowReordering(Operation *op) {
  if (isa<arith::ExtFOp, arith::TruncFOp>(op) || isRoundedToHalf(op))
    return;
  if (auto arith = dyn_cast<arith::ArithFastMathInterface>(op))
    op->setAttr(arith.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(
                    op->getContext(), arith::FastMathFlags::reassoc |
                                          arith::FastMathFlags::contract |
                                          arith::FastMathFlags::nsz));
}

/// Replaces functions of f32 by polynomials, which LLVM vectorizes; libm would
/// be called for each element. Sines and cosines stay, since they are rare and
/// their arguments may be large.
static void approximate(ModuleOp module) {
  SmallVector<Operation *> functions;
  module.walk([&](Operation *op) {
    if (isa<math::ErfOp, math::ExpOp, math::LogOp, math::TanhOp>(op))
      functions.push_back(op);
  });
  RewritePatternSet patterns(module.getContext());
  populateMathPolynomialApproximationPatterns(patterns);
  GreedyRewriteConfig config;
  config.strictMode = GreedyRewriteStrictness::ExistingOps;
  (void)applyOpPatternsAndFold(functions, std::move(patterns), config);
}

/// Replaces a loop with independent iterations by an scf.parallel, unless the
/// loop around it is one, too.
static void parallelize(scf::ForOp loop) {
  if (!loop->hasAttr(kIndependent) || loop.getNumResults() != 0 ||
      loop->getParentOp()->hasAttr(kIndependent))
    return;
  OpBuilder b(loop);
  auto parallel =
      b.create<scf::ParallelOp>(loop.getLoc(), loop.getLowerBound(),
                                loop.getUpperBound(), loop.getStep());
  Block *from = loop.getBody(), *to = parallel.getBody();
  loop.getInductionVar().replaceAllUsesWith(to->getArgument(0));
  to->getOperations().splice(to->begin(), from->getOperations(), from->begin(),
                             std::prev(from->end()));
  loop.erase();
}

/// Replaces a region by its ops.
static void inlineRegion(scf::ExecuteRegionOp region) {
  Block &from = region.getRegion().front();
  region->getBlock()->getOperations().splice(region->getIterator(),
                                             from.getOperations(), from.begin(),
                                             std::prev(from.end()));
  region.erase();
}

namespace {
struct LowerKernels : netc::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;

  void runOnOperation() override {
    TargetInfo target = TargetInfo::of(isa);
    approximate(getOperation());
    getOperation().walk(parallelize);
    getOperation().walk([](linalg::LinalgOp op) { op->walk(allowReordering); });
    // Reductions first: a contraction is lowered with the fill before it and
    // the epilogue after it.
    for (linalg::LinalgOp op : findOps(/*reduces=*/true)) {
      if (emitReduction(op, target))
        continue;
      if (printSchedules)
        printSchedule(op, scheduleOf(op, target));
      (void)emitContraction(op, target);
    }
    getOperation().walk(inlineRegion);
    for (linalg::LinalgOp op : findOps(/*reduces=*/false))
      if (!emitTranspose(op, target) && !emitStream(op, target))
        (void)emitLoops(op);
    if (auto memory =
            getOperation()->getAttrOfType<MemoryAttr>(MemoryAttr::kOfModule))
      getOperation()->setAttr(MemoryAttr::kOfModule,
                              memory.withStack(stackBytes()));
  }

  /// The most stack that a kernel takes for packed copies and partial results,
  /// in bytes.
  int64_t stackBytes() {
    int64_t most = 0;
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      int64_t bytes = 0;
      kernel.walk(
          [&](memref::AllocaOp copy) { bytes += sizeInBytes(copy.getType()); });
      most = std::max(most, bytes);
    }
    return most;
  }

  /// All linalg ops, or those with reduction loops. Lowering one of the latter
  /// may erase a neighbor that is not one of them.
  SmallVector<linalg::LinalgOp> findOps(bool reduces) {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!reduces || op.getNumReductionLoops() > 0)
        ops.push_back(op);
    });
    return ops;
  }
};
} // namespace
