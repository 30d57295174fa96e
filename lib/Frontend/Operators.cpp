// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Evaluator.h"
#include <cmath>

using namespace netc;
using llvm::StringRef;

std::variant<Literal, Message>
Operators::readLiteral(NetParser::QuantityContext *tree) {
  if (tree->RATE())
    return parseRate(tree->RATE()->getText());
  if (tree->DEVTIME())
    return parseDeviceTime(tree->DEVTIME()->getText());
  return parseQuantity(tree->NUMBER()->getText(),
                       tree->ID() ? tree->ID()->getText() : "");
}

std::optional<Literal> Operators::literalOf(NetParser::QuantityContext *tree) {
  std::variant<Literal, Message> read = readLiteral(tree);
  if (auto *literal = std::get_if<Literal>(&read))
    return *literal;
  e.fail(tree, std::get<Message>(read));
  return std::nullopt;
}

std::string netc::insteadOf(StringRef op, const Value &a, const Value &b) {
  if (a.is<Tensor>() || b.is<Tensor>())
    return op == "%" || op == "//" ? "; tensors have `+ - * / ^ @`" : "";
  if (a.is<std::string>() || b.is<std::string>())
    return "; nothing converts to or from a string";
  if (a.is<List>() || b.is<List>())
    return "; `[2 * x for x in list]` takes each element";
  return "";
}

Value Operators::binary(Tree *at, StringRef op, const Value &a0,
                        const Value &b0) {
  Value a = e.calls.resolve(at, a0), b = e.calls.resolve(at, b0);
  if (a.isUnknown() || b.isUnknown())
    return {};
  if (a.is<Tensor>() || b.is<Tensor>())
    return e.tensors.tensorArithmetic(at, op, a, b);
  std::optional<Number> x = numberOf(a), y = numberOf(b);
  if (x && y)
    return arithmetic(at, op, *x, *y);
  if (op == "+") {
    if (a.is<std::string>() && b.is<std::string>()) {
      if (!e.budget.spend(at, a.as<std::string>()->size() +
                                  b.as<std::string>()->size()))
        return {};
      return *a.as<std::string>() + *b.as<std::string>();
    }
    if (a.is<List>() && b.is<List>()) {
      std::vector<Value> items = *a.as<List>()->items;
      const std::vector<Value> &more = *b.as<List>()->items;
      if (!e.budget.spend(at, items.size() + more.size()))
        return {};
      items.insert(items.end(), more.begin(), more.end());
      return listOf(std::move(items));
    }
  }
  return e.fail(at, error::OperandTypes, op, kindOf(a), kindOf(b),
                insteadOf(op, a, b));
}

Message netc::freeSize(const Number &size) {
  return error::FreeSize(size.exact.str(), size.exact.symbols().front());
}

static std::string dimensionName(const Dimension &dimension) {
  return dimension.isNone() ? "a plain number" : dimension.str();
}

static bool isAdditive(StringRef op) { return op == "+" || op == "-"; }

std::optional<Dimension> Operators::dimensionOf(Tree *at, StringRef op,
                                                const Number &a,
                                                const Number &b) {
  if (op == "*")
    return a.dimension * b.dimension;
  if (op == "/")
    return a.dimension / b.dimension;
  if (!isAdditive(op) && op != "//" && op != "%")
    return Dimension();
  Dimension dimension = a.dimension;
  if (a.dimension != b.dimension) {
    // A plain number passes for a count.
    if (a.dimension.isNone() && b.dimension.isCount()) {
      dimension = b.dimension;
    } else if (!(b.dimension.isNone() && a.dimension.isCount())) {
      e.fail(at, error::DifferentUnits, isAdditive(op) ? "add" : "divide",
             dimensionName(a.dimension), dimensionName(b.dimension));
      return std::nullopt;
    }
  }
  return op == "//" && !b.dimension.isNone() ? Dimension() : dimension;
}

Value Operators::inexact(Tree *at, StringRef op, const Number &a,
                         const Number &b, double value,
                         const Dimension &dimension) {
  bool given = std::isinf(a.toDouble()) || std::isinf(b.toDouble());
  if (std::isnan(value) || (std::isinf(value) && !given))
    return e.fail(at, error::NotFinite, textOf(Value(a)), op, textOf(Value(b)));
  return Number::inexact(value, dimension);
}

Value Operators::power(Tree *at, const Number &a, const Number &b) {
  if (!b.dimension.isNone())
    return e.fail(at, error::ExponentUnit, dimensionName(b.dimension));
  std::optional<int64_t> exponent = b.real ? std::nullopt : b.exact.toInt64();
  if (exponent && !a.real) {
    if (a.exact.isZero() && *exponent < 0)
      return e.fail(at, error::DivisionByZero);
    Polynomial power;
    if (std::optional<Rational> base = a.exact.constant())
      power = base->pow(*exponent);
    else if (*exponent >= 0 && *exponent <= 64)
      power = a.exact.pow(*exponent);
    else
      power = Polynomial::invalid();
    if (!power.isValid())
      return e.fail(at, error::OutOfRange);
    return Number(power, a.dimension.pow(*exponent));
  }
  if (!a.isConstant() || !b.isConstant())
    return e.fail(at, freeSize(a.isConstant() ? b : a));
  if (!a.dimension.isNone() && !a.dimension.isCount())
    return e.fail(at, error::FractionalPower, dimensionName(a.dimension));
  return inexact(at, "^", a, b, std::pow(a.toDouble(), b.toDouble()),
                 Dimension());
}

Value Operators::inexactResult(Tree *at, StringRef op, const Number &a,
                               const Number &b, const Dimension &dimension) {
  if (!a.isConstant() || !b.isConstant())
    return e.fail(at, error::InexactWithFreeSize);
  if (b.toDouble() == 0 && !isAdditive(op) && op != "*")
    return e.fail(at, error::DivisionByZero);
  double x = a.toDouble(), y = b.toDouble();
  return inexact(at, op, a, b,
                 op == "+"    ? x + y
                 : op == "-"  ? x - y
                 : op == "*"  ? x * y
                 : op == "/"  ? x / y
                 : op == "//" ? std::floor(x / y)
                              : x - y * std::floor(x / y),
                 dimension);
}

std::optional<Polynomial> Operators::exactResult(Tree *at, StringRef op,
                                                 const Number &a,
                                                 const Number &b) {
  auto fail = [&](const Message &message) {
    e.fail(at, message);
    return std::nullopt;
  };
  if (op == "+")
    return a.exact + b.exact;
  if (op == "-")
    return a.exact - b.exact;
  if (op == "*")
    return a.exact * b.exact;
  if (b.exact.isZero())
    return fail(error::DivisionByZero());
  if (op == "/") {
    Polynomial value = a.exact / b.exact;
    if (!value.isValid() && !b.exact.isConstant())
      return fail(freeSize(b));
    return value;
  }
  std::optional<Rational> x = a.exact.constant(), y = b.exact.constant();
  if (x && y) {
    Rational quotient = (*x / *y).floor();
    return op == "//" ? quotient : *x - *y * quotient;
  }
  // A multiple is divided the same way at every size.
  std::optional<Polynomial> quotient = a.exact.floorDivide(b.exact);
  if (!quotient)
    return fail(freeSize(x ? b : a));
  return op == "//" ? *quotient : a.exact - b.exact * *quotient;
}

Value Operators::arithmetic(Tree *at, StringRef op, const Number &a,
                            const Number &b) {
  std::optional<Dimension> dimension = dimensionOf(at, op, a, b);
  if (!dimension)
    return {};
  if (op == "@")
    return e.fail(at, error::MatmulOfNumbers);
  if (op == "^")
    return power(at, a, b);
  std::string device = a.device.empty() ? b.device : a.device;
  if (!b.device.empty() && b.device != device)
    return e.fail(at, error::DifferentDevices,
                  isAdditive(op) ? "add "
                  : op == "*"    ? "multiply "
                                 : "divide ",
                  a.device, b.device);
  if (dimension->power(Dimension::Device) == 0)
    device.clear();
  if (a.real || b.real)
    return inexactResult(at, op, a, b, *dimension);
  std::optional<Polynomial> value = exactResult(at, op, a, b);
  if (!value)
    return {};
  if (!value->isValid())
    return e.fail(at, error::OutOfRange);
  return Number(*value, *dimension, device);
}

Value Operators::compare(Tree *at, StringRef op, const Value &a0,
                         const Value &b0) {
  Value a = e.calls.resolve(at, a0), b = e.calls.resolve(at, b0);
  if (a.isUnknown() || b.isUnknown())
    return {};
  if (op == "~")
    return e.fail(at, error::AboutOutsideExpect);
  auto isArray = [](const Value &value) {
    return value.is<Tensor>() || numberOf(value);
  };
  if ((a.is<Tensor>() || b.is<Tensor>()) && isArray(a) && isArray(b)) {
    auto operands = e.tensors.elementByElement(at, "compare", {a, b});
    return operands
               ? e.tensors.emit(at, "compare", *operands,
                                e.builder.getNamedAttr(
                                    "relation", e.builder.getStringAttr(op)))
               : Value();
  }
  std::optional<Number> x = numberOf(a), y = numberOf(b);
  if (x && y) {
    if (x->dimension != y->dimension) {
      bool fits = (x->dimension.isNone() && y->dimension.isCount()) ||
                  (y->dimension.isNone() && x->dimension.isCount());
      if (!fits)
        return e.fail(at, error::ComparedUnits, dimensionName(x->dimension),
                      dimensionName(y->dimension),
                      y->dimension.isNone() ? "; write `" + textOf(b) + " " +
                                                  x->dimension.str() + "`"
                                            : "");
    }
    if (!x->device.empty() && !y->device.empty() && x->device != y->device)
      return e.fail(at, error::ComparedDevices, x->device, y->device);
    double sign;
    if (x->real || y->real) {
      if (!x->isConstant() || !y->isConstant())
        return e.fail(at, error::ComparedInexact);
      sign = x->toDouble() - y->toDouble();
    } else {
      std::optional<Rational> difference = (x->exact - y->exact).constant();
      if (!difference)
        return e.fail(at, error::UndecidedComparison, x->exact.str(), op.str(),
                      y->exact.str());
      sign = difference->isZero() ? 0 : difference->isNegative() ? -1 : 1;
    }
    return op == "=="   ? sign == 0
           : op == "!=" ? sign != 0
           : op == "<"  ? sign < 0
           : op == "<=" ? sign <= 0
           : op == ">"  ? sign > 0
                        : sign >= 0;
  }
  if (op == "==" || op == "!=") {
    bool same = a.data.index() == b.data.index();
    bool known = a.is<None>() || b.is<None>();
    if (same && a.is<std::string>()) {
      same = *a.as<std::string>() == *b.as<std::string>();
      known = true;
    } else if (same && a.is<bool>()) {
      same = *a.as<bool>() == *b.as<bool>();
      known = true;
    } else if (same && a.is<TypeValue>()) {
      same = a.as<TypeValue>()->element == b.as<TypeValue>()->element;
      known = true;
    }
    // A word may be compared with a setting that holds a number or a block.
    known |= a.is<std::string>() || b.is<std::string>();
    if (a.is<Function>() && b.is<Function>()) {
      auto parts = [](const Function &f) {
        return std::tuple(f.block, f.op, f.builtin);
      };
      same = parts(*a.as<Function>()) == parts(*b.as<Function>());
      known = true;
    }
    // A block with settings differs from the block without.
    known |= functionOf(a) && functionOf(b) && !same;
    if (known)
      return (op == "==") == same;
  }
  return e.fail(at, error::ComparedTypes, kindOf(a), kindOf(b));
}
