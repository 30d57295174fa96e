// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/Passes.h"
#include "lib/Codegen/RewriteSteps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <map>

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_MERGEREDUCTIONS
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

/// With up to this many results, there are enough vector registers for each.
static constexpr unsigned kMaxResults = 4;

/// Whether an op is a reduction other than a contraction, into filled tensors.
static bool isReduction(linalg::GenericOp op) {
  return op.getNumReductionLoops() > 0 && !isContraction(op) &&
         !op.hasIndexSemantics() &&
         llvm::all_of(op.getOutputs(), [](Value output) {
           return output.getDefiningOp<linalg::FillOp>();
         });
}

/// Whether two reductions can be one op: they have the same loops, write by the
/// same map, and read a tensor with all loops by the same map.
static bool canMergeReductions(linalg::GenericOp a, linalg::GenericOp b) {
  if (a.getStaticLoopRanges() != b.getStaticLoopRanges() ||
      a.getIteratorTypesArray() != b.getIteratorTypesArray() ||
      a.getNumResults() + b.getNumResults() > kMaxResults)
    return false;
  AffineMap written = a.getIndexingMapsArray().back();
  auto isWritten = [&](linalg::GenericOp op) {
    return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &output) {
      return op.getMatchingIndexingMap(&output) == written;
    });
  };
  return isWritten(a) && isWritten(b) &&
         llvm::any_of(a.getDpsInputOperands(), [&](OpOperand *x) {
           AffineMap read = a.getMatchingIndexingMap(x);
           return read.getNumResults() == a.getNumLoops() &&
                  llvm::any_of(b.getDpsInputOperands(), [&](OpOperand *y) {
                    return x->get() == y->get() &&
                           read == b.getMatchingIndexingMap(y);
                  });
         });
}

/// Whether `op` can be moved down to `later`.
static bool canWait(linalg::GenericOp op, linalg::GenericOp later) {
  Block *block = op->getBlock();
  for (Operation *user : op->getUsers()) {
    Operation *at = block->findAncestorOpInBlock(*user);
    if (!at || !later->isBeforeInBlock(at))
      return false;
  }
  return readsTheSame(op, later);
}

/// Merges two ops into one, at the position of `b`, the later one.
static linalg::GenericOp merge(linalg::GenericOp a, linalg::GenericOp b) {
  OpBuilder builder(b);
  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> maps, outputMaps;
  for (linalg::GenericOp op : {a, b}) {
    llvm::append_range(inputs, op.getInputs());
    llvm::append_range(outputs, op.getOutputs());
    SmallVector<AffineMap> all = op.getIndexingMapsArray();
    size_t count = op.getInputs().size();
    maps.append(all.begin(), all.begin() + count);
    outputMaps.append(all.begin() + count, all.end());
  }
  llvm::append_range(maps, outputMaps);
  SmallVector<Type> types(a.getResultTypes());
  llvm::append_range(types, b.getResultTypes());
  auto both = builder.create<linalg::GenericOp>(
      builder.getFusedLoc({b.getLoc(), a.getLoc()}), types, inputs, outputs,
      maps, b.getIteratorTypesArray(),
      [&](OpBuilder &inner, Location loc, ValueRange arguments) {
        SmallVector<Value> results;
        size_t input = 0, output = inputs.size();
        for (linalg::GenericOp op : {a, b}) {
          IRMapping values;
          for (BlockArgument argument : op.getRegionInputArgs())
            values.map(argument, arguments[input++]);
          for (BlockArgument argument : op.getRegionOutputArgs())
            values.map(argument, arguments[output++]);
          for (Operation &payload : op.getBody()->without_terminator())
            inner.clone(payload, values);
          for (Value result : op.getBody()->getTerminator()->getOperands())
            results.push_back(values.lookupOrDefault(result));
        }
        inner.create<linalg::YieldOp>(loc, results);
      });
  a->replaceAllUsesWith(both->getResults().take_front(a.getNumResults()));
  b->replaceAllUsesWith(both->getResults().drop_front(a.getNumResults()));
  a.erase();
  b.erase();
  return both;
}

/// The ops of `before`, in their order, that read a tensor which `op` reads
/// with all its loops.
static SmallVector<linalg::GenericOp>
readersOf(linalg::GenericOp op, const DenseMap<Operation *, size_t> &before) {
  std::map<size_t, linalg::GenericOp> readers;
  for (OpOperand *input : op.getDpsInputOperands())
    // Any other operand is not what canMergeReductions() looks for.
    if (op.getMatchingIndexingMap(input).getNumResults() == op.getNumLoops())
      for (Operation *user : input->get().getUsers())
        if (auto found = before.find(user); found != before.end())
          readers[found->second] = cast<linalg::GenericOp>(user);
  return llvm::to_vector(llvm::make_second_range(readers));
}

namespace {
struct MergeReductions : netc::impl::MergeReductionsBase<MergeReductions> {
  void runOnOperation() override {
    getOperation().walk([](Block *block) {
      // The reductions so far, numbered in the order of the block.
      DenseMap<Operation *, size_t> before;
      size_t count = 0;
      for (auto op : llvm::to_vector(block->getOps<linalg::GenericOp>())) {
        if (!isReduction(op))
          continue;
        for (linalg::GenericOp earlier : readersOf(op, before))
          if (canMergeReductions(earlier, op) && canWait(earlier, op)) {
            before.erase(earlier);
            op = merge(earlier, op);
          }
        before[op] = count++;
      }
    });
    // A merged op has the common operand twice: drop one.
    RewritePatternSet patterns(&getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns),
                                            rewritingSteps(/*topDown=*/false))))
      signalPassFailure();
  }
};
} // namespace
