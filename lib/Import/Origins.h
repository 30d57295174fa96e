// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_ORIGINS_H
#define NETC_LIB_IMPORT_ORIGINS_H

#include "lib/Import/Graph.h"

#include <set>

namespace netc::import {

/// From what the values of a graph are computed, by the types that it states.
class Origins {
public:
  explicit Origins(const Graph &graph);

  /// Whether operand i is whole numbers that name places: rows of a table,
  /// elements or classes.
  bool isPlace(const GraphNode &node, unsigned i) const;
  /// Whether it depends on weights, or on floating-point numbers that go in.
  bool isReal(int value) const { return reals.count(value); }
  /// Whether a node makes whole numbers of others, and more than places are
  /// made of these, or they depend on weights or floating-point inputs.
  bool isRounded(const GraphNode &node) const;

private:
  void follow(const GraphNode &node);
  bool isInteger(int value) const { return integers.count(value); }
  /// Whether all numbers are whole, if not by their type.
  bool isWhole(int value) const { return value < 0 || wholes.count(value); }

  std::set<int> integers, wholes, reals, others; ///< no places are `others`
};

} // namespace netc::import

#endif // NETC_LIB_IMPORT_ORIGINS_H
