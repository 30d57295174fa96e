// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/Causal.h"

using namespace netc;
using namespace mlir;

static bool isCausalMask(Operation *op) {
  auto mask = dyn_cast<MaskOp>(op);
  return mask && mask.getCausal();
}

/// Whether the op computes each element from those at the same place, or along
/// one axis, of operands of one shape. A product mixes elements, and what
/// computes nothing may move them.
static bool keepsPlaces(CostOpInterface op) {
  return op->getNumRegions() == 0 && op.getCost().matmul.isZero() &&
         (!isMemoryEffectFree(op) || isa<ConvertOp>(op));
}

namespace {
/// Masks flow down, from operands to results, and needs flow up, from results
/// to operands. Both are about the last two axes of a tensor.
class CausalMasks {
public:
  explicit CausalMasks(Operation *graph) {
    SmallVector<CostOpInterface> ops;
    graph->walk<WalkOrder::PreOrder>([&](CostOpInterface op) {
      if (op != graph)
        ops.push_back(op);
    });
    for (CostOpInterface op : ops)
      flowDown(op);
    for (CostOpInterface op : llvm::reverse(ops))
      for (Value result : op->getResults())
        if (isNeededBelowDiagonal(result))
          halfNeeded.insert(result);
    for (CostOpInterface op : ops)
      if (std::optional<Polynomial> size = causalSize(op))
        products.try_emplace(op, *size);
  }

  DenseMap<Operation *, Polynomial> products;

private:
  /// Operands of `op` that are masked like a tensor of this shape.
  bool readsMasked(Operation *op, const Shape &shape) const {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return masked.contains(operand) && shapeOf(operand) == shape;
    });
  }

  void flowDown(CostOpInterface op) {
    for (Value result : op->getResults())
      if (isCausalMask(op) ||
          (keepsPlaces(op) && readsMasked(op, shapeOf(result))))
        masked.insert(result);
  }

  /// Whether an op reads nothing of an operand but its shape.
  static bool readsNothing(OpOperand &use) {
    auto op = dyn_cast<CostOpInterface>(use.getOwner());
    std::optional<Polynomial> touched =
        op ? op.getTouched(use.getOperandNumber()) : std::nullopt;
    return touched && touched->isZero();
  }

  bool isNeededBelowDiagonal(Value value) const {
    Shape shape = shapeOf(value);
    return !value.use_empty() &&
           llvm::all_of(value.getUses(), [&](OpOperand &use) {
             Operation *user = use.getOwner();
             if (isCausalMask(user) || readsNothing(use))
               return true;
             auto op = dyn_cast<CostOpInterface>(user);
             if (!op || !keepsPlaces(op) || op->getNumResults() == 0)
               return false;
             return llvm::all_of(op->getResults(), [&](Value result) {
               return shapeOf(result) == shape &&
                      (masked.contains(result) || halfNeeded.contains(result));
             });
           });
  }

  /// L, if `op` is a product that counts half.
  std::optional<Polynomial> causalSize(CostOpInterface op) const {
    auto sizeIn = [](Value value) -> std::optional<Polynomial> {
      Shape shape = shapeOf(value);
      size_t rank = shape.rank();
      if (rank < 2 || shape[rank - 1] != shape[rank - 2])
        return std::nullopt;
      return shape[rank - 1];
    };
    if (!isa<EinsumOp>(op) || op.getCost().matmul.isZero())
      return std::nullopt;
    for (Value operand : op->getOperands())
      if (masked.contains(operand))
        return sizeIn(operand);
    Value result = op->getResult(0);
    return halfNeeded.contains(result) ? sizeIn(result) : std::nullopt;
  }

  DenseSet<Value> masked, halfNeeded;
};
} // namespace

DenseMap<Operation *, Polynomial> netc::findCausalProducts(Operation *graph) {
  return std::move(CausalMasks(graph).products);
}
