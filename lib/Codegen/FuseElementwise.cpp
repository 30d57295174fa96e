// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/NetAttributes.h"
#include "lib/Codegen/CostBounds.h"
#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/Passes.h"
#include "lib/Codegen/RewriteSteps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

static unsigned elementBits(Value tensor) {
  return getElementTypeOrSelf(tensor.getType()).getIntOrFloatBitWidth();
}

/// Whether an op reads a computed tensor with wider elements than its result.
/// Fused into a later op, it would keep the wider tensor in memory until then.
static bool narrows(linalg::GenericOp op) {
  Value result = op.getResult(0);
  return llvm::any_of(op.getInputs(), [&](Value input) {
    return elementsOf(input) * kCachedRatio > elementsOf(result) &&
           elementBits(input) > elementBits(result) && !slotOf(input);
  });
}

/// Whether recomputing an element costs less than loading it from memory. Small
/// operands, such as a mean per channel, are assumed to be cached.
static bool isCheap(linalg::GenericOp op) {
  int64_t operations = llvm::count_if(
      op.getBody()->without_terminator(), [](Operation &payload) {
        return isa<FloatType>(payload.getResult(0).getType()) &&
               !isa<arith::ExtFOp, arith::TruncFOp>(payload);
      });
  int64_t size = elementsOf(op.getResult(0));
  return !isExpensive(op) && operations <= 2 && !narrows(op) &&
         llvm::count_if(op.getInputs(), [&](Value input) {
           return elementsOf(input) * kCachedRatio > size;
         }) <= 2;
}

/// Whether the module's step recomputes parts of its forward pass (activation
/// checkpointing).
static bool recomputes(ModuleOp module) {
  auto ops = module->getAttrOfType<ArrayAttr>(OpRowAttr::kOfModule);
  return ops && llvm::any_of(ops.getAsRange<OpRowAttr>(), [](OpRowAttr op) {
           return op.getPhase() == Phase::Recompute;
         });
}

/// Whether `later` or an op after it reads `tensor` or a view of it.
static bool isReadFrom(Operation *later, Value tensor) {
  return llvm::any_of(tensor.getUsers(), [&](Operation *user) {
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user))
      return isReadFrom(later, user->getResult(0));
    Block *block = tensor.getParentBlock();
    Operation *end = block->findAncestorOpInBlock(*later);
    return end && !block->findAncestorOpInBlock(*user)->isBeforeInBlock(end);
  });
}

/// Whether fusing `producer` into `consumer` would extend the lifetime of a
/// large operand of `producer` that takes no less memory than its result.
static bool extendsLifetimes(linalg::GenericOp producer, Operation *consumer) {
  Value result = producer.getResult(0);
  int64_t size = elementsOf(result);
  return llvm::any_of(producer.getInputs(), [&](Value input) {
    if (elementsOf(input) * kCachedRatio <= size || slotOf(input) ||
        elementBits(input) < elementBits(result))
      return false;
    while (Operation *view = input.getDefiningOp()) {
      if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(view))
        break;
      input = view->getOperand(0);
    }
    return !isReadFrom(consumer, input);
  });
}

/// Whether an op computes a scalar by slow functions, such as Adam's 1 - b^t.
/// That is better done once than for each element. Square roots and quotients
/// are not worth a kernel of their own: in a loop that waits for memory, they
/// are free.
static bool isSlowScalar(linalg::GenericOp op) {
  return op.getNumLoops() == 0 &&
         llvm::any_of(
             op.getBody()->without_terminator(), [](Operation &payload) {
               return isa<math::MathDialect>(payload.getDialect()) &&
                      !isa<math::SqrtOp, math::RsqrtOp, math::AbsFOp>(payload);
             });
}

/// Whether to fuse the producer of an operand into its consumer. Nothing is
/// fused into a contraction, which is tiled later, nor across a write to memory
/// that the producer reads.
static bool shouldFuse(OpOperand *operand, bool savesMemory) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || isContraction(consumer) ||
      !readsTheSame(producer, consumer) ||
      (isSlowScalar(producer) && consumer.getNumLoops() > 0))
    return false;
  return producer->hasOneUse() ||
         (isCheap(producer) &&
          !(savesMemory && extendsLifetimes(producer, consumer)));
}

namespace {
/// Rewrites `carried + contraction`, where a loop carries the tensor: the
/// contraction accumulates into the carried tensor instead of zeros. So
/// gradients of parameters accumulate in place.
struct AccumulateInPlace : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSum(op))
      return failure();
    for (unsigned i : {0, 1}) {
      auto carried = dyn_cast<BlockArgument>(op.getInputs()[i]);
      auto products = op.getInputs()[1 - i].getDefiningOp<linalg::GenericOp>();
      // The store of the sum at the end of the loop is not a read.
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

/// Rewrites a payload that gathers single elements of a computed tensor, such
/// as the logit of a row's class: it computes these elements instead, and the
/// tensor is not stored.
struct ComputeGathered : OpRewritePattern<tensor::ExtractOp> {
  ComputeGathered(MLIRContext *context, bool savesMemory)
      : OpRewritePattern(context), savesMemory(savesMemory) {}

  LogicalResult matchAndRewrite(tensor::ExtractOp gather,
                                PatternRewriter &rewriter) const override {
    auto producer = gather.getTensor().getDefiningOp<linalg::GenericOp>();
    auto consumer = gather->getParentOfType<linalg::GenericOp>();
    if (!producer || !consumer || producer.getNumReductionLoops() != 0 ||
        producer.hasIndexSemantics() || !isCheap(producer) ||
        !readsTheSame(producer, consumer) ||
        (savesMemory && extendsLifetimes(producer, consumer)))
      return failure();
    auto result = cast<OpResult>(gather.getTensor());
    AffineMap written = producer.getMatchingIndexingMap(
        producer.getDpsInitOperand(result.getResultNumber()));
    auto isRead = [&](OpOperand *input) {
      return producer.isScalar(input) ||
             producer.getMatchingIndexingMap(input).isProjectedPermutation();
    };
    if (!written.isPermutation() ||
        !llvm::all_of(producer.getDpsInputOperands(), isRead) ||
        !llvm::all_of(producer.getRegionOutputArgs(),
                      [](BlockArgument old) { return old.use_empty(); }))
      return failure();

    SmallVector<Value> loops(producer.getNumLoops());
    for (auto [axis, at] : llvm::enumerate(gather.getIndices()))
      loops[written.getDimPosition(axis)] = at;
    IRMapping values;
    for (OpOperand *input : producer.getDpsInputOperands()) {
      AffineMap read = producer.getMatchingIndexingMap(input);
      SmallVector<Value> at;
      for (unsigned axis = 0; axis < read.getNumResults(); ++axis)
        at.push_back(loops[read.getDimPosition(axis)]);
      Value element = input->get();
      if (!producer.isScalar(input))
        element =
            rewriter.create<tensor::ExtractOp>(gather.getLoc(), element, at);
      values.map(producer.getMatchingBlockArgument(input), element);
    }
    for (Operation &op : producer.getBody()->without_terminator())
      rewriter.clone(op, values);
    Value element = producer.getBody()->getTerminator()->getOperand(
        result.getResultNumber());
    rewriter.replaceOp(gather, values.lookupOrDefault(element));
    return success();
  }

  const bool savesMemory;
};

/// The number of products that `op` sums for each element of its result.
static int64_t lengthOf(linalg::GenericOp op) {
  int64_t length = 1;
  for (auto [extent, iterator] :
       llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction)
      length *= extent;
  return length;
}

/// Whether a tensor is large, has one use, and each of its elements is a sum of
/// few products, as in the gradient of a large weight with a small batch.
static bool isShortSum(Value tensor) {
  auto products = tensor.getDefiningOp<linalg::GenericOp>();
  if (!products || !isContraction(products) || !products->hasOneUse())
    return false;
  auto type = cast<RankedTensorType>(tensor.getType());
  auto fill = products.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  return type.getNumElements() >= kMinUncachedElements && fill &&
         matchPattern(fill.value(), m_AnyZeroFloat()) &&
         // Not of a convolution: with the loop over the kernel at 0, the image
         // would be indexed by the loop over the result alone, and linalg would
         // infer the extent of that loop from the padded image.
         llvm::all_of(
             products.getIndexingMapsArray(),
             [](AffineMap map) { return map.isProjectedPermutation(); }) &&
         int64_t(products.getNumParallelLoops()) == type.getRank() &&
         lengthOf(products) <= kMaxRecomputedProducts;
}

/// Whether an operand is a reshaped short sum.
static bool reshapesShortSum(OpOperand *operand) {
  auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  return collapse && collapse->hasOneUse() && isShortSum(collapse.getSrc());
}

/// Whether an op reads a tensor that a loop carries. A sum over the iterations
/// is better computed after the loop, by DeferAccumulation.
static bool addsToCarried(linalg::GenericOp op) {
  return llvm::any_of(op.getInputs(), [](Value input) {
    auto carried = dyn_cast<BlockArgument>(input);
    return carried && isa<scf::ForOp>(carried.getOwner()->getParentOp());
  });
}

/// A short sum and the only op that reads it, such as an update. The op then
/// computes each element of the sum itself, so the sum is not stored.
class ShortSum {
public:
  static std::optional<ShortSum> of(OpOperand &operand) {
    auto consumer = dyn_cast<linalg::GenericOp>(operand.getOwner());
    auto products = operand.get().getDefiningOp<linalg::GenericOp>();
    if (!consumer || !products || !consumer.isDpsInput(&operand) ||
        consumer.getNumReductionLoops() != 0 ||
        products->getBlock() != consumer->getBlock() ||
        !consumer.getMatchingIndexingMap(&operand).isPermutation() ||
        addsToCarried(consumer) || !isShortSum(operand.get()) ||
        !readsTheSame(products, consumer))
      return std::nullopt;
    return ShortSum{operand, consumer, products};
  }

  void moveIntoConsumer() {
    unsigned place = operand.getOperandNumber();
    SmallVector<Value> inputs = consumer.getInputs();
    SmallVector<AffineMap> maps = consumer.getIndexingMapsArray();
    SmallVector<AffineMap> outputMaps(maps.begin() + inputs.size(), maps.end());
    maps.resize(inputs.size());
    inputs.erase(inputs.begin() + place);
    maps.erase(maps.begin() + place);
    for (int64_t k = 0; k < length; ++k)
      for (OpOperand *factor : products.getDpsInputOperands()) {
        inputs.push_back(factor->get());
        maps.push_back(mapOf(*factor, k));
      }
    llvm::append_range(maps, outputMaps);

    OpBuilder b(consumer);
    // A result may start uninitialized if the payload does not read its old
    // value.
    SmallVector<Value> outputs = consumer.getOutputs();
    for (auto [output, argument] :
         llvm::zip_equal(outputs, consumer.getRegionOutputArgs()))
      if (auto type = cast<RankedTensorType>(output.getType());
          argument.use_empty())
        output = b.create<tensor::EmptyOp>(consumer.getLoc(), type.getShape(),
                                           type.getElementType());
    // The product gives the op its number in reports, since it is most of the
    // work.
    auto sum = b.create<linalg::GenericOp>(
        b.getFusedLoc({products.getLoc(), consumer.getLoc()}),
        consumer.getResultTypes(), inputs, outputs, maps,
        consumer.getIteratorTypesArray(),
        [&](OpBuilder &b, Location loc, ValueRange arguments) {
          addUp(b, place, arguments);
        });
    consumer.replaceAllUsesWith(sum.getResults());
    consumer.erase();
    Operation *fill = products.getOutputs()[0].getDefiningOp();
    products.erase();
    if (fill->use_empty())
      fill->erase();
  }

private:
  ShortSum(OpOperand &operand, linalg::GenericOp consumer,
           linalg::GenericOp products)
      : operand(operand), consumer(consumer), products(products) {}

  /// The indexing map, over the consumer's loops, of a factor of the sum's
  /// product number `k`.
  AffineMap mapOf(OpOperand &factor, int64_t k) {
    MLIRContext *context = consumer.getContext();
    SmallVector<AffineExpr> places(products.getNumLoops());
    AffineMap read = consumer.getMatchingIndexingMap(&operand);
    AffineMap made = products.getIndexingMapsArray().back();
    for (auto [loop, at] :
         llvm::zip_equal(made.getResults(), read.getResults()))
      places[cast<AffineDimExpr>(loop).getPosition()] = at;
    SmallVector<int64_t> extents = products.getStaticLoopRanges();
    for (size_t loop = extents.size(); loop-- > 0;)
      if (!places[loop]) {
        places[loop] = getAffineConstantExpr(k % extents[loop], context);
        k /= extents[loop];
      }
    return products.getMatchingIndexingMap(&factor).replaceDimsAndSymbols(
        places, {}, consumer.getNumLoops(), 0);
  }

  /// Builds the consumer's payload, with the sum in place of argument `place`.
  void addUp(OpBuilder &b, unsigned place, ValueRange arguments) {
    Block &payload = *consumer.getBody();
    unsigned kept = consumer.getNumDpsInputs() - 1;
    IRMapping values;
    SmallVector<Value> others(arguments.take_front(kept));
    llvm::append_range(others, arguments.drop_front(kept + 2 * length));
    Type computed = getElementTypeOrSelf(products.getResult(0).getType());
    auto factor = [&](int64_t number) -> Value {
      Value narrow = arguments[kept + number];
      return narrow.getType() == computed
                 ? narrow
                 : b.create<arith::ExtFOp>(products.getLoc(), computed, narrow);
    };
    Value sum;
    for (int64_t k = 0; k < length; ++k) {
      Value product = b.create<arith::MulFOp>(products.getLoc(), factor(2 * k),
                                              factor(2 * k + 1));
      sum = sum ? b.create<arith::AddFOp>(products.getLoc(), sum, product)
                      .getResult()
                : product;
    }
    others.insert(others.begin() + place, sum);
    values.map(payload.getArguments(), others);
    for (Operation &op : payload)
      b.clone(op, values);
  }

  OpOperand &operand;
  linalg::GenericOp consumer, products;
  const int64_t length = lengthOf(products);
};

struct FuseElementwise : netc::impl::FuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AccumulateInPlace>(&getContext());
    bool savesMemory = recomputes(getOperation()->getParentOfType<ModuleOp>());
    patterns.add<ComputeGathered>(&getContext(), savesMemory);
    linalg::populateElementwiseOpsFusionPatterns(
        patterns,
        [&](OpOperand *operand) { return shouldFuse(operand, savesMemory); });
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns),
                                            rewritingSteps())))
      return signalPassFailure();
    if (failed(moveShortSums()))
      signalPassFailure();
  }

  LogicalResult moveShortSums() {
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns,
                                                      reshapesShortSum);
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns),
                                            rewritingSteps(/*topDown=*/false))))
      return failure();
    SmallVector<linalg::GenericOp> sums;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op->getNumResults() == 1 && isShortSum(op->getResult(0)))
        sums.push_back(op);
    });
    for (linalg::GenericOp op : sums)
      if (auto sum = ShortSum::of(*op->use_begin()))
        sum->moveIntoConsumer();
    return success();
  }
};
} // namespace
