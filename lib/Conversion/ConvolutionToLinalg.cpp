// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Convolutions, on x as [batch.., spatial.., channels]. Other orders of axes
// are transposed to this one and back; layout propagation removes these
// transposes.

#include "lib/Conversion/Windows.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

#include <numeric>

using namespace netc;
using namespace mlir;

/// Number of channels on both sides from which on the gradient of a weight is
/// vectorized along the channels of the long side.
static constexpr int64_t kManyChannels = 128;

namespace {
/// A convolution between a long side, which has an element for each position
/// that taps reach, and a short side, which has one for each window: position =
/// window * stride + tap * dilation - low.
struct Convolution {
  LinalgBuilder &b;
  WindowAxes axes;
  int64_t groups;
  SmallVector<int64_t> taps, stride, low, dilation;

  unsigned spatial() const { return taps.size(); }
  AffineExpr dim(unsigned i) const { return b.getAffineDimExpr(i); }

  /// Splits the channels into [groups, channels per group] if there are groups.
  Value splitGroups(Value x) const {
    auto type = cast<RankedTensorType>(x.getType());
    if (groups == 1)
      return x;
    SmallVector<int64_t> sizes(type.getShape());
    sizes.back() /= groups;
    sizes.insert(sizes.end() - 1, groups);
    return b.reshape(x, RankedTensorType::get(sizes, type.getElementType()));
  }
  Value joinGroups(Value y) const {
    auto type = cast<RankedTensorType>(y.getType());
    if (groups == 1)
      return y;
    SmallVector<int64_t> sizes(type.getShape());
    sizes.pop_back();
    sizes.back() *= type.getShape().back();
    return b.reshape(y, RankedTensorType::get(sizes, type.getElementType()));
  }
  /// The weight [out, in / groups, taps..] as [groups, out / groups, ...].
  RankedTensorType groupedWeight(RankedTensorType type) const {
    if (groups == 1)
      return type;
    SmallVector<int64_t> sizes(type.getShape());
    sizes.front() /= groups;
    sizes.insert(sizes.begin(), groups);
    return RankedTensorType::get(sizes, type.getElementType());
  }

  /// The loops by number: batch, windows, group (if there are any), channels of
  /// the short side, channels of the long side, taps.
  struct Loops {
    unsigned batch, windows, group, shortChannel, longChannel, taps, count;
  };
  Loops loops() const {
    Loops l;
    unsigned batch = axes.batch.size(), n = spatial(), g = groups > 1;
    l.batch = 0;
    l.windows = batch;
    l.group = l.windows + n;
    l.shortChannel = l.group + g;
    l.longChannel = l.shortChannel + 1;
    l.taps = l.longChannel + 1;
    l.count = l.taps + n;
    return l;
  }
  AffineMap mapOf(ArrayRef<AffineExpr> exprs) const {
    return AffineMap::get(loops().count, 0, exprs, b.getContext());
  }
  /// The map of the short side, with the channel loop `channel`.
  AffineMap shortMap() const {
    Loops l = loops();
    SmallVector<AffineExpr> exprs;
    for (unsigned i = 0; i < l.longChannel; ++i)
      exprs.push_back(dim(i));
    return mapOf(exprs);
  }
  AffineMap longMap() const {
    Loops l = loops();
    SmallVector<AffineExpr> exprs;
    for (unsigned i = 0; i < l.windows; ++i)
      exprs.push_back(dim(i));
    for (unsigned i = 0; i < spatial(); ++i)
      exprs.push_back(dim(l.windows + i) * stride[i] +
                      dim(l.taps + i) * dilation[i]);
    if (groups > 1)
      exprs.push_back(dim(l.group));
    exprs.push_back(dim(l.longChannel));
    return mapOf(exprs);
  }
  AffineMap weightMap() const {
    Loops l = loops();
    SmallVector<AffineExpr> exprs;
    if (groups > 1)
      exprs.push_back(dim(l.group));
    exprs.push_back(dim(l.shortChannel));
    exprs.push_back(dim(l.longChannel));
    for (unsigned i = 0; i < spatial(); ++i)
      exprs.push_back(dim(l.taps + i));
    return mapOf(exprs);
  }
  /// The order of a grouped weight's axes in which the channels of the short
  /// side are contiguous: taps, groups, channels of the long side, channels of
  /// the short side. The reference keeps the order.
  SmallVector<int64_t> weightOrder() const {
    int64_t g = groups > 1;
    SmallVector<int64_t> order(g + 2 + spatial());
    std::iota(order.begin(), order.end(), 0);
    if (b.isReference())
      return order;
    std::rotate(order.begin(), order.begin() + g + 2, order.end());
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return order;
  }
  /// The order of the gradient's axes. If there are enough channels, those of
  /// the long side are contiguous: groups, channels of the short side, taps,
  /// channels of the long side.
  SmallVector<int64_t> gradientOrder(RankedTensorType grouped) const {
    int64_t g = groups > 1;
    SmallVector<int64_t> order = weightOrder();
    int64_t out = grouped.getDimSize(g), in = grouped.getDimSize(g + 1);
    bool hasTaps = llvm::any_of(taps, [](int64_t n) { return n > 1; });
    if (b.isReference() || std::min(out, in) < kManyChannels ||
        (!hasTaps && in > out))
      return order;
    std::iota(order.begin(), order.end(), 0);
    std::rotate(order.begin() + g + 1, order.begin() + g + 2, order.end());
    return order;
  }
  AffineMap orderedWeightMap(ArrayRef<int64_t> order) const {
    SmallVector<AffineExpr> exprs;
    for (int64_t axis : order)
      exprs.push_back(weightMap().getResult(axis));
    return mapOf(exprs);
  }

  /// For each axis, the number of elements from the first that a tap reads to
  /// the last.
  SmallVector<int64_t> reach(RankedTensorType windows) const {
    SmallVector<int64_t> sizes;
    for (unsigned i = 0; i < spatial(); ++i)
      sizes.push_back((windows.getDimSize(axes.batch.size() + i) - 1) *
                          stride[i] +
                      (taps[i] - 1) * dilation[i] + 1);
    return sizes;
  }
  /// The part of the long side that windows read, with zeros outside of it.
  Value seen(Value x, RankedTensorType windows) const {
    SmallVector<int64_t> starts;
    for (int64_t before : low)
      starts.push_back(-before);
    return region(b, x, axes.batch.size(), starts, reach(windows), 0);
  }

  /// The short side from the long side, [batch.., spatial.., out]. The axes of
  /// the weight are in weightOrder().
  Value forward(Value x, Value weight, RankedTensorType y) const {
    Value sums = b.contract(
        {splitGroups(seen(x, y)), weight},
        b.filled(cast<RankedTensorType>(splitGroups(b.empty(y)).getType()), 0),
        {longMap(), orderedWeightMap(weightOrder()), shortMap()});
    return joinGroups(sums);
  }
  Value ordered(Value weight) const {
    auto type = cast<RankedTensorType>(weight.getType());
    return b.transpose(b.reshape(weight, groupedWeight(type)), weightOrder());
  }

  /// The gradient of the weight.
  Value weightGradient(Value x, Value dy, RankedTensorType weight) const {
    RankedTensorType grouped = groupedWeight(weight);
    auto windows = cast<RankedTensorType>(dy.getType());
    auto order = gradientOrder(grouped);
    auto type = RankedTensorType::get(
        applyPermutation(grouped.getShape(), order), weight.getElementType());
    Value dw = b.contract({splitGroups(seen(x, windows)), splitGroups(dy)},
                          b.filled(type, 0),
                          {longMap(), shortMap(), orderedWeightMap(order)});
    return b.reshape(b.transpose(dw, invertPermutationVector(order)), weight);
  }

  /// The long side from the short side: each window adds to the positions that
  /// it reads.
  Value scatter(Value x, Value weight, RankedTensorType y) const {
    auto windows = cast<RankedTensorType>(x.getType());
    SmallVector<int64_t> sizes(y.getShape()), starts(sizes.size()), whole;
    unsigned first = axes.batch.size();
    whole.assign(sizes.begin(), sizes.end());
    for (auto [i, size] : llvm::enumerate(reach(windows))) {
      starts[first + i] = low[i];
      whole[first + i] = std::max(size, low[i] + sizes[first + i]);
    }
    auto padded = RankedTensorType::get(whole, y.getElementType());
    Value init = splitGroups(b.filled(padded, 0));
    Value sums = b.contract(
        {splitGroups(x), b.reshape(weight, groupedWeight(cast<RankedTensorType>(
                                               weight.getType())))},
        init, {shortMap(), weightMap(), longMap()});
    return b.slice(joinGroups(sums), starts, sizes);
  }

  /// The same as a gather. Positions with equal remainders by the stride use
  /// taps with equal remainders. So each remainder (phase) is a convolution
  /// with stride 1.
  Value gather(Value x, Value weight, RankedTensorType y) const;
};
} // namespace

/// The taps of one axis that reach positions `phase`, `phase` + stride, ... of
/// the long side: `first`, `first` + `step`, ... Position q of the phase uses
/// tap number t of these in window q + shift - t * advance.
namespace {
struct Phase1D {
  int64_t first = 0, step = 1, count = 0, shift = 0, advance = 0, positions = 0;

  Phase1D(int64_t phase, int64_t size, int64_t stride, int64_t dilation,
          int64_t taps, int64_t low) {
    positions = (size - phase + stride - 1) / stride;
    int64_t remainder = (phase + low) % stride;
    step = stride / std::gcd(stride, dilation);
    while (first < taps && first * dilation % stride != remainder)
      ++first;
    count = first < taps ? (taps - 1 - first) / step + 1 : 0;
    shift = (phase + low) / stride - (first * dilation) / stride;
    advance = step * dilation / stride;
  }
};
} // namespace

Value Convolution::gather(Value x, Value weight, RankedTensorType y) const {
  unsigned first = axes.batch.size(), n = spatial();
  Type element = y.getElementType();
  auto wType = groupedWeight(cast<RankedTensorType>(weight.getType()));
  weight = b.reshape(weight, wType);
  bool isOnePhase =
      llvm::all_of(stride, [](int64_t step) { return step == 1; });
  Value result = isOnePhase ? Value() : b.filled(y, 0);

  SmallVector<int64_t> phase(n, 0);
  do {
    SmallVector<Phase1D> along;
    for (unsigned i = 0; i < n; ++i)
      along.emplace_back(phase[i], y.getDimSize(first + i), stride[i],
                         dilation[i], taps[i], low[i]);
    if (llvm::any_of(along, [](const Phase1D &p) {
          return p.count == 0 || p.positions <= 0;
        }))
      continue;

    // The taps of the phase in reverse order are the weight of a convolution
    // from the channels of the short side to those of the long side.
    unsigned g = groups > 1, rank = g + 2 + n;
    SmallVector<int64_t> sizes;
    SmallVector<AffineExpr> source(rank);
    Convolution dense{b, axes, groups, {}, {}, {}, {}};
    SmallVector<int64_t> starts, reach, positions(y.getShape());
    for (unsigned i = 0; i < n; ++i) {
      const Phase1D &p = along[i];
      sizes.push_back(p.count);
      source[g + 2 + i] = (p.count - 1 - dim(i)) * p.step + p.first;
      dense.taps.push_back(p.count);
      dense.stride.push_back(1);
      dense.dilation.push_back(p.advance);
      dense.low.push_back(0);
      starts.push_back(p.shift - (p.count - 1) * p.advance);
      reach.push_back(p.positions + (p.count - 1) * p.advance);
      positions[first + i] = p.positions;
    }
    if (g) {
      sizes.push_back(groups);
      source[0] = dim(n);
    }
    for (unsigned channel : {g, g + 1}) {
      source[channel] = dim(sizes.size());
      sizes.push_back(wType.getDimSize(channel));
    }
    auto partType = RankedTensorType::get(sizes, wType.getElementType());
    // A single tap is the weight itself.
    Value part = llvm::all_of(taps, [](int64_t n) { return n == 1; })
                     ? b.reshape(weight, partType)
                     : b.mapTo(partType, weight,
                               AffineMap::get(rank, 0, source, b.getContext()),
                               [](ArrayRef<Element> w) { return w[0]; });
    Value sums = dense.forward(region(b, x, first, starts, reach, 0), part,
                               RankedTensorType::get(positions, element));
    if (isOnePhase)
      return sums;
    SmallVector<int64_t> at(y.getRank()), steps(y.getRank(), 1);
    for (unsigned i = 0; i < n; ++i) {
      at[first + i] = phase[i];
      steps[first + i] = stride[i];
    }
    result = b.place(sums, result, at, steps);
  } while (nextPoint(phase, stride));
  return result ? result : b.filled(y, 0);
}

/// The convolution of an op, from the attributes that all such ops have.
template <typename OpTy>
static Convolution convolutionOf(OpTy op, LinalgBuilder &b, Value weight,
                                 Value x) {
  ArrayRef<int64_t> taps = b.type(weight).getShape().drop_front(2);
  return {b,
          WindowAxes(b.type(x).getRank(), op.getOver(), op.getChannel()),
          int64_t(op.getGroups()),
          SmallVector<int64_t>(taps),
          SmallVector<int64_t>(op.getStride()),
          SmallVector<int64_t>(op.getLow()),
          SmallVector<int64_t>(op.getDilation())};
}

static void lowerConv(ConvOp op, LinalgBuilder &b) {
  Convolution conv = convolutionOf(op, b, op.getW(), op.getX());
  Value y = conv.forward(conv.axes.toFront(b, b.get(op.getX())),
                         conv.ordered(b.get(op.getW())),
                         conv.axes.toFront(b.type(op.getY())));
  b.set(op.getY(), conv.axes.back(b, y));
}

static void lowerConvTranspose(ConvTransposeOp op, LinalgBuilder &b) {
  Convolution conv = convolutionOf(op, b, op.getW(), op.getX());
  Value x = conv.axes.toFront(b, b.get(op.getX())), w = b.get(op.getW());
  RankedTensorType type = conv.axes.toFront(b.type(op.getY()));
  Value y =
      b.isReference() ? conv.scatter(x, w, type) : conv.gather(x, w, type);
  b.set(op.getY(), conv.axes.back(b, y));
}

static void lowerConvWeightGrad(ConvWeightGradOp op, LinalgBuilder &b) {
  Convolution conv = convolutionOf(op, b, op.getDw(), op.getX());
  b.set(op.getDw(), conv.weightGradient(conv.axes.toFront(b, b.get(op.getX())),
                                        conv.axes.toFront(b, b.get(op.getDy())),
                                        b.type(op.getDw())));
}

void netc::addConvolutionLowerings(Lowerings &lowerings) {
  lowerings.add(lowerConv);
  lowerings.add(lowerConvTranspose);
  lowerings.add(lowerConvWeightGrad);
}
