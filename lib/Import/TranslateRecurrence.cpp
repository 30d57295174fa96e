// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Recurrent layers of other frameworks in the words of netc.

#include "lib/Import/Translator.h"

using namespace netc;
using namespace netc::import;

int Translator::make(std::string form, std::vector<int> ins, Sizes sizes) {
  int made = another(out());
  graph.values[made].shape = std::move(sizes);
  labels(made).assign(shape(made).size(), "");
  step(Step::Form_, std::move(form), std::move(ins)).outs = {made};
  return made;
}

int Translator::batchFirst(int x) {
  Sizes sizes = shape(x);
  std::swap(sizes[0], sizes[1]);
  return make("transpose(%0, order = [1, 0, 2])", {x}, std::move(sizes));
}

void Translator::recurrence() {
  bool isLstm = node->op == "aten.lstm" || node->op == "onnx.LSTM";
  bool isGru = node->op == "aten.gru" || node->op == "onnx.GRU";
  const Json *activation = setting("nonlinearity");
  bool isRelu =
      node->op == "aten.rnn_relu" || (activation && *activation == "relu");
  unsigned states = isLstm ? 2 : 1, first = 1 + states;
  std::vector<int> given; // first states, [layers, N, d] each
  for (unsigned i = 1; i < first; ++i)
    if (what(in(i)) != "number")
      given.push_back(in(i));
  if (!given.empty() && given.size() != states)
    refuse("one of its first states is given");
  bool hasBias = flag("has_biases"), isSecond = !flag("batch_first");
  const Json *second = setting("has_state_biases");
  bool hasStateBias = hasBias && !(second && *second == false);
  unsigned directions = flag("bidirectional") ? 2 : 1;
  unsigned layers = unsigned(integer("num_layers", 1)) * directions;
  size_t held = node->ins.size() - first, each = layers ? held / layers : 0;
  unsigned plain = 2 + hasBias + hasStateBias;
  bool isProjected = each == plain + 1;
  if (!layers || held % layers || each != plain + isProjected)
    refuse("it has " + llvm::Twine(held) + " weights");
  for (unsigned i = first; i < node->ins.size(); ++i)
    if (!owns(i))
      refuse("its weights are used elsewhere, too, or are computed");
  wantRank(in(0), 3, 3);
  wantRank(out(), 3, 3);
  bool isStateRead = false;
  for (size_t i = 1; i < node->outs.size(); ++i)
    isStateRead |= uses[node->outs[i]] > 0;
  const Json *train = setting("train");
  double drop = train && *train == false ? 0 : realNumber("dropout", 0);

  int x = isSecond ? batchFirst(in(0)) : in(0);
  std::vector<int> last; // states
  Polynomial width, cells;
  for (unsigned layer = 0; layer < layers; layer += directions) {
    std::vector<int> sides;
    for (unsigned side = 0; side < directions; ++side) {
      unsigned at = first + unsigned(each) * (layer + side);
      wantRank(in(at + 1), 2, 2);
      width = shape(in(at + 1))[1];
      cells = shape(in(at + 1))[0] / (isLstm ? 4 : isGru ? 3 : 1);
      Sizes sizes = shape(x);
      sizes[2] = width;
      std::string turn = "reverse(%0, over = axes(%0)[1])";
      int from = side ? make(turn, {x}, shape(x)) : x;
      int y = another(out()), state = another(out());
      int begun = given.empty()
                      ? -1
                      : firstState(given, layer + side,
                                   {sizes[0], isLstm ? width + cells : width});
      graph.values[y].shape = sizes;
      graph.values[state].shape = {sizes[0], isLstm ? width + cells : width};
      labels(y).assign(3, "");
      labels(state).assign(2, "");
      std::vector<int> weights;
      for (unsigned i = at; i < at + each; ++i)
        weights.push_back(in(i));
      Step &made = instance(isLstm  ? "LSTM"
                            : isGru ? "GRU"
                                    : "RNN",
                            from, weights);
      made.outs = {y};
      if (!given.empty())
        made.ins.push_back(begun);
      if (isStateRead)
        made.outs.push_back(state);
      put(made, "", "d", cells.str());
      if (isProjected)
        put(made, "projection", "projection", width.str());
      put(made, "bias", "bias", hasBias ? "true" : "false", "true", false);
      put(made, "state_bias", "state_bias", hasStateBias ? "true" : "false",
          "false", false);
      if (isRelu)
        put(made, "act", "act", "relu", "tanh", false);
      sides.push_back(side ? make(turn, {y}, sizes) : y);
      last.push_back(state);
    }
    x = sides[0];
    if (directions == 2) {
      Sizes sizes = shape(x);
      sizes[2] = sizes[2] * 2;
      x = make("concat(%0, %1, over = axes(%0)[-1])", sides, sizes);
    }
    if (drop > 0 && layer + directions < layers) {
      x = make("Dropout(%0, #0)", {x}, shape(x));
      put(steps.back(), "", "drop", realText(drop));
    }
  }
  same(isSecond ? batchFirst(x) : x);
  for (unsigned i = 1; isStateRead && i < node->outs.size(); ++i)
    lastStates(node->outs[i], last,
               !isLstm  ? ""
               : i == 2 ? width.str() + ".." + (width + cells).str()
                        : "0.." + width.str());
}

int Translator::firstState(const std::vector<int> &given, unsigned layer,
                           Sizes sizes) {
  std::string place = "[" + std::to_string(layer) + ", ...]";
  return given.size() == 1 ? make("%0" + place, given, std::move(sizes))
                           : make("concat(%0" + place + ", %1" + place + ")",
                                  given, std::move(sizes));
}

void Translator::lastStates(int result, const std::vector<int> &states,
                            const std::string &part) {
  std::string form;
  for (size_t i = 0; i < states.size(); ++i)
    form += (i ? ", %" : "%") + std::to_string(i) +
            (part.empty() ? "" : "[..., " + part + "]");
  bool isOne = states.size() == 1;
  Step &made = step(Step::Form_,
                    isOne ? "reshape(" + form + ", #0)"
                          : "transpose(stack(" + form + "), order = [1, 0, 2])",
                    states);
  made.outs = {result};
  labels(result).assign(3, "");
  if (!isOne)
    return;
  putSizes(made, shape(result));
}
