// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Losses.

#include "dialect/Net.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using namespace mlir;

/// Whether a floating-point target has the element type of `x`. An integer
/// target is converted.
static LogicalResult checkTargetElement(std::optional<Location> loc,
                                        StringRef op, Value x, Value target) {
  if (isa<IntegerType>(elementOf(target)))
    return success();
  return checkSameElement(loc, op, {x, target});
}

//===----------------------------------------------------------------------===//
// CrossEntropyOp
//===----------------------------------------------------------------------===//

/// How to write a class for each position, where the target has fewer axes.
static std::string adviseOnClasses(const Shape &logits, int64_t over,
                                   Value target) {
  Shape positions = logits.without(over);
  size_t rank = std::max<size_t>(shapeOf(target).rank(), 1);
  if (rank >= positions.rank())
    return "";
  std::vector<std::string> axes;
  for (size_t axis = rank; axis < positions.rank(); ++axis)
    axes.push_back(positions[axis].str());
  return "; a class of each position is `class(" + logits[over].str() + ")[" +
         llvm::join(axes, ", ") + "]`";
}

/// The checks that the loss and its gradient share.
static LogicalResult checkClasses(std::optional<Location> loc, StringRef op,
                                  Value logits, Value target, int64_t over,
                                  const llvm::APFloat &smoothing) {
  Shape shape = shapeOf(logits);
  if (failed(checkAxes(loc, op, over, shape.rank())) ||
      failed(checkTargetElement(loc, op, logits, target)))
    return failure();
  // Written so that NaN is refused too.
  double share = smoothing.convertToDouble();
  if (!(share >= 0 && share <= 1)) {
    SmallString<16> text;
    smoothing.toString(text);
    return emitOptionalError(loc, "smoothing is ", text.str(),
                             ", possible are 0 to 1");
  }
  if (isa<IntegerType>(elementOf(target)))
    return checkSameShape(
        loc, op, shape.without(over), "in the logits without their classes",
        shapeOf(target),
        "in the target" + adviseOnClasses(shape, over, target));
  return checkSameShape(loc, op, shape, "in the logits", shapeOf(target),
                        "in the target; classes are whole numbers, and have "
                        "no such axis");
}

/// The value that class indices come from, before they were moved or converted.
static Value sourceOfClasses(Value value) {
  while (true) {
    Operation *op = value.getDefiningOp();
    if (op && op->getNumOperands() == 1 &&
        isa<IntegerType>(elementOf(op->getOperand(0)))) {
      value = op->getOperand(0);
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(value);
    auto scan =
        argument ? dyn_cast_or_null<ScanOp>(argument.getOwner()->getParentOp())
                 : nullptr;
    if (!scan || argument.getArgNumber() >= scan.getSequences().size())
      return value;
    value = scan.getSequences()[argument.getArgNumber()];
  }
}

LogicalResult CrossEntropyOp::verify() {
  auto input = dyn_cast<BlockArgument>(sourceOfClasses(getTarget()));
  auto step = input ? dyn_cast_or_null<StepOp>(input.getOwner()->getParentOp())
                    : nullptr;
  if (!step || !hasClassNumbers() ||
      input.getArgNumber() >= step.getInputs().size())
    return success();
  auto name = cast<StringAttr>(step.getInputs()[input.getArgNumber()]);
  auto classes = step.getClasses().getAs<PolynomialAttr>(name);
  Polynomial expected = shapeOf(getLogits())[getOver()];
  if (!classes)
    return success();
  // A free axis may get the expected size later.
  Polynomial difference = classes.getValue() - expected;
  if (difference.isZero() || !difference.isConstant())
    return success();
  return emitError() << "the logits have " << expected.str() << " classes, "
                     << "`" << name.getValue() << "` has "
                     << classes.getValue().str();
}

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> loc,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  Value logits = adaptor.getLogits();
  types.assign({tensorOf(elementOf(logits), Shape()), logits.getType()});
  return checkClasses(loc, getOperationName(), logits, adaptor.getTarget(),
                      adaptor.getOver(), adaptor.getSmoothing());
}

Polynomial CrossEntropyOp::getRows() {
  return shapeOf(getLogits()).without(getOver()).elements();
}

Polynomial CrossEntropyOp::getIndexBound() {
  return shapeOf(getLogits())[getOver()];
}

LogicalResult CrossEntropyOp::buildGradient(Gradients &gradients) {
  if (gradients.of(1))
    return emitError()
           << "cannot differentiate `cross_entropy` through its probabilities";
  if (gradients.wants(1))
    return emitError() << "cannot differentiate `cross_entropy` by its target";
  gradients.set(0, gradients.create<CrossEntropyGradOp>(
                       gradients.of(0), getProbabilities(), getTarget(),
                       getSmoothing(), getOver()));
  return success();
}

LogicalResult
CrossEntropyGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                     Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getProbabilities().getType());
  return checkClasses(loc, getOperationName(), adaptor.getProbabilities(),
                      adaptor.getTarget(), adaptor.getOver(),
                      adaptor.getSmoothing());
}

//===----------------------------------------------------------------------===//
// BceOp, MseOp
//===----------------------------------------------------------------------===//

/// Appends `type` if x and the target have the same shape and comparable
/// elements.
static LogicalResult inferCompared(std::optional<Location> loc, StringRef op,
                                   Value x, Value target, Type type,
                                   SmallVectorImpl<Type> &types) {
  types.push_back(type);
  if (failed(checkTargetElement(loc, op, x, target)))
    return failure();
  return checkSameShape(loc, op, shapeOf(x), "on the left", shapeOf(target),
                        "in the target");
}

LogicalResult BceOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  Value x = adaptor.getX();
  return inferCompared(loc, getOperationName(), x, adaptor.getTarget(),
                       tensorOf(elementOf(x), Shape()), types);
}

LogicalResult BceOp::buildGradient(Gradients &gradients) {
  if (gradients.wants(1))
    return emitError() << "cannot differentiate `bce` by its target";
  gradients.set(
      0, gradients.create<BceGradOp>(gradients.of(0), getX(), getTarget()));
  return success();
}

LogicalResult BceGradOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  Value x = adaptor.getX();
  return inferCompared(loc, getOperationName(), x, adaptor.getTarget(),
                       x.getType(), types);
}

LogicalResult MseOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  Value x = adaptor.getX();
  return inferCompared(loc, getOperationName(), x, adaptor.getTarget(),
                       tensorOf(elementOf(x), Shape()), types);
}

LogicalResult MseOp::buildGradient(Gradients &gradients) {
  Value dx = gradients.create<MseGradOp>(gradients.of(0), getX(), getTarget());
  if (gradients.wants(0))
    gradients.set(0, dx);
  if (gradients.wants(1))
    gradients.set(1, gradients.create<NegOp>(dx));
  return success();
}

LogicalResult MseGradOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  Value x = adaptor.getX();
  return inferCompared(loc, getOperationName(), x, adaptor.getTarget(),
                       x.getType(), types);
}
