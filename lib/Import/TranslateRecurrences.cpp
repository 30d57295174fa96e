// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Recurrent layers.

#include "lib/Import/OpTranslators.h"

#include "llvm/ADT/STLExtras.h"

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

void RecurrenceTranslator::addTo(Handlers &handlers) {
  add(handlers, this,
      {
          {"scan", &RecurrenceTranslator::recurrence},
      });
}

int RecurrenceTranslator::batchFirst(int x) {
  Sizes sizes = shape(x);
  std::swap(sizes[0], sizes[1]);
  return steps.make("transpose(%0, order = [1, 0, 2])", {x}, std::move(sizes));
}

struct RecurrenceTranslator::Layers {
  std::string fn;       ///< `LSTM`, `GRU` or `RNN`
  unsigned first, each; ///< operand that is the first weight, weights per layer
  unsigned number, directions;
  std::vector<int> given; ///< first states, [layers, N, d] each
  bool hasBias, hasStateBias, isProjected, isRelu, isStateRead;
};

RecurrenceTranslator::Layers RecurrenceTranslator::readLayers() {
  StringRef op = StringRef(node->op).rsplit('.').second;
  Layers layers;
  layers.fn = op.equals_insensitive("lstm")  ? "LSTM"
              : op.equals_insensitive("gru") ? "GRU"
                                             : "RNN";
  const Json *activation = node.setting("nonlinearity");
  layers.isRelu = op == "rnn_relu" || (activation && *activation == "relu");
  unsigned states = layers.fn == "LSTM" ? 2 : 1;
  layers.first = 1 + states;
  for (unsigned i = 1; i < layers.first; ++i)
    if (values.what(node.in(i)) != "number")
      layers.given.push_back(node.in(i));
  if (!layers.given.empty() && layers.given.size() != states)
    node.refuse("one of its first states is given");
  layers.hasBias = node.flag("has_biases");
  const Json *second = node.setting("has_state_biases");
  layers.hasStateBias = layers.hasBias && !(second && *second == false);
  layers.directions = node.flag("bidirectional") ? 2 : 1;
  layers.number = unsigned(node.integer("num_layers", 1)) * layers.directions;
  size_t held = node->ins.size() - layers.first;
  layers.each = layers.number ? unsigned(held / layers.number) : 0;
  unsigned plain = 2 + layers.hasBias + layers.hasStateBias;
  layers.isProjected = layers.each == plain + 1;
  if (!layers.number || held % layers.number ||
      layers.each != plain + layers.isProjected)
    node.refuse("it has " + llvm::Twine(held) + " weights");
  for (unsigned i = layers.first; i < node->ins.size(); ++i)
    if (!node.owns(i))
      node.refuse("its weights are used elsewhere, too, or are computed");
  layers.isStateRead = llvm::any_of(
      node->outs.from(1), [&](int state) { return values.uses(state) > 0; });
  return layers;
}

void RecurrenceTranslator::recurrence() {
  Layers layers = readLayers();
  node.wantRank(node.in(0), 3, 3);
  node.wantRank(node.out(), 3, 3);
  bool isSecond = !node.flag("batch_first");
  const Json *train = node.setting("train");
  double drop = train && *train == false ? 0 : node.real("dropout", 0);

  int x = isSecond ? batchFirst(node.in(0)) : node.in(0);
  std::vector<int> states;
  for (unsigned at = 0; at < layers.number; at += layers.directions) {
    std::vector<int> sides;
    for (unsigned side = 0; side < layers.directions; ++side) {
      auto [y, state] = addLayer(layers, at + side, x);
      sides.push_back(y);
      states.push_back(state);
    }
    x = sides[0];
    if (layers.directions == 2) {
      Sizes sizes = shape(x);
      sizes[2] = sizes[2] * 2;
      x = steps.make("concat(%0, %1, over = axes(%0)[-1])", sides, sizes);
    }
    if (drop > 0 && at + layers.directions < layers.number) {
      x = steps.make("Dropout(%0, #0)", {x}, shape(x));
      steps.last().put("", "drop", realText(drop));
    }
  }
  steps.same(isSecond ? batchFirst(x) : x);
  for (unsigned i = 1; layers.isStateRead && i < node->outs.size(); ++i)
    lastStates(node->outs[i], states,
               partOfState(layers, layers.number - 1, i - 1));
}

RecurrenceTranslator::Widths
RecurrenceTranslator::widthsOf(const Layers &layers, unsigned number) {
  int recurrent = node.in(layers.first + layers.each * number + 1);
  node.wantRank(recurrent, 2, 2);
  unsigned gates = layers.fn == "LSTM" ? 4 : layers.fn == "GRU" ? 3 : 1;
  return {shape(recurrent)[1], shape(recurrent)[0] / gates};
}

std::pair<int, int> RecurrenceTranslator::addLayer(const Layers &layers,
                                                   unsigned number, int x) {
  auto [out, cells] = widthsOf(layers, number);
  Sizes sizes = shape(x), state = {sizes[0], out};
  sizes[2] = out;
  if (layers.fn == "LSTM")
    state[1] += cells;
  bool isReverse = number % layers.directions == 1;
  std::string turn = "reverse(%0, over = axes(%0)[1])";
  int from = isReverse ? steps.make(turn, {x}, shape(x)) : x;
  int y = another(sizes), last = another(state), begun = -1;
  if (!layers.given.empty())
    begun = firstState(layers.given, number, state);
  std::vector<int> weights;
  for (unsigned i = 0; i < layers.each; ++i)
    weights.push_back(node.in(layers.first + layers.each * number + i));
  Step &made = steps.addInstance(layers.fn, from, weights);
  made.outs = {y};
  if (!layers.given.empty())
    made.ins.push_back(begun);
  if (layers.isStateRead)
    made.outs.push_back(last);
  made.put("", "d", cells.str());
  if (layers.isProjected)
    made.put("projection", "projection", out.str());
  made.put("bias", "bias", layers.hasBias ? "true" : "false", "true", false);
  made.put("state_bias", "state_bias", layers.hasStateBias ? "true" : "false",
           "false", false);
  if (layers.isRelu)
    made.put("act", "act", "relu", "tanh", false);
  return {isReverse ? steps.make(turn, {y}, sizes) : y, last};
}

int RecurrenceTranslator::another(const Sizes &sizes) {
  int made = values.another(node.out());
  values.at(made).shape = sizes;
  values.labels(made).assign(sizes.size(), "");
  return made;
}

std::string RecurrenceTranslator::partOfState(const Layers &layers,
                                              unsigned number, unsigned state) {
  if (layers.fn != "LSTM")
    return "";
  auto [out, cells] = widthsOf(layers, number);
  return state == 1 ? out.str() + ".." + (out + cells).str()
                    : "0.." + out.str();
}

int RecurrenceTranslator::firstState(llvm::ArrayRef<int> given, unsigned layer,
                                     Sizes sizes) {
  std::string place = "[" + std::to_string(layer) + ", ...]";
  return given.size() == 1
             ? steps.make("%0" + place, given.vec(), std::move(sizes))
             : steps.make("concat(%0" + place + ", %1" + place + ")",
                          given.vec(), std::move(sizes));
}

void RecurrenceTranslator::lastStates(int result,
                                      const std::vector<int> &states,
                                      const std::string &part) {
  std::string form;
  for (size_t i = 0; i < states.size(); ++i)
    form += (i ? ", %" : "%") + std::to_string(i) +
            (part.empty() ? "" : "[..., " + part + "]");
  bool isOne = states.size() == 1;
  Step &made =
      steps.add(Step::Form_,
                isOne ? "reshape(" + form + ", #0)"
                      : "transpose(stack(" + form + "), order = [1, 0, 2])",
                states);
  made.outs = {result};
  values.labels(result).assign(3, "");
  if (!isOne)
    return;
  made.putSizes(shape(result));
}
