// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Translates calls of ops to `net` ops. The signatures define the ops and their
// operands; only syntax (operators, scalars) is named here.

#include "dialect/ElementName.h"
#include "lib/Frontend/Evaluator.h"
#include "lib/Std/Std.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/ScopeExit.h"
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
  e.fail(at, error::InvalidOp, *complaint);
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

std::vector<Tensor>
TensorBuilder::inOneFormat(Tree *at, StringRef op,
                           llvm::ArrayRef<Tensor> operands) {
  std::vector<Tensor> promoted(operands);
  mlir::Type widest;
  for (const Tensor &operand : operands)
    if (isFloat(operand.value)) {
      mlir::Type element = elementOf(operand.value);
      widest = widest ? widestOf(widest, element) : element;
    }
  for (Tensor &operand : promoted)
    if (isFloat(operand.value) && elementOf(operand.value) != widest) {
      mlir::Value made = conversionOf(operand.value, widest);
      if (!made) {
        // Where all readers see it.
        mlir::OpBuilder::InsertionGuard guard(e.builder);
        e.builder.setInsertionPointAfterValue(operand.value);
        made = convertTo(e.builder, opLocation(at, op), operand.value, widest);
      }
      operand.value = made;
    }
  return promoted;
}

/// Sets the types of results. The op's own checks report to the context.
static mlir::LogicalResult inferTypes(mlir::OperationState &state,
                                      mlir::RegisteredOperationName name) {
  mlir::MLIRContext *context = state.getContext();
  mlir::DictionaryAttr dictionary = state.attributes.getDictionary(context);
  std::vector<char> storage(name.getOpPropertyByteSize());
  mlir::OpaqueProperties properties(storage.empty() ? nullptr : storage.data());
  if (properties)
    name.initOpProperties(properties, nullptr);
  auto destroy = llvm::make_scope_exit([&] {
    if (properties)
      name.destroyOpProperties(properties);
  });
  if (properties && !dictionary.empty() &&
      mlir::failed(
          name.setOpPropertiesFromAttribute(name, properties, dictionary, [&] {
            return mlir::emitError(state.location);
          })))
    return mlir::failure();
  auto *infer = name.getInterface<mlir::InferTypeOpInterface>();
  llvm::SmallVector<mlir::Type> types;
  if (infer && mlir::failed(infer->inferReturnTypes(context, state.location,
                                                    state.operands, dictionary,
                                                    properties, {}, types)))
    return mlir::failure();
  state.addTypes(types);
  return mlir::success();
}

/// The results of an op. Their axes have the labels of the operands' axes that
/// they continue; a new axis of the first result has the label `as`.
static ResultList labelledResults(mlir::Operation *built,
                                  llvm::ArrayRef<Tensor> operands,
                                  const Label &as) {
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
  return list;
}

Value TensorBuilder::emit(Tree *at, StringRef op,
                          llvm::ArrayRef<Tensor> written,
                          llvm::ArrayRef<mlir::NamedAttribute> attributes,
                          const Label &as, mlir::LocationAttr where) {
  if (!e.budget.spend(at, 1))
    return {};
  std::optional<mlir::RegisteredOperationName> name =
      mlir::RegisteredOperationName::lookup(("net." + op).str(), e.context);
  assert(name && "an op of the language that the dialect does not have");
  std::vector<Tensor> operands = name->hasTrait<ElementByElement>()
                                     ? written.vec()
                                     : inOneFormat(at, op, written);
  if (name->hasTrait<AxesMeet>())
    widenIntegers(at, operands);
  mlir::Location location = where ? mlir::Location(where) : opLocation(at, op);
  mlir::OperationState state(location, *name);
  for (const Tensor &operand : operands)
    state.operands.push_back(operand.value);
  state.addAttributes(attributes);
  // Report the op's own checks like other errors.
  std::optional<std::string> complaint =
      complaintOf([&] { return inferTypes(state, *name); });
  if (complaint)
    return e.fail(at, error::InvalidOp, *complaint);
  mlir::Operation *built = e.builder.create(state);
  complaint = complaintOf(
      [&] { return mlir::verify(built, /*verifyRecursively=*/false); });
  if (complaint)
    return e.fail(at, operandComplaint(*complaint, op, operands));
  // What is put together along an axis may be of several labels.
  if (auto concat = mlir::dyn_cast<ConcatOp>(built)) {
    auto label = [&](Tensor &each) -> Label & {
      return each.labels[concat.getOver()];
    };
    if (llvm::any_of(operands, [&](Tensor &each) {
          return !canMeet(label(operands.front()), label(each));
        }))
      for (Tensor &each : operands)
        label(each).clear();
  }
  if (built->hasTrait<AxesMeet>())
    for (const Tensor &other : llvm::drop_begin(operands))
      if (!doMeet(at, op, operands.front(), other))
        return {};
  return e.applier.resultsOf(labelledResults(built, operands, as));
}

Value TensorBuilder::tensorFor(Tree *at, const Value &value,
                               mlir::Type element) {
  if (value.is<Tensor>() || value.isUnknown())
    return value;
  if (std::optional<Number> number = numberOf(value)) {
    if (!number->isConstant())
      return e.fail(at, freeSize(*number));
    if (!number->dimension.isNone() && !number->dimension.isCount())
      return e.fail(at, error::ValueWithUnit, textOf(value));
    return constant(at, number->toDouble(), tensorOf(element, Shape()), {});
  }
  if (e.graph->step &&
      (value.is<Function>() || value.is<std::shared_ptr<Instance>>()))
    return scheduled(at, value);
  return e.fail(at, error::NotATensor, kindOf(value));
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
        return e.fail(at, error::UnknownSteps, instance->function.name);
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
  // A schedule lacks only the step, and is applied where it is used.
  if (step && !lacksMore && all.tensors.front().name == "parameter")
    *step = {Tensor{e.graph->step, {}}};
}

std::optional<std::vector<Tensor>>
TensorBuilder::operandsOf(Tree *at, const Instance &instance) {
  std::vector<Value> given;
  mlir::Type element;
  for (auto &values : instance.tensors)
    for (const Value &value : values) {
      given.push_back(value);
      if (auto *tensor = value.as<Tensor>(); tensor && !element)
        element = elementOf(tensor->value);
    }
  if (isElementByElement(instance.function))
    return elementByElement(at, instance.function.op->name, given);
  std::vector<Tensor> operands;
  for (const Value &value : given) {
    Value tensor =
        tensorFor(at, value, element ? element : e.builder.getF32Type());
    if (!tensor.is<Tensor>())
      return std::nullopt;
    operands.push_back(*tensor.as<Tensor>());
  }
  return operands;
}

std::optional<TensorBuilder::Attributes>
TensorBuilder::attributesOf(Tree *at, const Instance &instance,
                            const std::vector<Tensor> &operands) {
  const Signature &signature = *instance.function.op;
  const Parameters &all = e.calls.parametersOf(instance.function);
  auto setting = [&](size_t i) -> const Value * {
    const std::optional<Value> &value = instance.settings[i];
    return value && !value->is<None>() ? &*value : nullptr;
  };
  Attributes attributes;
  // A window has one number for each axis of `over`, so read `over` first.
  size_t windowAxes = 0;
  for (bool axes : {true, false}) {
    for (auto [i, parameter] : llvm::enumerate(all.settings)) {
      const Setting &stated = *parameter.setting;
      bool isAxes =
          stated.kind == SettingKind::Axes || stated.kind == SettingKind::Axis;
      if (isAxes != axes)
        continue;
      if (!setting(i) && parameter.required) {
        e.fail(at, error::MissingArgument, signature.name, parameter.name);
        return std::nullopt;
      }
      mlir::Attribute attribute = attributeOf(at, stated, setting(i), operands,
                                              windowAxes, signature.name);
      if (!attribute)
        return std::nullopt;
      if (auto list = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(attribute);
          list && stated.kind == SettingKind::Axes)
        windowAxes = list.size();
      if (stated.kind == SettingKind::Axis)
        attributes.axis = mlir::cast<mlir::IntegerAttr>(attribute).getInt();
      attributes.named.push_back(
          e.builder.getNamedAttr(stated.name, attribute));
    }
  }
  return attributes;
}

mlir::LocationAttr TensorBuilder::locationOfPart(Tree *at, Identity &identity,
                                                 StringRef op) {
  std::string path;
  if (!identity.name.empty()) {
    e.applier.enter(identity, op, at);
    path = identity.path;
  } else if (identity.parent && identity.parent != e.frame->self) {
    Identity &parent = *identity.parent;
    path = (parent.path.empty() ? "" : parent.path + ".") +
           e.applier.unique(parent, op);
  } else {
    return {};
  }
  return mlir::NameLoc::get(e.builder.getStringAttr(path), e.locationOf(at));
}

Value TensorBuilder::applyOp(Tree *at, Instance &instance) {
  StringRef op = instance.function.op->name;
  std::optional<std::vector<Tensor>> operands = operandsOf(at, instance);
  if (!operands)
    return {};
  std::optional<Attributes> attributes = attributesOf(at, instance, *operands);
  if (!attributes)
    return {};
  Identity &identity = *instance.identity;
  mlir::LocationAttr where = locationOfPart(at, identity, op);
  Value result = emit(at, op, *operands, attributes->named, instance.as, where);
  auto *tensor = result.as<Tensor>();
  if (!tensor)
    return result;
  if (identity.name.empty())
    if (auto named = mlir::dyn_cast<mlir::NameLoc>(tensor->value.getLoc()))
      e.applier.tellPart(named.getName(), at);
  // `as` labels the axis that the op resizes, if it makes no new axis.
  if (!instance.as.empty() &&
      !llvm::is_contained(tensor->labels, instance.as)) {
    Tensor labelled = *tensor;
    size_t axis =
        attributes->axis ? size_t(*attributes->axis) : featureAxis(labelled);
    if (axis < labelled.labels.size())
      labelled.labels[axis] = instance.as;
    result.data = Value(labelled).data;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

size_t TensorBuilder::featureAxis(const Tensor &tensor) {
  assert(!tensor.labels.empty() && "a scalar has no axis to work over");
  return find(tensor, "C").value_or(tensor.labels.size() - 1);
}

bool TensorBuilder::isWindow(const Label &label) {
  return label == "D" || label == "H" || label == "W" || label == "L";
}

std::optional<Message> TensorBuilder::whyNoFeature(const Tensor &tensor) {
  const Label &last = tensor.labels[featureAxis(tensor)];
  // A lone `D` is not a depth: many specifications label the features so.
  bool isDepth = last == "D" && llvm::count_if(tensor.labels, isWindow) == 1;
  // A sequence of numbers has no axis but that of positions.
  bool isPositions = last == kSequenceAxis && tensor.labels.size() > 2;
  if (!(last == kBatchAxis || isPositions || isWindow(last)) || isDepth)
    return std::nullopt;
  // Suggest the first axis with a similar label, else the first without one.
  const Label *meant = llvm::find(tensor.labels, StringRef("c"));
  if (meant == tensor.labels.end())
    meant =
        std::find_if(tensor.labels.begin() + 1, tensor.labels.end(),
                     [](const Label &label) { return label.text().empty(); });
  auto message = [&](const llvm::Twine &advice) {
    return error::NoFeatures(axesText(tensor), last.name(),
                             last == kBatchAxis ? "that of the examples"
                             : isPositions      ? "that of the positions"
                                                : "one that windows slide over",
                             advice);
  };
  if (meant == tensor.labels.end())
    return message("name the axis to work along by `over`");
  std::string axes;
  llvm::ListSeparator comma;
  for (auto [label, size] :
       llvm::zip_equal(tensor.labels, shapeOf(tensor.value).sizes))
    axes += StringRef(comma).str() + (&label == meant        ? "C"
                                      : label.text().empty() ? size.str()
                                                             : label.name());
  return message("label the features, as in `y: [" + axes +
                 "] = ..`, or name an axis by `over`");
}

std::vector<std::string> TensorBuilder::namesOf(const Labels &labels) {
  std::vector<std::string> names;
  for (const Label &label : labels)
    if (!label.text().empty())
      names.push_back(label.name());
  return names;
}

void TensorBuilder::failUnknownAxis(Tree *at, StringRef label,
                                    const Tensor &tensor) {
  std::string meant = e.didYouMean(label, namesOf(tensor.labels));
  e.fail(at, error::UnknownAxis, label,
         meant.empty() ? ", its axes are " + axesText(tensor) : meant);
}

std::optional<size_t> TensorBuilder::find(const Tensor &tensor,
                                          StringRef label) {
  assert(tensor.labels.size() == shapeOf(tensor.value).rank() &&
         "each axis has a label, if only an empty one");
  for (auto [i, other] : llvm::enumerate(tensor.labels))
    if (!label.empty() && other == label)
      return i;
  return std::nullopt;
}

/// How to write the axis that was meant by a number: that of this size, or at
/// this place.
static std::string axisMeantBy(const Number &number, const Tensor &tensor) {
  llvm::SmallVector<Polynomial, 4> sizes = shapeOf(tensor.value).sizes;
  if (llvm::count(sizes, number.exact) == 1)
    return "; the one of this size is `axes(x)[" +
           std::to_string(llvm::find(sizes, number.exact) - sizes.begin()) +
           "]`";
  std::optional<int64_t> place = number.exact.toInt64();
  int64_t rank = sizes.size();
  return place && -rank <= *place && *place < rank
             ? "; by its place an axis is `axes(x)[" + std::to_string(*place) +
                   "]`"
             : "";
}

std::optional<int64_t> TensorBuilder::axisOf(Tree *at, const Value &value,
                                             const Tensor &tensor) {
  if (auto *axis = value.as<Axis>()) {
    if (std::optional<size_t> position = find(tensor, axis->label.name()))
      return *position;
    if (axis->label.empty() && axis->position >= 0 &&
        size_t(axis->position) < tensor.labels.size())
      return axis->position;
    failUnknownAxis(at, axis->label.text(), tensor);
    return std::nullopt;
  }
  if (std::optional<Number> number = numberOf(value))
    e.fail(at, error::NumberAsAxis, textOf(value),
           axisMeantBy(*number, tensor));
  else if (!value.isUnknown())
    e.fail(at, error::NotAnAxis, kindOf(value));
  return std::nullopt;
}

std::string TensorBuilder::sizesText(const Shape &shape) {
  std::string text = "[";
  llvm::ListSeparator comma;
  for (const Polynomial &size : shape.sizes)
    text += (StringRef(comma) + size.str()).str();
  return text + "]";
}

Message TensorBuilder::operandComplaint(StringRef complaint, StringRef op,
                                        llvm::ArrayRef<Tensor> operands) {
  // MLIR's message: "'net.relu' op operand #0 must be a tensor of ..., but got
  // ..."
  StringRef rest = complaint.split("operand #").second;
  size_t index;
  if (rest.consumeInteger(10, index) || !rest.consume_front(" must be ") ||
      index >= operands.size())
    return error::InvalidOp(complaint);
  return error::WrongKind(op, rest.split(", but got").first,
                          elementName(elementOf(operands[index].value)) +
                              axesText(operands[index]));
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

std::string TensorBuilder::typeText(const Tensor &tensor) {
  return elementName(elementOf(tensor.value)) + axesText(tensor);
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
        e.fail(at, error::AxisListedTwice);
        return std::nullopt;
      }
      axes.push_back(*axis);
    }
    return axes;
  }
  if (rank == 0 && rule != "all") {
    e.fail(at, error::ScalarWithoutAxis);
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
      e.fail(at, error::NoSpatialAxis, axesText(tensor));
      return std::nullopt;
    }
  } else if (rule == "last") {
    axes.push_back(rank - 1);
  } else {
    if (std::optional<Message> why = whyNoFeature(tensor)) {
      e.fail(at, *why);
      return std::nullopt;
    }
    axes.push_back(featureAxis(tensor));
  }
  return axes;
}

namespace {
/// Reads the value of an op's setting, or its default, as an attribute. Null
/// after an error.
class SettingReader {
public:
  using Tree = antlr4::ParserRuleContext;

  SettingReader(Evaluator &e, Tree *at, const Setting &setting,
                const Value *value, StringRef op)
      : e(e), builder(e.builder), at(at), setting(setting), value(value),
        op(op) {
    hasNumber = !setting.fallback.getAsInteger(10, fallback);
  }

  mlir::Attribute axes(const std::optional<std::vector<int64_t>> &axes) {
    if (!axes)
      return {};
    if (setting.kind == SettingKind::Axes)
      return builder.getDenseI64ArrayAttr(*axes);
    if (axes->size() != 1)
      return wrong("one axis");
    return builder.getI64IntegerAttr(axes->front());
  }

  mlir::Attribute integer() {
    if (!value)
      return builder.getI64IntegerAttr(fallback);
    std::optional<int64_t> number = integerOf(*value);
    return number ? builder.getI64IntegerAttr(*number)
                  : wrong("a whole number");
  }

  /// A list of integers. With `windowAxes`, one for each of these axes; a
  /// single one applies to all.
  mlir::Attribute integers(std::optional<size_t> windowAxes) {
    std::vector<int64_t> numbers;
    if (!value && hasNumber)
      numbers.assign(windowAxes.value_or(1), fallback);
    if (!value)
      return builder.getDenseI64ArrayAttr(numbers);
    std::vector<Value> items{*value};
    if (auto *list = value->as<List>())
      items = *list->items;
    for (const Value &item : items) {
      std::optional<int64_t> number = integerOf(item);
      if (!number)
        return wrong("whole numbers");
      numbers.push_back(*number);
    }
    if (windowAxes && !value->is<List>())
      numbers.assign(*windowAxes, numbers.front());
    if (windowAxes && numbers.size() != *windowAxes)
      return wrong(
          ("one number for each of " + llvm::Twine(*windowAxes) + " axes")
              .str());
    return builder.getDenseI64ArrayAttr(numbers);
  }

  mlir::Attribute real() {
    if (!value)
      return builder.getF64FloatAttr(realOf(setting.fallback));
    std::optional<Number> number = countOf(*value);
    if (!number || !number->isConstant())
      return wrong("a number");
    double real = number->toDouble();
    std::string range;
    if (!setting.least.empty() && !(real >= realOf(setting.least)))
      range = "at least " + setting.least.str();
    if (!setting.below.empty() && !(real < realOf(setting.below)))
      range = "below " + setting.below.str();
    bool isLimited = !setting.least.empty() || !setting.below.empty();
    if (range.empty() && isLimited && !std::isfinite(real))
      range = "finite";
    if (range.empty())
      return builder.getF64FloatAttr(real);
    e.fail(at, error::SettingOutOfRange, setting.name, op, textOf(*value),
           range);
    return {};
  }

  mlir::Attribute size() {
    if (!value)
      return PolynomialAttr::get(builder.getContext(), fallback);
    std::optional<Number> number = countOf(*value);
    if (!number || number->real)
      return wrong("a size");
    return PolynomialAttr::get(builder.getContext(), number->exact);
  }

  mlir::Attribute flag() {
    if (!value)
      return builder.getBoolAttr(setting.fallback == "true");
    auto *flag = value->as<bool>();
    return flag ? builder.getBoolAttr(*flag) : wrong("true or false");
  }

  mlir::Attribute text() {
    if (!value)
      return builder.getStringAttr(setting.fallback);
    auto *text = value->as<std::string>();
    return text ? builder.getStringAttr(*text) : wrong("a string");
  }

private:
  mlir::Attribute wrong(StringRef expected) {
    if (!value->isUnknown())
      e.fail(at, error::SettingType, setting.name, op, expected,
             numberOf(*value) ? textOf(*value) : kindOf(*value));
    return {};
  }

  /// A number without a unit, or in a unit of counts.
  static std::optional<Number> countOf(const Value &item) {
    std::optional<Number> number = numberOf(item);
    if (number && !number->dimension.isNone() && !number->dimension.isCount())
      return std::nullopt;
    return number;
  }

  static std::optional<int64_t> integerOf(const Value &item) {
    std::optional<Number> number = countOf(item);
    return number && !number->real ? number->exact.toInt64() : std::nullopt;
  }

  static double realOf(StringRef text) {
    return std::strtod(text.str().c_str(), nullptr);
  }

  Evaluator &e;
  mlir::OpBuilder &builder;
  Tree *at;
  const Setting &setting;
  const Value *value; ///< null if the call does not give it
  StringRef op;
  int64_t fallback = 0;
  bool hasNumber; ///< whether the default is a number
};
} // namespace

mlir::Attribute TensorBuilder::attributeOf(Tree *at, const Setting &setting,
                                           const Value *value,
                                           const std::vector<Tensor> &operands,
                                           size_t windowAxes, StringRef op) {
  SettingReader reader(e, at, setting, value, op);
  switch (setting.kind) {
  case SettingKind::Axes:
  case SettingKind::Axis:
    return reader.axes(axesOf(at, value, setting.fallback, operands.front()));
  case SettingKind::Integer:
    return reader.integer();
  case SettingKind::Integers:
    return reader.integers(std::nullopt);
  case SettingKind::Window:
    return reader.integers(windowAxes);
  case SettingKind::Real:
    return reader.real();
  case SettingKind::Size:
    return reader.size();
  case SettingKind::Flag:
    return reader.flag();
  case SettingKind::Text:
    return reader.text();
  }
  llvm_unreachable("every kind of setting is handled");
}
