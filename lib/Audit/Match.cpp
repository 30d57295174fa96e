// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Match.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <set>

using namespace netc;
using namespace netc::audit;

llvm::StringRef netc::audit::nameOf(Confidence confidence) {
  constexpr llvm::StringLiteral names[] = {"exact", "sum", "order", "none"};
  return names[unsigned(confidence)];
}

//===----------------------------------------------------------------------===//
// Alignment of two sequences
//===----------------------------------------------------------------------===//

namespace {
/// A product, as compared in an alignment.
struct Item {
  unsigned index; ///< in its sequence
  std::optional<Rational> flop;
  Elements elements;
  ProductKind kind;

  bool hasShapeOf(const Item &other) const {
    return flop == other.flop && elements == other.elements;
  }
};

/// Items of both sequences that belong together, by position.
struct Block {
  size_t i, j;         ///< the first items in the first and the second sequence
  size_t many, others; ///< the numbers of items
  Confidence confidence;
};

/// Needleman and Wunsch, A general method applicable to the search for
/// similarities in the amino acid sequence of two proteins (1970), extended by
/// blocks of several items whose FLOP add up to one item of the other sequence.
/// Only a band around the diagonal is searched: O((n + m) x width).
class Alignment {
public:
  Alignment(llvm::ArrayRef<Item> first, llvm::ArrayRef<Item> second)
      : first(first), second(second), rows(first.size() + 1),
        columns(second.size() + 1),
        reach(std::max<size_t>(minReach, rows > columns ? rows - columns
                                                        : columns - rows) +
              minReach) {
    width = std::min(2 * reach + 1, columns);
    cells.resize(rows * width);
  }

  std::vector<Block> find() {
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = begin(i); j < end(i); ++j)
        fill(i, j);
    std::vector<Block> blocks;
    size_t i = rows - 1, j = columns - 1;
    while (i || j) {
      const Cell &cell = at(i, j);
      i -= cell.many;
      j -= cell.others;
      blocks.push_back({i, j, cell.many, cell.others, cell.confidence});
    }
    std::reverse(blocks.begin(), blocks.end());
    return joinGaps(std::move(blocks));
  }

private:
  /// The costs of the ways to explain items. The least sum is chosen.
  enum Price : uint32_t {
    Same = 0,
    SameFlop = 2,
    Adds = 3,
    InOrder = 6,
    Gap = 10
  };
  static constexpr size_t minReach = 256, maxBlock = 256;
  static constexpr uint32_t unreached = ~0u / 2;

  struct Cell {
    uint32_t cost = unreached;
    uint16_t many = 0,
             others = 0; ///< numbers of items of the block that ends here
    Confidence confidence = Confidence::None;
  };

  size_t begin(size_t i) const {
    size_t middle = rows > 1 ? i * (columns - 1) / (rows - 1) : 0;
    return std::min(middle > reach ? middle - reach : 0, columns - width);
  }
  size_t end(size_t i) const { return begin(i) + width; }
  bool isIn(size_t i, size_t j) const { return j >= begin(i) && j < end(i); }
  Cell &at(size_t i, size_t j) { return cells[i * width + j - begin(i)]; }

  void fill(size_t i, size_t j) {
    Cell &cell = at(i, j);
    if (i == 0 && j == 0) {
      cell.cost = 0;
      return;
    }
    auto offer = [&](size_t many, size_t others, uint32_t price,
                     Confidence confidence) {
      if (many > i || others > j || !isIn(i - many, j - others))
        return;
      uint32_t cost = at(i - many, j - others).cost + price;
      if (cost < cell.cost)
        cell = {cost, uint16_t(many), uint16_t(others), confidence};
    };
    if (i && j) {
      const Item &a = first[i - 1], &b = second[j - 1];
      if (a.flop && b.flop) {
        if (a.hasShapeOf(b))
          offer(1, 1, Same, Confidence::Exact);
        else if (a.flop == b.flop)
          offer(1, 1, SameFlop, Confidence::Exact);
        if (size_t many = addingUpTo(*a.flop, second, j))
          offer(1, many, Adds, Confidence::Sum);
        if (size_t many = addingUpTo(*b.flop, first, i))
          offer(many, 1, Adds, Confidence::Sum);
      } else if (a.kind == b.kind) {
        offer(1, 1, InOrder, Confidence::Order);
      }
    }
    if (i)
      offer(1, 0, Gap, Confidence::None);
    if (j)
      offer(0, 1, Gap, Confidence::None);
  }

  /// The number of items before `end`, at least two, whose FLOP add up to
  /// `flop`. 0 if there is none.
  static size_t addingUpTo(const Rational &flop, llvm::ArrayRef<Item> items,
                           size_t end) {
    Rational sum;
    for (size_t many = 1; many <= std::min(end, maxBlock); ++many) {
      const Item &item = items[end - many];
      if (!item.flop)
        return 0;
      sum += *item.flop;
      if (sum >= flop)
        return sum == flop && many > 1 ? many : 0;
    }
    return 0;
  }

  /// Joins the gaps of both sequences between two matches to a block, if their
  /// FLOP are equal, or if one of them is a single op of the trace without
  /// known FLOP.
  std::vector<Block> joinGaps(std::vector<Block> blocks) const {
    std::vector<Block> joined;
    for (size_t from = 0; from < blocks.size();) {
      size_t to = from, many = 0, others = 0;
      while (to < blocks.size() && blocks[to].confidence == Confidence::None) {
        many += blocks[to].many;
        others += blocks[to].others;
        ++to;
      }
      if (to == from) {
        joined.push_back(blocks[from++]);
        continue;
      }
      Block gap{blocks[from].i, blocks[from].j, many, others, Confidence::None};
      std::optional<Rational> a = sumOf(first.slice(gap.i, many)),
                              b = sumOf(second.slice(gap.j, others));
      if (many && others && a && b && *a == *b)
        gap.confidence = Confidence::Sum;
      else if (many && others == 1 && !b)
        gap.confidence = Confidence::Order;
      if (gap.confidence != Confidence::None)
        joined.push_back(gap);
      else
        joined.insert(joined.end(), blocks.begin() + from, blocks.begin() + to);
      from = to;
    }
    return joined;
  }

  static std::optional<Rational> sumOf(llvm::ArrayRef<Item> items) {
    Rational sum;
    for (const Item &item : items) {
      if (!item.flop)
        return std::nullopt;
      sum += *item.flop;
    }
    return sum;
  }

  llvm::ArrayRef<Item> first, second;
  size_t rows, columns, reach, width;
  std::vector<Cell> cells;
};
} // namespace

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

namespace {
class Matcher {
public:
  Matcher(llvm::ArrayRef<SpecifiedProduct> specified,
          llvm::ArrayRef<TracedProduct> traced)
      : specified(specified), traced(traced), matchOf(traced.size()) {}

  std::vector<Match> find() {
    std::vector<unsigned> ours = specifiedIn({Phase::Forward}),
                          theirs = tracedIn(TracedProduct::Forward);
    add(align(ours, theirs), TracedProduct::Forward);
    for (auto [i, match] : llvm::enumerate(matches))
      for (unsigned product : match.specified)
        forwardOf[specified[product].name].push_back(i);
    followRepeated();
    followGradients();
    order();
    return std::move(matches);
  }

private:
  std::vector<unsigned> specifiedIn(std::initializer_list<Phase> phases) const {
    std::vector<unsigned> list;
    for (auto [i, product] : llvm::enumerate(specified))
      if (llvm::is_contained(phases, product.phase))
        list.push_back(i);
    return list;
  }
  std::vector<unsigned> tracedIn(TracedProduct::Phase phase) const {
    std::vector<unsigned> list;
    for (auto [i, product] : llvm::enumerate(traced))
      if (product.phase == phase)
        list.push_back(i);
    return list;
  }

  std::vector<Match> align(llvm::ArrayRef<unsigned> ours,
                           llvm::ArrayRef<unsigned> theirs) const {
    std::vector<Item> first, second;
    for (unsigned i : ours)
      first.push_back(
          {i, specified[i].flop, specified[i].elements, specified[i].kind});
    for (unsigned i : theirs)
      second.push_back({i, traced[i].flop, traced[i].elements, traced[i].kind});
    std::vector<Match> found;
    for (const Block &block : Alignment(first, second).find()) {
      Match &match = found.emplace_back();
      match.confidence = block.confidence;
      for (size_t i = 0; i < block.many; ++i)
        match.specified.push_back(ours[block.i + i]);
      for (size_t j = 0; j < block.others; ++j)
        match.traced.push_back(theirs[block.j + j]);
    }
    return found;
  }

  void add(std::vector<Match> found, TracedProduct::Phase phase) {
    for (Match &match : found) {
      match.phase = phase;
      for (unsigned product : match.traced)
        matchOf[product] = matches.size();
      matches.push_back(std::move(match));
    }
  }

  /// Adds matches of products with the forward products `forward`.
  void addBehind(std::vector<Match> found, TracedProduct::Phase phase,
                 std::optional<unsigned> forward) {
    for (Match &match : found)
      match.forward = forward;
    add(std::move(found), phase);
  }

  /// The forward match of a product of the specification, by its name. The
  /// first if there are several.
  std::optional<unsigned> forwardOfName(llvm::StringRef name) const {
    auto found = forwardOf.find(name);
    return found == forwardOf.end() ? std::nullopt
                                    : std::optional(found->second.front());
  }

  /// Matches recomputed products. Each region, which is what a node of autograd
  /// runs, is a contiguous part of the forward pass.
  void followRepeated() {
    std::map<unsigned, std::vector<unsigned>> ours; // by forward match
    std::vector<unsigned> rest;
    for (unsigned i : specifiedIn({Phase::Recompute})) {
      if (auto forward = forwardOfName(specified[i].name))
        ours[*forward].push_back(i);
      else
        rest.push_back(i);
    }
    std::vector<unsigned> forward = tracedIn(TracedProduct::Forward),
                          again = tracedIn(TracedProduct::Recompute), alone;
    std::map<unsigned, std::vector<unsigned>> theirs;
    for (size_t from = 0; from < again.size();) {
      size_t to = from + 1;
      while (to < again.size() &&
             traced[again[to]].region == traced[again[from]].region)
        ++to;
      auto region = llvm::ArrayRef(again).slice(from, to - from);
      std::optional<size_t> place = placeOf(region, forward);
      for (auto [k, product] : llvm::enumerate(region)) {
        std::optional<unsigned> of;
        if (place)
          of = matchOf[forward[*place + k]];
        if (of)
          theirs[*of].push_back(product);
        else
          alone.push_back(product);
      }
      if (place)
        lastPlace = *place;
      from = to;
    }
    std::set<unsigned> all;
    for (auto &[match, list] : theirs)
      all.insert(match);
    for (auto &[match, list] : ours)
      if (!all.count(match))
        llvm::append_range(rest, list);
    for (unsigned match : all)
      addBehind(align(ours[match], theirs[match]), TracedProduct::Recompute,
                match);
    llvm::sort(rest);
    addBehind(align(rest, alone), TracedProduct::Recompute, std::nullopt);
  }

  /// The position of a region in the forward pass: before the previous region,
  /// since the backward pass runs in reverse order.
  std::optional<size_t> placeOf(llvm::ArrayRef<unsigned> region,
                                llvm::ArrayRef<unsigned> forward) const {
    auto isSame = [&](unsigned a, unsigned b) {
      return traced[a].flop == traced[b].flop &&
             traced[a].elements == traced[b].elements;
    };
    if (region.size() > forward.size())
      return std::nullopt;
    for (size_t place = std::min(lastPlace, forward.size() - region.size() + 1);
         place-- > 0;)
      if (std::equal(region.begin(), region.end(), forward.begin() + place,
                     isSame))
        return place;
    return std::nullopt;
  }

  /// Matches gradients by the forward product whose autograd node they run in.
  void followGradients() {
    std::map<unsigned, std::vector<unsigned>> ours, theirs; // by forward match
    std::vector<unsigned> ourRest, theirRest;
    for (unsigned i :
         specifiedIn({Phase::InputGradient, Phase::WeightGradient})) {
      if (auto forward = forwardOfName(specified[i].name))
        ours[*forward].push_back(i);
      else
        ourRest.push_back(i);
    }
    std::map<int64_t, std::vector<unsigned>> bySequence;
    for (auto [i, product] : llvm::enumerate(traced))
      if (product.phase != TracedProduct::Backward && product.sequence >= 0)
        bySequence[product.sequence].push_back(i);
    // A compiled function is a single node with many products.
    constexpr unsigned mostOfNode = 2;
    std::map<int64_t, unsigned> gradientsOf;
    for (unsigned i : tracedIn(TracedProduct::Backward))
      ++gradientsOf[traced[i].sequence];
    for (unsigned i : tracedIn(TracedProduct::Backward)) {
      std::optional<unsigned> match;
      // An op without a node carries the number of the next node: the last op
      // that fits created the node.
      if (auto makers = bySequence.find(traced[i].sequence);
          makers != bySequence.end() &&
          gradientsOf[traced[i].sequence] <= mostOfNode)
        for (unsigned maker : makers->second)
          if (isGradientOf(traced[i], traced[maker]))
            match = matchOf[maker];
      if (match && matches[*match].forward)
        match = matches[*match].forward;
      if (match)
        theirs[*match].push_back(i);
      else
        theirRest.push_back(i);
    }
    for (auto &[match, list] : ours) {
      auto found = theirs.find(match);
      if (found == theirs.end()) {
        llvm::append_range(ourRest, list);
        continue;
      }
      sortByResult(list, found->second);
      addBehind(joined(align(list, found->second)), TracedProduct::Backward,
                match);
      theirs.erase(found);
    }
    for (auto &[match, list] : theirs)
      llvm::append_range(theirRest, list);
    llvm::sort(ourRest);
    llvm::sort(theirRest);
    size_t before = matches.size();
    add(align(ourRest, theirRest), TracedProduct::Backward);
    for (size_t i = before; i < matches.size(); ++i)
      if (!matches[i].specified.empty())
        matches[i].forward =
            forwardOfName(specified[matches[i].specified.front()].name);
    swapGradients(before);
  }

  /// Whether the FLOP are those of one gradient or both.
  static bool isGradientOf(const TracedProduct &gradient,
                           const TracedProduct &forward) {
    return gradient.kind == forward.kind &&
           (!gradient.flop || !forward.flop ||
            *gradient.flop == *forward.flop ||
            *gradient.flop == *forward.flop * 2);
  }

  /// Of gradients that belong to one product by the numbers of autograd: the
  /// remaining ones of both sides belong together, whatever their FLOP.
  static std::vector<Match> joined(std::vector<Match> found) {
    Match rest;
    for (const Match &match : found)
      if (match.confidence == Confidence::None) {
        rest.specified.append(match.specified);
        rest.traced.append(match.traced);
      }
    if (rest.specified.empty() || rest.traced.empty())
      return found;
    rest.confidence = Confidence::Order;
    llvm::erase_if(found, [](const Match &match) {
      return match.confidence == Confidence::None;
    });
    found.push_back(std::move(rest));
    return found;
  }

  bool makesSame(unsigned ours, unsigned theirs) const {
    if (traced[theirs].isOfWeight)
      return *traced[theirs].isOfWeight ==
             (specified[ours].phase == Phase::WeightGradient);
    return !traced[theirs].made || *traced[theirs].made == specified[ours].made;
  }

  /// Sorts the gradients of the trace like those of the specification, by the
  /// sizes of their results. All else of a product's two gradients is equal.
  void sortByResult(llvm::ArrayRef<unsigned> ours,
                    std::vector<unsigned> &theirs) const {
    for (size_t i = 0; i < ours.size() && i < theirs.size(); ++i)
      for (size_t j = i; j < theirs.size(); ++j)
        if (traced[theirs[j]].flop == specified[ours[i]].flop &&
            makesSame(ours[i], theirs[j])) {
          std::rotate(theirs.begin() + i, theirs.begin() + j,
                      theirs.begin() + j + 1);
          break;
        }
  }

  /// The same for aligned matches: exchanges two adjacent ones.
  void swapGradients(size_t begin) {
    for (size_t i = begin; i + 1 < matches.size(); ++i) {
      Match &a = matches[i], &b = matches[i + 1];
      if (a.specified.size() != 1 || b.specified.size() != 1 ||
          a.traced.size() != 1 || b.traced.size() != 1 ||
          a.forward != b.forward || makesSame(a.specified[0], a.traced[0]))
        continue;
      std::swap(a.traced, b.traced);
    }
  }

  /// Sorts matches by the specification, followed by those that it lacks.
  void order() {
    std::vector<unsigned> places(matches.size());
    for (unsigned i = 0; i < places.size(); ++i)
      places[i] = i;
    auto keyOf = [&](unsigned i) {
      const Match &match = matches[i];
      size_t first = match.specified.empty() ? ~size_t(0) : match.specified[0];
      unsigned event = match.traced.empty() ? 0 : match.traced[0];
      return std::make_tuple(first, event);
    };
    llvm::sort(places,
               [&](unsigned a, unsigned b) { return keyOf(a) < keyOf(b); });
    std::vector<unsigned> newPlace(matches.size());
    std::vector<Match> sorted;
    for (auto [to, from] : llvm::enumerate(places)) {
      newPlace[from] = to;
      sorted.push_back(std::move(matches[from]));
    }
    for (Match &match : sorted)
      if (match.forward)
        match.forward = newPlace[*match.forward];
    matches = std::move(sorted);
  }

  llvm::ArrayRef<SpecifiedProduct> specified;
  llvm::ArrayRef<TracedProduct> traced;
  std::vector<Match> matches;
  std::vector<std::optional<unsigned>> matchOf; ///< by traced product
  llvm::DenseMap<llvm::StringRef, llvm::SmallVector<unsigned, 1>> forwardOf;
  size_t lastPlace = ~size_t(0);
};
} // namespace

std::vector<Match>
netc::audit::match(llvm::ArrayRef<SpecifiedProduct> specified,
                   llvm::ArrayRef<TracedProduct> traced) {
  return Matcher(specified, traced).find();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Sizes of axes that ops of the step read, the most frequent first.
static std::vector<Rational> sizesIn(const trace::Trace &trace,
                                     const TracedStep &step) {
  constexpr size_t most = 128;
  std::map<int64_t, size_t> counts;
  for (const trace::HostEvent &event : trace.host)
    if (event.start >= step.start && event.start < step.end)
      for (unsigned i = 0; i < event.shapes.size; ++i)
        for (int64_t size : trace.shape(event, i).take_front(3))
          if (size > 0)
            ++counts[size];
  std::vector<std::pair<size_t, int64_t>> sorted;
  for (auto [size, count] : counts)
    sorted.push_back({count, size});
  llvm::sort(sorted, std::greater<>());
  if (sorted.size() > most)
    sorted.resize(most);
  std::vector<Rational> sizes;
  for (auto [count, size] : sorted)
    sizes.push_back(size);
  return sizes;
}

Sizes netc::audit::findSizes(const SpecifiedStep &step,
                             const trace::Trace &trace,
                             const TracedStep &traced, const Sizes &fixed) {
  constexpr size_t most = 256;          // products that are compared
  std::map<std::string, size_t> theirs; // by FLOP
  for (const TracedProduct &product : traced.products)
    if (product.phase == TracedProduct::Forward && product.flop)
      ++theirs[product.flop->str()];
  Sizes sizes = step.sizes();
  for (const auto &[axis, size] : fixed)
    sizes[axis] = size;
  auto scoreOf = [&](const Sizes &at) {
    std::map<std::string, size_t> left = theirs;
    size_t score = 0;
    for (const Rational &flop : step.forwardAt(at, most)) {
      auto found = left.find(flop.str());
      if (found == left.end() || found->second == 0)
        continue;
      --found->second;
      ++score;
    }
    return score;
  };
  std::vector<Rational> candidates = sizesIn(trace, traced);
  // Without shapes, the first products determine the batch size.
  if (llvm::is_contained(step.axes(), kBatchAxis)) {
    constexpr size_t first = 8;
    Sizes one = sizes;
    one[kBatchAxis.str()] = 1;
    std::vector<Rational> ofOne = step.forwardAt(one, first);
    for (size_t i = 0; i < std::min(ofOne.size(), traced.products.size()); ++i)
      if (traced.products[i].flop)
        if (Rational ratio = *traced.products[i].flop / ofOne[i];
            ratio.isInteger() && ratio > 0)
          candidates.push_back(ratio);
  }
  size_t best = scoreOf(sizes);
  for (const std::string &axis : step.axes()) {
    if (fixed.count(axis))
      continue;
    for (const Rational &size : candidates) {
      Sizes other = sizes;
      other[axis] = size;
      if (size_t score = scoreOf(other); score > best) {
        best = score;
        sizes = std::move(other);
      }
    }
  }
  return sizes;
}
