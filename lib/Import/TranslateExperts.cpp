// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Mixtures of experts of other frameworks in the words of netc.

#include "lib/Import/Translator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

// How transformers sorts rows by their experts, computes them, and puts them
// back, in the order of the alphabet. The activation is left out.
static constexpr llvm::StringLiteral expertOps =
    "_to_copy|cumsum|floor_divide|grouped_mm_fallback|grouped_mm_fallback|"
    "histc|index|index|index|index_put|mul|mul|sort|split|sum|transpose|"
    "transpose|unsqueeze|view|view|view";

llvm::ArrayRef<GraphNode> Translator::expertsFrom(size_t begin) const {
  int module = graph.nodes[begin].module;
  auto isInside = [&](const GraphNode &each) {
    int at = each.module;
    while (at >= 0 && at != module)
      at = graph.modules[at].parent;
    return at >= 0;
  };
  bool isGrouped = false;
  size_t end = begin;
  do
    isGrouped |= graph.nodes[end].op == "transformers.grouped_mm_fallback" &&
                 graph.nodes[end].module == module;
  while (++end < graph.nodes.size() && isInside(graph.nodes[end]));
  return llvm::ArrayRef(graph.nodes).slice(begin, isGrouped ? end - begin : 0);
}

void Translator::experts(llvm::ArrayRef<GraphNode> nodes) {
  node = &nodes.back();
  foreign = findForeign("transformers.grouped_mm_fallback");
  std::vector<int> weights;
  std::vector<StringRef> ops;
  std::set<int> made;
  const GraphNode *activation = nullptr;
  int x = -1, choices = -1, gate = -1;
  for (const GraphNode &each : nodes) {
    StringRef op = StringRef(each.op).split('.').second;
    if (each.module == nodes[0].module)
      ops.push_back(op);
    else
      activation = activation ? &nodes[0] : &each;
    made.insert(each.outs.begin(), each.outs.end());
    for (int in : each.ins)
      if (in >= 0 && isWeight(in))
        weights.push_back(in);
      else if (in >= 0 && !isKnown(in) && !made.count(in))
        (op == "index"             ? x
         : value(in).type == "i64" ? choices
                                   : gate) = real(in);
  }
  llvm::sort(ops);
  const ForeignOp *act = activation ? findForeign(activation->op) : nullptr;
  if (llvm::join(ops, "|") != expertOps || weights.size() != 2 || !act ||
      x < 0 || choices < 0 || gate < 0)
    refuse("it is in no module of gated experts that netc knows");
  for (int each : {x, choices, gate})
    wantRank(each, 2, 2);
  wantRank(weights[1], 3, 3);
  std::string fn = act->op.str();
  if (activation->with->value("approximate", std::string()) == "tanh")
    fn += "_tanh";
  Step &call = step(Step::Instance, "Experts", {x, choices, gate});
  call.weight = value(weights[0]).name;
  call.weights = weights;
  call.isFrozen = !value(weights[0]).learns;
  put(call, "", "experts", shape(weights[1])[0].str());
  put(call, "", "ff", shape(weights[1])[2].str());
  put(call, "act", "act", fn, "silu", false);
}

void Translator::largest() {
  ignore({"sorted"}); // they are
  int x = in(0);
  size_t rank = shape(x).size();
  if (!flag("largest") || axis(integer("dim", -1), rank) + 1 != rank)
    refuse("netc takes the largest of the last axis");
  int choices = node->outs.size() > 1 ? node->outs[1] : another(out());
  Step &made = step(Step::Form_, "top_k(%0, #0)", {x});
  made.outs = {choices};
  put(made, "", "top", std::to_string(integer("k", 1)));
  if (uses[out()])
    step(Step::Form_, "take(%0, %1)", {x, choices});
}

void Translator::scatter() {
  int x = in(0), places = in(1);
  wantRank(places, 2, 2);
  if (what(x) != "number" || value(x).known->value("value", Json()) != 0 ||
      realNumber("value", 0) != 1 || axis(integer("dim", -1), 2) != 1)
    refuse("netc sets ones among zeros, along the last axis");
  Step &made = step(Step::Form_,
                    "sum(embedding(%0, table(#0, #0, init = \"identity\")), "
                    "over = axes(%0)[1])",
                    {places});
  put(made, "", "size", shape(x)[1].str());
}

void Translator::taken() {
  ignore({"sparse_grad"});
  int x = in(0);
  size_t rank = shape(x).size();
  if (axis(integer("dim", -1), rank) + 1 != rank)
    refuse("netc takes places of the last axis");
  step(Step::Form_, "take(%0, %1)", {x, in(1)});
}
