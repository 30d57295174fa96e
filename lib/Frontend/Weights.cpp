// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Parameters, buffers, and the weights of an `opaque` network.

#include "dialect/ElementName.h"
#include "dialect/Opaque.h"
#include "dialect/Repetition.h"
#include "lib/Frontend/Evaluator.h"
#include "lib/Program/Slot.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

/// The initializations of weights, buffers and tables.
static const std::vector<std::string> knownInits(std::begin(program::inits),
                                                 std::end(program::inits));

/// The innermost owner of `self` that is being applied again, so that it has
/// its weights already; null if there is none.
Identity *TensorBuilder::appliedAgain(Identity &self) const {
  for (Identity *owner = &self; owner; owner = owner->parent)
    for (Frame *outer = e.frame; outer; outer = outer->caller)
      if (outer->self == owner && owner->hasWeights)
        return owner;
  return nullptr;
}

namespace {
/// A call of `opaque`: what it states, and what that costs.
class OpaqueCall {
public:
  using Tree = Builtins::Tree;

  OpaqueCall(Evaluator &e, Tree *at) : e(e), at(at) {}

  /// False after an error.
  bool read(llvm::ArrayRef<Argument> arguments) {
    if (!llvm::all_of(arguments, [&](const Argument &argument) {
          return readArgument(argument);
        }))
      return false;
    all = parameters.value_or(0).constant().value_or(0);
    used = active.value_or(all).constant().value_or(0);
    if (active && (used <= Rational(0) || used > all))
      return fail(at, error::OpaqueActive(textOf(Value(Number(all))),
                                          textOf(Value(Number(used)))));
    return true;
  }

  /// FLOP of the forward pass: for each token of a sequence of whole numbers,
  /// else for each example. None after an error.
  std::optional<Polynomial> flop(const Tensor &input, mlir::Location where) {
    Shape shape = shapeOf(input.value);
    Polynomial examples = shape.rank() == 0 ? Polynomial(1) : shape[0];
    Polynomial positions = examples;
    if (mlir::isa<mlir::IntegerType>(netc::elementOf(input.value))) {
      std::optional<size_t> sequence = e.tensors.find(input, kSequenceAxis);
      if (!sequence && shape.rank() > 2) {
        fail(at, error::OpaqueTokenAxis(e.tensors.axesText(input)));
        return std::nullopt;
      }
      positions = sequence && *sequence != 0 ? examples * shape[*sequence]
                                             : shape.elements();
    }
    if (forward)
      return *forward * examples;
    if (parameters)
      return active.value_or(*parameters) * positions * 2;
    // Nobody has said: a symbol for one example, which no run gives a value.
    std::string name = std::string(unknownCost);
    for (char c : where->findInstanceOf<mlir::NameLoc>().getName().getValue())
      name += llvm::isAlnum(c) ? c : '_';
    return Polynomial::symbol(name) * examples;
  }

  /// Makes the weights. False after an error.
  bool addWeights() {
    if (forward && !parameters && !e.frame->frozen)
      e.warn(at, "", WarningId::OpaqueWithoutParams,
             "`opaque` states `forward` and no `params`: nothing in it learns, "
             "and backward it costs what its input asks for; `params = 0` says "
             "so, too");
    if (!parameters || *parameters == 0)
      return true;
    // More than one axis can have stand in two.
    Polynomial rows = 1, rest = *parameters;
    if (*parameters->constant() > Rational(Shape::maxSize)) {
      rows = 1024;
      rest /= rows;
    }
    std::vector<Argument> sizes{{"", Number(rows), at, false},
                                {"", Number(rest), at, false}};
    Value made = e.tensors.weight(at, sizes, /*isParameter=*/true);
    if (!made.is<Tensor>())
      return false;
    operands.push_back(made.as<Tensor>()->value);
    return true;
  }

  /// The share of the weights that one example does not use; null if it is not
  /// stated.
  PolynomialAttr idle() const {
    return active ? PolynomialAttr::get(e.context, (all - used) / all)
                  : PolynomialAttr();
  }

  llvm::SmallVector<mlir::Value> operands;
  TensorBuilder::Sizes out;

private:
  bool fail(Tree *where, const Message &message) {
    e.fail(where, message);
    return false;
  }

  bool readArgument(const Argument &argument) {
    std::optional<Number> number = numberOf(argument.value);
    if (argument.name.empty()) {
      auto *tensor = argument.value.as<Tensor>();
      if (!tensor)
        return fail(argument.at, error::OpaqueArgument(kindOf(argument.value)));
      operands.push_back(tensor->value);
    } else if (argument.name == "params" || argument.name == "active") {
      if (!number || number->real || !number->dimension.isNone() ||
          !number->exact.constant())
        return fail(argument.at,
                    error::OpaqueParams(argument.name, textOf(argument.value)));
      (argument.name == "params" ? parameters : active) = number->exact;
    } else if (argument.name == "forward") {
      if (!number || number->real ||
          number->dimension != Dimension(Dimension::Flop) ||
          number->toDouble() < 0)
        return fail(argument.at, error::OpaqueForward(textOf(argument.value)));
      forward = number->exact;
    } else if (argument.name == "out") {
      std::optional<std::vector<Value>> sizes =
          e.itemsOf(argument.at, argument.value);
      std::optional<TensorBuilder::Sizes> shape;
      if (sizes)
        shape = e.tensors.sizesOf(argument.at, *sizes);
      if (!shape)
        return false;
      out = *shape;
    } else {
      return fail(
          argument.nameAt(),
          error::UnknownArgument(
              "opaque", argument.name,
              e.didYouMean(argument.name, Builtins::settingsOf("opaque"))));
    }
    return true;
  }

  Evaluator &e;
  Tree *at;
  std::optional<Polynomial> parameters, active, forward;
  Rational all, used; ///< weights, and those of them that one example uses
};
} // namespace

Value Builtins::callOpaque(Tree *at, std::vector<Argument> &arguments) {
  OpaqueCall call(e, at);
  if (!call.read(arguments))
    return {};
  std::optional<mlir::RankedTensorType> type =
      e.tensors.tensorType(at, e.builder.getF32Type(), call.out.shape);
  if (!type)
    return {};
  mlir::Location where = e.tensors.opLocation(at, "opaque");
  std::optional<Polynomial> flop =
      call.flop(*arguments.front().value.as<Tensor>(), where);
  if (!flop || !call.addWeights() || !e.budget.spend(at, 1))
    return {};
  return Tensor{e.builder.create<OpaqueOp>(
                    where, *type, call.operands,
                    PolynomialAttr::get(e.context, *flop), call.idle()),
                call.out.labels};
}

Value Builtins::callTable(Tree *at, std::vector<Argument> &arguments) {
  if (!e.graph || !e.frame->self)
    return e.fail(at, error::TensorOutsideNet);
  std::vector<Value> sizes;
  std::optional<std::string> init;
  double theta = program::Slot().theta;
  Tree *thetaAt = nullptr;
  for (Argument &argument : arguments) {
    if (argument.name.empty()) {
      sizes.push_back(argument.value);
    } else if (argument.name == "theta") {
      std::optional<Number> number = numberOf(argument.value);
      if (!number || !number->dimension.isNone() || !(number->toDouble() > 0))
        return e.fail(argument.at, error::ThetaArgument,
                      textOf(argument.value));
      theta = number->toDouble();
      thetaAt = argument.nameAt();
    } else if (argument.name != "init") {
      return e.fail(argument.nameAt(), error::UnknownArgument, "table",
                    argument.name,
                    e.didYouMean(argument.name, settingsOf("table")));
    } else if (!(init = e.tensors.initOf(argument))) {
      return {};
    }
  }
  if (!init)
    return e.fail(at, error::TableWithoutInit);
  using program::Init;
  Init start = *program::initOf(*init);
  if (start == Init::FanIn || start == Init::Normal || start == Init::Uniform)
    return e.fail(at, error::RandomTable, *init);
  bool isOfAngles =
      start == Init::Sine || start == Init::Cosine || start == Init::Sinusoid;
  if (thetaAt && !isOfAngles)
    return e.fail(thetaAt, error::ThetaWithoutAngles);
  std::optional<TensorBuilder::Sizes> wanted = e.tensors.sizesOf(at, sizes);
  std::optional<mlir::RankedTensorType> type;
  if (wanted)
    type = e.tensors.tensorType(at, e.builder.getF32Type(), wanted->shape);
  if (!type || !e.budget.spend(at, 1))
    return {};
  return Tensor{e.builder.create<TableOp>(e.tensors.opLocation(at, "table"),
                                          *type, *init, llvm::APFloat(theta)),
                wanted->labels};
}

std::optional<std::string> TensorBuilder::initOf(const Argument &argument) {
  auto *word = argument.value.as<std::string>();
  auto *function = argument.value.as<Function>();
  if (!word && !function) {
    e.fail(argument.at, error::InitArgument, kindOf(argument.value));
    return std::nullopt;
  }
  std::string init = word ? *word : function->name;
  if (llvm::is_contained(knownInits, init))
    return init;
  e.fail(argument.at, error::UnknownInit, init, e.didYouMean(init, knownInits));
  return std::nullopt;
}

std::optional<TensorBuilder::WeightRequest>
TensorBuilder::weightRequest(Tree *at, llvm::ArrayRef<Argument> arguments,
                             bool isParameter) {
  WeightRequest request;
  request.kind = isParameter ? "parameter" : "buffer";
  request.init = isParameter ? "fan_in" : "zeros";
  request.trainable = !e.frame->frozen;
  request.element = e.builder.getF32Type();
  auto fail = [&](Tree *at, const Message &message) {
    e.fail(at, message);
    return std::nullopt;
  };
  std::vector<Value> sizes;
  for (const Argument &argument : arguments) {
    if (argument.name.empty()) {
      sizes.push_back(argument.value);
    } else if (argument.name == "init") {
      std::optional<std::string> word = initOf(argument);
      if (!word)
        return std::nullopt;
      request.init = *word;
    } else if (argument.name == "trainable" && isParameter) {
      auto *flag = argument.value.as<bool>();
      if (!flag)
        return fail(argument.at,
                    error::NotAFlag("trainable", kindOf(argument.value)));
      request.trainable &= *flag;
    } else if (argument.name == "type") {
      auto *type = argument.value.as<TypeValue>();
      if (!type || type->isShaped || !mlir::isa<mlir::FloatType>(type->element))
        return fail(
            argument.at,
            error::WeightType(request.kind,
                              type && !type->isShaped
                                  ? "`" + elementName(type->element) + "`"
                                  : textOf(argument.value)));
      request.element = type->element;
      request.isTyped = true;
    } else {
      return fail(
          argument.nameAt(),
          error::UnknownArgument(
              request.kind, argument.name,
              e.didYouMean(argument.name, Builtins::settingsOf(request.kind))));
    }
  }
  std::optional<Sizes> wanted = sizesOf(at, sizes);
  if (!wanted)
    return std::nullopt;
  Shape shape;
  for (EachLoop *loop : e.graph->loops)
    shape.sizes.push_back(loop->size);
  shape.sizes.append(wanted->shape.sizes.begin(), wanted->shape.sizes.end());
  for (const Polynomial &size : shape.sizes)
    if (llvm::is_contained(size.symbols(), kBatchAxis))
      return fail(at,
                  error::WeightDependsOnBatch(request.kind, sizesText(shape)));
  std::optional<mlir::RankedTensorType> type =
      tensorType(at, request.element, shape);
  if (!type)
    return std::nullopt;
  request.type = *type;
  request.labels = wanted->labels;
  return request;
}

bool TensorBuilder::isSameWeight(Tree *at, const WeightRequest &request,
                                 mlir::Value made) {
  Identity &self = *e.frame->self;
  if (made.getType() != request.type) {
    e.frame->stopped = true;
    e.fail(at,
           error::WeightShape(e.frame->hint, sizesText(shapeOf(request.type)),
                              sizesText(shapeOf(made))),
           {{self.firstApplication, "it was made by this first application"}});
    return false;
  }
  auto parameter = made.getDefiningOp<ParameterOp>();
  if (parameter && parameter.getTrainable() != request.trainable) {
    e.frame->stopped = true; // reported once for all of its weights
    e.fail(at,
           error::FrozenAndLearning(
               self.name, request.trainable ? "learns here and is frozen"
                                            : "is frozen here and learns"),
           {{self.firstApplication, "the first application is here"}});
    return false;
  }
  return true;
}

std::optional<mlir::Value>
TensorBuilder::makeWeight(Tree *at, const WeightRequest &request,
                          bool isParameter) {
  Identity &self = *e.frame->self;
  if (Identity *grown = appliedAgain(self)) {
    e.fail(at, error::LaterWeights(grown->name),
           {{grown->firstApplication, "the first application is here"}});
    return std::nullopt;
  }
  std::string name = e.applier.unique(
      self, e.frame->hint.empty() ? request.kind : StringRef(e.frame->hint));
  std::string path = self.path.empty() ? name : self.path + "." + name;
  mlir::Location location =
      mlir::NameLoc::get(e.builder.getStringAttr(path), e.locationOfUse(at));
  mlir::OpBuilder::InsertionGuard guard(e.builder);
  if (e.graph->step && isParameter) {
    e.fail(at, error::ParameterOfOptimizer);
    return std::nullopt;
  }
  // An optimizer keeps its buffers per parameter, so they are in its own body.
  if (!e.graph->step && e.graph->lastWeight)
    e.builder.setInsertionPointAfter(e.graph->lastWeight);
  else if (!e.graph->step)
    e.builder.setInsertionPointToStart(e.graph->entry);
  mlir::Value value;
  if (isParameter)
    value = e.builder.create<ParameterOp>(location, request.type, path,
                                          request.init, request.trainable);
  else
    value = e.builder.create<BufferOp>(location, request.type, path,
                                       request.init, request.isTyped);
  if (!e.graph->step)
    e.graph->lastWeight = value.getDefiningOp();
  standFor(e.graph->rolled, value.getDefiningOp());
  Tensor made{value, request.labels};
  self.weights[{at, e.frame->iterations}] = made;
  self.namedWeights.push_back({name, made});
  return e.budget.spend(at, 1) ? std::optional(value) : std::nullopt;
}

Value TensorBuilder::weight(Tree *at, llvm::ArrayRef<Argument> arguments,
                            bool isParameter) {
  if (!e.graph || !e.frame->self)
    return e.fail(at, error::WeightOutsideNet,
                  isParameter ? "parameter" : "buffer");
  std::optional<WeightRequest> request =
      weightRequest(at, arguments, isParameter);
  if (!request)
    return {};
  auto &made = e.frame->self->weights;
  std::optional<mlir::Value> value;
  if (auto found = made.find({at, e.frame->iterations}); found != made.end()) {
    if (isSameWeight(at, *request, found->second.value))
      value = found->second.value;
  } else {
    value = makeWeight(at, *request, isParameter);
  }
  if (!value)
    return {};
  // In `each`, an iteration of the loop reads its own slice.
  for (EachLoop *loop : e.graph->loops) {
    loop->sequences.push_back(*value);
    Shape row = shapeOf(*value);
    row.sizes.erase(row.sizes.begin());
    value = loop->body->addArgument(tensorOf(request->element, row),
                                    e.locationOf(at));
  }
  return Tensor{*value, request->labels};
}
