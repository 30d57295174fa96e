// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Alignment.h"

using namespace netc;
using namespace netc::audit;

bool netc::audit::haveSameResults(llvm::ArrayRef<Item> some,
                                  llvm::ArrayRef<Item> others) {
  Rational ours, theirs;
  bool isKnown = true, areFused = false;
  std::array<bool, 2> areConvolutions = {false, false};
  for (auto [items, sum, isConvolution] :
       {std::tuple(some, &ours, &areConvolutions[0]),
        std::tuple(others, &theirs, &areConvolutions[1])})
    for (const Item &item : items) {
      isKnown &= item.made.has_value();
      *sum += item.made.value_or(0);
      areFused |= item.kind == ProductKind::Attention ||
                  item.kind == ProductKind::Recurrence;
      *isConvolution |= item.kind == ProductKind::Windows;
    }
  if (areFused || !isKnown) {
    // A convolution with a window of one element is a product of matrices.
    auto isOfOneShape = [&](const Item &item) {
      return item.elements == some.front().elements;
    };
    return areConvolutions[0] == areConvolutions[1] ||
           (some.front().elements != Elements() &&
            llvm::all_of(some, isOfOneShape) &&
            llvm::all_of(others, isOfOneShape));
  }
  auto allMake = [](llvm::ArrayRef<Item> items, const Rational &made) {
    return llvm::all_of(items,
                        [&](const Item &item) { return *item.made == made; });
  };
  return ours == theirs || allMake(some, theirs) || allMake(others, ours);
}

namespace {
/// The FLOP of items and sums over consecutive ones. Doubles are compared
/// first, which takes less time than exact numbers.
class Sums {
public:
  explicit Sums(llvm::ArrayRef<Item> items) : sums(1), near(1, 0), known(1, 0) {
    for (auto [i, item] : llvm::enumerate(items)) {
      bool goesOn = i && items[i - 1].op == item.op &&
                    haveSameWindows(items[i - 1], item);
      known.push_back(!item.flop ? 0 : goesOn ? known.back() + 1 : 1);
      sums.push_back(sums.back() + item.flop.value_or(0));
      near.push_back(sums.back().toDouble());
      own.push_back(item.flop.value_or(0).toDouble());
    }
  }

  double of(size_t i) const { return own[i]; }

  /// How many items before `end`, from 2 to `most`, have `flop` together; 0 if
  /// none do. `about` is `flop` as a double.
  size_t addingUpTo(const Rational &flop, double about, size_t end,
                    size_t most) const {
    most = std::min(known[end], most);
    if (most < 2)
      return 0;
    // The sum of the items before those.
    constexpr double rounding = 1e-12;
    double before = near[end] - about, error = rounding * near[end];
    size_t found = std::lower_bound(near.begin() + (end - most),
                                    near.begin() + (end - 1), before - error) -
                   near.begin();
    for (; found + 1 < end && near[found] <= before + error; ++found)
      if (sums[found] + flop == sums[end])
        return end - found;
    return 0;
  }

private:
  std::vector<Rational> sums;
  std::vector<double> near, own; ///< of `sums`; of each item
  /// For each end, how many consecutive items before it have the same op, and
  /// known FLOP. Others are not fused.
  std::vector<size_t> known;
};

/// Aligns products. A block may also be several items whose FLOP add up to one
/// item of the other sequence. Names break ties.
class Alignment {
public:
  Alignment(llvm::ArrayRef<Item> first, llvm::ArrayRef<Item> second)
      : first(first), second(second), firstSums(first), secondSums(second) {}

  std::vector<Block> find() {
    BandedAlignment alignment(first.size(), second.size(), maxBlock, Adds);
    std::vector<Block> blocks =
        alignment.find([&](size_t i, size_t j, BandedAlignment::Offer offer) {
          offerBlocks(i, j, offer);
        });
    return joinGaps(dropDoubtful(preferSame(blocks)));
  }

private:
  /// The cost of a block; the alignment with the least sum wins. The likeness
  /// of names is subtracted. It is less than a Unit, so it decides only between
  /// equal costs.
  enum Price : int64_t {
    Unit = int64_t(1) << 32,
    Same = 0,
    OtherGradients = Unit / 2,
    SameFlop = 2 * Unit,
    Adds = 3 * Unit,
    InOrder = 6 * Unit,
    Gap = 10 * Unit
  };
  static constexpr size_t maxBlock = 255;

  void offerBlocks(size_t i, size_t j, BandedAlignment::Offer offer) const {
    if (i && j) {
      const Item &a = first[i - 1], &b = second[j - 1];
      if (a.flop && b.flop) {
        double ours = firstSums.of(i - 1), theirs = secondSums.of(j - 1);
        if (ours == theirs && a.flop == b.flop && a.mayBe(b))
          offer(1, 1,
                (isSame(a, b) ? Same : SameFlop) + priceOfGradients(a, b) -
                    likeness(a, b),
                a.hasSizesOf(b) ? Confidence::Exact : Confidence::Order);
        if (a.mayAddUpTo(b)) {
          if (size_t many = secondSums.addingUpTo(*a.flop, ours, j, maxBlock);
              many && mayBeParts(a, second.slice(j - many, many)) &&
              haveSameResults(a, second.slice(j - many, many)))
            offer(1, many, Adds + priceOfGradients(a, b) - likeness(a, b),
                  Confidence::Sum);
          if (size_t many = firstSums.addingUpTo(*b.flop, theirs, i, maxBlock);
              many && mayBeParts(first.slice(i - many, many), b) &&
              haveSameResults(first.slice(i - many, many), b))
            offer(many, 1, Adds + priceOfGradients(a, b) - likeness(a, b),
                  Confidence::Sum);
        }
      } else if (a.kind == b.kind) {
        offer(1, 1, InOrder - likeness(a, b), Confidence::Order);
      }
    }
    if (i)
      offer(1, 0, Gap, Confidence::None);
    if (j)
      offer(0, 1, Gap, Confidence::None);
  }

  /// The price of gradients that one has and the other has not, or that are of
  /// a weight and of an input. It decides between equal costs.
  static int64_t priceOfGradients(const Item &ours, const Item &theirs) {
    auto areOthers = [](std::optional<bool> a, std::optional<bool> b) {
      return a && b && a != b;
    };
    return areOthers(ours.hasGradient, theirs.hasGradient) ||
                   areOthers(ours.isOfWeight, theirs.isOfWeight)
               ? OtherGradients
               : Same;
  }

  /// Whether several items of one side may be one product of the other: none
  /// follows from those before. Loops, fused kernels and rows of one matrix
  /// are an exception.
  static bool mayBeParts(llvm::ArrayRef<Item> ours,
                         llvm::ArrayRef<Item> theirs) {
    auto areBeside = [](llvm::ArrayRef<Item> items) {
      return llvm::none_of(items.drop_front(),
                           [](const Item &item) { return item.isApart; });
    };
    return (areBeside(ours) && areBeside(theirs)) ||
           llvm::any_of(theirs, isMadeOfProducts) ||
           llvm::any_of(ours,
                        [](const Item &item) { return item.iterations > 1; }) ||
           llvm::all_of(theirs, [&](const Item &part) {
             return llvm::any_of(ours, [&](const Item &whole) {
               return areRowsOf(part, whole);
             });
           });
  }

  /// Whether a product of matrices has some of the rows and the same weight, or
  /// some of several pairs of matrices.
  static bool areRowsOf(const Item &part, const Item &whole) {
    if (!whole.flop || !part.flop)
      return false;
    Rational share = *part.flop / *whole.flop;
    Elements rows = whole.elements, pairs = whole.elements;
    auto weight =
        whole.weight.isZero() ? rows.end() : llvm::find(rows, whole.weight);
    for (Rational &elements : rows)
      if (&elements != weight)
        elements *= share;
    llvm::sort(rows);
    for (Rational &elements : pairs)
      elements *= share;
    return part.elements != Elements() &&
           (rows == part.elements || pairs == part.elements);
  }

  /// The length of the longest common subsequence of their names.
  static int64_t likeness(const Item &a, const Item &b) {
    if (a.names.empty() || b.names.empty())
      return 0;
    llvm::SmallVector<uint8_t, 32> above(b.names.size() + 1, 0);
    for (llvm::StringRef name : a.names) {
      uint8_t diagonal = 0;
      for (size_t j = 0; j < b.names.size(); ++j) {
        uint8_t longest = name == b.names[j] ? diagonal + 1
                                             : std::max(above[j], above[j + 1]);
        diagonal = std::exchange(above[j + 1], longest);
      }
    }
    return above.back();
  }

  /// Where several items add up to one, and in front of them one of its FLOP
  /// and sizes was left out, that one is the same, or is one that another in
  /// between may be as well.
  std::vector<Block> preferSame(llvm::ArrayRef<Block> blocks) const {
    std::vector<Block> better;
    for (const Block &block : blocks) {
      std::optional<size_t> place;
      if (block.confidence == Confidence::Sum && block.many == 1 &&
          block.others > 1)
        place = leftOutBefore(better, block.i);
      if (!place) {
        better.push_back(block);
        continue;
      }
      better[*place].many = 1;
      better[*place].confidence = Confidence::Exact;
      for (size_t at = *place + 1; at < better.size(); ++at)
        ++better[at].i;
      for (size_t j = 0; j < block.others; ++j)
        better.push_back({block.i + 1, block.j + j, 0, 1, Confidence::None});
    }
    return better;
  }

  /// Where several items of the trace add up to one, and one like that beside
  /// it was left out, they may as well be one each of others.
  std::vector<Block> dropDoubtful(llvm::ArrayRef<Block> blocks) const {
    std::vector<Block> sure;
    for (auto [at, block] : llvm::enumerate(blocks)) {
      auto isLeftOut = [&, &block = block](size_t other) {
        return other < blocks.size() && blocks[other].many == 1 &&
               blocks[other].others == 0 &&
               isSame(first[block.i], first[blocks[other].i]);
      };
      if (block.many != 1 || block.others < 2 ||
          !(isLeftOut(at - 1) || isLeftOut(at + 1))) {
        sure.push_back(block);
        continue;
      }
      sure.push_back({block.i, block.j, 1, 0, Confidence::None});
      for (size_t j = 0; j < block.others; ++j)
        sure.push_back({block.i + 1, block.j + j, 0, 1, Confidence::None});
    }
    return sure;
  }

  /// The gap that holds an item like `i` at the end of blocks; what is matched
  /// behind it can be matched one further.
  std::optional<size_t> leftOutBefore(llvm::ArrayRef<Block> blocks,
                                      size_t i) const {
    for (size_t at = blocks.size(); at-- > 0;) {
      const Block &block = blocks[at];
      bool isGap = block.many == 0 && block.confidence == Confidence::None;
      bool isPair = block.many == 1 && block.others == 1 &&
                    block.confidence == Confidence::Exact;
      bool isLike = block.others && isSame(first[i], second[block.j]);
      if (isGap && isLike)
        return at;
      if (!isGap && !(isPair && isLike))
        return std::nullopt;
      if (isPair)
        i = block.i;
    }
    return std::nullopt;
  }

  static bool isSame(const Item &a, const Item &b) {
    return a.flop == b.flop && a.elements == b.elements && a.hasSizesOf(b) &&
           a.mayBe(b);
  }

  /// Joins the gaps of both sequences between two matches to a block, if their
  /// FLOP are equal, or if one of them is a single op of the trace that is made
  /// of products, without known FLOP.
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
      if (many && others && a && b && *a == *b &&
          mayBeParts(first.slice(gap.i, many), second.slice(gap.j, others)) &&
          mayBeOne(first.slice(gap.i, many), second.slice(gap.j, others)))
        gap.confidence = Confidence::Sum;
      else if (many && others == 1 && !b && isMadeOfProducts(second[gap.j]))
        gap.confidence = Confidence::Order;
      if (gap.confidence != Confidence::None)
        joined.push_back(gap);
      else
        joined.insert(joined.end(), blocks.begin() + from, blocks.begin() + to);
      from = to;
    }
    return joined;
  }

  static bool isMadeOfProducts(const Item &item) {
    return item.kind == ProductKind::Attention ||
           item.kind == ProductKind::Recurrence;
  }

  /// Whether items of both sides may share a row. Rules read its number of
  /// groups: if both sides have several items, all need the same number.
  static bool mayBeOne(llvm::ArrayRef<Item> ours, llvm::ArrayRef<Item> theirs) {
    const Item &first = ours.front();
    if (!llvm::all_of(
            ours,
            [&](const Item &item) { return haveSameWindows(first, item); }) ||
        !llvm::all_of(theirs,
                      [&](const Item &item) { return first.mayAddUpTo(item); }))
      return false;
    if (ours.size() == 1 && theirs.size() == 1)
      return first.mayBe(theirs.front()) && first.hasSizesOf(theirs.front());
    if (!haveSameResults(ours, theirs))
      return false;
    auto hasGroups = [&](const Item &item) {
      return item.groups == first.groups;
    };
    return ours.size() == 1 || theirs.size() == 1 ||
           (llvm::all_of(ours, hasGroups) && llvm::all_of(theirs, hasGroups));
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
  Sums firstSums, secondSums;
};
} // namespace

std::vector<Block> netc::audit::alignItems(llvm::ArrayRef<Item> first,
                                           llvm::ArrayRef<Item> second) {
  return Alignment(first, second).find();
}
