// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Transforms/DataFlow.h"

#include "dialect/Net.h"
#include "llvm/ADT/BitVector.h"
#include <numeric>

using namespace netc;
using namespace mlir;

DataFlow::DataFlow(llvm::iterator_range<Block::iterator> ops) {
  std::vector<Flow> flows;
  auto numberOf = [&](Value value) {
    auto [entry, isNew] = numbers.try_emplace(value, values.size());
    if (isNew)
      values.push_back(value);
    return entry->second;
  };
  auto flow = [&](Value from, Value to) {
    flows.push_back({numberOf(from), numberOf(to)});
  };
  for (Operation &op : ops)
    op.walk([&](Operation *inner) {
      if (auto differentiable = dyn_cast<GradientOpInterface>(inner))
        differentiable.forEachFlow(flow);
      else
        flowThrough(inner, flow);
    });
  next = edgesOf(flows, &Flow::first, &Flow::second);
  previous = edgesOf(flows, &Flow::second, &Flow::first);
}

DataFlow::Edges DataFlow::edgesOf(ArrayRef<Flow> flows, unsigned Flow::*from,
                                  unsigned Flow::*to) const {
  Edges edges{std::vector<unsigned>(values.size() + 1),
              std::vector<unsigned>(flows.size())};
  for (const Flow &flow : flows)
    ++edges.begin[flow.*from];
  std::partial_sum(edges.begin.begin(), edges.begin.end(), edges.begin.begin());
  // Each begin stands behind its edges, and moves in front of them.
  for (const Flow &flow : flows)
    edges.to[--edges.begin[flow.*from]] = flow.*to;
  return edges;
}

DataFlow::Values DataFlow::reach(ValueRange roots, const Edges &edges,
                                 bool (*passable)(Value)) const {
  Values reached;
  SmallVector<unsigned> work;
  llvm::BitVector seen(values.size());
  auto visit = [&](unsigned number) {
    if (seen[number] || !passable(values[number]))
      return;
    seen.set(number);
    reached.insert(values[number]);
    work.push_back(number);
  };
  for (Value root : roots) {
    if (auto known = numbers.find(root); known != numbers.end())
      visit(known->second);
    else if (passable(root))
      reached.insert(root);
  }
  while (!work.empty()) {
    unsigned number = work.pop_back_val();
    for (unsigned i = edges.begin[number]; i != edges.begin[number + 1]; ++i)
      visit(edges.to[i]);
  }
  return reached;
}

DataFlow::Values DataFlow::differentiableFrom(ValueRange roots) const {
  return reach(roots, next,
               [](Value value) { return isa<FloatType>(elementOf(value)); });
}

DataFlow::Values DataFlow::computedFrom(ValueRange roots) const {
  return reach(roots, next, [](Value) { return true; });
}

DataFlow::Values DataFlow::usedFor(ValueRange roots) const {
  return reach(roots, previous, [](Value) { return true; });
}
