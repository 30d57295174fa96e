// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CONVERSION_PLACE_H
#define NETC_LIB_CONVERSION_PLACE_H

#include "lib/Conversion/Element.h"

namespace netc {

/// Where a number from data or arithmetic points on an axis. It may be any:
/// what is read there is `orZero`, and what is written there stays as it was.
struct Place {
  mlir::Value index;    ///< the number; 0 where that is outside
  mlir::Value isInside; ///< whether 0 <= number < size

  /// `number` is an integer of up to 64 bits, with a sign.
  static Place of(mlir::ImplicitLocOpBuilder &b, mlir::Value number,
                  int64_t size) {
    mlir::Type i64 = b.getI64Type();
    if (number.getType() != i64)
      number = b.create<mlir::arith::ExtSIOp>(i64, number);
    auto constant = [&](int64_t value) -> mlir::Value {
      return b.create<mlir::arith::ConstantIntOp>(value, i64);
    };
    // Without a sign, a negative number is larger than any size.
    mlir::Value isInside = b.create<mlir::arith::CmpIOp>(
        mlir::arith::CmpIPredicate::ult, number, constant(size));
    number = b.create<mlir::arith::SelectOp>(isInside, number, constant(0));
    return {b.create<mlir::arith::IndexCastOp>(b.getIndexType(), number),
            isInside};
  }

  /// `element`, which was read at `index`, or 0 where the place is outside.
  Element orZero(Element element) const {
    return select({element.b, isInside}, element, number(element, 0));
  }
  /// What an update makes of `old`, which was read at `index`.
  Element updated(Element old, Element value) const {
    return select({old.b, isInside}, value, old);
  }
};

} // namespace netc

#endif // NETC_LIB_CONVERSION_PLACE_H
