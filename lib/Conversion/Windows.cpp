// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Conversion/Windows.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace netc;
using namespace mlir;

WindowAxes::WindowAxes(int64_t rank, ArrayRef<int64_t> over,
                       std::optional<int64_t> channel)
    : spatial(over) {
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(over, axis) && channel != axis)
      batch.push_back(axis);
  if (channel)
    channels.push_back(*channel);
  else if (batch.size() > 1)
    channels.push_back(batch.pop_back_val());
}

SmallVector<int64_t> WindowAxes::order() const {
  SmallVector<int64_t> order(batch);
  order.append(spatial);
  order.append(channels);
  return order;
}

RankedTensorType WindowAxes::toFront(RankedTensorType type) const {
  SmallVector<int64_t> sizes;
  for (int64_t axis : order())
    sizes.push_back(type.getDimSize(axis));
  return RankedTensorType::get(sizes, type.getElementType());
}

Value WindowAxes::toFront(LinalgBuilder &b, Value tensor) const {
  return b.transpose(tensor, order());
}

Value WindowAxes::back(LinalgBuilder &b, Value tensor) const {
  return b.transpose(tensor, invertPermutationVector(order()));
}

Value netc::region(LinalgBuilder &b, Value x, unsigned first,
                   ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes,
                   double outside) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> from(type.getRank()), kept(type.getShape());
  SmallVector<int64_t> low(type.getRank()), high(type.getRank());
  for (auto [i, start, size] : llvm::enumerate(starts, sizes)) {
    unsigned axis = first + i;
    int64_t whole = type.getDimSize(axis);
    int64_t begin = std::clamp<int64_t>(start, 0, whole);
    int64_t end = std::clamp<int64_t>(start + size, begin, whole);
    from[axis] = begin;
    kept[axis] = end - begin;
    low[axis] = std::clamp<int64_t>(-start, 0, size);
    high[axis] = size - kept[axis] - low[axis];
  }
  if (llvm::is_contained(kept, 0)) {
    for (auto [i, size] : llvm::enumerate(sizes))
      kept[first + i] = size;
    return b.filled(RankedTensorType::get(kept, type.getElementType()),
                    outside);
  }
  if (ArrayRef<int64_t>(kept) != type.getShape())
    x = b.slice(x, from, kept);
  return b.pad(x, low, high, outside);
}

bool netc::nextPoint(MutableArrayRef<int64_t> point, ArrayRef<int64_t> bounds) {
  for (size_t i = point.size(); i-- > 0;) {
    if (++point[i] < bounds[i])
      return true;
    point[i] = 0;
  }
  return false;
}
