// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_VALUES_H
#define NETC_LIB_IMPORT_VALUES_H

#include "lib/Import/Graph.h"

namespace netc::import {

/// The values of a graph while its nodes are translated. Nodes without effect
/// give a value further names, and steps that the graph does not have make
/// further values.
class Values {
public:
  explicit Values(Graph &graph);

  GraphValue &at(int value) { return graph.values[value]; }
  const GraphValue &at(int value) const { return graph.values[value]; }
  const Sizes &shape(int value) const { return graph.shape(value); }
  StatedList<std::string> &labels(int value) { return at(value).labels; }

  /// Labels the axes of `made` that have no label as those of `other`, as netc
  /// does where tensors of one shape meet.
  void meet(int made, int other);

  /// Lets `value` be another name of `of`.
  void rename(int value, int of) { aliases[value] = of; }
  int real(int value) const;
  /// Another value, of the shape of one.
  int another(int like);
  /// How often nodes read a value by this name.
  unsigned uses(int value) const;
  /// How often they read it by other names.
  unsigned otherUses(int value) const;

  bool isKnown(int value) const { return at(value).kind == GraphValue::Known; }
  /// What is known of it, such as "causal"; empty if it is not.
  std::string what(int value) const;
  /// Whether it says what is on the diagonal of a matrix, or what is not.
  bool isDiagonal(int value) const {
    return llvm::StringRef(what(value)).ends_with("identity");
  }
  /// Whether it is a mask that is neither causal nor a window nor a diagonal.
  bool isOtherMask(int value) const {
    return what(value) == "table" && at(value).type == "bool";
  }
  bool isFloat(int value) const { return at(value).isFloat(); }
  /// Whether a layer may own it.
  bool isWeight(int value) const {
    return at(value).kind == GraphValue::Weight && !at(value).isState;
  }
  /// Whether the layer of this node owns the weight that is operand i.
  bool owns(const GraphNode &node, unsigned i) const;

  /// The axis that netc takes for features by itself; -1 where it finds none.
  int featureAxis(int value) const;
  /// Whether windows slide over the last axes.
  bool isImage(int value, size_t windows) const;
  /// Whether all that reads it reshapes it.
  bool isOnlyViewed(int value) const;

private:
  /// Finds who owns each weight: a layer, if all uses of it are alike, or the
  /// table of words that comes first. Else it is a tensor that several read.
  void findOwners();
  void addUse(const GraphNode &node, unsigned operand);
  /// How a node uses an operand: what two uses by one layer have in common.
  std::string useOf(const GraphNode &node, unsigned operand) const;

  Graph &graph;
  std::vector<int> aliases;
  std::map<int, unsigned> reads;
  std::map<int, std::string> owners; ///< uses of weights, by their owner
};

} // namespace netc::import

#endif // NETC_LIB_IMPORT_VALUES_H
