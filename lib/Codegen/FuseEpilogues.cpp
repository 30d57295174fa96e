// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "lib/Codegen/Passes.h.inc"
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

/// The fill of a product's result, before it in its block; null if there is
/// none.
static linalg::FillOp fillOf(linalg::LinalgOp product) {
  for (Operation *user : product.getDpsInits()[0].getUsers())
    if (auto fill = dyn_cast<linalg::FillOp>(user))
      return fill->getBlock() == product->getBlock() &&
                     fill->isBeforeInBlock(product)
                 ? fill
                 : nullptr;
  return {};
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

/// Whether a product whose result only `reader` reads can be computed there:
/// the ops in between do not write to its operands.
static bool canSinkTo(linalg::LinalgOp product, Operation *reader) {
  if (product->getBlock() != reader->getBlock() ||
      !product->isBeforeInBlock(reader))
    return false;
  auto keepsFactors = [&](Value written) {
    return llvm::all_of(product.getDpsInputs(), [&](Value factor) {
      return areApart(written, factor);
    });
  };
  for (Operation *op = product->getNextNode(); op != reader;
       op = op->getNextNode()) {
    if (isMemoryEffectFree(op) || isa<memref::AllocOp>(op))
      continue;
    auto between = dyn_cast<linalg::LinalgOp>(op);
    auto copy = dyn_cast<memref::CopyOp>(op);
    bool keeps = between ? llvm::all_of(between.getDpsInits(), keepsFactors)
                         : copy && keepsFactors(copy.getTarget());
    if (!keeps)
      return false;
  }
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
using Takes = std::function<bool(linalg::LinalgOp, linalg::GenericOp)>;

struct FuseEpilogues : netc::impl::FuseEpiloguesBase<FuseEpilogues> {
  FuseEpilogues() = default;
  explicit FuseEpilogues(Takes takes) : takes(std::move(takes)) {}

  void runOnOperation() override {
    // An epilogue that reads several products is that of the last one.
    llvm::MapVector<Operation *, linalg::LinalgOp> products;
    getOperation().walk([&](linalg::LinalgOp op) {
      linalg::GenericOp epilogue =
          isContraction(op) ? findEpilogue(op) : nullptr;
      if (epilogue && (!takes || takes(op, epilogue)))
        products[epilogue] = op;
    });
    for (auto [epilogue, product] : products) {
      // The product gives both their op number in reports, since it is most of
      // the work.
      ImplicitLocOpBuilder b(
          FusedLoc::get(&getContext(), {product.getLoc(), epilogue->getLoc()}),
          epilogue);
      linalg::FillOp fill = fillOf(product);
      Block &body = b.create<scf::ExecuteRegionOp>(TypeRange())
                        .getRegion()
                        .emplaceBlock();
      b.setInsertionPointToEnd(&body);
      Operation *end = b.create<scf::YieldOp>();
      for (Operation *op :
           {fill.getOperation(), product.getOperation(), epilogue})
        op->moveBefore(end);
    }
  }

  Takes takes; ///< null if all are taken
};
} // namespace

std::unique_ptr<Pass> netc::createFuseEpilogues(Takes takes) {
  return std::make_unique<FuseEpilogues>(std::move(takes));
}
