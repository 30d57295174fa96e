// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Builds the step of a run with its inputs and loss, and runs with jobs.

#include "lib/Frontend/RunBuilder.h"

#include "dialect/Repetition.h"
#include "lib/Diagnostics/Activity.h"

using namespace netc;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

/// What is asked for each field of the dataset.
struct RunBuilder::Lookups {
  Scope axes; ///< of the net, which the types of fields may name
  llvm::StringMap<const SectionEntry *> typed; ///< the fields with a type
  llvm::StringSet<> inputs, inLoss; ///< the names of inputs, and in the loss
  std::vector<std::string> missing; ///< the inputs that are no fields
};

RunBuilder::Lookups RunBuilder::lookups() const {
  Lookups known;
  for (const NetInput &input : inputs) {
    known.inputs.insert(input.name);
    for (auto [label, size] : llvm::zip_equal(input.labels, input.shape.sizes))
      if (!label.empty())
        known.axes.names[label.name()] = Axis{label, size, -1};
  }
  llvm::StringSet<> fields;
  for (const SectionEntry &entry : dataset) {
    fields.insert(entry.name);
    if (entry.value.is<TypeValue>())
      known.typed[entry.name] = &entry;
  }
  for (const NetInput &input : inputs)
    if (!fields.contains(input.name))
      known.missing.push_back(input.name);
  if (auto loss = keys.find("loss"); loss != keys.end())
    for (antlr4::Token *token : tokensOf(loss->second.expr))
      known.inLoss.insert(token->getText());
  return known;
}

/// The shape of a field with this type, by examples. None after an error.
static std::optional<TensorBuilder::Sizes>
shapeOfField(Evaluator &e, Scope &axes, const TypeValue &type) {
  InScope in(e.frame->scope, &axes);
  std::optional<TensorBuilder::Sizes> sizes =
      e.tensors.declare(type, /*isNet=*/false);
  if (!sizes)
    return std::nullopt;
  sizes->shape.sizes.insert(sizes->shape.sizes.begin(),
                            Polynomial::symbol(kBatchAxis));
  sizes->labels.insert(sizes->labels.begin(), Label(kBatchAxis.str()));
  TensorBuilder::dropDoubled(sizes->labels);
  return sizes;
}

bool RunBuilder::addInput(const NetInput &input, Lookups &known,
                          std::vector<StringRef> &argumentNames,
                          llvm::SmallVectorImpl<mlir::Value> &values) {
  mlir::Type element = input.element;
  if (const SectionEntry *field = known.typed.lookup(input.name)) {
    auto *type = field->value.as<TypeValue>();
    std::optional<TensorBuilder::Sizes> sizes =
        shapeOfField(e, known.axes, *type);
    if (!sizes)
      return false;
    if (!(sizes->shape == input.shape)) {
      e.fail(field->at, error::FieldShape, field->name,
             TensorBuilder::sizesText(sizes->shape),
             TensorBuilder::sizesText(input.shape));
      return false;
    }
    element = type->element;
  }
  mlir::Value argument = e.graph->entry->addArgument(
      tensorOf(element, input.shape), e.locationOf(input.tree));
  argumentNames.push_back(input.name);
  if (element != input.element)
    argument = e.builder.create<ConvertOp>(e.tensors.opLocation(job, "convert"),
                                           tensorOf(input.element, input.shape),
                                           argument);
  values.push_back(argument);
  return true;
}

bool RunBuilder::addField(const SectionEntry &entry, Lookups &known,
                          std::vector<StringRef> &argumentNames) {
  auto &[name, value, at] = entry;
  auto *type = value.as<TypeValue>();
  if (!type || known.inputs.contains(name) || isInference())
    return true;
  bool isOthers = job->expr().size() < 2;
  std::string meant = known.inLoss.contains(name) || isOthers
                          ? ""
                          : e.nearest(name, known.missing);
  if (!meant.empty())
    e.fail(at, error::UnknownInput, name, meant);
  std::optional<TensorBuilder::Sizes> sizes =
      shapeOfField(e, known.axes, *type);
  if (!sizes)
    return false;
  mlir::Value argument = e.graph->entry->addArgument(
      tensorOf(type->element, sizes->shape), e.locationOf(at));
  argumentNames.push_back(name);
  fields.push_back({name, Tensor{argument, sizes->labels}});
  return true;
}

bool RunBuilder::addInputs() {
  std::vector<StringRef> argumentNames;
  llvm::SmallVector<mlir::Value> values;
  Lookups known = lookups();
  for (const NetInput &input : inputs)
    if (!addInput(input, known, argumentNames, values))
      return false;
  for (const SectionEntry &entry : dataset)
    if (!addField(entry, known, argumentNames))
      return false;
  step.setInputsAttr(e.builder.getStrArrayAttr(argumentNames));
  mlir::NamedAttrList classes;
  for (const SectionEntry &entry : dataset)
    if (auto *type = entry.value.as<TypeValue>(); type && type->classes)
      classes.set(entry.name, PolynomialAttr::get(e.context, *type->classes));
  step.setClassesAttr(classes.getDictionary(e.context));
  results = e.program.applyNet(job, *net, inputs, values);
  for (auto [input, value] : llvm::zip_equal(inputs, values))
    fields.push_back({input.name, Tensor{value, input.labels}});
  return results.results != nullptr;
}

bool RunBuilder::addLoss() {
  Scope scope;
  auto add = [&](const std::string &name, Value value) {
    value.results = nullptr;
    if (!name.empty())
      scope.names.try_emplace(name, value);
  };
  for (auto &[name, value] : *results.results)
    add(name, value);
  for (auto &[name, tensor] : fields)
    add(name, tensor);
  for (const SectionEntry &entry : dataset)
    if (entry.value.isUnknown())
      add(entry.name, Value());
  Value loss;
  auto key = keys.find("loss");
  if (key == keys.end()) {
    auto found = scope.names.find("loss");
    if (found == scope.names.end()) {
      e.fail(job, error::NoLoss);
      return false;
    }
    loss = found->second;
  } else {
    Identity identity;
    identity.path = e.applier.unique(*e.graph->root, "loss");
    Frame inner = *e.frame;
    inner.scope = &scope;
    inner.self = &identity;
    InFrame in(e.frame, &inner);
    Lookups known = lookups();
    for (StringRef name : known.inLoss.keys())
      if (auto axis = known.axes.names.find(name);
          axis != known.axes.names.end() && !e.nameTable.lookup(name))
        add(name.str(), axis->second);
    loss = e.eval(key->second.expr);
  }
  if (loss.isUnknown())
    return false;
  auto *tensor = loss.as<Tensor>();
  if (!tensor || !tensor->labels.empty()) {
    e.fail(placeOf("loss"), error::LossNotScalar,
           tensor ? "a tensor " + TensorBuilder::axesText(*tensor) +
                        "; take its `mean`"
                  : kindOf(loss) + e.calls.lackOf(loss) +
                        (loss.is<std::string>()
                             ? "; call it, as in `mse(y, target)`"
                             : ""));
    return false;
  }
  addReturn(placeOf("loss"), tensor->value, {"loss"});
  return true;
}

void RunBuilder::addReturn(Tree *at, mlir::ValueRange values,
                           llvm::ArrayRef<StringRef> names) {
  auto op = e.builder.create<ReturnOp>(e.locationOf(at), values,
                                       e.builder.getStrArrayAttr(names));
  // The other keys of the run may compute something, if only by mistake.
  e.builder.setInsertionPoint(op);
}

bool RunBuilder::addResults() {
  llvm::SmallVector<mlir::Value> values;
  std::vector<StringRef> resultNames;
  for (auto &[name, value] : *results.results)
    if (auto *tensor = value.as<Tensor>()) {
      values.push_back(tensor->value);
      resultNames.push_back(name.empty() ? "result" : StringRef(name));
    }
  addReturn(job, values, resultNames);
  for (auto weight : e.graph->entry->getOps<ParameterOp>())
    weight.setTrainable(false);
  return true;
}

/// Collects the weights that applications of `block` own in `identity` and in
/// its parts.
static void collectWeights(const Identity &identity, const BlockDecl *block,
                           bool isIn, llvm::DenseSet<mlir::Operation *> &into) {
  isIn |= !block || identity.block == block;
  if (isIn)
    for (auto &[place, weight] : identity.weights)
      into.insert(weight.value.getDefiningOp());
  for (auto &[place, child] : identity.children)
    collectWeights(*child, block, isIn, into);
}

/// Adds `op` and what it depends on to `ops`. Returns the weights that learn
/// among those that were not in it.
static llvm::SmallVector<ParameterOp>
addDependences(mlir::Operation *op, llvm::SetVector<mlir::Operation *> &ops) {
  size_t added = ops.size();
  ops.insert(op);
  llvm::SmallVector<ParameterOp> learning;
  // The list grows in the loop.
  for (; added < ops.size(); ++added) {
    auto weight = mlir::dyn_cast<ParameterOp>(ops[added]);
    if (weight && weight.getTrainable())
      learning.push_back(weight);
    ops[added]->walk([&](mlir::Operation *inner) {
      for (mlir::Value operand : inner->getOperands())
        if (mlir::Operation *producer = operand.getDefiningOp())
          ops.insert(producer);
    });
  }
  return learning;
}

void RunBuilder::warnOfLoss() {
  mlir::Block &entry = *e.graph->entry;
  if (entry.getOps<ParameterOp>().empty())
    return;
  llvm::SetVector<mlir::Operation *> ofLoss;
  if (addDependences(entry.getTerminator(), ofLoss).empty())
    return e.warn(placeOf("loss"), symbol(), WarningId::NothingLearns,
                  "the loss depends on no weight that learns, so "
                  "nothing is trained");
  for (auto &[name, value] : *results.results) {
    auto *tensor = value.as<Tensor>();
    mlir::Operation *maker = tensor ? tensor->value.getDefiningOp() : nullptr;
    llvm::SmallVector<ParameterOp> others;
    if (maker)
      others = addDependences(maker, ofLoss);
    if (others.empty())
      continue;
    e.warn(placeOf("loss"), symbol(), WarningId::NoGradient,
           "the loss does not depend on " +
               (name.empty() ? "a result" : "`" + name + "`") +
               ", so what only this needs is not counted, such as `" +
               others.front().getName().str() + "`");
  }
}

/// Whether a path is that of a copy that represents others, or a part of one.
static bool isInRolled(StringRef path, ParameterOp weight) {
  auto rolled = weight->getAttrOfType<mlir::DictionaryAttr>(kRolled);
  return rolled && llvm::any_of(rolled, [&](mlir::NamedAttribute repeat) {
           StringRef rest = path;
           return rest.consume_front(repeat.getName()) &&
                  (rest.empty() || rest.front() == '.');
         });
}

bool RunBuilder::freezeAllBut() {
  auto key = keys.find("updates");
  if (key == keys.end())
    return true;
  std::vector<Expr *> parts{key->second.expr};
  if (auto *list = ruleCast<NetParser::ListContext>(parts[0]);
      list && !list->comp()) {
    parts.clear();
    for (NetParser::AxisContext *axis : list->axis())
      parts.push_back(axis->value);
  }
  if (parts.empty())
    e.fail(key->second.expr, error::UpdatesNothing);
  std::multimap<StringRef, ParameterOp> weights; // those in a part are in a row
  for (auto weight : e.graph->entry->getOps<ParameterOp>())
    weights.emplace(weight.getName(), weight);
  llvm::DenseSet<mlir::Operation *> trained;
  for (Expr *part : parts) {
    size_t before = trained.size();
    std::string path = pathOf(part);
    auto train = [&](ParameterOp weight) {
      trained.insert(weight);
      if (isInRolled(path, weight))
        e.needCopies();
    };
    for (auto &[name, weight] : llvm::make_range(weights.equal_range(path)))
      train(weight);
    std::string inPart = path + ".";
    for (auto next = weights.lower_bound(inPart);
         next != weights.end() && next->first.starts_with(inPart); ++next)
      train(next->second);
    if (trained.size() > before)
      continue;
    Value value = e.eval(part);
    std::vector<Value> items{value};
    if (auto *list = value.as<List>())
      items = *list->items;
    for (const Value &item : items)
      if (auto *instance = item.as<std::shared_ptr<Instance>>())
        collectWeights(*(*instance)->identity, nullptr, true, trained);
      else if (auto *function = item.as<Function>();
               function && function->block)
        collectWeights(*e.graph->root, function->block, false, trained);
    if (trained.size() > before)
      continue;
    if (!value.isUnknown())
      e.fail(part, error::UpdatesNoWeights, sourceText(part));
    return false;
  }
  for (auto weight : e.graph->entry->getOps<ParameterOp>())
    if (!trained.contains(weight))
      weight.setTrainable(false);
  return true;
}

//===----------------------------------------------------------------------===//
// All together
//===----------------------------------------------------------------------===//

bool netc::isUnitOfSizes(const Dimension &dimension) {
  return dimension.isNone() || dimension == Dimension::Example ||
         dimension == Dimension::Token;
}

mlir::Operation *RunBuilder::build(mlir::ModuleOp into) {
  Activity activity("elaborating the run", symbol());
  mlir::OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPointToEnd(into.getBody());
  return jobsIn(job).empty() ? buildStep(into) : buildJob(into);
}

mlir::Operation *RunBuilder::buildStep(mlir::ModuleOp into) {
  mlir::OpBuilder &builder = e.builder;
  Expr *expr = netExpr();
  step = builder.create<StepOp>(
      e.locationOf(job), builder.getStringAttr(symbol()),
      builder.getStrArrayAttr({}),
      builder.getStringAttr(expr ? expr->getText() : ""),
      builder.getDictionaryAttr({}), RunAttr::get(e.context, {}),
      builder.getDictionaryAttr({}));
  mlir::Block *entry = builder.createBlock(&step.getBody());
  Evaluator::GraphScope scope(e, file, entry);
  e.graph->training = !isInference();
  unsigned before = e.errorCount();
  auto elaborate = [&] {
    if (!collect())
      return;
    if (isFacts) {
      addReturn(job, {}, {});
      if (addSchedule())
        addHardware();
      return checkRequires();
    }
    e.graph->marksCopies = keys.count("recompute");
    if (!addInputs())
      return;
    bool isMade = isInference() ? addResults() && addSchedule()
                                : addLoss() && freezeAllBut() &&
                                      addSchedule() && addLossScale() &&
                                      addRecomputation() && addOptimizer();
    if (isMade)
      addHardware();
    run.shared.assign(e.graph->instances.begin(), e.graph->instances.end());
    if (isMade && !isInference() && !isReported())
      warnOfLoss();
    checkRequires();
  };
  elaborate();
  if (e.errorCount() != before) {
    step.erase();
    return nullptr;
  }
  run.isInference = isInference();
  step.setAxesAttr(axesAttr());
  step.setRunAttr(RunAttr::get(e.context, run));
  return step;
}

mlir::Operation *RunBuilder::buildJob(mlir::ModuleOp into) {
  mlir::OpBuilder &builder = e.builder;
  Expr *expr = netExpr();
  auto op =
      builder.create<JobOp>(e.locationOf(job), builder.getStringAttr(symbol()),
                            builder.getStrArrayAttr({}),
                            builder.getStringAttr(expr ? expr->getText() : ""),
                            RunAttr::get(e.context, {}));
  unsigned before = e.errorCount();
  {
    mlir::Block scratch;
    Evaluator::GraphScope scope(e, file, &scratch);
    if (collect()) {
      if (addSchedule())
        addHardware();
      checkRequires();
    }
  }
  std::vector<std::string> jobs;
  std::vector<StringRef> jobNames;
  bool isCounted = false, hasParts = false;
  if (e.errorCount() == before)
    for (NetParser::JobContext *inner : jobsIn(job)) {
      RunBuilder innerBuilder(e, file, inner, point, this, isFacts);
      if (llvm::is_contained(jobs, innerBuilder.symbol()))
        e.fail(inner, error::DuplicateJob, nameOf(inner));
      else
        innerBuilder.build(into);
      jobs.push_back(innerBuilder.symbol());
      isCounted |= !innerBuilder.run.isTuning;
      hasParts |= innerBuilder.run.times.has_value();
    }
  if (auto own = keys.find("duration"); own != keys.end() &&
                                        isOwn("duration") && !hasParts &&
                                        e.errorCount() == before)
    e.fail(own->second.at, error::NothingInSteps, nameOf(job));
  if (!isCounted && e.errorCount() == before)
    e.fail(job, error::AllTuning, nameOf(job));
  for (auto &[name, key] : keys)
    if (isOwn(name) && !llvm::is_contained(runKeys, name) &&
        !axes.count(name) && !taken.contains(name))
      failUnknownKey(name, {});
  if (e.errorCount() != before) {
    op.erase();
    return nullptr;
  }
  jobNames.assign(jobs.begin(), jobs.end());
  op.setJobsAttr(builder.getStrArrayAttr(jobNames));
  op.setRunAttr(RunAttr::get(e.context, run));
  return op;
}
