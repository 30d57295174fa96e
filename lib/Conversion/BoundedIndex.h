// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CONVERSION_BOUNDEDINDEX_H
#define NETC_LIB_CONVERSION_BOUNDEDINDEX_H

#include "lib/Conversion/Element.h"

namespace netc {

/// An index on an axis that comes from data or arithmetic and may be out of
/// bounds. Reads there give 0, and writes have no effect.
struct BoundedIndex {
  mlir::Value index;    ///< 0 if the number is out of bounds
  mlir::Value isInside; ///< whether 0 <= number < size

  /// `number` is a signed integer of up to 64 bits.
  static BoundedIndex of(mlir::ImplicitLocOpBuilder &b, mlir::Value number,
                         int64_t size) {
    mlir::Type i64 = b.getI64Type();
    if (number.getType() != i64)
      number = b.create<mlir::arith::ExtSIOp>(i64, number);
    auto constant = [&](int64_t value) -> mlir::Value {
      return b.create<mlir::arith::ConstantIntOp>(value, i64);
    };
    // As unsigned, a negative number is larger than any size.
    mlir::Value isInside = b.create<mlir::arith::CmpIOp>(
        mlir::arith::CmpIPredicate::ult, number, constant(size));
    number = b.create<mlir::arith::SelectOp>(isInside, number, constant(0));
    return {b.create<mlir::arith::IndexCastOp>(b.getIndexType(), number),
            isInside};
  }

  /// `element`, which was read at `index`, or 0 if out of bounds.
  Element orZero(Element element) const {
    return select({element.b, isInside}, element, number(element, 0));
  }
  /// The new value of `old`, which was read at `index`: `value`, or `old` if
  /// out of bounds.
  Element updated(Element old, Element value) const {
    return select({old.b, isInside}, value, old);
  }
};

} // namespace netc

#endif // NETC_LIB_CONVERSION_BOUNDEDINDEX_H
