// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// `train`: a run becomes a net.step, with what it says of itself in attributes.

#include "lib/Frontend/Elaborator.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

namespace {
using Key = std::pair<FileScope *, NetParser::BindContext *>;
/// The keys of a run or dataset, in text order.
using Keys = llvm::MapVector<std::string, Key, llvm::StringMap<unsigned>>;
} // namespace

static const char *const runKeys[] = {
    "loss",        "batch", "duration", "optimizer", "precision",
    "hardware",    "peak",  "parallel", "placement", "took",
    "utilization", "count", "like",     "seed"};
static const char *const laterKeys[] = {"recompute", "updates", "times",
                                        "decode"};

namespace netc {
/// Elaborates one run.
class RunBuilder {
public:
  RunBuilder(Elaborator &e, FileScope &file, NetParser::JobContext *job,
             const Elaborator::Point &point)
      : e(e), file(file), job(job), point(point) {}

  StepOp build(mlir::ModuleOp into);

private:
  using Tree = antlr4::ParserRuleContext;

  bool collectKeys(NetParser::JobContext *from, bool isLike);
  bool collectDataset();
  std::optional<Value> valueOf(StringRef key);
  std::optional<Number> numberOf(StringRef key);
  bool collectAxes();
  bool addInputs();
  bool addLoss();
  bool addOptimizer();
  bool addSchedule();
  bool addHardware();
  /// The peaks of a `hardware` section of the file, if the device is one.
  bool addDevice(const std::string &device);
  Tree *placeOf(StringRef key) {
    auto found = keys.find(key.str());
    return found == keys.end() ? static_cast<Tree *>(job)
                               : found->second.second->expr();
  }
  void set(StringRef name, const Polynomial &value) {
    run.set(name, PolynomialAttr::get(e.context, value));
  }

  Elaborator &e;
  FileScope &file;
  NetParser::JobContext *job;
  const Elaborator::Point &point;
  Keys keys;
  llvm::SmallPtrSet<NetParser::JobContext *, 4> liked;
  std::vector<std::pair<std::string, Value>> dataset;
  Tree *datasetPlace = nullptr;
  StepOp step;
  std::shared_ptr<Instance> net;
  std::vector<NetInput> inputs;
  llvm::MapVector<std::string, Moments, llvm::StringMap<unsigned>> axes;
  std::vector<std::pair<std::string, Tensor>> fields;
  Value results;
  Scope names; ///< keys as `require` sees them
  mlir::NamedAttrList run;
};
} // namespace netc

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

bool RunBuilder::collectKeys(NetParser::JobContext *from, bool isLike) {
  if (!from->body())
    return true;
  for (NetParser::StmtContext *stmt : from->body()->stmt()) {
    auto *bind = ruleCast<NetParser::BindContext>(stmt);
    if (!bind) {
      if (ruleCast<NetParser::JobStmtContext>(stmt))
        e.fail(stmt, "a job inside another is not there yet; write one `train` "
                     "after the other");
      else if (!isLike && !ruleCast<NetParser::RequireContext>(stmt) &&
               !ruleCast<NetParser::ExpectContext>(stmt) &&
               !ruleCast<NetParser::SweepContext>(stmt))
        e.fail(stmt, "a run holds keys, `require`, `expect` and `sweep`");
      continue;
    }
    for (NetParser::TargetContext *target : bind->target()) {
      std::string name = target->getStart()->getText();
      if (isLike && (name == "took" || keys.count(name)))
        continue;
      if (llvm::is_contained(laterKeys, name))
        e.fail(bind, "`" + name + "` is not there yet");
      if (!keys.insert({name, {&file, bind}}).second)
        e.fail(bind, "`" + name + "` is given twice");
    }
  }
  auto like = keys.find("like");
  if (like == keys.end())
    return true;
  auto *bind = like->second.second;
  keys.erase(like);
  auto other = file.names.find(bind->expr()->getText());
  auto *otherJob = other == file.names.end()
                       ? nullptr
                       : ruleCast<NetParser::JobContext>(other->second.tree);
  if (!otherJob) {
    std::vector<std::string> runs;
    for (auto &[name, entry] : file.names)
      if (ruleCast<NetParser::JobContext>(entry.tree))
        runs.push_back(name);
    e.fail(bind->expr(), "there is no run `" + bind->expr()->getText() + "`" +
                             e.didYouMean(bind->expr()->getText(), runs));
    return false;
  }
  if (liked.insert(otherJob).second)
    return collectKeys(otherJob, true);
  e.fail(bind, "runs are `like` each other in a circle");
  return false;
}

std::optional<Value> RunBuilder::valueOf(StringRef key) {
  for (auto &[name, value] : point)
    if (name == key)
      return value;
  auto known = names.names.find(key);
  if (known != names.names.end())
    return known->second;
  auto found = keys.find(key.str());
  if (found == keys.end())
    return std::nullopt;
  Value value = e.eval(found->second.second->expr());
  names.names[key] = value;
  return value;
}

std::optional<Number> RunBuilder::numberOf(StringRef key) {
  std::optional<Value> value = valueOf(key);
  if (!value || value->isUnknown())
    return std::nullopt;
  std::optional<Number> number = netc::numberOf(*value);
  if (!number || number->real || !number->exact.constant()) {
    e.fail(placeOf(key),
           "`" + key + "` takes a number, this is " + kindOf(*value));
    return std::nullopt;
  }
  return number;
}

bool RunBuilder::collectDataset() {
  if (job->expr().size() < 2)
    return true;
  datasetPlace = job->expr(1);
  Value value = e.eval(job->expr(1));
  auto *section = value.as<Section>();
  if (!section || section->tree->kind->getText() != "dataset") {
    if (!value.isUnknown())
      e.fail(datasetPlace,
             "expected a dataset behind `on`, this is " + kindOf(value));
    return false;
  }
  if (section->tree->params()) {
    e.fail(datasetPlace, "a dataset with parameters is not there yet");
    return false;
  }
  Scope scope;
  Frame inner;
  inner.file = section->file;
  inner.scope = &scope;
  Frame *outer = std::exchange(e.frame, &inner);
  auto leave = llvm::make_scope_exit([&] { e.frame = outer; });
  for (NetParser::StmtContext *stmt : section->tree->body()->stmt()) {
    auto *bind = ruleCast<NetParser::BindContext>(stmt);
    if (!bind) {
      e.fail(stmt,
             "a dataset holds `examples` or `tokens`, free axes and fields");
      continue;
    }
    for (NetParser::TargetContext *target : bind->target()) {
      Value entry = e.eval(bind->expr());
      scope.names[target->getStart()->getText()] = entry;
      dataset.push_back({target->getStart()->getText(), entry});
    }
  }
  return true;
}

bool RunBuilder::collectAxes() {
  std::vector<std::string> symbols;
  for (const NetInput &input : inputs)
    for (const Polynomial &size : input.shape.sizes)
      for (const std::string &symbol : size.symbols())
        if (!llvm::is_contained(symbols, symbol))
          symbols.push_back(symbol);
  auto give = [&](const std::string &name, const Value &value, Tree *at) {
    std::optional<Number> number = netc::numberOf(value);
    if (auto *distribution = value.as<Distribution>()) {
      axes.insert({name, distribution->moments});
      return;
    }
    std::optional<Rational> size =
        number && !number->real ? number->exact.constant() : std::nullopt;
    if (!size || !size->isInteger() || *size < Rational(1)) {
      if (!value.isUnknown())
        e.fail(at, "axis `" + name + "` takes a size or a `mean`, not " +
                       textOf(value));
      return;
    }
    axes.insert({name, Moments(*size)});
  };
  for (auto &[name, key] : keys) {
    if (llvm::is_contained(runKeys, name) ||
        llvm::is_contained(laterKeys, name))
      continue;
    if (llvm::is_contained(symbols, name) && name != "N") {
      if (std::optional<Value> value = valueOf(name))
        give(name, *value, placeOf(name));
      continue;
    }
    std::vector<std::string> known(std::begin(runKeys), std::end(runKeys));
    llvm::append_range(known, symbols);
    e.fail(key.second,
           "a run has no key `" + name + "`" + e.didYouMean(name, known));
  }
  for (auto &[name, value] : point)
    if (llvm::is_contained(symbols, name) && !axes.count(name))
      give(name, value, job);
  for (auto &[name, value] : dataset)
    if (llvm::is_contained(symbols, name) && !axes.count(name))
      give(name, value, datasetPlace);
  return true;
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

bool RunBuilder::addInputs() {
  mlir::Block *entry = e.graph->entry;
  std::vector<StringRef> argumentNames;
  llvm::SmallVector<mlir::Value> values;
  // The axes of the net, for the types of fields.
  Scope scope;
  for (const NetInput &input : inputs)
    for (auto [label, size] : llvm::zip_equal(input.labels, input.shape.sizes))
      if (!label.empty())
        scope.names[label] = Axis{label, size, -1};
  Polynomial batch = Polynomial::symbol("N");
  auto shapeOfField =
      [&](const TypeValue &type) -> std::optional<Elaborator::Sizes> {
    Scope *outer = std::exchange(e.frame->scope, &scope);
    std::optional<Elaborator::Sizes> sizes = e.declare(type, /*isNet=*/false);
    e.frame->scope = outer;
    if (!sizes)
      return std::nullopt;
    sizes->shape.sizes.insert(sizes->shape.sizes.begin(), batch);
    sizes->labels.insert(sizes->labels.begin(), "N");
    Elaborator::dropDoubled(sizes->labels);
    return sizes;
  };
  for (const NetInput &input : inputs) {
    mlir::Type element = input.element;
    for (auto &[name, value] : dataset) {
      auto *type = value.as<TypeValue>();
      if (name != input.name || !type)
        continue;
      std::optional<Elaborator::Sizes> sizes = shapeOfField(*type);
      if (!sizes)
        return false;
      if (!(sizes->shape == input.shape)) {
        e.fail(datasetPlace, "field `" + name + "` is " +
                                 Elaborator::sizesText(sizes->shape) +
                                 ", the net's input " +
                                 Elaborator::sizesText(input.shape));
        return false;
      }
      element = type->element;
    }
    mlir::Value argument = entry->addArgument(tensorOf(element, input.shape),
                                              e.locationOf(input.tree));
    argumentNames.push_back(input.name);
    if (element != input.element)
      argument = e.builder.create<ConvertOp>(
          e.opLocation(job, "convert"), tensorOf(input.element, input.shape),
          argument);
    values.push_back(argument);
  }
  for (auto &[name, value] : dataset) {
    auto *type = value.as<TypeValue>();
    bool isInput =
        llvm::any_of(inputs, [&](const NetInput &i) { return i.name == name; });
    if (!type || isInput)
      continue;
    std::optional<Elaborator::Sizes> sizes = shapeOfField(*type);
    if (!sizes)
      return false;
    mlir::Value argument = entry->addArgument(
        tensorOf(type->element, sizes->shape), e.locationOf(datasetPlace));
    argumentNames.push_back(name);
    fields.push_back({name, Tensor{argument, sizes->labels}});
  }
  step.setInputsAttr(e.builder.getStrArrayAttr(argumentNames));
  results = e.applyNet(job, *net, inputs, values);
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
  Value loss;
  auto key = keys.find("loss");
  if (key == keys.end()) {
    auto found = scope.names.find("loss");
    if (found == scope.names.end()) {
      e.fail(job, "`train` needs a `loss`, or a net that returns `loss`");
      return false;
    }
    loss = found->second;
  } else {
    Identity identity;
    identity.path = e.unique(*e.graph->root, "loss");
    Frame inner = *e.frame;
    inner.scope = &scope;
    inner.self = &identity;
    Frame *outer = std::exchange(e.frame, &inner);
    loss = e.eval(key->second.second->expr());
    e.frame = outer;
  }
  if (loss.isUnknown())
    return false;
  auto *tensor = loss.as<Tensor>();
  if (!tensor || !tensor->labels.empty()) {
    e.fail(placeOf("loss"),
           "the loss must be a scalar, this is " +
               (tensor ? "a tensor " + Elaborator::axesText(*tensor) +
                             "; take its `mean`"
                       : kindOf(loss)));
    return false;
  }
  e.builder.create<ReturnOp>(e.locationOf(placeOf("loss")),
                             mlir::ValueRange(tensor->value),
                             e.builder.getStrArrayAttr({"loss"}));
  return true;
}

bool RunBuilder::addOptimizer() {
  std::optional<Value> value = valueOf("optimizer");
  if (!value)
    return true;
  Tree *at = placeOf("optimizer");
  if (value->isUnknown())
    return false;
  mlir::OpBuilder &builder = e.builder;
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(step.getReturn());
  auto optimizer = builder.create<OptimizerOp>(e.locationOf(at));
  mlir::Block *body = builder.createBlock(&optimizer.getBody());
  mlir::Type f32 = builder.getF32Type();
  mlir::RankedTensorType any =
      tensorOf(f32, Shape(llvm::ArrayRef(Polynomial::symbol("P"))));
  mlir::Location location = e.locationOf(at);
  std::pair<const char *, mlir::Value> given[] = {
      {"parameter", body->addArgument(any, location)},
      {"gradient", body->addArgument(any, location)},
      {"step", body->addArgument(tensorOf(f32, Shape()), location)}};
  Identity identity;
  identity.path = "optimizer";
  Frame inner = *e.frame;
  inner.self = &identity;
  Frame *outer = std::exchange(e.frame, &inner);
  e.graph->step = given[2].second;
  if (auto steps = mlir::dyn_cast_or_null<PolynomialAttr>(run.get("steps")))
    e.graph->steps = steps.getValue().constant();
  auto leave = llvm::make_scope_exit([&] {
    e.frame = outer;
    e.graph->step = nullptr;
  });
  // Evaluated again, so that its names are the optimizer's.
  Value callee = e.eval(static_cast<NetParser::ExprContext *>(at));
  std::shared_ptr<Instance> instance;
  if (auto *function = callee.as<Function>(); function && !function->builtin) {
    instance = e.instantiate(at, callee);
    if (!e.completeSettings(at, *instance))
      return false;
  } else if (auto *made = callee.as<std::shared_ptr<Instance>>()) {
    instance = std::make_shared<Instance>(**made);
  }
  if (!instance || instance->isComposition()) {
    if (!callee.isUnknown())
      e.fail(at, "an optimizer is a block that lacks `parameter` and "
                 "`gradient`, this is " +
                     kindOf(callee));
    return false;
  }
  const Parameters &all = e.parametersOf(instance->function);
  for (auto [parameter, slot] : llvm::zip_equal(all.tensors, instance->tensors))
    for (auto &[name, tensor] : given)
      if (slot.empty() && parameter.name == name)
        slot = {Tensor{tensor, Labels(shapeOf(tensor).rank())}};
  for (auto [parameter, slot] : llvm::zip_equal(all.tensors, instance->tensors))
    if (parameter.required && slot.empty()) {
      e.fail(at, "`" + instance->function.name + "` needs `" + parameter.name +
                     "`");
      return false;
    }
  unsigned before = e.errors;
  e.apply(at, *instance);
  return e.errors == before;
}

//===----------------------------------------------------------------------===//
// Steps and hardware
//===----------------------------------------------------------------------===//

bool RunBuilder::addSchedule() {
  auto dimensionIs = [](const Number &number, Dimension::Base base) {
    return number.dimension == Dimension(base);
  };
  // Tokens of one example: the elements of the first input, if it holds
  // numbers.
  std::optional<Rational> tokensPerExample;
  if (!inputs.empty() && mlir::isa<mlir::IntegerType>(inputs.front().element)) {
    Polynomial elements =
        inputs.front().shape.elements() / Polynomial::symbol("N");
    tokensPerExample =
        elements
            .evaluate([&](StringRef symbol,
                          unsigned power) -> std::optional<Rational> {
              auto found = axes.find(symbol.str());
              if (found == axes.end())
                return std::nullopt;
              return found->second.moment(power);
            })
            .constant();
  }
  std::optional<Rational> datasetExamples, datasetTokens;
  for (auto &[name, value] : dataset)
    if (name == "examples" || name == "tokens") {
      std::optional<Number> number = netc::numberOf(value);
      std::optional<Rational> size =
          number && !number->real ? number->exact.constant() : std::nullopt;
      if (!size || *size <= Rational(0)) {
        e.fail(datasetPlace,
               "`" + name + "` of a dataset takes a positive number");
        return false;
      }
      (name == "examples" ? datasetExamples : datasetTokens) = size;
    }
  if (datasetExamples && !datasetTokens && tokensPerExample)
    datasetTokens = *datasetExamples * *tokensPerExample;
  if (datasetTokens && !datasetExamples && tokensPerExample)
    datasetExamples = *datasetTokens / *tokensPerExample;

  std::optional<Number> batch = numberOf("batch");
  if (!batch) {
    if (!valueOf("batch"))
      e.fail(job, "a run needs `batch`, the examples or tokens of a step");
    return false;
  }
  Rational examplesPerStep = *batch->exact.constant();
  if (examplesPerStep <= Rational(0)) {
    e.fail(placeOf("batch"), "a batch holds at least one example");
    return false;
  }
  if (dimensionIs(*batch, Dimension::Token)) {
    if (!tokensPerExample) {
      e.fail(placeOf("batch"),
             "a batch in tokens needs a net whose first input holds whole "
             "numbers, of an axis whose size is known; give the batch in "
             "examples");
      return false;
    }
    examplesPerStep = examplesPerStep / *tokensPerExample;
  } else if (!batch->dimension.isNone() &&
             !dimensionIs(*batch, Dimension::Example)) {
    e.fail(placeOf("batch"),
           "`batch` takes examples or tokens, not " + batch->dimension.str());
    return false;
  }
  axes.insert({"N", Moments(examplesPerStep)});
  set("batch", examplesPerStep);

  std::optional<Number> duration = numberOf("duration");
  if (!duration)
    return !valueOf("duration");
  Rational amount = *duration->exact.constant();
  std::optional<Rational> steps, examples;
  Tree *at = placeOf("duration");
  if (dimensionIs(*duration, Dimension::Step)) {
    steps = amount;
    examples = amount * examplesPerStep;
  } else if (dimensionIs(*duration, Dimension::Epoch)) {
    if (!datasetExamples) {
      e.fail(at, "a duration in epochs needs a dataset with `examples`");
      return false;
    }
    examples = amount * *datasetExamples;
    set("epochs", amount);
  } else if (dimensionIs(*duration, Dimension::Example)) {
    examples = amount;
  } else if (dimensionIs(*duration, Dimension::Token)) {
    if (!tokensPerExample) {
      e.fail(at, "a duration in tokens needs a net whose first input holds "
                 "whole numbers");
      return false;
    }
    examples = amount / *tokensPerExample;
  } else if (dimensionIs(*duration, Dimension::Time)) {
    e.fail(at, "a time is not a duration; write `took = " + sourceText(at) +
                   "` and the duration in epochs, steps, examples or tokens");
    return false;
  } else {
    e.fail(at, "`duration` needs a unit: epochs, steps, examples or tokens");
    return false;
  }
  if (!steps)
    steps = (*examples / examplesPerStep).ceil();
  set("steps", *steps);
  set("examples", *examples);
  if (tokensPerExample)
    set("tokens", *examples * *tokensPerExample);
  if (datasetExamples && !run.get("epochs"))
    set("epochs", *examples / *datasetExamples);
  return true;
}

bool RunBuilder::addHardware() {
  auto text = [&](StringRef key) {
    auto found = keys.find(key.str());
    if (found == keys.end())
      return;
    run.set(key,
            e.builder.getStringAttr(found->second.second->expr()->getText()));
    run.set((key + "_at").str(), e.locationOf(placeOf(key)));
  };
  text("precision");
  text("placement");
  if (std::optional<Number> hardware = numberOf("hardware")) {
    if (hardware->dimension != Dimension(Dimension::Device)) {
      e.fail(placeOf("hardware"),
             "`hardware` takes a number of devices, such as `8 V100`");
      return false;
    }
    set("devices", hardware->exact);
    run.set("device", e.builder.getStringAttr(hardware->device));
    run.set("device_at", e.locationOf(placeOf("hardware")));
    if (!addDevice(hardware->device))
      return false;
  }
  auto quantity = [&](StringRef key, Dimension dimension, StringRef expected) {
    std::optional<Number> number = numberOf(key);
    if (!number)
      return;
    if (number->dimension != dimension)
      e.fail(placeOf(key),
             "`" + key + "` takes " + expected + ", not " +
                 (number->dimension.isNone() ? "a plain number"
                                             : number->dimension.str()));
    else
      set(key, number->exact);
  };
  quantity("utilization", {}, "a share such as `30%`");
  if (std::optional<Value> peak = valueOf("peak"); peak && peak->is<Number>())
    quantity("peak", Dimension(Dimension::Flop) / Dimension(Dimension::Time),
             "a rate such as `125 TFLOP/s`");
  if (std::optional<Number> took = numberOf("took")) {
    Dimension time = Dimension::Time, device = Dimension::Device,
              flop = Dimension::Flop;
    if (took->dimension == time)
      set("took", took->exact);
    else if (took->dimension == time * device)
      set("took_device_seconds", took->exact);
    else if (took->dimension == flop)
      set("took_flop", took->exact);
    else
      e.fail(placeOf("took"),
             "`took` takes a time, such as `12 hours`, or a device-time, such "
             "as `2500 V100-days`");
    if (!took->device.empty())
      run.set("took_device", e.builder.getStringAttr(took->device));
  }
  if (std::optional<Value> count = valueOf("count")) {
    auto *record = count->as<Record>();
    if (!record) {
      e.fail(placeOf("count"), "`count` takes a record, such as `{ fma = 1 }`");
      return false;
    }
    for (auto &[name, value] : *record->fields) {
      std::optional<Number> number = netc::numberOf(value);
      auto *word = value.as<std::string>();
      if (name == "fma" && number &&
          (number->exact == Polynomial(1) || number->exact == Polynomial(2)))
        set("fma", number->exact);
      else if (name == "causal" && word && (*word == "full" || *word == "half"))
        run.set("causal", e.builder.getStringAttr(*word));
      else
        e.fail(placeOf("count"), "`count` takes `fma = 1` or `2` and `causal = "
                                 "\"full\"` or `\"half\"`");
    }
  }
  valueOf("parallel");
  return true;
}

bool RunBuilder::addDevice(const std::string &device) {
  auto found = file.names.find(device);
  if (found == file.names.end())
    return true; // the accelerator table knows it, or says that it does not
  auto *section = ruleCast<NetParser::SectionContext>(found->second.tree);
  if (!section || section->kind->getText() != "hardware") {
    e.fail(placeOf("hardware"), "`" + device + "` is not a `hardware` section");
    return false;
  }
  for (NetParser::StmtContext *stmt : section->body()->stmt()) {
    auto *bind = ruleCast<NetParser::BindContext>(stmt);
    if (!bind)
      continue;
    std::string key = bind->target(0)->getStart()->getText();
    Value value = e.eval(bind->expr());
    auto setPeak = [&](const std::string &name, const Value &rate) {
      std::optional<Number> number = netc::numberOf(rate);
      if (number && number->dimension ==
                        Dimension(Dimension::Flop) / Dimension(Dimension::Time))
        set(name, number->exact);
      else if (!rate.isUnknown())
        e.fail(bind, "`peak` takes rates such as `125 TFLOP/s`, this is " +
                         textOf(rate));
    };
    if (key != "peak")
      continue;
    if (auto *record = value.as<Record>())
      for (auto &[format, rate] : *record->fields)
        setPeak("peak_" + format, rate);
    else
      setPeak("peak", value);
  }
  return true;
}

StepOp RunBuilder::build(mlir::ModuleOp into) {
  mlir::OpBuilder &builder = e.builder;
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(into.getBody());
  std::string symbol =
      job->ID() ? job->ID()->getText() : job->expr(0)->getText() + "_run";
  step = builder.create<StepOp>(
      e.locationOf(job), builder.getStringAttr(symbol),
      builder.getStrArrayAttr({}),
      builder.getStringAttr(job->expr(0)->getText()),
      builder.getDictionaryAttr({}), builder.getDictionaryAttr({}));
  mlir::Block *entry = builder.createBlock(&step.getBody());
  Elaborator::GraphScope scope(e, file, entry);
  unsigned before = e.errors;
  auto elaborate = [&] {
    if (!collectKeys(job, false) || !collectDataset())
      return;
    net = e.netInstance(job->expr(0), e.eval(job->expr(0)));
    if (!net)
      return;
    const Parameters &all = e.parametersOf(net->function);
    for (auto &[name, value] : point)
      for (auto [parameter, setting] :
           llvm::zip_equal(all.settings, net->settings))
        if (parameter.name == name)
          setting = value;
    std::optional<std::vector<NetInput>> given = e.inputsOf(*net);
    if (!given)
      return;
    inputs = std::move(*given);
    names.outer = e.frame->scope;
    e.frame->scope = &names;
    collectAxes();
    if (addInputs() && addLoss() && addSchedule() && addOptimizer())
      addHardware();
    for (NetParser::StmtContext *stmt :
         job->body() ? job->body()->stmt()
                     : std::vector<NetParser::StmtContext *>())
      if (ruleCast<NetParser::RequireContext>(stmt)) {
        for (auto &[name, key] : keys)
          if (name != "loss" && name != "precision" && name != "placement" &&
              name != "optimizer")
            valueOf(name);
        e.visit(stmt);
      }
    e.frame->scope = names.outer;
  };
  elaborate();
  if (e.errors != before) {
    step.erase();
    return nullptr;
  }
  mlir::NamedAttrList axisAttributes;
  for (auto &[name, moments] : axes)
    axisAttributes.set(name, MomentsAttr::get(e.context, moments));
  step.setAxesAttr(axisAttributes.getDictionary(e.context));
  step.setRunAttr(run.getDictionary(e.context));
  return step;
}

//===----------------------------------------------------------------------===//
// Runs of a file
//===----------------------------------------------------------------------===//

mlir::Operation *Elaborator::elaborateRun(FileScope &file,
                                          NetParser::JobContext *job,
                                          mlir::ModuleOp into,
                                          const Point &point) {
  if (job->kind->getText() == "infer") {
    fail(job, "`infer` is not there yet");
    return nullptr;
  }
  if (job->expr().empty()) {
    fail(
        job,
        "a `train` at the top level says what it trains: `train Net on Data as "
        "name { .. }`");
    return nullptr;
  }
  StepOp step = RunBuilder(*this, file, job, point).build(into);
  if (!step || !point.empty())
    return step;
  if (job->body())
    for (NetParser::StmtContext *stmt : job->body()->stmt())
      if (auto *expect = ruleCast<NetParser::ExpectContext>(stmt))
        expectations.push_back({expect, &file});
  // The network is reported at the sizes that its dataset gives.
  auto network = mlir::dyn_cast_or_null<NetworkOp>(
      mlir::SymbolTable::lookupSymbolIn(into, step.getNetwork()));
  if (network && network.getAxes().empty()) {
    mlir::NamedAttrList axes(step.getAxes());
    axes.erase("N");
    network.setAxesAttr(axes.getDictionary(context));
  }
  return step;
}

std::optional<std::vector<SweepPoint>> Elaborator::sweep(StringRef run) {
  std::vector<SweepPoint> points;
  auto entry = main->names.find(run.str());
  auto *job = entry == main->names.end()
                  ? nullptr
                  : ruleCast<NetParser::JobContext>(entry->second.tree);
  if (!job || !job->body())
    return points;
  Scope scope;
  Frame top;
  top.file = main;
  top.scope = &scope;
  Frame *outer = std::exchange(frame, &top);
  auto leave = llvm::make_scope_exit([&] { frame = outer; });

  std::vector<std::pair<std::string, std::vector<Value>>> varied;
  size_t total = 1;
  NetParser::SweepContext *tree = nullptr;
  for (NetParser::StmtContext *stmt : job->body()->stmt()) {
    auto *sweep = ruleCast<NetParser::SweepContext>(stmt);
    if (!sweep)
      continue;
    tree = sweep;
    for (NetParser::EachContext *each : sweep->each()) {
      std::optional<std::vector<Value>> values =
          itemsOf(each->expr(), eval(each->expr()));
      if (!values)
        return std::nullopt;
      if (!values->empty() &&
          values->size() > options.limits.maxSweepPoints / total) {
        fail(sweep, "the sweep has more than " +
                        llvm::Twine(options.limits.maxSweepPoints) +
                        " points; `--max-sweep` allows more");
        return std::nullopt;
      }
      total *= values->size();
      varied.push_back({each->ID()->getText(), std::move(*values)});
    }
  }
  if (!tree)
    return points;
  for (size_t index = 0; index < total; ++index) {
    Point point;
    SweepPoint result;
    size_t rest = index, weight = total;
    for (auto &[name, values] : varied) {
      weight /= values.size();
      point.push_back({name, values[rest / weight]});
      rest %= weight;
      result.values.push_back({name, textOf(point.back().second)});
    }
    unsigned before = errors;
    // A top-level constant of that name takes the point's value.
    std::vector<std::pair<TopLevel *, TopLevel>> saved;
    for (auto &[name, entry] : main->names)
      saved.push_back({&entry, entry});
    for (auto &[name, entry] : main->names) {
      entry.state = TopLevel::Untouched;
      for (auto &[key, value] : point)
        if (key == name && ruleCast<NetParser::BindContext>(entry.tree)) {
          entry.state = TopLevel::Done;
          entry.isPerGraph = false;
          entry.value = value;
        }
    }
    result.module = mlir::ModuleOp::create(locationOf(tree));
    elaborateRun(*main, job, *result.module, point);
    for (auto &[entry, old] : saved)
      *entry = old;
    if (errors != before)
      return std::nullopt;
    points.push_back(std::move(result));
  }
  return points;
}
