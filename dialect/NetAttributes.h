// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The dialect with its attributes and enumerations, without its ops.

#ifndef NETC_DIALECT_NETATTRIBUTES_H
#define NETC_DIALECT_NETATTRIBUTES_H

#include "dialect/Moments.h"
#include "dialect/NetEnums.h"
#include "dialect/RunFacts.h"
#include "dialect/Shape.h"
#include "lib/Program/Slot.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TensorEncoding.h"

#include "dialect/NetDialect.h.inc"

namespace mlir {

template <> struct FieldParser<netc::Rational> {
  static FailureOr<netc::Rational> parse(AsmParser &parser);
};
template <> struct FieldParser<netc::program::Role> {
  static FailureOr<netc::program::Role> parse(AsmParser &parser);
};
template <> struct FieldParser<netc::program::Init> {
  static FailureOr<netc::program::Init> parse(AsmParser &parser);
};

inline AsmPrinter &operator<<(AsmPrinter &printer,
                              const netc::Rational &number) {
  return printer << '"' << number.str() << '"';
}
inline AsmPrinter &operator<<(AsmPrinter &printer, netc::program::Role role) {
  return printer << nameOf(role);
}
inline AsmPrinter &operator<<(AsmPrinter &printer, netc::program::Init init) {
  return printer << nameOf(init);
}

} // namespace mlir

#define GET_ATTRDEF_CLASSES
#include "dialect/NetAttributes.h.inc"

#endif // NETC_DIALECT_NETATTRIBUTES_H
