// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Attention.h"
#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/MatrixSchedule.h"
#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_PADROWS
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

/// How many times the products of windows may be executed with zeros.
static constexpr int64_t kMostPadded = 2;

/// Whether matrix instructions multiply the elements of an operand, and each of
/// its axes is a loop of the product.
static bool isOfProduct(OpOperand &use) {
  auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
  return op && !op->hasAttr(kAttention) && op.isDpsInput(&use) &&
         isContraction(op) && matrixElementBytes(op) &&
         op.getMatchingIndexingMap(&use).isProjectedPermutation();
}

namespace {
/// The part of a tensor with the first elements along each axis.
struct Slice {
  Slice(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape)
      : starts(shape.size(), b.getIndexAttr(0)),
        sizes(getAsIndexOpFoldResult(b.getContext(), shape)),
        steps(shape.size(), b.getIndexAttr(1)) {}

  SmallVector<OpFoldResult> starts, sizes, steps;
};
} // namespace

/// Lets rows of a result start at multiples of a chunk.
static void padRows(OpResult result) {
  auto op = cast<linalg::LinalgOp>(result.getOwner());
  auto type = cast<RankedTensorType>(result.getType());
  OpOperand *init = op.getTiedOpOperand(result);
  if (type.getRank() < 2 || !type.hasStaticShape() ||
      !init->get().getDefiningOp<tensor::EmptyOp>() || result.use_empty() ||
      !llvm::all_of(result.getUses(), isOfProduct))
    return;
  int64_t chunk =
      MatrixSchedule::kChunkBytes * 8 / type.getElementTypeBitWidth();
  SmallVector<int64_t> shape(type.getShape());
  if (shape.back() < chunk || shape.back() % chunk == 0)
    return;
  shape.back() = llvm::alignTo(shape.back(), chunk);
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Slice slice(b, type.getShape());
  init->set(b.create<tensor::ExtractSliceOp>(
      b.create<tensor::EmptyOp>(shape, type.getElementType()), slice.starts,
      slice.sizes, slice.steps));
}

namespace {
/// The last two axes of an operand of a product by windows: positions along a
/// row, of which a window has `taps`, and channels.
struct WindowRow {
  static std::optional<WindowRow> of(linalg::GenericOp product,
                                     OpOperand &operand);

  /// The extents that let chunks be copied.
  WindowRow padded(int64_t chunk) const;
  int64_t length() const { return taps * channels; }

  unsigned tap, channel; ///< loops
  int64_t windows, stride, taps, channels;
};
} // namespace

std::optional<WindowRow> WindowRow::of(linalg::GenericOp product,
                                       OpOperand &operand) {
  AffineMap map = product.getMatchingIndexingMap(&operand);
  if (map.getNumResults() < 2)
    return std::nullopt;
  auto channel = dyn_cast<AffineDimExpr>(map.getResults().back());
  auto position = dyn_cast<AffineBinaryOpExpr>(map.getResults().end()[-2]);
  if (!channel || !position || position.getKind() != AffineExprKind::Add)
    return std::nullopt;
  auto window = position.getLHS();
  auto tap = dyn_cast<AffineDimExpr>(position.getRHS());
  int64_t stride = 1;
  if (auto scaled = dyn_cast<AffineBinaryOpExpr>(window)) {
    auto factor = dyn_cast<AffineConstantExpr>(scaled.getRHS());
    if (scaled.getKind() != AffineExprKind::Mul || !factor)
      return std::nullopt;
    window = scaled.getLHS();
    stride = factor.getValue();
  }
  auto start = dyn_cast<AffineDimExpr>(window);
  if (!tap || !start)
    return std::nullopt;
  SmallVector<int64_t> extents = product.getStaticLoopRanges();
  return WindowRow{tap.getPosition(),
                   channel.getPosition(),
                   extents[start.getPosition()],
                   stride,
                   extents[tap.getPosition()],
                   extents[channel.getPosition()]};
}

WindowRow WindowRow::padded(int64_t chunk) const {
  WindowRow row = *this;
  while (row.stride * row.channels % chunk != 0)
    ++row.channels;
  while (row.length() % chunk != 0)
    ++row.taps;
  return row;
}

static Value filled(ImplicitLocOpBuilder &b, Value element,
                    ArrayRef<int64_t> shape) {
  Value empty = b.create<tensor::EmptyOp>(shape, element.getType());
  return b.create<linalg::FillOp>(element, empty).getResult(0);
}

/// A tensor of zeros with another one at `starts`.
static Value padWithZeros(ImplicitLocOpBuilder &b, Value tensor,
                          ArrayRef<OpFoldResult> starts,
                          ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value zero =
      b.create<arith::ConstantOp>(b.getZeroAttr(type.getElementType()));
  Slice slice(b, type.getShape());
  return b.create<tensor::InsertSliceOp>(tensor, filled(b, zero, shape), starts,
                                         slice.sizes, slice.steps);
}

/// Whether a tensor has zeros alone, or parts that were set to zeros and others
/// that nothing reads.
static bool isZero(Value tensor) {
  while (auto part = tensor.getDefiningOp<tensor::InsertSliceOp>()) {
    if (!isZero(part.getSource()))
      return false;
    tensor = part.getDest();
  }
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  return tensor.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

/// The image with zeros after its last positions and channels. If it has zeros
/// around it already, they are set with these.
static Value padImage(ImplicitLocOpBuilder &b, Value image,
                      ArrayRef<int64_t> shape) {
  auto inner = image.getDefiningOp<tensor::InsertSliceOp>();
  if (inner && inner.hasUnitStride() && isZero(inner.getDest()) &&
      inner.getSourceType().getRank() == int64_t(shape.size()))
    return padWithZeros(b, inner.getSource(), inner.getMixedOffsets(), shape);
  return padWithZeros(b, image, Slice(b, shape).starts, shape);
}

/// The shape of an operand of a product with longer loops over taps and
/// channels; none if it is indexed by other expressions of them.
static std::optional<SmallVector<int64_t>>
paddedShape(linalg::GenericOp product, OpOperand &operand,
            const WindowRow &padded) {
  AffineMap map = product.getMatchingIndexingMap(&operand);
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(operand.get().getType()).getShape());
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    bool isTap = expr.isFunctionOfDim(padded.tap),
         isChannel = expr.isFunctionOfDim(padded.channel);
    if ((isTap || isChannel) && !isa<AffineDimExpr>(expr))
      return std::nullopt;
    if (isTap || isChannel)
      shape[axis] = isTap ? padded.taps : padded.channels;
  }
  return shape;
}

/// Pads the image, and what else has its taps and channels: the other operand,
/// or the result, of which a slice remains.
static void padWindows(linalg::GenericOp product, OpOperand &image,
                       const WindowRow &padded, int64_t chunk) {
  ImplicitLocOpBuilder b(product.getLoc(), product);
  SmallVector<std::pair<OpOperand *, SmallVector<int64_t>>> others;
  bool hasTaps = false;
  for (OpOperand &operand : product->getOpOperands())
    if (&operand != &image) {
      hasTaps |=
          product.getMatchingIndexingMap(&operand).isFunctionOfDim(padded.tap);
      auto shape = paddedShape(product, operand, padded);
      if (!shape)
        return;
      others.push_back({&operand, *shape});
    }
  OpOperand &init = *product.getDpsInitOperand(0);
  auto type = cast<RankedTensorType>(init.get().getType());
  auto fill = init.get().getDefiningOp<linalg::FillOp>();
  bool isResult = ArrayRef(others.back().second) != type.getShape();
  if (!hasTaps || (isResult && !fill))
    return;
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(image.get().getType()).getShape());
  int64_t &positions = shape.end()[-2];
  positions =
      std::max(positions, (padded.windows - 1) * padded.stride + padded.taps);
  shape.back() = padded.channels;
  while (positions * padded.channels % chunk != 0)
    ++positions;
  image.set(padImage(b, image.get(), shape));
  for (auto &[operand, shape] : others)
    if (product.isDpsInput(operand) &&
        cast<RankedTensorType>(operand->get().getType()).getShape() !=
            ArrayRef(shape))
      operand->set(
          padWithZeros(b, operand->get(), Slice(b, shape).starts, shape));
  if (!isResult)
    return;
  init.set(filled(b, fill.getInputs()[0], others.back().second));
  OpResult result = product->getResult(0);
  result.setType(cast<RankedTensorType>(init.get().getType()));
  b.setInsertionPointAfter(product);
  Slice kept(b, type.getShape());
  auto slice = b.create<tensor::ExtractSliceOp>(type, result, kept.starts,
                                                kept.sizes, kept.steps);
  result.replaceAllUsesExcept(slice, slice);
}

/// Lets the few channels of an image, and the taps of a row, fill chunks.
static void padWindows(linalg::GenericOp product) {
  std::optional<int64_t> bytes = matrixElementBytes(product);
  if (!bytes || product->hasAttr(kAttention) ||
      llvm::any_of(product.getStaticLoopRanges(), ShapedType::isDynamic))
    return;
  int64_t chunk = MatrixSchedule::kChunkBytes / *bytes;
  for (OpOperand *image : product.getDpsInputOperands()) {
    auto row = WindowRow::of(product, *image);
    if (!row)
      continue;
    WindowRow padded = row->padded(chunk);
    if (padded.length() == row->length() ||
        padded.length() > kMostPadded * row->length())
      continue;
    return padWindows(product, *image, padded, chunk);
  }
}

namespace {
struct PadRows : netc::impl::PadRowsBase<PadRows> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> products;
    getOperation().walk([&](linalg::GenericOp op) {
      if (isContraction(op) && op.hasPureTensorSemantics())
        products.push_back(op);
    });
    for (linalg::GenericOp product : products)
      padWindows(product);
    // Images that are padded otherwise now.
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
    getOperation().walk([](linalg::LinalgOp op) {
      if (op.getNumReductionLoops() == 0)
        for (OpResult result : op->getResults())
          padRows(result);
    });
  }
};
} // namespace
