// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Evaluates calls: binds arguments to parameters, and makes instances.

#include "lib/Frontend/Evaluator.h"
#include "lib/Std/Std.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// The words of a type such as `mode: ["sum", "mean"] = "sum"`.
static std::vector<std::string> wordsOf(NetParser::ExprContext *type) {
  std::vector<std::string> words;
  auto *list = ruleCast<NetParser::ListContext>(type);
  if (!list || list->comp())
    return words;
  for (NetParser::AxisContext *axis : list->axis())
    if (auto *text = ruleCast<NetParser::StrContext>(axis->value)) {
      std::string quoted = text->getText();
      words.push_back(quoted.substr(1, quoted.size() - 2));
    }
  return words;
}

const Parameters &Caller::parametersOf(const Function &function) {
  const void *key = function.block ? static_cast<const void *>(function.block)
                                   : static_cast<const void *>(function.op);
  auto [entry, isNew] = parameters.try_emplace(key);
  Parameters &result = entry->second;
  // A built-in checks its own arguments.
  if (!isNew || !key)
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
    Parameter parameter{
        param->name()->getText(), !param->fallback, false, {}, param, nullptr};
    if (!isTensor && param->type)
      parameter.words = wordsOf(param->type);
    if (!isTensor && function.block->file == e.files.main)
      if (Override *given =
              e.commandLine.overrideOf(function.block->name, parameter.name)) {
        parameter.given = given->tree->expr(0);
        parameter.required = false;
      }
    (isTensor ? result.tensors : result.settings)
        .push_back(std::move(parameter));
  }
  return result;
}

std::string Caller::lackOf(const Value &value) {
  auto *present = value.as<std::shared_ptr<Instance>>();
  if (!present || (*present)->function.isBuiltin())
    return "";
  const Instance &instance = **present;
  if (instance.isComposition())
    return instance.parts.empty() ? "" : lackOf(instance.parts.front());
  std::string text;
  for (auto [parameter, given] : llvm::zip_equal(
           parametersOf(instance.function).tensors, instance.tensors))
    if (parameter.required && given.empty())
      text += (text.empty() ? ", `" + instance.function.name + "` without its `"
                            : " and `") +
              parameter.name + "`";
  if (text.empty())
    return text;
  // `x |> linear(4)`: the block of the op's name has weights.
  if (!instance.tensors.front().empty())
    for (const StandardBlock &block : standardBlocks())
      if (block.name.equals_insensitive(instance.function.name) &&
          block.name != instance.function.name)
        return text + "; `" + block.name.str() + "` makes its own";
  std::string all;
  llvm::ListSeparator comma;
  for (const Parameter &parameter : parametersOf(instance.function).tensors)
    if (parameter.required)
      all += StringRef(comma).str() + parameter.name;
  return text + "; write `" + instance.function.name + "(" + all + ")`";
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

std::optional<Message> Caller::mistakeIn(const Parameter &setting,
                                         const Function &function,
                                         const Value &value) {
  bool isFlag =
      setting.tree && ruleCast<NetParser::BoolContext>(setting.tree->fallback);
  if (isFlag && value.is<Number>()) {
    std::string all;
    llvm::ListSeparator comma;
    for (const Parameter &other : parametersOf(function).settings)
      all += StringRef(comma).str() + other.name;
    return error::SettingNoFlag(setting.name, function.name, textOf(value),
                                all);
  }
  auto *word = value.as<std::string>();
  if (!word || setting.words.empty() ||
      llvm::is_contained(setting.words, *word))
    return std::nullopt;
  return error::SettingNotOneOf(setting.name, function.name,
                                llvm::join(setting.words, ", "), *word,
                                e.didYouMean(*word, setting.words));
}

Value Caller::evalArgument(Expr *expr, StringRef name, const Value &callee) {
  auto *ref = ruleCast<NetParser::RefContext>(expr);
  const Function *function = functionOf(callee);
  // `Linear(out == 3)`
  if (auto *comparison = ruleCast<NetParser::CmpContext>(expr);
      comparison && function && (function->block || function->op) &&
      comparison->op->getText() == "==") {
    std::string left = comparison->left->getText();
    if (!e.nameTable.lookup(left) &&
        llvm::any_of(parametersOf(*function).settings,
                     [&](const Parameter &each) { return each.name == left; }))
      return e.fail(expr, error::ComparisonAsBinding, left,
                    sourceText(comparison->right));
  }
  if (!ref || !function)
    return e.eval(expr);
  const std::string &word = e.wordOf(ref->getStart());
  // Look up a bare name in the body first, then among the words of the setting,
  // then as usual.
  if (std::optional<Value> value = e.nameTable.lookupBody(word))
    return *value;
  if (function->block || function->op)
    for (const Parameter &setting : parametersOf(*function).settings) {
      if (!name.empty() && setting.name != name)
        continue;
      if (llvm::is_contained(setting.words, word))
        return Value(word);
      if (!name.empty() && !setting.words.empty() && !e.nameTable.lookup(word))
        return e.fail(expr, *mistakeIn(setting, *function, Value(word)));
    }
  bool isAxis = name == "over" || name == "as" || name == "channel";
  if (isAxis) {
    std::optional<Value> value = e.nameTable.lookup(word);
    if (value && (value->is<Axis>() || value->is<List>() || value->is<None>()))
      return *value;
    return Axis{Label(word), std::nullopt, -1};
  }
  return e.eval(expr);
}

/// The names in a list that contains only names; else empty.
static std::vector<NetParser::ExprContext *>
namesInList(NetParser::ExprContext *expr) {
  std::vector<NetParser::ExprContext *> names;
  auto *list = ruleCast<NetParser::ListContext>(expr);
  if (!list || list->comp())
    return names;
  for (NetParser::AxisContext *axis : list->axis()) {
    if (axis->label || !ruleCast<NetParser::RefContext>(axis->value))
      return {};
    names.push_back(axis->value);
  }
  return names;
}

const std::vector<WrittenArgument> &
Caller::argumentsOf(NetParser::ArgsContext *args) {
  auto [known, isNew] = writtenArguments.try_emplace(args);
  if (!isNew)
    return known->second;
  size_t semicolon = SIZE_MAX;
  if (args->SEMI())
    semicolon = args->SEMI()->getSymbol()->getTokenIndex();
  for (NetParser::ArgContext *arg : args->arg()) {
    WrittenArgument written;
    written.expr = arg->value;
    if (arg->label)
      written.name = arg->label->getText();
    if (written.name == "over")
      written.labels = namesInList(arg->value);
    written.behindSemicolon = arg->getStart()->getTokenIndex() > semicolon;
    known->second.push_back(std::move(written));
  }
  return known->second;
}

std::vector<Argument> Caller::evalArguments(NetParser::ArgsContext *args,
                                            const Value &callee) {
  const std::vector<WrittenArgument> &all = argumentsOf(args);
  std::vector<Argument> arguments;
  arguments.reserve(all.size());
  std::string hint = std::exchange(e.frame->hint, "");
  // A weight in the argument of an op is still named after the variable.
  if (const Function *function = callee.as<Function>();
      function && function->builtin)
    e.frame->hint = hint;
  for (const WrittenArgument &written : all) {
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
  e.frame->hint = hint;
  return arguments;
}

std::string netc::pathOf(NetParser::ExprContext *expr) {
  std::string text = expr->getText(), path;
  for (char c : text)
    if (c == '[')
      path += '.';
    else if (c != ']')
      path += c;
  return path;
}

Value Caller::askWith(const Subject &subject, NetParser::ArgsContext *args) {
  Subject question = subject;
  for (NetParser::ArgContext *arg : args->arg()) {
    if (!arg->label) {
      question.parts.push_back(pathOf(arg->value));
      continue;
    }
    std::string name = arg->label->getText();
    Value value = resolve(arg, e.eval(arg->value));
    std::optional<Number> number = numberOf(value);
    std::optional<Rational> exact =
        number && !number->real ? number->exact.constant() : std::nullopt;
    if (!exact)
      return value.isUnknown()
                 ? Value()
                 : e.fail(arg, error::NotANumber, name, kindOf(value));
    bool isShare = name == "utilization" && number->dimension.isNone() &&
                   *exact > Rational(0) && *exact <= Rational(1);
    bool isRate = name == "peak" && *exact > Rational(0) &&
                  number->dimension ==
                      Dimension(Dimension::Flop) / Dimension(Dimension::Time);
    if (!isShare && !isRate)
      return e.fail(arg, error::FigureAt, name, textOf(value),
                    e.didYouMean(name, {"utilization", "peak"}));
    question.numbers.push_back({name, *exact});
  }
  return question;
}

Value Caller::resolve(Tree *at, Value value) {
  auto *subject = value.as<Subject>();
  if (!subject)
    return value;
  if (!e.frame->results)
    return e.fail(at, error::ResultOutsideExpect, subject->symbol);
  return e.frame->results->answer(at, *subject);
}

Value Evaluator::evalCall(NetParser::CallContext *tree, const Value &callee) {
  if (callee.isUnknown()) {
    calls.evalArguments(tree->written, callee);
    return Value();
  }
  if (auto *subject = callee.as<Subject>())
    return calls.askWith(*subject, tree->written);
  // Names between the parentheses may be axes: `f32(N, 8)`.
  if (callee.is<TypeValue>())
    return calls.call(tree, callee, {});
  return calls.call(tree, callee, calls.evalArguments(tree->written, callee));
}

/// What to write instead of a call of a value that is no function.
static StringRef howToUse(const Value &value) {
  std::optional<Number> number = numberOf(value);
  if (value.is<TypeValue>())
    return "; its axes stand in brackets";
  if (number && !number->device.empty())
    return "; the name of a device is one word, such as `A100_80GB`";
  return number ? "; a product is written with `*`" : "";
}

Value Caller::call(Tree *at, const Value &callee,
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
    // A list of tensors calls the built-in for lists.
    bool isOfList = function->op && function->builtin->takesList &&
                    arguments.size() == 1 && positional &&
                    arguments.front().value.is<List>();
    bool meansOp = function->op && !isOfList &&
                   (!positional || llvm::any_of(arguments, isTensor));
    if (!meansOp)
      return callBuiltin(at, *function, std::move(arguments));
  }
  if (auto *section = callee.as<Section>())
    return callSection(at, *section, arguments);
  if (!functionOf(callee))
    return e.fail(at, error::NotCallable, kindOf(callee), howToUse(callee));
  auto *present = callee.as<std::shared_ptr<Instance>>();
  if (present &&
      ((*present)->isComposition() || (*present)->function.isBuiltin())) {
    // `f(x)` for a composition f is `x |> f`.
    if (arguments.size() != 1 || !arguments[0].name.empty())
      return e.fail(at, error::CompositionArguments);
    return e.applier.pipe(at, arguments[0].value, callee);
  }
  bool isNew = callee.is<Function>();
  std::shared_ptr<Instance> instance = instantiate(at, callee);
  if (!bindArguments(*instance, arguments))
    return {};
  if (isNew && !completeSettings(at, *instance))
    return {};
  return e.applier.applyIfComplete(at, instance);
}

Value Caller::callSection(Tree *at, Section section,
                          llvm::ArrayRef<Argument> arguments) {
  NetParser::ParamsContext *params = section.tree->params();
  std::vector<std::string> known;
  if (params)
    for (NetParser::ParamContext *param : params->param())
      known.push_back(param->name()->getText());
  if (known.empty())
    return e.fail(at, error::NoParameters, section.name);
  llvm::MapVector<std::string, Value, llvm::StringMap<unsigned>> given;
  size_t position = 0;
  for (const Argument &argument : arguments) {
    std::string name = argument.name;
    if (name.empty()) {
      if (position == known.size())
        return e.fail(argument.at, error::TooManyValues, section.name,
                      known.size());
      name = known[position++];
    }
    if (!llvm::is_contained(known, name))
      return e.fail(argument.nameAt(), error::UnknownArgument, section.name,
                    name, e.didYouMean(name, known));
    if (!given.insert({name, argument.value}).second)
      return e.fail(argument.at, error::DuplicateArgument, section.name, name,
                    "");
  }
  // A default may use parameters before it.
  Scope scope;
  Frame inner(e.frame);
  inner.file = section.file;
  inner.scope = &scope;
  auto values = std::make_shared<std::vector<std::pair<std::string, Value>>>();
  for (NetParser::ParamContext *param : params->param()) {
    std::string name = param->name()->getText();
    auto found = given.find(name);
    if (found == given.end() && !param->fallback)
      return e.fail(at, error::MissingArgument(section.name, name),
                    {{netc::locationOf(param), "it is declared here"}});
    Value value;
    if (found == given.end()) {
      InFrame in(e.frame, &inner);
      value = e.eval(param->fallback);
    } else {
      value = found->second;
    }
    scope.names[name] = value;
    values->push_back({name, value});
  }
  section.arguments = std::move(values);
  return section;
}

Value Caller::callBuiltin(Tree *at, const Function &function,
                          std::vector<Argument> arguments) {
  for (Argument &argument : arguments) {
    argument.value = resolve(argument.at, std::move(argument.value));
    if (argument.value.isUnknown())
      return {};
  }
  const Builtin &builtin = *function.builtin;
  if (builtin.takesTensor &&
      (arguments.empty() || !arguments.front().value.is<Tensor>())) {
    // The call waits for its tensor, as a block does.
    auto instance = std::make_shared<Instance>();
    instance->function = {function.name, nullptr, nullptr, &builtin};
    instance->identity = identityAt(at);
    for (Argument &argument : arguments)
      instance->arguments.push_back({argument.name, argument.value});
    return instance;
  }
  return (e.builtins.*builtin.call)(at, arguments);
}

std::shared_ptr<Instance> Caller::instantiate(Tree *at, const Value &callee) {
  if (auto *made = callee.as<std::shared_ptr<Instance>>())
    return std::make_shared<Instance>(**made);
  auto instance = std::make_shared<Instance>();
  instance->function = *callee.as<Function>();
  instance->identity = identityAt(at);
  instance->frozen = e.frame->frozen;
  if (instance->function.isBuiltin())
    return instance;
  const Parameters &all = parametersOf(instance->function);
  instance->tensors.resize(all.tensors.size());
  instance->settings.resize(all.settings.size());
  return instance;
}

std::shared_ptr<Identity> Caller::identityAt(Tree *at, int64_t part) {
  if (!e.frame->self)
    return std::make_shared<Identity>();
  CreationSite site{at, e.frame->iterations};
  site.iterations.push_back(part);
  std::shared_ptr<Identity> &identity = e.frame->self->children[site];
  if (!identity)
    identity = std::make_shared<Identity>();
  identity->maker = identity->parent = e.frame->self;
  identity->site = at;
  identity->name.clear();
  identity->copies = 0;
  identity->standsFor = 1;
  identity->applications = 0;
  e.applier.noteMade(*identity);
  return identity;
}

namespace {
/// Binds the arguments of a call to the parameters of an instance.
class ArgumentBinder {
public:
  ArgumentBinder(Evaluator &e, const Parameters &all, Instance &instance)
      : e(e), all(all), instance(instance) {}

  /// Binds one argument. False after an error that makes later errors
  /// meaningless.
  bool bind(const Argument &argument) {
    auto isUnknown = [](const Value &value) { return value.isUnknown(); };
    auto *list = argument.value.as<List>();
    if (isUnknown(argument.value) ||
        (list && llvm::any_of(*list->items, isUnknown))) {
      isFine = false;
      return true;
    }
    if (!argument.name.empty()) {
      bindByName(argument);
      return true;
    }
    std::vector<Value> tensors = tensorsIn(argument);
    if (!tensors.empty())
      return bindTensors(argument, tensors);
    // Accept a number for a block that has no settings and no pattern: it
    // computes a number.
    if (std::optional<size_t> i = nextTensor();
        i && instance.function.block && all.settings.empty() &&
        !all.tensors[*i].tree->type && netc::numberOf(argument.value)) {
      giveTensor(*i, argument);
      return true;
    }
    return bindSetting(argument);
  }

  bool isFine = true; ///< whether no argument had an error

private:
  const std::string &callee() const { return instance.function.name; }

  template <unsigned holes, typename... Args>
  bool fail(antlr4::ParserRuleContext *at, const error::Text<holes> &error,
            const Args &...args) {
    e.fail(at, error, args...);
    return isFine = false;
  }

  void giveTensor(size_t i, const Argument &argument) {
    const Parameter &parameter = all.tensors[i];
    if (instance.tensors[i].empty() || parameter.variadic)
      instance.tensors[i].push_back(argument.value);
    else
      fail(argument.at, error::DuplicateArgument, callee(), parameter.name, "");
  }

  std::optional<size_t> nextTensor() const {
    for (size_t i = 0; i < all.tensors.size(); ++i)
      if (instance.tensors[i].empty() || all.tensors[i].variadic)
        return i;
    return std::nullopt;
  }

  void bindByName(const Argument &argument) {
    auto hasName = [&](const Parameter &p) { return p.name == argument.name; };
    auto tensor = llvm::find_if(all.tensors, hasName);
    if (tensor != all.tensors.end()) {
      if (!argument.value.is<None>() || tensor->required)
        giveTensor(tensor - all.tensors.begin(), argument);
      return;
    }
    auto setting = llvm::find_if(all.settings, hasName);
    if (setting != all.settings.end()) {
      size_t place = setting - all.settings.begin();
      std::optional<Value> &slot = instance.settings[place];
      if (slot)
        fail(argument.at, error::DuplicateArgument, callee(), argument.name,
             namesUpTo(place));
      slot = argument.value;
      return;
    }
    if (argument.name == "as" && instance.function.op) {
      if (auto *axis = argument.value.as<Axis>())
        instance.as = axis->label;
      else if (!argument.value.is<None>())
        fail(argument.at, error::NotALabel, kindOf(argument.value));
      return;
    }
    std::vector<std::string> known;
    if (e.showsErrors())
      for (const std::vector<Parameter> *list : {&all.tensors, &all.settings})
        for (const Parameter &parameter : *list)
          known.push_back(parameter.name);
    fail(argument.nameAt(), error::UnknownArgument, callee(), argument.name,
         e.meantOrAll(argument.name, known, "it takes"));
  }

  /// What the values without names are, up to one of them.
  std::string namesUpTo(size_t place) const {
    if (place >= instance.positional)
      return "";
    std::vector<std::string> names;
    for (const Parameter &setting :
         llvm::ArrayRef(all.settings).take_front(place + 1))
      names.push_back(setting.name);
    return e.meantOrAll("", names, "without names, it takes");
  }

  /// The tensors of an argument: itself, the elements of a list, or a number if
  /// the op takes one in place of a tensor.
  std::vector<Value> tensorsIn(const Argument &argument) const {
    bool isFull = e.tensors.isElementByElement(instance.function) &&
                  nextTensor() && numberOf(argument.value);
    if (argument.value.is<Tensor>() || isFull)
      return {argument.value};
    auto *list = argument.value.as<List>();
    auto isTensor = [](const Value &value) { return value.is<Tensor>(); };
    return list && llvm::all_of(*list->items, isTensor) && nextTensor()
               ? *list->items
               : std::vector<Value>();
  }

  bool bindTensors(const Argument &argument, llvm::ArrayRef<Value> tensors) {
    if (argument.behindSemicolon)
      fail(argument.at, error::TensorAmongSettings);
    for (const Value &value : tensors) {
      std::optional<size_t> i = nextTensor();
      if (!i)
        return fail(argument.at, error::TooManyTensors, callee(),
                    all.tensors.size(),
                    all.tensors.size() == 1 ? " tensor" : " tensors");
      giveTensor(*i, Argument{"", value, argument.at, false});
    }
    return true;
  }

  bool bindSetting(const Argument &argument) {
    while (nextSetting < all.settings.size() && instance.settings[nextSetting])
      ++nextSetting;
    if (nextSetting < all.settings.size()) {
      instance.settings[nextSetting++] = argument.value;
      ++instance.positional;
      return true;
    }
    auto *list = argument.value.as<List>();
    if (list && list->items->empty())
      return fail(argument.at, error::EmptyListOfTensors, callee());
    if (nextTensor() && all.settings.empty())
      return fail(argument.at, error::TakesTensorNot, callee(),
                  kindOf(argument.value));
    std::vector<std::string> names;
    for (const Parameter &setting : all.settings)
      names.push_back(setting.name);
    return fail(argument.at, error::TooManySettings, callee(), names.size(),
                names.size() == 1 ? " setting" : " settings",
                kindOf(argument.value), e.meantOrAll("", names, "it takes"));
  }

  Evaluator &e;
  const Parameters &all;
  Instance &instance;
  size_t nextSetting = 0;
};
} // namespace

bool Caller::bindArguments(Instance &instance,
                           llvm::ArrayRef<Argument> arguments) {
  ArgumentBinder binder(e, parametersOf(instance.function), instance);
  return llvm::all_of(
             arguments,
             [&](const Argument &each) { return binder.bind(each); }) &&
         binder.isFine;
}

bool Caller::completeSettings(Tree *at, Instance &instance) {
  const Function &function = instance.function;
  if (!function.block)
    return true; // an op's settings are read when it is applied, against its
                 // tensors
  const Parameters &all = parametersOf(function);
  bool fine = true;
  // Defaults are evaluated in the block's own scope, and may use earlier
  // settings.
  Scope scope;
  Frame inner(e.frame);
  inner.file = function.block->file;
  inner.scope = &scope;
  inner.self = e.frame->self;
  inner.caller = e.frame;
  inner.iterations = e.frame->iterations;
  inner.frozen = e.frame->frozen;
  for (auto [parameter, value] :
       llvm::zip_equal(all.settings, instance.settings)) {
    if (!value && parameter.required) {
      e.fail(at, error::MissingArgument(function.name, parameter.name),
             {{netc::locationOf(parameter.tree), "it is declared here"}});
      fine = false;
      value = Value();
    }
    InFrame in(e.frame, value ? e.frame : &inner);
    Tree *place = at;
    if (!value) {
      place = parameter.given ? static_cast<Tree *>(parameter.given)
                              : parameter.tree;
      value = evalDefault(parameter);
      if (parameter.given)
        e.commandLine.overrideOf(function.block->name, parameter.name)->isUsed =
            true;
    }
    if (std::optional<Message> mistake =
            mistakeIn(parameter, function, *value)) {
      e.fail(place, *mistake);
      fine = false;
    }
    scope.names[parameter.name] = *value;
  }
  return fine;
}

Value Caller::evalDefault(const Parameter &parameter) {
  return evalSetting(parameter, parameter.given ? parameter.given
                                                : parameter.tree->fallback);
}

Value Caller::evalSetting(const Parameter &parameter, Expr *expr) {
  if (auto *ref = ruleCast<NetParser::RefContext>(expr);
      ref && llvm::is_contained(parameter.words, e.wordOf(ref->getStart())))
    return Value(e.wordOf(ref->getStart()));
  return e.eval(expr);
}

bool Caller::isComplete(const Instance &instance) {
  const Parameters &all = parametersOf(instance.function);
  for (auto [parameter, given] : llvm::zip_equal(all.tensors, instance.tensors))
    if (parameter.required && given.empty())
      return false;
  return true;
}
