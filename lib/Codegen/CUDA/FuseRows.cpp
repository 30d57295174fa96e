// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Attention.h"
#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Codegen/CUDA/RowOps.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_FUSEROWS
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

/// The longest row whose elements the lanes of a warp keep in registers, and
/// how many elements of all tensors a lane may have.
static constexpr int64_t kMostInRow = 1024, kMostOfLane = 96;
/// The fewest rows that give each multiprocessor some warps.
static constexpr int64_t kFewestRows = 1024;

/// Whether a payload only computes, and what it returns is what the loops say.
static bool hasRowPayload(linalg::GenericOp op) {
  for (Operation &operation : op.getBody()->without_terminator())
    if (!isMemoryEffectFree(&operation))
      return false;
  if (op.getNumReductionLoops() != 0)
    return reducesFloats(op);
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return op.getMatchingBlockArgument(&init).use_empty();
  });
}

std::optional<RowOp> RowOp::of(Operation *candidate) {
  auto op = dyn_cast<linalg::GenericOp>(candidate);
  if (!op || !op.hasPureBufferSemantics() || op->hasAttr(kAttention) ||
      op.getNumLoops() < 2 || op.getNumReductionLoops() > 1 ||
      isContraction(op) || !hasRowPayload(op))
    return std::nullopt;
  RowOp rows{op, op.getStaticLoopRanges()};
  bool reducesLast =
      op.getIteratorTypesArray().back() == utils::IteratorType::reduction;
  if (rows.reduces() != reducesLast ||
      llvm::any_of(rows.extents, ShapedType::isDynamic) ||
      rows.length() % kWarpLanes != 0 || rows.length() > kMostInRow ||
      rows.rows() < kFewestRows)
    return std::nullopt;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (rows.accessTo(init) !=
        (rows.reduces() ? RowAccess::Row : RowAccess::Element))
      return std::nullopt;
  return rows;
}

RowAccess RowOp::accessTo(OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  unsigned loops = op.getNumLoops();
  AffineMap all = AffineMap::getMultiDimIdentityMap(loops, op.getContext());
  if (map == all)
    return RowAccess::Element;
  return map == all.dropResult(loops - 1) ? RowAccess::Row : RowAccess::Other;
}

int64_t RowOp::rows() const {
  int64_t rows = 1;
  for (int64_t extent : ArrayRef(extents).drop_back())
    rows *= extent;
  return rows;
}

namespace {
/// Ops on the same rows, in their order. What one of them reads of a tensor
/// that another one wrote is of the same row.
class RowGroup {
public:
  bool isEmpty() const { return ops.empty(); }

  /// Adds an op, with the fills of its results, if it belongs to the others.
  bool add(Operation *op, ArrayRef<linalg::FillOp> fills);
  /// Whether ops of the group access the buffer of a memref.
  bool accesses(Value memref) const {
    Value buffer = bufferOf(memref);
    return readBuffers.contains(buffer) || writtenBuffers.contains(buffer);
  }
  /// All ops, if some op reads what another one reduced.
  ArrayRef<Operation *> take() const {
    return readsReduced ? ArrayRef(ops) : ArrayRef<Operation *>();
  }

private:
  /// Whether an operand may be read, or written, after the ops of the group.
  bool canRead(RowOp &op, OpOperand &input) const;

  SmallVector<Operation *> ops;
  SmallVector<int64_t> extents;
  DenseSet<Value> elements, reduced; ///< memrefs with an access of each kind
  DenseSet<Value> readBuffers, writtenBuffers;
  bool readsReduced = false;
};
} // namespace

bool RowGroup::canRead(RowOp &op, OpOperand &input) const {
  Value memref = input.get();
  if (!isa<MemRefType>(memref.getType()) ||
      !writtenBuffers.contains(bufferOf(memref)))
    return true;
  RowAccess access = op.accessTo(input);
  return (access == RowAccess::Element && elements.contains(memref)) ||
         (access == RowAccess::Row && reduced.contains(memref));
}

bool RowGroup::add(Operation *candidate, ArrayRef<linalg::FillOp> fills) {
  auto op = RowOp::of(candidate);
  if (!op || (!ops.empty() && op->extents != extents))
    return false;
  SmallVector<OpOperand *> inputs = op->op.getDpsInputOperands();
  bool isRelated = ops.empty(), readsOwn = false;
  DenseSet<Value> allElements = elements, allRead = readBuffers;
  for (OpOperand *input : inputs) {
    if (!canRead(*op, *input))
      return false;
    bool isElement = op->accessTo(*input) == RowAccess::Element;
    isRelated |= isElement && elements.contains(input->get());
    readsOwn |= reduced.contains(input->get());
    if (isElement)
      allElements.insert(input->get());
    allRead.insert(bufferOf(input->get()));
  }
  for (Value init : op->op.getDpsInits()) {
    Value buffer = bufferOf(init);
    if (allRead.contains(buffer) || writtenBuffers.contains(buffer))
      return false;
    if (!op->reduces())
      allElements.insert(init);
  }
  if (!(isRelated || readsOwn) || (ops.empty() && allElements.empty()) ||
      int64_t(allElements.size()) * op->length() / kWarpLanes > kMostOfLane)
    return false;
  for (Value init : op->op.getDpsInits()) {
    writtenBuffers.insert(bufferOf(init));
    if (op->reduces())
      reduced.insert(init);
    for (linalg::FillOp fill : fills)
      if (fill.getDpsInits()[0] == init)
        ops.push_back(fill);
  }
  elements = std::move(allElements);
  readBuffers = std::move(allRead);
  readsReduced |= readsOwn;
  extents = op->extents;
  ops.push_back(candidate);
  return true;
}

/// Ops of a block that one kernel can compute row by row, with ops between them
/// that access no memory.
static SmallVector<SmallVector<Operation *>> rowGroupsIn(Block &block) {
  SmallVector<SmallVector<Operation *>> groups;
  RowGroup group;
  SmallVector<linalg::FillOp> fills;
  auto close = [&] {
    if (ArrayRef<Operation *> ops = group.take(); !ops.empty())
      groups.emplace_back(ops);
    group = RowGroup();
  };
  for (Operation &op : block) {
    if (isa<memref::AllocOp>(op) || isMemoryEffectFree(&op))
      continue;
    if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      if (group.accesses(fill.getDpsInits()[0]))
        close();
      fills.push_back(fill);
      continue;
    }
    if (!group.add(&op, fills)) {
      close();
      (void)group.add(&op, fills);
    }
    fills.clear();
  }
  close();
  return groups;
}

namespace {
struct FuseRows : netc::impl::FuseRowsBase<FuseRows> {
  void runOnOperation() override {
    SmallVector<SmallVector<Operation *>> groups;
    getOperation().walk([&](Block *block) {
      if (!isa<scf::ExecuteRegionOp, linalg::LinalgOp>(block->getParentOp()))
        llvm::append_range(groups, rowGroupsIn(*block));
    });
    for (ArrayRef<Operation *> ops : groups)
      if (haveStaticStrides(ops))
        moveToRegion(ops);
  }
};
} // namespace
