// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Repetition.h"

using namespace netc;
using namespace mlir;

#include "dialect/NetDialect.cpp.inc"

void NetDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialect/NetOps.cpp.inc"
      >();
}

/// Whether `value` can be the value of kRolled.
static bool isRolled(Attribute value) {
  auto rolled = dyn_cast<DictionaryAttr>(value);
  return rolled && llvm::all_of(rolled, [](NamedAttribute copies) {
           auto number = dyn_cast<IntegerAttr>(copies.getValue());
           return number && number.getInt() >= 1;
         });
}

/// What the value of a discardable attribute of `op` must be, if it is not.
static StringRef lackOf(Operation *op, StringRef name, Attribute value) {
  if (name == kPhase)
    return isa<PhaseAttr>(value) ? "" : "a phase";
  if (name == kDraw || name == kRecomputed)
    return isa<IntegerAttr>(value) ? "" : "a number";
  if (name == kCopy)
    return isa<StringAttr>(value) ? "" : "the path of an instance";
  if (name == kGradientFormat) {
    auto format = dyn_cast<TypeAttr>(value);
    return format && isa<FloatType>(format.getValue()) ? "" : "a float type";
  }
  if (name == kStateFormat) {
    auto format = dyn_cast<TypeAttr>(value);
    return format && format.getValue().isIntOrFloat() ? "" : "a number type";
  }
  if (name == kWeight)
    return isa<UnitAttr>(value) ? "" : "no value";
  if (name == kRolled)
    return isRolled(value) ? "" : "numbers of copies from 1";
  if (name == kRolledOperands) {
    auto ofOperands = dyn_cast<ArrayAttr>(value);
    return ofOperands && ofOperands.size() == op->getNumOperands() &&
                   llvm::all_of(ofOperands, isRolled)
               ? ""
               : "numbers of copies from 1, of each operand";
  }
  return "";
}

LogicalResult NetDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  StringRef lack = lackOf(op, attribute.getName(), attribute.getValue());
  if (lack.empty())
    return success();
  return op->emitOpError() << "has " << attribute.getValue() << " as `"
                           << attribute.getName().getValue() << "`, expected "
                           << lack;
}

void netc::setPhase(Operation *op, Phase phase) {
  op->setDiscardableAttr(kPhase, PhaseAttr::get(op->getContext(), phase));
}

Phase netc::phaseOf(Operation *op) {
  auto phase = dyn_cast_or_null<PhaseAttr>(op->getDiscardableAttr(kPhase));
  return phase ? phase.getValue() : Phase::Forward;
}
