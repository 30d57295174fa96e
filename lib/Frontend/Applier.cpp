// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pipes, compositions and repetitions.

#include "dialect/Repetition.h"
#include "lib/Frontend/Evaluator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Pipes, compositions, repetitions
//===----------------------------------------------------------------------===//

/// Whether a pipe is ambiguous: `x + x |> f` may mean two things.
static bool isBareArithmetic(NetParser::ExprContext *expr) {
  return ruleCast<NetParser::AddContext>(expr) ||
         ruleCast<NetParser::MulContext>(expr) ||
         ruleCast<NetParser::NegContext>(expr) ||
         ruleCast<NetParser::PowContext>(expr);
}

Value Evaluator::evalPipe(NetParser::PipeContext *tree, const Value &value) {
  for (Expr *side : {tree->left, tree->right}) {
    // `x |> relu // a comment`
    if (auto *product = ruleCast<NetParser::MulContext>(side);
        product && product->FLOORDIV())
      return fail(side, error::Slashes);
    if (isBareArithmetic(side))
      return fail(tree, error::PipeBesideArithmetic);
  }
  Value into = eval(tree->right);
  return applier.pipe(tree, value, into);
}

Value Applier::pipe(Tree *at, Value value, const Value &into) {
  if (value.isUnknown() || into.isUnknown())
    return {};
  if (!functionOf(into))
    return e.fail(at, error::PipeInto, kindOf(into),
                  into.is<List>() ? "; blocks follow each other by `|>`" : "");
  bool isTensors = value.is<Tensor>();
  if (auto *list = value.as<List>())
    isTensors = llvm::all_of(*list->items,
                             [](const Value &v) { return v.is<Tensor>(); });
  if (isTensors) {
    auto *made = into.as<std::shared_ptr<Instance>>();
    if (made && (*made)->isComposition())
      return applyComposition(at, **made, value);
    if (functionOf(into)->isBuiltin()) {
      std::vector<Argument> arguments{{"", value, at, false}};
      if (made)
        for (auto &[name, argument] : (*made)->arguments)
          arguments.push_back({name, argument, at, false});
      auto call = [&] {
        return e.calls.callBuiltin(at, *functionOf(into), std::move(arguments));
      };
      // With a name, or in a `repeat`, `map(B, over = T)` is named like a
      // block.
      if (!made || (*made)->identity->name.empty())
        return call();
      enter(*(*made)->identity, "", at);
      return applyCopy(*(*made)->identity, call);
    }
    std::shared_ptr<Instance> instance = e.calls.instantiate(at, into);
    if (!made && !e.calls.completeSettings(at, *instance))
      return {};
    const Parameters &all = e.calls.parametersOf(instance->function);
    for (auto [parameter, given] :
         llvm::zip_equal(all.tensors, instance->tensors)) {
      if (!parameter.required || (!given.empty() && !parameter.variadic))
        continue;
      if (auto *list = value.as<List>())
        given.insert(given.end(), list->items->begin(), list->items->end());
      else
        given.insert(given.begin(), value);
      return applyIfComplete(at, instance);
    }
    return e.fail(at, error::PipeOfNone, instance->function.name);
  }
  if (!functionOf(value))
    return e.fail(at, error::PipeFrom, kindOf(value));
  return compose(at, {value, into});
}

Value Applier::compose(Tree *at, std::vector<Value> parts) {
  auto composition = std::make_shared<Instance>();
  composition->identity = e.calls.identityAt(at);
  composition->identity->site = nullptr; // it has the names of its parts
  composition->isComposed = true;
  for (auto [i, part] : llvm::enumerate(parts)) {
    auto *made = part.as<std::shared_ptr<Instance>>();
    if (made && (*made)->isComposition() && (*made)->identity->name.empty() &&
        !(*made)->isRepeat) {
      // f |> g |> h is one composition.
      if (!e.budget.spend(at, (*made)->parts.size()))
        return {};
      composition->parts.insert(composition->parts.end(),
                                (*made)->parts.begin(), (*made)->parts.end());
      continue;
    }
    if (auto *function = part.as<Function>();
        function && function->isBuiltin()) {
      // The composition itself is part 0 of `at`.
      e.frame->iterations.push_back(i + 1);
      part = e.calls.callBuiltin(at, *function, {});
      e.frame->iterations.pop_back();
      if (!part.is<std::shared_ptr<Instance>>())
        return {};
    } else if (function) {
      std::shared_ptr<Instance> instance =
          e.calls.instantiateAt(at, part, i + 1);
      if (!e.calls.completeSettings(at, *instance))
        return {};
      part = instance;
    }
    composition->parts.push_back(part);
  }
  return composition;
}

std::shared_ptr<Instance> Caller::instantiateAt(Tree *at, const Value &callee,
                                                int64_t part) {
  e.frame->iterations.push_back(part);
  std::shared_ptr<Instance> instance = instantiate(at, callee);
  e.frame->iterations.pop_back();
  if (auto *pipe = ruleCast<NetParser::PipeContext>(at))
    instance->identity->site = pipe->expr(part - 1);
  return instance;
}

Value Applier::evalOwner(Expr *expr) {
  std::vector<Identity *> handed;
  Value owner;
  {
    llvm::SaveAndRestore restore(made, &handed);
    owner = e.eval(expr);
  }
  if (auto *instance = owner.as<std::shared_ptr<Instance>>())
    for (Identity *identity : handed)
      if (Identity *own = (*instance)->identity.get();
          identity != own && identity->name.empty() &&
          identity->parent == e.frame->self)
        identity->parent = own;
  return owner;
}

/// The copies of a rolled `repeat` that are elaborated: the first, one for all
/// between, and the last.
static constexpr int64_t kRolledCopies = 3;

antlrcpp::Any Evaluator::visitRepeat(NetParser::RepeatContext *tree) {
  Value count = eval(tree->expr(0));
  std::vector<Value> items; // the values of the variable
  size_t copies;
  bool isRolled = false;
  std::string variable = tree->ID() ? tree->ID()->getText() : "";
  if (std::optional<Number> number = numberOf(count);
      number && variable.empty()) {
    std::optional<int64_t> times =
        number->real ? std::nullopt : number->exact.toInt64();
    if (!times || *times < 0)
      return fail(tree->expr(0), error::RepeatCount, textOf(count));
    isRolled = options.rolled && *times > kRolledCopies;
    if (!budget.spend(tree, isRolled ? kRolledCopies : *times))
      return Value();
    copies = *times;
  } else if (count.isUnknown()) {
    return Value();
  } else {
    std::optional<std::vector<Value>> list = itemsOf(tree->expr(0), count);
    if (!list)
      return Value();
    items = std::move(*list);
    copies = items.size();
  }
  auto repeat = std::make_shared<Instance>();
  repeat->identity = calls.identityAt(tree);
  repeat->isComposed = true;
  repeat->isRepeat = true;
  Scope scope;
  scope.outer = frame->scope;
  InScope in(frame->scope, variable.empty() ? frame->scope : &scope);
  size_t before = budget.spent();
  llvm::SmallPtrSet<Identity *, 16> named;
  for (size_t iteration = 0; iteration < copies; ++iteration) {
    if (iteration == 1 &&
        !budget.affords(tree, budget.spent() - before,
                        (isRolled ? kRolledCopies : copies) - 1))
      break;
    if (iteration == 2 && isRolled)
      iteration = copies - 1;
    if (!items.empty())
      scope.names[variable] = items[iteration];
    frame->iterations.push_back(iteration);
    Value part = applier.evalOwner(tree->expr(1));
    if (part.is<Function>()) {
      std::shared_ptr<Instance> instance =
          calls.instantiate(tree->expr(1), part);
      part =
          calls.completeSettings(tree, *instance) ? Value(instance) : Value();
    }
    frame->iterations.pop_back();
    auto *made = part.as<std::shared_ptr<Instance>>();
    if (!made) {
      if (!part.isUnknown())
        fail(tree->expr(1), error::RepeatOfNoBlock, kindOf(part));
      repeat = nullptr;
      break;
    }
    if (iteration == 0)
      repeat->function =
          (*made)->function; // what names it, if nothing else does
    // An instance for several iterations is named after the first one.
    Identity &identity = *(*made)->identity;
    if (named.insert(&identity).second) {
      identity.name = std::to_string(iteration);
      identity.iteration = iteration;
      identity.copies = copies;
      if (isRolled && iteration == 1)
        identity.standsFor = copies - 2;
    } else if (std::exchange(isRolled, false) &&
               !budget.spend(tree, copies - kRolledCopies)) {
      return Value();
    }
    (*made)->identity->parent = repeat->identity.get();
    repeat->parts.push_back(part);
  }
  return repeat ? Value(repeat) : Value();
}

//===----------------------------------------------------------------------===//
// Application
//===----------------------------------------------------------------------===//

Value Applier::applyIfComplete(Tree *at, std::shared_ptr<Instance> instance) {
  if (e.graph && e.graph->step)
    giveStep(*instance);
  if (!e.calls.isComplete(*instance))
    return instance;
  // An optimizer or a schedule may lack tensors that the step provides.
  return apply(at, *instance);
}

std::string Applier::unique(Identity &parent, StringRef name) {
  unsigned count = ++parent.names[name];
  return count == 1 ? name.str() : (name + "_" + llvm::Twine(count)).str();
}

/// Where the text that makes an instance names its block or op.
static mlir::Location locationOfName(antlr4::ParserRuleContext *site) {
  if (auto *pipe = ruleCast<NetParser::PipeContext>(site))
    site = pipe->right;
  if (auto *call = ruleCast<NetParser::CallContext>(site))
    site = call->left;
  return netc::locationOf(site);
}

void Applier::tellPart(StringRef path, llvm::ArrayRef<Tree *> places) {
  if (!e.options.onPart || !e.graph)
    return;
  // The root is the network, and has no path in it.
  auto network = mlir::dyn_cast<NetworkOp>(e.graph->entry->getParentOp());
  if (!network)
    return;
  std::string whole =
      (network.getSymName() + (path.empty() ? "" : "." + path)).str();
  for (Tree *place : places)
    e.options.onPart(locationOfName(place), whole);
}

void Applier::enter(Identity &identity, StringRef fallback, Tree *at) {
  Identity *parent = identity.parent;
  if (identity.name.empty())
    identity.name = parent ? unique(*parent, fallback) : fallback.str();
  identity.path = parent && !parent->path.empty()
                      ? parent->path + "." + identity.name
                      : identity.name;
  if (e.graph && &identity == e.graph->root.get())
    identity.path.clear(); // names are relative to the network
  if (++identity.applications > 1) {
    identity.path += "@" + std::to_string(identity.applications);
    // The copies have different numbers.
    if (e.graph && e.graph->rolled)
      e.needCopies();
  }
  identity.names.clear();
  if (!identity.firstApplication)
    identity.firstApplication = e.locationOf(at);
  if (identity.site)
    tellPart(identity.path, {identity.site, at});
}

bool Applier::isOfNumbers(const Instance &instance) {
  const BlockDecl *block = instance.function.block;
  return block && !block->isNet &&
         llvm::all_of(instance.tensors, [](const auto &values) {
           return values.size() == 1 && numberOf(values.front());
         });
}

Value Applier::apply(Tree *at, Instance &instance) {
  if (!e.graph && !isOfNumbers(instance))
    return e.fail(at, error::BlockOutsideNet, instance.function.name);
  auto application = [&] {
    return instance.function.op ? e.tensors.applyOp(at, instance)
                                : applyBlock(at, instance);
  };
  auto copy = [&] { return applyCopy(*instance.identity, application); };
  return instance.recomputed ? applyRecomputed(at, copy) : copy();
}

/// Whether copies of copies are recomputed. The memory of rolled copies is not
/// counted in this case.
static bool hasRecomputedNest(const Graph &graph) {
  return graph.hasNestedRolls && (graph.marksCopies || graph.recomputed != 0);
}

Value Applier::applyRecomputed(Tree *at,
                               llvm::function_ref<Value()> application) {
  if (e.builder.getInsertionBlock() != e.graph->entry)
    return e.fail(at, error::RecomputedInLoop);
  return applyMarking(
      kRecomputed,
      [&] {
        mlir::Attribute number =
            e.builder.getI64IntegerAttr(e.graph->recomputed++);
        if (hasRecomputedNest(*e.graph))
          e.needCopies();
        return number;
      },
      application);
}

Value Applier::applyCopy(const Identity &copy,
                         llvm::function_ref<Value()> application) {
  if (!e.graph || copy.copies == 0 || !e.graph->marksCopies ||
      e.graph->isInCopy || e.builder.getInsertionBlock() != e.graph->entry)
    return application();
  llvm::SaveAndRestore inCopy(e.graph->isInCopy, true);
  auto path = [&] {
    // A composition in a list may have no name.
    std::string name = copy.path;
    if (name.empty() && copy.parent)
      name = copy.parent->path + "." + unique(*copy.parent, "copy");
    return e.builder.getStringAttr(name);
  };
  return applyMarking(kCopy, path, application);
}

Value Applier::applyMarking(StringRef name,
                            llvm::function_ref<mlir::Attribute()> mark,
                            llvm::function_ref<Value()> application) {
  Value result;
  mlir::Attribute value;
  auto apply = [&] {
    result = application();
    value = mark();
  };
  forEachInserted(e.builder, apply,
                  [&](mlir::Operation &op) { op.setAttr(name, value); });
  return result;
}

Value Applier::applyRolled(Tree *at, const Value &value, const Value &part,
                           const Identity &copy) {
  Graph &graph = *e.graph;
  llvm::SmallVector<mlir::NamedAttribute> repeats;
  if (graph.rolled) {
    repeats.assign(graph.rolled.begin(), graph.rolled.end());
    graph.hasNestedRolls = true;
  }
  repeats.push_back(
      e.builder.getNamedAttr(copy.parent->path + "." + copy.name,
                             e.builder.getI64IntegerAttr(copy.standsFor)));
  llvm::SaveAndRestore rolled(graph.rolled,
                              e.builder.getDictionaryAttr(repeats));
  if (e.options.rolled)
    e.options.rolled->repeats.insert(copy.parent->path);
  Value result;
  forEachInserted(
      e.builder, [&] { result = pipe(at, value, part); },
      [&](mlir::Operation &op) {
        // A value is converted once, whichever copy reads it first.
        if (auto convert = mlir::dyn_cast<ConvertOp>(op);
            convert && isFloat(convert.getX())) {
          mlir::Operation *maker = convert.getX().getDefiningOp();
          if (maker)
            standFor(maker->getAttr(kRolled), &op);
        } else if (!op.hasAttr(kRolled)) {
          op.setAttr(kRolled, graph.rolled);
        }
      });
  // Copies are equal if each returns a tensor of the type and labels that it
  // gets.
  auto *in = value.as<Tensor>(), *out = result.as<Tensor>();
  bool areEqual = in && out && in->value.getType() == out->value.getType() &&
                  in->labels == out->labels;
  bool isInLoop = e.builder.getInsertionBlock() != graph.entry;
  if (!areEqual || isInLoop || hasRecomputedNest(graph))
    e.needCopies();
  return result;
}

Value Applier::applyComposition(Tree *at, Instance &instance, Value value) {
  if (instance.recomputed) {
    Instance parts = instance;
    parts.recomputed = false;
    return applyRecomputed(at,
                           [&] { return applyComposition(at, parts, value); });
  }
  return applyCopy(*instance.identity,
                   [&] { return applyParts(at, instance, value); });
}

Value Applier::applyParts(Tree *at, Instance &instance, Value value) {
  Identity &identity = *instance.identity;
  bool transparent = identity.name.empty() && !instance.isRepeat;
  if (!transparent) {
    std::string fallback = "repeat";
    if (instance.function.block)
      fallback = StringRef(instance.function.name).lower();
    enter(identity, fallback, at);
  }
  size_t before = e.budget.spent();
  for (auto [i, part] : llvm::enumerate(instance.parts)) {
    if (i == 1 && instance.isRepeat &&
        !e.budget.affords(at, e.budget.spent() - before,
                          instance.parts.size() - 1))
      return {};
    Identity &inner = *(*part.as<std::shared_ptr<Instance>>())->identity;
    if (!transparent)
      inner.parent = &identity;
    value = inner.standsFor == 1 ? pipe(at, value, part)
                                 : applyRolled(at, value, part, inner);
    if (value.isUnknown())
      return {};
  }
  if (!transparent)
    identity.hasWeights = true;
  return value;
}

Value Applier::resultsOf(ResultList list) {
  if (list.empty())
    return None{};
  Value first = list.front().second;
  first.results = std::make_shared<const ResultList>(std::move(list));
  return first;
}

bool Applier::containsItself(Tree *at, const Instance &instance) {
  const BlockDecl &block = *instance.function.block;
  // One that it is handed is not in it: `Residual(Residual(Linear(4)))`.
  auto isMadeIn = [&](const Frame &outer) {
    for (const Identity *inner = instance.identity.get(); inner;
         inner = inner->maker)
      if (inner == outer.self)
        return true;
    return false;
  };
  for (Frame *outer = e.frame; outer; outer = outer->caller)
    if (outer->block == &block && isMadeIn(*outer)) {
      std::string cycle = "`" + block.name + "`";
      for (Frame *between = e.frame; between != outer;
           between = between->caller)
        if (between->block)
          cycle = "`" + between->block->name + "` -> " + cycle;
      e.fail(at, error::BlockContainsItself, block.name, cycle);
      return true;
    }
  return false;
}

/// What is wrong with a learning rate. A schedule is a block, or what is made
/// of blocks.
static std::optional<Message> mistakeInRate(StringRef optimizer,
                                            const Value &value) {
  std::optional<Number> rate = numberOf(value);
  if (rate && rate->isConstant() && rate->toDouble() < 0)
    return error::NegativeLr(optimizer, textOf(value));
  auto *function = value.as<Function>();
  bool isSchedule =
      value.is<std::shared_ptr<Instance>>() || (function && function->block);
  if (rate ? !std::isinf(rate->toDouble())
           : value.isUnknown() || value.is<Tensor>() || isSchedule)
    return std::nullopt;
  return error::NotARate(optimizer, rate       ? textOf(value)
                                    : function ? "`" + function->name + "`"
                                               : kindOf(value));
}

Value Applier::argumentOf(Tree *at, const Instance &instance,
                          const Parameter &parameter,
                          llvm::ArrayRef<Value> values, Frame &outer) {
  Value value;
  {
    // What is given belongs to the caller's text, a default to the block's.
    InFrame given(e.frame, values.empty() ? e.frame : &outer);
    value = values.empty() ? e.calls.evalDefault(parameter) : values.front();
    bool isRate = parameter.name == "lr" && e.graph && e.graph->step;
    if (std::optional<Message> mistake =
            isRate ? mistakeInRate(instance.function.name, value)
                   : std::nullopt)
      return e.fail(at, *mistake);
    if (!value.is<None>() && !isOfNumbers(instance))
      value = e.tensors.tensorFor(at, value, e.builder.getF32Type());
  }
  if (!parameter.tree->type || !value.is<Tensor>())
    return value;
  std::optional<TypeValue> pattern = e.tensors.typeOf(parameter.tree->type);
  std::optional<Tensor> matched;
  if (pattern)
    matched = e.tensors.match(*pattern, *value.as<Tensor>(), parameter.tree,
                              /*isParameter=*/true);
  return matched ? Value(*matched) : Value();
}

bool Applier::runBody(const BlockDecl &block, Frame &inner) {
  if (block.tree->statements) {
    unsigned before = e.errorCount();
    e.statements.run(block.tree->statements);
    if (inner.returned || e.errorCount() != before)
      return true;
    llvm::ArrayRef<NetParser::StmtContext *> statements =
        block.tree->statements->stmts;
    e.fail(statements.empty() ? static_cast<Tree *>(block.tree)
                              : statements.back(),
           error::NoReturn, block.name);
    return false;
  }
  Value value = e.eval(block.tree->value);
  std::string name;
  if (auto *ref = ruleCast<NetParser::RefContext>(block.tree->value))
    name = e.wordOf(ref->getStart());
  inner.returned = value.results ? *value.results : ResultList{{name, value}};
  return true;
}

/// Whether a call seems to begin with the features that come in, as calls of
/// PyTorch do: `Conv(3, 8, 3)`.
static bool isInForeignOrder(llvm::ArrayRef<Parameter> parameters,
                             const Instance &instance,
                             const Polynomial &features) {
  auto begins = [&](llvm::ArrayRef<StringRef> names) {
    return instance.positional >= names.size() &&
           parameters.size() >= names.size() &&
           llvm::equal(names, parameters.take_front(names.size()),
                       [](StringRef name, const Parameter &parameter) {
                         return parameter.name == name;
                       });
  };
  bool isConv = begins({"out", "k", "stride"});
  if (!isConv && !begins({"heads", "kv_heads"}))
    return false;
  std::optional<Number> first = numberOf(*instance.settings[0]);
  std::optional<Number> second = numberOf(*instance.settings[1]);
  if (!first || !second || first->exact != features)
    return false;
  // Few kernels have 6, 8 or more elements where the number of channels stays
  // the same. Heads of one feature each are as rare.
  std::optional<int64_t> kernel = second->exact.toInt64();
  return !isConv || (kernel && (*kernel == 6 || *kernel >= 8));
}

void Applier::warnOfOrder(Tree *at, const Instance &instance) {
  if (instance.positional < 2 || instance.tensors.empty() ||
      instance.tensors[0].empty())
    return;
  auto *input = instance.tensors[0][0].as<Tensor>();
  if (!input || input->labels.empty())
    return;
  llvm::ArrayRef<Parameter> parameters =
      e.calls.parametersOf(instance.function).settings;
  const Polynomial features =
      shapeOf(input->value).sizes[TensorBuilder::featureAxis(*input)];
  if (!isInForeignOrder(parameters, instance, features))
    return;
  std::string read;
  llvm::ListSeparator comma;
  for (auto [parameter, value] : llvm::zip_first(
           parameters.take_front(instance.positional), instance.settings))
    read += StringRef(comma).str() + parameter.name + " = " + textOf(*value);
  e.warn(at, "", WarningId::ForeignOrder,
         "this means `" + instance.function.name + "(" + read + ")`, and " +
             features.str() +
             " is also the number of features that come in; leave that out, "
             "or write the names");
}

Value Applier::applyBlock(Tree *at, Instance &instance) {
  const BlockDecl &block = *instance.function.block;
  const Parameters &all = e.calls.parametersOf(instance.function);
  if (containsItself(at, instance))
    return {};
  Identity &identity = *instance.identity;
  // A block without ops counts too, since nested blocks may double at each
  // level.
  if (!e.budget.spend(at, 1))
    return {};
  enter(identity, StringRef(block.name).lower(), at);
  if (identity.applications == 1)
    warnOfOrder(identity.site ? identity.site : at, instance);

  block.isUsed = true;
  identity.block = &block;
  Scope scope;
  Frame inner(e.frame);
  inner.caller = e.frame;
  inner.file = block.file;
  inner.block = &block;
  inner.self = &identity;
  inner.scope = &scope;
  inner.application = ++applications;
  inner.frozen = instance.frozen || e.frame->frozen;
  inner.calledFrom = e.locationOf(at);
  for (auto [parameter, value] :
       llvm::zip_equal(all.settings, instance.settings))
    scope.names[parameter.name] = value.value_or(Value());

  Frame &outer = *e.frame;
  InFrame in(e.frame, &inner);
  for (auto [parameter, values] :
       llvm::zip_equal(all.tensors, instance.tensors)) {
    Value value = argumentOf(at, instance, parameter, values, outer);
    if (value.isUnknown())
      return {};
    scope.names[parameter.name] = value;
  }
  if (!runBody(block, inner))
    return {};
  identity.hasWeights = true;
  if (!inner.returned)
    return {};
  for (auto &[name, result] : *inner.returned)
    result = e.tensors.restored(result, inner.application);
  return resultsOf(std::move(*inner.returned));
}
