// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/LoopNest.h"
#include "lib/Codegen/Passes.h"
#include "lib/Codegen/Slots.h"
#include "lib/Conversion/OpTable.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

/// Whether computing an element again costs less than reading it from memory.
static bool isCheap(linalg::GenericOp op) {
  unsigned operations = 0;
  for (Operation &payload : op.getBody()->without_terminator()) {
    if (isa<math::MathDialect>(payload.getDialect()) ||
        isa<arith::DivFOp, tensor::ExtractOp>(payload))
      return false;
    operations += isa<FloatType>(payload.getResult(0).getType());
  }
  return operations <= 2 && op.getNumDpsInputs() <= 2;
}

/// Whether `slot` is written between `first` and a later op, which would read
/// what is new.
static bool changesBetween(Value slot, Operation *first, Operation *later) {
  Block *block = first->getBlock();
  Operation *end = block->findAncestorOpInBlock(*later);
  return llvm::any_of(slot.getUsers(), [&](Operation *user) {
    if (!isa<bufferization::MaterializeInDestinationOp>(user))
      return false;
    Operation *write = block->findAncestorOpInBlock(*user);
    // One in the same loop as the later op comes before its next turn.
    return write && first->isBeforeInBlock(write) &&
           (write == end || write->isBeforeInBlock(end));
  });
}

namespace {
/// Where parts of the forward pass are run again, what is kept for that stays
/// in memory, and is not made of more that would have to be kept instead.
class Kept {
public:
  explicit Kept(func::FuncOp step) {
    if (auto ops = step->getParentOp()->getAttrOfType<ArrayAttr>(kOps))
      for (auto op : ops.getAsRange<DictionaryAttr>())
        phases.push_back(op.getAs<StringAttr>("phase").getValue());
    recomputes = llvm::is_contained(phases, "recompute");
  }
  /// Whether `producer`, of the forward pass, is kept for `consumer`.
  bool keeps(Operation *producer, Operation *consumer) const {
    return recomputes && isForward(producer) && !isForward(consumer);
  }

private:
  bool isForward(Operation *op) const {
    std::optional<unsigned> number = opNumberOf(op->getLoc());
    return number && phases[*number] == "forward";
  }

  SmallVector<StringRef> phases;
  bool recomputes;
};
} // namespace

/// Sums of products stay what they are, so that they can be tiled. What is read
/// is read before it changes.
static bool shouldFuse(OpOperand *operand, const Kept &kept) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || isContraction(consumer))
    return false;
  for (Value input : producer.getInputs())
    if (Value slot = slotOf(input);
        slot && changesBetween(slot, producer, consumer))
      return false;
  return producer->hasOneUse() ||
         (isCheap(producer) && !kept.keeps(producer, consumer));
}

/// Whether an op adds two tensors, element by element.
static bool isSum(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0 ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return false;
  Block &body = *op.getBody();
  auto add = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  return add && body.without_terminator().begin() == add->getIterator() &&
         add.getLhs() == body.getArgument(0) &&
         add.getRhs() == body.getArgument(1);
}

namespace {
/// What a loop carries, plus a sum of products: the sum begins with what is
/// carried. So gradients of parameters accumulate in place.
struct AccumulateInPlace : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSum(op))
      return failure();
    for (unsigned i : {0, 1}) {
      auto carried = dyn_cast<BlockArgument>(op.getInputs()[i]);
      auto products = op.getInputs()[1 - i].getDefiningOp<linalg::GenericOp>();
      // `materialize_in_destination`, where the loop ends, only names it.
      bool isOnlyAdded =
          carried && llvm::all_of(carried.getUsers(), [&](Operation *user) {
            return user == op ||
                   isa<bufferization::MaterializeInDestinationOp>(user);
          });
      if (!isOnlyAdded || !isa<scf::ForOp>(carried.getOwner()->getParentOp()) ||
          !products || !products->hasOneUse() || !isContraction(products) ||
          products->getBlock() != carried.getOwner())
        continue;
      auto fill = products.getOutputs()[0].getDefiningOp<linalg::FillOp>();
      if (!fill || !matchPattern(fill.value(), m_AnyZeroFloat()))
        continue;
      rewriter.modifyOpInPlace(products, [&] {
        products->setLoc(
            rewriter.getFusedLoc({products.getLoc(), op.getLoc()}));
        products.getOutputsMutable()[0].assign(carried);
      });
      rewriter.replaceOp(op, products);
      return success();
    }
    return failure();
  }
};

struct FuseElementwise : netc::impl::FuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AccumulateInPlace>(&getContext());
    Kept kept(getOperation());
    linalg::populateElementwiseOpsFusionPatterns(
        patterns,
        [&](OpOperand *operand) { return shouldFuse(operand, kept); });
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    GreedyRewriteConfig config;
    config.useTopDownTraversal = true;
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns),
                                            config)))
      signalPassFailure();
  }
};
} // namespace
