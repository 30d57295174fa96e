// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_SHAPE_H
#define NETC_DIALECT_SHAPE_H

#include "dialect/Polynomial.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"

namespace netc {

/// The sizes of a tensor's axes, in order. Each is a positive integer or a
/// polynomial in the free axes.
struct Shape {
  static constexpr int64_t maxSize = int64_t(1) << 40;
  static constexpr size_t maxRank = 64;

  llvm::SmallVector<Polynomial, 4> sizes;

  Shape() = default;
  explicit Shape(llvm::ArrayRef<Polynomial> sizes)
      : sizes(sizes.begin(), sizes.end()) {}

  size_t rank() const { return sizes.size(); }
  /// The number of elements; 1 for a scalar. Invalid if it overflows.
  Polynomial elements() const;
  /// The shape with these axes removed.
  Shape without(llvm::ArrayRef<int64_t> axes) const;
  /// The first axis whose size is a constant outside of 1 to maxSize, or
  /// overflows.
  std::optional<size_t> invalidAxis() const;
  bool operator==(const Shape &other) const { return sizes == other.sizes; }
  bool operator!=(const Shape &other) const { return sizes != other.sizes; }
  const Polynomial &operator[](size_t axis) const { return sizes[axis]; }
  Polynomial &operator[](size_t axis) { return sizes[axis]; }
};
llvm::hash_code hash_value(const Shape &shape);

/// The shape of a ranked tensor, free axes included.
Shape shapeOf(mlir::Type type);
Shape shapeOf(mlir::Value value);

/// Whether tensorOf could have made this ranked tensor, within the limits of
/// Shape.
bool hasValidShape(mlir::Type type);

/// The tensor type with these sizes. A constant size becomes a static
/// dimension. The encoding `#net.axes` is present only if some size is not
/// constant.
mlir::RankedTensorType tensorOf(mlir::Type element, const Shape &shape);
mlir::Type elementOf(mlir::Value value);

/// Bytes of one element; `i1` takes one byte.
unsigned bytesOf(mlir::Type element);

/// A tensor in a cost formula: its number of elements. `[]` returns the size of
/// an axis, counted from the end if negative.
class Extent : public Polynomial {
public:
  Extent() = default;
  explicit Extent(Shape shape)
      : Polynomial(shape.elements()), shape(std::move(shape)) {}
  const Polynomial &operator[](int axis) const {
    return shape[axis < 0 ? axis + shape.rank() : axis];
  }

private:
  Shape shape;
};
/// The extent of a tensor, without elements if it is absent; the sum of
/// several.
Extent extentOf(mlir::Value value);
Polynomial extentOf(mlir::ValueRange values);
/// The product of sizes, as in `product(k)`.
Polynomial product(llvm::ArrayRef<int64_t> sizes);

} // namespace netc

#endif // NETC_DIALECT_SHAPE_H
