// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

#include <list>

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_MERGEELEMENTWISE
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

/// Up to this many elements, a launch takes longer than the memory accesses.
static constexpr int64_t kMaxElements = 1 << 17;
/// More results would need more registers than a thread has to spare.
static constexpr size_t kMaxResults = 8;

/// Whether an op is small, computes each element from the elements at the same
/// place and from scalars, and overwrites its results.
static bool isSmallElementwise(linalg::GenericOp op) {
  return op.getNumReductionLoops() == 0 && op.getNumLoops() > 0 &&
         elementsOf(op.getResult(0)) <= kMaxElements &&
         !op.hasIndexSemantics() && readsOnlyOperands(op) &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) {
                        return map.isIdentity() || map.getNumResults() == 0;
                      }) &&
         llvm::all_of(op.getOutputs(),
                      [](Value output) {
                        return output.getDefiningOp<tensor::EmptyOp>() !=
                               nullptr;
                      }) &&
         llvm::all_of(op.getRegionOutputArgs(),
                      [](BlockArgument old) { return old.use_empty(); });
}

namespace {
/// Ops that become one, at the position of the first.
struct Group {
  SmallVector<linalg::GenericOp> ops;
  size_t results = 0;

  Operation *first() const { return ops.front(); }
  bool makes(Value value) const {
    Operation *maker = value.getDefiningOp();
    return maker && llvm::is_contained(ops, maker);
  }
  bool takes(linalg::GenericOp op) const;
  void add(linalg::GenericOp op) {
    ops.push_back(op);
    results += op.getNumResults();
  }
  void merge();
};
} // namespace

/// Whether an op has the same loops and can move up to the first op of the
/// group.
bool Group::takes(linalg::GenericOp op) const {
  linalg::GenericOp head = ops.front();
  auto isThere = [&](Value value) {
    Operation *maker = value.getDefiningOp();
    Operation *at =
        maker ? op->getBlock()->findAncestorOpInBlock(*maker) : nullptr;
    return makes(value) || !at || at->isBeforeInBlock(first());
  };
  llvm::SetVector<Value> constants;
  getUsedValuesDefinedAbove(op.getRegion(), constants);
  return op.getStaticLoopRanges() == head.getStaticLoopRanges() &&
         results + op.getNumResults() <= kMaxResults &&
         readsTheSame(op, first(), op) &&
         llvm::all_of(op.getInputs(), isThere) &&
         llvm::all_of(constants, isThere);
}

void Group::merge() {
  if (ops.size() < 2)
    return;
  OpBuilder b(first());
  llvm::SetVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<Value> outputs;
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (linalg::GenericOp op : ops) {
    locations.push_back(op.getLoc());
    for (OpOperand *input : op.getDpsInputOperands())
      if (!makes(input->get()) && inputs.insert(input->get()))
        maps.push_back(op.getMatchingIndexingMap(input));
    for (Type type : op->getResultTypes()) {
      types.push_back(type);
      auto tensor = cast<RankedTensorType>(type);
      outputs.push_back(b.create<tensor::EmptyOp>(
          op.getLoc(), tensor.getShape(), tensor.getElementType()));
    }
  }
  linalg::GenericOp head = ops.front();
  maps.append(types.size(), b.getMultiDimIdentityMap(head.getNumLoops()));
  auto merged = b.create<linalg::GenericOp>(
      b.getFusedLoc(locations), types, inputs.getArrayRef(), outputs, maps,
      head.getIteratorTypesArray(),
      [&](OpBuilder &inner, Location loc, ValueRange arguments) {
        IRMapping elements; // of tensors
        for (auto [input, argument] : llvm::zip(inputs, arguments))
          elements.map(input, argument);
        SmallVector<Value> results;
        for (linalg::GenericOp op : ops) {
          IRMapping values;
          for (auto [input, argument] :
               llvm::zip(op.getInputs(), op.getRegionInputArgs()))
            values.map(argument, elements.lookup(input));
          for (Operation &payload : op.getBody()->without_terminator())
            inner.clone(payload, values);
          for (auto [result, element] :
               llvm::zip(op->getResults(),
                         op.getBody()->getTerminator()->getOperands())) {
            results.push_back(values.lookupOrDefault(element));
            elements.map(result, results.back());
          }
        }
        inner.create<linalg::YieldOp>(loc, results);
      });
  size_t result = 0;
  for (linalg::GenericOp op : ops)
    for (Value old : op->getResults())
      old.replaceAllUsesWith(merged->getResult(result++));
  for (linalg::GenericOp op : llvm::reverse(ops))
    op.erase();
}

namespace {
struct MergeElementwise : netc::impl::MergeElementwiseBase<MergeElementwise> {
  void runOnOperation() override {
    getOperation().walk([](Block *block) {
      std::list<Group> groups;
      DenseMap<Value, Group *> last; // that makes or reads a tensor
      for (auto op : block->getOps<linalg::GenericOp>()) {
        if (!isSmallElementwise(op))
          continue;
        Group *found = nullptr;
        for (Value input : op.getInputs())
          if (Group *group = last.lookup(input); group && group->takes(op))
            found = group;
        if (!found)
          found = &groups.emplace_back();
        found->add(op);
        for (Value input : op.getInputs())
          if (auto type = dyn_cast<RankedTensorType>(input.getType());
              type && type.getRank() > 0)
            last[input] = found;
        for (Value result : op->getResults())
          last[result] = found;
      }
      for (Group &group : groups)
        group.merge();
    });
  }
};
} // namespace
