// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CPU/Passes.h"
#include "lib/Codegen/CPU/VectorPayload.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "lib/Codegen/CPU/Passes.h.inc"
} // namespace netc

/// Whether two memrefs are surely in different memory.
static bool areApart(Value a, Value b) {
  // Null if a loop carries the memref.
  Operation *first = bufferOf(a).getDefiningOp(),
            *second = bufferOf(b).getDefiningOp();
  if (!first || !second)
    return false;
  auto slot = dyn_cast<memref::GetGlobalOp>(first);
  auto other = dyn_cast<memref::GetGlobalOp>(second);
  return slot && other ? slot.getName() != other.getName() : first != second;
}

/// The fill of the result directly before a product; null if there is none.
static linalg::FillOp fillOf(linalg::LinalgOp product) {
  auto fill = dyn_cast_or_null<linalg::FillOp>(product->getPrevNode());
  return fill && fill.getDpsInits()[0] == product.getDpsInits()[0] ? fill
                                                                   : nullptr;
}

/// The only op that reads the result of a product; null if there are several,
/// or if it reads the result several times.
static linalg::GenericOp onlyReaderOf(linalg::LinalgOp product) {
  Value result = product.getDpsInits()[0];
  if (!result.getDefiningOp<memref::AllocOp>())
    return {};
  linalg::GenericOp reader;
  for (Operation *user : result.getUsers()) {
    if (user == product || user == fillOf(product))
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(user);
    if (!generic || reader)
      return {};
    reader = generic;
  }
  return reader;
}

/// Whether a product can be computed where `reader` is: the ops in between only
/// allocate memory, or have no effects on memory.
static bool canSinkTo(linalg::LinalgOp product, Operation *reader) {
  if (product->getBlock() != reader->getBlock() ||
      !product->isBeforeInBlock(reader))
    return false;
  for (Operation *op = product->getNextNode(); op != reader;
       op = op->getNextNode())
    if (!isMemoryEffectFree(op) && !isa<memref::AllocOp>(op))
      return false;
  return true;
}

/// The element-wise op that can read each tile of a product's result as soon as
/// the tile is complete; null if there is none. It must not write what other
/// tiles read.
static linalg::GenericOp findEpilogue(linalg::LinalgOp product) {
  linalg::GenericOp reader = onlyReaderOf(product);
  if (!reader || !fillOf(product) || !canSinkTo(product, reader) ||
      reader.getNumReductionLoops() != 0 || !isVectorizable(reader))
    return {};
  Value result = product.getDpsInits()[0];
  for (OpOperand *input : reader.getDpsInputOperands())
    if (input->get() == result &&
        !reader.getMatchingIndexingMap(input).isPermutation())
      return {};
  for (Value output : reader.getDpsInits())
    if (output == result ||
        llvm::any_of(product.getDpsInputs(),
                     [&](Value factor) { return !areApart(output, factor); }))
      return {};
  return reader;
}

namespace {
struct FuseEpilogues : netc::impl::FuseEpiloguesBase<FuseEpilogues> {
  void runOnOperation() override {
    SmallVector<std::pair<linalg::LinalgOp, linalg::GenericOp>> pairs;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (linalg::GenericOp epilogue =
              isContraction(op) ? findEpilogue(op) : nullptr)
        pairs.push_back({op, epilogue});
    });
    for (auto [product, epilogue] : pairs) {
      // The product gives both their op number in reports, since it is most of
      // the work.
      ImplicitLocOpBuilder b(
          FusedLoc::get(&getContext(), {product.getLoc(), epilogue.getLoc()}),
          epilogue);
      linalg::FillOp fill = fillOf(product);
      Block &body = b.create<scf::ExecuteRegionOp>(TypeRange())
                        .getRegion()
                        .emplaceBlock();
      b.setInsertionPointToEnd(&body);
      Operation *end = b.create<scf::YieldOp>();
      for (Operation *op : {fill.getOperation(), product.getOperation(),
                            epilogue.getOperation()})
        op->moveBefore(end);
    }
  }
};
} // namespace
