// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/OptimizerBuilder.h"
#include "lib/Frontend/RunKeys.h"

using namespace netc;
using llvm::StringRef;

bool OptimizerBuilder::build(const Value &optimizer) {
  auto *record = optimizer.as<Record>();
  if (!record)
    return addRules({"", optimizer, trained()});
  std::optional<std::vector<UpdateGroup>> groups = groupsOf(*record);
  return groups && llvm::all_of(*groups, [&](const UpdateGroup &group) {
           return addRules(group);
         });
}

std::vector<ParameterOp> OptimizerBuilder::trained() {
  std::vector<ParameterOp> parameters;
  for (auto parameter : step.getOps<ParameterOp>())
    if (parameter.getTrainable())
      parameters.push_back(parameter);
  return parameters;
}

std::optional<std::vector<OptimizerBuilder::UpdateGroup>>
OptimizerBuilder::groupsOf(const Record &record) {
  constexpr StringRef rest = "other";
  Tree *at = keys.optimizer;
  std::vector<UpdateGroup> groups;
  for (const auto &[name, value] : *record.fields)
    groups.push_back({name, value, {}});
  llvm::StringMap<UpdateGroup *> named;
  for (UpdateGroup &group : groups)
    named[group.name] = &group;
  llvm::SetVector<StringRef> parts;
  for (ParameterOp parameter : trained()) {
    StringRef part = parameter.getName().split('.').first;
    parts.insert(part);
    UpdateGroup *group = named.lookup(part);
    if (!group)
      group = named.lookup(rest);
    if (!group) {
      e.fail(at, error::NoOptimizer, parameter.getName(), part, rest);
      return std::nullopt;
    }
    group->parameters.push_back(parameter);
  }
  std::vector<std::string> known(parts.begin(), parts.end());
  for (const UpdateGroup &group : groups)
    if (group.parameters.empty()) {
      e.fail(at, group.name == rest
                     ? error::NoOther()
                     : error::NoSuchPart(group.name,
                                         e.didYouMean(group.name, known)));
      return std::nullopt;
    }
  return groups;
}

/// Whether a product reads the value, a view of it or a slice in a loop.
static bool isMultiplied(mlir::Value value) {
  return llvm::any_of(value.getUses(), [](mlir::OpOperand &use) {
    mlir::Operation *op = use.getOwner();
    if (auto scan = mlir::dyn_cast<ScanOp>(op))
      return isMultiplied(scan.getBlock().getArgument(use.getOperandNumber()));
    if (!mlir::cast<CostOpInterface>(op).getCost().matmul.isZero())
      return true;
    return mlir::isMemoryEffectFree(op) &&
           llvm::any_of(op->getResults(), isMultiplied);
  });
}

/// The kind of a parameter for optimizers: `vector`, `matrix` or `embedding`. A
/// table is an embedding even if a product reads it too, since few of its rows
/// are looked up.
static std::string roleOf(ParameterOp parameter) {
  if (shapeOf(parameter).rank() < 2)
    return "vector";
  bool isTable = llvm::any_of(parameter->getUsers(), [&](mlir::Operation *op) {
    auto embedding = mlir::dyn_cast<EmbeddingOp>(op);
    return embedding && embedding.getTable() == parameter.getValue();
  });
  return !isTable && isMultiplied(parameter.getValue()) ? "matrix"
                                                        : "embedding";
}

/// Whether each iteration of a loop reads its own slice of the parameter.
static bool isOfLoop(ParameterOp parameter) {
  return llvm::any_of(parameter->getUsers(), [&](mlir::Operation *op) {
    auto scan = mlir::dyn_cast<ScanOp>(op);
    return scan &&
           llvm::is_contained(scan.getSequences(), parameter.getValue());
  });
}

/// Whether each iteration of a loop multiplies by a matrix of its own.
static bool hasMatrices(ParameterOp parameter) {
  return isOfLoop(parameter) && shapeOf(parameter).rank() > 2 &&
         roleOf(parameter) == "matrix";
}

/// The parameter as a matrix. A kernel has a row for each output, its first
/// axis, and a vector is one row. A parameter of a loop has the rows of all
/// iterations, or is as many matrices.
static Shape matrixOf(ParameterOp parameter, bool isStack) {
  Shape whole = shapeOf(parameter);
  if (isStack && hasMatrices(parameter))
    return Shape(llvm::ArrayRef(
        {whole[0], whole[1], whole.elements() / (whole[0] * whole[1])}));
  Polynomial rows = whole.rank() < 2 ? Polynomial(1)
                    : isOfLoop(parameter)
                        ? whole.elements() / whole.sizes.back()
                        : whole[0];
  return Shape(llvm::ArrayRef({rows, whole.elements() / rows}));
}

bool OptimizerBuilder::addRules(const UpdateGroup &group) {
  const Taken taken = howTaken(group.optimizer);
  if (taken == Taken::Vector) {
    Shape any(llvm::ArrayRef(Polynomial::symbol("P")));
    return addRule(group,
                   group.name.empty() ? std::vector<ParameterOp>()
                                      : group.parameters,
                   any, "");
  }
  // Add one rule per shape and kind, since the rule may depend on them.
  using Class = std::pair<Shape, std::string>;
  std::vector<std::pair<Class, std::vector<ParameterOp>>> classes;
  for (ParameterOp parameter : group.parameters) {
    Class key{matrixOf(parameter, taken == Taken::Matrices), roleOf(parameter)};
    auto known = llvm::find_if(
        classes, [&](const auto &entry) { return entry.first == key; });
    if (known == classes.end())
      known = classes.insert(known, {key, {}});
    known->second.push_back(parameter);
  }
  if (taken == Taken::Matrix)
    for (const auto &[key, parameters] : classes)
      warnOfMatricesAsOne(key.first, parameters);
  return llvm::all_of(classes, [&](const auto &entry) {
    return addRule(group, entry.second, entry.first.first, entry.first.second);
  });
}

void OptimizerBuilder::warnOfMatricesAsOne(
    const Shape &shape, llvm::ArrayRef<ParameterOp> parameters) {
  size_t number = llvm::count_if(parameters, hasMatrices);
  if (number == 0)
    return;
  ParameterOp first = *llvm::find_if(parameters, hasMatrices);
  std::string all = ("`" + first.getName() + "`").str();
  if (number > 1)
    all += " and " + std::to_string(number - 1) + " more" +
           (number == 2 ? " weight" : " weights") + " of its shape";
  e.warn(keys.optimizer, step.getSymName(), WarningId::MatricesAsOne,
         all + (number == 1 ? " holds" : " hold") +
             " a matrix for each iteration of a loop; the optimizer takes "
             "all of them as one of " +
             TensorBuilder::sizesText(shape) +
             "; one that takes `parameter: [..., R, C]` sees each");
}

bool OptimizerBuilder::addRule(const UpdateGroup &group,
                               const std::vector<ParameterOp> &parameters,
                               const Shape &shape, StringRef kind) {
  Tree *at = keys.optimizer;
  mlir::OpBuilder &builder = e.builder;
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(step.getReturn());
  mlir::ArrayAttr names;
  if (!parameters.empty())
    names = builder.getArrayAttr(
        llvm::map_to_vector(parameters, [](ParameterOp op) -> mlir::Attribute {
          return op.getNameAttr();
        }));
  auto optimizer = builder.create<OptimizerOp>(e.locationOf(at), names);
  mlir::Block *body = builder.createBlock(&optimizer.getBody());
  mlir::Type f32 = builder.getF32Type();
  mlir::RankedTensorType type = tensorOf(f32, shape);
  mlir::Location location = e.locationOf(at);
  mlir::BlockArgument parameter = body->addArgument(type, location);
  mlir::BlockArgument gradient = body->addArgument(type, location);
  mlir::Value number = body->addArgument(tensorOf(f32, Shape()), location);
  Identity identity;
  identity.path = "optimizer";
  Frame inner = *e.frame;
  inner.self = &identity;
  InFrame in(e.frame, &inner);
  llvm::SaveAndRestore isUpdate(e.graph->step, number);
  e.graph->parameterKind = kind.str();
  e.graph->steps = run.steps;
  // Evaluate the optimizer again, so that its instances get their names from
  // it.
  auto *whole = static_cast<NetParser::ExprContext *>(at), *own = whole;
  if (auto *record = ruleCast<NetParser::RecContext>(whole))
    for (NetParser::FieldContext *field : record->record()->field())
      if (field->name()->getText() == group.name)
        own = field->expr();
  Value callee = e.eval(own);
  if (auto *record = callee.as<Record>(); record && own == whole)
    callee = Value(record->fields->find(group.name)->second);
  std::shared_ptr<Instance> instance;
  if (auto *function = callee.as<Function>(); function && !function->builtin) {
    instance = e.calls.instantiate(at, callee);
    if (!e.calls.completeSettings(at, *instance))
      return false;
  } else if (auto *made = callee.as<std::shared_ptr<Instance>>()) {
    instance = std::make_shared<Instance>(**made);
  }
  if (!instance || instance->isComposition() ||
      instance->function.isBuiltin()) {
    if (!callee.isUnknown())
      e.fail(at, error::NotAnOptimizer, netc::kindOf(callee));
    return false;
  }
  mlir::Value given[] = {parameter, gradient, number};
  const Parameters &all = e.calls.parametersOf(instance->function);
  for (auto [parameter, slot] : llvm::zip_equal(all.tensors, instance->tensors))
    for (auto [name, tensor] : llvm::zip_equal(optimizerTensors, given))
      if (slot.empty() && parameter.name == name)
        slot = {Tensor{tensor, Labels(shapeOf(tensor).rank())}};
  if (llvm::none_of(all.tensors, [](const Parameter &tensor) {
        return tensor.name == optimizerTensors[0];
      })) {
    e.fail(at, error::NotAnOptimizer, "`" + instance->function.name + "`");
    return false;
  }
  for (auto [parameter, slot] : llvm::zip_equal(all.tensors, instance->tensors))
    if (parameter.required && slot.empty()) {
      e.fail(at, error::MissingArgument, instance->function.name,
             parameter.name);
      return false;
    }
  unsigned before = e.errorCount();
  e.applier.apply(at, *instance);
  if (e.errorCount() == before && !isUpdated(parameter))
    e.fail(at, error::NoUpdate, instance->function.name);
  return e.errorCount() == before && canAccumulate(optimizer);
}

bool OptimizerBuilder::canAccumulate(OptimizerOp optimizer) {
  if (!run.accumulate || llvm::none_of(optimizer.getBody().getOps<SgdOp>(),
                                       [](SgdOp op) { return op.getSparse(); }))
    return true;
  e.fail(keys.accumulate, error::SparseAccumulate);
  return false;
}

OptimizerBuilder::Taken OptimizerBuilder::howTaken(const Value &optimizer) {
  auto *instance = optimizer.as<std::shared_ptr<Instance>>();
  auto *function = instance ? &(*instance)->function : optimizer.as<Function>();
  if (!function || !function->block)
    return Taken::Vector;
  const Parameters &all = e.calls.parametersOf(*function);
  for (const Parameter &parameter : all.tensors)
    if (parameter.name == "parameter" && parameter.tree->type) {
      auto *pattern = ruleCast<NetParser::ListContext>(parameter.tree->type);
      auto axes =
          pattern ? pattern->axis() : std::vector<NetParser::AxisContext *>();
      bool isOpen = !axes.empty() && !axes.front()->value;
      if (axes.size() != (isOpen ? 3 : 2))
        return Taken::Vector;
      return isOpen ? Taken::Matrices : Taken::Matrix;
    }
  // It may pass the parameter to an optimizer among its settings.
  Taken most = Taken::Vector;
  if (instance)
    for (const std::optional<Value> &setting : (*instance)->settings)
      if (setting)
        most = std::max(most, howTaken(*setting));
  return most;
}

bool OptimizerBuilder::isUpdated(mlir::Value parameter) {
  return llvm::any_of(parameter.getUsers(), [&](mlir::Operation *user) {
    if (mlir::isa<UpdateOpInterface>(user))
      return user->getOperand(0) == parameter;
    return mlir::isa<ReshapeOp, ConvertOp>(user) &&
           isUpdated(user->getResult(0));
  });
}
