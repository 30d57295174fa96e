// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Attention.h"
#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/MatrixSchedule.h"
#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Codegen/CUDA/SumSchedule.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <numeric>

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_SPLITSUMS
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

namespace {
/// Splits a loop of a reduction into two: over parts, and over the iterations
/// of a part.
class SumSplitter {
public:
  SumSplitter(linalg::GenericOp op, const DeviceInfo &device)
      : op(op), device(device), extents(op.getStaticLoopRanges()) {}

  /// Whether partial results of all results can be combined.
  bool isSplittable();
  /// The loop to split, and the number of parts; none if splitting does not
  /// pay.
  std::optional<std::pair<unsigned, int64_t>> choose();
  /// Returns the sum of each part.
  linalg::GenericOp split(unsigned loop, int64_t parts);

private:
  SumDims dimsOf();
  /// The products of the extents of the loops.
  SumDims dimsOfLoops(SumKind kind);
  /// The extents of a contraction.
  TileDims dimsOfTiles();
  /// The tiles of a contraction; none if it is too small for tiles.
  std::optional<SumDims> dimsOfProduct();
  /// The dimensions of a reduction of columns that are contiguous in all
  /// results, and in all inputs that have them.
  std::optional<SumDims> dimsOfColumns();
  /// What choose() returns for a product by matrix instructions: the parts with
  /// the fewest estimated cycles. `whole` are those without parts.
  std::optional<std::pair<unsigned, int64_t>>
  chooseForMatrices(const TileDims &dims, int64_t elementBytes, int64_t whole);
  /// Whether the elements of an operand lie side by side along a loop.
  bool isContiguous(unsigned loop);
  /// Whether each operand that a loop indexes has an axis that only this loop
  /// indexes.
  bool isAxis(unsigned loop);
  /// The op with a first loop over the parts, whose results are of one part
  /// each.
  linalg::GenericOp sumParts(ImplicitLocOpBuilder &b, unsigned loop,
                             int64_t parts);
  /// Adds the iterations before a part, of `length`, to indices of the split
  /// loop in the body of `partial`.
  static void restoreIndices(ImplicitLocOpBuilder &b, linalg::GenericOp partial,
                             unsigned loop, int64_t length);
  /// Combines the results of parts in order.
  linalg::GenericOp combineParts(ImplicitLocOpBuilder &b,
                                 linalg::GenericOp partial);

  linalg::GenericOp op;
  const DeviceInfo &device;
  SmallVector<int64_t> extents;
};
} // namespace

bool SumSplitter::isSplittable() {
  if (op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics() ||
      llvm::any_of(extents, ShapedType::isDynamic))
    return false;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    bool isWhole = map.isProjectedPermutation() &&
                   map.getNumResults() == op.getNumParallelLoops();
    if (!isWhole ||
        !combinerOf(op, init.getOperandNumber() - op.getNumDpsInputs()))
      return false;
  }
  return true;
}

TileDims SumSplitter::dimsOfTiles() {
  TileDims tiles{1, 1, 1, 1};
  AffineMap a = op.getIndexingMapsArray()[0], b = op.getIndexingMapsArray()[1];
  for (auto [loop, extent] : llvm::enumerate(extents)) {
    bool inA = a.isFunctionOfDim(loop), inB = b.isFunctionOfDim(loop);
    if (op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction)
      tiles.k *= extent;
    else if (inA && inB)
      tiles.batch *= extent;
    else if (inA)
      tiles.m *= extent;
    else
      tiles.n *= extent;
  }
  return tiles;
}

std::optional<SumDims> SumSplitter::dimsOfProduct() {
  TileDims tiles = dimsOfTiles();
  auto schedule = scheduleTiles(tiles, device);
  if (!schedule)
    return std::nullopt;
  return SumDims{SumKind::Product, schedule->blocks(), tiles.k};
}

std::optional<SumDims> SumSplitter::dimsOfColumns() {
  AffineExpr columns = op.getIndexingMapsArray().back().getResults().back();
  unsigned loop = cast<AffineDimExpr>(columns).getPosition();
  unsigned bits = 16;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isFunctionOfDim(loop))
      continue;
    if (map.getResults().back() != columns)
      return std::nullopt;
    if (map.getNumResults() == op.getNumLoops())
      bits = std::max(bits, getElementTypeOrSelf(operand.get().getType())
                                .getIntOrFloatBitWidth());
  }
  SumDims dims = dimsOfLoops(SumKind::Columns);
  ColumnDims columnDims{dims.units / extents[loop], extents[loop], dims.depth};
  int64_t width = std::gcd(extents[loop], 128 / bits);
  dims.units = longestRuns(columnDims, width).blocksOf(columnDims);
  return dims;
}

SumDims SumSplitter::dimsOfLoops(SumKind kind) {
  SumDims dims{kind, 1, 1};
  for (auto [extent, iterator] :
       llvm::zip_equal(extents, op.getIteratorTypesArray()))
    (iterator == utils::IteratorType::reduction ? dims.depth : dims.units) *=
        extent;
  return dims;
}

SumDims SumSplitter::dimsOf() {
  if (isContraction(op))
    if (auto dims = dimsOfProduct())
      return *dims;
  // Warps and blocks reduce floats only.
  bool isOfFloats = llvm::all_of(op->getResultTypes(), [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  });
  if (isOfFloats && op.getNumParallelLoops() > 0 && !op.hasIndexSemantics())
    if (auto dims = dimsOfColumns())
      return *dims;
  SumDims dims = dimsOfLoops(SumKind::Column);
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (isOfFloats && iterator == utils::IteratorType::reduction &&
        isContiguous(loop))
      dims.kind = SumKind::Row;
  return dims;
}

bool SumSplitter::isContiguous(unsigned loop) {
  AffineExpr dim = getAffineDimExpr(loop, op.getContext());
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return map.getNumResults() != 0 && map.getResults().back() == dim;
  });
}

bool SumSplitter::isAxis(unsigned loop) {
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return llvm::count_if(map.getResults(),
                          [&](AffineExpr axis) {
                            return axis.isFunctionOfDim(loop);
                          }) <= 1 &&
           llvm::all_of(map.getResults(), [&](AffineExpr axis) {
             return !axis.isFunctionOfDim(loop) || isa<AffineDimExpr>(axis);
           });
  });
}

std::optional<std::pair<unsigned, int64_t>>
SumSplitter::chooseForMatrices(const TileDims &dims, int64_t elementBytes,
                               int64_t whole) {
  std::optional<std::pair<unsigned, int64_t>> chosen;
  int64_t fewest = whole;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (iterator != utils::IteratorType::reduction || !isAxis(loop))
      continue;
    int64_t most = std::min(extents[loop], dims.k / kLeastProducts);
    for (int64_t parts = 2; parts <= most; ++parts) {
      if (extents[loop] % parts != 0)
        continue;
      auto cycles = cyclesOfParts(dims, elementBytes, parts, device);
      if (!cycles || *cycles >= fewest)
        continue;
      fewest = *cycles;
      chosen = {unsigned(loop), parts};
    }
  }
  return chosen;
}

std::optional<std::pair<unsigned, int64_t>> SumSplitter::choose() {
  if (std::optional<int64_t> bytes = matrixElementBytes(op);
      bytes && isContraction(op)) {
    TileDims dims = dimsOfTiles();
    if (auto whole = cyclesOfParts(dims, *bytes, 1, device))
      return chooseForMatrices(dims, *bytes, *whole);
  }
  SumDims dims = dimsOf();
  int64_t wanted = partsOf(dims, device), most = 1;
  std::optional<std::pair<unsigned, int64_t>> chosen;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (iterator != utils::IteratorType::reduction || !isAxis(loop))
      continue;
    // The lanes of a warp read what lies side by side.
    bool isRow = dims.kind == SumKind::Row && isContiguous(loop);
    int64_t parts = equalParts(
        extents[loop],
        std::min(wanted, std::max<int64_t>(
                             isRow ? extents[loop] / kWarpLanes : wanted, 1)));
    if (parts > most) {
      most = parts;
      chosen = {unsigned(loop), parts};
    }
  }
  return chosen;
}

/// Splits axis `axis` of a tensor into `parts` equal parts.
static Value expandAxis(ImplicitLocOpBuilder &b, Value tensor, int64_t axis,
                        int64_t parts) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] /= parts;
  shape.insert(shape.begin() + axis, parts);
  SmallVector<ReassociationIndices> groups;
  for (int64_t from = 0, to = 0; from < type.getRank(); ++from) {
    groups.push_back({to++});
    if (from == axis)
      groups.back().push_back(to++);
  }
  return b.create<tensor::ExpandShapeOp>(
      RankedTensorType::get(shape, type.getElementType()), tensor, groups);
}

linalg::GenericOp SumSplitter::sumParts(ImplicitLocOpBuilder &b, unsigned loop,
                                        int64_t parts) {
  MLIRContext *context = b.getContext();
  unsigned loops = extents.size();
  AffineExpr part = getAffineDimExpr(0, context);
  auto moved = [&](AffineMap map) { return map.shiftDims(1).getResults(); };
  SmallVector<Value> inputs, starts;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    Value tensor = input->get();
    SmallVector<AffineExpr> axes(moved(map));
    for (auto [axis, expr] : llvm::enumerate(map.getResults()))
      if (expr.isFunctionOfDim(loop)) {
        tensor = expandAxis(b, tensor, axis, parts);
        axes.insert(axes.begin() + axis, part);
        break;
      }
    inputs.push_back(tensor);
    maps.push_back(AffineMap::get(loops + 1, 0, axes, context));
  }
  for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    auto type = cast<RankedTensorType>(init.get().getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin(), parts);
    Value none = b.create<tensor::EmptyOp>(shape, type.getElementType());
    Value start = b.create<arith::ConstantOp>(
        *arith::getNeutralElement(combinerOf(op, number)));
    starts.push_back(b.create<linalg::FillOp>(start, none).getResult(0));
    SmallVector<AffineExpr> axes(moved(op.getMatchingIndexingMap(&init)));
    axes.insert(axes.begin(), part);
    maps.push_back(AffineMap::get(loops + 1, 0, axes, context));
  }
  auto iterators = op.getIteratorTypesArray();
  iterators.insert(iterators.begin(), utils::IteratorType::parallel);
  auto partial = b.create<linalg::GenericOp>(TypeRange(ValueRange(starts)),
                                             inputs, starts, maps, iterators);
  IRMapping none;
  op->getRegion(0).cloneInto(&partial->getRegion(0), none);
  return partial;
}

void SumSplitter::restoreIndices(ImplicitLocOpBuilder &b,
                                 linalg::GenericOp partial, unsigned loop,
                                 int64_t length) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<linalg::IndexOp> indices(
      partial.getBody()->getOps<linalg::IndexOp>());
  for (linalg::IndexOp index : indices) {
    bool isSplit = index.getDim() == loop;
    index.setDim(index.getDim() + 1);
    if (!isSplit)
      continue;
    b.setInsertionPointAfter(index);
    Value before = b.create<arith::MulIOp>(
        b.create<linalg::IndexOp>(0), b.create<arith::ConstantIndexOp>(length));
    auto whole = b.create<arith::AddIOp>(before, index);
    index.getResult().replaceAllUsesExcept(whole, whole);
  }
}

linalg::GenericOp SumSplitter::combineParts(ImplicitLocOpBuilder &b,
                                            linalg::GenericOp partial) {
  MLIRContext *context = b.getContext();
  AffineMap first = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<AffineExpr> order(extents.size());
  for (auto [number, axis] : llvm::enumerate(first.getResults()))
    order[cast<AffineDimExpr>(axis).getPosition()] =
        getAffineDimExpr(number, context);
  unsigned kept = first.getNumResults();
  SmallVector<AffineMap> read, written;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    SmallVector<AffineExpr> axes;
    for (AffineExpr axis : op.getMatchingIndexingMap(&init).getResults())
      axes.push_back(order[cast<AffineDimExpr>(axis).getPosition()]);
    written.push_back(AffineMap::get(kept + 1, 0, axes, context));
    axes.insert(axes.begin(), getAffineDimExpr(kept, context));
    read.push_back(AffineMap::get(kept + 1, 0, axes, context));
  }
  llvm::append_range(read, written);
  SmallVector<utils::IteratorType> iterators(kept,
                                             utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  return b.create<linalg::GenericOp>(
      op.getResultTypes(), partial.getResults(), op.getDpsInits(), read,
      iterators, [&](OpBuilder &inner, Location loc, ValueRange elements) {
        size_t results = elements.size() / 2;
        SmallVector<Value> sums;
        for (size_t result = 0; result < results; ++result) {
          Operation *combiner = combinerOf(op, unsigned(result));
          IRMapping values;
          values.map(combiner->getOperands(),
                     ValueRange{elements[results + result], elements[result]});
          sums.push_back(inner.clone(*combiner, values)->getResult(0));
        }
        inner.create<linalg::YieldOp>(loc, sums);
      });
}

linalg::GenericOp SumSplitter::split(unsigned loop, int64_t parts) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  linalg::GenericOp partial = sumParts(b, loop, parts);
  restoreIndices(b, partial, loop, extents[loop] / parts);
  op.replaceAllUsesWith(combineParts(b, partial).getResults());
  op.erase();
  return partial;
}

namespace {
struct SplitSums : netc::impl::SplitSumsBase<SplitSums> {
  using SplitSumsBase::SplitSumsBase;

  void runOnOperation() override {
    FailureOr<DeviceInfo> device = deviceInfoOf(getOperation(), arch);
    if (failed(device))
      return signalPassFailure();
    SmallVector<linalg::GenericOp> sums;
    getOperation().walk([&](linalg::GenericOp op) {
      if (!op->hasAttr(kAttention))
        sums.push_back(op);
    });
    // A part is split again, along another loop, if there are still too few.
    while (!sums.empty()) {
      SumSplitter splitter(sums.pop_back_val(), *device);
      if (!splitter.isSplittable())
        continue;
      if (auto chosen = splitter.choose())
        sums.push_back(splitter.split(chosen->first, chosen->second));
    }
    moveFills();
  }

  /// Moves fills right before the only ops that use them, so that they become
  /// part of their kernels.
  void moveFills() {
    SmallVector<linalg::FillOp> fills;
    getOperation().walk([&](linalg::FillOp fill) { fills.push_back(fill); });
    for (linalg::FillOp fill : fills) {
      if (!fill->hasOneUse())
        continue;
      Operation *user = *fill->user_begin();
      if (isa<linalg::LinalgOp>(user) && user->getBlock() == fill->getBlock())
        fill->moveBefore(user);
    }
  }
};
} // namespace
