// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Transforms/DataFlow.h"

#include "dialect/Net.h"

using namespace netc;
using namespace mlir;

DataFlow::DataFlow(Block &block) {
  auto flow = [&](Value from, Value to) {
    next[from].push_back(to);
    previous[to].push_back(from);
  };
  block.walk([&](Operation *op) {
    if (auto differentiable = dyn_cast<GradientOpInterface>(op))
      differentiable.forEachFlow(flow);
    else
      flowThrough(op, flow);
  });
}

/// `roots`, and what is reachable from them over `edges` through `passable`
/// values.
template <typename Edges>
static DataFlow::Values reach(ValueRange roots, const Edges &edges,
                              bool (*passable)(Value)) {
  DataFlow::Values reached;
  SmallVector<Value> work;
  auto visit = [&](Value value) {
    if (passable(value) && reached.insert(value).second)
      work.push_back(value);
  };
  llvm::for_each(roots, visit);
  while (!work.empty())
    if (auto found = edges.find(work.pop_back_val()); found != edges.end())
      llvm::for_each(found->second, visit);
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
