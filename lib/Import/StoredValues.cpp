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

std::optional<size_t> StoredValues::listedAxes(int value) const {
  if (!values.isKnown(value) || values.shape(value).empty())
    return std::nullopt;
  const Json &known = *values.at(value).known;
  auto numbers = known.find("values");
  if (numbers == known.end() || !numbers->is_array() || numbers->empty() ||
      numbers->size() > mostListed ||
      !llvm::all_of(*numbers, [](const Json &each) {
        return each.is_number() || each == "inf" || each == "-inf";
      }))
    return std::nullopt;
  std::optional<size_t> axes;
  Polynomial count = 1;
  for (auto [i, size] : llvm::enumerate(llvm::reverse(values.shape(value)))) {
    count *= size;
    if (count == int64_t(numbers->size()))
      axes = i + 1;
  }
  return axes;
}

bool StoredValues::isOther(int value) const {
  return values.what(value) == "table" && !isListed(value);
}

/// Numbers in the brackets of a shape: `[[0, 2], [1, 1]]`.
static std::string nested(const Json &numbers,
                          llvm::ArrayRef<Polynomial> shape) {
  std::vector<std::string> parts;
  for (const Json &each : numbers)
    parts.push_back(each.is_string() ? each.get<std::string>()
                    : std::abs(each.get<double>()) > 1e38
                        ? realText(each.get<double>())
                        : each.dump());
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
    made.fn = number == 0            ? "zeros(#0)"
              : number == 1          ? "ones(#0)"
              : tensor.shape.empty() ? "full(#1)"
                                     : "full(#1, #0)";
    made.putSizes(tensor.shape);
    made.put("", "value", realText(number));
  } else if (kind == "size" && !isFloat && tensor.shape.empty()) {
    made.fn = "arange(#0)[-1]";
    made.putSizes({tensor.size + 1});
  } else if (kind == "size" && isFloat) {
    made.putSizes({tensor.size});
    made.fn = numberText("#0");
    if (!tensor.shape.empty()) {
      made.fn = "expand(" + made.fn + ", zeros(#1), over = [])";
      made.putSizes(tensor.shape);
    }
  } else if (kind == "bucket" && tensor.shape.size() == 2) {
    made.fn = "relative_position(zeros(#0), #1, #2, causal = #3)";
    made.putSizes(tensor.shape);
    for (const char *key : {"buckets", "distance"})
      made.put("", key, std::to_string(known.value(key, int64_t())));
    made.put("", "causal", known.value("causal", false) ? "true" : "false", "",
             false);
  } else if (values.isDiagonal(value)) {
    writeDiagonal(made, value);
  } else if (isListed(value)) {
    writeListed(made, value);
  } else if (isFloat && isRange(value)) {
    writeRange(made, value);
  } else if (isFloat) {
    writeTable(made, value);
  } else {
    writeNumbers(made, value);
  }
  return made;
}

/// Which places of the last two axes are on the diagonal, or are not.
void StoredValues::writeDiagonal(Step &made, int value) const {
  const Sizes &shape = values.shape(value);
  made.putSizes(shape);
  for (size_t at : {shape.size() - 2, shape.size() - 1}) {
    made.fn += at + 1 < shape.size()          ? ""
               : values.what(value)[0] == 'n' ? " != "
                                              : " == ";
    made.fn += "expand(arange(#" + std::to_string(made.arguments.size()) +
               "), zeros(#0), over = axes(zeros(#0))[" + std::to_string(at) +
               "])";
    made.putSizes({shape[at]});
  }
}

/// The numbers of the last axes are the same at all places of the first ones.
void StoredValues::writeListed(Step &made, int value) const {
  const Sizes &shape = values.shape(value);
  const Json &numbers = (*values.at(value).known)["values"];
  // Of whole numbers alone, a tensor has whole numbers.
  bool isWhole = llvm::all_of(numbers, [](const Json &each) {
    return each.is_number() && each == std::floor(each.get<double>());
  });
  made.fn = values.at(value).type == "bool"    ? "tensor(#0) != 0"
            : values.isFloat(value) && isWhole ? "float(tensor(#0))"
                                               : "tensor(#0)";
  size_t first = shape.size() - *listedAxes(value);
  made.put("", "values", nested(numbers, shape.from(first)), "", false);
  repeatRows(made, shape, first);
}

/// What makes the axes from `first` on is repeated along those before them.
void StoredValues::repeatRows(Step &made, const Sizes &shape,
                              size_t first) const {
  if (first == 0)
    return;
  std::string all = "zeros(#" + std::to_string(made.arguments.size()) + ")";
  made.fn =
      "expand(" + made.fn + ", " + all + ", over = axes(" + all + ")[" +
      std::to_string(first) +
      (first + 1 < shape.size() ? ".." + std::to_string(shape.size()) : "") +
      "])";
  made.putSizes(shape);
}

/// The first number of a range, and the step to the next one.
static std::pair<double, double> stepsOf(const Json &known) {
  return {known.value("start", 0.0), known.value("step", 1.0)};
}

static bool areWhole(std::pair<double, double> steps) {
  return steps.first == std::floor(steps.first) &&
         steps.second == std::floor(steps.second);
}

bool StoredValues::isRange(int value) const {
  const Sizes &shape = values.shape(value);
  if (values.what(value) != "range" || shape.empty())
    return false;
  std::optional<int64_t> length = shape[shape.size() - 1].toInt64();
  return areWhole(stepsOf(*values.at(value).known)) ||
         (length && *length <= mostStepped);
}

/// start, start + step, .. along the last axis.
void StoredValues::writeRange(Step &made, int value) const {
  const Sizes &shape = values.shape(value);
  auto [start, step] = stepsOf(*values.at(value).known);
  bool isWhole = areWhole({start, step});
  made.putSizes({shape.back()}, "length");
  std::string places = isWhole ? "arange(#0)" : "i";
  if (step != 1) {
    places += " * #" + std::to_string(made.arguments.size());
    made.put("", "step", realText(step));
  }
  if (start != 0) {
    places += " + #" + std::to_string(made.arguments.size());
    made.put("", "start", realText(start));
  }
  made.fn = isWhole ? "float(" + places + ")"
                    : "tensor([" + places + " for i in 0..#0])";
  repeatRows(made, shape, shape.size() - 1);
}

/// Numbers that are the same, or 0, 1, 2, .. from one on. By what other numbers
/// a table is read counts for nothing: these are from 0 on, too.
void StoredValues::writeNumbers(Step &made, int value) {
  const Sizes &shape = values.shape(value);
  const Json &known = *values.at(value).known;
  std::string kind = values.what(value);
  auto isLonger = [](const Polynomial &size) { return !(size == 1); };
  if (kind == "range" && llvm::count_if(shape, isLonger) > 1) {
    made.fn = "arange(#0)";
    made.putSizes({shape.back()});
    repeatRows(made, shape, shape.size() - 1);
  } else {
    made.fn = shape.empty()       ? "reshape(arange(#0), [])"
              : shape.size() == 1 ? "arange(#0)"
                                  : "reshape(arange(#0), #1)";
    made.putSizes({elements(shape)});
    if (shape.size() > 1)
      made.putSizes(shape);
  }
  bool isNumber = kind == "number";
  if (!isNumber && kind != "range") {
    replaced.insert(value);
    return;
  }
  if (isNumber && known.value("value", Json()).is_boolean()) {
    made.fn += known["value"] ? " >= 0" : " < 0";
    return;
  }
  if (isNumber && !(elements(shape) == 1))
    made.fn += " * 0";
  const char *first = isNumber ? "value" : "start";
  if (int64_t from = node.integerFrom(known.value(first, Json(0)))) {
    made.fn += " + #" + std::to_string(made.arguments.size());
    made.put("", first, std::to_string(from));
  }
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
