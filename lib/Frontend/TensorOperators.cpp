// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Operators on tensors. Their operands are broadcast to one shape.

#include "dialect/ElementName.h"
#include "lib/Frontend/Evaluator.h"

using namespace netc;
using llvm::StringRef;

Tensor TensorBuilder::constant(Tree *at, double value,
                               mlir::RankedTensorType type, Labels labels) {
  return {e.builder.create<ConstantOp>(opLocation(at, "constant"), type,
                                       e.builder.getF64FloatAttr(value)),
          labels};
}

/// Whether it is a number without a unit, or in a unit of counts.
static bool isPlain(const std::optional<Number> &number) {
  return number && (number->dimension.isNone() || number->dimension.isCount());
}

/// The error for a whole number that an element type does not have.
static Message outsideType(mlir::IntegerType type, const Number &number) {
  auto has = [&](unsigned width) {
    std::optional<int64_t> whole = number.exact.toInt64();
    return whole && llvm::isIntN(width, *whole);
  };
  unsigned width = type.getWidth(), wider = 2 * width;
  while (wider <= 64 && !has(wider))
    wider *= 2;
  return error::NumberOutsideType(
      elementName(type), std::to_string(llvm::minIntN(width)),
      std::to_string(llvm::maxIntN(width)), number.exact.str(),
      wider <= 64 ? "`i" + std::to_string(wider) + "` has it"
                  : "`float(x)` makes real numbers of them");
}

std::optional<Tensor> TensorBuilder::fullOf(Tree *at, StringRef op,
                                            const Value &value,
                                            mlir::RankedTensorType type,
                                            const Labels &labels) {
  std::optional<Number> number = numberOf(value);
  if (!isPlain(number) || type.getElementType().isInteger(1)) {
    e.fail(at, error::OperandTypes, op, "a tensor",
           number ? textOf(Value(*number)) : kindOf(value), "");
    return std::nullopt;
  }
  if (!number->isConstant()) {
    e.fail(at, freeSize(*number));
    return std::nullopt;
  }
  auto integer = mlir::dyn_cast<mlir::IntegerType>(type.getElementType());
  if (!integer)
    return constant(at, number->toDouble(), type, labels);
  std::optional<Rational> exact = number->exact.constant();
  if (number->real || !exact || !exact->isInteger()) {
    e.fail(at, error::RealWithWholeTensor, textOf(value));
    return std::nullopt;
  }
  std::optional<int64_t> whole = number->exact.toInt64();
  if (!whole || !llvm::isIntN(integer.getWidth(), *whole)) {
    e.fail(at, outsideType(integer, *number));
    return std::nullopt;
  }
  if (llvm::isInt<53>(*whole))
    return constant(at, double(*whole), type, labels);
  // A constant is of floating point, which may not have the number.
  auto scalar = mlir::RankedTensorType::get({}, integer);
  mlir::Value literal = e.builder.create<LiteralOp>(
      opLocation(at, "tensor"), scalar,
      mlir::DenseElementsAttr::get(scalar, llvm::ArrayRef(*whole)));
  return Tensor{e.builder.create<BroadcastOp>(opLocation(at, "expand"), type,
                                              literal,
                                              llvm::ArrayRef<int64_t>()),
                labels};
}

bool TensorBuilder::isElementByElement(const Function &function) const {
  return function.op && mlir::RegisteredOperationName::lookup(
                            "net." + function.op->name.str(), e.context)
                            ->hasTrait<ElementByElement>();
}

/// Whole numbers of several widths become those of the widest.
void TensorBuilder::widenIntegers(Tree *at, std::vector<Tensor> &tensors) {
  auto isWhole = [](const Tensor &each) {
    mlir::Type element = elementOf(each.value);
    return mlir::isa<mlir::IntegerType>(element) && !element.isInteger(1);
  };
  unsigned widest = 0;
  for (const Tensor &each : tensors)
    if (isWhole(each))
      widest = std::max(widest, elementOf(each.value).getIntOrFloatBitWidth());
  for (Tensor &each : tensors)
    if (isWhole(each))
      each.value = convertTo(e.builder, opLocation(at, "convert"), each.value,
                             e.builder.getIntegerType(widest));
}

std::optional<std::vector<Tensor>>
TensorBuilder::elementByElement(Tree *at, StringRef op,
                                llvm::ArrayRef<Value> values) {
  std::vector<Tensor> tensors;
  for (const Value &value : values)
    if (auto *tensor = value.as<Tensor>())
      tensors.push_back(*tensor);
  if (tensors.empty()) {
    e.fail(at, error::TakesTensorNotNumbers, op);
    return std::nullopt;
  }
  // Aligning may enlarge the first tensor, so align those before it again.
  for (unsigned round = 0; round < 2; ++round)
    for (Tensor &other : llvm::drop_begin(tensors))
      if (!align(at, op, tensors.front(), other))
        return std::nullopt;
  widenIntegers(at, tensors);
  // A number gets the type of the last tensor, unless that is a condition.
  mlir::Type element = elementOf(tensors.back().value);
  if (element.isInteger(1) && values.size() > 2)
    element = e.builder.getF32Type();
  auto type = tensorOf(element, shapeOf(tensors.front().value));
  std::vector<Tensor> operands;
  auto next = tensors.begin();
  for (const Value &value : values) {
    std::optional<Tensor> operand =
        value.is<Tensor>()
            ? *next++
            : fullOf(at, op, value, type, tensors.front().labels);
    if (!operand)
      return std::nullopt;
    operands.push_back(*operand);
  }
  return operands;
}

Value TensorBuilder::tensorArithmetic(Tree *at, StringRef op, const Value &a,
                                      const Value &b) {
  if (op == "^") {
    std::optional<Number> exponent = numberOf(b);
    if (!a.is<Tensor>() || !exponent || !exponent->isConstant())
      return e.fail(at, error::TensorExponent);
    return emit(at, "power", *a.as<Tensor>(),
                e.builder.getNamedAttr("exponent", e.builder.getF64FloatAttr(
                                                       exponent->toDouble())));
  }
  StringRef name = llvm::StringSwitch<StringRef>(op)
                       .Case("+", "add")
                       .Case("-", "sub")
                       .Case("*", "mul")
                       .Case("/", "div")
                       .Default("");
  if (op == "@" && a.is<Tensor>() && b.is<Tensor>())
    return matmul(at, *a.as<Tensor>(), *b.as<Tensor>());
  if (name.empty())
    return e.fail(at, error::OperandTypes, op, kindOf(a), kindOf(b),
                  insteadOf(op, a, b));
  if (std::optional<Number> divisor = numberOf(b); divisor && name == "div" &&
                                                   divisor->isConstant() &&
                                                   divisor->toDouble() == 0)
    return e.fail(at, error::DivisionByZero);
  for (const Value &side : {a, b}) {
    std::optional<Number> number = numberOf(side);
    auto text = [](const Value &side) {
      std::optional<Number> number = numberOf(side);
      return number ? textOf(Value(*number)) : kindOf(side);
    };
    if (!side.is<Tensor>() && !isPlain(number))
      return e.fail(at, error::OperandTypes, op, text(a), text(b), "");
  }
  auto operands = elementByElement(at, name, {a, b});
  return operands ? emit(at, name, *operands) : Value();
}

/// The position of the op that gave an axis its size, with the note `500 comes
/// from here`.
static std::pair<mlir::LocationAttr, std::string>
originOf(mlir::Value value, size_t axis, const Polynomial &size) {
  mlir::LocationAttr origin;
  while (mlir::Operation *op = value.getDefiningOp()) {
    origin = op->getLoc()->findInstanceOf<mlir::FileLineColLoc>();
    auto given = llvm::find_if(op->getOperands(), [&](mlir::Value operand) {
      Shape shape = shapeOf(operand);
      return shape.rank() == shapeOf(value).rank() && shape[axis] == size;
    });
    if (given == op->operand_end())
      return {origin, size.str() + " comes from here"};
    value = *given;
  }
  return {};
}

bool TensorBuilder::doMeet(Tree *at, StringRef op, const Tensor &a,
                           const Tensor &b) {
  if (a.labels.size() != b.labels.size())
    return true;
  for (auto [x, y] : llvm::zip_equal(a.labels, b.labels))
    if (!canMeet(x, y)) {
      e.fail(at, error::AxesByName, op, x.name(), axesText(a), y.name(),
             axesText(b));
      return false;
    }
  return true;
}

bool TensorBuilder::canMeet(const Label &a, const Label &b) {
  return a.text().empty() || b.text().empty() || a == b;
}

/// The verb of an op in `cannot .. tensors`.
static StringRef verbOf(StringRef op) {
  return llvm::StringSwitch<StringRef>(op)
      .Case("sub", "subtract")
      .Case("mul", "multiply")
      .Case("div", "divide")
      .Default(op);
}

bool TensorBuilder::align(Tree *at, StringRef op, Tensor &a, Tensor &b) {
  auto allLabelled = [](const Tensor &tensor) {
    return llvm::none_of(
        tensor.labels, [](const Label &label) { return label.text().empty(); });
  };
  bool leads = a.labels.size() >= b.labels.size();
  Tensor &big = leads ? a : b, &small = leads ? b : a;
  Shape bigShape = shapeOf(big.value), smallShape = shapeOf(small.value);
  llvm::SmallVector<int64_t> axes; // of `big`, one for each axis of `small`
  if (allLabelled(a) && allLabelled(b)) {
    for (const Label &label : small.labels) {
      std::optional<size_t> axis = find(big, label.name());
      if (!axis) {
        e.fail(at, error::AxisOnOneSide, verbOf(op), axesText(a), axesText(b),
               label.name());
        return false;
      }
      axes.push_back(*axis);
    }
  } else {
    size_t offset = big.labels.size() - small.labels.size();
    for (auto [i, label] : llvm::enumerate(small.labels)) {
      const Label &other = big.labels[offset + i];
      if (!canMeet(label, other)) {
        e.fail(at, error::AxesMeet, verbOf(op), label.name(), other.name(),
               axesText(a), axesText(b));
        return false;
      }
      axes.push_back(offset + i);
    }
  }
  for (auto [i, axis] : llvm::enumerate(axes))
    if (smallShape[i] != bigShape[axis]) {
      const Polynomial &l = leads ? bigShape[axis] : smallShape[i];
      const Polynomial &r = leads ? smallShape[i] : bigShape[axis];
      e.fail(at,
             error::SizesMeet(verbOf(op), axis,
                              big.labels[axis].text().empty()
                                  ? ""
                                  : " (`" + big.labels[axis].name() + "`)",
                              l.str(), r.str()),
             {originOf(big.value, axis, bigShape[axis]),
              originOf(small.value, i, smallShape[i])});
      return false;
    }
  // The result also has labels that only the smaller operand has, unless they
  // would occur twice.
  Labels labels = big.labels;
  for (auto [i, axis] : llvm::enumerate(axes))
    if (labels[axis].empty() && !llvm::is_contained(labels, small.labels[i]))
      labels[axis] = small.labels[i];
  small = broadcasted(at, small, {bigShape, labels}, axes);
  big.labels = labels;
  return true;
}

Value TensorBuilder::matmul(Tree *at, const Tensor &a, const Tensor &b) {
  if (a.labels.size() < 2 || b.labels.size() < 2)
    return e.fail(at, error::MatmulRank, a.labels.size(), b.labels.size());
  // The last two axes are those of a matrix; the others number the matrices.
  Shape left = shapeOf(a.value), right = shapeOf(b.value);
  const Polynomial &columns = left.sizes.back(),
                   &rows = right[right.rank() - 2];
  if (columns != rows)
    return e.fail(at, error::MatmulSizes, columns.str(), axesText(a),
                  rows.str(), axesText(b));
  for (size_t i = 3; i <= std::min(left.rank(), right.rank()); ++i) {
    const Polynomial &ofLeft = left[left.rank() - i],
                     &ofRight = right[right.rank() - i];
    if (ofLeft != ofRight)
      return e.fail(at, error::MatmulCount, ofLeft.str(), axesText(a),
                    ofRight.str(), axesText(b));
  }
  // Name the axes from the right: i j for the left matrix, j k for the right
  // one.
  size_t batch = std::max(a.labels.size(), b.labels.size()) - 2;
  auto letters = [&](const Tensor &tensor, StringRef row, StringRef column) {
    std::string text;
    for (size_t i = batch + 2 - tensor.labels.size(); i < batch; ++i)
      text += "b" + std::to_string(i) + " ";
    return text + row.str() + " " + column.str();
  };
  const Tensor &longer = a.labels.size() >= b.labels.size() ? a : b;
  std::string spec = letters(a, "i", "j") + ", " + letters(b, "j", "k") +
                     " -> " + letters(longer, "i", "k");
  return emit(at, "einsum", {a, b},
              e.builder.getNamedAttr("spec", e.builder.getStringAttr(spec)));
}
