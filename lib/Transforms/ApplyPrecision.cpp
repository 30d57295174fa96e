// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Transforms/ApplyPrecision.h"

#include "dialect/Repetition.h"
#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Hardware/Precision.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/WidenToF64.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_APPLYPRECISION
#include "lib/Transforms/Passes.h.inc"
} // namespace netc

static bool isFloatTensor(Value value) {
  return isa<FloatType>(netc::elementOf(value));
}

static Type withElement(Type type, Type element) {
  return tensorOf(element, shapeOf(type));
}

static void setElement(Value value, Type element) {
  value.setType(cast<RankedTensorType>(withElement(value.getType(), element)));
}

static unsigned widthOf(Type element) {
  return element.getIntOrFloatBitWidth();
}

/// Inserts a conversion to `element` before the first user of `value`, for all
/// users.
static ConvertOp convertForAll(Value value, Type element) {
  Block *block = value.getParentBlock();
  Operation *first = nullptr;
  for (Operation *user : value.getUsers()) {
    user = block->findAncestorOpInBlock(*user);
    if (!first || user->isBeforeInBlock(first))
      first = user;
  }
  OpBuilder builder(first);
  auto convert = builder.create<ConvertOp>(
      value.getLoc(), withElement(value.getType(), element), value);
  value.replaceAllUsesExcept(convert, convert);
  return convert;
}

/// Whether the op only moves the elements of its single operand.
static bool movesElements(Operation *op) {
  return op && op->getNumOperands() == 1 && op->getNumRegions() == 0 &&
         isMemoryEffectFree(op) &&
         llvm::all_of(op->getResults(), [&](Value result) {
           return netc::elementOf(result) == netc::elementOf(op->getOperand(0));
         });
}

/// The value that `value` was moved or converted from.
static Value sourceOf(Value value) {
  Operation *maker = value.getDefiningOp();
  while (movesElements(maker) || isa_and_nonnull<ConvertOp>(maker)) {
    value = maker->getOperand(0);
    maker = value.getDefiningOp();
  }
  return value;
}

/// Whether a value is a constant of the specification, which has no format of
/// its own.
static bool isConstant(Value value) {
  return isa_and_nonnull<ConstantOp, LiteralOp, TableOp>(
      sourceOf(value).getDefiningOp());
}

static ParameterOp parameterOf(Value value) {
  return sourceOf(value).getDefiningOp<ParameterOp>();
}

static bool isParameter(Value value) { return bool(parameterOf(value)); }

/// The weight of which the op reads a part, such as rows of an embedding; else
/// null.
static Value lookedUpIn(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (isParameter(operand.get()) &&
        cast<CostOpInterface>(op).getTouched(operand.getOperandNumber()))
      return operand.get();
  return {};
}

/// The parameter that a value is, or in a loop a slice of; else null.
static ParameterOp weightOf(Value value) {
  auto row = dyn_cast<BlockArgument>(sourceOf(value));
  auto scan = row ? dyn_cast<ScanOp>(row.getOwner()->getParentOp()) : ScanOp();
  if (scan && row.getArgNumber() < scan.getSequences().size())
    return weightOf(scan.getSequences()[row.getArgNumber()]);
  return parameterOf(value);
}

static bool isWeight(Value value) { return bool(weightOf(value)); }

/// The sizes of the axes of a product's result that come from a weight, one
/// after another.
static Polynomial featuresOf(Operation *product) {
  Shape y = shapeOf(product->getResult(0));
  if (auto linear = dyn_cast<LinearOp>(product))
    return y.sizes[linear.getOver()];
  if (auto conv = dyn_cast<ConvOp>(product))
    return y.sizes[conv.getChannel()];
  if (auto conv = dyn_cast<ConvTransposeOp>(product))
    return y.sizes[conv.getChannel()];
  auto einsum = dyn_cast<EinsumOp>(product);
  if (!einsum)
    return y.elements();
  SmallVector<AffineMap> maps = einsum.getIndexingMaps();
  Polynomial features(1);
  for (auto [axis, letter] : llvm::enumerate(maps.back().getResults()))
    if (llvm::any_of(einsum->getOpOperands(), [&](OpOperand &x) {
          return isWeight(x.get()) &&
                 llvm::is_contained(maps[x.getOperandNumber()].getResults(),
                                    letter);
        }))
      features *= y.sizes[axis];
  return features;
}

/// Whether a part of a parameter can be the bias of a product: it has no more
/// numbers than there are features. One of each position has more.
static bool isBiasOf(Value value, Operation *product) {
  auto costed = dyn_cast<CostOpInterface>(product);
  if (!costed || costed.getAutocast() != Autocast::Low)
    return false;
  Operation *maker = value.getDefiningOp();
  while (movesElements(maker) && !isa<BroadcastOp>(maker))
    maker = maker->getOperand(0).getDefiningOp();
  Value repeated =
      isa_and_nonnull<BroadcastOp>(maker) ? maker->getOperand(0) : value;
  Polynomial numbers = shapeOf(repeated).elements();
  Polynomial features = featuresOf(product);
  std::optional<int64_t> few = numbers.toInt64(), all = features.toInt64();
  return few && all ? *few <= *all : numbers == features;
}

/// Whether the op is a product with a weight.
static bool isLinearLayer(Operation *op) {
  return isa<LinearOp, EinsumOp>(op) && op->getNumOperands() == 2 &&
         !cast<CostOpInterface>(op).getCost().matmul.isZero() &&
         llvm::any_of(op->getOperands(), isWeight);
}

static Shape shapeOfWeight(Operation *linearLayer) {
  return shapeOf(*llvm::find_if(linearLayer->getOperands(), isWeight));
}

/// The number of rows that a linear layer multiplies by its weight, whatever
/// axes they are spread over.
static Polynomial rowsOf(Operation *linearLayer) {
  return cast<CostOpInterface>(linearLayer).getCost().matmul / 2 /
         shapeOfWeight(linearLayer).elements();
}

/// Whether the sizes of the weight and the number of rows are multiples of
/// `factor` where the network fixes them.
static bool hasMultiples(Operation *op, int64_t factor) {
  auto isMultiple = [&](const Polynomial &size) {
    std::optional<int64_t> number = size.toInt64();
    return !number || *number % factor == 0;
  };
  return isMultiple(rowsOf(op)) &&
         llvm::all_of(shapeOfWeight(op).sizes, isMultiple);
}

/// Linear layers that frameworks do not convert to 8 bits: the last ones, whose
/// results no other linear layer reads, and routers of experts.
static DenseSet<Operation *> findLastAndRouters(Block &step) {
  DenseSet<Operation *> found;
  DenseSet<Value> seen;
  // Backward from the loss, and from the ops that choose experts.
  SmallVector<Value> work(step.getTerminator()->getOperands());
  step.walk([&](TopKOp choice) { work.push_back(choice.getX()); });
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *maker = value.getDefiningOp();
    if (!seen.insert(value).second || !maker)
      continue;
    if (isLinearLayer(maker)) {
      found.insert(maker);
      continue;
    }
    llvm::append_range(work, maker->getOperands());
    if (auto scan = dyn_cast<ScanOp>(maker))
      llvm::append_range(work, scan.getYield().getValues());
  }
  return found;
}

namespace {
/// Assigns formats to the values of a step, in the order of execution.
class Formats {
public:
  Formats(const Precision &precision, MLIRContext *context)
      : f32(Float32Type::get(context)), low(typeOf(precision.low(), context)),
        residual(typeOf(precision.residual, context)),
        weights(typeOf(precision.otherWeights(), context)),
        gradients(typeOf(precision.gradients, context)),
        states(typeOf(precision.states, context)),
        multipleIn8Bits(precision.multipleIn8Bits()),
        isWhole(low != f32 && precision.residual == precision.low()) {
    if (precision.master)
      master = typeOf(*precision.master, context);
    if (std::optional<NumberFormat> gradients = precision.gradientsIn8Bits()) {
      eightBits = typeOf(precision.products, context);
      gradientsIn8Bits = typeOf(*gradients, context);
      areWeightsIn8Bits = precision.weights == precision.products;
    }
  }

  void assignStep(Block &step) {
    if (low == f32 && weights == f32) {
      for (auto parameter : step.getOps<ParameterOp>())
        assignParameter(parameter);
      return;
    }
    if (eightBits)
      notIn8Bits = findLastAndRouters(step);
    if (areWeightsIn8Bits)
      step.walk([&](Operation *op) {
        if (isIn8Bits(op))
          for (Value operand : op->getOperands())
            weightsIn8Bits.insert(weightOf(operand));
      });
    assign(step);
  }

  void assign(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto scan = dyn_cast<ScanOp>(op))
        assignLoop(scan);
      else if (auto parameter = dyn_cast<ParameterOp>(op))
        assignParameter(parameter);
      else if (auto convert = dyn_cast<ConvertOp>(op))
        dropIfSame(convert);
      else if (!isa<OptimizerOp>(op) && !op.hasTrait<OpTrait::IsTerminator>())
        assign(&op);
    }
  }

private:
  static Type typeOf(NumberFormat format, MLIRContext *context) {
    if (format == NumberFormat::BF16)
      return BFloat16Type::get(context);
    if (format == NumberFormat::F16)
      return Float16Type::get(context);
    if (format == NumberFormat::F8E4M3)
      return Float8E4M3FNType::get(context);
    if (format == NumberFormat::F8E5M2)
      return Float8E5M2Type::get(context);
    if (format == NumberFormat::I8)
      return IntegerType::get(context, 8);
    return Float32Type::get(context);
  }

  void assign(Operation *op) {
    if (llvm::none_of(op->getOperands(), isFloatTensor))
      return;
    if (Value weight = lookedUpIn(op);
        weight && isWider(naturalFormat(weight), netc::elementOf(weight)))
      return assignLookUp(op, weight);
    Type format = formatOf(op);
    if (format == eightBits)
      op->setAttr(kGradientFormat, TypeAttr::get(gradientsIn8Bits));
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (!isFloatTensor(value))
        continue;
      // An element-wise op reads each operand in its own format.
      bool isMixed = op->hasTrait<ElementByElement>() && !follows(value, op);
      operand.set(
          converted(value, isMixed ? naturalFormat(value) : format, op));
    }
    inferResults(op, format);
  }

  /// What is looked up is converted, instead of the whole weight.
  void assignLookUp(Operation *op, Value weight) {
    inferResults(op, netc::elementOf(weight));
    for (Value result : op->getResults()) {
      if (result.use_empty() || !isFloatTensor(result))
        continue;
      ConvertOp wider = convertForAll(result, naturalFormat(weight));
      standFor(op->getAttr(kRolled), wider);
      for (StringRef name : {StringRef(kCopy), StringRef(kRecomputed)})
        if (Attribute part = op->getAttr(name))
          wider->setAttr(name, part);
    }
  }

  /// The format in which the op computes.
  Type formatOf(Operation *op) {
    // State keeps its format.
    if (hasEffect<MemoryEffects::Write>(op))
      return netc::elementOf(op->getOperand(0));
    switch (low == f32 ? Autocast::Widest
                       : cast<CostOpInterface>(op).getAutocast()) {
    case Autocast::Low:
      return isIn8Bits(op) ? eightBits : low;
    case Autocast::Full:
      return isWhole ? low : f32;
    case Autocast::Loss:
      return f32;
    case Autocast::Widest:
      break;
    }
    if (movesElements(op))
      return netc::elementOf(op->getOperand(0));
    Type widest;
    for (Value value : op->getOperands())
      if (isFloatTensor(value) && !follows(value, op))
        widest = widerOf(widest, naturalFormat(value));
    return widest ? widest : f32;
  }

  bool isIn8Bits(Operation *op) const {
    return eightBits && isLinearLayer(op) &&
           hasMultiples(op, multipleIn8Bits) && !notIn8Bits.contains(op);
  }

  /// A parameter keeps a type that the specification states, and so do its
  /// gradient and states. Only what learns has a master.
  void assignParameter(ParameterOp parameter) {
    Value value = parameter.getValue();
    if (netc::elementOf(value) != f32)
      return;
    Type read = weightsIn8Bits.contains(parameter) ? eightBits : weights;
    if (!parameter.getTrainable())
      return setElement(value, read);
    Type own = master ? master : read;
    setElement(value, own);
    if (own != read && !value.use_empty()) {
      ConvertOp weight = convertForAll(value, read);
      weight->setAttr(kWeight, UnitAttr::get(parameter.getContext()));
      standFor(parameter->getAttr(kRolled), weight);
    }
    if (gradients != own)
      parameter->setAttr(kGradientFormat, TypeAttr::get(gradients));
    if (states != own)
      parameter->setAttr(kStateFormat, TypeAttr::get(states));
  }

  /// The format of a value before it is converted. If the whole network is in a
  /// low-precision format, so are its inputs and weights, including the rows of
  /// an embedding. Only products read 8 bits, and weights in another format
  /// than the residual.
  Type naturalFormat(Value value) {
    Type element = netc::elementOf(value);
    bool isKept =
        element == weights || (areWeightsIn8Bits && is8BitFloat(value));
    if (isKept && isParameter(value))
      return residual;
    if (is8BitFloat(value))
      return low;
    auto input = dyn_cast<BlockArgument>(sourceOf(value));
    bool isInput = input && isa<StepOp>(input.getOwner()->getParentOp());
    return isWhole && element == f32 && (isInput || isParameter(value))
               ? low
               : element;
  }

  static bool isWider(Type a, Type b) { return widthOf(a) > widthOf(b); }

  static Type widerOf(Type a, Type b) { return !a || isWider(b, a) ? b : a; }

  /// Whether an operand is converted to the format of the others: constants
  /// are, and the bias and scale of a product or a normalization.
  bool follows(Value value, Operation *op) {
    if (isConstant(value))
      return true;
    if (!isParameter(value) || !isa<AddOp, SubOp, MulOp>(op))
      return false;
    Value other = op->getOperand(op->getOperand(0) == value ? 1 : 0);
    auto is = [](Value value, auto predicate) {
      Operation *maker = sourceOf(value).getDefiningOp();
      return maker && predicate(maker);
    };
    auto isProduct = [&](Operation *maker) { return isBiasOf(value, maker); };
    auto isNormalized = [](Operation *maker) {
      return isa<NormalizeOp, RmsNormalizeOp>(maker);
    };
    if (is(other, isNormalized))
      return true;
    if (isa<MulOp>(op))
      return false;
    auto isScaled = [&](Operation *maker) {
      return isa<MulOp>(maker) &&
             llvm::any_of(maker->getOperands(), isParameter) &&
             llvm::any_of(maker->getOperands(),
                          [&](Value x) { return is(x, isNormalized); });
    };
    return is(other, isProduct) || is(other, isScaled);
  }

  static void inferResults(Operation *op, Type format) {
    if (auto inferred = dyn_cast<InferTypeOpInterface>(op)) {
      SmallVector<Type> types;
      LogicalResult result = inferred.inferReturnTypes(
          op->getContext(), op->getLoc(), op->getOperands(),
          op->getAttrDictionary(), op->getPropertiesStorage(), op->getRegions(),
          types);
      assert(succeeded(result) && "a format changes no shape");
      (void)result;
      for (auto [value, type] : llvm::zip_equal(op->getResults(), types))
        value.setType(cast<RankedTensorType>(type));
      return;
    }
    for (Value result : op->getResults())
      if (isFloatTensor(result))
        setElement(result, format);
  }

  /// `value` in this format. It is converted once, before its first user.
  Value converted(Value value, Type format, Operation *user) {
    // What was only widened is rounded from the original.
    while (auto wider = value.getDefiningOp<ConvertOp>()) {
      if (widthOf(netc::elementOf(wider.getY())) <=
          widthOf(netc::elementOf(wider.getX())))
        break;
      value = wider.getX();
    }
    if (netc::elementOf(value) == format)
      return value;
    if (Value copy = copies.lookup({value, format}))
      return copy;
    Block *block = value.getParentBlock();
    OpBuilder builder(block->findAncestorOpInBlock(*user));
    Operation *maker = value.getDefiningOp();
    Type type = withElement(value.getType(), format);
    Value made;
    if (isa_and_nonnull<ConstantOp, TableOp>(maker)) {
      made = builder.clone(*maker)->getResult(0);
      setElement(made, format);
    } else if (format != eightBits && movesElements(maker) &&
               isWorthMoving(maker)) {
      IRMapping operands;
      operands.map(maker->getOperand(0),
                   converted(maker->getOperand(0), format, user));
      Operation *again = builder.clone(*maker, operands);
      for (Value result : again->getResults())
        setElement(result, format);
      for (auto [before, after] :
           llvm::zip_equal(maker->getResults(), again->getResults()))
        copies[{before, format}] = after;
      return again->getResult(cast<OpResult>(value).getResultNumber());
    } else {
      made = builder.create<ConvertOp>(user->getLoc(), type, value);
      if (maker)
        standFor(maker->getAttr(kRolled), made.getDefiningOp());
      // The copy is recomputed with its user, but the copy of a weight is kept.
      if (!isParameter(value))
        for (StringRef name : {StringRef(kCopy), StringRef(kRecomputed)})
          if (Attribute part = user->getAttr(name))
            made.getDefiningOp()->setAttr(name, part);
    }
    return copies[{value, format}] = made;
  }

  /// Whether to convert the operand instead of the result of an op that moves
  /// elements. Only the needed part of a value is converted, but a weight is
  /// converted as a whole.
  static bool isWorthMoving(Operation *maker) {
    Value x = maker->getOperand(0);
    if (isConstant(x) || isParameter(x))
      return true;
    return maker->getNumResults() == 1 &&
           (isa<BroadcastOp>(maker) ||
            shapeOf(maker->getResult(0)).elements() == shapeOf(x).elements());
  }

  void assignLoop(ScanOp scan) {
    Block &body = scan.getBlock();
    size_t sequences = scan.getSequences().size();
    // In the loop, an input or a weight is no longer seen as one.
    for (OpOperand &operand : scan->getOpOperands()) {
      Value value = operand.get();
      if (isWhole && netc::elementOf(value) == f32 &&
          naturalFormat(value) == low)
        operand.set(converted(value, low, scan));
    }
    for (auto [i, sequence] : llvm::enumerate(scan.getSequences()))
      setElement(body.getArgument(i), netc::elementOf(sequence));
    for (OpOperand &init : scan.getInitsMutable()) {
      // A carried value that starts from a constant has the format in which an
      // iteration computes it.
      if (isFloatTensor(init.get()) && isConstant(init.get()))
        init.set(converted(init.get(), low, scan));
      setElement(body.getArgument(init.getOperandNumber()),
                 netc::elementOf(init.get()));
    }
    assign(body);
    YieldOp yield = scan.getYield();
    unsigned numOutputs = scan.getNumOutputs();
    auto yielded = [&](OpOperand &init) -> OpOperand & {
      return yield->getOpOperand(numOutputs + init.getOperandNumber() -
                                 sequences);
    };
    bool isWidened = false;
    for (OpOperand &init : scan.getInitsMutable()) {
      Type next = netc::elementOf(yielded(init).get());
      if (!isFloatTensor(init.get()) || !isConstant(init.get()) ||
          widthOf(next) <= widthOf(netc::elementOf(init.get())))
        continue;
      init.set(converted(init.get(), next, scan));
      setElement(body.getArgument(init.getOperandNumber()), next);
      isWidened = true;
    }
    if (isWidened)
      assign(body);
    for (OpOperand &init : scan.getInitsMutable())
      if (isFloatTensor(init.get()))
        yielded(init).set(
            converted(yielded(init).get(), netc::elementOf(init.get()), yield));
    for (auto [result, value] :
         llvm::zip_equal(scan.getResults(), yield.getValues()))
      setElement(result, netc::elementOf(value));
    convertSequences(scan);
  }

  /// A sequence whose slices are all converted is converted as a whole.
  void convertSequences(ScanOp scan) {
    for (OpOperand &sequence : scan.getSequencesMutable()) {
      Value element = scan.getBlock().getArgument(sequence.getOperandNumber());
      if (element.use_empty())
        continue;
      auto first = dyn_cast<ConvertOp>(*element.getUsers().begin());
      Type format = first ? netc::elementOf(first.getY()) : Type();
      if (!llvm::all_of(element.getUsers(), [&](Operation *user) {
            return isa<ConvertOp>(user) &&
                   netc::elementOf(user->getResult(0)) == format;
          }))
        continue;
      sequence.set(converted(sequence.get(), format, scan));
      setElement(element, format);
      for (Operation *user : llvm::make_early_inc_range(element.getUsers())) {
        user->getResult(0).replaceAllUsesWith(element);
        user->erase();
      }
      copies.erase({element, format});
    }
  }

  Type f32, low, residual, weights, gradients, states;
  Type master;                      ///< null without a master
  Type eightBits, gradientsIn8Bits; ///< null without 8-bit formats
  bool areWeightsIn8Bits = false;   ///< those that products in 8 bits read
  int64_t multipleIn8Bits;
  DenseSet<Operation *> notIn8Bits;
  DenseSet<Operation *> weightsIn8Bits;
  bool isWhole; ///< whether more than the products is in low precision
  DenseMap<std::pair<Value, Type>, Value> copies;
};

/// Warns of numbers that overflow f16. A mask of -1e9 becomes -inf, and the
/// softmax of a row of -inf is NaN.
static void warnOfLargeNumbers(StepOp step) {
  auto check = [&](Operation *op, Value value, const APFloat &number) {
    double size = std::abs(number.convertToDouble());
    if (!netc::elementOf(value).isF16() || std::isinf(size) || size < 65520)
      return;
    warn(op->getLoc(), step.getSymName(), WarningId::NotOfF16)
        << number.convertToDouble() << " is infinite in f16, whose largest "
        << "number is 65504; write -inf in a mask, or a smaller number";
  };
  step.walk([&](Operation *op) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      check(op, constant.getY(), constant.getValue());
    else if (auto mask = dyn_cast<MaskOp>(op); mask && !mask.isFree())
      check(op, mask.getY(), mask.getValue());
  });
}

struct ApplyPrecision : netc::impl::ApplyPrecisionBase<ApplyPrecision> {
  void runOnOperation() override {
    for (auto step : getOperation().getOps<StepOp>()) {
      std::optional<Precision> precision =
          parsePrecision(step.getRun().getFacts().precision);
      if (!precision)
        continue;
      if (precision->isF64())
        widenToF64(step);
      else
        Formats(*precision, &getContext()).assignStep(step.getBlock());
      step.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
        if (isMemoryEffectFree(op) && isOpTriviallyDead(op))
          op->erase();
      });
      warnOfLargeNumbers(step);
      warnOfRows(step, step);
    }
  }
};
} // namespace

void netc::warnOfRows(StepOp typed, StepOp run) {
  const RunFacts &facts = run.getRun().getFacts();
  std::optional<Precision> precision = parsePrecision(facts.precision);
  // Only training sums over rows, for the gradient of the weight.
  if (!precision || !precision->gradientsIn8Bits() || facts.isInference)
    return;
  const int64_t multiple = precision->multipleIn8Bits();
  auto fixedSize = [&](StringRef axis) -> std::optional<Polynomial> {
    auto size = run.getAxes().getAs<MomentsAttr>(axis);
    return size && size.getValue().isFixed()
               ? std::optional(Polynomial(size.getValue().mean()))
               : std::nullopt;
  };
  typed.walk([&](Operation *op) {
    if (phaseOf(op) != Phase::Forward || !op->hasAttr(kGradientFormat) ||
        !isLinearLayer(op))
      return WalkResult::advance();
    std::optional<int64_t> rows = rowsOf(op).substitute(fixedSize).toInt64();
    if (!rows || *rows % multiple == 0)
      return WalkResult::advance();
    auto name = op->getLoc()->findInstanceOf<NameLoc>();
    warn(placeOf(run, "precision"), run.getSymName(), WarningId::RowsIn8Bits)
        << "`"
        << (name ? name.getName().getValue() : op->getName().stripDialect())
        << "` has " << *rows
        << " rows, and the gradient of its weight in 8 bits sums over a "
           "multiple of "
        << multiple << "; it is counted in 8 bits all the same";
    return WalkResult::interrupt();
  });
}
