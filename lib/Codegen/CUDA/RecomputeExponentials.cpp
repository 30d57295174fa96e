// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Attention.h"
#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Codegen/CostBounds.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_RECOMPUTEEXPONENTIALS
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

/// Whether an op computes large exponentials of one tensor that is as large,
/// and no wider.
static bool computesExponentials(linalg::GenericOp op) {
  Value result = op.getResult(0);
  int64_t size = elementsOf(result), large = 0;
  auto bitsOf = [](Value tensor) {
    return getElementTypeOrSelf(tensor.getType()).getIntOrFloatBitWidth();
  };
  for (Value input : op.getInputs())
    if (elementsOf(input) * kCachedRatio > size) {
      ++large;
      if (bitsOf(input) > bitsOf(result))
        return false;
    }
  auto payload = op.getBody()->without_terminator();
  bool isSimple = llvm::all_of(payload, [](Operation &operation) {
    return isa<math::ExpOp, arith::AddFOp, arith::SubFOp, arith::MulFOp,
               arith::NegFOp, arith::ExtFOp>(operation);
  });
  return op->getNumResults() == 1 && large == 1 && isSimple &&
         size >= kMinRecomputedElements &&
         llvm::range_size(payload) <= kMaxRecomputedOps &&
         llvm::any_of(payload, [](Operation &operation) {
           return isa<math::ExpOp>(operation);
         });
}

/// Whether a use of exponentials can compute them, each once.
static bool canCompute(OpOperand &use) {
  auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!op || op->hasAttr(kAttention) || isContraction(op) ||
      !linalg::areElementwiseOpsFusable(&use))
    return false;
  auto producer = use.get().getDefiningOp<linalg::GenericOp>();
  return op.getMatchingIndexingMap(&use).isPermutation() &&
         readsTheSame(producer, op);
}

/// Moves exponentials into each op that reads them.
static void moveIntoUsers(RewriterBase &rewriter, linalg::GenericOp producer) {
  while (!producer->use_empty()) {
    OpOperand &use = *producer->use_begin();
    Operation *user = use.getOwner();
    // The fused op would have the results of a producer with other uses, too.
    rewriter.setInsertionPoint(producer);
    Operation *own = rewriter.clone(*producer);
    use.set(own->getResult(0));
    rewriter.setInsertionPoint(user);
    auto fused = linalg::fuseElementwiseOps(rewriter, &use);
    rewriter.replaceOp(user,
                       llvm::map_to_vector(user->getResults(), [&](Value old) {
                         return fused->replacements.lookup(old);
                       }));
    rewriter.eraseOp(own);
  }
  rewriter.eraseOp(producer);
}

namespace {
struct RecomputeExponentials
    : netc::impl::RecomputeExponentialsBase<RecomputeExponentials> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> producers;
    getOperation().walk([&](linalg::GenericOp op) {
      if (!op->hasAttr(kAttention) && computesExponentials(op) &&
          llvm::all_of(op->getUses(), canCompute))
        producers.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp producer : producers)
      moveIntoUsers(rewriter, producer);
  }
};
} // namespace
