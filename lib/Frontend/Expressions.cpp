// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Expressions of compile-time values; tensors go on to Ops.cpp and Shapes.cpp.

#include "lib/Frontend/Elaborator.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace netc;
using llvm::StringRef;

Value Elaborator::eval(Expr *expr, std::vector<Tree *> &read) {
  Ranges::Reads reads(ranges);
  Value value = eval(expr);
  read = reads.all().vec();
  return value;
}

Value Elaborator::eval(Expr *expr, bool &isMiddle) {
  std::vector<Tree *> read;
  Value value = eval(expr, read);
  isMiddle |=
      llvm::any_of(read, [&](Tree *range) { return !ranges.endOf(range); });
  ranges.noteRead(read);
  return value;
}

Value Elaborator::eval(Expr *expr) {
  // A file's nesting is bounded where it is parsed; that of blocks in blocks
  // here.
  if (depth >= 2 * options.limits.maxDepth)
    return fail(expr, "blocks and expressions are nested more than " +
                          llvm::Twine(2 * options.limits.maxDepth) +
                          " deep; a greater `--max-depth` allows more");
  ++depth;
  auto leave = llvm::make_scope_exit([&] { --depth; });
  Value value;
  // The left operand of a chain is evaluated before the chain's next link, not
  // by recursion, so that a long chain takes no stack.
  auto [spine, isNew] = spines.try_emplace(expr);
  if (isNew)
    spine->second = leftSpine(expr);
  for (Expr *link : spine->second) {
    left = std::move(value);
    value = visit(link).as<Value>();
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Literals, names, lists
//===----------------------------------------------------------------------===//

std::optional<Literal> Elaborator::literalOf(NetParser::QuantityContext *tree) {
  std::variant<Literal, UnitError> parsed;
  if (tree->RATE())
    parsed = parseRate(tree->RATE()->getText());
  else if (tree->DEVTIME())
    parsed = parseDeviceTime(tree->DEVTIME()->getText());
  else
    parsed = parseQuantity(tree->NUMBER()->getText(),
                           tree->ID() ? tree->ID()->getText() : "");
  if (auto *literal = std::get_if<Literal>(&parsed))
    return *literal;
  const UnitError &error = std::get<UnitError>(parsed);
  fail(tree, error.message + (error.note.empty() ? "" : "; " + error.note));
  return std::nullopt;
}

antlrcpp::Any Elaborator::visitLit(NetParser::LitContext *tree) {
  auto known = literals.find(tree);
  if (known != literals.end())
    return known->second;
  std::optional<Literal> literal = literalOf(tree->quantity());
  if (!literal)
    return Value();
  Value value = Number(literal->value, literal->dimension, literal->device);
  literals.emplace(tree, value);
  return value;
}

antlrcpp::Any Elaborator::visitStr(NetParser::StrContext *tree) {
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

antlrcpp::Any Elaborator::visitBool(NetParser::BoolContext *tree) {
  return Value(tree->TRUE() != nullptr);
}

static bool isInBranch(antlr4::tree::ParseTree *tree) {
  for (; tree; tree = tree->parent)
    if (ruleCast<NetParser::IfStmtContext>(tree))
      return true;
  return false;
}

antlrcpp::Any Elaborator::visitRef(NetParser::RefContext *tree) {
  const std::string &name = wordOf(tree->getStart());
  use = tree;
  if (std::optional<Value> value = lookup(name))
    return *value;
  std::string message = unknownName(name);
  // What binds it in this body was passed over: a branch that was not taken.
  if (frame->block) {
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

antlrcpp::Any Elaborator::visitParen(NetParser::ParenContext *tree) {
  return eval(tree->expr());
}

/// Blocks that are made in a list are copies. What has a name was made before.
static Value listOfMade(std::vector<Value> items) {
  for (auto [turn, item] : llvm::enumerate(items))
    if (auto *made = item.as<std::shared_ptr<Instance>>();
        made && (*made)->identity->name.empty()) {
      (*made)->identity->turn = turn;
      (*made)->identity->copies = items.size();
    }
  return listOf(std::move(items));
}

antlrcpp::Any Elaborator::visitList(NetParser::ListContext *tree) {
  std::vector<Value> items;
  auto evalItem = [&](NetParser::AxisContext *axis) {
    if (!axis->expr()) {
      items.push_back(fail(axis, "`...` stands in patterns only"));
      return;
    }
    Value value = evalOwner(axis->expr());
    if (axis->name()) {
      if (std::optional<Polynomial> size = sizeOf(axis, value))
        value = Axis{Label(axis->name()->getText()), *size};
      else
        value = Value();
    }
    items.push_back(std::move(value));
  };
  auto *comp = tree->comp();
  if (!comp) {
    for (NetParser::AxisContext *axis : tree->axis())
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
  frame->scope = &scope;
  bool isKnown = true;
  for (auto [turn, item] : llvm::enumerate(*domain)) {
    if (!spend(tree, 1))
      break;
    std::vector<Value> values = valuesOf(comp->expr(0), names, turn, item);
    if (values.empty()) {
      isKnown = false;
      break;
    }
    frame->turns.push_back(turn);
    for (auto [name, value] : llvm::zip_equal(names, values))
      scope.names[name->getText()] = value;
    std::optional<bool> taken =
        comp->expr().size() < 2 ? true : decide(comp->expr(1));
    if (!taken)
      isKnown = false;
    else if (*taken)
      evalItem(tree->axis(0));
    frame->turns.pop_back();
  }
  frame->scope = scope.outer;
  return isKnown ? listOfMade(std::move(items)) : Value();
}

antlrcpp::Any Elaborator::visitRec(NetParser::RecContext *tree) {
  auto fields = std::make_shared<
      llvm::MapVector<std::string, Value, llvm::StringMap<unsigned>>>();
  for (NetParser::FieldContext *field : tree->record()->field()) {
    std::string name = field->name()->getText();
    if (!fields->insert({name, eval(field->expr())}).second)
      fail(field, "`" + name + "` is given twice");
  }
  bool isPerGraph = llvm::any_of(*fields, [](const auto &field) {
    return netc::isPerGraph(field.second);
  });
  return Value(Record{fields, isPerGraph});
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

antlrcpp::Any Elaborator::visitPow(NetParser::PowContext *tree) {
  Value a = takeLeft();
  return binary(tree, "^", a, eval(tree->expr(1)));
}

antlrcpp::Any Elaborator::visitNeg(NetParser::NegContext *tree) {
  Value value = resolve(tree, eval(tree->expr()));
  if (auto *tensor = value.as<Tensor>())
    return emit(tree, "neg", *tensor);
  if (std::optional<Number> number = numberOf(value))
    return arithmetic(tree, "-", Number(0, number->dimension), *number);
  if (value.isUnknown())
    return Value();
  return fail(tree, "cannot negate " + kindOf(value));
}

antlrcpp::Any Elaborator::visitMul(NetParser::MulContext *tree) {
  Value a = takeLeft();
  return binary(tree, wordOf(tree->op), a, eval(tree->expr(1)));
}

antlrcpp::Any Elaborator::visitAdd(NetParser::AddContext *tree) {
  Value a = takeLeft();
  return binary(tree, wordOf(tree->op), a, eval(tree->expr(1)));
}

antlrcpp::Any Elaborator::visitRange(NetParser::RangeContext *tree) {
  Value a = takeLeft();
  Value b = eval(tree->expr(1));
  if (a.isUnknown() || b.isUnknown())
    return Value();
  std::optional<Number> begin = numberOf(a), end = numberOf(b);
  if (!begin || !end || begin->real || end->real)
    return fail(tree, "a range runs over whole numbers, not from " + kindOf(a) +
                          " to " + kindOf(b));
  for (const Polynomial &bound : {begin->exact, end->exact})
    if (bound.isConstant() && !bound.toInt64())
      return fail(tree, "a range runs over whole numbers, not from " +
                            textOf(a) + " to " + textOf(b));
  return Value(Range{begin->exact, end->exact});
}

antlrcpp::Any Elaborator::visitCmp(NetParser::CmpContext *tree) {
  Value a = takeLeft();
  if (ruleCast<NetParser::CmpContext>(tree->expr(0)))
    return fail(tree, "a chain of comparisons; write `a < b and b < c`");
  return compare(tree, wordOf(tree->op), a, eval(tree->expr(1)));
}

std::optional<bool> Elaborator::decide(Expr *condition) {
  Value value = eval(condition);
  if (auto *flag = value.as<bool>())
    return *flag;
  if (!value.isUnknown())
    fail(condition, "expected a bool, this is " + kindOf(value));
  return std::nullopt;
}

antlrcpp::Any Elaborator::visitNot(NetParser::NotContext *tree) {
  std::optional<bool> value = decide(tree->expr());
  return value ? Value(!*value) : Value();
}

/// The left side, already evaluated, decides alone if it equals `decisive`.
static std::optional<bool> decidesAlone(const Value &value, bool decisive) {
  auto *flag = value.as<bool>();
  if (flag && *flag == decisive)
    return decisive;
  return std::nullopt;
}

antlrcpp::Any Elaborator::visitAnd(NetParser::AndContext *tree) {
  Value a = takeLeft();
  if (a.isUnknown())
    return Value();
  if (!a.is<bool>())
    return fail(tree, "`and` joins bools, the left side is " + kindOf(a));
  if (decidesAlone(a, false))
    return Value(false);
  std::optional<bool> b = decide(tree->expr(1));
  return b ? Value(*b) : Value();
}

antlrcpp::Any Elaborator::visitOr(NetParser::OrContext *tree) {
  Value a = takeLeft();
  if (a.isUnknown())
    return Value();
  if (!a.is<bool>())
    return fail(tree, "`or` joins bools, the left side is " + kindOf(a));
  if (decidesAlone(a, true))
    return Value(true);
  std::optional<bool> b = decide(tree->expr(1));
  return b ? Value(*b) : Value();
}

antlrcpp::Any Elaborator::visitCond(NetParser::CondContext *tree) {
  std::optional<bool> condition = decide(tree->expr(0));
  if (!condition)
    return Value();
  return eval(tree->expr(*condition ? 1 : 2));
}

Value Elaborator::binary(Tree *at, StringRef op, const Value &a0,
                         const Value &b0) {
  Value a = resolve(at, a0), b = resolve(at, b0);
  if (a.isUnknown() || b.isUnknown())
    return {};
  if (a.is<Tensor>() || b.is<Tensor>())
    return tensorArithmetic(at, op, a, b);
  std::optional<Number> x = numberOf(a), y = numberOf(b);
  if (x && y)
    return arithmetic(at, op, *x, *y);
  if (op == "+") {
    if (a.is<std::string>() && b.is<std::string>()) {
      if (!spend(at, a.as<std::string>()->size() + b.as<std::string>()->size()))
        return {};
      return *a.as<std::string>() + *b.as<std::string>();
    }
    if (a.is<List>() && b.is<List>()) {
      std::vector<Value> items = *a.as<List>()->items;
      const std::vector<Value> &more = *b.as<List>()->items;
      if (!spend(at, items.size() + more.size()))
        return {};
      items.insert(items.end(), more.begin(), more.end());
      return listOf(std::move(items));
    }
  }
  return fail(at,
              "`" + op + "` does not take " + kindOf(a) + " and " + kindOf(b));
}

/// The text of a dimension for a message.
static std::string dimensionName(const Dimension &dimension) {
  return dimension.isNone() ? "a plain number" : dimension.str();
}

Value Elaborator::arithmetic(Tree *at, StringRef op, const Number &a,
                             const Number &b) {
  bool additive = op == "+" || op == "-";
  Dimension dimension;
  if (additive || op == "//" || op == "%") {
    dimension = a.dimension;
    if (a.dimension != b.dimension) {
      // A plain number passes for a count.
      if (a.dimension.isNone() && b.dimension.isCount())
        dimension = b.dimension;
      else if (!(b.dimension.isNone() && a.dimension.isCount()))
        return fail(at, "cannot " + llvm::Twine(additive ? "add" : "divide") +
                            " " + dimensionName(a.dimension) + " and " +
                            dimensionName(b.dimension));
    }
    if (op == "//" && !b.dimension.isNone())
      dimension = {};
  } else if (op == "*") {
    dimension = a.dimension * b.dimension;
  } else if (op == "/") {
    dimension = a.dimension / b.dimension;
  }
  auto inexact = [&](double value) -> Value {
    bool given = std::isinf(a.toDouble()) || std::isinf(b.toDouble());
    if (std::isnan(value) || (std::isinf(value) && !given))
      return fail(at, "`" + textOf(Value(a)) + " " + op + " " +
                          textOf(Value(b)) + "` is not a number");
    return Number::inexact(value, dimension);
  };

  if (op == "@")
    return fail(at, "`@` multiplies tensors");
  if (op == "^") {
    if (!b.dimension.isNone())
      return fail(at, "an exponent is a plain number, not " +
                          dimensionName(b.dimension));
    std::optional<int64_t> exponent = b.real ? std::nullopt : b.exact.toInt64();
    if (exponent && !a.real) {
      if (a.exact.isZero() && *exponent < 0)
        return fail(at, "division by zero");
      dimension = a.dimension.pow(*exponent);
      Polynomial power;
      if (std::optional<Rational> base = a.exact.constant())
        power = base->pow(*exponent);
      else if (*exponent >= 0 && *exponent <= 64)
        power = a.exact.pow(*exponent);
      else
        power = Polynomial::invalid();
      if (!power.isValid())
        return fail(at, "`" + a.exact.str() + " ^ " + b.exact.str() +
                            "` is out of range; numbers have 128 bits");
      return Number(power, dimension);
    }
    if (!a.isConstant() || !b.isConstant())
      return fail(at, "`" + a.exact.str() +
                          "` must have a fixed size to be raised to a power");
    if (!a.dimension.isNone() && !a.dimension.isCount())
      return fail(at, "only whole powers of " + dimensionName(a.dimension) +
                          " have a unit");
    return inexact(std::pow(a.toDouble(), b.toDouble()));
  }
  std::string device = a.device.empty() ? b.device : a.device;
  if (!b.device.empty() && b.device != device)
    return fail(at, "cannot " +
                        llvm::Twine(additive    ? "add "
                                    : op == "*" ? "multiply "
                                                : "divide ") +
                        a.device + " and " + b.device +
                        ", which are different devices");
  if (dimension.power(Dimension::Device) == 0)
    device.clear();
  if (a.real || b.real) {
    if (!a.isConstant() || !b.isConstant())
      return fail(at, "a free size does not mix with a number that is not "
                      "exact; fix the size");
    if (b.toDouble() == 0 && !additive && op != "*")
      return fail(at, "division by zero");
    double x = a.toDouble(), y = b.toDouble();
    return inexact(op == "+"    ? x + y
                   : op == "-"  ? x - y
                   : op == "*"  ? x * y
                   : op == "/"  ? x / y
                   : op == "//" ? std::floor(x / y)
                                : x - y * std::floor(x / y));
  }
  Polynomial value;
  if (op == "+") {
    value = a.exact + b.exact;
  } else if (op == "-") {
    value = a.exact - b.exact;
  } else if (op == "*") {
    value = a.exact * b.exact;
  } else if (op == "/") {
    if (b.exact.isZero())
      return fail(at, "division by zero");
    value = a.exact / b.exact;
    if (!value.isValid() && a.exact.isValid())
      return fail(at, "`" + a.exact.str() + "` is not divisible by `" +
                          b.exact.str() + "`; it must have a fixed size");
  } else {
    std::optional<Rational> x = a.exact.constant(), y = b.exact.constant();
    if (b.exact.isZero())
      return fail(at, "division by zero");
    if (!x || !y) {
      // A multiple is divided the same way at every size.
      std::optional<Polynomial> quotient = a.exact.floorDivide(b.exact);
      if (!quotient) {
        const Polynomial &free = x ? b.exact : a.exact;
        return fail(at, "`" + free.str() +
                            "` must have a fixed size here; write `" +
                            free.symbols().front() +
                            " = 128` in the net's signature, for instance");
      }
      value = op == "//" ? *quotient : a.exact - b.exact * *quotient;
    } else {
      Rational quotient = (*x / *y).floor();
      value = op == "//" ? quotient : *x - *y * quotient;
    }
  }
  if (!value.isValid())
    return fail(at, "the result is out of range; numbers have 128 bits");
  return Number(value, dimension, device);
}

Value Elaborator::compare(Tree *at, StringRef op, const Value &a0,
                          const Value &b0) {
  Value a = resolve(at, a0), b = resolve(at, b0);
  if (a.isUnknown() || b.isUnknown())
    return {};
  if (op == "~")
    return fail(at, "`~` stands in `expect` only");
  auto isArray = [](const Value &value) {
    return value.is<Tensor>() || numberOf(value);
  };
  if ((a.is<Tensor>() || b.is<Tensor>()) && isArray(a) && isArray(b)) {
    auto operands = elementByElement(at, "compare", {a, b});
    return operands ? emit(at, "compare", *operands,
                           builder.getNamedAttr("relation",
                                                builder.getStringAttr(op)))
                    : Value();
  }
  std::optional<Number> x = numberOf(a), y = numberOf(b);
  if (x && y) {
    if (x->dimension != y->dimension) {
      bool fits = (x->dimension.isNone() && y->dimension.isCount()) ||
                  (y->dimension.isNone() && x->dimension.isCount());
      if (!fits)
        return fail(at,
                    "cannot compare " + dimensionName(x->dimension) + " with " +
                        dimensionName(y->dimension) +
                        (y->dimension.isNone() ? "; write `" + textOf(b) + " " +
                                                     x->dimension.str() + "`"
                                               : ""));
    }
    if (!x->device.empty() && !y->device.empty() && x->device != y->device)
      return fail(at, "cannot compare " + x->device + " with " + y->device +
                          ", which are different devices");
    double sign;
    if (x->real || y->real) {
      if (!x->isConstant() || !y->isConstant())
        return fail(
            at, "a free size does not compare with a number that is not exact");
      sign = x->toDouble() - y->toDouble();
    } else {
      std::optional<Rational> difference = (x->exact - y->exact).constant();
      if (!difference)
        return fail(at, "`" + x->exact.str() + " " + op.str() + " " +
                            y->exact.str() +
                            "` is not decided: a size must be fixed");
      sign = difference->isZero() ? 0 : difference->isNegative() ? -1 : 1;
    }
    return op == "=="   ? sign == 0
           : op == "!=" ? sign != 0
           : op == "<"  ? sign < 0
           : op == "<=" ? sign <= 0
           : op == ">"  ? sign > 0
                        : sign >= 0;
  }
  if (op == "==" || op == "!=") {
    bool same = a.data.index() == b.data.index();
    bool known = a.is<None>() || b.is<None>();
    if (same && a.is<std::string>()) {
      same = *a.as<std::string>() == *b.as<std::string>();
      known = true;
    } else if (same && a.is<bool>()) {
      same = *a.as<bool>() == *b.as<bool>();
      known = true;
    } else if (same && a.is<TypeValue>()) {
      same = a.as<TypeValue>()->element == b.as<TypeValue>()->element;
      known = true;
    }
    // A word may be asked of a setting that holds a number or block instead.
    known |= a.is<std::string>() || b.is<std::string>();
    if (a.is<Function>() && b.is<Function>()) {
      auto parts = [](const Function &f) {
        return std::tuple(f.block, f.op, f.builtin);
      };
      same = parts(*a.as<Function>()) == parts(*b.as<Function>());
      known = true;
    }
    // A block with settings of its own is another than the one without.
    known |= functionOf(a) && functionOf(b) && !same;
    if (known)
      return (op == "==") == same;
  }
  return fail(at, "cannot compare " + kindOf(a) + " with " + kindOf(b));
}

//===----------------------------------------------------------------------===//
// Index and member
//===----------------------------------------------------------------------===//

antlrcpp::Any Elaborator::visitIndex(NetParser::IndexContext *tree) {
  Value base = takeLeft();
  return index(tree, base);
}

Value Elaborator::index(NetParser::IndexContext *tree, const Value &base) {
  if (base.isUnknown())
    return {};
  NetParser::AxesContext *axes = tree->axes();
  if (auto *type = base.as<TypeValue>()) {
    TypeValue shaped = *type;
    if (axes)
      shaped.axes = axes->axis();
    shaped.isShaped = true;
    return shaped;
  }
  if (!axes)
    return fail(tree, "an index is missing between the brackets");
  if (auto *tensor = base.as<Tensor>()) {
    // Places are counted in the tensor as it was before any axis went.
    Value result = base;
    size_t given = axes->axis().size(), place = 0, dropped = 0;
    bool rest = false;
    llvm::StringSet<> indexed;
    for (NetParser::AxisContext *axis : axes->axis()) {
      if (!axis->expr()) {
        if (rest)
          return fail(axis, "`...` stands once in an index");
        rest = true;
        place = tensor->labels.size() - (given - place - 1);
        continue;
      }
      Value at = eval(axis->expr());
      if (at.isUnknown() || result.isUnknown())
        return {};
      const Tensor &present = *result.as<Tensor>();
      std::optional<size_t> position;
      if (axis->name()) {
        std::string label = axis->name()->getText();
        position = find(present, label);
        // `x[t = 0]`, where `t` is an axis of x.
        std::optional<Value> named =
            position ? std::nullopt : lookupBody(label);
        if (named && named->is<Axis>()) {
          std::optional<int64_t> found = axisOf(axis, *named, present);
          if (!found)
            return {};
          position = *found;
        }
        if (!indexed.insert(label).second)
          return fail(axis, "axis `" + label + "` is indexed twice");
        if (!position)
          return fail(axis, "the tensor has no axis `" + label + "`" +
                                didYouMean(label, namesOf(present.labels)));
      } else {
        if (place >= tensor->labels.size() || place < dropped)
          return fail(axis, "the tensor has " +
                                llvm::Twine(tensor->labels.size()) + " axes");
        position = place - dropped;
      }
      bool drops = !at.is<Range>();
      result = slice(axis, present, *position, at);
      dropped += drops;
      ++place;
    }
    return result;
  }
  if (axes->axis().size() != 1 || !axes->axis(0)->expr() ||
      axes->axis(0)->name())
    return fail(tree, "`" + tree->expr()->getText() + "` takes one index");
  Value at = eval(axes->axis(0)->expr());
  if (at.isUnknown())
    return {};
  auto *list = base.as<List>();
  std::vector<Value> rangeItems;
  if (base.is<Range>()) {
    std::optional<std::vector<Value>> items = itemsOf(tree, base);
    if (!items)
      return {};
    rangeItems = *items;
  } else if (!list) {
    return fail(tree, kindOf(base) + " has no elements");
  }
  const std::vector<Value> &items = list ? *list->items : rangeItems;
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
      return fail(tree, "`" + range->begin.str() + ".." + range->end.str() +
                            "` is not a part of a list of " +
                            llvm::Twine(items.size()));
    return listOf(
        std::vector<Value>(items.begin() + *begin, items.begin() + *end));
  }
  std::optional<Number> number = numberOf(at);
  std::optional<int64_t> position =
      number ? place(number->exact) : std::nullopt;
  if (!position || *position < 0 || *position >= int64_t(items.size()))
    return fail(tree, "index " + textOf(at) + " is not in a list of " +
                          llvm::Twine(items.size()));
  return items[*position];
}

antlrcpp::Any Elaborator::visitMember(NetParser::MemberContext *tree) {
  Value base = takeLeft();
  return member(tree, base);
}

Value Elaborator::member(NetParser::MemberContext *tree, const Value &base) {
  const std::string &name = wordOf(tree->name()->getStart());
  if (base.isUnknown())
    return {};
  std::vector<std::string> known;
  if (base.results)
    for (auto &[result, value] : *base.results) {
      if (result == name)
        return value;
      known.push_back(result);
    }
  if (auto *subject = base.as<Subject>()) {
    Subject longer = *subject;
    longer.members.push_back(name);
    return longer;
  }
  if (auto *space = base.as<Namespace>()) {
    if (std::optional<Value> value = lookupFile(*space->file, name))
      return *value;
    for (auto &entry : space->file->names)
      known.push_back(entry.first);
  } else if (auto *record = base.as<Record>()) {
    auto found = record->fields->find(name);
    if (found != record->fields->end())
      return found->second;
    for (auto &entry : *record->fields)
      known.push_back(entry.first);
  } else if (auto *tensor = base.as<Tensor>()) {
    if (std::optional<size_t> position = find(*tensor, name))
      return axisValue(*tensor, *position);
    return fail(tree, "the tensor has no axis `" + name + "`" +
                          didYouMean(name, namesOf(tensor->labels)));
  } else if (auto *instance = base.as<std::shared_ptr<Instance>>()) {
    Identity &identity = *(*instance)->identity;
    for (auto &[weight, tensor] : identity.namedWeights) {
      if (weight == name)
        return tensor;
      known.push_back(weight);
    }
    if (!identity.hasWeights)
      return fail(
          tree, "`" + (*instance)->function.name +
                    "` has no weights before it is applied for the first time");
  } else if (auto *function = base.as<Function>();
             function && function->block && function->block->isNet) {
    if (frame->results)
      return fail(tree,
                  "`" + function->name +
                      "` has settings without a default and is counted "
                      "with values for them; name one, such as `Counted = " +
                      function->name + "(..)`, and ask for `Counted." + name +
                      "`");
    return fail(tree, "results such as `" + function->name + "." + name +
                          "` are known in `expect` only");
  }
  return fail(tree, kindOf(base) + " has no member `" + name + "`" +
                        didYouMean(name, known));
}
