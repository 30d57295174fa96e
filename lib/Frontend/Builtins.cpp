// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The functions of the language that are not ops: compile-time values,
// questions about axes, and constants. Shapes.cpp has reshapes, Loops.cpp
// loops, and Weights.cpp parameters, buffers and opaque networks.

#include "lib/Frontend/Evaluator.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace netc;
using llvm::StringRef;

static const Builtin builtins[] = {
    {"len", &Builtins::callLen, false},
    {"sum", &Builtins::callSum, false, /*takesList=*/true},
    {"min", &Builtins::callMin, false},
    {"max", &Builtins::callMax, false},
    {"reverse", &Builtins::callReverse, false, /*takesList=*/true},
    {"last", &Builtins::callLast, false},
    {"drop_last", &Builtins::callDropLast, false},
    {"zip", &Builtins::callZip, false},
    {"sqrt", &Builtins::callSqrt, false},
    {"exp", &Builtins::callExp, false},
    {"log", &Builtins::callLog, false},
    {"floor", &Builtins::callFloor, false},
    {"ceil", &Builtins::callCeil, false},
    {"round", &Builtins::callRound, false},
    {"abs", &Builtins::callAbs, false},
    {"log2", &Builtins::callLog2, false},
    {"mean", &Builtins::callMean, false, false, {"std"}},
    {"between", &Builtins::callBetween, false},
    {"histogram", &Builtins::callHistogram, false},
    {"opaque",
     &Builtins::callOpaque,
     true,
     false,
     {"params", "active", "forward", "out"}},
    {"class", &Builtins::callClass, false},
    {"axes", &Builtins::callAxes, false},
    {"feature", &Builtins::callFeature, false, false, {"over"}},
    {"window", &Builtins::callWindow, false, false, {"over"}},
    {"position", &Builtins::callPosition, false},
    {"spread", &Builtins::callSpread, false},
    {"parameter",
     &Builtins::callParameter,
     false,
     false,
     {"init", "trainable", "type"}},
    {"buffer", &Builtins::callBuffer, false, false, {"init", "type"}},
    {"arange", &Builtins::callArange, false},
    {"float", &Builtins::callFloat, true},
    {"kind", &Builtins::callKind, false},
    {"table", &Builtins::callTable, false, false, {"init", "theta"}},
    {"tensor", &Builtins::callTensor, false},
    {"zeros", &Builtins::callZeros, false},
    {"ones", &Builtins::callOnes, false},
    {"full", &Builtins::callFull, false},
    {"reshape", &Builtins::callReshape, true},
    {"flatten", &Builtins::callFlatten, true},
    {"rearrange", &Builtins::callRearrange, true},
    {"expand", &Builtins::callExpand, true, false, {"like", "over"}},
    {"map", &Builtins::callMap, true, false, {"over"}},
    {"each", &Builtins::callEach, true, false, {"over"}},
    {"freeze", &Builtins::callFreeze, false},
    {"recomputed", &Builtins::callRecomputed, false},
};

std::optional<Value> Builtins::lookupBuiltin(StringRef name) {
  // The answer depends on the network or step.
  if (name == "training" && e.frame->block && e.graph)
    return Value(e.graph->training);
  auto [entry, isNew] = known.try_emplace(name);
  if (isNew)
    entry->second = findBuiltin(name);
  return entry->second;
}

std::optional<Value> Builtins::findBuiltin(StringRef name) {
  if (name == "none")
    return Value(None{});
  if (name == "inf")
    return Value(Number::inexact(INFINITY));
  mlir::Type element = llvm::StringSwitch<mlir::Type>(name)
                           .Case("f64", e.builder.getF64Type())
                           .Case("f32", e.builder.getF32Type())
                           .Case("f16", e.builder.getF16Type())
                           .Case("bf16", e.builder.getBF16Type())
                           .Cases("i64", "u64", e.builder.getI64Type())
                           .Cases("i32", "u32", e.builder.getI32Type())
                           .Cases("i16", "u16", e.builder.getIntegerType(16))
                           .Cases("i8", "u8", e.builder.getIntegerType(8))
                           .Case("bool", e.builder.getI1Type())
                           .Default(nullptr);
  if (element) {
    TypeValue type;
    type.element = element;
    return Value(type);
  }
  Function function;
  function.name = name.str();
  for (const Builtin &builtin : builtins)
    if (builtin.name == name)
      function.builtin = &builtin;
  std::optional<mlir::RegisteredOperationName> op =
      mlir::RegisteredOperationName::lookup(("net." + name).str(), e.context);
  if (op && op->hasInterface<LanguageOpInterface>())
    function.op = &op->getInterface<LanguageOpInterface>()->getSignature();
  if (function.op || function.builtin)
    return Value(function);
  return std::nullopt;
}

void Builtins::addBuiltinNames(mlir::MLIRContext *context,
                               std::vector<std::string> &names) {
  for (const Builtin &builtin : builtins)
    names.push_back(builtin.name.str());
  for (const mlir::RegisteredOperationName &op :
       context->getRegisteredOperations())
    if (op.hasInterface<LanguageOpInterface>())
      names.push_back(op.stripDialect().str());
  for (const char *name : {"f64", "f32", "f16", "bf16", "i64", "i32", "i16",
                           "i8", "u8", "bool", "none", "inf", "training"})
    names.push_back(name);
}

llvm::ArrayRef<std::string> Builtins::settingsOf(StringRef name) {
  for (const Builtin &builtin : builtins)
    if (builtin.name == name)
      return builtin.settings;
  return {};
}

/// The only argument, which must be positional; else null.
static const Value *onlyArgument(const std::vector<Argument> &arguments) {
  return arguments.size() == 1 && arguments[0].name.empty()
             ? &arguments[0].value
             : nullptr;
}

Value Builtins::callBetween(Tree *at, std::vector<Argument> &arguments) {
  std::optional<Number> ends[2];
  if (arguments.size() == 2)
    for (auto [end, argument] : llvm::zip(ends, arguments))
      if (argument.name.empty())
        end = numberOf(argument.value);
  auto isExact = [](const std::optional<Number> &end) {
    return end && !end->real && end->exact.isConstant();
  };
  if (isExact(ends[0]) && isExact(ends[1]) &&
      ends[0]->dimension != ends[1]->dimension)
    return e.fail(at, error::BetweenUnits, textOf(Value(*ends[0])),
                  textOf(Value(*ends[1])));
  if (!isExact(ends[0]) || !isExact(ends[1]) ||
      ends[0]->device != ends[1]->device ||
      *ends[0]->exact.constant() > *ends[1]->exact.constant())
    return e.fail(at, error::BetweenOrder);
  if (e.frame->block)
    return e.fail(at, error::RangeInNet);
  e.ranges.noteRead(at);
  if (std::optional<bool> end = e.ranges.endOf(at))
    return *ends[*end];
  Number middle = *ends[0];
  middle.exact = (middle.exact + ends[1]->exact) / 2;
  return middle;
}

Value Builtins::callHistogram(Tree *at, std::vector<Argument> &arguments) {
  const Value *value = onlyArgument(arguments);
  auto *name = value ? value->as<std::string>() : nullptr;
  if (!name)
    return e.fail(at, error::HistogramArgument);
  std::optional<std::string> path = e.files.pathBeside(at, *name);
  std::optional<std::string> text =
      path ? e.files.readText(*path, e.locationOf(at)) : std::nullopt;
  if (!text)
    return {};
  // Higher than the power of any cost, and for long sequences higher than 128
  // bits can hold.
  constexpr unsigned maxPower = 16;
  Rational all, sums[maxPower];
  llvm::SmallVector<StringRef> lines;
  StringRef(*text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (auto [index, line] : llvm::enumerate(lines)) {
    auto [first, second] = line.trim().split(',');
    std::optional<Rational> size = Rational::parse(first.trim()),
                            count = Rational::parse(second.trim());
    auto isWord = [](StringRef text) {
      return llvm::any_of(text, llvm::isAlpha) &&
             llvm::none_of(text, llvm::isDigit);
    };
    if (index == 0 && isWord(first) && isWord(second))
      continue; // a heading
    if (!size || !count || !(*size > 0) || count->isNegative())
      return e.fail(at, error::HistogramLine, index + 1, *name);
    all += *count;
    for (unsigned power = 1; power <= maxPower; ++power)
      sums[power - 1] += size->pow(power) * *count;
  }
  if (all.isZero())
    return e.fail(at, error::HistogramEmpty, *name);
  std::vector<Rational> moments;
  for (const Rational &sum : sums)
    if ((sum / all).isValid())
      moments.push_back(sum / all);
    else
      break;
  return Distribution{Moments(moments)};
}

//===----------------------------------------------------------------------===//
// Lists and numbers
//===----------------------------------------------------------------------===//

std::optional<std::vector<Value>>
Builtins::listArgument(Tree *at, std::vector<Argument> &arguments) {
  if (const Value *value = onlyArgument(arguments))
    return e.itemsOf(at, *value);
  e.fail(at, error::TakesOneList, at->getStart()->getText());
  return std::nullopt;
}

std::optional<std::vector<Value>>
Builtins::numberArguments(Tree *at, std::vector<Argument> &arguments) {
  if (arguments.size() < 2)
    return listArgument(at, arguments);
  // `max(a, b)` is `max([a, b])`.
  std::vector<Value> items;
  for (const Argument &argument : arguments) {
    if (!argument.name.empty() || !numberOf(argument.value)) {
      e.fail(argument.at, error::TakesNumbers, at->getStart()->getText());
      return std::nullopt;
    }
    items.push_back(argument.value);
  }
  return items;
}

Value Builtins::callLen(Tree *at, std::vector<Argument> &arguments) {
  std::optional<std::vector<Value>> items = listArgument(at, arguments);
  return items ? Value(Number(int64_t(items->size()))) : Value();
}

Value Builtins::callSum(Tree *at, std::vector<Argument> &arguments) {
  std::optional<std::vector<Value>> items = numberArguments(at, arguments);
  if (!items)
    return {};
  Value total = Number(0);
  for (auto [i, item] : llvm::enumerate(*items))
    total = i == 0 ? item : e.operators.binary(at, "+", total, item);
  return total;
}

Value Builtins::extreme(Tree *at, std::vector<Argument> &arguments,
                        StringRef better) {
  std::optional<std::vector<Value>> items = numberArguments(at, arguments);
  if (!items)
    return {};
  if (items->empty())
    return e.fail(at, error::EmptyList, at->getStart()->getText());
  Value best = items->front();
  for (const Value &item : llvm::drop_begin(*items)) {
    std::optional<Number> x = numberOf(best), y = numberOf(item);
    bool isOpen = x && y && !x->real && !y->real &&
                  x->dimension == y->dimension &&
                  !(x->exact - y->exact).isConstant();
    if (isOpen) { // of sizes that are free
      Polynomial least = Polynomial::minimum(x->exact, y->exact);
      best = Number(better == "<" ? least : x->exact + y->exact - least,
                    x->dimension);
      continue;
    }
    Value isBetter = e.operators.compare(at, better, item, best);
    if (!isBetter.is<bool>())
      return {};
    if (*isBetter.as<bool>())
      best = item;
  }
  return best;
}
Value Builtins::callMin(Tree *at, std::vector<Argument> &a) {
  return extreme(at, a, "<");
}
Value Builtins::callMax(Tree *at, std::vector<Argument> &a) {
  return extreme(at, a, ">");
}

Value Builtins::callReverse(Tree *at, std::vector<Argument> &arguments) {
  std::optional<std::vector<Value>> items = listArgument(at, arguments);
  if (!items)
    return {};
  std::reverse(items->begin(), items->end());
  return listOf(std::move(*items));
}

Value Builtins::callLast(Tree *at, std::vector<Argument> &arguments) {
  std::optional<std::vector<Value>> items = listArgument(at, arguments);
  if (!items)
    return {};
  return items->empty() ? e.fail(at, error::NoLastElement) : items->back();
}

Value Builtins::callDropLast(Tree *at, std::vector<Argument> &arguments) {
  std::optional<std::vector<Value>> items = listArgument(at, arguments);
  if (!items)
    return {};
  if (items->empty())
    return e.fail(at, error::NoLastElement);
  items->pop_back();
  return listOf(std::move(*items));
}

Value Builtins::callZip(Tree *at, std::vector<Argument> &arguments) {
  std::vector<std::vector<Value>> lists;
  for (Argument &argument : arguments) {
    if (!argument.name.empty())
      return e.fail(argument.nameAt(), error::UnknownArgument, "zip",
                    argument.name, "");
    std::optional<std::vector<Value>> items =
        e.itemsOf(argument.at, argument.value);
    if (!items)
      return {};
    if (!lists.empty() && lists.front().size() != items->size())
      return e.fail(argument.at, error::ZipLengths, lists.front().size(),
                    items->size());
    lists.push_back(std::move(*items));
  }
  std::vector<Value> rows;
  for (size_t i = 0; !lists.empty() && i < lists.front().size(); ++i) {
    std::vector<Value> row;
    for (const std::vector<Value> &list : lists)
      row.push_back(list[i]);
    rows.push_back(listOf(std::move(row)));
  }
  return listOf(std::move(rows));
}

Value Builtins::realFunction(Tree *at, std::vector<Argument> &arguments,
                             double (*function)(double)) {
  std::string name = at->getStart()->getText();
  const Value *value = onlyArgument(arguments);
  std::optional<Number> number = value ? numberOf(*value) : std::nullopt;
  if (!number || !number->dimension.isNone())
    return e.fail(at, error::TakesPlainNumber, name,
                  number  ? ", this is in " + number->dimension.str()
                  : value ? ", this is " + kindOf(*value)
                          : "");
  if (!number->isConstant())
    return e.fail(at, freeSize(*number));
  double result = function(number->toDouble());
  if (!std::isfinite(result))
    return e.fail(at, error::FunctionUndefined, name, textOf(*value));
  // A root that is an integer is exact, as for the heads in sqrt(64).
  if (result == std::floor(result) && std::abs(result) < 1e15)
    return Number(Polynomial(int64_t(result)));
  return Number::inexact(result);
}
Value Builtins::callSqrt(Tree *at, std::vector<Argument> &a) {
  return realFunction(at, a, std::sqrt);
}
Value Builtins::callExp(Tree *at, std::vector<Argument> &a) {
  return realFunction(at, a, std::exp);
}
Value Builtins::callLog(Tree *at, std::vector<Argument> &a) {
  return realFunction(at, a, std::log);
}
Value Builtins::callLog2(Tree *at, std::vector<Argument> &a) {
  return realFunction(at, a, std::log2);
}

Value Builtins::rounded(Tree *at, std::vector<Argument> &arguments,
                        Rational (*exactly)(const Rational &),
                        double (*nearly)(double)) {
  const Value *value = onlyArgument(arguments);
  std::optional<Number> number = value ? numberOf(*value) : std::nullopt;
  if (!number || number->real)
    return realFunction(at, arguments, nearly);
  std::optional<Rational> constant = number->exact.constant();
  if (!constant)
    return e.fail(at, freeSize(*number));
  return Number(exactly(*constant), number->dimension, number->device);
}
Value Builtins::callFloor(Tree *at, std::vector<Argument> &a) {
  return rounded(
      at, a, [](const Rational &x) { return x.floor(); }, std::floor);
}
Value Builtins::callCeil(Tree *at, std::vector<Argument> &a) {
  return rounded(
      at, a, [](const Rational &x) { return x.ceil(); }, std::ceil);
}
Value Builtins::callRound(Tree *at, std::vector<Argument> &a) {
  // A half is rounded up, as in `floor(x + 1 / 2)`.
  return rounded(
      at, a, [](const Rational &x) { return (x + Rational(1) / 2).floor(); },
      [](double x) { return std::floor(x + 0.5); });
}
Value Builtins::callAbs(Tree *at, std::vector<Argument> &a) {
  return rounded(
      at, a,
      [](const Rational &x) { return x.isNegative() ? Rational(0) - x : x; },
      std::fabs);
}

Value Builtins::callMean(Tree *at, std::vector<Argument> &arguments) {
  std::vector<Rational> moments;
  for (const Argument &argument : arguments) {
    std::optional<Number> number = numberOf(argument.value);
    std::optional<Rational> value =
        number && !number->real ? number->exact.constant() : std::nullopt;
    bool isSpread = argument.name == "std";
    if (!value || value->isNegative() || !number->dimension.isNone() ||
        (!isSpread && value->isZero()))
      return e.fail(argument.at,
                    isSpread ? error::StdNegative : error::MeanNotPositive);
    if (argument.name.empty() && moments.empty())
      moments.push_back(*value);
    else if (isSpread && moments.size() == 1)
      moments.push_back(moments[0] * moments[0] + *value * *value); // E[n^2]
    else
      return e.fail(argument.at, error::MeanArguments);
  }
  return Distribution{Moments(moments)};
}

Value Builtins::callClass(Tree *at, std::vector<Argument> &arguments) {
  const Value *value = onlyArgument(arguments);
  std::optional<Polynomial> classes =
      value ? e.tensors.sizeOf(at, *value) : std::nullopt;
  if (!classes)
    return value ? Value() : e.fail(at, error::ClassArgument);
  TypeValue type;
  type.element = e.builder.getI64Type();
  type.classes = *classes;
  type.isShaped = true;
  return type;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

Value TensorBuilder::axisValue(const Tensor &tensor, size_t position) {
  assert(position < tensor.labels.size() && "an axis of the tensor");
  return Axis{tensor.labels[position], shapeOf(tensor.value)[position],
              int(position)};
}

/// The tensor in the first argument and the argument `over` after it, unless
/// that is `none`.
static std::pair<const Tensor *, const Value *>
tensorAndAxes(const std::vector<Argument> &arguments) {
  const Tensor *tensor =
      arguments.empty() ? nullptr : arguments[0].value.as<Tensor>();
  const Value *over = nullptr;
  if (arguments.size() == 2 && !arguments[1].value.is<None>())
    over = &arguments[1].value;
  return {arguments.size() <= 2 ? tensor : nullptr, over};
}

Value Builtins::axisList(Tree *at, std::vector<Argument> &arguments,
                         StringRef rule) {
  auto [tensor, over] = tensorAndAxes(arguments);
  if (!tensor)
    return e.fail(at, error::TakesTensor, at->getStart()->getText());
  std::optional<std::vector<int64_t>> axes =
      e.tensors.axesOf(at, over, rule, *tensor);
  if (!axes)
    return {};
  std::vector<Value> items;
  for (int64_t axis : *axes)
    items.push_back(e.tensors.axisValue(*tensor, axis));
  return listOf(std::move(items));
}

Value Builtins::callAxes(Tree *at, std::vector<Argument> &a) {
  return axisList(at, a, "all");
}
Value Builtins::callWindow(Tree *at, std::vector<Argument> &a) {
  return axisList(at, a, "window");
}
Value Builtins::callFeature(Tree *at, std::vector<Argument> &arguments) {
  Value axes = axisList(at, arguments, "feature");
  auto *list = axes.as<List>();
  if (!list)
    return {};
  return list->items->size() == 1 ? list->items->front() : axes;
}

Value Builtins::callPosition(Tree *at, std::vector<Argument> &arguments) {
  const Value *value = onlyArgument(arguments);
  auto *axis = value ? value->as<Axis>() : nullptr;
  if (!axis || axis->position < 0)
    return e.fail(at, error::PositionArgument);
  return Number(axis->position);
}

Value Builtins::callSpread(Tree *at, std::vector<Argument> &arguments) {
  if (arguments.size() != 2 || !arguments[1].value.is<List>())
    return e.fail(at, error::SpreadArguments);
  size_t size = arguments[1].value.as<List>()->items->size();
  auto *list = arguments[0].value.as<List>();
  if (!list)
    return listOf(std::vector<Value>(size, arguments[0].value));
  if (list->items->size() != size)
    return e.fail(at, error::SpreadLength, size, list->items->size());
  return arguments[0].value;
}

//===----------------------------------------------------------------------===//
// Weights and constants
//===----------------------------------------------------------------------===//

Value Builtins::callParameter(Tree *at, std::vector<Argument> &a) {
  return e.tensors.weight(at, a, true);
}
Value Builtins::callBuffer(Tree *at, std::vector<Argument> &a) {
  return e.tensors.weight(at, a, false);
}

Value Builtins::filled(Tree *at, llvm::ArrayRef<Argument> arguments,
                       double value) {
  if (!e.graph || !e.frame->self)
    return e.fail(at, error::TensorOutsideNet);
  std::vector<Value> sizes;
  for (const Argument &argument : arguments) {
    if (!argument.name.empty())
      return e.fail(argument.at, error::TakesSizes, at->getStart()->getText());
    sizes.push_back(argument.value);
  }
  std::optional<TensorBuilder::Sizes> wanted = e.tensors.sizesOf(at, sizes);
  if (!wanted)
    return {};
  std::optional<mlir::RankedTensorType> type =
      e.tensors.tensorType(at, e.builder.getF32Type(), wanted->shape);
  return type ? Value(e.tensors.constant(at, value, *type, wanted->labels))
              : Value();
}
Value Builtins::callArange(Tree *at, std::vector<Argument> &arguments) {
  const Value *value = onlyArgument(arguments);
  if (!e.graph || !e.frame->self || !value)
    return e.fail(at, value ? error::TensorOutsideNet : error::ArangeArgument);
  std::optional<TensorBuilder::Sizes> size = e.tensors.sizesOf(at, *value);
  std::optional<mlir::RankedTensorType> type;
  if (size)
    type = e.tensors.tensorType(at, e.builder.getI64Type(), size->shape);
  if (!type || !e.budget.spend(at, 1))
    return {};
  return Tensor{
      e.builder.create<ArangeOp>(e.tensors.opLocation(at, "arange"), *type),
      size->labels};
}

Value Builtins::callFloat(Tree *at, std::vector<Argument> &arguments) {
  auto *tensor =
      onlyArgument(arguments) ? arguments.front().value.as<Tensor>() : nullptr;
  if (!tensor)
    return e.fail(at, error::FloatArgument);
  auto type = tensorOf(e.builder.getF32Type(), shapeOf(tensor->value));
  if (!e.budget.spend(at, 1))
    return {};
  return Tensor{e.builder.create<ConvertOp>(e.tensors.opLocation(at, "float"),
                                            type, tensor->value),
                tensor->labels};
}

Value Builtins::callKind(Tree *at, std::vector<Argument> &arguments) {
  const Value *value = onlyArgument(arguments);
  if (!value || !value->is<Tensor>() || !e.graph || !e.graph->step)
    return e.fail(at, error::KindOutsideOptimizer);
  if (e.graph->parameterKind.empty())
    return e.fail(at, error::KindOfNoMatrix);
  return e.graph->parameterKind;
}

Value Builtins::callTensor(Tree *at, std::vector<Argument> &arguments) {
  const Value *value = onlyArgument(arguments);
  if (!e.graph || !e.frame->self || !value || !value->is<List>())
    return e.fail(at, value && value->is<List>() ? error::TensorOutsideNet
                                                 : error::TensorArgument);
  // The first element of each list determines the shape.
  Shape shape;
  for (const Value *inner = value; auto *list = inner->as<List>();
       inner = &list->items->front()) {
    shape.sizes.push_back(list->items->size());
    if (list->items->empty())
      return e.fail(at, error::TensorOfEmptyList);
  }
  std::vector<Number> numbers;
  auto collect = [&](auto &self, const Value &item, size_t depth) -> bool {
    auto *list = item.as<List>();
    if (bool(list) != (depth < shape.rank()) ||
        (list && Polynomial(int64_t(list->items->size())) != shape[depth])) {
      e.fail(at, error::RaggedTensor);
      return false;
    }
    if (list)
      return llvm::all_of(*list->items, [&](const Value &inner) {
        return self(self, inner, depth + 1);
      });
    std::optional<Number> number = numberOf(item);
    if (!number || !number->isConstant() || !number->dimension.isNone()) {
      e.fail(at, error::TensorElement, number ? textOf(item) : kindOf(item));
      return false;
    }
    numbers.push_back(*number);
    return true;
  };
  if (!collect(collect, *value, 0) || !e.budget.spend(at, numbers.size()))
    return {};
  bool areWhole = llvm::all_of(numbers, [](const Number &number) {
    return !number.real && number.exact.toInt64();
  });
  std::optional<mlir::RankedTensorType> type = e.tensors.tensorType(
      at,
      areWhole ? mlir::Type(e.builder.getI64Type()) : e.builder.getF32Type(),
      shape);
  if (!type)
    return {};
  mlir::DenseElementsAttr values;
  if (areWhole)
    values = mlir::DenseElementsAttr::get(
        *type,
        llvm::ArrayRef(llvm::map_to_vector(numbers, [](const Number &number) {
          return *number.exact.toInt64();
        })));
  else
    values = mlir::DenseElementsAttr::get(
        *type,
        llvm::ArrayRef(llvm::map_to_vector(numbers, [](const Number &number) {
          return float(number.toDouble());
        })));
  return Tensor{e.builder.create<LiteralOp>(e.tensors.opLocation(at, "tensor"),
                                            *type, values),
                Labels(shape.rank())};
}

Value Builtins::callZeros(Tree *at, std::vector<Argument> &a) {
  return filled(at, a, 0);
}
Value Builtins::callOnes(Tree *at, std::vector<Argument> &a) {
  return filled(at, a, 1);
}
Value Builtins::callFull(Tree *at, std::vector<Argument> &arguments) {
  std::optional<Number> value =
      arguments.empty() ? std::nullopt : numberOf(arguments.front().value);
  if (!value || !value->isConstant())
    return e.fail(at, error::FullArguments);
  return filled(at, llvm::ArrayRef(arguments).drop_front(), value->toDouble());
}
