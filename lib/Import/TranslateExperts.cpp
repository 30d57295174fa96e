// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Mixtures of experts.

#include "lib/Import/OpTranslators.h"

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

llvm::ArrayRef<GraphNode> ExpertTranslator::nodesFrom(size_t begin) const {
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

void ExpertTranslator::translate(llvm::ArrayRef<GraphNode> nodes) {
  node.read(nodes.back());
  node.readAs("transformers.grouped_mm_fallback");
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
      if (in >= 0 && values.isWeight(in))
        weights.push_back(in);
      else if (in >= 0 && !values.isKnown(in) && !made.count(in))
        (op == "index"                 ? x
         : values.at(in).type == "i64" ? choices
                                       : gate) = values.real(in);
  }
  llvm::sort(ops);
  const ForeignOp *act = activation ? findForeign(activation->op) : nullptr;
  if (llvm::join(ops, "|") != expertOps || weights.size() != 2 || !act ||
      x < 0 || choices < 0 || gate < 0)
    node.refuse("it is in no module of gated experts that netc knows");
  for (int each : {x, choices, gate})
    node.wantRank(each, 2, 2);
  node.wantRank(weights[1], 3, 3);
  std::string fn = act->op.str();
  if (activation->with->value("approximate", std::string()) == "tanh")
    fn += "_tanh";
  Step &call = steps.add(Step::Instance, "Experts", {x, choices, gate});
  call.weight = values.at(weights[0]).name;
  call.weights = weights;
  call.isFrozen = !values.at(weights[0]).learns;
  call.put("", "experts", shape(weights[1])[0].str());
  call.put("", "ff", shape(weights[1])[2].str());
  call.put("act", "act", fn, "silu", false);
}
