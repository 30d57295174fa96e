// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Expressions of compile-time values; tensors go on to Ops.cpp and Shapes.cpp.

#include "lib/Frontend/Evaluator.h"
#include "lib/Frontend/RunBuilder.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

Value Evaluator::eval(Expr *expr, std::vector<Tree *> &read) {
  Ranges::Reads reads(ranges);
  Value value = eval(expr);
  read = reads.all().vec();
  return value;
}

Value Evaluator::eval(Expr *expr, bool &isMiddle) {
  std::vector<Tree *> read;
  Value value = eval(expr, read);
  isMiddle |=
      llvm::any_of(read, [&](Tree *range) { return !ranges.endOf(range); });
  ranges.noteRead(read);
  return value;
}

Value Evaluator::eval(Expr *expr) {
  // Parsing limits the nesting of a file. This limits the nesting of calls of
  // blocks.
  if (depth >= 2 * options.limits.maxDepth)
    return fail(expr, error::NestedTooDeep, 2 * options.limits.maxDepth);
  ++depth;
  auto leave = llvm::make_scope_exit([&] { --depth; });
  if (precisions.isPreset(expr))
    return precisions.eval(expr);
  if (!leftOperand(expr))
    return evalLink(expr, Value());
  Value value;
  // Evaluate the links of a chain in a loop from the left, so that long chains
  // need no stack.
  auto [spine, isNew] = spines.try_emplace(expr);
  if (isNew)
    spine->second = leftSpine(expr);
  for (Expr *link : spine->second)
    value = evalLink(link, value);
  return value;
}

Value Evaluator::evalLink(Expr *link, const Value &left) {
  if (auto *tree = ruleCast<NetParser::RefContext>(link))
    return evalRef(tree);
  if (auto *tree = ruleCast<NetParser::LitContext>(link))
    return evalLit(tree);
  if (auto *tree = ruleCast<NetParser::CallContext>(link))
    return evalCall(tree, left);
  if (auto *tree = ruleCast<NetParser::MemberContext>(link))
    return member(tree, left);
  if (auto *tree = ruleCast<NetParser::IndexContext>(link))
    return index(tree, left);
  if (auto *tree = ruleCast<NetParser::PowContext>(link))
    return evalPow(tree, left);
  if (auto *tree = ruleCast<NetParser::MulContext>(link))
    return evalMul(tree, left);
  if (auto *tree = ruleCast<NetParser::AddContext>(link))
    return evalAdd(tree, left);
  if (auto *tree = ruleCast<NetParser::RangeContext>(link))
    return evalRange(tree, left);
  if (auto *tree = ruleCast<NetParser::CmpContext>(link))
    return evalCmp(tree, left);
  if (auto *tree = ruleCast<NetParser::AndContext>(link))
    return evalAnd(tree, left);
  if (auto *tree = ruleCast<NetParser::OrContext>(link))
    return evalOr(tree, left);
  if (auto *tree = ruleCast<NetParser::PipeContext>(link))
    return evalPipe(tree, left);
  return visit(link).as<Value>();
}

//===----------------------------------------------------------------------===//
// Literals, names, lists
//===----------------------------------------------------------------------===//

Value Evaluator::evalLit(NetParser::LitContext *tree) {
  auto known = literals.find(tree);
  if (known != literals.end())
    return known->second;
  std::optional<Literal> literal = operators.literalOf(tree->quantity());
  if (!literal)
    return Value();
  Number value(literal->value, literal->dimension, literal->device);
  literals.emplace(tree, value);
  return value;
}

antlrcpp::Any Evaluator::visitStr(NetParser::StrContext *tree) {
  std::string quoted = tree->STRING()->getText(), text;
  for (size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] == '\\') {
      ++i;
      text += quoted[i] == 'n' ? '\n' : quoted[i] == 't' ? '\t' : quoted[i];
    } else {
      text += quoted[i];
    }
  }
  return Value(text);
}

antlrcpp::Any Evaluator::visitBool(NetParser::BoolContext *tree) {
  return Value(tree->TRUE() != nullptr);
}

static bool isInBranch(antlr4::tree::ParseTree *tree) {
  for (; tree; tree = tree->parent)
    if (ruleCast<NetParser::IfStmtContext>(tree))
      return true;
  return false;
}

Value Evaluator::evalRef(NetParser::RefContext *tree) {
  const std::string &name = wordOf(tree->getStart());
  if (std::optional<Value> value = nameTable.lookup(name, tree))
    return std::move(*value);
  Message message = nameTable.unknownName(name);
  // Say so if a branch that is not taken binds the name.
  if (frame->block && showsErrors()) {
    llvm::ArrayRef<Mention> all =
        frame->file->resolver.mentionsIn(frame->block->tree);
    auto binding = llvm::find_if(all, [&](const Mention &each) {
      return each.name == name && each.role == Mention::Declares &&
             each.declaration->kind == Declaration::Variable;
    });
    if (binding != all.end() && isInBranch(binding->tree))
      return fail(tree, message,
                  {{locationOf(static_cast<Tree *>(binding->tree->parent)),
                    "only a branch that is not taken binds it, here"}});
  }
  return fail(tree, message);
}

antlrcpp::Any Evaluator::visitParen(NetParser::ParenContext *tree) {
  return eval(tree->expr());
}

/// Blocks that are made in a list are copies. A block with a name was made
/// before.
static Value listOfMade(std::vector<Value> items) {
  for (auto [iteration, item] : llvm::enumerate(items))
    if (auto *made = item.as<std::shared_ptr<Instance>>();
        made && (*made)->identity->name.empty()) {
      (*made)->identity->iteration = iteration;
      (*made)->identity->copies = items.size();
    }
  return listOf(std::move(items));
}

antlrcpp::Any Evaluator::visitList(NetParser::ListContext *tree) {
  std::vector<Value> items;
  auto evalItem = [&](NetParser::AxisContext *axis) {
    if (!axis->value) {
      items.push_back(fail(axis, error::RestOutsidePattern));
      return;
    }
    Value value = applier.evalOwner(axis->value);
    if (axis->label) {
      if (std::optional<Polynomial> size = tensors.sizeOf(axis, value))
        value = Axis{Label(axis->label->getText()), *size};
      else
        value = Value();
    }
    items.push_back(std::move(value));
  };
  auto *comp = tree->comp();
  if (!comp) {
    std::vector<NetParser::AxisContext *> axes = tree->axis();
    items.reserve(axes.size());
    for (NetParser::AxisContext *axis : axes)
      evalItem(axis);
    return listOfMade(std::move(items));
  }
  LoopNames names = comp->ID();
  if (!areNames(comp, names))
    return Value();
  std::optional<std::vector<Value>> domain =
      itemsOf(comp->expr(0), eval(comp->expr(0)));
  if (!domain)
    return Value();
  Scope scope;
  scope.outer = frame->scope;
  InScope in(frame->scope, &scope);
  bool isKnown = true;
  for (auto [iteration, item] : llvm::enumerate(*domain)) {
    if (!budget.spend(tree, 1))
      break;
    std::vector<Value> values = valuesOf(comp->expr(0), names, iteration, item);
    if (values.empty()) {
      isKnown = false;
      break;
    }
    frame->iterations.push_back(iteration);
    for (auto [name, value] : llvm::zip_equal(names, values))
      scope.names[name->getText()] = value;
    std::optional<bool> taken =
        comp->expr().size() < 2 ? true : decide(comp->expr(1));
    if (!taken)
      isKnown = false;
    else if (*taken)
      evalItem(tree->axis(0));
    frame->iterations.pop_back();
  }
  return isKnown ? listOfMade(std::move(items)) : Value();
}

antlrcpp::Any Evaluator::visitRec(NetParser::RecContext *tree) {
  auto fields = std::make_shared<
      llvm::MapVector<std::string, Value, llvm::StringMap<unsigned>>>();
  for (NetParser::FieldContext *field : tree->record()->field()) {
    std::string name = field->name()->getText();
    if (!fields->insert({name, eval(field->expr())}).second)
      fail(field, error::DuplicateKey, name);
  }
  bool isPerGraph = llvm::any_of(*fields, [](const auto &field) {
    return netc::isPerGraph(field.second);
  });
  return Value(Record{fields, isPerGraph});
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Value Evaluator::evalPow(NetParser::PowContext *tree, const Value &a) {
  return operators.binary(tree, "^", a, eval(tree->right));
}

antlrcpp::Any Evaluator::visitNeg(NetParser::NegContext *tree) {
  Value value = calls.resolve(tree, eval(tree->operand));
  if (auto *tensor = value.as<Tensor>())
    return tensors.emit(tree, "neg", *tensor);
  if (std::optional<Number> number = numberOf(value))
    return operators.arithmetic(tree, "-", Number(0, number->dimension),
                                *number);
  if (value.isUnknown())
    return Value();
  return fail(tree, error::CannotNegate, kindOf(value),
              value.is<List>() ? "; `[-x for x in list]` negates each element"
                               : "");
}

Value Evaluator::evalMul(NetParser::MulContext *tree, const Value &a) {
  return operators.binary(tree, wordOf(tree->op), a, eval(tree->right));
}

Value Evaluator::evalAdd(NetParser::AddContext *tree, const Value &a) {
  return operators.binary(tree, wordOf(tree->op), a, eval(tree->right));
}

Value Evaluator::evalRange(NetParser::RangeContext *tree, const Value &a) {
  Value b = eval(tree->right);
  if (a.isUnknown() || b.isUnknown())
    return Value();
  std::optional<Number> begin = numberOf(a), end = numberOf(b);
  if (!begin || !end || begin->real || end->real)
    return fail(tree, error::RangeBounds, kindOf(a), kindOf(b),
                a.is<Range>()
                    ? "; a range has no step, write `[2 * i for i in 0..5]`"
                    : "");
  for (const Polynomial &bound : {begin->exact, end->exact})
    if (bound.isConstant() && !bound.toInt64())
      return fail(tree, error::RangeBounds, textOf(a), textOf(b), "");
  return Value(Range{begin->exact, end->exact});
}

Value Evaluator::evalCmp(NetParser::CmpContext *tree, const Value &a) {
  if (ruleCast<NetParser::CmpContext>(tree->left))
    return fail(tree, error::ChainedComparison);
  return operators.compare(tree, wordOf(tree->op), a, eval(tree->right));
}

std::optional<bool> Evaluator::decide(Expr *condition) {
  Value value = eval(condition);
  if (auto *flag = value.as<bool>())
    return *flag;
  if (!value.isUnknown())
    fail(condition, error::NotABool, kindOf(value),
         numberOf(value) && ruleCast<NetParser::RefContext>(condition)
             ? "; compare it, as in `" + condition->getText() + " != 0`"
             : "");
  return std::nullopt;
}

antlrcpp::Any Evaluator::visitNot(NetParser::NotContext *tree) {
  std::optional<bool> value = decide(tree->operand);
  return value ? Value(!*value) : Value();
}

/// The result of `and` or `or`, if the left side alone decides it because it
/// equals `decisive`.
static std::optional<bool> decidesAlone(const Value &value, bool decisive) {
  auto *flag = value.as<bool>();
  if (flag && *flag == decisive)
    return decisive;
  return std::nullopt;
}

Value Evaluator::evalAnd(NetParser::AndContext *tree, const Value &a) {
  if (a.isUnknown())
    return Value();
  if (!a.is<bool>())
    return fail(tree, error::JoinsBools, "and", kindOf(a));
  if (decidesAlone(a, false))
    return Value(false);
  std::optional<bool> b = decide(tree->right);
  return b ? Value(*b) : Value();
}

Value Evaluator::evalOr(NetParser::OrContext *tree, const Value &a) {
  if (a.isUnknown())
    return Value();
  if (!a.is<bool>())
    return fail(tree, error::JoinsBools, "or", kindOf(a));
  if (decidesAlone(a, true))
    return Value(true);
  std::optional<bool> b = decide(tree->right);
  return b ? Value(*b) : Value();
}

antlrcpp::Any Evaluator::visitCond(NetParser::CondContext *tree) {
  std::optional<bool> condition = decide(tree->expr(0));
  if (!condition)
    return Value();
  return eval(tree->expr(*condition ? 1 : 2));
}

//===----------------------------------------------------------------------===//
// Index and member
//===----------------------------------------------------------------------===//

/// Whether a value is several tensors without names, such as those of `split`.
static bool areParts(const Value &value) {
  return value.results && value.results->size() > 1 &&
         llvm::all_of(*value.results,
                      [](const auto &result) { return result.first.empty(); });
}

/// `i` of `x[i]`; null for several indices, and those of a named axis.
static NetParser::ExprContext *onlyIndex(NetParser::AxesContext *axes) {
  std::vector<NetParser::AxisContext *> all = axes->axis();
  return all.size() == 1 && !all[0]->label ? all[0]->value : nullptr;
}

Value Evaluator::index(NetParser::IndexContext *tree, const Value &base) {
  if (base.isUnknown())
    return {};
  NetParser::AxesContext *axes = tree->places;
  if (auto *type = base.as<TypeValue>()) {
    TypeValue shaped = *type;
    if (axes)
      shaped.axes = axes->axis();
    shaped.isShaped = true;
    return shaped;
  }
  if (!axes)
    return fail(tree, error::MissingIndex);
  Expr *only = onlyIndex(axes);
  if (base.is<Tensor>()) {
    if (areParts(base) && ruleCast<NetParser::LitContext>(only))
      return fail(tree, error::IndexOfResults, sourceText(tree->left),
                  base.results->size());
    return indexTensor(axes, base);
  }
  if (!only)
    return fail(tree, error::OneIndex, tree->left->getText());
  Value at = eval(only);
  if (at.isUnknown())
    return {};
  if (auto *list = base.as<List>())
    return indexItems(tree, *list->items, at);
  if (!base.is<Range>())
    return fail(tree, error::NoElements, kindOf(base));
  std::optional<std::vector<Value>> items = itemsOf(tree, base);
  return items ? indexItems(tree, *items, at) : Value();
}

Value Evaluator::indexTensor(NetParser::AxesContext *axes, const Value &base) {
  // Places are counted in the tensor as it was before any axis went.
  const Tensor &tensor = *base.as<Tensor>();
  Value result = base;
  size_t given = axes->axis().size(), place = 0, dropped = 0;
  bool rest = false;
  llvm::StringSet<> indexed;
  for (NetParser::AxisContext *axis : axes->axis()) {
    if (!axis->value) {
      if (rest)
        return fail(axis, error::RestTwiceInIndex);
      rest = true;
      place = tensor.labels.size() - (given - place - 1);
      continue;
    }
    Value at = eval(axis->value);
    if (at.isUnknown() || result.isUnknown())
      return {};
    const Tensor &present = *result.as<Tensor>();
    size_t position = place - dropped;
    if (axis->label) {
      std::optional<size_t> found = indexedAxis(axis, present, indexed);
      if (!found)
        return {};
      position = *found;
    } else if (place >= tensor.labels.size() || place < dropped) {
      return fail(axis, error::TooManyIndices, tensor.labels.size());
    }
    bool drops = !at.is<Range>();
    result = tensors.slice(axis, present, position, at);
    dropped += drops;
    ++place;
  }
  return result;
}

std::optional<size_t> Evaluator::indexedAxis(NetParser::AxisContext *axis,
                                             const Tensor &tensor,
                                             llvm::StringSet<> &indexed) {
  std::string label = axis->label->getText();
  std::optional<size_t> position = tensors.find(tensor, label);
  // `x[t = 0]`, where `t` is an axis of x.
  std::optional<Value> named =
      position ? std::nullopt : nameTable.lookupBody(label);
  if (named && named->is<Axis>()) {
    std::optional<int64_t> found = tensors.axisOf(axis, *named, tensor);
    if (!found)
      return std::nullopt;
    position = *found;
  }
  if (!indexed.insert(label).second) {
    fail(axis, error::AxisIndexedTwice, label);
    return std::nullopt;
  }
  if (!position)
    tensors.failUnknownAxis(axis, label, tensor);
  return position;
}

Value Evaluator::indexItems(NetParser::IndexContext *tree,
                            const std::vector<Value> &items, const Value &at) {
  auto place = [&](const Polynomial &value) -> std::optional<int64_t> {
    std::optional<int64_t> at = value.toInt64();
    if (at && *at < 0)
      *at += items.size();
    return at;
  };
  if (auto *range = at.as<Range>()) {
    std::optional<int64_t> begin = place(range->begin), end = place(range->end);
    if (!begin || !end || *begin < 0 || *end > int64_t(items.size()) ||
        *begin > *end)
      return fail(tree, error::SliceOutOfRange, range->begin.str(),
                  range->end.str(), items.size());
    return listOf(
        std::vector<Value>(items.begin() + *begin, items.begin() + *end));
  }
  std::optional<Number> number = numberOf(at);
  std::optional<int64_t> position =
      number ? place(number->exact) : std::nullopt;
  if (!position || *position < 0 || *position >= int64_t(items.size()))
    return fail(tree, error::IndexOutOfRange, textOf(at), items.size(),
                items.empty()       ? ""
                : items.size() == 1 ? "; the only one is 0"
                                    : "; they are numbered from 0 to " +
                                          std::to_string(items.size() - 1));
  return items[*position];
}

Value Evaluator::member(NetParser::MemberContext *tree, const Value &base) {
  const std::string &name = wordOf(tree->name()->getStart());
  if (base.isUnknown())
    return {};
  // The names that are known, which only errors that are shown suggest.
  std::vector<std::string> known;
  auto isKnown = [&, shows = showsErrors()](const std::string &other) {
    if (shows)
      known.push_back(other);
  };
  if (base.results)
    for (auto &[result, value] : *base.results) {
      if (result == name)
        return value;
      isKnown(result);
    }
  if (auto *subject = base.as<Subject>()) {
    Subject longer = *subject;
    longer.members.push_back(name);
    return longer;
  }
  if (auto *space = base.as<Namespace>()) {
    if (std::optional<Value> value = nameTable.lookupFile(*space->file, name))
      return *value;
    for (auto &entry : space->file->names)
      isKnown(entry.first);
  } else if (auto *record = base.as<Record>()) {
    auto found = record->fields->find(name);
    if (found != record->fields->end())
      return found->second;
    for (auto &entry : *record->fields)
      isKnown(entry.first);
  } else if (auto *tensor = base.as<Tensor>()) {
    if (std::optional<size_t> position = tensors.find(*tensor, name))
      return tensors.axisValue(*tensor, *position);
    std::string hint = didYouMean(name, tensors.namesOf(tensor->labels));
    if (name == "shape" || name == "size")
      hint = "; an axis is `x.C` by its label, or `axes(x)[1]`";
    else if (hint.empty() && ruleCast<NetParser::CallContext>(tree->parent))
      hint = "; an op takes its tensor first, as in `relu(x)`";
    else if (hint.empty() && name == "T")
      hint = "; `transpose(x)` swaps the last two";
    else if (hint.empty())
      hint = "; its axes are " + TensorBuilder::axesText(*tensor);
    return fail(tree, error::UnknownAxis, name, hint);
  } else if (auto *instance = base.as<std::shared_ptr<Instance>>()) {
    Identity &identity = *(*instance)->identity;
    for (auto &[weight, tensor] : identity.namedWeights) {
      if (weight == name)
        return tensor;
      isKnown(weight);
    }
    if (!identity.hasWeights)
      return fail(tree, error::NotAppliedYet, (*instance)->function.name);
  } else if (auto *function = base.as<Function>();
             function && function->block && function->block->isNet) {
    bool isClosed =
        llvm::all_of(calls.parametersOf(*function).settings,
                     [](const Parameter &each) { return !each.required; });
    // The nets of other files are not counted by themselves.
    if (frame->results && isClosed)
      return fail(tree, error::UnknownMember, "an imported net", name,
                  "; name one that is made of it, such as `Counted = " +
                      sourceText(tree->expr()) + "()`, and ask for `Counted." +
                      name + "`");
    if (frame->results)
      return fail(tree, error::ResultNeedsSettings, function->name, name);
    return fail(tree, error::ResultOutsideExpect, function->name + "." + name);
  }
  std::string hint = meantOrFew(name, known, "it has");
  if (std::optional<Value> function = nameTable.lookup(name);
      hint.empty() && function && functionOf(*function))
    hint = "; write `" + name + "(" + sourceText(tree->expr()) + ")`";
  return fail(tree, error::UnknownMember, kindOf(base), name, hint);
}
