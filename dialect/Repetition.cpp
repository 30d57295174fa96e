// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Repetition.h"

using namespace netc;
using namespace mlir;

/// The product of the numbers in `rolled`, a value of kRolled or null.
static Rational copiesIn(DictionaryAttr rolled) {
  Rational copies = 1;
  if (rolled)
    for (NamedAttribute repeat : rolled)
      copies *= cast<IntegerAttr>(repeat.getValue()).getInt();
  assert((!copies.isValid() || copies >= 1) &&
         "an op stands for itself at least");
  return copies;
}

Rational netc::copiesOf(Operation *op) {
  return copiesIn(
      dyn_cast_or_null<DictionaryAttr>(op->getDiscardableAttr(kRolled)));
}

Rational netc::copiesOf(OpOperand &operand) {
  auto rolled = dyn_cast_or_null<ArrayAttr>(
      operand.getOwner()->getDiscardableAttr(kRolledOperands));
  return rolled ? copiesIn(
                      cast<DictionaryAttr>(rolled[operand.getOperandNumber()]))
                : 1;
}

void netc::standFor(Attribute rolled, Operation *op) {
  if (rolled)
    op->setAttr(kRolled, rolled);
}

void netc::forEachInserted(OpBuilder &builder, function_ref<void()> insert,
                           function_ref<void(Operation &)> function) {
  Block *block = builder.getInsertionBlock();
  Block::iterator end = builder.getInsertionPoint();
  Operation *before = end == block->begin() ? nullptr : &*std::prev(end);
  insert();
  for (Operation &op : llvm::make_range(
           before ? std::next(before->getIterator()) : block->begin(), end))
    function(op);
}

void netc::forEachExecution(
    Block &block, const Polynomial &times,
    function_ref<void(Operation *, const Polynomial &)> function) {
  SmallPtrSet<Operation *, 4> omitted;
  Polynomial butLast = times;
  if (auto scan = dyn_cast_or_null<ScanOp>(block.getParentOp())) {
    omitted = scan.getOpsOmittedLast();
    const Polynomial &trip = scan.getTrip().getValue();
    butLast = times / trip * (trip - 1);
  }
  for (Operation &op : block) {
    Polynomial ofOp = omitted.contains(&op) ? butLast : times;
    if (op.getDiscardableAttr(kRolled))
      ofOp = ofOp * copiesOf(&op);
    function(&op, ofOp);
    if (auto scan = dyn_cast<ScanOp>(op))
      forEachExecution(scan.getBlock(), ofOp * scan.getTrip().getValue(),
                       function);
    else if (auto when = dyn_cast<WhenOp>(op))
      forEachExecution(when.getBlock(), ofOp, function);
  }
}
