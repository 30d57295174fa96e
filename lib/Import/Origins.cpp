// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// From what the values of a graph are computed.

#include "lib/Import/Origins.h"

#include "lib/Import/Foreign.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

static bool isOpOf(const GraphNode &node, const std::set<StringRef> &ops) {
  const ForeignOp *op = findForeign(node.op);
  return op && ops.count(op->op);
}

/// Whether all numbers in it are whole.
static bool holdsWhole(const Json &stated) {
  if (stated.is_structured())
    return llvm::all_of(stated, holdsWhole);
  return !stated.is_number() ||
         stated.get<double>() == std::floor(stated.get<double>());
}

/// Whether the numbers that are told of a tensor are whole.
static bool isKnownWhole(const GraphValue &value) {
  const Json &known = *value.known;
  std::string what = known.value("what", std::string());
  bool isTold = known.contains("value") || known.contains("start") ||
                known.contains("values") || what == "size";
  return isTold && holdsWhole(known);
}

Origins::Origins(const Graph &graph) {
  for (auto [i, value] : llvm::enumerate(graph.values)) {
    bool isKnown = value.kind == GraphValue::Known;
    if (!value.isFloat() && value.type != "bool")
      integers.insert(int(i));
    if (value.isFloat() &&
        (value.kind == GraphValue::Weight || value.kind == GraphValue::Input))
      reals.insert(int(i));
    if (!value.isFloat() || (isKnown && isKnownWhole(value)))
      wholes.insert(int(i));
  }
  std::vector<const GraphNode *> nodes = graph.allNodes();
  for (const GraphNode *each : nodes)
    if (each->body) // what goes into it is not followed
      llvm::copy_if(each->body->ins, std::inserter(reals, reals.end()),
                    [&](int in) { return graph.values[in].isFloat(); });
  for (const GraphNode *each : nodes)
    follow(*each);
  for (auto &output : graph.outputs)
    others.insert(output.second);
  for (const GraphNode *each : nodes)
    if (each->body)
      others.insert(each->body->outs.begin(), each->body->outs.end());
  for (const GraphNode *each : llvm::reverse(nodes)) {
    const GraphNode &node = *each;
    bool arePlaces = llvm::all_of(node.outs, [&](int out) {
      return isInteger(out) && !others.count(out);
    });
    for (auto [i, in] : llvm::enumerate(node.ins))
      if (!arePlaces && !isPlace(node, unsigned(i)))
        others.insert(in);
  }
}

void Origins::follow(const GraphNode &node) {
  static const std::set<StringRef> exact = {
      "abs",       "add",     "broadcast",     "concat",    "convert", "cumsum",
      "max",       "maximum", "min",           "minimum",   "mul",     "neg",
      "positions", "relu",    "relu6",         "reshape",   "slice",   "stack",
      "sub",       "sum",     "stop_gradient", "transpose", "where"};
  auto areReal = [&](llvm::ArrayRef<int> values) {
    return llvm::any_of(values, [&](int each) { return reals.count(each); });
  };
  bool isReal = areReal(node.ins) || (node.body && areReal(node.body->outs));
  bool isWhole =
      isOpOf(node, exact) && holdsWhole(*node.with) &&
      llvm::all_of(node.ins, [&](int in) { return this->isWhole(in); });
  for (int out : node.outs) {
    if (isReal)
      reals.insert(out);
    if (isWhole)
      wholes.insert(out);
  }
}

bool Origins::isPlace(const GraphNode &node, unsigned i) const {
  static const std::set<StringRef> readers = {"cross_entropy", "embedding",
                                              "scatter_add", "take"};
  return i > 0 && node.ins[i] >= 0 && isOpOf(node, readers) &&
         isInteger(node.ins[i]);
}

bool Origins::isRounded(const GraphNode &node) const {
  bool makesPlaces = isOpOf(node, {"top_k"});
  if (makesPlaces || node.outs.empty() || !isInteger(node.outs[0]))
    return false;
  for (auto [i, in] : llvm::enumerate(node.ins))
    if (!isWhole(in) && (isReal(in) || others.count(node.outs[0])))
      return true;
  return false;
}
