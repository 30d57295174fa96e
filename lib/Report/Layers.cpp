// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Layers.h"

#include "lib/Report/Format.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

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

/// The number of the last copy that a part represents.
static std::string lastNumberOf(const Part &part) {
  int64_t first = 0;
  kindAndNumber(part.name()).second.getAsInteger(10, first);
  return std::to_string(first + part.copies - 1);
}

namespace {
/// A part that represents `times` equal parts.
struct Parts {
  const Part *part;
  int64_t times;
};
} // namespace

/// Whether parts, and their children by name, have equal products and weights
/// in each of their copies.
static bool costTheSame(const PartTree &tree, const Parts &a, const Parts &b) {
  auto isOneCopyEqual = [&](const Polynomial &ofA, const Polynomial &ofB) {
    return a.times == b.times ? ofA == ofB : ofA / a.times == ofB / b.times;
  };
  const Part &one = *a.part, &other = *b.part;
  return one.op == other.op && one.hasShapesOf(other) &&
         one.children.size() == other.children.size() &&
         isOneCopyEqual(one.figures.parameters, other.figures.parameters) &&
         llvm::all_of_zip(one.figures.costs, other.figures.costs,
                          [&](const Cost &ofOne, const Cost &ofOther) {
                            return isOneCopyEqual(ofOne.matmul, ofOther.matmul);
                          }) &&
         llvm::all_of(llvm::zip(one.children, other.children), [&](auto pair) {
           const Part &ofOne = tree.parts[std::get<0>(pair)];
           const Part &ofOther = tree.parts[std::get<1>(pair)];
           return ofOne.name() == ofOther.name() &&
                  costTheSame(tree, {&ofOne, a.times * ofOne.copies},
                              {&ofOther, b.times * ofOther.copies});
         });
}

/// Whether two parts are copies of one block, made by `repeat` or a loop.
static bool areAlike(const PartTree &tree, const Parts &a, const Parts &b) {
  return !a.part->isLeaf() &&
         kindAndNumber(a.part->name()).first ==
             kindAndNumber(b.part->name()).first &&
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
    total.children = childrenOf({{&tree.root(), 1}});
    return total;
  }

private:
  static constexpr size_t maxMinorRows = 4;

  /// The parts of one row, in program order.
  using Row = SmallVector<Parts, 1>;

  static Figures sumOf(const Row &row) {
    Figures sum;
    for (const Parts &parts : row)
      sum += parts.part->figures;
    return sum;
  }

  /// The rows below that of `parents`, which are copies of one block.
  std::vector<LayerRow> childrenOf(const Row &parents) const {
    std::vector<Row> shown;
    for (size_t i = 0; i < parents.front().part->children.size(); ++i) {
      Row row;
      for (const Parts &parent : parents) {
        const Part &child = tree.parts[parent.part->children[i]];
        row.push_back({&child, parent.times * child.copies});
      }
      if (!llvm::all_of(row,
                        [](const Parts &parts) { return isFree(*parts.part); }))
        shown.push_back(std::move(row));
    }
    auto areMinor = [](const Row &row) { return isMinor(*row.front().part); };
    Figures minor;
    size_t numMinor = llvm::count_if(shown, areMinor);
    if (numMinor > maxMinorRows)
      llvm::erase_if(shown, [&](const Row &row) {
        if (areMinor(row))
          minor += sumOf(row);
        return areMinor(row);
      });

    std::vector<LayerRow> rows;
    for (const std::vector<Run> &runs : blocksIn(shown)) {
      Row copies;
      for (const Run &run : runs)
        llvm::append_range(copies, run.copies);
      rows.push_back(rowOf(nameOf(runs), copies));
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

  /// Copies of a block with no others between them.
  struct Run {
    Row copies;
    const Part *last;
    size_t block; ///< the number of its block, which other runs may have too
  };

  /// The runs of copies in `rows`. A row is compared with the last blocks of
  /// its kind alone, so that rows which are all different take linear time.
  std::vector<Run> runsIn(llvm::ArrayRef<Row> rows) const {
    constexpr size_t maxCompared = 8;
    std::vector<Run> runs;
    std::vector<Parts> blocks; ///< the first copy of each
    llvm::StringMap<SmallVector<size_t>> byKind;
    for (const Row &row : rows) {
      const Parts &first = row.front();
      StringRef kind = kindAndNumber(first.part->name()).first;
      SmallVector<size_t> &known = byKind[kind];
      auto compared =
          llvm::reverse(llvm::ArrayRef(known).take_back(maxCompared));
      auto alike = llvm::find_if(compared, [&](size_t block) {
        return areAlike(tree, blocks[block], first);
      });
      size_t block = blocks.size();
      if (alike != compared.end()) {
        block = *alike;
      } else {
        blocks.push_back(first);
        known.push_back(block);
      }
      if (runs.empty() || runs.back().block != block)
        runs.push_back({{}, nullptr, block});
      llvm::append_range(runs.back().copies, row);
      runs.back().last = first.part;
    }
    return runs;
  }

  /// The runs in `rows`, those of one block joined if blocks take turns.
  std::vector<std::vector<Run>> blocksIn(llvm::ArrayRef<Row> rows) const {
    std::vector<Run> runs = runsIn(rows);
    llvm::DenseMap<size_t, size_t> count, place;
    for (const Run &run : runs)
      ++count[run.block];
    // The two norms of a layer do not take turns.
    bool takeTurns = llvm::count_if(runs, [&](const Run &run) {
                       return count[run.block] > 1;
                     }) > 2;
    std::vector<std::vector<Run>> joined;
    for (Run &run : runs) {
      auto [known, isNew] = place.try_emplace(run.block, joined.size());
      if (isNew || !takeTurns)
        joined.push_back({std::move(run)});
      else
        joined[known->second].push_back(std::move(run));
    }
    return joined;
  }

  /// `layer_3`, or `layer_3–5` for several copies.
  static std::string nameOf(const Run &run) {
    const Part &first = *run.copies.front().part, &last = *run.last;
    std::string name = first.name().str();
    if (&last == &first && last.copies == 1)
      return name;
    return name + "–" +
           (kindAndNumber(name).second.empty() ? last.name().str()
                                               : lastNumberOf(last));
  }

  /// `layer_1–5`, `layer_3, 6` or `layer_1–5, …, 61–62` for one run, two or
  /// more.
  static std::string nameOf(const std::vector<Run> &runs) {
    std::string name = nameOf(runs.front());
    if (runs.size() == 1)
      return name;
    StringRef first = runs.back().copies.front().part->name();
    StringRef kind = kindAndNumber(first).first;
    std::string last = nameOf(runs.back());
    if (first != kind)
      last = StringRef(last).drop_front(kind.size()).ltrim('_').str();
    return name + (runs.size() == 2 ? ", " : ", …, ") + last;
  }

  LayerRow rowOf(std::string name, const Row &copies) const {
    const Part &part = *copies.front().part;
    int64_t times = 0;
    for (const Parts &parts : copies)
      times += parts.times;
    LayerRow row;
    row.name = std::move(name);
    row.op = tree.isLayer(part) ? part.op.str() : "";
    if (times > 1)
      row.op = fmt::format("{} × {}", times, row.op.empty() ? "block" : row.op);
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
