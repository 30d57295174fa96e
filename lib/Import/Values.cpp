// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Import/Values.h"

#include "lib/Import/Foreign.h"
#include "llvm/ADT/STLExtras.h"

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

Values::Values(Graph &graph) : graph(graph) {
  for (size_t i = 0; i < graph.values.size(); ++i)
    aliases.push_back(int(i));
  findOwners();
  for (const GraphNode *each : graph.allNodes())
    for (int value : each->reads())
      if (value >= 0)
        ++reads[value];
  for (auto &output : graph.outputs)
    ++reads[output.second];
}

int Values::real(int value) const {
  while (aliases[value] != value)
    value = aliases[value];
  return value;
}

int Values::another(int like) {
  GraphValue made = at(like);
  graph.values.push_back(std::move(made));
  aliases.push_back(int(aliases.size()));
  return int(aliases.size()) - 1;
}

unsigned Values::uses(int value) const {
  auto found = reads.find(value);
  return found == reads.end() ? 0 : found->second;
}

unsigned Values::otherUses(int value) const {
  unsigned count = 0;
  for (size_t i = 0; i < aliases.size(); ++i)
    if (int(i) != value && real(int(i)) == value)
      count += uses(int(i));
  return count;
}

std::string Values::what(int value) const {
  return isKnown(value) ? at(value).known->value("what", std::string()) : "";
}

//===----------------------------------------------------------------------===//
// Owners of weights
//===----------------------------------------------------------------------===//

std::string Values::useOf(const GraphNode &node, unsigned operand) const {
  std::string use =
      node.op + " " + std::to_string(operand) + " " + node.with->dump();
  for (int in : node.ins) {
    int value = in < 0 ? -1 : real(in);
    use += value < 0         ? " none"
           : isWeight(value) ? " " + std::to_string(value)
           : isKnown(value) && what(value) != "table" ? " known"
                                                      : " made";
  }
  return use;
}

void Values::findOwners() {
  std::vector<int> plain = aliases;
  // A result is a tensor, not a layer, and so is what a loop reads.
  std::vector<int> tensors;
  for (const GraphNode *next : graph.allNodes()) {
    const GraphNode &each = *next;
    const ForeignOp *op = findForeign(each.op);
    // What only moves a weight is the weight.
    if (op && each.ins.size() == 1 && each.ins[0] >= 0 &&
        (op->op == "convert" || op->op == "reshape" || op->op == "broadcast") &&
        isWeight(real(each.ins[0])) &&
        shape(each.ins[0]) == shape(each.outs[0])) {
      rename(each.outs[0], each.ins[0]);
      continue;
    }
    for (unsigned i = 0; i < each.ins.size(); ++i)
      if (each.ins[i] >= 0 && isWeight(real(each.ins[i])))
        addUse(each, i);
    if (!each.body)
      continue;
    llvm::append_range(tensors, each.body->outs);
    for (const GraphNode &inner : each.body->nodes)
      llvm::copy_if(inner.ins, std::back_inserter(tensors),
                    [](int in) { return in >= 0; });
  }
  for (auto &output : graph.outputs)
    tensors.push_back(output.second);
  for (int each : tensors)
    if (auto found = owners.find(real(each)); found != owners.end())
      found->second.clear();
  for (auto &[weight, use] : owners)
    if (StringRef(use).starts_with("table "))
      use = use.substr(6);
  aliases = std::move(plain);
}

void Values::addUse(const GraphNode &node, unsigned operand) {
  const ForeignOp *op = findForeign(node.op);
  std::string use = useOf(node, operand);
  auto [found, isFirst] = owners.try_emplace(real(node.ins[operand]), use);
  bool isTable = op && op->op == "embedding" && operand == 0 &&
                 StringRef(use).ends_with(" made");
  if (!isFirst && found->second != use &&
      !StringRef(found->second).starts_with("table "))
    found->second.clear();
  else if (isFirst && isTable)
    found->second = "table " + use;
}

bool Values::owns(const GraphNode &node, unsigned i) const {
  if (i >= node.ins.size() || node.ins[i] < 0)
    return false;
  auto owner = owners.find(real(node.ins[i]));
  return owner != owners.end() && owner->second == useOf(node, i);
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

void Values::meet(int made, int other) {
  if (shape(made) != shape(other))
    return;
  StatedList<std::string> &names = labels(made);
  for (auto [name, own] : llvm::zip_equal(names, labels(other)))
    if (name.empty() && !llvm::is_contained(names, own))
      name = own;
}

int Values::featureAxis(int value) const {
  const StatedList<std::string> &names = at(value).labels;
  auto found = llvm::find(names, "C");
  if (found != names.end())
    return int(found - names.begin());
  if (names.empty())
    return -1;
  StringRef last = names.back();
  bool isTaken = last == "N" || last == "H" || last == "W" || last == "L" ||
                 last == "D" || (last == "T" && names.size() > 2);
  return isTaken ? -1 : int(names.size()) - 1;
}

bool Values::isImage(int value, size_t windows) const {
  const StatedList<std::string> &names = at(value).labels;
  if (names.size() != windows + 2 || names[1] != "C")
    return false;
  return llvm::all_of(names.from(2), [](StringRef name) {
    return name == "D" || name == "H" || name == "W" || name == "L";
  });
}

bool Values::isOnlyViewed(int value) const {
  for (const GraphNode *each : graph.allNodes()) {
    const ForeignOp *user = findForeign(each->op);
    if (llvm::is_contained(each->reads(), value) &&
        (!user || user->op != "reshape"))
      return false;
  }
  return llvm::all_of(graph.outputs,
                      [&](auto &each) { return each.second != value; });
}
