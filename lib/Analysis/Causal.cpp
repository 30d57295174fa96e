// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/Causal.h"

using namespace netc;
using namespace mlir;

static MaskOp causalMask(Operation *op) {
  auto mask = dyn_cast<MaskOp>(op);
  return mask && mask.getCausal() ? mask : MaskOp();
}

/// Whether the op computes each element from the same element, or from the same
/// row along one axis, of operands of equal shape. Products do not, since they
/// mix elements. Neither do ops without arithmetic, which may move elements.
static bool keepsPlaces(CostOpInterface op) {
  return op->getNumRegions() == 0 && op.getCost().matmul.isZero() &&
         (!isMemoryEffectFree(op) || isa<ConvertOp>(op));
}

/// Whether the op only adds or drops columns behind those that the mask is for,
/// so that elements keep their places.
static bool keepsColumns(Operation *op, MaskOp mask) {
  auto columnsOf = [](Value value) { return shapeOf(value).sizes.back(); };
  auto isBehind = [&](Value narrow, uint64_t axis, const Polynomial &start) {
    return start.isZero() && axis + 1 == shapeOf(narrow).rank() &&
           columnsOf(narrow) == columnsOf(mask.getY());
  };
  if (auto concat = dyn_cast<ConcatOp>(op))
    return isBehind(concat.getXs()[0], concat.getOver(), 0);
  if (auto slice = dyn_cast<SliceOp>(op))
    return isBehind(slice.getY(), slice.getAxis(), slice.getStart().getValue());
  if (auto grad = dyn_cast<SliceGradOp>(op))
    return isBehind(grad.getDy(), grad.getAxis(), grad.getStart().getValue());
  return false;
}

namespace {
/// Propagates masks down from operands to results, and uses up from results to
/// operands. Both are about the last two axes of a tensor.
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
        if (MaskOp mask = maskOfUses(result))
          needed[result] = mask;
    for (CostOpInterface op : ops)
      if (std::optional<CausalProduct> product = causalProduct(op))
        products.try_emplace(op, *product);
  }

  DenseMap<Operation *, CausalProduct> products;

private:
  /// The mask of operands of `op` that have this shape; null if none has.
  MaskOp maskOfOperands(Operation *op, const Shape &shape) const {
    for (Value operand : op->getOperands())
      if (MaskOp mask = masked.lookup(operand);
          mask && shapeOf(operand) == shape)
        return mask;
    return {};
  }

  void flowDown(CostOpInterface op) {
    for (Value result : op->getResults()) {
      MaskOp mask = causalMask(op);
      if (!mask && keepsPlaces(op))
        mask = maskOfOperands(op, shapeOf(result));
      if (!mask && op->getNumOperands() != 0)
        if (MaskOp before = masked.lookup(op->getOperand(0));
            before && keepsColumns(op, before))
          mask = before;
      if (mask)
        masked[result] = mask;
    }
  }

  /// Whether a use reads only the shape of its operand.
  static bool readsNothing(OpOperand &use) {
    auto op = dyn_cast<CostOpInterface>(use.getOwner());
    std::optional<Polynomial> touched =
        op ? op.getTouched(use.getOperandNumber()) : std::nullopt;
    return touched && touched->isZero();
  }

  /// The mask that hides elements of `value` from all of its uses; null if a
  /// use reads hidden ones.
  MaskOp maskOfUses(Value value) const {
    Shape shape = shapeOf(value);
    MaskOp found;
    for (OpOperand &use : value.getUses()) {
      if (readsNothing(use))
        continue;
      Operation *user = use.getOwner();
      MaskOp mask = causalMask(user);
      auto op = dyn_cast<CostOpInterface>(user);
      if (!mask && op && op->getNumResults() == 1) {
        Value result = op->getResult(0);
        MaskOp behind = masked.lookup(result);
        if (!behind)
          behind = needed.lookup(result);
        if (behind &&
            ((keepsPlaces(op) && shapeOf(result) == shape) ||
             (use.getOperandNumber() == 0 && keepsColumns(op, behind))))
          mask = behind;
      }
      if (!mask || (found && found.getWindow() != mask.getWindow()))
        return {};
      found = mask;
    }
    return found;
  }

  std::optional<CausalProduct> causalProduct(CostOpInterface op) const {
    if (!isa<EinsumOp>(op) || op.getCost().matmul.isZero())
      return std::nullopt;
    for (Value operand : op->getOperands())
      if (MaskOp mask = masked.lookup(operand))
        return productBehind(mask, operand);
    Value result = op->getResult(0);
    MaskOp mask = needed.lookup(result);
    return mask ? productBehind(mask, result) : std::nullopt;
  }

  /// The product of `value`, if its rows and columns are those that the mask is
  /// for.
  static std::optional<CausalProduct> productBehind(MaskOp mask, Value value) {
    Shape shape = shapeOf(value);
    if (shape.rank() < 2)
      return std::nullopt;
    Polynomial rows = shape[shape.rank() - 2], columns = shape.sizes.back();
    // Free rows are taken to be no fewer than fixed columns.
    bool isOpen = columns.isConstant() && !rows.isConstant();
    if (!isOpen && Polynomial::minimum(rows, columns) != columns)
      return std::nullopt;
    Polynomial seen = columns;
    if (int64_t window = mask.getWindow())
      seen = Polynomial::minimum(window, seen);
    // Row t sees t + 1 positions, at most `seen`.
    return CausalProduct{rows, columns, seen * rows - seen * (seen - 1) / 2};
  }

  /// The mask of each value, and the mask that hides elements of it from all
  /// uses.
  DenseMap<Value, MaskOp> masked, needed;
};
} // namespace

DenseMap<Operation *, CausalProduct>
netc::findCausalProducts(Operation *graph) {
  return std::move(CausalMasks(graph).products);
}
