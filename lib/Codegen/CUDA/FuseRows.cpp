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

/// How many elements of a tensor, and of all tensors, a lane has in registers.
static constexpr int64_t kMostOfTensor = 32, kMostOfLane = 96;
/// How many warps have a row at most.
static constexpr int64_t kMostWarps = 8;
/// The fewest rows that give most multiprocessors one.
static constexpr int64_t kFewestRows = 128;

/// Whether a payload only computes, and sums of it can be combined.
static bool hasRowPayload(linalg::GenericOp op) {
  for (Operation &operation : op.getBody()->without_terminator())
    if (!isMemoryEffectFree(&operation))
      return false;
  return op.getNumReductionLoops() == 0 || reducesFloats(op);
}

std::optional<RowOp> RowOp::of(Operation *candidate) {
  auto op = dyn_cast<linalg::GenericOp>(candidate);
  if (!op || !op.hasPureBufferSemantics() || op->hasAttr(kAttention) ||
      op.getNumLoops() < 2 || op.getNumReductionLoops() > 1 ||
      !hasRowPayload(op))
    return std::nullopt;
  auto nest = LoopNest::of(op);
  if (!nest)
    return std::nullopt;
  RowOp rows{op, std::move(*nest), op.getStaticLoopRanges()};
  bool reducesLast =
      op.getIteratorTypesArray().back() == utils::IteratorType::reduction;
  if (rows.reduces() != reducesLast || rows.length() == 0 ||
      rows.length() % kWarpLanes != 0 || rows.rows() < kFewestRows)
    return std::nullopt;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (rows.accessTo(init) !=
        (rows.reduces() ? RowAccess::Row : RowAccess::Element))
      return std::nullopt;
  // What has no elements of its own rows is a product with rows and columns.
  if (isContraction(op) &&
      llvm::none_of(op.getDpsInputOperands(), [&](OpOperand *input) {
        return rows.accessTo(*input) == RowAccess::Element;
      }))
    return std::nullopt;
  return rows;
}

std::optional<RowOp> RowOp::ofRows(Operation *candidate,
                                   ArrayRef<int64_t> rows) {
  auto op = dyn_cast<linalg::GenericOp>(candidate);
  if (!op || !op.hasPureBufferSemantics() || op.getNumReductionLoops() != 0 ||
      ArrayRef(op.getStaticLoopRanges()) != rows || !hasRowPayload(op))
    return std::nullopt;
  auto nest = LoopNest::of(op);
  if (!nest)
    return std::nullopt;
  RowOp ofRows{op, std::move(*nest), SmallVector<int64_t>(rows),
               /*hasElements=*/false};
  for (OpOperand &init : op.getDpsInitsMutable())
    if (ofRows.accessTo(init) != RowAccess::Row)
      return std::nullopt;
  return ofRows;
}

std::optional<RowOp> RowOp::beside(ArrayRef<int64_t> extents,
                                   Operation *candidate) {
  if (!extents.empty())
    if (auto ofRows = RowOp::ofRows(candidate, extents.drop_back()))
      return ofRows;
  return of(candidate);
}

RowAccess RowOp::accessTo(OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  unsigned loops = op.getNumLoops();
  AffineMap all = AffineMap::getMultiDimIdentityMap(loops, op.getContext());
  if (map == all)
    return hasElements ? RowAccess::Element : RowAccess::Row;
  if (!hasElements)
    return RowAccess::Other;
  return map == all.dropResult(loops - 1) ? RowAccess::Row : RowAccess::Other;
}

int64_t RowOp::rows() const {
  int64_t rows = 1;
  for (int64_t extent : ArrayRef(extents).drop_back())
    rows *= extent;
  return rows;
}

SmallVector<OpOperand *> RowOp::reads() {
  SmallVector<OpOperand *> operands;
  for (OpOperand &operand : op->getOpOperands())
    if ((op.isDpsInput(&operand) || !reduces()) &&
        !op.getMatchingBlockArgument(&operand).use_empty())
      operands.push_back(&operand);
  return operands;
}

void RowOp::addElements(DenseSet<Value> &tensors) {
  for (OpOperand &operand : op->getOpOperands())
    if (accessTo(operand) == RowAccess::Element)
      tensors.insert(operand.get());
}

std::optional<int64_t> netc::warpsOfRow(int64_t length, int64_t tensors) {
  for (int64_t warps = 1; warps <= kMostWarps; warps *= 2) {
    int64_t lanes = warps * kWarpLanes, ofLane = length / lanes;
    if (length % lanes == 0 && ofLane <= kMostOfTensor &&
        ofLane * tensors <= kMostOfLane)
      return warps;
  }
  return std::nullopt;
}

namespace {
/// Ops on the same rows, in their order. What one of them reads of a tensor
/// that another one wrote is of the same row.
class RowGroup {
public:
  /// Adds an op, with the fills of its results, if it belongs to the others.
  bool add(Operation *op, ArrayRef<linalg::FillOp> fills);
  /// Whether ops of the group access the buffer of a memref.
  bool accesses(Value memref) const { return views.contains(bufferOf(memref)); }
  /// All ops, if some op reads what another one reduced.
  ArrayRef<Operation *> take() const {
    return readsReduced ? ArrayRef(ops) : ArrayRef<Operation *>();
  }

private:
  /// By buffer: the memref of which all accesses read or write elements, or all
  /// what rows have once; null if there are others.
  using Views = DenseMap<Value, Value>;

  /// Whether an operand may be read after the ops of the group.
  bool canRead(RowOp &op, OpOperand &input) const;
  /// Adds an access to the buffer of an operand.
  static void view(RowOp &op, OpOperand &operand, Views &views);
  /// Whether an operand may be written after these accesses. Lanes may write
  /// elements over those that they have, and what a row has once, which all of
  /// them know.
  bool canWrite(RowOp &op, OpOperand &init, const Views &views) const;

  SmallVector<Operation *> ops;
  SmallVector<int64_t> extents;
  DenseSet<Value> elements, reduced; ///< memrefs with an access of each kind
  Views views;
  DenseSet<Value> writtenBuffers;
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

void RowGroup::view(RowOp &op, OpOperand &operand, Views &views) {
  Value memref = operand.get();
  Value &view = views.try_emplace(bufferOf(memref), memref).first->second;
  if (op.accessTo(operand) == RowAccess::Other || view != memref)
    view = Value();
}

bool RowGroup::canWrite(RowOp &op, OpOperand &init, const Views &views) const {
  auto view = views.find(bufferOf(init.get()));
  if (view == views.end())
    return true;
  bool isKnown = op.hasElements || reduced.contains(init.get());
  return !op.reduces() && isKnown && view->second == init.get();
}

bool RowGroup::add(Operation *candidate, ArrayRef<linalg::FillOp> fills) {
  std::optional<RowOp> op = RowOp::beside(extents, candidate);
  if (!op || (!ops.empty() && op->hasElements && op->extents != extents))
    return false;
  bool isRelated = ops.empty(), readsOwn = false;
  DenseSet<Value> allElements = elements;
  Views allViews = views;
  op->addElements(allElements);
  for (OpOperand *input : op->reads()) {
    if (!canRead(*op, *input))
      return false;
    isRelated |= op->accessTo(*input) == RowAccess::Element &&
                 elements.contains(input->get());
    readsOwn |= reduced.contains(input->get());
    view(*op, *input, allViews);
  }
  for (OpOperand &init : op->op.getDpsInitsMutable()) {
    if (!canWrite(*op, init, allViews))
      return false;
    view(*op, init, allViews);
  }
  if (!(isRelated || readsOwn) || (ops.empty() && allElements.empty()) ||
      !warpsOfRow(op->hasElements ? op->length() : extents.back(),
                  allElements.size()))
    return false;
  for (Value init : op->op.getDpsInits()) {
    writtenBuffers.insert(bufferOf(init));
    if (op->reduces() || !op->hasElements)
      reduced.insert(init);
    for (linalg::FillOp fill : fills)
      if (fill.getDpsInits()[0] == init)
        ops.push_back(fill);
  }
  elements = std::move(allElements);
  views = std::move(allViews);
  readsReduced |= readsOwn;
  if (op->hasElements)
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
      moveToRegion(ops);
  }
};
} // namespace
