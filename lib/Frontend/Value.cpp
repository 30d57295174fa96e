// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Value.h"
#include "dialect/ElementName.h"
#include "lib/Frontend/TensorBuilder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace netc;

Number Number::inexact(double value, Dimension dimension) {
  Number number;
  number.real = value;
  number.dimension = dimension;
  return number;
}

double Number::toDouble() const {
  if (real)
    return *real;
  std::optional<Rational> value = exact.constant();
  return value ? value->toDouble() : std::nan("");
}

Value netc::listOf(std::vector<Value> items) {
  bool holds = llvm::any_of(items, isPerGraph);
  return List{std::make_shared<const std::vector<Value>>(std::move(items)),
              holds};
}

bool netc::isPerGraph(const Value &value) {
  if (auto *list = value.as<List>())
    return list->isPerGraph;
  if (auto *record = value.as<Record>())
    return record->isPerGraph;
  return value.is<std::shared_ptr<Instance>>() || value.is<Tensor>();
}

const Function *netc::functionOf(const Value &value) {
  if (auto *function = value.as<Function>())
    return function;
  if (auto *instance = value.as<std::shared_ptr<Instance>>())
    return &(*instance)->function;
  return nullptr;
}

std::string netc::kindOf(const Value &value) {
  static const char *const kinds[] = {
      "unknown",  "none",    "a bool",      "a number",       "a string",
      "a list",   "a range", "a record",    "an axis",        "a type",
      "a tensor", "a block", "an instance", "a distribution", "a section",
      "a result", "a file"};
  return kinds[value.data.index()];
}

static std::string textOf(const Number &number) {
  std::string text;
  if (number.real) {
    llvm::raw_string_ostream(text) << llvm::format("%g", *number.real);
  } else if (std::optional<Rational> value = number.exact.constant()) {
    if (number.dimension.isNone() && !value->isInteger())
      llvm::raw_string_ostream(text) << llvm::format("%g", value->toDouble());
    else
      text = number.dimension.isNone()
                 ? value->str()
                 : formatQuantity(*value, number.dimension);
  } else {
    text = number.exact.str();
  }
  if (!number.device.empty()) {
    llvm::StringRef amount = text;
    amount.consume_back("s");
    amount.consume_back(" device");
    text = amount.str() + " " + number.device;
  }
  return text;
}

/// The distribution as the language writes it. A histogram is shown by its
/// mean, since its file is not known any more.
static std::string textOf(const Distribution &distribution) {
  const Moments &moments = distribution.moments;
  std::string text = moments.knows(3) ? "histogram of mean " : "mean(";
  llvm::raw_string_ostream os(text);
  double mean = moments.mean().toDouble();
  os << llvm::format("%g", mean);
  if (!moments.knows(3)) {
    if (moments.knows(2))
      os << llvm::format(", std = %g",
                         std::sqrt(moments.moment(2).toDouble() - mean * mean));
    os << ')';
  }
  return text;
}

std::string netc::textOf(const Value &value) {
  if (auto *number = value.as<Number>())
    return ::textOf(*number);
  if (auto *text = value.as<std::string>())
    return *text;
  if (auto *flag = value.as<bool>())
    return *flag ? "true" : "false";
  if (value.is<None>())
    return "none";
  if (auto *type = value.as<TypeValue>(); type && !type->isShaped)
    return elementName(type->element);
  if (auto *axis = value.as<Axis>())
    return axis->label.text().empty() && axis->size ? axis->size->str()
                                                    : axis->label.name();
  if (auto *distribution = value.as<Distribution>())
    return ::textOf(*distribution);
  if (auto *list = value.as<List>()) {
    std::string text = "[";
    llvm::ListSeparator comma;
    for (const Value &item : llvm::ArrayRef(*list->items).take_front(16))
      text += std::string(llvm::StringRef(comma)) +
              (item.is<List>() ? kindOf(item) : textOf(item));
    return text + (list->items->size() > 16 ? ", ..]" : "]");
  }
  if (auto *record = value.as<Record>()) {
    std::string text = "{";
    llvm::ListSeparator semicolon(";");
    for (auto &[name, field] : *record->fields)
      text += std::string(llvm::StringRef(semicolon)) + " " + name + " = " +
              (field.is<Record>() ? kindOf(field) : textOf(field));
    return text + " }";
  }
  if (auto *function = value.as<Function>())
    return function->name;
  return kindOf(value);
}

std::optional<Number> netc::numberOf(const Value &value) {
  if (auto *number = value.as<Number>())
    return *number;
  if (auto *axis = value.as<Axis>(); axis && axis->size)
    return Number(*axis->size);
  return std::nullopt;
}
