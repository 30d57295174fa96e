// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Updates of one parameter by its gradient.

#include "dialect/Net.h"

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
  return checkUpdate(loc, getOperationName(), adaptor.getParameter(),
                     adaptor.getGradient());
}

unsigned SgdOp::getNumStates() { return isSet(getMomentum()) ? 1 : 0; }

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
