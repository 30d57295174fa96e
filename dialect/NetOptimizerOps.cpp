// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Updates of one parameter by its gradient.

#include "dialect/Repetition.h"

using namespace netc;
using namespace mlir;

static LogicalResult checkUpdate(std::optional<Location> loc, StringRef op,
                                 Value parameter, Value gradient) {
  return checkSameShape(loc, op, shapeOf(parameter), "in the parameter",
                        shapeOf(gradient), "in its gradient");
}

LogicalResult SgdOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &) {
  if (adaptor.getNesterov() && !isSet(adaptor.getMomentum()))
    return emitOptionalError(loc, "nesterov needs a momentum");
  if (adaptor.getSparse() &&
      (isSet(adaptor.getMomentum()) || isSet(adaptor.getWeightDecay())))
    return emitOptionalError(
        loc, "`sparse` touches only the rows that a step read, so it goes "
             "without momentum and weight decay");
  return checkUpdate(loc, getOperationName(), adaptor.getParameter(),
                     adaptor.getGradient());
}

unsigned SgdOp::getNumStates() { return isSet(getMomentum()) ? 1 : 0; }

/// The value before it was reshaped to the vector that update rules read.
static Value throughReshape(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  return reshape ? reshape.getX() : value;
}

/// Collects the look-up gradients that `gradient` is a sum of. Returns false if
/// it has any other part.
static bool collectLookups(Value gradient,
                           SmallVectorImpl<EmbeddingGradOp> &lookups) {
  Value value = throughReshape(gradient);
  if (auto sum = value.getDefiningOp<AddOp>())
    return collectLookups(sum.getA(), lookups) &&
           collectLookups(sum.getB(), lookups);
  auto scatter = value.getDefiningOp<EmbeddingGradOp>();
  lookups.push_back(scatter);
  return scatter != nullptr;
}

LogicalResult SgdOp::canonicalize(SgdOp op, PatternRewriter &rewriter) {
  SmallVector<EmbeddingGradOp> lookups;
  if (!op.getSparse() || !collectLookups(op.getGradient(), lookups))
    return failure();
  // An update by a sum equals one update per summand.
  for (EmbeddingGradOp scatter : lookups) {
    auto sparse = rewriter.create<SparseSgdOp>(
        op.getLoc(), throughReshape(op.getParameter()), scatter.getDy(),
        scatter.getIds(), op.getLr());
    sparse->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    standFor(scatter->getAttr(kRolled), sparse);
  }
  rewriter.eraseOp(op);
  return success();
}

LogicalResult SparseSgdOp::verify() {
  Shape table = shapeOf(getTable()), dy = shapeOf(getDy()),
        ids = shapeOf(getIds());
  ids.sizes.push_back(table.rank() == 2 ? table[1] : Polynomial());
  if (table.rank() != 2 || !(dy == ids))
    return emitOpError("takes a row of the table for each number in `ids`");
  return success();
}

unsigned SparseSgdOp::getNumStates() { return 0; }

std::optional<Polynomial> SparseSgdOp::getTouched(unsigned operand) {
  if (operand == 0) // only the rows that were read
    return shapeOf(getDy()).elements();
  return std::nullopt;
}

LogicalResult AdamOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &) {
  return checkUpdate(loc, getOperationName(), adaptor.getParameter(),
                     adaptor.getGradient());
}

unsigned AdamOp::getNumStates() { return 2; }

LogicalResult AdamwOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &) {
  return checkUpdate(loc, getOperationName(), adaptor.getParameter(),
                     adaptor.getGradient());
}

unsigned AdamwOp::getNumStates() { return 2; }

LogicalResult AssignOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &) {
  return checkSameShape(loc, getOperationName(), shapeOf(adaptor.getHeld()),
                        "in the place", shapeOf(adaptor.getValue()),
                        "in the value");
}

unsigned AssignOp::getNumStates() { return 0; }
