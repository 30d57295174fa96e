// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Nodes of a graph in the words of netc, one by one.

#include "dialect/Spelling.h"
#include "lib/Import/OpTranslators.h"
#include "lib/Import/Origins.h"
#include "llvm/ADT/STLExtras.h"

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Axes of inputs
//===----------------------------------------------------------------------===//

/// Whether it is turned from [N, H, W, C] to [N, C, H, W].
static bool isChannelsLast(const Graph &graph, const GraphValue &image) {
  return llvm::any_of(graph.nodes, [&](const GraphNode &each) {
    const ForeignOp *op = findForeign(each.op);
    auto dims = each.with->find("dims");
    if (!op || op->op != "transpose" || each.ins.empty() || each.ins[0] < 0 ||
        &graph.values[each.ins[0]] != &image || dims == each.with->end())
      return false;
    Json order = {0, image.shape.size() - 1};
    for (size_t i = 1; i + 1 < image.shape.size(); ++i)
      order.push_back(i);
    return *dims == order;
  });
}

/// Whether an op reads the value as its first operand.
static bool isReadBy(const Graph &graph, StringRef op,
                     const GraphValue &value) {
  return llvm::any_of(graph.nodes, [&](const GraphNode &each) {
    return each.op == op && !each.ins.empty() && each.ins[0] >= 0 &&
           graph.values[each.ins[0]].name == value.name;
  });
}

static void labelInput(const Graph &graph, GraphValue &value) {
  size_t rank = value.shape.size();
  static const char *windows[] = {"D", "H", "W"};
  size_t features = isChannelsLast(graph, value) ? rank - 1 : 1;
  for (size_t i = 0; i < rank; ++i) {
    std::string text = value.shape[i].str();
    if (value.shape[i].symbols().size() == 1 &&
        value.shape[i] == Polynomial::symbol(text))
      value.labels[i] = text;
    else if ((rank == 4 || rank == 5) && value.type[0] != 'i' && i >= 1 &&
             (features > 1 || !isReadBy(graph, "stablehlo.transpose", value)))
      value.labels[i] =
          i == features
              ? "C"
              : windows[i + 3 - rank + (i < features && features > 1)];
  }
  if (rank == 3 && isReadBy(graph, "aten.conv1d", value))
    value.labels = {value.labels[0], "C",
                    value.labels[2].empty() ? "L" : value.labels[2]};
  for (size_t i = 0; i < rank; ++i)
    if (llvm::count(value.labels, value.labels[i]) > 1)
      value.labels[i].clear();
  for (size_t i = 0; i < rank; ++i)
    if (value.labels[i].empty())
      value.labels[i] = "..." + std::to_string(rank - 1 - i);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// What an op may be meant for: one of the same framework, whose name without
/// that of the framework is similar.
static std::string nearestOp(StringRef op) {
  auto [framework, name] = op.split('.');
  llvm::SmallVector<StringRef> names;
  for (StringRef each : foreignNames())
    if (auto [own, rest] = each.split('.'); own == framework)
      names.push_back(rest);
  StringRef nearest = nearestName(name, names);
  return didYouMean(nearest.empty() ? "" : (framework + "." + nearest).str());
}

static bool isOneOf(const GraphNode &node, const std::set<StringRef> &ops) {
  const ForeignOp *op = findForeign(node.op);
  return op && ops.count(op->op) && node.outs.size() == 1;
}

/// Whole numbers that only floating-point arithmetic reads, such as `1 - mask`,
/// are such from the first op on that computes them.
static void promoteNumbers(Graph &graph) {
  static const std::set<StringRef> arithmetic = {"abs", "div", "neg", "relu6"};
  static const std::set<StringRef> views = {"broadcast", "reshape", "slice",
                                            "transpose"};
  static const std::set<StringRef> functions = {"convert", "cos",   "exp",
                                                "log",     "power", "sigmoid",
                                                "sin",     "sqrt",  "tanh"};
  std::set<int> floats, others; // read by such arithmetic, or by anything else
  for (auto &output : graph.outputs)
    others.insert(output.second);
  std::vector<const GraphNode *> nodes = graph.allNodes();
  for (const GraphNode *each : nodes)
    if (each->body)
      others.insert(each->body->outs.begin(), each->body->outs.end());
  for (const GraphNode *each : llvm::reverse(nodes)) {
    const GraphNode &node = *each;
    bool isComputed = isOneOf(node, arithmetic),
         isFloating = (isComputed || isOneOf(node, functions)) &&
                      graph.values[node.outs[0]].isFloat();
    if (isComputed || isOneOf(node, views))
      isFloating |= floats.count(node.outs[0]) && !others.count(node.outs[0]);
    (isFloating ? floats : others).insert(node.ins.begin(), node.ins.end());
  }
  for (const GraphNode *each : nodes) {
    const GraphNode &node = *each;
    bool isView = isOneOf(node, views);
    if (!isView && !isOneOf(node, arithmetic))
      continue;
    GraphValue &made = graph.values[node.outs[0]];
    bool isNumber = made.type != "bool" && !made.isFloat() &&
                    floats.count(node.outs[0]) && !others.count(node.outs[0]);
    bool isOfFloats = llvm::any_of(node.ins, [&](int in) {
      return in >= 0 && graph.values[in].isFloat();
    });
    if (isNumber && (isOfFloats || !isView))
      made.type = "f32";
  }
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

namespace {
class Translator {
public:
  Translator(Graph &graph, llvm::ArrayRef<std::string> opaque)
      : graph(graph), opaque(opaque), origins(graph), values(graph),
        node(graph, values), steps(graph, values, node) {
    promoteNumbers(graph);
    dropout.addTo(handlers);
    gelu.addTo(handlers);
    arithmetic.addTo(handlers);
    conditions.addTo(handlers);
    activations.addTo(handlers);
    layers.addTo(handlers);
    windows.addTo(handlers);
    views.addTo(handlers);
    slices.addTo(handlers);
    lookups.addTo(handlers);
    reductions.addTo(handlers);
    products.addTo(handlers);
    attention.addTo(handlers);
    recurrences.addTo(handlers);
    loops.addTo(handlers);
  }

  std::vector<Step> translate() {
    for (size_t i = 0; i < graph.nodes.size();) {
      size_t count = experts.translateFrom(i);
      if (!count)
        translateNode(graph.nodes[i]);
      i += std::max<size_t>(count, 1);
    }
    for (auto &output : graph.outputs)
      compute(values.real(output.second), *node);
    return steps.finish();
  }

private:
  void translateNode(const GraphNode &next) {
    node.read(next);
    if (llvm::is_contained(opaque, node->op))
      return addOpaque();
    if (!node.foreign())
      node.refuse(nearestOp(node->op), Refusal::Unknown);
    try {
      if (!isOfNumbers())
        callComputed();
    } catch (const std::out_of_range &) {
      node.refuse("its operands or its results have too few axes",
                  Refusal::Contradiction);
    }
  }

  void call() {
    auto handler = handlers.find(node->op);
    if (handler == handlers.end() && !arithmetic.isFunction(node->op))
      handler = handlers.find(node.op());
    if (handler != handlers.end())
      handler->second();
    else
      arithmetic.elementwise();
    node.checkAsked();
    for (int out : node->outs)
      if (values.labels(out).size() != values.shape(out).size())
        node.refuse("its result has " + llvm::Twine(values.labels(out).size()) +
                        " axes, and the graph says " +
                        llvm::Twine(values.shape(out).size()),
                    Refusal::Contradiction);
  }

  void addOpaque() {
    std::vector<int> ins;
    for (int each : node->ins)
      if (each >= 0)
        ins.push_back(values.real(each));
    if (ins.empty() || node->outs.size() != 1)
      node.refuse("`--opaque` stands for what takes tensors and makes one, "
                  "and this takes " +
                      llvm::Twine(ins.size()) + " and makes " +
                      llvm::Twine(node->outs.size()),
                  Refusal::Contradiction);
    Step &made = steps.add(Step::Form_, "", ins);
    made.op = "opaque";
    made.fn = "opaque(";
    for (size_t i = 0; i < ins.size(); ++i)
      made.fn += "%" + std::to_string(i) + ", ";
    made.fn += "out = [#0])";
    made.putSizes(values.shape(node.out()), "out");
  }

  /// Whether a value is whole numbers that go in or are known, or a part of
  /// these.
  bool isNumbers(int x) {
    StringRef type = values.at(x).type;
    if (type != "bool" && type[0] != 'i')
      return false;
    if (values.at(x).kind != GraphValue::Made)
      return true;
    const Step *made = steps.maker(x);
    bool isMoved = made && (made->form == Step::View || made->op == "slice" ||
                            made->op == "broadcast");
    return isMoved && isNumbers(made->ins[0]);
  }

  /// Whether it makes the numbers that go in.
  bool isMove() const {
    static const std::set<StringRef> moves = {
        "broadcast", "concat", "convert",       "reshape",
        "slice",     "stack",  "stop_gradient", "transpose"};
    return moves.count(node.op());
  }

  /// Whether it computes whole numbers of whole numbers that go in, such as
  /// positions of words, or moves such. What reads them tells how they are
  /// written.
  bool isOfNumbers() {
    static const std::set<StringRef> arithmetic = {
        "abs", "add", "compare", "cumsum", "max", "maximum", "min",  "minimum",
        "mul", "neg", "relu6",   "sub",    "sum", "take",    "top_k"};
    static const std::set<StringRef> replacements = {
        "aten.masked_fill", "aten.slice_scatter", "aten.where", "onnx.Where"};
    GraphValue &made = values.at(node.out());
    bool isWhole = made.type[0] == 'i';
    bool isMoved = isMove() && llvm::any_of(node->ins, [&](int in) {
                     return in >= 0 && deferred.count(values.real(in));
                   });
    bool isCounted =
        isWhole && node.isOp("convert") && values.at(node.in(0)).type == "bool";
    if (node->outs.size() > 1 || (made.type != "bool" && !isWhole) ||
        !(isMoved || isCounted || arithmetic.count(node.op()) ||
          (isWhole && replacements.count(node->op))))
      return false;
    for (unsigned i = 0; i < node->ins.size(); ++i)
      if (!isNumbers(node.in(i)))
        return false;
    made.kind = GraphValue::Known;
    made.known = &table;
    deferred[node.out()] = &*node;
    return true;
  }

  /// Whether netc has the op of integers, too.
  bool isOfIntegers() const {
    static const std::set<StringRef> exact = {"add", "maximum", "minimum",
                                              "mul", "sub"};
    return exact.count(node.op());
  }

  /// Computes such numbers after all, in floating point where netc has the op
  /// of no integers, since more than places is made of them, such as a mask or
  /// a factor.
  void compute(int x, const GraphNode &next) {
    auto found = deferred.find(x);
    if (found == deferred.end())
      return;
    const GraphNode &made = *found->second;
    deferred.erase(found);
    GraphValue &value = values.at(x);
    value.kind = GraphValue::Made;
    node.read(made);
    if (value.type != "bool" && !node.isOp("top_k") && !isOfIntegers() &&
        (!isMove() || node.isOp("convert")))
      value.type = "f32";
    callComputed();
    node.read(next);
  }

  /// Calls what translates the node, with operands that are computed. Places
  /// are other ones than those of the model.
  void callComputed() {
    const GraphNode &own = *node;
    if (origins.isRounded(own))
      node.refuse("it rounds to whole numbers, through which no gradient goes; "
                  "netc has no op that rounds, and takes them as an argument");
    bool isFloat = false;
    std::vector<int> replaced;
    for (unsigned i = 0; i < own.ins.size(); ++i) {
      int x = own.ins[i] < 0 ? -1 : values.real(own.ins[i]);
      if (x < 0)
        continue;
      if (!origins.isPlace(own, i)) {
        compute(x, own);
        isFloat |= values.isFloat(x);
      } else if (deferred.count(x) || values.isFloat(x)) {
        if (origins.isReal(own.ins[i]))
          node.refuse("its places are computed of floating-point numbers; netc "
                      "takes whole numbers that go in, places of the largest "
                      "elements, and what is computed of these");
        replaced.push_back(x);
      }
    }
    for (int out : own.outs)
      if (isFloat && values.at(out).type[0] == 'i' &&
          (out == own.outs[0] ? !node.isOp("top_k") : node.isOp("split")))
        values.at(out).type = "f32";
    for (int x : replaced)
      values.rename(x, otherPlaces(x));
    call();
    for (int x : replaced)
      values.rename(x, x);
  }

  /// Whole numbers in place of computed ones, from 0 on.
  int otherPlaces(int x) {
    auto [found, isNew] = places.try_emplace(x, x);
    if (isNew) {
      found->second = values.another(x);
      GraphValue &other = values.at(found->second);
      other.kind = GraphValue::Known;
      other.known = &table;
      other.type = "i64";
    }
    return found->second;
  }

  void translateBody(const GraphBody &body) {
    for (const GraphNode &each : body.nodes)
      translateNode(each);
    for (int out : body.outs)
      compute(values.real(out), *node);
  }

  /// Computes what the body of a loop reads from outside, in front of it.
  void computeRead(const GraphNode &loop, const GraphBody &body) {
    for (const GraphNode &each : body.nodes) {
      for (auto [i, in] : llvm::enumerate(each.ins))
        if (in >= 0 && !origins.isPlace(each, unsigned(i)))
          compute(values.real(in), loop);
      if (each.body)
        computeRead(loop, *each.body);
    }
  }

  Graph &graph;
  llvm::ArrayRef<std::string> opaque;
  Origins origins;
  Values values;
  NodeReader node;
  StepBuilder steps;

  OpTranslator base{values, node, steps};
  DropoutTranslator dropout{base};
  GeluTranslator gelu{base};
  MaskTranslator masks{base};
  ArithmeticTranslator arithmetic{base, masks, dropout, gelu};
  ConditionTranslator conditions{base, masks, arithmetic};
  ActivationTranslator activations{base};
  LayerTranslator layers{base};
  WindowTranslator windows{base, graph.notes};
  ViewTranslator views{base, masks};
  SliceTranslator slices{base};
  LookupTranslator lookups{base, graph.notes, slices, views};
  ReductionTranslator reductions{base, arithmetic};
  ProductTranslator products{base, arithmetic};
  AttentionTranslator attention{base, masks};
  RecurrenceTranslator recurrences{base};
  LoopTranslator loops{
      base, [this](const GraphNode &loop) { computeRead(loop, *loop.body); },
      [this](const GraphBody &body) { translateBody(body); }};
  ExpertTranslator experts{base, graph};
  Handlers handlers;
  const Json table = {{"what", "table"}};    ///< of values that are not told
  std::map<int, const GraphNode *> deferred; ///< what computes them, by value
  std::map<int, int> places;                 ///< in place of computed ones
};
} // namespace

std::vector<Step> netc::import::translate(Graph &graph,
                                          llvm::ArrayRef<std::string> opaque) {
  for (GraphValue &value : graph.values)
    if (value.kind == GraphValue::Input)
      labelInput(graph, value);
  return Translator(graph, opaque).translate();
}
