// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Attention.h"
#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Transforms/RegionUtils.h"

#include <cmath>

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_FINDATTENTION
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

using Role = AttentionRole;

namespace {
/// Finds the ops of attention, which nothing else reads, on tensors.
class AttentionFinder {
public:
  linalg::GenericOp &op(Role role) { return ops[size_t(role)]; }
  /// Input number `number` of an op, in the order of AttentionRole.
  Value input(Role role, unsigned number) {
    return op(role).getInputs()[number ^ isSwapped[size_t(role)]];
  }
  /// The axes of the scores that the axes of an operand are; -1 for the other.
  SmallVector<int64_t> axesOf(Role role, unsigned operand, unsigned scores);

protected:
  explicit AttentionFinder(Block *block) : block(block) {}

  AffineMap map(Role role, unsigned number) {
    bool swaps = number < 2 && isSwapped[size_t(role)];
    return op(role).getIndexingMapsArray()[number ^ swaps];
  }

  /// Sets the role of the only op that reads a result together with `others`.
  bool findMaker(Role role, Value tensor, ArrayRef<Role> readers);
  bool isSoftmax();
  /// Finds what the softmax reads, from its weights on.
  bool findScores();
  bool isProduct(Role role, unsigned scores);
  bool hasAxes(Role role, unsigned operand, unsigned scores, bool isOfKeys);
  /// Whether axes of the scores have that of the keys, which the softmax sums
  /// over.
  bool haveKeys(ArrayRef<int64_t> axes) {
    return llvm::any_of(axes, [&](int64_t axis) {
      return axis >= 0 && !map(Role::Sums, 1).isFunctionOfDim(axis);
    });
  }
  bool areOf16Bits(ArrayRef<Role> products);
  AttentionDims sizes();
  /// Whether both compute the same scores and elements.
  bool hasSameElements(AttentionFinder &other);
  /// The op that rounds a result to 16 bits, if nothing else reads it.
  linalg::GenericOp roundingOf(Role role);

  /// Moves ops to the insertion point, and marks them.
  void place(OpBuilder &b, ArrayRef<Role> roles);

  Block *block;
  std::array<linalg::GenericOp, kAttentionRoles> ops;
  /// Whether the factors of a product are in the other order.
  std::array<bool, kAttentionRoles> isSwapped = {};
};

/// O = softmax(X) V.
class ResultFinder : public AttentionFinder {
public:
  explicit ResultFinder(linalg::GenericOp product)
      : AttentionFinder(product->getBlock()) {
    op(Role::Results) = product;
  }
  bool find(const DeviceInfo &device);
  void mark();
  /// O, rounded if it is, and the axes of the scores that its axes are.
  std::pair<Value, SmallVector<int64_t>> results();
};

/// The gradients of an attention that is computed again.
class GradientFinder : public AttentionFinder {
public:
  explicit GradientFinder(linalg::GenericOp scoreGradients)
      : AttentionFinder(scoreGradients->getBlock()) {
    op(Role::ScoreGradients) = scoreGradients;
  }
  bool find(const DeviceInfo &device, MutableArrayRef<ResultFinder> results);
  void mark();

private:
  bool findForward(MutableArrayRef<ResultFinder> results);
  void readSumsOfForward();
  bool findWeights();
  bool findRounded(Value weights);
  bool findProducts();
  bool readsWithRows();
  bool readSame(Role role, unsigned number, unsigned scores, Role other,
                unsigned inOther, unsigned otherScores);
  bool canMove();

  Operation *point = nullptr; ///< the first of the products that are results
  ResultFinder *forward = nullptr; ///< of the same scores
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

bool AttentionFinder::findMaker(Role role, Value tensor,
                                ArrayRef<Role> readers) {
  SmallVector<Operation *> users;
  for (Role reader : readers)
    users.push_back(op(reader));
  op(role) = makerOf(tensor, users);
  return op(role) && op(role)->getBlock() == block;
}

/// Whether the weights are quotients of exponentials and their sums.
bool AttentionFinder::isSoftmax() {
  linalg::GenericOp weights = op(Role::Weights);
  if (!isElementwise(weights) || weights.getNumDpsInputs() != 2 ||
      !computes(weights, 1))
    return false;
  auto quotient = computed<arith::DivFOp>(weights);
  return quotient && quotient.getLhs() == weights.getBody()->getArgument(0) &&
         quotient.getRhs() == weights.getBody()->getArgument(1);
}

bool AttentionFinder::findScores() {
  linalg::GenericOp weights = op(Role::Weights);
  if (!findMaker(Role::Sums, weights.getInputs()[1], Role::Weights) ||
      !reduces<arith::AddFOp>(op(Role::Sums), 0) ||
      !readsWithReduced(weights, op(Role::Sums)) ||
      !findMaker(Role::Exponentials, weights.getInputs()[0],
                 {Role::Weights, Role::Sums}) ||
      op(Role::Sums).getInputs()[0] != weights.getInputs()[0])
    return false;
  linalg::GenericOp exponentials = op(Role::Exponentials);
  auto exp = computed<math::ExpOp>(exponentials);
  auto shifted =
      exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : nullptr;
  Block &body = *exponentials.getBody();
  if (!shifted || exponentials.getNumDpsInputs() != 2 ||
      !computes(exponentials, 2) ||
      !getElementTypeOrSelf(exponentials->getResult(0)).isF32() ||
      converted(shifted.getLhs()) != body.getArgument(0) ||
      converted(shifted.getRhs()) != body.getArgument(1))
    return false;
  Value elements = exponentials.getInputs()[0];
  if (!findMaker(Role::Largest, exponentials.getInputs()[1],
                 Role::Exponentials) ||
      !reduces<arith::MaximumFOp>(op(Role::Largest), -INFINITY) ||
      !readsWithReduced(exponentials, op(Role::Largest)) ||
      map(Role::Largest, 1) != map(Role::Sums, 1) ||
      op(Role::Largest).getInputs()[0] != elements ||
      !findMaker(Role::Elements, elements,
                 {Role::Largest, Role::Exponentials}) ||
      !isElementwise(op(Role::Elements)))
    return false;
  for (OpOperand *input : op(Role::Elements).getDpsInputOperands())
    if (op(Role::Elements).getMatchingIndexingMap(input).isIdentity() &&
        findMaker(Role::Scores, input->get(), Role::Elements) &&
        isProduct(Role::Scores, 2))
      return true;
  return false;
}

/// Whether an op sums products, from zero on, with the axes of the scores and
/// one other. Operand `scores` has the former.
bool AttentionFinder::isProduct(Role role, unsigned scores) {
  linalg::GenericOp product = op(role);
  auto fill = product.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  return isContraction(product) && fill &&
         matchPattern(fill.value(), m_AnyZeroFloat()) &&
         llvm::all_of(
             product.getIndexingMapsArray(),
             [](AffineMap map) { return map.isProjectedPermutation(); }) &&
         map(role, scores).getNumResults() + 1 == product.getNumLoops();
}

SmallVector<int64_t> AttentionFinder::axesOf(Role role, unsigned operand,
                                             unsigned scores) {
  SmallVector<int64_t> axes;
  AffineMap of = map(role, scores);
  for (AffineExpr axis : map(role, operand).getResults()) {
    if (auto position = of.getResultPosition(axis))
      axes.push_back(*position);
    else
      axes.push_back(-1);
  }
  return axes;
}

/// Whether an operand has the axes of keys, or of rows: beside one of its own,
/// all that K has, or all that Q has. So has a result of the op.
bool AttentionFinder::hasAxes(Role role, unsigned operand, unsigned scores,
                              bool isOfKeys) {
  SmallVector<int64_t> axes = axesOf(role, operand, scores),
                       expected = axesOf(Role::Scores, isOfKeys, 2);
  llvm::sort(axes);
  llvm::sort(expected);
  return axes == expected;
}

/// Whether the factors of all products are of one 16-bit format.
bool AttentionFinder::areOf16Bits(ArrayRef<Role> products) {
  Type format = getElementTypeOrSelf(input(Role::Scores, 0).getType());
  return (format.isBF16() || format.isF16()) &&
         llvm::all_of(products, [&](Role role) {
           return llvm::all_of(op(role).getInputs(), [&](Value factor) {
             return getElementTypeOrSelf(factor.getType()) == format;
           });
         });
}

AttentionDims AttentionFinder::sizes() {
  AttentionDims dims{1, 1, 1, 1, 1};
  AffineMap ofRows = map(Role::Sums, 1);
  SmallVector<int64_t> ofKeys = axesOf(Role::Scores, 1, 2);
  auto scores =
      cast<RankedTensorType>(op(Role::Scores)->getResult(0).getType());
  for (auto [axis, extent] : llvm::enumerate(scores.getShape()))
    (!ofRows.isFunctionOfDim(axis)               ? dims.keys
     : llvm::is_contained(ofKeys, int64_t(axis)) ? dims.batch
                                                 : dims.rows) *= extent;
  auto widthOf = [&](Role role, unsigned operand, unsigned of) {
    SmallVector<int64_t> axes = axesOf(role, operand, of);
    auto type = cast<RankedTensorType>(input(role, operand).getType());
    return type.getDimSize(llvm::find(axes, -1) - axes.begin());
  };
  dims.depth = widthOf(Role::Scores, 0, 2);
  dims.columns = op(Role::Results) ? widthOf(Role::Results, 1, 0)
                                   : widthOf(Role::WeightGradients, 1, 2);
  return dims;
}

/// Whether two tensors are one, or are computed from one by the same views and
/// element-wise ops, as where a part of the step is computed again.
static bool areSame(Value a, Value b) {
  if (a == b)
    return true;
  Operation *of = a.getDefiningOp(), *other = b.getDefiningOp();
  if (!of || !other || !isMemoryEffectFree(of))
    return false;
  auto generic = dyn_cast<linalg::GenericOp>(of);
  if (of->getNumRegions() != 0 && !(generic && isElementwise(generic)))
    return false;
  DenseMap<Value, Value> inside; // of the payloads
  return OperationEquivalence::isEquivalentTo(
      of, other,
      [&](Value a, Value b) {
        auto known = inside.find(a);
        return success(known != inside.end() ? known->second == b
                                             : areSame(a, b));
      },
      [&](Value a, Value b) { inside[a] = b; },
      OperationEquivalence::IgnoreLocations);
}

bool AttentionFinder::hasSameElements(AttentionFinder &other) {
  for (unsigned factor : {0, 1})
    if (!areSame(input(Role::Scores, factor),
                 other.input(Role::Scores, factor)) ||
        axesOf(Role::Scores, factor, 2) !=
            other.axesOf(Role::Scores, factor, 2))
      return false;
  linalg::GenericOp elements = op(Role::Elements),
                    others = other.op(Role::Elements);
  if (elements.getIndexingMaps() != others.getIndexingMaps() ||
      map(Role::Sums, 1) != other.map(Role::Sums, 1) ||
      !OperationEquivalence::isRegionEquivalentTo(
          &elements.getRegion(), &others.getRegion(),
          OperationEquivalence::IgnoreLocations))
    return false;
  return llvm::all_of(llvm::zip_equal(elements.getInputs(), others.getInputs()),
                      [&](auto inputs) {
                        auto [a, b] = inputs;
                        return a == op(Role::Scores)->getResult(0)
                                   ? b == other.op(Role::Scores)->getResult(0)
                                   : areSame(a, b);
                      });
}

linalg::GenericOp AttentionFinder::roundingOf(Role role) {
  Value result = op(role)->getResult(0);
  auto rounding = result.hasOneUse()
                      ? dyn_cast<linalg::GenericOp>(*result.user_begin())
                      : linalg::GenericOp();
  return rounding && isConversion(rounding) && isElementwise(rounding) &&
                 rounding.getIndexingMapsArray()[0].isIdentity() &&
                 rounding->getBlock() == block &&
                 getElementTypeOrSelf(rounding->getResult(0)) ==
                     getElementTypeOrSelf(input(Role::Scores, 0))
             ? rounding
             : linalg::GenericOp();
}

static void mark(Operation *op, StringRef name) {
  op->setAttr(kAttention, StringAttr::get(op->getContext(), name));
}

/// Gives an op a tensor of its own for its result.
static void makeStart(OpBuilder &b, linalg::GenericOp op) {
  b.setInsertionPoint(op);
  OpOperand &init = op.getDpsInitsMutable()[0];
  Operation *before = init.get().getDefiningOp();
  auto type = cast<RankedTensorType>(init.get().getType());
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(before)) {
    Value none = b.create<tensor::EmptyOp>(op.getLoc(), type.getShape(),
                                           type.getElementType());
    auto own = b.create<linalg::FillOp>(op.getLoc(), fill.value(), none);
    mark(own, "start");
    init.set(own.getResult(0));
  } else {
    // PlaceResults would let the op overwrite one of its operands.
    init.set(b.create<bufferization::AllocTensorOp>(op.getLoc(), type,
                                                    ValueRange()));
  }
  if (before && isOpTriviallyDead(before))
    before->erase();
}

void AttentionFinder::place(OpBuilder &b, ArrayRef<Role> roles) {
  for (Role role : roles) {
    linalg::GenericOp op = this->op(role);
    op->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    makeStart(b, op);
    if (std::exchange(isSwapped[size_t(role)], false)) {
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      std::swap(maps[0], maps[1]);
      op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
      Value first = op.getInputs()[0];
      op.getInputsMutable()[0].set(op.getInputs()[1]);
      op.getInputsMutable()[1].set(first);
    }
    mark(op, nameOf(role));
    b.setInsertionPointAfter(op);
    linalg::GenericOp rounding =
        isResult(role) ? roundingOf(role) : linalg::GenericOp();
    if (rounding) {
      rounding->moveAfter(op);
      makeStart(b, rounding);
      mark(rounding, kRoundedResult);
      b.setInsertionPointAfter(rounding);
    }
  }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

bool ResultFinder::find(const DeviceInfo &device) {
  linalg::GenericOp product = op(Role::Results);
  for (bool isSecond : {false, true}) {
    isSwapped[size_t(Role::Results)] = isSecond;
    if (!findMaker(Role::Weights, input(Role::Results, 0), Role::Results) ||
        !isSoftmax() || !findScores() || !isProduct(Role::Results, 0))
      continue;
    isSwapped[size_t(Role::Scores)] = haveKeys(axesOf(Role::Scores, 0, 2));
    return hasAxes(Role::Results, 1, 0, /*isOfKeys=*/true) &&
           hasAxes(Role::Results, 2, 0, /*isOfKeys=*/false) &&
           areOf16Bits({Role::Scores, Role::Results}) &&
           llvm::all_of(ops,
                        [&](linalg::GenericOp op) {
                          return !op || readsTheSame(op, product);
                        }) &&
           scheduleAttention(sizes(), AttentionWork::results(), device);
  }
  return false;
}

std::pair<Value, SmallVector<int64_t>> ResultFinder::results() {
  linalg::GenericOp rounding = roundingOf(Role::Results);
  return {(rounding ? rounding : op(Role::Results))->getResult(0),
          axesOf(Role::Results, 2, 0)};
}

void ResultFinder::mark() {
  OpBuilder b(op(Role::Results)->getNextNode());
  place(b, {Role::Scores, Role::Elements, Role::Largest, Role::Exponentials,
            Role::Sums, Role::Weights, Role::Results});
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// Whether an op sums up products of its two operands, from zero on.
static bool sumsProducts(linalg::GenericOp op) {
  Operation *sum = op ? combinerOf(op, 0) : nullptr;
  if (!isa_and_nonnull<arith::AddFOp>(sum) || op.getNumDpsInputs() != 2 ||
      !computes(op, 2))
    return false;
  auto fill = op.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  Block &body = *op.getBody();
  return fill && matchPattern(fill.value(), m_AnyZeroFloat()) &&
         llvm::any_of(sum->getOperands(), [&](Value term) {
           auto product = term.getDefiningOp<arith::MulFOp>();
           return product &&
                  converted(product.getLhs()) == body.getArgument(0) &&
                  converted(product.getRhs()) == body.getArgument(1);
         });
}

/// Finds P, D and dP, which dS is computed from.
bool GradientFinder::findWeights() {
  linalg::GenericOp gradients = op(Role::ScoreGradients);
  for (Value sums : gradients.getInputs()) {
    if (!findMaker(Role::Corrections, sums, Role::ScoreGradients) ||
        !sumsProducts(op(Role::Corrections)))
      continue;
    for (bool isSecond : {false, true}) {
      isSwapped[size_t(Role::Corrections)] = isSecond;
      Value gradient = input(Role::Corrections, 0),
            weights = input(Role::Corrections, 1);
      auto maker = weights.getDefiningOp<linalg::GenericOp>();
      if (!maker || !llvm::is_contained(gradients.getInputs(), gradient) ||
          !llvm::is_contained(gradients.getInputs(), weights))
        continue;
      op(Role::Weights) = maker;
      if (isSoftmax() && findRounded(weights) &&
          findMaker(Role::RoundedGradients, gradient,
                    {Role::Corrections, Role::ScoreGradients}))
        return isElementwise(op(Role::RoundedGradients)) &&
               op(Role::RoundedGradients).getNumDpsInputs() == 1 &&
               map(Role::RoundedGradients, 0).isIdentity() &&
               findMaker(Role::WeightGradients,
                         input(Role::RoundedGradients, 0),
                         Role::RoundedGradients) &&
               isProduct(Role::WeightGradients, 2);
    }
  }
  return false;
}

/// Finds the op that rounds the weights, which is all that reads them beside D
/// and dS.
bool GradientFinder::findRounded(Value weights) {
  for (Operation *user : weights.getUsers()) {
    auto generic = dyn_cast<linalg::GenericOp>(user);
    if (generic && isConversion(generic))
      op(Role::Rounded) = generic;
  }
  return op(Role::Rounded) && op(Role::Rounded)->hasOneUse() &&
         isElementwise(op(Role::Rounded)) &&
         findMaker(Role::Weights, weights,
                   {Role::Rounded, Role::Corrections, Role::ScoreGradients});
}

/// Finds the three products that are results.
bool GradientFinder::findProducts() {
  auto setFactor = [&](Role role, Operation *user, Value scores) {
    op(role) = dyn_cast<linalg::GenericOp>(user);
    if (!op(role) || op(role).getNumDpsInputs() != 2)
      return false;
    isSwapped[size_t(role)] = op(role).getInputs()[0] != scores;
    return isProduct(role, 0);
  };
  Value weights = op(Role::Rounded)->getResult(0),
        gradients = op(Role::ScoreGradients)->getResult(0);
  if (!setFactor(Role::ValueGradients, *weights.user_begin(), weights) ||
      std::distance(gradients.user_begin(), gradients.user_end()) != 2)
    return false;
  for (Operation *user : gradients.getUsers()) {
    if (!setFactor(Role::QueryGradients, user, gradients))
      return false;
    if (hasAxes(Role::QueryGradients, 1, 0, /*isOfKeys=*/false)) {
      op(Role::KeyGradients) = op(Role::QueryGradients);
      isSwapped[size_t(Role::KeyGradients)] =
          isSwapped[size_t(Role::QueryGradients)];
    }
  }
  for (Operation *user : gradients.getUsers())
    if (user != op(Role::KeyGradients))
      (void)setFactor(Role::QueryGradients, user, gradients);
  return bool(op(Role::KeyGradients));
}

/// Whether P, dP and what dS and D read of them have the axes of the scores,
/// and D those of the rows.
bool GradientFinder::readsWithRows() {
  AffineMap rows = map(Role::Sums, 1);
  for (OpOperand *input : op(Role::ScoreGradients).getDpsInputOperands()) {
    AffineMap read = op(Role::ScoreGradients).getMatchingIndexingMap(input);
    Operation *maker = input->get().getDefiningOp();
    if ((maker == op(Role::Corrections) && read != rows) ||
        ((maker == op(Role::Weights) || maker == op(Role::RoundedGradients)) &&
         !read.isIdentity()))
      return false;
  }
  return map(Role::Corrections, 0).isIdentity() &&
         map(Role::Corrections, 1).isIdentity() &&
         map(Role::Corrections, 2) == rows &&
         map(Role::Rounded, 0).isIdentity();
}

/// Whether two ops read one tensor with the same axes.
bool GradientFinder::readSame(Role role, unsigned number, unsigned scores,
                              Role other, unsigned inOther,
                              unsigned otherScores) {
  return input(role, number) == input(other, inOther) &&
         axesOf(role, number, scores) == axesOf(other, inOther, otherScores);
}

/// Whether all that the ops read is there before the first result is.
bool GradientFinder::canMove() {
  point = op(Role::ValueGradients);
  for (Role role : {Role::QueryGradients, Role::KeyGradients})
    if (op(role)->isBeforeInBlock(point))
      point = op(role);
  auto isInside = [&](Value value) {
    return llvm::any_of(ops, [&](linalg::GenericOp op) {
      return op && op.getOperation() == value.getDefiningOp();
    });
  };
  for (linalg::GenericOp op : ops) {
    if (!op)
      continue;
    SetVector<Value> read(op.getInputs().begin(), op.getInputs().end());
    getUsedValuesDefinedAbove(op->getRegions(), read);
    if (auto fill = op.getOutputs()[0].getDefiningOp<linalg::FillOp>())
      read.insert(fill.value());
    for (Value value : read) {
      Operation *maker = value.getDefiningOp();
      maker = maker ? block->findAncestorOpInBlock(*maker) : nullptr;
      if (!isInside(value) &&
          ((maker && !maker->isBeforeInBlock(point)) || slotOf(value)))
        return false;
    }
  }
  return true;
}

/// Finds the forward pass of these scores and values, whose sums are read.
bool GradientFinder::findForward(MutableArrayRef<ResultFinder> results) {
  for (ResultFinder &of : results) {
    linalg::GenericOp product = of.op(Role::Results);
    if (product->getBlock() == block && product->isBeforeInBlock(point) &&
        hasSameElements(of) &&
        areSame(input(Role::WeightGradients, 1), of.input(Role::Results, 1)) &&
        axesOf(Role::WeightGradients, 1, 2) == of.axesOf(Role::Results, 1, 0))
      forward = &of;
  }
  return forward;
}

bool GradientFinder::find(const DeviceInfo &device,
                          MutableArrayRef<ResultFinder> results) {
  if (!isElementwise(op(Role::ScoreGradients)) || !findWeights() ||
      !findScores())
    return false;
  for (Role role : {Role::Scores, Role::WeightGradients})
    isSwapped[size_t(role)] = haveKeys(axesOf(role, 0, 2));
  return findProducts() && readsWithRows() &&
         hasAxes(Role::WeightGradients, 0, 2, /*isOfKeys=*/false) &&
         hasAxes(Role::WeightGradients, 1, 2, /*isOfKeys=*/true) &&
         hasAxes(Role::ValueGradients, 2, 0, /*isOfKeys=*/true) &&
         hasAxes(Role::QueryGradients, 2, 0, /*isOfKeys=*/false) &&
         hasAxes(Role::KeyGradients, 2, 0, /*isOfKeys=*/true) &&
         readSame(Role::ValueGradients, 1, 0, Role::WeightGradients, 0, 2) &&
         readSame(Role::QueryGradients, 1, 0, Role::Scores, 1, 2) &&
         readSame(Role::KeyGradients, 1, 0, Role::Scores, 0, 2) &&
         areOf16Bits({Role::Scores, Role::WeightGradients, Role::ValueGradients,
                      Role::QueryGradients, Role::KeyGradients}) &&
         canMove() && findForward(results) &&
         scheduleAttention(sizes(), AttentionWork::queryGradients(), device);
}

/// Replaces the sums of rows by those that the forward pass found, and D by the
/// sums of dO O, which are the same: P dP is P (dO V').
void GradientFinder::readSumsOfForward() {
  linalg::GenericOp corrections = op(Role::Corrections);
  ImplicitLocOpBuilder b(corrections.getLoc(), point);
  auto type = cast<RankedTensorType>(corrections->getResult(0).getType());
  // The loops are those over the axes of D, and over the columns of O.
  const unsigned columns = unsigned(type.getRank());
  auto mapOf = [&](ArrayRef<int64_t> axes) {
    SmallVector<AffineExpr> exprs;
    for (int64_t axis : axes)
      exprs.push_back(b.getAffineDimExpr(
          axis < 0 ? columns
                   : *map(Role::Corrections, 2)
                          .getResultPosition(b.getAffineDimExpr(axis))));
    return AffineMap::get(columns + 1, 0, exprs, b.getContext());
  };
  auto [results, axes] = forward->results();
  Value gradients = input(Role::WeightGradients, 0);
  SmallVector<utils::IteratorType> iterators(columns,
                                             utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  Value zero =
      b.create<arith::ConstantOp>(b.getZeroAttr(type.getElementType()));
  Value none =
      b.create<tensor::EmptyOp>(type.getShape(), type.getElementType());
  Value start = b.create<linalg::FillOp>(zero, none).getResult(0);
  SmallVector<AffineMap> maps = {
      mapOf(axesOf(Role::WeightGradients, 0, 2)), mapOf(axes),
      AffineMap::getMultiDimIdentityMap(columns + 1, b.getContext())
          .getMajorSubMap(columns)};
  auto sums = b.create<linalg::GenericOp>(
      type, ValueRange{gradients, results}, start, maps, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange elements) {
        SmallVector<Value> wide;
        for (Value element : elements)
          wide.push_back(element.getType() == type.getElementType()
                             ? element
                             : builder.create<arith::ExtFOp>(
                                   loc, type.getElementType(), element));
        Value product = builder.create<arith::MulFOp>(loc, wide[0], wide[1]);
        Value sum = builder.create<arith::AddFOp>(loc, wide[2], product);
        builder.create<linalg::YieldOp>(loc, sum);
      });
  corrections->getResult(0).replaceAllUsesWith(sums.getResult(0));
  op(Role::Exponentials)
      .getInputsMutable()[1]
      .set(forward->op(Role::Largest)->getResult(0));
  op(Role::Weights)
      .getInputsMutable()[1]
      .set(forward->op(Role::Sums)->getResult(0));
  for (Role role : {Role::Corrections, Role::Sums, Role::Largest}) {
    Operation *start = op(role).getOutputs()[0].getDefiningOp();
    op(role)->erase();
    op(role) = nullptr;
    if (start && isOpTriviallyDead(start))
      start->erase();
  }
}

void GradientFinder::mark() {
  readSumsOfForward();
  OpBuilder b(point);
  place(b, {Role::Scores, Role::Elements, Role::Exponentials, Role::Weights,
            Role::WeightGradients, Role::RoundedGradients, Role::ScoreGradients,
            Role::QueryGradients});
  // The second kernel computes the scores again.
  IRMapping copies;
  for (Role role :
       {Role::Scores, Role::Elements, Role::Exponentials, Role::Weights,
        Role::WeightGradients, Role::RoundedGradients, Role::ScoreGradients}) {
    op(role) = cast<linalg::GenericOp>(b.clone(*op(role), copies));
    place(b, role);
  }
  for (Role role : {Role::Rounded, Role::ValueGradients, Role::KeyGradients}) {
    for (OpOperand *input : op(role).getDpsInputOperands())
      input->set(copies.lookupOrDefault(input->get()));
    place(b, role);
  }
}

namespace {
struct FindAttention : netc::impl::FindAttentionBase<FindAttention> {
  using FindAttentionBase::FindAttentionBase;

  void runOnOperation() override {
    FailureOr<DeviceInfo> device = deviceInfoOf(getOperation(), arch);
    if (failed(device))
      return signalPassFailure();
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    SmallVector<ResultFinder> results;
    SmallVector<GradientFinder> gradients;
    for (linalg::GenericOp op : ops)
      if (ResultFinder finder(op); isContraction(op) && finder.find(*device))
        results.push_back(finder);
    for (linalg::GenericOp op : ops)
      if (GradientFinder finder(op);
          op.getNumDpsInputs() >= 3 && finder.find(*device, results))
        gradients.push_back(finder);
    for (ResultFinder &finder : results)
      finder.mark();
    for (GradientFinder &finder : gradients)
      finder.mark();
  }
};
} // namespace
