// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Steps for weights that no layer owns, and for what is known.

#include "lib/Import/StepBuilder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

const StoredValues::Rows *StoredValues::findRows(int value) const {
  auto found = rows.find(value);
  return found == rows.end() ? nullptr : &found->second;
}

int StoredValues::materialize(int value) {
  if (rows.count(value))
    return readRows(value);
  GraphValue::Kind kind = values.at(value).kind;
  if (kind == GraphValue::Made || kind == GraphValue::Input)
    return value;
  if (kind == GraphValue::Known && materialized.count(value)) {
    auto [copy, isNew] = copies.try_emplace({value, node->module}, value);
    if (isNew)
      copy->second = values.another(value);
    value = copy->second;
  } else if (kind == GraphValue::Known) {
    copies[{value, node->module}] = value;
  }
  if (!materialized.insert(value).second)
    return value;
  steps.push_back(kind == GraphValue::Weight ? weight(value) : known(value));
  return value;
}

Step StoredValues::begin(Step::Form form, int value) const {
  Step made;
  made.form = form;
  made.outs = {value};
  made.node = node.number();
  made.module = node->module;
  made.line = node->line;
  return made;
}

int StoredValues::readRows(int value) {
  if (!materialized.insert(value).second)
    return value;
  const auto &[table, place] = rows.at(value);
  const Sizes &sizes = values.shape(value);
  Step made = begin(Step::Form_, value);
  made.ins = {materialize(table)};
  if (place.empty()) {
    made.putSizes({sizes[sizes.size() - 2]});
    made.fn = "%0[0..#0, ...]";
  } else {
    made.put("", "row", place);
    made.fn = "%0[#0, ...]";
  }
  if (sizes.size() != (place.empty() ? 2 : 1)) {
    made.putSizes(sizes);
    made.fn = place.empty() ? "reshape(" + made.fn + ", #1)"
                            : "expand(" + made.fn +
                                  ", zeros(#1), over = axes(zeros(#1))[-1])";
  }
  steps.push_back(std::move(made));
  return value;
}

Step StoredValues::weight(int value) const {
  const GraphValue &tensor = values.at(value);
  Step made = begin(Step::Instance, value);
  made.fn = tensor.isState ? "buffer" : "parameter";
  made.weight = tensor.name;
  made.weights = {value};
  made.put("", "size", sizesText(tensor.shape));
  made.arguments.back().isNumber = tensor.shape.size() == 1;
  if (!tensor.init.empty())
    made.put("init", "init", "\"" + tensor.init + "\"", "\"fan_in\"", false);
  if (!tensor.learns && !tensor.isState)
    made.put("trainable", "trainable", "false", "true", false);
  return made;
}

bool StoredValues::isListed(int value) const {
  if (!values.isKnown(value) || values.shape(value).empty())
    return false;
  const Json &known = *values.at(value).known;
  auto numbers = known.find("values");
  return numbers != known.end() && numbers->is_array() &&
         numbers->size() <= mostListed &&
         elements(values.shape(value)) ==
             Polynomial(int64_t(numbers->size())) &&
         llvm::all_of(*numbers, [](const Json &each) {
           return each.is_number() || each == "inf" || each == "-inf";
         });
}

bool StoredValues::isOther(int value) const {
  return values.what(value) == "table" && !isListed(value);
}

/// Numbers in the brackets of a shape: `[[0, 2], [1, 1]]`.
static std::string nested(const Json &numbers, const Sizes &shape) {
  std::vector<std::string> parts;
  for (const Json &each : numbers)
    parts.push_back(each.is_string() ? each.get<std::string>() : each.dump());
  for (const Polynomial &size : llvm::reverse(shape)) {
    std::vector<std::string> joined;
    size_t width = size_t(*size.toInt64());
    for (size_t i = 0; i < parts.size(); i += width)
      joined.push_back(
          "[" + llvm::join(llvm::ArrayRef(parts).slice(i, width), ", ") + "]");
    parts = std::move(joined);
  }
  return parts.front();
}

Step StoredValues::known(int value) {
  const GraphValue &tensor = values.at(value);
  const Json &known = *tensor.known;
  std::string kind = values.what(value);
  Step made = begin(Step::Form_, value);
  bool isFloat = values.isFloat(value);
  if (kind == "number" && known.contains("value") &&
      known["value"].is_number() && (isFloat || tensor.type == "bool")) {
    double number = known["value"].get<double>();
    made.fn = number == 0 ? "zeros(#0)" : "zeros(#0) + #1";
    made.putSizes(tensor.shape);
    made.put("", "value", realText(number));
  } else if (kind == "size" && !isFloat && tensor.shape.empty()) {
    made.fn = "arange(#0)[-1]";
    made.putSizes({tensor.size + 1});
  } else if (kind == "size" && isFloat) {
    made.fn = (tensor.shape.empty() ? "" : "zeros(#1) + ") + numberText("#0");
    made.putSizes({tensor.size});
    made.putSizes(tensor.shape);
  } else if (kind == "bucket" && tensor.shape.size() == 2) {
    made.fn = "relative_position(zeros(#0), #1, #2, causal = #3)";
    made.putSizes(tensor.shape);
    for (const char *key : {"buckets", "distance"})
      made.put("", key, std::to_string(known.value(key, int64_t())));
    made.put("", "causal", known.value("causal", false) ? "true" : "false", "",
             false);
  } else if (isListed(value)) {
    // Of whole numbers alone, a tensor has whole numbers.
    bool isWhole = llvm::all_of(known["values"], [](const Json &each) {
      return each.is_number() && each == std::floor(each.get<double>());
    });
    made.fn = isFloat && isWhole ? "float(tensor(#0))" : "tensor(#0)";
    made.put("", "values", nested(known["values"], tensor.shape), "", false);
  } else if (isFloat) {
    writeTable(made, value);
  } else {
    writeNumbers(made, value);
  }
  return made;
}

/// By what numbers a table is read counts for nothing: but for those along one
/// axis, they are others.
void StoredValues::writeNumbers(Step &made, int value) const {
  const Sizes &shape = values.shape(value);
  auto isLonger = [](const Polynomial &size) { return !(size == 1); };
  if (values.what(value) == "range" && llvm::count_if(shape, isLonger) > 1) {
    std::string last = std::to_string(shape.size() - 1);
    made.fn =
        "expand(arange(#0), zeros(#1), over = axes(zeros(#1))[" + last + "])";
    made.putSizes({shape.back()});
    made.putSizes(shape);
    return;
  }
  made.fn = shape.empty()       ? "reshape(arange(#0), [])"
            : shape.size() == 1 ? "arange(#0)"
                                : "reshape(arange(#0), #1)";
  made.putSizes({elements(shape)});
  if (shape.size() > 1)
    made.putSizes(shape);
}

void StoredValues::writeTable(Step &made, int value) {
  const GraphValue &tensor = values.at(value);
  const Json &known = *tensor.known;
  made.fn = tensor.shape.empty() ? "table(init = #1" : "table(#0, init = #1";
  made.putSizes(tensor.shape);
  bool isTold = known.contains("init");
  if (!isTold) // ones, by which something may be divided
    replaced.insert(value);
  made.put("", "init", "\"" + known.value("init", std::string("ones")) + "\"",
           "", false);
  if (isTold && known.contains("theta")) {
    made.fn += ", theta = #2";
    made.put("", "theta", realText(known.value("theta", 1e4)));
  }
  made.fn += ")";
}
