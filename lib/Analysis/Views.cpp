// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/Views.h"

using namespace netc;
using namespace mlir;

bool netc::isHeld(Operation *op) {
  return op->getNumOperands() == 0 && op->getNumRegions() == 0 &&
         op->getNumResults() != 0;
}

bool netc::isView(Operation *op) {
  if (isHeld(op) || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return false;
  return llvm::all_of(op->getResults(), [&](Value result) {
    return elementOf(result) == elementOf(op->getOperand(0));
  });
}

bool netc::isFormatChange(Operation *op) {
  auto convert = dyn_cast_or_null<ConvertOp>(op);
  return convert && isFloat(convert.getX()) && isFloat(convert.getY());
}

bool netc::isCopyOfHeld(Value value) {
  if (!value || !isFormatChange(value.getDefiningOp()))
    return false;
  bool isHeldOnly = true;
  forEachSource(value, [&](Value source) {
    Operation *op = source.getDefiningOp();
    isHeldOnly &= op && isHeld(op);
  });
  return isHeldOnly;
}

UnfoldOp netc::unfoldOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && (isView(op) || isFormatChange(op)) && !isa<UnfoldOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<UnfoldOp>(op);
}

Value netc::sequenceOf(Value element) {
  auto argument = dyn_cast<BlockArgument>(element);
  auto loop = argument ? dyn_cast<ScanOp>(argument.getOwner()->getParentOp())
                       : ScanOp();
  if (!loop || argument.getArgNumber() >= loop.getSequences().size())
    return {};
  return loop.getSequences()[argument.getArgNumber()];
}

DispatchOp netc::dispatchOf(ScanOp loop) {
  DispatchOp found;
  for (Value sequence : loop.getSequences())
    forEachSource(sequence, [&](Value slots) {
      if (auto dispatch = slots.getDefiningOp<DispatchOp>())
        found = dispatch;
    });
  return found;
}

Polynomial netc::bytesOf(Value value) {
  return shapeOf(value).elements() * bytesOf(elementOf(value));
}

Polynomial netc::bytesOfState(Operation *op, const Polynomial &elements,
                              Type own) {
  Type format = statedFormat(op, kStateFormat, own);
  Polynomial bytes = elements * bytesOf(format);
  if (format.isInteger())
    if (std::optional<Rational> number = elements.constant())
      bytes += (*number / 256).ceil() * 4;
  return bytes;
}

void netc::forEachBase(SmallVectorImpl<Value> &work,
                       llvm::SmallDenseSet<Value, 4> &seen,
                       function_ref<void(Value)> function,
                       function_ref<bool(Operation *)> isPassed) {
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (op && isPassed(op))
      llvm::append_range(work, op->getOperands());
    else
      function(value);
  }
}

void netc::forEachBase(Value value, function_ref<void(Value)> function) {
  SmallVector<Value> work{value};
  llvm::SmallDenseSet<Value, 4> seen;
  forEachBase(work, seen, function);
}

void netc::forEachSource(Value value, function_ref<void(Value)> function) {
  forEachBase(value, [&](Value base) {
    if (isFormatChange(base.getDefiningOp()))
      forEachSource(base.getDefiningOp()->getOperand(0), function);
    else
      function(base);
  });
}
