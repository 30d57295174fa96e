// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CostBounds.h"
#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/Passes.h"
#include "lib/Codegen/RewriteSteps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_REMATERIALIZEOPERANDS
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

/// Whether an operand is large, and is cheaply computed, element by element,
/// from tensors that its user reads by the same map and from small ones.
static bool followsFromOthers(OpOperand &operand) {
  auto op = cast<linalg::GenericOp>(operand.getOwner());
  auto producer = operand.get().getDefiningOp<linalg::GenericOp>();
  int64_t size = elementsOf(operand.get());
  if (!producer || !op.isDpsInput(&operand) || size < kMinRecomputedElements ||
      !linalg::areElementwiseOpsFusable(&operand) || isExpensive(producer) ||
      llvm::range_size(producer.getBody()->without_terminator()) >
          kMaxRecomputedOps ||
      !readsTheSame(producer, op))
    return false;
  AffineMap written = producer.getIndexingMapsArray().back();
  if (!written.isPermutation())
    return false;
  AffineMap toProducer =
      inversePermutation(written).compose(op.getMatchingIndexingMap(&operand));
  auto isReadAnyway = [&](OpOperand *input) {
    AffineMap map = producer.getMatchingIndexingMap(input).compose(toProducer);
    return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *other) {
      return other->get() == input->get() &&
             op.getMatchingIndexingMap(other) == map;
    });
  };
  return llvm::all_of(producer.getDpsInputOperands(), [&](OpOperand *input) {
    return elementsOf(input->get()) * kCachedRatio <= size ||
           isReadAnyway(input);
  });
}

namespace {
struct ComputeOperand : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!followsFromOthers(operand))
        continue;
      FailureOr<linalg::ElementwiseOpFusionResult> fused =
          linalg::fuseElementwiseOps(rewriter, &operand);
      if (failed(fused))
        continue;
      // The producer stays for its other users.
      rewriter.replaceOp(op,
                         llvm::map_to_vector(op->getResults(), [&](Value old) {
                           return fused->replacements.lookup(old);
                         }));
      return success();
    }
    return failure();
  }
};

struct RematerializeOperands
    : netc::impl::RematerializeOperandsBase<RematerializeOperands> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ComputeOperand>(&getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns),
                                            rewritingSteps(/*topDown=*/false))))
      signalPassFailure();
  }
};
} // namespace
