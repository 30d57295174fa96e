// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Attention.h"
#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_FINDATTENTION
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

namespace {
/// The ops from a product of queries and keys to one of weights and values, in
/// their order. Nothing else reads what is between.
class AttentionFinder {
public:
  explicit AttentionFinder(linalg::GenericOp product) : product(product) {}

  /// Whether `product` is the last op of an attention.
  bool find();
  AttentionDims sizes();
  /// Marks the ops, and moves them before `product`.
  void mark();

private:
  bool findWeights();
  bool findSoftmax();
  bool findScores();
  bool hasLoopsOfAttention();

  linalg::GenericOp product, weights, sums, exponentials, largest, elements,
      scores;
  unsigned ofWeights, ofQueries; ///< operands of the products
};
} // namespace

/// The op that computes an operand, if nothing but the ops of `readers` reads
/// its result; null otherwise.
static linalg::GenericOp makerOf(Value tensor, ArrayRef<Operation *> readers) {
  auto maker = tensor.getDefiningOp<linalg::GenericOp>();
  if (!maker || maker->getNumResults() != 1 ||
      !llvm::all_of(maker->getUsers(), [&](Operation *user) {
        return llvm::is_contained(readers, user);
      }))
    return {};
  return maker;
}

static bool isElementwise(linalg::GenericOp op) {
  return op.getNumReductionLoops() == 0 && op.getNumDpsInits() == 1 &&
         op.getIndexingMapsArray().back().isIdentity();
}

/// What the payload yields, before it is rounded.
template <typename OpTy> static OpTy computed(linalg::GenericOp op) {
  return converted(op.getBody()->getTerminator()->getOperand(0))
      .getDefiningOp<OpTy>();
}

/// Whether the payload consists of `count` ops that are no conversions.
static bool computes(linalg::GenericOp op, int64_t count) {
  return llvm::count_if(op.getBody()->without_terminator(),
                        [](Operation &payload) {
                          return !isa<arith::ExtFOp, arith::TruncFOp>(payload);
                        }) == count;
}

/// Whether an op reduces the elements of its operand along one axis, from
/// `start` on, by `Combiner`.
template <typename Combiner>
static bool reduces(linalg::GenericOp op, double start) {
  Operation *combiner = op ? combinerOf(op, 0) : nullptr;
  if (!isa_and_nonnull<Combiner>(combiner) || op.getNumDpsInputs() != 1 ||
      op.getNumReductionLoops() != 1 || !computes(op, 1) ||
      !op.getIndexingMapsArray()[0].isIdentity())
    return false;
  FloatAttr from;
  auto fill = op.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.value(), m_Constant(&from)) &&
         from.getValueAsDouble() == start;
}

/// Whether an op computes each element from those of two operands: one with the
/// same axes, and one without that which `reduction` reduces.
static bool readsWithReduced(linalg::GenericOp op,
                             linalg::GenericOp reduction) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  return isElementwise(op) && op.getNumDpsInputs() == 2 &&
         maps[0].isIdentity() &&
         maps[1] == reduction.getIndexingMapsArray()[1] &&
         op.getInputs()[1] == reduction->getResult(0);
}

bool AttentionFinder::findWeights() {
  for (unsigned operand : {0, 1}) {
    weights = makerOf(product.getInputs()[operand], product.getOperation());
    if (!weights || !isElementwise(weights) || weights.getNumDpsInputs() != 2 ||
        !computes(weights, 1))
      continue;
    auto quotient = computed<arith::DivFOp>(weights);
    if (!quotient || quotient.getLhs() != weights.getBody()->getArgument(0) ||
        quotient.getRhs() != weights.getBody()->getArgument(1))
      continue;
    ofWeights = operand;
    return true;
  }
  return false;
}

bool AttentionFinder::findSoftmax() {
  sums = makerOf(weights.getInputs()[1], weights.getOperation());
  if (!sums || !reduces<arith::AddFOp>(sums, 0) ||
      !readsWithReduced(weights, sums))
    return false;
  exponentials = makerOf(weights.getInputs()[0], {weights, sums});
  if (!exponentials || sums.getInputs()[0] != weights.getInputs()[0] ||
      exponentials.getNumDpsInputs() != 2 || !computes(exponentials, 2) ||
      !getElementTypeOrSelf(weights.getInputs()[0].getType()).isF32())
    return false;
  auto exp = computed<math::ExpOp>(exponentials);
  auto shifted =
      exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : nullptr;
  Block &body = *exponentials.getBody();
  if (!shifted || converted(shifted.getLhs()) != body.getArgument(0) ||
      converted(shifted.getRhs()) != body.getArgument(1))
    return false;
  largest = makerOf(exponentials.getInputs()[1], exponentials.getOperation());
  return largest && reduces<arith::MaximumFOp>(largest, -INFINITY) &&
         readsWithReduced(exponentials, largest) &&
         largest.getIndexingMapsArray()[1] == sums.getIndexingMapsArray()[1] &&
         largest.getInputs()[0] == exponentials.getInputs()[0];
}

/// Whether a product sums, from zero on, products of operands of 16 bits along
/// one axis.
static bool isProductOf16Bits(linalg::GenericOp op) {
  auto fill = op.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  auto is16 = [](Value operand) {
    Type element = getElementTypeOrSelf(operand.getType());
    return element.isBF16() || element.isF16();
  };
  return isContraction(op) && op.getNumReductionLoops() == 1 && fill &&
         matchPattern(fill.value(), m_AnyZeroFloat()) &&
         llvm::all_of(op.getInputs(), is16) &&
         getElementTypeOrSelf(op.getOutputs()[0].getType()).isF32() &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

bool AttentionFinder::findScores() {
  elements = makerOf(largest.getInputs()[0], {largest, exponentials});
  if (!elements || !isElementwise(elements))
    return false;
  for (OpOperand *input : elements.getDpsInputOperands()) {
    scores = makerOf(input->get(), elements.getOperation());
    if (scores && isProductOf16Bits(scores) &&
        elements.getMatchingIndexingMap(input).isIdentity())
      return true;
  }
  return false;
}

/// Whether the weights are summed along the axis of the softmax, values have
/// the axes that queries and keys share, and queries lack that of the softmax.
bool AttentionFinder::hasLoopsOfAttention() {
  SmallVector<AffineMap> first = scores.getIndexingMapsArray(),
                         second = product.getIndexingMapsArray();
  AffineMap read = second[ofWeights], values = second[1 - ofWeights];
  unsigned axes = read.getNumResults(), others = 0;
  AffineMap kept = sums.getIndexingMapsArray()[1];
  auto iterators = product.getIteratorTypesArray();
  std::optional<unsigned> keys;
  for (unsigned axis = 0; axis < axes; ++axis)
    if (!kept.isFunctionOfDim(axis))
      keys = axis;
  if (!keys ||
      iterators[read.getDimPosition(*keys)] != utils::IteratorType::reduction)
    return false;
  unsigned key = first[2].getDimPosition(*keys);
  ofQueries = first[0].isFunctionOfDim(key) ? 1 : 0;
  AffineMap queries = first[ofQueries], ofKeys = first[1 - ofQueries];
  if (queries.isFunctionOfDim(key))
    return false;
  for (unsigned axis = 0; axis < axes; ++axis) {
    unsigned inScores = first[2].getDimPosition(axis),
             inProduct = read.getDimPosition(axis);
    if ((axis != *keys && !queries.isFunctionOfDim(inScores)) ||
        ofKeys.isFunctionOfDim(inScores) != values.isFunctionOfDim(inProduct))
      return false;
  }
  // Beside the axes of the weights, the product has one of the values.
  for (unsigned loop = 0; loop < product.getNumLoops(); ++loop)
    others += !read.isFunctionOfDim(loop);
  return others == 1 && first[2].getNumResults() + 1 == scores.getNumLoops();
}

bool AttentionFinder::find() {
  if (!isProductOf16Bits(product) || !findWeights() || !findSoftmax() ||
      !findScores() || !hasLoopsOfAttention())
    return false;
  auto element = [](linalg::GenericOp op, unsigned operand) {
    return getElementTypeOrSelf(op.getInputs()[operand].getType());
  };
  Type format = element(scores, 0);
  for (unsigned operand : {0, 1})
    if (element(scores, operand) != format ||
        element(product, operand) != format)
      return false;
  for (linalg::GenericOp op :
       {scores, elements, largest, exponentials, sums, weights})
    if (op->getBlock() != product->getBlock() || !readsTheSame(op, product))
      return false;
  return true;
}

AttentionDims AttentionFinder::sizes() {
  AttentionDims dims{1, 1, 1, 1, 1};
  SmallVector<AffineMap> maps = scores.getIndexingMapsArray();
  for (auto [loop, extent] : llvm::enumerate(scores.getStaticLoopRanges())) {
    bool isOfQueries = maps[ofQueries].isFunctionOfDim(loop),
         isOfKeys = maps[1 - ofQueries].isFunctionOfDim(loop);
    (!maps[2].isFunctionOfDim(loop) ? dims.depth
     : !isOfQueries                 ? dims.keys
     : isOfKeys                     ? dims.batch
                                    : dims.rows) *= extent;
  }
  AffineMap read = product.getIndexingMapsArray()[ofWeights];
  for (auto [loop, extent] : llvm::enumerate(product.getStaticLoopRanges()))
    if (!read.isFunctionOfDim(loop))
      dims.columns = extent;
  return dims;
}

void AttentionFinder::mark() {
  OpBuilder b(product);
  auto place = [&](linalg::GenericOp op, unsigned number) {
    auto role = b.getI64IntegerAttr(number);
    if (auto fill = op.getOutputs()[0].getDefiningOp<linalg::FillOp>()) {
      // Of its own.
      Operation *start = b.clone(*fill);
      start->setAttr(kAttention, role);
      op.getOutputsMutable()[0].set(start->getResult(0));
      if (fill->use_empty())
        fill.erase();
    }
    op->setAttr(kAttention, role);
    if (op != product)
      op->moveBefore(product);
  };
  place(scores, ofQueries);
  for (linalg::GenericOp op : {elements, largest, exponentials, sums, weights})
    place(op, 0);
  place(product, ofWeights);
}

namespace {
struct FindAttention : netc::impl::FindAttentionBase<FindAttention> {
  using FindAttentionBase::FindAttentionBase;

  void runOnOperation() override {
    FailureOr<DeviceInfo> device = deviceInfoOf(getOperation(), arch);
    if (failed(device))
      return signalPassFailure();
    SmallVector<linalg::GenericOp> products;
    getOperation().walk([&](linalg::GenericOp op) {
      if (isContraction(op))
        products.push_back(op);
    });
    for (linalg::GenericOp product : products)
      if (AttentionFinder finder(product);
          finder.find() && scheduleAttention(finder.sizes(), *device))
        finder.mark();
  }
};
} // namespace
