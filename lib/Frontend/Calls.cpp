// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls, pipes and compositions: arguments find their parameters, instances are
// made and applied.

#include "dialect/Repetition.h"
#include "lib/Frontend/Elaborator.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// The words of `mode: ["sum", "mean"] = "sum"`.
static std::vector<std::string> wordsOf(NetParser::ExprContext *type) {
  std::vector<std::string> words;
  auto *list = ruleCast<NetParser::ListContext>(type);
  if (!list || list->comp())
    return words;
  for (NetParser::AxisContext *axis : list->axis())
    if (auto *text = ruleCast<NetParser::StrContext>(axis->expr())) {
      std::string quoted = text->getText();
      words.push_back(quoted.substr(1, quoted.size() - 2));
    }
  return words;
}

const Parameters &Elaborator::parametersOf(const Function &function) {
  const void *key = function.block ? static_cast<const void *>(function.block)
                                   : static_cast<const void *>(function.op);
  auto [entry, isNew] = parameters.try_emplace(key);
  Parameters &result = entry->second;
  if (!isNew)
    return result;
  if (function.op) {
    for (const TensorSlot &slot : function.op->tensors)
      result.tensors.push_back({slot.name.str(),
                                slot.arity != TensorSlot::Optional,
                                slot.arity == TensorSlot::Variadic,
                                {},
                                nullptr,
                                nullptr});
    for (const Setting &setting : function.op->settings)
      result.settings.push_back({setting.name.str(),
                                 setting.fallback.empty(),
                                 false,
                                 {},
                                 nullptr,
                                 &setting});
    return result;
  }
  NetParser::ParamsContext *tree = function.block->tree->params();
  size_t semicolon = SIZE_MAX;
  if (tree->SEMI())
    semicolon = tree->SEMI()->getSymbol()->getTokenIndex();
  for (NetParser::ParamContext *param : tree->param()) {
    bool isTensor = param->getStart()->getTokenIndex() < semicolon;
    // `x: type = default`: which of the expressions is there, the tokens tell.
    Parameter parameter{
        param->name()->getText(), !param->ASSIGN(), false, {}, param, nullptr};
    if (!isTensor && param->COLON())
      parameter.words = wordsOf(param->expr(0));
    (isTensor ? result.tensors : result.settings)
        .push_back(std::move(parameter));
  }
  return result;
}

static const Function *functionOf(const Value &callee) {
  if (auto *function = callee.as<Function>())
    return function;
  if (auto *instance = callee.as<std::shared_ptr<Instance>>())
    return &(*instance)->function;
  return nullptr;
}

/// A function of the language itself that no op shares its name with.
static bool isBuiltin(const Function &function) {
  return function.builtin && !function.op;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

std::string Elaborator::notOneOf(const Parameter &setting, StringRef function,
                                 StringRef word) {
  return ("`" + setting.name + "` of `" + function + "` is one of " +
          llvm::join(setting.words, ", ") + ", not `" + word + "`" +
          didYouMean(word, setting.words))
      .str();
}

Value Elaborator::evalArgument(Expr *expr, StringRef name,
                               const Value &callee) {
  auto *ref = ruleCast<NetParser::RefContext>(expr);
  const Function *function = functionOf(callee);
  if (!ref || !function)
    return eval(expr);
  const std::string &word = wordOf(ref->getStart());
  // A bare name: the body first, then the words of the setting, then as usual.
  if (std::optional<Value> value = lookupBody(word))
    return *value;
  if (function->block || function->op)
    for (const Parameter &setting : parametersOf(*function).settings) {
      if (!name.empty() && setting.name != name)
        continue;
      if (llvm::is_contained(setting.words, word))
        return Value(word);
      if (!name.empty() && !setting.words.empty() && !lookup(word))
        return fail(expr, notOneOf(setting, function->name, word));
    }
  bool isAxis = name == "over" || name == "as" || name == "channel";
  if (isAxis) {
    std::optional<Value> value = lookup(word);
    if (value && (numberOf(*value) || value->is<List>() || value->is<None>()))
      return *value;
    return Axis{word, std::nullopt, -1};
  }
  return eval(expr);
}

/// The names in a list of nothing else; empty if there is another item.
static std::vector<NetParser::ExprContext *>
namesInList(NetParser::ExprContext *expr) {
  std::vector<NetParser::ExprContext *> names;
  auto *list = ruleCast<NetParser::ListContext>(expr);
  if (!list || list->comp())
    return names;
  for (NetParser::AxisContext *axis : list->axis()) {
    if (axis->name() || !ruleCast<NetParser::RefContext>(axis->expr()))
      return {};
    names.push_back(axis->expr());
  }
  return names;
}

const std::vector<WrittenArgument> &
Elaborator::argumentsOf(NetParser::ArgsContext *args) {
  auto [known, isNew] = writtenArguments.try_emplace(args);
  if (!isNew)
    return known->second;
  size_t semicolon = SIZE_MAX;
  if (args->SEMI())
    semicolon = args->SEMI()->getSymbol()->getTokenIndex();
  for (NetParser::ArgContext *arg : args->arg()) {
    WrittenArgument written;
    written.expr = arg->expr();
    if (arg->name())
      written.name = arg->name()->getText();
    if (written.name == "over")
      written.labels = namesInList(arg->expr());
    written.behindSemicolon = arg->getStart()->getTokenIndex() > semicolon;
    known->second.push_back(std::move(written));
  }
  return known->second;
}

std::vector<Argument> Elaborator::evalArguments(NetParser::ArgsContext *args,
                                                const Value &callee) {
  std::vector<Argument> arguments;
  std::string hint = std::exchange(frame->hint, "");
  // A weight made in the argument of an op is still the variable's.
  if (const Function *function = callee.as<Function>();
      function && function->builtin)
    frame->hint = hint;
  for (const WrittenArgument &written : argumentsOf(args)) {
    Value value;
    if (written.labels.empty()) {
      value = evalArgument(written.expr, written.name, callee);
    } else {
      std::vector<Value> items;
      for (Expr *label : written.labels)
        items.push_back(evalArgument(label, "over", callee));
      value = listOf(std::move(items));
    }
    arguments.push_back({written.name, std::move(value), written.expr,
                         written.behindSemicolon});
  }
  frame->hint = hint;
  return arguments;
}

antlrcpp::Any Elaborator::visitCall(NetParser::CallContext *tree) {
  Value callee = takeLeft();
  if (callee.isUnknown()) {
    evalArguments(tree->args(), callee);
    return Value();
  }
  if (auto *subject = callee.as<Subject>())
    return askWith(*subject, tree->args());
  return call(tree, callee, evalArguments(tree->args(), callee));
}

Value Elaborator::call(Tree *at, const Value &callee,
                       std::vector<Argument> arguments) {
  if (auto *function = callee.as<Function>(); function && function->builtin) {
    auto isTensor = [](const Argument &argument) {
      return argument.value.is<Tensor>() ||
             (argument.value.is<List>() &&
              !argument.value.as<List>()->items->empty() &&
              argument.value.as<List>()->items->front().is<Tensor>());
    };
    bool positional =
        llvm::any_of(arguments, [](auto &a) { return a.name.empty(); });
    bool meansOp =
        function->op && (!positional || llvm::any_of(arguments, isTensor));
    if (!meansOp)
      return callBuiltin(at, *function, std::move(arguments));
  }
  if (auto *section = callee.as<Section>())
    return callSection(at, *section, arguments);
  if (!functionOf(callee))
    return fail(at, kindOf(callee) + " cannot be called");
  auto *present = callee.as<std::shared_ptr<Instance>>();
  if (present &&
      ((*present)->isComposition() || isBuiltin((*present)->function))) {
    // f(x) of a composition is x |> f.
    if (arguments.size() != 1 || !arguments[0].name.empty())
      return fail(at, "a composition takes one tensor");
    return pipe(at, arguments[0].value, callee);
  }
  bool isNew = callee.is<Function>();
  std::shared_ptr<Instance> instance = instantiate(at, callee);
  if (!bindArguments(at, *instance, arguments))
    return {};
  if (isNew && !completeSettings(at, *instance))
    return {};
  return applyIfComplete(at, instance);
}

Value Elaborator::callSection(Tree *at, Section section,
                              llvm::ArrayRef<Argument> arguments) {
  NetParser::ParamsContext *params = section.tree->params();
  std::vector<std::string> known;
  if (params)
    for (NetParser::ParamContext *param : params->param())
      known.push_back(param->name()->getText());
  if (known.empty())
    return fail(at, "`" + section.name + "` has no parameters");
  llvm::MapVector<std::string, Value, llvm::StringMap<unsigned>> given;
  size_t position = 0;
  for (const Argument &argument : arguments) {
    std::string name = argument.name;
    if (name.empty()) {
      if (position == known.size())
        return fail(argument.at, "`" + section.name + "` takes " +
                                     llvm::Twine(known.size()) +
                                     " values, this is one more");
      name = known[position++];
    }
    if (!llvm::is_contained(known, name))
      return fail(argument.at, "`" + section.name + "` has no `" + name + "`" +
                                   didYouMean(name, known));
    if (!given.insert({name, argument.value}).second)
      return fail(argument.at,
                  "`" + section.name + "` is given `" + name + "` twice");
  }
  // Defaults see what stands before them.
  Scope scope;
  Frame inner;
  inner.file = section.file;
  inner.scope = &scope;
  auto values = std::make_shared<std::vector<std::pair<std::string, Value>>>();
  for (NetParser::ParamContext *param : params->param()) {
    std::string name = param->name()->getText();
    auto found = given.find(name);
    if (found == given.end() && !param->ASSIGN())
      return fail(at, "`" + section.name + "` needs `" + name + "`",
                  {{netc::locationOf(*section.file->source, param),
                    "it is declared here"}});
    Value value;
    if (found == given.end()) {
      Frame *outer = std::exchange(frame, &inner);
      value = eval(param->expr().back());
      frame = outer;
    } else {
      value = found->second;
    }
    scope.names[name] = value;
    values->push_back({name, value});
  }
  section.arguments = std::move(values);
  return section;
}

Value Elaborator::callBuiltin(Tree *at, const Function &function,
                              std::vector<Argument> arguments) {
  for (Argument &argument : arguments) {
    argument.value = resolve(argument.at, argument.value);
    if (argument.value.isUnknown())
      return {};
  }
  const Builtin &builtin = *function.builtin;
  if (builtin.takesTensor &&
      (arguments.empty() || !arguments.front().value.is<Tensor>())) {
    // It waits for its tensor, as a block does.
    auto instance = std::make_shared<Instance>();
    instance->function = {function.name, nullptr, nullptr, &builtin};
    instance->identity = identityAt(at);
    for (Argument &argument : arguments)
      instance->arguments.push_back({argument.name, argument.value});
    return instance;
  }
  return (this->*builtin.call)(at, arguments);
}

std::shared_ptr<Instance> Elaborator::instantiate(Tree *at,
                                                  const Value &callee) {
  if (auto *made = callee.as<std::shared_ptr<Instance>>())
    return std::make_shared<Instance>(**made);
  auto instance = std::make_shared<Instance>();
  instance->function = *callee.as<Function>();
  instance->identity = identityAt(at);
  instance->frozen = frame->frozen;
  if (isBuiltin(instance->function))
    return instance;
  const Parameters &all = parametersOf(instance->function);
  instance->tensors.resize(all.tensors.size());
  instance->settings.resize(all.settings.size());
  return instance;
}

std::shared_ptr<Identity> Elaborator::identityAt(Tree *at, int64_t part) {
  if (!frame->self)
    return std::make_shared<Identity>();
  Place place{at, frame->turns};
  place.turns.push_back(part);
  std::shared_ptr<Identity> &identity = frame->self->children[place];
  if (!identity)
    identity = std::make_shared<Identity>();
  identity->parent = frame->self;
  identity->name.clear();
  identity->applications = 0;
  return identity;
}

bool Elaborator::bindArguments(Tree *at, Instance &instance,
                               std::vector<Argument> &arguments) {
  const Parameters &all = parametersOf(instance.function);
  const std::string &callee = instance.function.name;
  bool fine = true;
  size_t nextSetting = 0;
  auto giveTensor = [&](size_t i, const Argument &argument) {
    const Parameter &parameter = all.tensors[i];
    if (!instance.tensors[i].empty() && !parameter.variadic) {
      fail(argument.at,
           "`" + callee + "` is given `" + parameter.name + "` twice");
      fine = false;
      return;
    }
    instance.tensors[i].push_back(argument.value);
  };
  auto nextTensor = [&]() -> std::optional<size_t> {
    for (size_t i = 0; i < all.tensors.size(); ++i)
      if (instance.tensors[i].empty() || all.tensors[i].variadic)
        return i;
    return std::nullopt;
  };
  for (Argument &argument : arguments) {
    if (argument.value.isUnknown()) {
      fine = false;
      continue;
    }
    if (!argument.name.empty()) {
      auto hasName = [&](const Parameter &p) {
        return p.name == argument.name;
      };
      auto tensor = llvm::find_if(all.tensors, hasName);
      if (tensor != all.tensors.end()) {
        if (!argument.value.is<None>() || tensor->required)
          giveTensor(tensor - all.tensors.begin(), argument);
        continue;
      }
      auto setting = llvm::find_if(all.settings, hasName);
      if (setting != all.settings.end()) {
        std::optional<Value> &slot =
            instance.settings[setting - all.settings.begin()];
        if (slot) {
          fail(argument.at,
               "`" + callee + "` is given `" + argument.name + "` twice");
          fine = false;
        }
        slot = argument.value;
        continue;
      }
      if (argument.name == "as" && instance.function.op) {
        if (auto *axis = argument.value.as<Axis>())
          instance.as = axis->label;
        else if (!argument.value.is<None>())
          fine = false, fail(argument.at, "`as` takes a label, not " +
                                              kindOf(argument.value));
        continue;
      }
      std::vector<std::string> known;
      for (const Parameter &parameter : all.tensors)
        known.push_back(parameter.name);
      for (const Parameter &parameter : all.settings)
        known.push_back(parameter.name);
      fail(argument.at, "`" + callee + "` has no `" + argument.name + "`" +
                            didYouMean(argument.name, known));
      fine = false;
      continue;
    }
    std::vector<Value> tensors;
    if (argument.value.is<Tensor>()) {
      tensors.push_back(argument.value);
    } else if (auto *list = argument.value.as<List>();
               list && !list->items->empty() &&
               llvm::all_of(*list->items,
                            [](const Value &v) { return v.is<Tensor>(); }) &&
               nextTensor()) {
      tensors = *list->items; // a list of tensors stands for its elements
    }
    if (!tensors.empty()) {
      if (argument.behindSemicolon) {
        fail(argument.at, "a tensor stands behind the `;`, where settings are");
        fine = false;
      }
      for (Value &value : tensors) {
        std::optional<size_t> i = nextTensor();
        if (!i) {
          fail(argument.at,
               "`" + callee + "` takes " + llvm::Twine(all.tensors.size()) +
                   (all.tensors.size() == 1 ? " tensor" : " tensors") +
                   ", this is one more");
          return false;
        }
        giveTensor(*i, Argument{"", value, argument.at, false});
      }
      continue;
    }
    while (nextSetting < all.settings.size() && instance.settings[nextSetting])
      ++nextSetting;
    if (nextSetting == all.settings.size()) {
      if (auto *list = argument.value.as<List>(); list && list->items->empty())
        fail(argument.at, "`" + callee + "` takes tensors, this list is empty");
      else
        fail(argument.at,
             "`" + callee + "` takes " + llvm::Twine(all.settings.size()) +
                 (all.settings.size() == 1 ? " setting" : " settings") + ", " +
                 kindOf(argument.value) + " is one more");
      return false;
    }
    instance.settings[nextSetting++] = argument.value;
  }
  return fine;
}

bool Elaborator::completeSettings(Tree *at, Instance &instance) {
  const Function &function = instance.function;
  if (!function.block)
    return true; // an op's settings are read when it is applied, against its
                 // tensors
  const Parameters &all = parametersOf(function);
  bool fine = true;
  // Defaults are evaluated in the block's own scope, and see earlier settings.
  Scope scope;
  Frame inner;
  inner.file = function.block->file;
  inner.scope = &scope;
  inner.self = frame->self;
  inner.caller = frame;
  inner.turns = frame->turns;
  inner.frozen = frame->frozen;
  for (auto [parameter, value] :
       llvm::zip_equal(all.settings, instance.settings)) {
    if (!value && parameter.required) {
      fail(at, "`" + function.name + "` needs `" + parameter.name + "`",
           {{netc::locationOf(*function.block->file->source, parameter.tree),
             "it is declared here"}});
      fine = false;
      continue;
    }
    if (!value) {
      Frame *outer = std::exchange(frame, &inner);
      value = evalDefault(parameter);
      frame = outer;
    } else if (auto *word = value->as<std::string>();
               word && !parameter.words.empty() &&
               !llvm::is_contained(parameter.words, *word)) {
      fail(at, notOneOf(parameter, function.name, *word));
      fine = false;
    }
    scope.names[parameter.name] = *value;
  }
  return fine;
}

Value Elaborator::evalDefault(const Parameter &parameter) {
  Expr *expr = parameter.tree->expr().back();
  if (auto *ref = ruleCast<NetParser::RefContext>(expr);
      ref && llvm::is_contained(parameter.words, wordOf(ref->getStart())))
    return Value(wordOf(ref->getStart()));
  return eval(expr);
}

bool Elaborator::isComplete(const Instance &instance) {
  const Parameters &all = parametersOf(instance.function);
  for (auto [parameter, given] : llvm::zip_equal(all.tensors, instance.tensors))
    if (parameter.required && given.empty())
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Pipes, compositions, repetitions
//===----------------------------------------------------------------------===//

/// `x + x |> f` does not say which of the two is meant.
static bool isBareArithmetic(NetParser::ExprContext *expr) {
  return ruleCast<NetParser::AddContext>(expr) ||
         ruleCast<NetParser::MulContext>(expr) ||
         ruleCast<NetParser::NegContext>(expr) ||
         ruleCast<NetParser::PowContext>(expr);
}

antlrcpp::Any Elaborator::visitPipe(NetParser::PipeContext *tree) {
  Value value = takeLeft();
  for (Expr *side : tree->expr())
    if (isBareArithmetic(side))
      return fail(
          tree,
          "`|>` beside arithmetic does not say what goes first; put one of the "
          "two in parentheses");
  Value into = eval(tree->expr(1));
  return pipe(tree, std::move(value), into);
}

Value Elaborator::pipe(Tree *at, Value value, const Value &into) {
  if (value.isUnknown() || into.isUnknown())
    return {};
  if (!functionOf(into))
    return fail(at, "cannot pipe into " + kindOf(into) +
                        "; a block is wanted on the right");
  bool isTensors = value.is<Tensor>();
  if (auto *list = value.as<List>())
    isTensors = llvm::all_of(*list->items,
                             [](const Value &v) { return v.is<Tensor>(); });
  if (isTensors) {
    auto *made = into.as<std::shared_ptr<Instance>>();
    if (made && (*made)->isComposition())
      return applyComposition(at, **made, value);
    if (isBuiltin(*functionOf(into))) {
      std::vector<Argument> arguments{{"", value, at, false}};
      if (made)
        for (auto &[name, argument] : (*made)->arguments)
          arguments.push_back({name, argument, at, false});
      return callBuiltin(at, *functionOf(into), std::move(arguments));
    }
    std::shared_ptr<Instance> instance = instantiate(at, into);
    if (!made && !completeSettings(at, *instance))
      return {};
    const Parameters &all = parametersOf(instance->function);
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
    return fail(at, "`" + instance->function.name +
                        "` lacks no tensor that could be piped in");
  }
  if (!functionOf(value))
    return fail(at, "cannot pipe " + kindOf(value) +
                        "; a tensor or a block is wanted on the left");
  return compose(at, {value, into});
}

Value Elaborator::compose(Tree *at, std::vector<Value> parts) {
  auto composition = std::make_shared<Instance>();
  composition->identity = identityAt(at);
  composition->isComposed = true;
  for (auto [i, part] : llvm::enumerate(parts)) {
    auto *made = part.as<std::shared_ptr<Instance>>();
    if (made && (*made)->isComposition() && (*made)->identity->name.empty() &&
        !(*made)->isRepeat) {
      // f |> g |> h is one composition.
      if (!spend(at, (*made)->parts.size()))
        return {};
      composition->parts.insert(composition->parts.end(),
                                (*made)->parts.begin(), (*made)->parts.end());
      continue;
    }
    if (auto *function = part.as<Function>();
        function && isBuiltin(*function)) {
      part = callBuiltin(at, *function, {});
      if (!part.is<std::shared_ptr<Instance>>())
        return {};
    } else if (function) {
      std::shared_ptr<Instance> instance = instantiateAt(at, part, i + 1);
      if (!completeSettings(at, *instance))
        return {};
      part = instance;
    }
    composition->parts.push_back(part);
  }
  return composition;
}

std::shared_ptr<Instance>
Elaborator::instantiateAt(Tree *at, const Value &callee, int64_t part) {
  frame->turns.push_back(part);
  std::shared_ptr<Instance> instance = instantiate(at, callee);
  frame->turns.pop_back();
  return instance;
}

antlrcpp::Any Elaborator::visitRepeat(NetParser::RepeatContext *tree) {
  Value count = eval(tree->expr(0));
  std::vector<Value> items;
  std::string variable = tree->ID() ? tree->ID()->getText() : "";
  if (std::optional<Number> number = numberOf(count);
      number && variable.empty()) {
    std::optional<int64_t> times =
        number->real ? std::nullopt : number->exact.toInt64();
    if (!times || *times < 0)
      return fail(tree->expr(0),
                  "expected how often to repeat, a whole number; this is " +
                      textOf(count));
    if (!spend(tree, *times))
      return Value();
    items.assign(*times, Value(Number(0)));
  } else if (count.isUnknown()) {
    return Value();
  } else {
    std::optional<std::vector<Value>> list = itemsOf(tree->expr(0), count);
    if (!list)
      return Value();
    items = std::move(*list);
  }
  auto repeat = std::make_shared<Instance>();
  repeat->identity = identityAt(tree);
  repeat->isComposed = true;
  repeat->isRepeat = true;
  Scope scope;
  scope.outer = frame->scope;
  if (!variable.empty())
    frame->scope = &scope;
  size_t before = spent;
  llvm::SmallPtrSet<Identity *, 16> named;
  for (auto [turn, item] : llvm::enumerate(items)) {
    if (turn == 1 && !affords(tree, spent - before, items.size() - 1))
      break;
    scope.names[variable] = item;
    frame->turns.push_back(turn);
    Value part = eval(tree->expr(1));
    if (part.is<Function>()) {
      std::shared_ptr<Instance> instance = instantiate(tree->expr(1), part);
      part = completeSettings(tree, *instance) ? Value(instance) : Value();
    }
    frame->turns.pop_back();
    auto *made = part.as<std::shared_ptr<Instance>>();
    if (!made) {
      if (!part.isUnknown())
        fail(tree->expr(1),
             "expected a block to repeat, this is " + kindOf(part));
      repeat = nullptr;
      break;
    }
    if (turn == 0)
      repeat->function =
          (*made)->function; // what names it, if nothing else does
    // One instance for several turns has the name of the first.
    if (named.insert((*made)->identity.get()).second)
      (*made)->identity->name = std::to_string(turn);
    (*made)->identity->parent = repeat->identity.get();
    repeat->parts.push_back(part);
  }
  if (!variable.empty())
    frame->scope = scope.outer;
  return repeat ? Value(repeat) : Value();
}

//===----------------------------------------------------------------------===//
// Application
//===----------------------------------------------------------------------===//

Value Elaborator::applyIfComplete(Tree *at,
                                  std::shared_ptr<Instance> instance) {
  if (graph && graph->step)
    giveStep(*instance);
  if (!isComplete(*instance))
    return instance;
  // An optimizer and a schedule lack tensors that the step gives them.
  return apply(at, *instance);
}

std::string Elaborator::unique(Identity &parent, StringRef name) {
  unsigned count = ++parent.names[name];
  return count == 1 ? name.str() : (name + "_" + llvm::Twine(count)).str();
}

void Elaborator::enter(Identity &identity, StringRef fallback, Tree *at) {
  Identity *parent = identity.parent;
  if (identity.name.empty())
    identity.name = parent ? unique(*parent, fallback) : fallback.str();
  identity.path = parent && !parent->path.empty()
                      ? parent->path + "." + identity.name
                      : identity.name;
  if (graph && &identity == graph->root.get())
    identity.path.clear(); // names are relative to the network
  if (++identity.applications > 1)
    identity.path += "@" + std::to_string(identity.applications);
  identity.names.clear();
  if (!identity.firstApplication)
    identity.firstApplication = locationOf(at);
}

Value Elaborator::apply(Tree *at, Instance &instance) {
  if (!graph)
    return fail(
        at,
        "`" + instance.function.name +
            "` is applied outside of a net; tensors live in nets and blocks");
  auto application = [&] {
    return instance.function.op ? applyOp(at, instance)
                                : applyBlock(at, instance);
  };
  return instance.recomputed ? applyRecomputed(at, application) : application();
}

Value Elaborator::applyRecomputed(Tree *at,
                                  llvm::function_ref<Value()> application) {
  mlir::Block *block = builder.getInsertionBlock();
  if (block != graph->entry)
    return fail(at, "what is `recomputed` stands outside of loops; take the "
                    "loop as a whole");
  mlir::Block::iterator end = builder.getInsertionPoint();
  mlir::Operation *before = end == block->begin() ? nullptr : &*std::prev(end);
  Value result = application();
  mlir::Attribute number = builder.getI64IntegerAttr(graph->recomputed++);
  for (mlir::Operation &op : llvm::make_range(
           before ? std::next(before->getIterator()) : block->begin(), end))
    op.setAttr(kRecomputed, number);
  return result;
}

Value Elaborator::applyComposition(Tree *at, Instance &instance, Value value) {
  if (instance.recomputed) {
    Instance parts = instance;
    parts.recomputed = false;
    return applyRecomputed(at,
                           [&] { return applyComposition(at, parts, value); });
  }
  Identity &identity = *instance.identity;
  bool transparent = identity.name.empty() && !instance.isRepeat;
  if (!transparent) {
    std::string fallback = "repeat";
    if (instance.function.block)
      fallback = StringRef(instance.function.name).lower();
    enter(identity, fallback, at);
  }
  for (const Value &part : instance.parts) {
    Identity &inner = *(*part.as<std::shared_ptr<Instance>>())->identity;
    if (!transparent)
      inner.parent = &identity;
    value = pipe(at, value, part);
    if (value.isUnknown())
      return {};
  }
  if (!transparent)
    identity.hasWeights = true;
  return value;
}

Value Elaborator::resultsOf(ResultList list) {
  if (list.empty())
    return None{};
  Value first = list.front().second;
  first.results = std::make_shared<const ResultList>(std::move(list));
  return first;
}

Value Elaborator::applyBlock(Tree *at, Instance &instance) {
  const BlockDecl &block = *instance.function.block;
  const Parameters &all = parametersOf(instance.function);
  for (Frame *outer = frame; outer; outer = outer->caller)
    if (outer->block == &block) {
      std::string cycle = "`" + block.name + "`";
      for (Frame *between = frame; between != outer; between = between->caller)
        if (between->block)
          cycle = "`" + between->block->name + "` -> " + cycle;
      return fail(at, "a block cannot contain itself: `" + block.name +
                          "` -> " + cycle);
    }
  Identity &identity = *instance.identity;
  // A block of no ops counts, too: blocks of two blocks each double quickly.
  if (!spend(at, 1))
    return {};
  enter(identity, StringRef(block.name).lower(), at);

  block.isUsed = true;
  identity.block = &block;
  Scope scope;
  Frame inner;
  inner.caller = frame;
  inner.file = block.file;
  inner.block = &block;
  inner.self = &identity;
  inner.scope = &scope;
  inner.frozen = instance.frozen || frame->frozen;
  inner.calledFrom = locationOf(at);
  for (auto [parameter, value] :
       llvm::zip_equal(all.settings, instance.settings))
    scope.names[parameter.name] = value.value_or(Value());

  Frame *outer = std::exchange(frame, &inner);
  auto restoreFrame = llvm::make_scope_exit([&] { frame = outer; });
  std::vector<std::pair<std::string, std::string>> restore;
  for (auto [parameter, values] :
       llvm::zip_equal(all.tensors, instance.tensors)) {
    // What is given belongs to the caller's text, a default to the block's.
    frame = values.empty() ? &inner : outer;
    Value value = values.empty() ? evalDefault(parameter) : values.front();
    if (!value.is<None>())
      value = tensorFor(at, value, builder.getF32Type());
    frame = &inner;
    if (value.isUnknown())
      return {};
    if (parameter.tree->COLON() && value.is<Tensor>()) {
      std::optional<TypeValue> pattern = typeOf(parameter.tree->expr(0));
      std::optional<Tensor> matched;
      if (pattern)
        matched =
            match(*pattern, *value.as<Tensor>(), parameter.tree, &restore);
      if (!matched)
        return {};
      value = *matched;
    }
    scope.names[parameter.name] = value;
  }

  if (block.tree->body()) {
    unsigned before = errors;
    run(block.tree->body());
    if (!inner.returned && !inner.isRefused && errors == before)
      return fail(block.tree, "`" + block.name + "` ends without `return`");
  } else {
    Value value = eval(block.tree->expr());
    std::string name;
    if (auto *ref = ruleCast<NetParser::RefContext>(block.tree->expr()))
      name = wordOf(ref->getStart());
    inner.returned = value.results ? *value.results : ResultList{{name, value}};
  }
  identity.hasWeights = true;
  if (!inner.returned)
    return {};
  for (auto &[name, result] : *inner.returned)
    if (auto *tensor = result.as<Tensor>())
      result = relabel(*tensor, restore);
  return resultsOf(std::move(*inner.returned));
}
