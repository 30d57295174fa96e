// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Layers.h"

#include "lib/Report/Format.h"

#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

using namespace netc;
using llvm::SmallVector;
using llvm::StringRef;

Polynomial netc::productsOf(const Figures &figures) {
  return figures[Phase::Forward].matmul + figures.backward().matmul;
}

/// Splits the name of the nth part of its kind: `mbconv_3` into `mbconv` and
/// `3`, `3` into an empty kind and `3`. Other names have no number.
static std::pair<StringRef, StringRef> kindAndNumber(StringRef name) {
  StringRef kind = name.rtrim("0123456789");
  StringRef number = name.substr(kind.size());
  if (kind.empty() || (!number.empty() && kind.consume_back("_")))
    return {kind, number};
  return {name, ""};
}

/// Whether two parts, and their children by name, have equal products and
/// weights.
static bool costTheSame(const PartTree &tree, const Part &a, const Part &b) {
  auto products = [](const Figures &figures) {
    SmallVector<Polynomial> flop;
    for (const Cost &cost : figures.costs)
      flop.push_back(cost.matmul);
    return flop;
  };
  return a.op == b.op && a.inputs == b.inputs && a.output == b.output &&
         a.children.size() == b.children.size() &&
         a.figures.parameters == b.figures.parameters &&
         products(a.figures) == products(b.figures) &&
         llvm::all_of(llvm::zip(a.children, b.children), [&](auto pair) {
           const Part &one = tree.parts[std::get<0>(pair)];
           const Part &other = tree.parts[std::get<1>(pair)];
           return one.name() == other.name() && costTheSame(tree, one, other);
         });
}

/// Whether two parts are copies of one block, made by `repeat` or a loop.
static bool areAlike(const PartTree &tree, const Part &a, const Part &b) {
  return !a.isLeaf() &&
         kindAndNumber(a.name()).first == kindAndNumber(b.name()).first &&
         costTheSame(tree, a, b);
}

/// Whether a part is a single op without products and weights.
static bool isMinor(const Part &part) {
  return part.isLeaf() && productsOf(part.figures).isZero() &&
         part.figures.parameters.isZero();
}

/// Whether a part only moves elements; it has no row then.
static bool isFree(const Part &part) {
  return llvm::all_of(part.figures.costs,
                      [](const Cost &cost) { return cost.total().isZero(); }) &&
         part.figures.parameters.isZero();
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
    total.children = childrenOf(Copies{&tree.root()});
    return total;
  }

private:
  static constexpr size_t maxMinorRows = 4;

  /// The parts of one row, in the order of the text.
  using Copies = SmallVector<const Part *, 1>;

  static Figures sumOf(const Copies &copies) {
    Figures sum;
    for (const Part *part : copies)
      sum += part->figures;
    return sum;
  }

  /// The rows below that of `parents`, which are copies.
  std::vector<LayerRow> childrenOf(const Copies &parents) const {
    std::vector<Copies> shown;
    for (size_t i = 0; i < parents.front()->children.size(); ++i) {
      Copies copies;
      for (const Part *parent : parents)
        copies.push_back(&tree.parts[parent->children[i]]);
      if (!llvm::all_of(copies, [](const Part *part) { return isFree(*part); }))
        shown.push_back(std::move(copies));
    }
    auto areMinor = [](const Copies &copies) { return isMinor(*copies[0]); };
    Figures minor;
    size_t numMinor = llvm::count_if(shown, areMinor);
    if (numMinor > maxMinorRows)
      llvm::erase_if(shown, [&](const Copies &copies) {
        if (areMinor(copies))
          minor += sumOf(copies);
        return areMinor(copies);
      });

    std::vector<LayerRow> rows;
    llvm::ArrayRef<Copies> rest = shown;
    while (!rest.empty()) {
      Copies copies = rest.front();
      const Part &first = *copies.front(), *last = &first;
      rest = rest.drop_front();
      while (!rest.empty() && areAlike(tree, first, *rest.front().front())) {
        last = rest.front().front();
        llvm::append_range(copies, rest.front());
        rest = rest.drop_front();
      }
      std::string name = first.name().str();
      if (last != &first)
        name += "–" + (kindAndNumber(first.name()).second.empty()
                           ? last->name()
                           : kindAndNumber(last->name()).second)
                          .str();
      rows.push_back(rowOf(std::move(name), copies));
    }
    if (numMinor > maxMinorRows) {
      LayerRow row;
      row.name = fmt::format("{} other ops", numMinor);
      row.figures = minor;
      row.share = Rational(0);
      rows.push_back(std::move(row));
    }
    return rows;
  }

  LayerRow rowOf(std::string name, const Copies &copies) const {
    const Part &part = *copies.front();
    LayerRow row;
    row.name = std::move(name);
    row.op = tree.isLayer(part) ? part.op.str() : "";
    if (copies.size() > 1)
      row.op = fmt::format("{} × {}", copies.size(),
                           row.op.empty() ? "block" : row.op);
    row.shape = shapesOf(part);
    row.figures = sumOf(copies);
    row.share = shareOf(productsOf(row.figures), whole);
    if (!tree.isLayer(part))
      row.children = childrenOf(copies);
    return row;
  }

  const PartTree &tree;
  const Polynomial whole;
};
} // namespace

LayerRow netc::layerRows(const PartTree &tree) { return Rows(tree).all(); }
