// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Sizes.h"

#include "lib/Audit/Flop.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <set>

using namespace netc;
using namespace netc::audit;
using Dims = llvm::ArrayRef<int64_t>;

//===----------------------------------------------------------------------===//
// Shapes of both sides
//===----------------------------------------------------------------------===//

using SizeList = llvm::SmallVector<int64_t, 8>;

/// The axes of a shape that have more than one element, sorted.
static SizeList axesOf(Dims shape) {
  SizeList axes;
  llvm::copy_if(shape, std::back_inserter(axes),
                [](int64_t size) { return size != 1; });
  llvm::sort(axes);
  return axes;
}

/// Whether the axes of `fine` are parts of those of `coarse`: 2 x 3 x 4 x 5 of
/// 6 x 20. Both have as many elements.
static bool areParts(SizeList fine, Dims coarse) {
  if (coarse.empty())
    return fine.empty();
  // Takes away one axis of `fine` after another whose product is an axis.
  auto take = [&](auto &take, int64_t left, size_t from,
                  const SizeList &rest) -> bool {
    if (left == 1)
      return areParts(rest, coarse.drop_front());
    for (size_t i = from; i < rest.size(); ++i)
      if (left % rest[i] == 0) {
        SizeList others = rest;
        others.erase(others.begin() + i);
        if (take(take, left / rest[i], i, others))
          return true;
      }
    return false;
  };
  return take(take, coarse.front(), 0, fine);
}

Told netc::audit::compareShapes(Dims specified, Dims traced) {
  constexpr size_t most = 8; // axes
  if (specified.size() > most || traced.size() > most ||
      llvm::any_of(specified, [](int64_t size) { return size < 1; }) ||
      llvm::any_of(traced, [](int64_t size) { return size < 1; }) ||
      elementsOf(specified) != elementsOf(traced))
    return Told::Nothing;
  SizeList ours = axesOf(specified), theirs = axesOf(traced);
  bool isLonger = traced.size() > specified.size();
  if (ours == theirs ? traced.size() >= specified.size()
                     : isLonger && areParts(theirs, ours))
    return Told::Same;
  return areParts(ours, theirs) ? Told::Nothing : Told::Other;
}

/// What the operand of a product says. `times` products of the trace are
/// matched with it, perhaps each an iteration of a loop.
static Told compareOperand(const SpecifiedProduct &ours,
                           const TracedProduct &theirs, int64_t times) {
  if (ours.operand.empty() || theirs.operand.empty())
    return Told::Nothing;
  SizeList all = {times};
  llvm::append_range(all, theirs.operand);
  Dims once = theirs.operand, specifiedOnce = Dims(ours.operand).drop_front();
  bool isLoop = ours.operand.front() != 1;
  Told told = Told::Nothing;
  for (auto [specified, traced] :
       {std::pair(isLoop ? Dims(ours.operand) : specifiedOnce,
                  times == 1 ? once : Dims(all)),
        std::pair(isLoop ? Dims(ours.operand) : specifiedOnce, once),
        std::pair(specifiedOnce, once)})
    if (Told each = compareShapes(specified, traced); each == Told::Same)
      return each;
    else if (each == Told::Other)
      told = each;
  return told;
}

/// How many products of the trace each read an operand of one shape; 1 if they
/// read several shapes.
static int64_t timesOf(llvm::ArrayRef<TracedProduct> traced,
                       const Match &match) {
  bool areAlike = llvm::all_of(match.traced, [&](unsigned j) {
    return traced[j].operand == traced[match.traced[0]].operand;
  });
  return areAlike ? match.traced.size() : 1;
}

/// The same for products `i` and `j` of a match. Where both sides have several,
/// those of other FLOP say nothing of each other.
static Told compareOperandIn(llvm::ArrayRef<SpecifiedProduct> specified,
                             llvm::ArrayRef<TracedProduct> traced,
                             const Match &match, unsigned i, unsigned j) {
  const SpecifiedProduct &ours = specified[i];
  const TracedProduct &theirs = traced[j];
  int64_t times = timesOf(traced, match);
  bool mayBeOthers = match.specified.size() > 1 && match.traced.size() > 1 &&
                     theirs.cost->flop != ours.flop / times &&
                     theirs.cost->flop != ours.flop / ours.iterations;
  Told told = compareOperand(ours, theirs, times);
  return mayBeOthers && told == Told::Other ? Told::Nothing : told;
}

Told netc::audit::compareOperands(llvm::ArrayRef<SpecifiedProduct> specified,
                                  llvm::ArrayRef<TracedProduct> traced,
                                  const Match &match) {
  Told told = Told::Nothing;
  for (unsigned i : match.specified)
    for (unsigned j : match.traced)
      if (Told each = compareOperandIn(specified, traced, match, i, j);
          each == Told::Same)
        return each;
      else if (each == Told::Other)
        told = each;
  return told;
}

/// `8 x 4 x 4`.
template <typename Size>
static std::string sizesText(llvm::ArrayRef<Size> sizes) {
  return llvm::join(
      llvm::map_range(sizes,
                      [](const Size &size) { return Rational(size).str(); }),
      " x ");
}

/// The first other size of one product of each side. `isAlone` if its elements
/// are those of the other.
static std::optional<std::string> otherSizeOf(const SpecifiedProduct &ours,
                                              const EventCost &theirs,
                                              bool isAlone) {
  constexpr Elements unknown = {};
  if (!haveSameShape(ours.read, theirs.read))
    return llvm::formatv("reads examples of {0}, in the run {1}",
                         sizesText(theirs.read), sizesText(Dims(ours.read)))
        .str();
  if (ours.isTransposed && theirs.isTransposed &&
      ours.isTransposed != theirs.isTransposed)
    return *ours.isTransposed
               ? "is a convolution, in the run a transposed one"
               : "is a transposed convolution, in the run a plain one";
  if (!haveSameShape(ours.window, theirs.window))
    return llvm::formatv("has windows of {0}, in the run {1}",
                         sizesText(theirs.window), sizesText(Dims(ours.window)))
        .str();
  if (!haveSameShape(ours.dilation, theirs.dilation))
    return llvm::formatv("has dilation {0}, in the run {1}",
                         sizesText(Dims(theirs.dilation)),
                         sizesText(Dims(ours.dilation)))
        .str();
  if (isAlone && theirs.elements != unknown && theirs.elements != ours.elements)
    return llvm::formatv("has matrices with elements {0}, in the run {1}",
                         sizesText(llvm::ArrayRef(theirs.elements)),
                         sizesText(llvm::ArrayRef(ours.elements)))
        .str();
  return std::nullopt;
}

/// `12 times 3 x 24`.
static std::string timesText(int64_t times, Dims shape) {
  return (times == 1 ? "" : std::to_string(times) + " times ") +
         sizesText(shape);
}

std::optional<std::string>
netc::audit::otherSizeIn(llvm::ArrayRef<SpecifiedProduct> specified,
                         llvm::ArrayRef<TracedProduct> traced,
                         const Match &match) {
  Rational ourFlop, theirFlop;
  for (unsigned i : match.specified)
    ourFlop += specified[i].flop;
  for (unsigned j : match.traced)
    theirFlop += traced[j].cost->flop.value_or(Rational::invalid());
  if (match.specified.empty() || match.traced.empty() || ourFlop != theirFlop)
    return std::nullopt;
  // Both gradients of a convolution are one op.
  const SpecifiedProduct &first = specified[match.specified[0]];
  bool isAlone = match.traced.size() == 1 &&
                 (match.specified.size() == 1 ||
                  (first.kind == ProductKind::Windows &&
                   llvm::all_of(match.specified, [&](unsigned i) {
                     return specified[i].name == first.name;
                   })));
  for (unsigned i : match.specified)
    for (unsigned j : match.traced)
      if (auto other = otherSizeOf(specified[i], *traced[j].cost, isAlone))
        return other;
  // One of the products that a fused kernel is makes the scores.
  const std::optional<Rational> &scores = traced[match.traced[0]].cost->scores;
  if (scores && llvm::none_of(match.specified, [&](unsigned i) {
        return specified[i].made == *scores;
      }))
    return llvm::formatv("has scores with elements {0}, in the run {1}",
                         scores->str(), first.made.str())
        .str();
  int64_t times = timesOf(traced, match);
  if (compareOperands(specified, traced, match) == Told::Other)
    for (unsigned i : match.specified)
      for (unsigned j : match.traced)
        if (Dims ours = specified[i].operand, theirs = traced[j].operand;
            compareOperandIn(specified, traced, match, i, j) == Told::Other)
          return "reads " + timesText(times, theirs) + ", in the run " +
                 timesText(ours.front(), ours.drop_front());
  return std::nullopt;
}

bool netc::audit::tellsExamples(const trace::Trace &trace,
                                const TracedStep &step,
                                llvm::ArrayRef<SpecifiedProduct> specified,
                                llvm::ArrayRef<Match> matches) {
  // With examples in front; positions of words alone, too.
  std::set<SizeList> wanted;
  auto sorted = [](Dims shape) {
    SizeList axes(shape);
    llvm::sort(axes);
    return axes;
  };
  for (const Match &match : matches) {
    if (compareOperands(specified, step.products, match) == Told::Same)
      return true;
    for (unsigned i : match.specified)
      if (Dims operand = specified[i].operand; operand.size() > 3) {
        operand = operand.drop_front(operand.front() == 1);
        wanted.insert(sorted(operand));
        wanted.insert(sorted(operand.drop_back()));
      }
  }
  for (const trace::HostEvent &event : trace.host)
    if (event.start >= step.start && event.start < step.end)
      for (unsigned i = 0; i < trace.inputsOf(event).shapes.size; ++i)
        if (wanted.count(sorted(trace.shape(event, i))))
          return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Sizes of free axes
//===----------------------------------------------------------------------===//

/// The keys that `add` counts for the operands of the step, the most frequent
/// first, at most `most`. It gets the first three sizes of each operand.
template <typename Key, typename Add>
static std::vector<Key> oftenIn(const trace::Trace &trace,
                                const TracedStep &step, size_t most, Add add) {
  std::map<Key, size_t> counts;
  for (const trace::HostEvent &event : trace.host)
    if (event.start >= step.start && event.start < step.end)
      for (unsigned i = 0; i < trace.inputsOf(event).shapes.size; ++i)
        add(trace.shape(event, i).take_front(3), counts);
  std::vector<std::pair<size_t, Key>> sorted;
  for (const auto &[key, count] : counts)
    sorted.push_back({count, key});
  llvm::sort(sorted, std::greater<>());
  std::vector<Key> keys;
  for (const auto &[count, key] : sorted)
    if (keys.size() < most)
      keys.push_back(key);
  return keys;
}

/// The most frequent sizes of axes.
static std::vector<Rational> sizesIn(const trace::Trace &trace,
                                     const TracedStep &step) {
  std::vector<int64_t> sizes = oftenIn<int64_t>(
      trace, step, 128, [](llvm::ArrayRef<int64_t> shape, auto &counts) {
        for (int64_t size : shape)
          if (size > 0)
            ++counts[size];
      });
  return {sizes.begin(), sizes.end()};
}

/// The most frequent pairs of sizes in one operand, in their order: examples
/// and positions, height and width.
static std::vector<std::pair<int64_t, int64_t>>
pairsIn(const trace::Trace &trace, const TracedStep &step) {
  return oftenIn<std::pair<int64_t, int64_t>>(
      trace, step, 64, [](llvm::ArrayRef<int64_t> shape, auto &counts) {
        for (size_t i = 0; i < shape.size(); ++i)
          for (size_t j = i + 1; j < shape.size(); ++j)
            if (shape[i] > 0 && shape[j] > 0)
              ++counts[{shape[i], shape[j]}];
      });
}

/// The forward products. A program of netc runs an op in parts, also in those
/// of its batch: they bear one name, and are one.
static std::vector<TracedProduct>
forwardProducts(llvm::ArrayRef<TracedProduct> traced) {
  std::vector<TracedProduct> products;
  std::map<llvm::StringRef, size_t> places;
  for (const TracedProduct &product : traced) {
    if (product.phase != TracedProduct::Forward)
      continue;
    if (product.isNamed())
      if (auto [place, isNew] =
              places.try_emplace(product.name, products.size());
          !isNew) {
        EventCost &whole = products[place->second].ownCost();
        whole.flop = whole.flop.value_or(0) + product.cost->flop.value_or(0);
        continue;
      }
    products.push_back(product);
  }
  return products;
}

/// How well a product of equal FLOP fits, from 0: by its sizes; its sizes are
/// not known; it has as many elements. None if it does not.
static std::optional<size_t> kindOf(const SpecifiedProduct &ours,
                                    const TracedProduct &theirs) {
  if (theirs.cost->elements == Elements())
    return 1;
  // Each product in a fused kernel of attention makes or reads the scores.
  if (theirs.cost->scores)
    return llvm::is_contained(ours.elements, *theirs.cost->scores)
               ? std::optional(0)
               : std::nullopt;
  if (theirs.cost->elements != ours.elements)
    return std::nullopt;
  return haveSameWindows(ours, *theirs.cost) &&
                 compareOperand(ours, theirs, 1) != Told::Other
             ? 0
             : 2;
}

namespace {
/// Tries sizes of the free axes, and keeps those that fit best.
class SizeSearch {
public:
  SizeSearch(const SpecifiedStep &step, const trace::Trace &trace,
             const TracedStep &traced, const Sizes &fixed)
      : step(step), trace(trace), traced(traced), isNamed(traced.isNamed()),
        fixed(fixed), forward(forwardProducts(traced.products)),
        sizes(step.sizes()) {
    for (const TracedProduct &product : forward)
      if (product.cost->flop) {
        unsigned parts = product.specified();
        auto &list = theirs[(*product.cost->flop / parts).str()];
        list.insert(list.end(), parts, &product);
        all += parts;
      }
    for (const auto &[axis, size] : fixed)
      sizes[axis] = size;
  }

  Sizes find() {
    best = fitOf(sizes);
    if (!best.isWhole)
      offerEach();
    // If two sizes are wrong, some products fit after one of them is corrected.
    if (!best.isWhole) {
      offerPairs();
      offerEach();
    }
    if (auto shown = batchOfImages(); shown && !best.isWhole) {
      Sizes known = fixed;
      known[kBatchAxis.str()] = *shown;
      return SizeSearch(step, trace, traced, known).find();
    }
    if (auto axis = exchangeable(sizes);
        axis && examplesOfFront() == sizes[*axis])
      std::swap(sizes[*axis], sizes[kBatchAxis.str()]);
    return std::move(sizes);
  }

  /// An axis of which the specification has another size than `at`, as it has
  /// of the batch, and which fits as well with that of the batch.
  std::optional<std::string> exchangeable(const Sizes &at) const {
    auto isOfTrace = [&](const std::string &axis) {
      auto found = at.find(axis), written = step.sizes().find(axis);
      return found != at.end() && !fixed.count(axis) &&
             (written == step.sizes().end() ||
              written->second != found->second);
    };
    const Fit own = fitOf(at);
    if (!isOfTrace(kBatchAxis.str()) || own.products == Fit().products)
      return std::nullopt;
    for (const std::string &axis : step.axes()) {
      if (axis == kBatchAxis || !isOfTrace(axis))
        continue;
      Sizes other = at;
      std::swap(other[axis], other[kBatchAxis.str()]);
      if (other != at && fitOf(other).products >= own.products)
        return axis;
    }
    return std::nullopt;
  }

  /// The examples of a product whose first axis they are.
  std::optional<Rational> examplesOfFront() const {
    for (const TracedProduct &product : forward)
      if ((product.kind == ProductKind::Attention ||
           product.kind == ProductKind::Windows) &&
          !product.operand.empty())
        return Rational(product.operand.front());
    return std::nullopt;
  }

private:
  static constexpr size_t most = 256; // products that are compared
  /// Products of a trace by their FLOP. Those of several sizes may have the
  /// same.
  using ByFlop = std::map<std::string, std::vector<const TracedProduct *>>;

  struct Fit {
    /// How many products of the trace have FLOP and sizes of the specification,
    /// FLOP without known sizes, and FLOP and elements of other axes: FLOP
    /// alone may be those of another network.
    std::array<size_t, 3> products = {};
    /// Whether one side has no product that the other lacks.
    bool isWhole = true;
  };

  /// FLOP as an event has them. Those of netc's traces are rounded up to whole
  /// ones, which those of a mean length are not.
  Rational inEvent(const Rational &flop) const {
    return isNamed ? flop.ceil() : flop;
  }

  /// Takes the product of `flop` that fits best to `ours` out of those in
  /// `left` or, if it has none of these FLOP yet, in `theirs`. False if none
  /// fits.
  bool take(ByFlop &left, const SpecifiedProduct &ours, const Rational &flop,
            Fit &fit) const {
    auto found = theirs.find(flop.str());
    if (found == theirs.end())
      return false;
    std::vector<const TracedProduct *> &list =
        left.try_emplace(found->first, found->second).first->second;
    for (auto [kind, products] : llvm::enumerate(fit.products)) {
      auto place = llvm::find_if(list, [&, kind = kind](auto *product) {
        return kindOf(ours, *product) == kind;
      });
      if (place == list.end())
        continue;
      list.erase(place);
      ++products;
      return true;
    }
    return false;
  }

  Fit fitOf(const Sizes &at) const {
    ByFlop left; // of the FLOP that were looked for
    Fit fit;
    auto isInTrace = [&](const Rational &flop) {
      return theirs.count(inEvent(flop).str()) != 0;
    };
    for (const SpecifiedProduct &ours : step.forwardAt(at, most, isInTrace)) {
      if (take(left, ours, inEvent(ours.flop), fit))
        continue;
      // A loop may be as many products as it has iterations.
      Rational once = ours.flop / ours.iterations, found;
      while (found < ours.iterations && take(left, ours, once, fit))
        found += 1;
      fit.isWhole &= found == ours.iterations;
    }
    auto [exact, unsized, others] = fit.products;
    fit.isWhole = (fit.isWhole && others == 0) || exact + unsized == all;
    return fit;
  }

  /// The batch by the images that the first convolution of both sides reads,
  /// where the network may be another behind it. None if it is fixed.
  std::optional<Rational> batchOfImages() const {
    auto first = llvm::find_if(forward, [](const TracedProduct &product) {
      return product.kind == ProductKind::Windows;
    });
    if (first == forward.end() || first->operand.empty() ||
        fixed.count(kBatchAxis.str()) ||
        !llvm::is_contained(step.axes(), kBatchAxis))
      return std::nullopt;
    Sizes at = sizes;
    at[kBatchAxis.str()] = first->operand.front();
    auto always = [](const Rational &) { return true; };
    for (const SpecifiedProduct &ours : step.forwardAt(at, most, always))
      if (!ours.read.empty())
        return Dims(ours.operand).drop_front() == first->operand
                   ? std::optional(at[kBatchAxis.str()])
                   : std::nullopt;
    return std::nullopt;
  }

  void offer(Sizes other) {
    if (Fit fit = fitOf(other); fit.products > best.products) {
      best = fit;
      sizes = std::move(other);
    }
  }

  /// Offers each size for each axis.
  void offerEach() {
    std::vector<Rational> candidates = sizesIn(trace, traced);
    // If the trace has no shapes, the FLOP of the first products suggest the
    // batch.
    if (llvm::is_contained(step.axes(), kBatchAxis)) {
      constexpr size_t first = 8;
      Sizes one = sizes;
      one[kBatchAxis.str()] = 1;
      std::vector<SpecifiedProduct> ofOne = step.forwardAt(one, first);
      for (size_t i = 0; i < std::min(ofOne.size(), forward.size()); ++i)
        if (forward[i].cost->flop)
          if (Rational ratio = *forward[i].cost->flop / ofOne[i].flop;
              ratio > 0 &&
              inEvent(ofOne[i].flop * ratio.floor()) == *forward[i].cost->flop)
            candidates.push_back(ratio.floor());
    }
    for (const std::string &axis : step.axes())
      if (!fixed.count(axis))
        for (const Rational &size : candidates) {
          Sizes other = sizes;
          other[axis] = size;
          offer(std::move(other));
        }
  }

  /// Offers two sizes of one operand for each pair of axes.
  void offerPairs() {
    std::vector<std::pair<int64_t, int64_t>> pairs = pairsIn(trace, traced);
    for (const std::string &first : step.axes())
      for (const std::string &second : step.axes())
        if (first != second && !fixed.count(first) && !fixed.count(second))
          for (auto [one, two] : pairs) {
            Sizes other = sizes;
            other[first] = one;
            other[second] = two;
            offer(std::move(other));
          }
  }

  const SpecifiedStep &step;
  const trace::Trace &trace;
  const TracedStep &traced;
  const bool isNamed;
  const Sizes &fixed;
  const std::vector<TracedProduct> forward;
  ByFlop theirs;
  size_t all = 0; ///< of `theirs`
  Sizes sizes;
  Fit best; ///< of `sizes`
};
} // namespace

Sizes netc::audit::findSizes(const SpecifiedStep &step,
                             const trace::Trace &trace,
                             const TracedStep &traced, const Sizes &fixed) {
  return SizeSearch(step, trace, traced, fixed).find();
}

std::optional<std::string>
netc::audit::axisLikeExamples(const SpecifiedStep &step,
                              const trace::Trace &trace,
                              const TracedStep &traced, const Sizes &sizes) {
  const Sizes none;
  SizeSearch search(step, trace, traced, none);
  return search.examplesOfFront() ? std::nullopt : search.exchangeable(sizes);
}
