// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Layers.h"

#include "lib/Report/Format.h"

#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

using namespace netc;

static Polynomial productsOf(const Figures &figures) {
  return figures[Phase::Forward].matmul + figures.backward().matmul;
}

/// Whether these are copies of one block, made by a `repeat`, that cost the
/// same.
static bool areAlike(const Part &a, const Part &b) {
  auto isCopy = [](const Part &part) {
    return llvm::all_of(part.name(), llvm::isDigit);
  };
  return isCopy(a) && isCopy(b) && a.op == b.op && a.inputs == b.inputs &&
         a.output == b.output && a.children.size() == b.children.size() &&
         a.figures == b.figures;
}

/// An op, not an instance, that has neither products nor weights.
static bool isMinor(const Part &part) {
  return part.isLeaf() && productsOf(part.figures).isZero() &&
         part.figures.parameters.isZero();
}

/// What only moves elements is no row.
static bool isFree(const Part &part) {
  return llvm::all_of(part.figures.costs,
                      [](const Cost &cost) { return cost.total().isZero(); }) &&
         part.figures.parameters.isZero();
}

static Figures timesOf(const Figures &figures, unsigned times) {
  Figures product = figures;
  for (Cost &cost : product.costs)
    cost = cost * times;
  product.parameters = figures.parameters * times;
  return product;
}

namespace {
class Rows {
public:
  explicit Rows(const PartTree &tree)
      : tree(tree), whole(productsOf(tree.root().figures)) {}

  LayerRow all() const {
    LayerRow total;
    total.name = "total";
    total.figures = tree.root().figures;
    total.children = childrenOf(tree.root(), 1);
    return total;
  }

private:
  static constexpr size_t maxMinorRows = 4;

  /// The parts of `parent`, which stands for `times` of its kind.
  std::vector<LayerRow> childrenOf(const Part &parent, unsigned times) const {
    llvm::SmallVector<unsigned> shown;
    llvm::copy_if(parent.children, std::back_inserter(shown),
                  [&](unsigned i) { return !isFree(tree.parts[i]); });
    Figures minor;
    size_t numMinor = llvm::count_if(
        shown, [&](unsigned i) { return isMinor(tree.parts[i]); });
    if (numMinor > maxMinorRows)
      llvm::erase_if(shown, [&](unsigned i) {
        if (!isMinor(tree.parts[i]))
          return false;
        minor += tree.parts[i].figures;
        return true;
      });

    std::vector<LayerRow> rows;
    llvm::ArrayRef<unsigned> rest = shown;
    while (!rest.empty()) {
      const Part &part = tree.parts[rest.front()];
      llvm::ArrayRef<unsigned> alike = rest.take_while([&](unsigned i) {
        return i == rest.front() || areAlike(part, tree.parts[i]);
      });
      rest = rest.drop_front(alike.size());
      std::string name = part.name().str();
      if (alike.size() > 1)
        name += "–" + tree.parts[alike.back()].name().str();
      rows.push_back(rowOf(std::move(name), part, times * alike.size()));
    }
    if (numMinor > maxMinorRows) {
      LayerRow row;
      row.name = fmt::format("{} other ops", numMinor);
      row.figures = timesOf(minor, times);
      row.share = Rational(0);
      rows.push_back(std::move(row));
    }
    return rows;
  }

  LayerRow rowOf(std::string name, const Part &part, unsigned times) const {
    LayerRow row;
    row.name = std::move(name);
    row.op = tree.isLayer(part) ? part.op.str() : "";
    if (times > 1)
      row.op = fmt::format("{} × {}", times, row.op.empty() ? "block" : row.op);
    row.shape = shapesOf(part);
    row.figures = timesOf(part.figures, times);
    row.share = shareOf(productsOf(row.figures), whole);
    if (!tree.isLayer(part))
      row.children = childrenOf(part, times);
    return row;
  }

  const PartTree &tree;
  const Polynomial whole;
};
} // namespace

LayerRow netc::layerRows(const PartTree &tree) { return Rows(tree).all(); }
