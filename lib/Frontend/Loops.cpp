// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// `scan`, `map`, `each`, `freeze` and `recomputed`.

#include "lib/Frontend/Evaluator.h"

using namespace netc;
using llvm::StringRef;

/// The type of an element along `axis`.
static mlir::RankedTensorType elementType(mlir::Value value, size_t axis) {
  Shape shape = shapeOf(value);
  shape.sizes.erase(shape.sizes.begin() + axis);
  return tensorOf(elementOf(value), shape);
}

static Labels without(Labels labels, size_t axis) {
  labels.erase(labels.begin() + axis);
  return labels;
}

mlir::Operation *TensorBuilder::buildScan(Tree *at, const Polynomial &trip,
                                          llvm::ArrayRef<mlir::Value> sequences,
                                          llvm::ArrayRef<int64_t> axes,
                                          llvm::ArrayRef<mlir::Value> inits,
                                          llvm::ArrayRef<int64_t> outAxes,
                                          std::unique_ptr<mlir::Region> body,
                                          llvm::StringRef name) {
  mlir::Operation *yield = body->front().getTerminator();
  llvm::SmallVector<mlir::Type> types;
  for (auto [i, value] : llvm::enumerate(yield->getOperands())) {
    Shape shape = shapeOf(value);
    if (i < outAxes.size())
      shape.sizes.insert(shape.sizes.begin() + outAxes[i], trip);
    types.push_back(tensorOf(elementOf(value), shape));
  }
  mlir::OperationState state(opLocation(at, name), ScanOp::getOperationName());
  ScanOp::build(e.builder, state, types, sequences, inits,
                PolynomialAttr::get(e.context, trip), axes, outAxes,
                /*reversed=*/false);
  state.regions.front()->takeBody(*body);
  return e.builder.create(state);
}

namespace {
/// Elaborates one `scan`. Errors are reported.
class ScanElaborator {
public:
  ScanElaborator(Evaluator &e, NetParser::ScanContext *tree)
      : e(e), tree(tree), label(tree->name()->getText()) {}

  /// The results: yielded values, then carried ones.
  Value elaborate() {
    if (!addSequences() || !addCarried())
      return Value();
    auto region = std::make_unique<mlir::Region>();
    region->push_back(new mlir::Block);
    if (!buildBody(region->front()))
      return Value();
    return results(std::move(region));
  }

private:
  /// A name in the body with its sequence or initial value.
  struct Named {
    std::string name;
    Tensor tensor;
  };

  template <unsigned holes, typename... Args>
  bool fail(antlr4::ParserRuleContext *at, const error::Text<holes> &error,
            const Args &...args) {
    e.fail(at, error, args...);
    return false;
  }

  bool addName(antlr4::ParserRuleContext *at, const std::string &name) {
    return names.insert(name).second ||
           fail(at, error::DuplicateScanName, name);
  }

  bool addSequences() {
    for (NetParser::EachContext *each : tree->each()) {
      if (!addName(each, each->ID()->getText()))
        return false;
      Value value = e.eval(each->expr());
      if (value.isUnknown())
        return false;
      auto *tensor = value.as<Tensor>();
      if (!tensor)
        return fail(each, error::ScanOfNoTensor, kindOf(value));
      std::optional<size_t> axis = e.tensors.find(*tensor, label);
      if (!axis)
        return fail(each, error::ScanAxis, label, e.tensors.axesText(*tensor));
      Polynomial size = shapeOf(tensor->value)[*axis];
      if (trip && *trip != size)
        return fail(each, error::ScanLengths, trip->str(), size.str());
      trip = size;
      sequences.push_back({each->ID()->getText(), *tensor});
      axes.push_back(*axis);
    }
    return true;
  }

  bool addCarried() {
    NetParser::CarryContext *carry = tree->carry();
    if (!carry)
      return true;
    for (auto [name, expr] : llvm::zip_equal(carry->ID(), carry->expr())) {
      Value value =
          e.tensors.tensorFor(expr, e.eval(expr), e.builder.getF32Type());
      if (value.isUnknown() || !addName(carry, name->getText()))
        return false;
      carried.push_back({name->getText(), *value.as<Tensor>()});
    }
    return true;
  }

  /// Binds the names of the body to its arguments.
  void addArguments(mlir::Block &body, Scope &scope) {
    auto add = [&](const std::string &name, mlir::Type type, Labels labels) {
      mlir::Value value = body.addArgument(type, e.locationOf(tree));
      scope.names[name] = Tensor{value, std::move(labels)};
      scope.fixed.insert(name);
    };
    for (auto [sequence, axis] : llvm::zip_equal(sequences, axes))
      add(sequence.name, elementType(sequence.tensor.value, axis),
          without(sequence.tensor.labels, axis));
    for (const Named &each : carried) {
      add(each.name, each.tensor.value.getType(), each.tensor.labels);
      scope.carried.insert(each.name);
    }
  }

  bool buildBody(mlir::Block &body) {
    Scope scope;
    scope.outer = e.frame->scope;
    scope.isScan = true;
    addArguments(body, scope);
    mlir::OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointToEnd(&body);
    InScope in(e.frame->scope, &scope);
    llvm::SaveAndRestore noHint(e.frame->hint, std::string());
    unsigned before = e.errorCount();
    e.statements.run(tree->body());
    std::optional<std::vector<Value>> given =
        std::exchange(e.frame->yielded, std::nullopt);
    if (e.errorCount() != before)
      return false;
    if (!given)
      return fail(tree->body(), error::ScanWithoutYield);
    llvm::SmallVector<mlir::Value> values;
    for (const Value &value : *given) {
      if (value.isUnknown())
        return false;
      if (!value.is<Tensor>())
        return fail(tree->body(), error::YieldOfNoTensor, kindOf(value));
      yielded.push_back(*value.as<Tensor>());
      values.push_back(yielded.back().value);
    }
    for (const Named &each : carried) {
      auto next = scope.next.find(each.name);
      if (next == scope.next.end())
        return fail(tree->body(), error::CarriedNotAssigned, each.name);
      if (next->second.isUnknown())
        return false;
      auto *value = next->second.as<Tensor>();
      mlir::Value first = each.tensor.value;
      // A state has the format of its first value.
      bool isAlike = value && shapeOf(value->value) == shapeOf(first) &&
                     (elementOf(value->value) == elementOf(first) ||
                      (isFloat(value->value) && isFloat(first)));
      if (!isAlike) {
        bool isOfType = value && shapeOf(value->value) == shapeOf(first);
        auto textOf =
            isOfType ? &TensorBuilder::typeText : &TensorBuilder::axesText;
        return fail(tree->body(), error::CarriedType, each.name,
                    textOf(each.tensor),
                    value ? textOf(*value) : kindOf(next->second));
      }
      values.push_back(convertTo(e.builder, value->value.getLoc(), value->value,
                                 elementOf(first)));
    }
    e.builder.create<YieldOp>(e.locationOf(tree), values);
    return true;
  }

  Value results(std::unique_ptr<mlir::Region> region) {
    auto valueOf = [](const Named &each) { return each.tensor.value; };
    // An output has the new axis at the same position as the first sequence, if
    // its rank allows.
    llvm::SmallVector<int64_t> outAxes;
    for (const Tensor &output : yielded)
      outAxes.push_back(std::min<int64_t>(axes.front(), output.labels.size()));
    mlir::Operation *scan = e.tensors.buildScan(
        tree, *trip, llvm::map_to_vector(sequences, valueOf), axes,
        llvm::map_to_vector(carried, valueOf), outAxes, std::move(region),
        "scan");
    ResultList results;
    std::vector<std::string> yields = yieldNames();
    for (auto [i, output] : llvm::enumerate(yielded)) {
      Labels labels = output.labels;
      labels.insert(labels.begin() + outAxes[i],
                    sequences.front().tensor.labels[axes.front()]);
      e.tensors.dropDoubled(labels);
      results.push_back({i < yields.size() ? yields[i] : "",
                         Tensor{scan->getResult(i), labels}});
    }
    for (auto [i, each] : llvm::enumerate(carried))
      results.push_back({each.name, Tensor{scan->getResult(yielded.size() + i),
                                           each.tensor.labels}});
    return e.applier.resultsOf(std::move(results));
  }

  /// The names of the outputs in the `yield` at the end of the body; empty for
  /// outputs without one.
  std::vector<std::string> yieldNames() const {
    std::vector<std::string> names;
    NetParser::BodyContext *body = tree->body();
    if (body->stmt().empty())
      return names;
    if (auto *yield = ruleCast<NetParser::YieldContext>(body->stmt().back()))
      for (NetParser::ExprContext *expr : yield->expr()) {
        auto *ref = ruleCast<NetParser::RefContext>(expr);
        // `yield h'` does not name an output after the carry `h`, since the
        // last value has that name.
        names.push_back(ref && !StringRef(ref->getText()).ends_with("'")
                            ? ref->getText()
                            : "");
      }
    return names;
  }

  Evaluator &e;
  NetParser::ScanContext *tree;
  const std::string label; ///< of the axis of the loop
  llvm::StringSet<> names;
  std::vector<Named> sequences, carried;
  llvm::SmallVector<int64_t> axes; ///< of each sequence
  std::optional<Polynomial> trip;
  std::vector<Tensor> yielded;
};
} // namespace

std::optional<std::vector<Value>> Evaluator::itemsOf(Tree *at,
                                                     const Value &value) {
  if (auto *list = value.as<List>()) {
    if (!budget.spend(at, list->items->size()))
      return std::nullopt;
    return *list->items;
  }
  if (auto *range = value.as<Range>()) {
    std::optional<int64_t> begin = range->begin.toInt64(),
                           end = range->end.toInt64();
    if (!begin || !end) {
      fail(at, error::FreeRange, range->begin.str(), range->end.str());
      return std::nullopt;
    }
    std::vector<Value> items;
    if (*end > *begin && !budget.spend(at, *end - *begin))
      return std::nullopt;
    for (int64_t i = *begin; i < *end; ++i)
      items.push_back(Number(i));
    return items;
  }
  if (!value.isUnknown())
    fail(at, error::NotIterable, kindOf(value),
         value.is<Tensor>() ? "; the size of an axis is `x.C`, or `axes(x)[1]`"
                            : "");
  return std::nullopt;
}

bool Evaluator::areNames(Tree *at, const LoopNames &names) {
  llvm::StringSet<> seen;
  for (antlr4::tree::TerminalNode *name : names)
    if (!seen.insert(name->getText()).second) {
      fail(at, error::DuplicateLoopName, name->getText(),
           names.size() == 2 ? "the iteration and of the item"
                             : "two elements of the item");
      return false;
    }
  return true;
}

std::vector<Value> Evaluator::valuesOf(Tree *at, const LoopNames &names,
                                       size_t iteration, const Value &item) {
  if (names.size() == 1)
    return {item};
  if (names.size() == 2)
    return {Number(iteration), item};
  auto *row = item.as<List>();
  if (row && row->items->size() == names.size())
    return *row->items;
  if (!item.isUnknown())
    fail(at, error::LoopNames, names.size(),
         row ? "has " + llvm::Twine(row->items->size())
             : "is " + llvm::Twine(kindOf(item)));
  return {};
}

antlrcpp::Any Evaluator::visitScan(NetParser::ScanContext *tree) {
  return ScanElaborator(*this, tree).elaborate();
}

/// The block and the axis of `map(x, B, over = T)` and `each(x, B, over = E)`.
std::optional<std::pair<Value, int64_t>>
Builtins::loopArguments(Tree *at, std::vector<Argument> &arguments) {
  std::optional<Value> block;
  std::optional<int64_t> axis;
  const Tensor &tensor = *arguments.front().value.as<Tensor>();
  for (const Argument &argument : llvm::drop_begin(arguments)) {
    if (argument.name == "over") {
      axis = e.tensors.axisOf(argument.at, argument.value, tensor);
      if (!axis)
        return std::nullopt;
    } else if (argument.name.empty() && !block) {
      block = argument.value;
    } else {
      e.fail(argument.at, error::FoldArguments);
      return std::nullopt;
    }
  }
  if (!block || !axis) {
    e.fail(at, error::FoldArguments);
    return std::nullopt;
  }
  return std::pair(*block, *axis);
}

Value Builtins::callMap(Tree *at, std::vector<Argument> &arguments) {
  const Tensor tensor = *arguments.front().value.as<Tensor>();
  std::optional<std::pair<Value, int64_t>> loop = loopArguments(at, arguments);
  if (!loop)
    return {};
  auto [block, axis] = *loop;
  Shape shape = shapeOf(tensor.value);
  const Label &label = tensor.labels[axis];
  size_t batch = e.tensors.find(tensor, kBatchAxis).value_or(0);
  if (int64_t(batch) == axis) {
    e.fail(at, error::AlreadyBatchAxis, label.text());
    return {};
  }
  // The axis is moved next to the batch axis, and merged with it.
  llvm::SmallVector<int64_t> order;
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (int64_t(i) != axis)
      order.push_back(i);
    if (i == batch)
      order.push_back(axis);
  }
  Tensor moved = e.tensors.transposed(at, tensor, order);
  size_t place = llvm::find(order, int64_t(batch)) - order.begin();
  Shape movedShape = shapeOf(moved.value);
  TensorBuilder::Sizes merged{movedShape, moved.labels};
  Polynomial examples = movedShape[place], iterations = movedShape[place + 1];
  merged.shape[place] = examples * iterations;
  merged.shape.sizes.erase(merged.shape.sizes.begin() + place + 1);
  merged.labels[place] = Label(kBatchAxis.str());
  merged.labels.erase(merged.labels.begin() + place + 1);
  Value joined = e.tensors.reshaped(at, moved, merged);
  if (!joined.is<Tensor>())
    return {};
  Value result = e.applier.pipe(at, joined, block);
  if (result.isUnknown())
    return {};

  auto split = [&](Value value) -> Value {
    auto *output = value.as<Tensor>();
    std::optional<size_t> at0 =
        output ? e.tensors.find(*output, kBatchAxis) : std::nullopt;
    if (!at0)
      return e.fail(at, error::NoBatchAxis,
                    output ? e.tensors.axesText(*output) : kindOf(value),
                    label.text());
    TensorBuilder::Sizes sizes{shapeOf(output->value), output->labels};
    sizes.shape[*at0] = examples;
    sizes.shape.sizes.insert(sizes.shape.sizes.begin() + *at0 + 1, iterations);
    sizes.labels[*at0] = tensor.labels[batch];
    sizes.labels.insert(sizes.labels.begin() + *at0 + 1, label);
    e.tensors.dropDoubled(sizes.labels);
    Value parts = e.tensors.reshaped(at, *output, sizes);
    if (!parts.is<Tensor>())
      return {};
    size_t rank = sizes.labels.size();
    size_t target = std::min<size_t>(axis, rank - 1);
    llvm::SmallVector<int64_t> back;
    for (size_t i = 0; i < rank; ++i)
      if (i != *at0 + 1)
        back.push_back(i);
    back.insert(back.begin() + target, *at0 + 1);
    return e.tensors.transposed(at, *parts.as<Tensor>(), back);
  };
  if (!result.results)
    return split(result);
  ResultList results = *result.results;
  for (auto &[name, value] : results) {
    value.results = nullptr;
    value = split(value);
  }
  return e.applier.resultsOf(std::move(results));
}

Value Builtins::callEach(Tree *at, std::vector<Argument> &arguments) {
  const Tensor tensor = *arguments.front().value.as<Tensor>();
  std::optional<std::pair<Value, int64_t>> given = loopArguments(at, arguments);
  if (!given)
    return {};
  auto [block, axis] = *given;
  auto region = std::make_unique<mlir::Region>();
  mlir::Block *body = new mlir::Block;
  region->push_back(body);
  EachLoop loop{shapeOf(tensor.value)[axis], body, {}};
  mlir::Value element =
      body->addArgument(elementType(tensor.value, axis), e.locationOf(at));
  e.graph->loops.push_back(&loop);
  Value result;
  llvm::SmallVector<MovingAverageOp> moved;
  {
    mlir::OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointToEnd(body);
    result = e.applier.pipe(at, Tensor{element, without(tensor.labels, axis)},
                            block);
    e.graph->loops.pop_back();
    if (!result.is<Tensor>())
      return result.isUnknown()
                 ? Value()
                 : e.fail(at, error::BlockGivesNoTensor, kindOf(result));
    llvm::SmallVector<mlir::Value> yielded{result.as<Tensor>()->value};
    // An iteration has slices of the buffers. Move the updates of averages
    // after the loop, where they update whole buffers.
    moved.assign(body->getOps<MovingAverageOp>().begin(),
                 body->getOps<MovingAverageOp>().end());
    for (MovingAverageOp average : moved)
      yielded.push_back(average.getValue());
    e.builder.create<YieldOp>(e.locationOf(at), yielded);
  }
  llvm::SmallVector<mlir::Value> sequences{tensor.value};
  llvm::append_range(sequences, loop.sequences);
  llvm::SmallVector<int64_t> axes(sequences.size(), 0);
  axes[0] = axis;
  const Tensor &inner = *result.as<Tensor>();
  int64_t out = std::min<int64_t>(axis, inner.labels.size());
  llvm::SmallVector<int64_t> outAxes(1 + moved.size(), 0);
  outAxes[0] = out;
  mlir::Operation *scan = e.tensors.buildScan(
      at, loop.size, sequences, axes, {}, outAxes, std::move(region), "each");
  for (auto [average, value] :
       llvm::zip_equal(moved, scan->getResults().drop_front())) {
    auto slice = mlir::cast<mlir::BlockArgument>(average.getBuffer());
    e.builder.create<MovingAverageOp>(average.getLoc(),
                                      sequences[slice.getArgNumber()], value,
                                      average.getMomentumAttr());
    average.erase();
  }
  Labels labels = inner.labels;
  labels.insert(labels.begin() + out, tensor.labels[axis]);
  e.tensors.dropDoubled(labels);
  return Tensor{scan->getResult(0), labels};
}

std::shared_ptr<Instance>
Builtins::copyOfBlock(Tree *at, StringRef function,
                      const std::vector<Argument> &arguments) {
  if (arguments.size() != 1) {
    e.fail(at, error::TakesBlock, function);
    return nullptr;
  }
  const Value &value = arguments.front().value;
  if (auto *instance = value.as<std::shared_ptr<Instance>>())
    return std::make_shared<Instance>(**instance);
  if (auto *block = value.as<Function>(); block && !block->builtin) {
    std::shared_ptr<Instance> made = e.calls.instantiate(at, value);
    return e.calls.completeSettings(at, *made) ? made : nullptr;
  }
  e.fail(at, error::TakesBlockNot, function, kindOf(value));
  return nullptr;
}

Value Builtins::callRecomputed(Tree *at, std::vector<Argument> &arguments) {
  std::shared_ptr<Instance> again = copyOfBlock(at, "recomputed", arguments);
  if (!again)
    return {};
  again->recomputed = true;
  return again;
}

/// A copy of the instance, and of its parts, with frozen weights.
static std::shared_ptr<Instance> frozenCopy(const Instance &instance) {
  auto frozen = std::make_shared<Instance>(instance);
  frozen->frozen = true;
  for (Value &part : frozen->parts)
    part = frozenCopy(**part.as<std::shared_ptr<Instance>>());
  return frozen;
}

Value Builtins::callFreeze(Tree *at, std::vector<Argument> &arguments) {
  std::shared_ptr<Instance> block = copyOfBlock(at, "freeze", arguments);
  return block ? Value(frozenCopy(*block)) : Value();
}
