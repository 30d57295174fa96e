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

// How netc writes `dispatch`, lib/Export/Experts.cpp. The marked ops are left
// out where the numbers of the choices have 64 bits. Behind an op are its
// settings but for sizes; `first` and `last` permute the choices so that those
// of rank k come first, and back.
static constexpr llvm::StringLiteral dispatchOps[] = {
    "ordered=permute(choices):first",
    "flat=view(ordered)",
    "?chosen=to(flat)",
    "column=view(chosen)",
    "same=eq(column,range)",
    "hits=to(same)",
    R"(counts=cumsum(hits):{"dim":0})",
    "own=mul(hits,counts)",
    R"(nth=sum(own):{"dim":[1],"keepdim":false})",
    "most=le(nth,capacity)",
    "least=ge(nth,one)",
    "has=where(least,most,least)",
    "first=mul(chosen,capacity)",
    "next=add(first,nth)",
    "slot=sub(next,one)",
    "number=where(has,slot,none)",
    "?numbers=to(number)",
    "parts=view(numbers)",
    "places=permute(parts):last",
    "copies=expand(x)",
    "rows=view(copies)",
    "empty=view(zero)",
    R"(filled=index_add(empty,number,rows):{"dim":0})",
    "slots=view(filled)"};

/// Whether a node has these settings, but for sizes, as dispatchOps states
/// them.
static bool hasSettings(const GraphNode &node, StringRef wanted, size_t rank) {
  Json has = *node.with;
  has.erase("size");
  Json expected = Json::object();
  if (wanted == "first" || wanted == "last") {
    bool isFirst = wanted == "first";
    for (size_t i = 0; i < rank; ++i)
      expected["dims"].push_back((i + (isFirst ? rank - 1 : 1)) % rank);
  } else if (!wanted.empty()) {
    expected = Json::parse(wanted.begin(), wanted.end());
  }
  return has == expected;
}

size_t ExpertTranslator::translateFrom(size_t begin) {
  llvm::ArrayRef<GraphNode> nodes = moduleFrom(begin);
  if (nodes.empty())
    return translateDispatch(begin);
  translateModule(nodes);
  return nodes.size();
}

size_t ExpertTranslator::translateDispatch(size_t begin) {
  std::map<StringRef, int> named;
  size_t at = begin;
  for (StringRef line : dispatchOps) {
    bool isOptional = line.consume_front("?");
    auto [call, settings] = line.split(':');
    llvm::SmallVector<StringRef> words;
    llvm::SplitString(call, words, "=(,)");
    bool isThere = at < graph.nodes.size() &&
                   StringRef(graph.nodes[at].op) == ("aten." + words[1]).str();
    if (!isThere && isOptional) {
      named[words[0]] = named[words[2]];
      continue;
    }
    llvm::ArrayRef<StringRef> operands = llvm::ArrayRef(words).drop_front(2);
    if (!isThere || graph.nodes[at].ins.size() != operands.size() ||
        graph.nodes[at].outs.size() != 1 || graph.nodes[at].ins[0] < 0 ||
        !hasSettings(graph.nodes[at], settings,
                     graph.values[graph.nodes[at].ins[0]].shape.size()))
      return 0;
    for (auto [operand, in] : llvm::zip_equal(operands, graph.nodes[at].ins))
      if (in < 0 || named.try_emplace(operand, in).first->second != in)
        return 0;
    named[words[0]] = graph.nodes[at++].outs[0];
  }
  auto holds = [&](const char *name, double number) {
    int value = named[name];
    return values.what(value) == "number" &&
           values.at(value).known->value("value", Json()) == number;
  };
  int x = values.real(named["x"]), choices = values.real(named["choices"]),
      slots = named["slots"], places = named["places"];
  const Sizes made = shape(slots), chosen = shape(choices);
  if (values.what(named["range"]) != "range" || !holds("one", 1) ||
      !holds("none", -1) || !holds("zero", 0) || made.size() != 3 ||
      shape(named["filled"]) != Sizes{made[0] * made[1], made[2]} ||
      (values.what(named["capacity"]) == "number" &&
       !holds("capacity", double(made[1].toInt64().value_or(-1)))))
    return 0;
  node.read(graph.nodes[at - 1]);
  node.readAs("transformers.grouped_mm_fallback");
  Step &step = steps.add(Step::Pipe, "dispatch", {x, choices});
  step.outs = {slots, places};
  step.put("experts", "experts", made[0].str());
  Polynomial capacity = made[0] * made[1] / elements(chosen);
  step.put("capacity", "capacity", capacity.str(), "1");
  values.labels(slots).assign(3, "");
  values.labels(places).assign(chosen.size(), "");
  return at - begin;
}

llvm::ArrayRef<GraphNode> ExpertTranslator::moduleFrom(size_t begin) const {
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

void ExpertTranslator::translateModule(llvm::ArrayRef<GraphNode> nodes) {
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
