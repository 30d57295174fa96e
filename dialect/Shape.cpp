// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Shape.h"
#include "dialect/Net.h"

using namespace netc;
using namespace mlir;

Polynomial Shape::elements() const {
  Polynomial result = 1;
  for (const Polynomial &size : sizes)
    result *= size;
  return result;
}

Shape Shape::without(ArrayRef<int64_t> axes) const {
  Shape result;
  for (auto [axis, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(axes, int64_t(axis)))
      result.sizes.push_back(size);
  return result;
}

std::optional<size_t> Shape::invalidAxis() const {
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    std::optional<int64_t> fixed = size.toInt64();
    if (!size.isValid() || (size.isConstant() && !fixed) ||
        (fixed && (*fixed < 1 || *fixed > maxSize)))
      return axis;
  }
  return std::nullopt;
}

llvm::hash_code netc::hash_value(const Shape &shape) {
  llvm::hash_code code = shape.rank();
  for (const Polynomial &size : shape.sizes)
    code = llvm::hash_combine(code, size);
  return code;
}

Shape netc::shapeOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (auto axes = dyn_cast_or_null<AxesAttr>(tensor.getEncoding()))
    return axes.getShape();
  Shape shape;
  for (int64_t size : tensor.getShape())
    shape.sizes.push_back(size);
  return shape;
}

Shape netc::shapeOf(Value value) { return shapeOf(value.getType()); }

bool netc::hasValidShape(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Shape shape = shapeOf(type);
  return shape.rank() <= Shape::maxRank && !shape.invalidAxis() &&
         bool(tensor.getEncoding()) != tensor.hasStaticShape();
}

RankedTensorType netc::tensorOf(Type element, const Shape &shape) {
  SmallVector<int64_t> dims;
  bool free = false;
  for (const Polynomial &size : shape.sizes) {
    std::optional<int64_t> fixed = size.toInt64();
    dims.push_back(fixed.value_or(ShapedType::kDynamic));
    free |= !fixed;
  }
  Attribute encoding;
  if (free)
    encoding = AxesAttr::get(element.getContext(), shape);
  return RankedTensorType::get(dims, element, encoding);
}

Type netc::elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

unsigned netc::bytesOf(Type element) {
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

Extent netc::extentOf(Value value) {
  return value ? Extent(shapeOf(value)) : Extent();
}

Polynomial netc::extentOf(ValueRange values) {
  Polynomial sum;
  for (Value value : values)
    sum += shapeOf(value).elements();
  return sum;
}

Polynomial netc::product(llvm::ArrayRef<int64_t> sizes) {
  Polynomial result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}
