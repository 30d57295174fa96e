// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Import/Step.h"
#include "llvm/ADT/STLExtras.h"

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

namespace {
/// The ops of a module, in order, and what netc calls them.
struct Idiom {
  StringRef ops, fn;
  bool hasWeight; ///< and `eps`, which is what the first `add` adds
};
} // namespace

static constexpr Idiom idioms[] = {
    {"mul|power|mul|add|mul|tanh|add|mul", "gelu_tanh", false},
    {"power|mean|add|sqrt|mul|mul", "RMSNorm", true},
    {"power|mean|add|sqrt|mul|add|mul", "RMSNorm", true}, // 1 + weight
};

void netc::import::findIdioms(Graph &graph, std::vector<Step> &steps) {
  std::map<int, std::vector<size_t>> modules;
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i].module >= 0)
      modules[steps[i].module].push_back(i);
  std::set<size_t> gone;
  for (auto &[module, places] : modules) {
    std::string ops, weight;
    std::vector<int> weights;
    const StepArgument *eps = nullptr;
    int x = -1;
    for (size_t place : places) {
      const Step &step = steps[place];
      if (step.isTensor()) {
        weight = step.weight;
        weights = step.weights;
        continue;
      }
      ops += (ops.empty() ? "" : "|") + step.op;
      if (x < 0 && !step.ins.empty())
        x = step.ins[0];
      if (step.op == "add" && !eps && !step.arguments.empty())
        eps = &step.arguments[0];
    }
    auto idiom = llvm::find_if(idioms, [&](const Idiom &each) {
      return each.ops == ops && each.hasWeight == !weight.empty();
    });
    if (idiom == std::end(idioms))
      continue;
    Step made;
    made.form = idiom->hasWeight ? Step::Instance : Step::Pipe;
    made.fn = idiom->fn.str();
    made.ins = {x};
    made.outs = steps[places.back()].outs;
    made.module = module;
    made.line = steps[places.back()].line;
    made.weight = weight;
    made.weights = weights;
    made.isFrozen = !weights.empty() && !graph.values[weights[0]].learns;
    made.node = steps[places.back()].node;
    made.op = made.fn;
    if (idiom->hasWeight && eps)
      made.arguments.push_back({"eps", "eps", eps->text, "1e-06"});
    graph.values[made.outs[0]].labels = graph.values[x].labels;
    for (size_t place : llvm::ArrayRef(places).drop_back())
      gone.insert(place);
    steps[places.back()] = std::move(made);
  }
  std::vector<Step> kept;
  for (size_t i = 0; i < steps.size(); ++i)
    if (!gone.count(i))
      kept.push_back(std::move(steps[i]));
  steps = std::move(kept);
}
