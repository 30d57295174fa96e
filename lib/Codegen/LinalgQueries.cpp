// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/LinalgQueries.h"
#include "lib/Conversion/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace netc;
using namespace mlir;

/// The operand of a widening conversion in a payload, or the value itself.
static Value narrow(Value element) {
  auto wide = element.getDefiningOp<arith::ExtFOp>();
  return wide ? wide.getIn() : element;
}

bool netc::isContraction(linalg::LinalgOp op) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0)
    return false;
  Block &body = *generic.getBody();
  auto add = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  int64_t computed = llvm::count_if(
      body, [](Operation &payload) { return !isa<arith::ExtFOp>(payload); });
  if (!add || computed != 3)
    return false;
  // Two operands with the same axes, the last of which is the result's: column
  // sums of an element-wise product.
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (maps[0] == maps[1] && maps[0].getNumResults() > 0 &&
      maps[2].getNumResults() > 0 &&
      maps[0].getResults().back() == maps[2].getResults().back())
    return false;
  SmallVector<unsigned> sums;
  generic.getReductionDims(sums);
  if (llvm::any_of(ArrayRef(maps).drop_back(), [&](AffineMap map) {
        return llvm::none_of(
            sums, [&](unsigned sum) { return map.isFunctionOfDim(sum); });
      }))
    return false;
  auto mul = add.getRhs().getDefiningOp<arith::MulFOp>();
  return mul && add.getLhs() == body.getArgument(2) &&
         narrow(mul.getLhs()) == body.getArgument(0) &&
         narrow(mul.getRhs()) == body.getArgument(1);
}

FloatType netc::inputPrecisionOf(linalg::LinalgOp op) {
  for (auto product : op->getRegion(0).front().getOps<arith::MulFOp>())
    if (auto format = product->getAttrOfType<TypeAttr>(kInputPrecision))
      return cast<FloatType>(format.getValue());
  return {};
}

int64_t netc::rowsBeside(linalg::GenericOp op, AffineMap operand) {
  int64_t rows = 1;
  auto iterators = op.getIteratorTypesArray();
  for (auto [loop, extent] : llvm::enumerate(op.getStaticLoopRanges()))
    if (iterators[loop] == utils::IteratorType::parallel &&
        !operand.isFunctionOfDim(loop))
      rows *= extent;
  return rows;
}

bool netc::isCopy(linalg::LinalgOp op) {
  Block &body = op->getRegion(0).front();
  return isConversion(op) &&
         body.getTerminator()->getOperand(0) == body.getArgument(0);
}

Value netc::converted(Value element) {
  while (
      isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(element.getDefiningOp()))
    element = element.getDefiningOp()->getOperand(0);
  return element;
}

bool netc::isConversion(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0)
    return false;
  Block &body = op->getRegion(0).front();
  return converted(body.getTerminator()->getOperand(0)) == body.getArgument(0);
}

bool netc::isRoundedSum(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return false;
  Block &body = op->getRegion(0).front();
  auto add = converted(body.getTerminator()->getOperand(0))
                 .getDefiningOp<arith::AddFOp>();
  return add && converted(add.getLhs()) == body.getArgument(0) &&
         converted(add.getRhs()) == body.getArgument(1);
}

bool netc::isSum(linalg::LinalgOp op) {
  return isRoundedSum(op) &&
         llvm::hasSingleElement(op->getRegion(0).front().without_terminator());
}

int64_t netc::elementsOf(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type ? type.getNumElements() : 1;
}

Operation *netc::combinerOf(linalg::LinalgOp op, unsigned result) {
  Block &body = op->getRegion(0).front();
  BlockArgument sum = body.getArgument(op.getNumDpsInputs() + result);
  Operation *combiner =
      body.getTerminator()->getOperand(result).getDefiningOp();
  bool accumulates = combiner && sum.hasOneUse() &&
                     *sum.user_begin() == combiner &&
                     combiner->getNumOperands() == 2;
  return accumulates && arith::getNeutralElement(combiner) ? combiner : nullptr;
}

bool netc::isExpensive(linalg::GenericOp op) {
  return llvm::any_of(op.getBody()->without_terminator(),
                      [](Operation &payload) {
                        return isa<math::MathDialect>(payload.getDialect()) ||
                               isa<arith::DivFOp, tensor::ExtractOp>(payload);
                      });
}

Value netc::slotOf(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (auto read = dyn_cast<bufferization::ToTensorOp>(op))
      return read.getMemref();
    if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp>(op))
      return {};
    tensor = op->getOperand(0);
  }
  return {};
}

/// Whether `slot` is written between `first` and `later`.
static bool changesBetween(Value slot, Operation *first, Operation *later) {
  Block *block = first->getBlock();
  Operation *end = block->findAncestorOpInBlock(*later);
  return llvm::any_of(slot.getUsers(), [&](Operation *user) {
    if (!isa<bufferization::MaterializeInDestinationOp>(user))
      return false;
    Operation *write = block->findAncestorOpInBlock(*user);
    // A write in the same op of the block as `later`, such as a loop, may come
    // before `later` in the next iteration.
    return write && first->isBeforeInBlock(write) &&
           (write == end || write->isBeforeInBlock(end));
  });
}

bool netc::isVectorizable(linalg::LinalgOp op) {
  if (op.hasIndexSemantics())
    return false;
  for (Value operand : op->getOperands())
    if (!isa<FloatType>(getElementTypeOrSelf(operand.getType())))
      return false;
  for (Operation &payload : op->getRegion(0).front().without_terminator())
    if (!isa<arith::ConstantOp>(payload) &&
        !OpTrait::hasElementwiseMappableTraits(&payload))
      return false;
  return true;
}

linalg::GenericOp netc::epilogueOf(linalg::LinalgOp product) {
  if (!isa<scf::ExecuteRegionOp>(product->getParentOp()) ||
      !isa_and_nonnull<linalg::FillOp>(product->getPrevNode()))
    return {};
  return dyn_cast<linalg::GenericOp>(product->getNextNode());
}

SmallVector<OpOperand *> netc::insertionsInto(Value tensor) {
  SmallVector<OpOperand *> insertions;
  for (OpOperand &use : tensor.getUses())
    if (auto insertion = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
        insertion && &use == &insertion.getDestMutable())
      insertions.push_back(&use);
  return insertions;
}

bool netc::readsTheSame(linalg::LinalgOp op, Operation *later) {
  return readsTheSame(op, op, later);
}

bool netc::readsOnlyOperands(linalg::GenericOp op) {
  llvm::SetVector<Value> others;
  getUsedValuesDefinedAbove(op.getRegion(), others);
  return llvm::all_of(
      others, [](Value value) { return matchPattern(value, m_Constant()); });
}

bool netc::readsTheSame(linalg::LinalgOp op, Operation *first,
                        Operation *later) {
  return llvm::none_of(op.getDpsInputs(), [&](Value input) {
    Value slot = slotOf(input);
    return slot && changesBetween(slot, first, later);
  });
}

Value netc::bufferOf(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>()) {
    if (isa<memref::ViewOp>(view))
      break;
    memref = view.getViewSource();
  }
  return memref;
}

int64_t netc::sizeInBytes(MemRefType type) {
  unsigned bits = type.getElementTypeBitWidth();
  return type.getNumElements() * llvm::divideCeil(bits, 8);
}
