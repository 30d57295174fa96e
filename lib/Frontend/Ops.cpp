// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// From calls of ops to `net` ops. Which ops there are and what they take, their
// signatures say; only what is syntax (operators, scalars) is named here.

#include "lib/Frontend/Evaluator.h"
#include "lib/Std/Std.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

std::optional<std::string>
TensorBuilder::complaintOf(llvm::function_ref<mlir::LogicalResult()> check) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(e.context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          if (message.empty())
                                            message = diagnostic.str();
                                          return mlir::success();
                                        });
  if (mlir::succeeded(check()))
    return std::nullopt;
  return message;
}

std::optional<mlir::RankedTensorType>
TensorBuilder::tensorType(Tree *at, mlir::Type element, const Shape &shape) {
  llvm::SmallVector<mlir::Type> types;
  std::optional<std::string> complaint = complaintOf([&] {
    return inferTensor(e.locationOf(at), "reshape", element, shape, types);
  });
  if (!complaint)
    return mlir::cast<mlir::RankedTensorType>(types.front());
  e.fail(at, *complaint);
  return std::nullopt;
}

mlir::Location TensorBuilder::opLocation(Tree *at, StringRef name) {
  Identity &self = *e.frame->self;
  std::string path = self.path.empty() ? "" : self.path + ".";
  return mlir::NameLoc::get(
      e.builder.getStringAttr(path + e.applier.unique(self, name)),
      e.locationOfUse(at));
}

//===----------------------------------------------------------------------===//
// Any op
//===----------------------------------------------------------------------===//

Value TensorBuilder::emit(Tree *at, StringRef op,
                          llvm::ArrayRef<Tensor> operands,
                          llvm::ArrayRef<mlir::NamedAttribute> attributes,
                          const Label &as, mlir::LocationAttr where) {
  if (!e.spend(at, 1))
    return {};
  std::optional<mlir::RegisteredOperationName> name =
      mlir::RegisteredOperationName::lookup(("net." + op).str(), e.context);
  assert(name && "an op of the language that the dialect does not have");
  mlir::Location location = where ? mlir::Location(where) : opLocation(at, op);
  mlir::OperationState state(location, *name);
  for (const Tensor &operand : operands)
    state.operands.push_back(operand.value);
  mlir::DictionaryAttr dictionary = e.builder.getDictionaryAttr(attributes);
  state.addAttributes(attributes);

  auto *infer = name->getInterface<mlir::InferTypeOpInterface>();
  std::vector<char> storage(name->getOpPropertyByteSize());
  mlir::OpaqueProperties properties(storage.empty() ? nullptr : storage.data());
  if (properties)
    name->initOpProperties(properties, nullptr);
  // What the op's own checks say is reported like every other error.
  std::optional<std::string> complaint =
      complaintOf([&]() -> mlir::LogicalResult {
        if (properties && !dictionary.empty() &&
            mlir::failed(name->setOpPropertiesFromAttribute(
                *name, properties, dictionary,
                [&] { return mlir::emitError(location); })))
          return mlir::failure();
        llvm::SmallVector<mlir::Type> types;
        if (infer && mlir::failed(infer->inferReturnTypes(
                         e.context, location, state.operands, dictionary,
                         properties, {}, types)))
          return mlir::failure();
        state.addTypes(types);
        return mlir::success();
      });
  if (properties)
    name->destroyOpProperties(properties);
  if (complaint)
    return e.fail(at, *complaint);
  mlir::Operation *built = e.builder.create(state);
  complaint = complaintOf(
      [&] { return mlir::verify(built, /*verifyRecursively=*/false); });
  if (complaint)
    return e.fail(at, operandComplaint(*complaint, op, operands));
  if (built->hasTrait<AxesMeet>())
    for (const Tensor &other : llvm::drop_begin(operands))
      if (!doMeet(at, op, operands.front(), other))
        return {};

  auto language = mlir::dyn_cast<LanguageOpInterface>(built);
  ResultList list;
  for (mlir::OpResult result : built->getResults()) {
    Tensor tensor{
        result,
        Labels(mlir::cast<mlir::RankedTensorType>(result.getType()).getRank())};
    for (auto [axis, label] : llvm::enumerate(tensor.labels)) {
      llvm::SmallVector<AxisSource> sources;
      if (language)
        sources = language.getAxisSources(result.getResultNumber(), axis);
      for (AxisSource source : sources)
        if (label.text().empty())
          label = operands[source.operand].labels[source.axis];
      if (sources.empty() && !as.empty() && result.getResultNumber() == 0)
        label = as;
      if (!label.empty() && llvm::count(tensor.labels, label) > 1)
        label.clear();
    }
    std::string resultName;
    if (language &&
        language.getSignature().results.size() == built->getNumResults())
      resultName =
          language.getSignature().results[result.getResultNumber()].str();
    list.push_back({resultName, tensor});
  }
  return e.applier.resultsOf(std::move(list));
}

Value TensorBuilder::tensorFor(Tree *at, const Value &value,
                               mlir::Type element) {
  if (value.is<Tensor>() || value.isUnknown())
    return value;
  if (std::optional<Number> number = numberOf(value)) {
    if (!number->isConstant())
      return e.fail(at, "`" + number->exact.str() +
                            "` must have a fixed size to be a tensor's value");
    if (!number->dimension.isNone() && !number->dimension.isCount())
      return e.fail(at, "the value of a tensor has no unit, this is " +
                            textOf(value));
    return constant(at, number->toDouble(), tensorOf(element, Shape()), {});
  }
  if (e.graph->step &&
      (value.is<Function>() || value.is<std::shared_ptr<Instance>>()))
    return scheduled(at, value);
  return e.fail(at, "expected a tensor, this is " + kindOf(value));
}

Value TensorBuilder::scheduled(Tree *at, const Value &schedule) {
  std::shared_ptr<Instance> instance;
  if (schedule.is<std::shared_ptr<Instance>>()) {
    instance = e.calls.instantiate(at, schedule);
  } else if (!schedule.as<Function>()->builtin) {
    instance = e.calls.instantiate(at, schedule);
    if (!e.calls.completeSettings(at, *instance))
      return {};
  }
  if (instance && !instance->isComposition())
    for (auto [parameter, slot] :
         llvm::zip_equal(e.calls.parametersOf(instance->function).tensors,
                         instance->tensors)) {
      if (parameter.name != "steps" || !slot.empty())
        continue;
      if (!e.graph->steps)
        return e.fail(
            at,
            "`" + instance->function.name +
                "` needs to know the steps of the run; give it a `duration`");
      slot = {constant(at, e.graph->steps->toDouble(),
                       tensorOf(e.builder.getF32Type(), Shape()), {})};
    }
  return e.applier.pipe(at, Tensor{e.graph->step, {}},
                        instance ? Value(instance) : schedule);
}

void Applier::giveStep(Instance &instance) {
  const Parameters &all = e.calls.parametersOf(instance.function);
  std::vector<Value> *step = nullptr;
  bool lacksMore = false;
  for (auto [parameter, given] : llvm::zip_equal(all.tensors, instance.tensors))
    if (parameter.required && given.empty()) {
      if (parameter.name == "step")
        step = &given;
      else
        lacksMore = true;
    }
  // A schedule, which lacks nothing else, is piped into where it is used.
  if (step && !lacksMore && all.tensors.front().name == "parameter")
    *step = {Tensor{e.graph->step, {}}};
}

Value TensorBuilder::applyOp(Tree *at, Instance &instance) {
  const Signature &signature = *instance.function.op;
  const Parameters &all = e.calls.parametersOf(instance.function);
  std::vector<Tensor> operands;
  std::vector<Value> given;
  mlir::Type element;
  for (auto &values : instance.tensors)
    for (const Value &value : values) {
      given.push_back(value);
      if (auto *tensor = value.as<Tensor>(); tensor && !element)
        element = elementOf(tensor->value);
    }
  if (isElementByElement(instance.function)) {
    auto shaped = elementByElement(at, signature.name, given);
    if (!shaped)
      return {};
    operands = *shaped;
  } else {
    for (const Value &value : given) {
      Value tensor =
          tensorFor(at, value, element ? element : e.builder.getF32Type());
      if (!tensor.is<Tensor>())
        return {};
      operands.push_back(*tensor.as<Tensor>());
    }
  }

  // Windows have one number for each axis of `over`, so that comes first.
  size_t windowAxes = 0;
  std::optional<int64_t> axisAs;
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  auto setting = [&](size_t i) -> const Value * {
    const std::optional<Value> &value = instance.settings[i];
    return value && !value->is<None>() ? &*value : nullptr;
  };
  for (bool axes : {true, false}) {
    for (auto [i, parameter] : llvm::enumerate(all.settings)) {
      const Setting &stated = *parameter.setting;
      bool isAxes =
          stated.kind == SettingKind::Axes || stated.kind == SettingKind::Axis;
      if (isAxes != axes)
        continue;
      if (!setting(i) && parameter.required)
        return e.fail(at, "`" + signature.name + "` needs `" + parameter.name +
                              "`");
      mlir::Attribute attribute = attributeOf(at, stated, setting(i), operands,
                                              windowAxes, signature.name);
      if (!attribute)
        return {};
      if (auto list = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(attribute);
          list && stated.kind == SettingKind::Axes)
        windowAxes = list.size();
      if (stated.kind == SettingKind::Axis)
        axisAs = mlir::cast<mlir::IntegerAttr>(attribute).getInt();
      attributes.push_back(e.builder.getNamedAttr(stated.name, attribute));
    }
  }

  Identity &identity = *instance.identity;
  mlir::LocationAttr where;
  if (!identity.name.empty()) {
    e.applier.enter(identity, signature.name, at);
    where = mlir::NameLoc::get(e.builder.getStringAttr(identity.path),
                               e.locationOf(at));
  } else if (identity.parent && identity.parent != e.frame->self) {
    Identity &parent = *identity.parent;
    std::string path = parent.path.empty() ? "" : parent.path + ".";
    where =
        mlir::NameLoc::get(e.builder.getStringAttr(
                               path + e.applier.unique(parent, signature.name)),
                           e.locationOf(at));
  }
  Value result =
      emit(at, signature.name, operands, attributes, instance.as, where);
  // `as` relabels the axis that the op resizes, where it makes no new one.
  if (auto *tensor = result.as<Tensor>();
      tensor && !instance.as.empty() &&
      !llvm::is_contained(tensor->labels, instance.as)) {
    Tensor labelled = *tensor;
    size_t axis = axisAs ? size_t(*axisAs) : featureAxis(labelled);
    if (axis < labelled.labels.size())
      labelled.labels[axis] = instance.as;
    result.data = labelled;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

size_t TensorBuilder::featureAxis(const Tensor &tensor) {
  return find(tensor, "C").value_or(tensor.labels.size() - 1);
}

bool TensorBuilder::isWindow(const Label &label) {
  return label == "D" || label == "H" || label == "W" || label == "L";
}

std::string TensorBuilder::whyNoFeature(const Tensor &tensor) {
  const Label &last = tensor.labels[featureAxis(tensor)];
  // A `D` by itself is no depth: many call the features so.
  bool isDepth = last == "D" && llvm::count_if(tensor.labels, isWindow) == 1;
  if (!(last == "N" || isWindow(last)) || isDepth)
    return "";
  // The first that it could be: by a name that is nearly right, or by none.
  const Label *meant = llvm::find(tensor.labels, StringRef("c"));
  if (meant == tensor.labels.end())
    meant =
        std::find_if(tensor.labels.begin() + 1, tensor.labels.end(),
                     [](const Label &label) { return label.text().empty(); });
  std::string text =
      "no axis of " + axesText(tensor) + " is labelled `C`, and the last, `" +
      last.name + "`, is " +
      (last == "N" ? "that of the examples" : "one that windows slide over") +
      "; ";
  if (meant == tensor.labels.end())
    return text + "name the axis to work along by `over`";
  text += "label the features, as in `y: [";
  llvm::ListSeparator comma;
  for (auto [label, size] :
       llvm::zip_equal(tensor.labels, shapeOf(tensor.value).sizes))
    text += StringRef(comma).str() + (&label == meant        ? "C"
                                      : label.text().empty() ? size.str()
                                                             : label.name);
  return text + "] = ..`, or name an axis by `over`";
}

std::vector<std::string> TensorBuilder::namesOf(const Labels &labels) {
  std::vector<std::string> names;
  for (const Label &label : labels)
    if (!label.text().empty())
      names.push_back(label.name);
  return names;
}

std::optional<size_t> TensorBuilder::find(const Tensor &tensor,
                                          StringRef label) {
  for (auto [i, other] : llvm::enumerate(tensor.labels))
    if (!label.empty() && other == label)
      return i;
  return std::nullopt;
}

std::optional<int64_t> TensorBuilder::axisOf(Tree *at, const Value &value,
                                             const Tensor &tensor) {
  if (auto *axis = value.as<Axis>()) {
    if (std::optional<size_t> position = find(tensor, axis->label.name))
      return *position;
    if (axis->label.empty() && axis->position >= 0 &&
        size_t(axis->position) < tensor.labels.size())
      return axis->position;
    std::string meant = e.didYouMean(axis->label.name, namesOf(tensor.labels));
    e.fail(at,
           "the tensor has no axis `" + axis->label.text() + "`" +
               (meant.empty() ? ", its axes are " + axesText(tensor) : meant));
    return std::nullopt;
  }
  if (std::optional<Number> number = numberOf(value))
    e.fail(at, "expected an axis, this is a number; by its place an axis is "
               "`axes(x)[" +
                   textOf(value) + "]`");
  else if (!value.isUnknown())
    e.fail(at, "expected an axis, this is " + kindOf(value));
  return std::nullopt;
}

std::string TensorBuilder::sizesText(const Shape &shape) {
  std::string text = "[";
  llvm::ListSeparator comma;
  for (const Polynomial &size : shape.sizes)
    text += (StringRef(comma) + size.str()).str();
  return text + "]";
}

std::string TensorBuilder::elementText(mlir::Type element) {
  if (element.isInteger(1))
    return "bool";
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

std::string TensorBuilder::operandComplaint(StringRef complaint, StringRef op,
                                            llvm::ArrayRef<Tensor> operands) {
  // "'net.relu' op operand #0 must be a tensor of ..., but got ..."
  StringRef rest = complaint.split("operand #").second;
  size_t index;
  if (rest.consumeInteger(10, index) || !rest.consume_front(" must be ") ||
      index >= operands.size())
    return complaint.str();
  return "`" + op.str() + "` takes " + rest.split(", but got").first.str() +
         ", this is " + elementText(elementOf(operands[index].value)) +
         axesText(operands[index]);
}

std::string TensorBuilder::axesText(const Tensor &tensor) {
  std::string text = "[";
  llvm::ListSeparator comma;
  Shape shape = shapeOf(tensor.value);
  for (auto [label, size] : llvm::zip_equal(tensor.labels, shape.sizes)) {
    text += StringRef(comma).str();
    StringRef name = label.text();
    text += name.empty()         ? size.str()
            : size.str() == name ? name.str()
                                 : (name + " = " + size.str()).str();
  }
  return text + "]";
}

std::optional<std::vector<int64_t>>
TensorBuilder::axesOf(Tree *at, const Value *value, StringRef rule,
                      const Tensor &tensor) {
  std::vector<int64_t> axes;
  size_t rank = tensor.labels.size();
  if (value) {
    std::vector<Value> items{*value};
    if (auto *list = value->as<List>())
      items = *list->items;
    for (const Value &item : items) {
      std::optional<int64_t> axis = axisOf(at, item, tensor);
      if (!axis)
        return std::nullopt;
      if (llvm::is_contained(axes, *axis)) {
        e.fail(at, "an axis is listed twice");
        return std::nullopt;
      }
      axes.push_back(*axis);
    }
    return axes;
  }
  if (rank == 0 && rule != "all") {
    e.fail(at, "a scalar has no axis to work over");
    return std::nullopt;
  }
  if (rule == "all") {
    for (size_t i = 0; i < rank; ++i)
      axes.push_back(i);
  } else if (rule == "window") {
    for (auto [i, label] : llvm::enumerate(tensor.labels))
      if (isWindow(label))
        axes.push_back(i);
    if (axes.empty()) {
      e.fail(at, "no axis to slide over: none of " + axesText(tensor) +
                     " is labelled D, H, W or L; name them by `over`");
      return std::nullopt;
    }
  } else if (rule == "last") {
    axes.push_back(rank - 1);
  } else {
    if (std::string why = whyNoFeature(tensor); !why.empty()) {
      e.fail(at, why);
      return std::nullopt;
    }
    axes.push_back(featureAxis(tensor));
  }
  return axes;
}

mlir::Attribute TensorBuilder::attributeOf(Tree *at, const Setting &setting,
                                           const Value *value,
                                           const std::vector<Tensor> &operands,
                                           size_t windowAxes, StringRef op) {
  auto wrong = [&](StringRef expected) -> mlir::Attribute {
    if (!value->isUnknown())
      e.fail(at, "`" + setting.name + "` of `" + op + "` takes " + expected +
                     ", not " +
                     (numberOf(*value) ? textOf(*value) : kindOf(*value)));
    return {};
  };
  auto integerOf = [&](const Value &item) -> std::optional<int64_t> {
    std::optional<Number> number = numberOf(item);
    if (!number || number->real ||
        !(number->dimension.isNone() || number->dimension.isCount()))
      return std::nullopt;
    return number->exact.toInt64();
  };
  int64_t fallback = 0;
  bool hasNumber = !setting.fallback.getAsInteger(10, fallback);
  switch (setting.kind) {
  case SettingKind::Axes:
  case SettingKind::Axis: {
    std::optional<std::vector<int64_t>> axes =
        axesOf(at, value, setting.fallback, operands.front());
    if (!axes)
      return {};
    if (setting.kind == SettingKind::Axes)
      return e.builder.getDenseI64ArrayAttr(*axes);
    if (axes->size() != 1)
      return wrong("one axis");
    return e.builder.getI64IntegerAttr(axes->front());
  }
  case SettingKind::Integer: {
    if (!value)
      return e.builder.getI64IntegerAttr(fallback);
    std::optional<int64_t> number = integerOf(*value);
    return number ? e.builder.getI64IntegerAttr(*number)
                  : wrong("a whole number");
  }
  case SettingKind::Integers:
  case SettingKind::Window: {
    bool window = setting.kind == SettingKind::Window;
    if (!value) {
      std::vector<int64_t> numbers;
      if (hasNumber)
        numbers.assign(window ? windowAxes : 1, fallback);
      return e.builder.getDenseI64ArrayAttr(numbers);
    }
    std::vector<int64_t> numbers;
    std::vector<Value> items{*value};
    if (auto *list = value->as<List>())
      items = *list->items;
    for (const Value &item : items) {
      std::optional<int64_t> number = integerOf(item);
      if (!number)
        return wrong("whole numbers");
      numbers.push_back(*number);
    }
    if (window && !value->is<List>())
      numbers.assign(windowAxes, numbers.front());
    if (window && numbers.size() != windowAxes)
      return wrong(
          ("one number for each of " + llvm::Twine(windowAxes) + " axes")
              .str());
    return e.builder.getDenseI64ArrayAttr(numbers);
  }
  case SettingKind::Real: {
    if (!value)
      return e.builder.getF64FloatAttr(
          std::strtod(setting.fallback.str().c_str(), nullptr));
    std::optional<Number> number = numberOf(*value);
    if (!number || !number->isConstant() ||
        !(number->dimension.isNone() || number->dimension.isCount()))
      return wrong("a number");
    double real = number->toDouble();
    auto limitOf = [](StringRef text) {
      return std::strtod(text.str().c_str(), nullptr);
    };
    std::string range;
    if (!setting.least.empty() && !(real >= limitOf(setting.least)))
      range = "at least " + setting.least.str();
    if (!setting.below.empty() && !(real < limitOf(setting.below)))
      range = "below " + setting.below.str();
    if (!range.empty()) {
      e.fail(at, "`" + setting.name + "` of `" + op + "` is " + textOf(*value) +
                     ", it must be " + range);
      return {};
    }
    return e.builder.getF64FloatAttr(real);
  }
  case SettingKind::Size: {
    std::optional<Number> number = value ? numberOf(*value) : std::nullopt;
    if (!value)
      return PolynomialAttr::get(e.builder.getContext(), fallback);
    if (!number || number->real ||
        !(number->dimension.isNone() || number->dimension.isCount()))
      return wrong("a size");
    return PolynomialAttr::get(e.builder.getContext(), number->exact);
  }
  case SettingKind::Flag: {
    if (!value)
      return e.builder.getBoolAttr(setting.fallback == "true");
    auto *flag = value->as<bool>();
    return flag ? e.builder.getBoolAttr(*flag) : wrong("true or false");
  }
  case SettingKind::Text: {
    if (!value)
      return e.builder.getStringAttr(setting.fallback);
    auto *text = value->as<std::string>();
    return text ? e.builder.getStringAttr(*text) : wrong("a string");
  }
  }
  llvm_unreachable("every kind of setting is handled");
}

//===----------------------------------------------------------------------===//
// Operators on tensors
//===----------------------------------------------------------------------===//

Tensor TensorBuilder::constant(Tree *at, double value,
                               mlir::RankedTensorType type, Labels labels) {
  return {e.builder.create<ConstantOp>(opLocation(at, "constant"), type,
                                       e.builder.getF64FloatAttr(value)),
          labels};
}

/// Whether it is a number without a unit, or a count.
static bool isPlain(const std::optional<Number> &number) {
  return number && (number->dimension.isNone() || number->dimension.isCount());
}

std::optional<Tensor> TensorBuilder::fullOf(Tree *at, StringRef op,
                                            const Value &value,
                                            mlir::RankedTensorType type,
                                            const Labels &labels) {
  std::optional<Number> number = numberOf(value);
  if (!isPlain(number) || type.getElementType().isInteger(1)) {
    e.fail(at, "`" + op + "` does not take a tensor and " +
                   (number ? textOf(Value(*number)) : kindOf(value)));
    return std::nullopt;
  }
  if (!number->isConstant()) {
    e.fail(at, "`" + number->exact.str() + "` must have a fixed size to " + op +
                   " it to a tensor");
    return std::nullopt;
  }
  bool isWhole = !number->real && number->exact.toInt64();
  if (mlir::isa<mlir::IntegerType>(type.getElementType()) && !isWhole) {
    e.fail(at, "the tensor is of whole numbers, and " + textOf(value) +
                   " is none; `float(x)` makes real numbers of them");
    return std::nullopt;
  }
  return constant(at, number->toDouble(), type, labels);
}

bool TensorBuilder::isElementByElement(const Function &function) const {
  return function.op && mlir::RegisteredOperationName::lookup(
                            "net." + function.op->name.str(), e.context)
                            ->hasTrait<ElementByElement>();
}

std::optional<std::vector<Tensor>>
TensorBuilder::elementByElement(Tree *at, StringRef op,
                                llvm::ArrayRef<Value> values) {
  std::vector<Tensor> tensors;
  for (const Value &value : values)
    if (auto *tensor = value.as<Tensor>())
      tensors.push_back(*tensor);
  if (tensors.empty()) {
    e.fail(at, "`" + op + "` takes a tensor, these are numbers");
    return std::nullopt;
  }
  // The first may grow with one, and those before it then, too.
  for (unsigned round = 0; round < 2; ++round)
    for (Tensor &other : llvm::drop_begin(tensors))
      if (!align(at, op, tensors.front(), other))
        return std::nullopt;
  // A number is of the type of the last tensor, but of a condition's.
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
      return e.fail(at, "`^` raises a tensor to a constant power");
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
    return e.fail(at, "`" + op + "` does not take " + kindOf(a) + " and " +
                          kindOf(b));
  if (std::optional<Number> divisor = numberOf(b); divisor && name == "div" &&
                                                   divisor->isConstant() &&
                                                   divisor->toDouble() == 0)
    return e.fail(at, "division by zero");
  for (const Value &side : {a, b}) {
    std::optional<Number> number = numberOf(side);
    auto text = [](const Value &side) {
      std::optional<Number> number = numberOf(side);
      return number ? textOf(Value(*number)) : kindOf(side);
    };
    if (!side.is<Tensor>() && !isPlain(number))
      return e.fail(at, "`" + op + "` does not take " + text(a) + " and " +
                            text(b));
  }
  auto operands = elementByElement(at, name, {a, b});
  return operands ? emit(at, name, *operands) : Value();
}

/// Where the axis got its size, if an op made it: `500 comes from here`.
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
      e.fail(at, "`" + op + "` takes axis by axis: `" + x.name + "` of " +
                     axesText(a) + " meets `" + y.name + "` of " + axesText(b));
      return false;
    }
  return true;
}

bool TensorBuilder::canMeet(const Label &a, const Label &b) {
  return a.text().empty() || b.text().empty() || a == b;
}

bool TensorBuilder::align(Tree *at, StringRef op, Tensor &a, Tensor &b) {
  auto allLabelled = [](const Tensor &tensor) {
    return llvm::none_of(
        tensor.labels, [](const Label &label) { return label.text().empty(); });
  };
  bool leads = a.labels.size() >= b.labels.size();
  Tensor &big = leads ? a : b, &small = leads ? b : a;
  Shape bigShape = shapeOf(big.value), smallShape = shapeOf(small.value);
  llvm::SmallVector<int64_t> axes; // of `big`, one for each of `small`
  if (allLabelled(a) && allLabelled(b)) {
    for (const Label &label : small.labels) {
      std::optional<size_t> axis = find(big, label.name);
      if (!axis) {
        e.fail(at, "cannot " + op + " tensors: axes " + axesText(a) +
                       " on the left, " + axesText(b) +
                       " on the right, and only one side has `" + label.name +
                       "`");
        return false;
      }
      axes.push_back(*axis);
    }
  } else {
    size_t offset = big.labels.size() - small.labels.size();
    for (auto [i, label] : llvm::enumerate(small.labels)) {
      const Label &other = big.labels[offset + i];
      if (!canMeet(label, other)) {
        e.fail(at, "cannot " + op + " tensors: axis `" + label.name +
                       "` meets axis `" + other.name + "`, " + axesText(a) +
                       " on the left, " + axesText(b) + " on the right");
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
             "cannot " + op + " tensors: axis " + llvm::Twine(axis) +
                 (big.labels[axis].text().empty()
                      ? ""
                      : " (`" + big.labels[axis].name + "`)") +
                 " is " + l.str() + " on the left, " + r.str() +
                 " on the right",
             {originOf(big.value, axis, bigShape[axis]),
              originOf(small.value, i, smallShape[i])});
      return false;
    }
  // A label that only the smaller one has is the larger one's too, unless
  // doubled.
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
    return e.fail(at, "`@` takes matrices; the sides have " +
                          llvm::Twine(a.labels.size()) + " and " +
                          llvm::Twine(b.labels.size()) + " axes");
  // From the right, the shapes are of one matrix each, and of how many.
  Shape left = shapeOf(a.value), right = shapeOf(b.value);
  const Polynomial &columns = left.sizes.back(),
                   &rows = right[right.rank() - 2];
  if (columns != rows)
    return e.fail(at,
                  "`@` sums over the last axis of the left side and the last "
                  "but one of the right: " +
                      columns.str() + " of " + axesText(a) + " and " +
                      rows.str() + " of " + axesText(b));
  for (size_t i = 3; i <= std::min(left.rank(), right.rank()); ++i) {
    const Polynomial &ofLeft = left[left.rank() - i],
                     &ofRight = right[right.rank() - i];
    if (ofLeft != ofRight)
      return e.fail(at, "`@` multiplies matrix by matrix: " + ofLeft.str() +
                            " of them in " + axesText(a) + ", " +
                            ofRight.str() + " in " + axesText(b));
  }
  // Letters from the right: i j of the left matrix, j k of the right one.
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
