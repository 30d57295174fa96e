// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Conversion/OpTable.h"

#include "dialect/Net.h"
#include "dialect/Repetition.h"
#include "lib/Analysis/Cost.h"
#include "lib/Analysis/Memory.h"
#include "lib/Hardware/Precision.h"

using namespace netc;
using namespace mlir;

namespace {
class Table {
public:
  explicit Table(StepOp step) : builder(step.getContext()) {
    auto precision = parsePrecision(step.getRun().getFacts().precision);
    if (precision && precision->products == NumberFormat::TF32)
      products = builder.getTF32Type();
  }

  ArrayAttr get() { return builder.getArrayAttr(rows); }

  void addRow(Operation *op, const Polynomial &times) {
    Cost cost = cast<CostOpInterface>(op).getCost() * times;
    auto count = [](const Polynomial &value) {
      return value.toInt64().value_or(0);
    };
    Traffic traffic = trafficOf(op, [](Value value) { return bytesOf(value); });
    rows.push_back(OpRowAttr::get(
        op->getContext(), nameOf(op), op->getName().stripDialect(),
        enclosingPhase(op), count(cost.matmul), count(cost.other),
        count(cost.transcendental),
        count((traffic.read + traffic.written) * times),
        cost.matmul.isZero() ? FloatType() : formatOfProduct(op)));
    auto number = builder.getI64IntegerAttr(rows.size() - 1);
    op->setLoc(FusedLoc::get(op->getContext(), {op->getLoc()}, number));
  }

private:
  FloatType formatOfProduct(Operation *op) {
    FloatType widest = widestFloat(op->getOperands());
    return widest && widest.isF32() ? products : widest;
  }

  Builder builder;
  /// What a product of f32 multiplies on a target that rounds to it.
  FloatType products = builder.getF32Type();
  SmallVector<Attribute> rows;
};
} // namespace

void netc::numberOps(StepOp step) {
  Table table(step);
  forEachExecution(
      step.getBlock(), 1,
      [&](Operation *op, const Polynomial &times) { table.addRow(op, times); });
  step->getParentOfType<ModuleOp>()->setAttr(OpRowAttr::kOfModule, table.get());
}

std::optional<unsigned> netc::opNumberOf(Location loc) {
  std::optional<unsigned> number;
  loc->walk([&](Location part) {
    if (auto fused = dyn_cast<FusedLoc>(part))
      if (auto attr = dyn_cast_or_null<IntegerAttr>(fused.getMetadata())) {
        number = attr.getInt();
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return number;
}
