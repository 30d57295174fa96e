// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_LAYERS_H
#define NETC_LIB_REPORT_LAYERS_H

#include "lib/Analysis/Cost.h"

namespace netc {

/// A row in the tree of layers. Copies of a block with equal products and
/// weights share a row. So do those of a block that takes turns with others. If
/// a block has many ops without products and weights, one row sums them up. Ops
/// that only move elements have no row.
struct LayerRow {
  std::string name;  ///< `conv1`, `0–2`, `1, …, 5`, `7 other ops`
  std::string op;    ///< `conv`, `3 × block`, or empty
  std::string shape; ///< see shapesOf()
  Figures figures;   ///< of all copies
  /// The share of the network's FLOP of products, forward and backward. None if
  /// it depends on a free axis.
  std::optional<Rational> share;
  std::vector<LayerRow> children;
};

/// The FLOP of products, forward and backward.
Polynomial productsOf(const Figures &figures);

/// The row of the whole network, `total`, with the rows of its parts as
/// children.
LayerRow layerRows(const PartTree &tree);

} // namespace netc

#endif // NETC_LIB_REPORT_LAYERS_H
