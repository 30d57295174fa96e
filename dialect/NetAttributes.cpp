// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/NetAttributes.h"

#include "dialect/Net.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace netc;
using namespace mlir;

#include "dialect/NetEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/NetAttributes.cpp.inc"

void NetDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/NetAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Attributes: numbers and polynomials are written as strings
//===----------------------------------------------------------------------===//

FailureOr<Rational> FieldParser<Rational>::parse(AsmParser &parser) {
  SMLoc at = parser.getCurrentLocation();
  std::string text;
  if (parser.parseString(&text))
    return failure();
  std::optional<Rational> number = Rational::parse(text);
  if (!number)
    return parser.emitError(at) << "`" << text << "` is not a number";
  return *number;
}

static ParseResult parsePolynomial(AsmParser &parser, Polynomial &value) {
  SMLoc loc = parser.getCurrentLocation();
  std::string text;
  if (parser.parseString(&text))
    return failure();
  std::optional<Polynomial> parsed = Polynomial::parse(text);
  if (!parsed)
    return parser.emitError(loc) << "`" << text << "` is not a polynomial";
  value = *parsed;
  return success();
}

static void printPolynomial(AsmPrinter &printer, const Polynomial &value) {
  printer << '"' << value.str() << '"';
}

Attribute AxesAttr::parse(AsmParser &parser, Type) {
  Shape shape;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&] {
        return parsePolynomial(parser, shape.sizes.emplace_back());
      }))
    return {};
  return AxesAttr::get(parser.getContext(), shape);
}

void AxesAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getShape().sizes, printer, [&](const Polynomial &size) {
    printPolynomial(printer, size);
  });
  printer << '>';
}

LogicalResult
AxesAttr::verifyEncoding(ArrayRef<int64_t> dims, Type,
                         function_ref<InFlightDiagnostic()> emitError) const {
  const Shape &shape = getShape();
  if (shape.rank() != dims.size())
    return emitError() << "encoding lists " << shape.rank()
                       << " axes, the tensor has " << dims.size();
  for (auto [size, dim] : llvm::zip_equal(shape.sizes, dims)) {
    if (size.toInt64().value_or(ShapedType::kDynamic) != dim)
      return emitError() << "axis of size `" << size.str()
                         << "` does not agree with the tensor's dimension";
  }
  return success();
}

Attribute PolynomialAttr::parse(AsmParser &parser, Type) {
  Polynomial value;
  if (parser.parseLess() || parsePolynomial(parser, value) ||
      parser.parseGreater())
    return {};
  return PolynomialAttr::get(parser.getContext(), value);
}

void PolynomialAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printPolynomial(printer, getValue());
  printer << '>';
}

Attribute MomentsAttr::parse(AsmParser &parser, Type) {
  bool fixed = false;
  SmallVector<Rational> values;
  if (parser.parseLess())
    return {};
  fixed = succeeded(parser.parseOptionalKeyword("fixed"));
  auto parseValue = [&]() -> ParseResult {
    FailureOr<Rational> value = FieldParser<Rational>::parse(parser);
    if (succeeded(value))
      values.push_back(*value);
    return ParseResult(value);
  };
  if (parser.parseCommaSeparatedList(parseValue) || parser.parseGreater())
    return {};
  return MomentsAttr::get(parser.getContext(),
                          fixed ? Moments(values.front()) : Moments(values));
}

void MomentsAttr::print(AsmPrinter &printer) const {
  printer << '<' << (getValue().isFixed() ? "fixed " : "");
  llvm::interleaveComma(getValue().values(), printer);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// Parses a keyword. `valueOf` returns the value with this name, if there is
/// one.
template <typename T>
static FailureOr<T>
parseNamed(AsmParser &parser,
           std::optional<T> (*valueOf)(const std::string &)) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (failed(parser.parseKeyword(&word)))
    return failure();
  if (std::optional<T> value = valueOf(word.str()))
    return *value;
  return parser.emitError(loc) << "there is no `" << word << "`";
}

FailureOr<program::Role>
mlir::FieldParser<program::Role>::parse(AsmParser &parser) {
  return parseNamed(parser, program::roleOf);
}

FailureOr<program::Init>
mlir::FieldParser<program::Init>::parse(AsmParser &parser) {
  return parseNamed(parser, program::initOf);
}

SlotAttr SlotAttr::withRange(int64_t upperBound, bool takesNegative) const {
  return get(getContext(), getName(), getRole(), getInit(), getTheta(),
             upperBound, getSizes(), getStrides(), getType(), getOffset(),
             takesNegative);
}

SlotAttr SlotAttr::withOrder(ArrayRef<int64_t> sizes,
                             ArrayRef<int64_t> strides) const {
  return get(getContext(), getName(), getRole(), getInit(), getTheta(),
             getUpperBound(), DenseI64ArrayAttr::get(getContext(), sizes),
             DenseI64ArrayAttr::get(getContext(), strides), getType(),
             getOffset(), getTakesNegative());
}

SlotAttr SlotAttr::at(MemRefType type, int64_t offset) const {
  return get(getContext(), getName(), getRole(), getInit(), getTheta(),
             getUpperBound(), getSizes(), getStrides(), type, offset,
             getTakesNegative());
}
