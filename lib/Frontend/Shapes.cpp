// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sizes, labels and patterns, and ops that only rearrange elements.

#include "dialect/ElementName.h"
#include "dialect/OneExample.h"
#include "lib/Frontend/Evaluator.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

/// Whether `value` is below `least` at all sizes of its axes; with
/// `exceptSmall`, whether it is so except at small sizes. Only for values that
/// are linear in each axis, which have their extremes where each axis is 1 or
/// the largest size. Returns false for others.
static bool isBelow(const Polynomial &value, int64_t least,
                    bool exceptSmall = false) {
  llvm::SmallVector<std::string> axes = value.symbols();
  if (axes.size() > 8 || llvm::any_of(axes, [&](const std::string &axis) {
        return value.degree(axis) > 1;
      }))
    return false;
  for (unsigned large = exceptSmall; large < 1u << axes.size(); ++large) {
    Polynomial atCorner = value.evaluate([&](StringRef axis, unsigned) {
      bool isLarge = large >> (llvm::find(axes, axis) - axes.begin()) & 1;
      return std::optional<Rational>(isLarge ? Shape::maxSize : 1);
    });
    std::optional<Rational> number = atCorner.constant();
    if (!number || !(*number < Rational(least)))
      return false;
  }
  return true;
}

std::optional<Polynomial> TensorBuilder::sizeOf(Tree *at, const Value &value) {
  if (value.isUnknown())
    return std::nullopt;
  std::optional<Number> number = numberOf(value);
  if (!number || number->real ||
      !(number->dimension.isNone() || number->dimension.isCount())) {
    auto *axis = value.as<Axis>();
    e.fail(at, axis ? error::UnknownSize(axis->label.name())
                    : error::NotASize(number ? textOf(value) : kindOf(value)));
    return std::nullopt;
  }
  std::optional<Rational> fixed = number->exact.constant();
  if (fixed && (!fixed->isInteger() || *fixed < Rational(1) ||
                *fixed > Rational(int64_t(1) << 40))) {
    e.fail(at, error::SizeOutOfRange, fixed->str());
    return std::nullopt;
  }
  if (!fixed && isBelow(number->exact, 1, /*exceptSmall=*/true)) {
    e.fail(at, error::SizeBelowOne, number->exact.str());
    return std::nullopt;
  }
  return number->exact;
}

std::optional<TensorBuilder::Sizes>
TensorBuilder::sizesOf(Tree *at, llvm::ArrayRef<Value> values) {
  Sizes sizes;
  for (const Value &value : values) {
    if (auto *list = value.as<List>()) {
      std::optional<Sizes> inner = sizesOf(at, *list->items);
      if (!inner)
        return std::nullopt;
      sizes.shape.sizes.append(inner->shape.sizes.begin(),
                               inner->shape.sizes.end());
      sizes.labels.append(inner->labels.begin(), inner->labels.end());
      continue;
    }
    std::optional<Polynomial> size = sizeOf(at, value);
    if (!size)
      return std::nullopt;
    sizes.shape.sizes.push_back(*size);
    sizes.labels.push_back(value.is<Axis>() ? value.as<Axis>()->label
                                            : Label());
  }
  dropDoubled(sizes.labels);
  return sizes;
}

void TensorBuilder::dropDoubled(Labels &labels) {
  for (size_t i = 0; i < labels.size(); ++i)
    if (llvm::is_contained(llvm::ArrayRef(labels).take_front(i), labels[i]))
      labels[i].clear();
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

std::optional<TypeValue> TensorBuilder::typeOf(Expr *expr) {
  if (auto *list = ruleCast<NetParser::ListContext>(expr);
      list && !list->comp()) {
    TypeValue type;
    type.isShaped = true;
    type.axes = list->axis();
    return type;
  }
  Value value = e.eval(expr);
  if (auto *type = value.as<TypeValue>())
    return *type;
  if (!value.isUnknown())
    e.fail(expr, error::NotAType, kindOf(value));
  return std::nullopt;
}

/// The name of an axis that is given by its name alone; else empty.
static std::string bareName(NetParser::AxisContext *axis) {
  auto *ref = ruleCast<NetParser::RefContext>(axis->value);
  return ref && !axis->label ? ref->getText() : "";
}

std::optional<Polynomial> TensorBuilder::sizeInScope(StringRef name) {
  std::optional<Value> value = e.nameTable.lookup(name);
  std::optional<Number> number = value ? numberOf(*value) : std::nullopt;
  return number && !number->real ? std::optional(number->exact) : std::nullopt;
}

std::optional<TensorBuilder::Sizes>
TensorBuilder::declare(const TypeValue &type, bool isNet) {
  Sizes sizes;
  for (NetParser::AxisContext *axis : type.axes) {
    if (!axis->value) {
      e.fail(axis, error::RestInInput);
      return std::nullopt;
    }
    std::string name = bareName(axis);
    std::string label = axis->label ? axis->label->getText() : name;
    if (std::optional<Value> value = e.builtins.lookupBuiltin(label);
        value && !value->is<Function>()) {
      e.fail(axis, error::AxisName, label);
      return std::nullopt;
    }
    std::optional<Polynomial> size;
    if (!name.empty())
      size = sizeInScope(name);
    if (!size && !name.empty() && isNet) {
      size = Polynomial::symbol(name);
    } else if (!size) {
      size = sizeOf(axis, e.eval(axis->value));
      if (!size)
        return std::nullopt;
    }
    if (axis->label && llvm::any_of(sizes.labels, [&](auto &other) {
          return other == label;
        })) {
      e.fail(axis, error::DuplicateAxis, label);
      return std::nullopt;
    }
    if (!label.empty() && isNet)
      e.frame->scope->names[label] = Axis{Label(label), size, -1};
    sizes.shape.sizes.push_back(*size);
    sizes.labels.push_back(Label(label));
  }
  if (sizes.labels.size() > Shape::maxRank) {
    e.fail(type.axes.front(), error::TooManyAxes, Shape::maxRank,
           sizes.labels.size());
    return std::nullopt;
  }
  dropDoubled(sizes.labels);
  return sizes;
}

/// Whether ops look for this label. If a tensor has it on another axis than the
/// pattern of a block, the block would misinterpret the tensor.
static bool isLookedFor(StringRef label) {
  return label == kBatchAxis || label == "C" || label == "D" || label == "H" ||
         label == "W" || label == "L";
}

Label TensorBuilder::written(const std::string &name, const Label &old,
                             const Polynomial &size) {
  if (old == name)
    return old;
  // The name of an axis in scope with the same size means that axis.
  std::optional<Value> known = e.nameTable.lookupBody(name);
  auto *axis = known ? known->as<Axis>() : nullptr;
  return axis && axis->size == size ? axis->label : Label(name);
}

std::optional<Tensor> TensorBuilder::match(const TypeValue &type,
                                           const Tensor &tensor, Tree *at,
                                           bool isParameter) {
  if (type.element && type.element != elementOf(tensor.value)) {
    e.fail(at, error::ElementType, elementName(type.element),
           elementName(elementOf(tensor.value)));
    return std::nullopt;
  }
  if (!type.isShaped)
    return tensor;
  size_t given = type.axes.size(), rank = tensor.labels.size();
  auto isRest = [](NetParser::AxisContext *axis) { return !axis->value; };
  size_t rests = llvm::count_if(type.axes, isRest);
  if (rests > 1) {
    e.fail(at, error::RestTwice);
    return std::nullopt;
  }
  if (rests ? rank + 1 < given : rank != given) {
    e.fail(at, error::PatternRank, given - rests,
           rests ? " axes or more" : " axes", rank, axesText(tensor));
    return std::nullopt;
  }
  Shape shape = shapeOf(tensor.value);
  Tensor result = tensor;
  if (isParameter)
    for (auto [place, label] : llvm::enumerate(result.labels))
      label = Label::unnamed(rank - 1 - place, e.frame->application, label);
  size_t position = 0;
  llvm::StringSet<> bound;
  for (NetParser::AxisContext *axis : type.axes) {
    if (isRest(axis)) {
      position += rank + 1 - given;
      continue;
    }
    std::string name = bareName(axis);
    std::string label = axis->label ? axis->label->getText() : name;
    std::optional<Value> known =
        label.empty() ? std::nullopt : e.nameTable.lookupBody(label);
    // In a body, an axis may be renamed to another axis.
    bool isRenamed = !isParameter && known && known->is<Axis>();
    std::optional<Polynomial> size;
    if (name.empty() && !(size = sizeOf(axis, e.eval(axis->value))))
      return std::nullopt;
    if (!name.empty() && !isRenamed)
      size = sizeInScope(name);
    if (size && *size != shape[position]) {
      e.fail(at, error::AxisMismatch, position,
             label.empty() ? "" : ", `" + label + "`,", shape[position].str(),
             size->str());
      return std::nullopt;
    }
    // `[N, T, T]`: only the first of the two axes gets the label.
    bool isAgain = !bound.insert(label).second && !name.empty();
    if (!label.empty() && !isAgain) {
      std::optional<size_t> other = find(tensor, label);
      if (other && *other != position && isParameter && isLookedFor(label)) {
        e.fail(at, error::AxisMisplaced, label, *other, position,
               axesText(tensor));
        return std::nullopt;
      }
      const Label &old = tensor.labels[position];
      Label now = isParameter ? Label(label, e.frame->application, old)
                              : written(label, old, shape[position]);
      // A name that is already a number keeps its value. So does the name of an
      // axis with the same size.
      std::optional<Number> number = known ? numberOf(*known) : std::nullopt;
      if (!number || (isRenamed && number->exact != shape[position]))
        e.frame->scope->names[label] =
            Axis{now, shape[position], int(position)};
      result.labels[position] = std::move(now);
    }
    ++position;
  }
  dropDoubled(result.labels);
  return result;
}

Value TensorBuilder::matched(Expr *pattern, const Value &value) {
  if (value.isUnknown()) {
    // The sizes that the pattern would bind are unknown, too.
    if (std::optional<TypeValue> type = typeOf(pattern))
      for (NetParser::AxisContext *axis : type->axes)
        if (std::string name = axis->value ? bareName(axis) : "";
            !name.empty() && !e.nameTable.lookupBody(name))
          e.frame->scope->names[name] = Value();
    return {};
  }
  auto *tensor = value.as<Tensor>();
  if (!tensor)
    return e.fail(pattern, error::PatternOfNoTensor, kindOf(value),
                  sourceText(pattern));
  std::optional<TypeValue> type = typeOf(pattern);
  if (!type)
    return {};
  std::optional<Tensor> result =
      match(*type, *tensor, pattern, /*isParameter=*/false);
  return result ? Value(*result) : Value();
}

Value TensorBuilder::restored(const Value &value, unsigned application) {
  Value result = value;
  if (auto *list = value.as<List>()) {
    std::vector<Value> items;
    for (const Value &item : *list->items)
      items.push_back(restored(item, application));
    result.data = List{std::make_shared<const std::vector<Value>>(items),
                       list->isPerGraph};
  }
  if (!value.is<Tensor>())
    return result;
  Tensor tensor = *value.as<Tensor>();
  std::optional<size_t> channel = find(tensor, "C");
  for (auto [place, label] : llvm::enumerate(tensor.labels))
    if (label.application() == application && label.caller() &&
        place != channel)
      label = Label(*label.caller());
  // The features of an image are channels from here on, whatever they were
  // before.
  if (channel && llvm::none_of(tensor.labels, isWindow))
    if (Label &label = tensor.labels[*channel];
        label.application() == application && label.caller())
      label = Label(*label.caller());
  dropDoubled(tensor.labels);
  result.data = Value(std::move(tensor)).data;
  return result;
}

//===----------------------------------------------------------------------===//
// Rearranging
//===----------------------------------------------------------------------===//

Value TensorBuilder::reshaped(Tree *at, const Tensor &tensor,
                              const Sizes &sizes) {
  std::optional<mlir::RankedTensorType> type =
      tensorType(at, elementOf(tensor.value), sizes.shape);
  if (!type)
    return {};
  if (*type == tensor.value.getType())
    return Tensor{tensor.value, sizes.labels};
  Polynomial before = shapeOf(tensor.value).elements(),
             after = sizes.shape.elements();
  if (before != after)
    return e.fail(at, error::ReshapeElements, axesText(tensor), before.str(),
                  after.str());
  return Tensor{e.builder.create<ReshapeOp>(opLocation(at, "reshape"), *type,
                                            tensor.value),
                sizes.labels};
}

Tensor TensorBuilder::transposed(Tree *at, const Tensor &tensor,
                                 llvm::ArrayRef<int64_t> order) {
  assert(order.size() == tensor.labels.size() && "each axis has its place");
  bool moves = false;
  Tensor result = tensor;
  for (auto [i, axis] : llvm::enumerate(order)) {
    moves |= int64_t(i) != axis;
    result.labels[i] = tensor.labels[axis];
  }
  if (moves)
    result.value = e.builder.create<TransposeOp>(opLocation(at, "transpose"),
                                                 tensor.value, order);
  return result;
}

Tensor TensorBuilder::broadcasted(Tree *at, const Tensor &tensor,
                                  const Sizes &sizes,
                                  llvm::ArrayRef<int64_t> axes) {
  assert(axes.size() == tensor.labels.size() && "each axis has its place");
  llvm::SmallVector<int64_t> order(axes.size()),
      sorted(axes.begin(), axes.end());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  llvm::sort(order, [&](int64_t a, int64_t b) { return axes[a] < axes[b]; });
  llvm::sort(sorted);
  Tensor result = transposed(at, tensor, order);
  result.labels = sizes.labels;
  if (axes.size() == sizes.shape.rank())
    return result;
  mlir::RankedTensorType type = tensorOf(elementOf(tensor.value), sizes.shape);
  result.value = e.builder.create<BroadcastOp>(opLocation(at, "broadcast"),
                                               type, result.value, sorted);
  return result;
}

Value TensorBuilder::slice(Tree *at, const Tensor &tensor, int64_t axis,
                           const Value &index) {
  Shape shape = shapeOf(tensor.value);
  const Polynomial length = shape[axis];
  // Count a negative index from the end. On a free axis this is a size such as
  // T - 1.
  auto place = [&](Polynomial at) {
    std::optional<Rational> fixed = at.constant();
    return fixed && fixed->isNegative() ? at + length : at;
  };
  Polynomial begin, size = 1;
  auto *range = index.as<Range>();
  if (range) {
    begin = place(range->begin);
    size = place(range->end) - begin;
  } else if (std::optional<Number> number = numberOf(index);
             number && !number->real) {
    if (number->exact.isConstant() && !number->exact.toInt64())
      return e.fail(at, error::IndexNotWhole, textOf(index));
    begin = place(number->exact);
  } else {
    return e.fail(at, error::IndexType, kindOf(index));
  }
  bool isOutside =
      isBelow(begin, 0) || isBelow(size, 1) ||
      isBelow(length - begin - size, 0) ||
      (!size.isConstant() && isBelow(size, 1, /*exceptSmall=*/true));
  bool isBehindOne = !isOutside && isNegativeOfOne(size);
  if (isOutside || isBehindOne)
    return e.fail(at, error::IndexOutsideAxis,
                  range
                      ? "`" + range->begin.str() + ".." + range->end.str() + "`"
                      : "index " + textOf(index),
                  length.str() + (isBehindOne ? ", which is 1 in the counts of "
                                                "one example"
                                              : ""),
                  range || isBehindOne || !length.isConstant()
                      ? ""
                      : "; they are numbered from 0 to " + (length - 1).str());
  Shape kept = shape;
  kept[axis] = size;
  Tensor result = tensor;
  mlir::RankedTensorType type = tensorOf(elementOf(tensor.value), kept);
  if (size != length)
    result.value =
        e.builder.create<SliceOp>(opLocation(at, "slice"), type, tensor.value,
                                  axis, PolynomialAttr::get(e.context, begin));
  if (range)
    return result;
  Sizes dropped{kept, tensor.labels};
  dropped.shape.sizes.erase(dropped.shape.sizes.begin() + axis);
  dropped.labels.erase(dropped.labels.begin() + axis);
  return reshaped(at, result, dropped);
}

Value Builtins::callReshape(Tree *at, std::vector<Argument> &arguments) {
  std::vector<Value> sizes;
  auto *tensor = arguments.front().value.as<Tensor>();
  // Sizes exclude the batch axis, which stays in front.
  for (const Argument &argument : llvm::drop_begin(arguments)) {
    sizes.push_back(argument.value);
    if (argument.name.empty())
      continue;
    std::optional<Polynomial> size =
        e.tensors.sizeOf(argument.at, argument.value);
    if (!size)
      return {};
    sizes.back() = Axis{Label(argument.name), *size};
  }
  std::optional<TensorBuilder::Sizes> wanted = e.tensors.sizesOf(at, sizes);
  if (!wanted)
    return {};
  Shape shape = shapeOf(tensor->value);
  bool listed = sizes.size() == 1 && sizes.front().is<List>();
  if (!listed && !tensor->labels.empty() &&
      tensor->labels.front() == kBatchAxis &&
      wanted->shape.elements() != shape.elements()) {
    wanted->shape.sizes.insert(wanted->shape.sizes.begin(), shape[0]);
    wanted->labels.insert(wanted->labels.begin(), tensor->labels.front());
    e.tensors.dropDoubled(wanted->labels);
  }
  return e.tensors.reshaped(at, *tensor, *wanted);
}

Value Builtins::callFlatten(Tree *at, std::vector<Argument> &arguments) {
  auto *tensor = arguments.front().value.as<Tensor>();
  Shape shape = shapeOf(tensor->value);
  if (shape.rank() < 2)
    return *tensor;
  std::optional<size_t> batch = e.tensors.find(*tensor, kBatchAxis);
  if (batch.value_or(0) != 0)
    return e.fail(at, error::FlattenBatchAxis, e.tensors.axesText(*tensor));
  Polynomial rest = 1;
  for (const Polynomial &size : llvm::drop_begin(shape.sizes))
    rest *= size;
  return e.tensors.reshaped(
      at, *tensor, {Shape({shape[0], rest}), {tensor->labels[0], Label()}});
}

namespace {
/// One side of `n t (h k) -> n h t k`. An axis is a group of letters.
using Side = std::vector<std::vector<std::string>>;
} // namespace

static std::optional<Side> parseSide(StringRef text) {
  Side side;
  bool grouped = false;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == ' ') {
      ++i;
    } else if (c == '(' && !grouped) {
      side.emplace_back();
      grouped = true;
      ++i;
    } else if (c == ')' && grouped) {
      grouped = false;
      ++i;
    } else if (llvm::isAlpha(c)) {
      size_t end = i;
      while (end < text.size() &&
             (llvm::isAlnum(text[end]) || text[end] == '_'))
        ++end;
      if (!grouped)
        side.emplace_back();
      side.back().push_back(text.slice(i, end).str());
      i = end;
    } else {
      return std::nullopt;
    }
  }
  return grouped ? std::nullopt : std::optional(side);
}

namespace {
/// A call of `rearrange`, step by step. Each step returns false after an error.
class Rearrangement {
public:
  Rearrangement(Evaluator &e, Builtins::Tree *at, const Tensor &tensor)
      : e(e), at(at), tensor(tensor), shape(shapeOf(tensor.value)) {}

  bool readArguments(llvm::ArrayRef<Argument> arguments) {
    for (const Argument &argument : arguments) {
      if (argument.name.empty() && argument.value.is<std::string>()) {
        spec = *argument.value.as<std::string>();
      } else if (!argument.name.empty()) {
        std::optional<Polynomial> size =
            e.tensors.sizeOf(argument.at, argument.value);
        if (!size)
          return false;
        sizes[argument.name] = *size;
        given[argument.name] = argument.at;
      } else {
        return fail(argument.at, error::RearrangeArguments());
      }
    }
    return !spec.empty() || fail(at, error::RearrangeWithoutPattern());
  }

  bool parse() {
    auto [leftText, rightText] = StringRef(spec).split("->");
    std::optional<Side> left = parseSide(leftText),
                        right = parseSide(rightText);
    if (!left || !right || !StringRef(spec).contains("->"))
      return fail(at, error::NotARearrangement(spec));
    if (left->size() != shape.rank())
      return fail(at, error::RearrangeRank(leftText.trim(), left->size(),
                                           shape.rank(),
                                           e.tensors.axesText(tensor)));
    from = std::move(*left);
    to = std::move(*right);
    return true;
  }

  /// Splits every group on the left.
  bool split() {
    for (auto [i, group] : llvm::enumerate(from)) {
      if (!takeLetters(group, shape[i]))
        return false;
      for (const std::string &letter : group) {
        parts.shape.sizes.push_back(sizes[letter]);
        parts.labels.push_back(group.size() == 1 ? tensor.labels[i] : Label());
      }
    }
    for (auto &[letter, place] : given)
      if (!llvm::is_contained(letters, letter))
        return fail(place, error::UnknownLetter(
                               StringRef(spec).split("->").first.trim(), letter,
                               e.didYouMean(letter, letters)));
    e.tensors.dropDoubled(parts.labels);
    return true;
  }

  /// Brings the letters into the order of the right side.
  bool arrange() {
    for (auto &group : to)
      for (const std::string &letter : group) {
        auto found = llvm::find(letters, letter);
        if (found == letters.end())
          return fail(at, error::LetterOnRightOnly(letter));
        if (llvm::is_contained(order, found - letters.begin()))
          return fail(at, error::LetterTwiceOnRight(letter));
        order.push_back(found - letters.begin());
      }
    return order.size() == letters.size() ||
           fail(at, error::LetterOnLeftOnly());
  }

  /// Merges the groups of the right side.
  TensorBuilder::Sizes merged() {
    TensorBuilder::Sizes merged;
    for (auto &group : to) {
      Polynomial size = 1;
      for (const std::string &letter : group)
        size *= sizes[letter];
      merged.shape.sizes.push_back(size);
      merged.labels.push_back(labelOf(group));
    }
    return merged;
  }

  TensorBuilder::Sizes parts;       ///< after split()
  llvm::SmallVector<int64_t> order; ///< of the parts, after arrange()

private:
  bool fail(Builtins::Tree *where, const Message &message) {
    e.fail(where, message);
    return false;
  }

  /// Takes the letters of an axis of this size, and finds the size of the one
  /// that has none yet.
  bool takeLetters(const std::vector<std::string> &group,
                   const Polynomial &size) {
    Polynomial known = 1;
    std::string open;
    for (const std::string &letter : group) {
      if (llvm::is_contained(letters, letter))
        return fail(at, error::LetterTwiceOnLeft(letter));
      letters.push_back(letter);
      if (group.size() == 1 && !sizes.count(letter))
        sizes[letter] = size;
      if (sizes.count(letter))
        known *= sizes[letter];
      else if (open.empty())
        open = letter;
      else
        return fail(
            at, error::LetterWithoutSize(llvm::join(group, " "), open, letter));
    }
    if (!open.empty()) {
      sizes[open] = size / known;
      known *= sizes[open];
    }
    bool isWhole = open.empty() || !sizes[open].isConstant() ||
                   sizes[open].toInt64().has_value();
    return (known == size && known.isValid() && isWhole) ||
           fail(at,
                error::LettersDoNotDivide(llvm::join(group, " "), size.str()));
  }

  /// All parts of one axis together, in whatever order, are that axis.
  Label labelOf(const std::vector<std::string> &group) const {
    for (auto [i, axis] : llvm::enumerate(from))
      if (axis.size() == group.size() &&
          std::is_permutation(axis.begin(), axis.end(), group.begin()))
        return tensor.labels[i];
    return Label();
  }

  Evaluator &e;
  Builtins::Tree *at;
  const Tensor &tensor;
  Shape shape;
  std::string spec;
  Side from, to;
  llvm::StringMap<Polynomial> sizes; ///< of letters
  llvm::MapVector<std::string, Builtins::Tree *, llvm::StringMap<unsigned>>
      given;
  std::vector<std::string> letters;
};
} // namespace

Value Builtins::callRearrange(Tree *at, std::vector<Argument> &arguments) {
  const Tensor &tensor = *arguments.front().value.as<Tensor>();
  Rearrangement rearrangement(e, at, tensor);
  if (!rearrangement.readArguments(llvm::ArrayRef(arguments).drop_front()) ||
      !rearrangement.parse() || !rearrangement.split())
    return {};
  Value parts = e.tensors.reshaped(at, tensor, rearrangement.parts);
  if (!parts.is<Tensor>() || !rearrangement.arrange())
    return {};
  Tensor ordered =
      e.tensors.transposed(at, *parts.as<Tensor>(), rearrangement.order);
  return e.tensors.reshaped(at, ordered, rearrangement.merged());
}

Value Builtins::callExpand(Tree *at, std::vector<Argument> &arguments) {
  auto *vector = arguments.front().value.as<Tensor>();
  const Tensor *like = nullptr;
  const Value *over = nullptr;
  for (const Argument &argument : llvm::drop_begin(arguments)) {
    if (argument.name == "over")
      over = argument.value.is<None>() ? nullptr : &argument.value;
    else if ((argument.name.empty() || argument.name == "like") &&
             argument.value.is<Tensor>())
      like = argument.value.as<Tensor>();
    else
      return e.fail(argument.at, error::ExpandArguments);
  }
  if (!like)
    return e.fail(at, error::ExpandWithoutLike);
  std::optional<std::vector<int64_t>> axes =
      e.tensors.axesOf(at, over, "feature", *like);
  if (!axes)
    return {};
  Shape shape = shapeOf(like->value), small = shapeOf(vector->value);
  if (axes->size() != small.rank())
    return e.fail(at, error::ExpandRank, e.tensors.axesText(*vector),
                  small.rank(), axes->size(), e.tensors.axesText(*like));
  for (auto [size, axis] : llvm::zip_equal(small.sizes, *axes))
    if (size != shape[axis])
      return e.fail(at, error::ExpandSize, e.tensors.axesText(*vector), axis,
                    e.tensors.axesText(*like));
  return e.tensors.broadcasted(at, *vector, {shape, like->labels}, *axes);
}
