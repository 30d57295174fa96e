// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Alignment.h"
#include "lib/Audit/NamedMatch.h"
#include "lib/Audit/Pairing.h"
#include "lib/Audit/Sizes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"

#include <deque>
#include <map>
#include <set>

using namespace netc;
using namespace netc::audit;

llvm::StringRef netc::audit::nameOf(Confidence confidence) {
  constexpr llvm::StringLiteral names[] = {"exact", "sum", "order", "none"};
  return names[unsigned(confidence)];
}

namespace {
/// `layer1`, `0`, `conv` of `layer1.0.Conv_0`: words and numbers in lower case.
class NameParts {
public:
  explicit NameParts(llvm::StringRef text) : lower(text.lower()) {
    llvm::StringRef rest = lower;
    while (!rest.empty()) {
      auto isPart = [](char c) { return llvm::isAlnum(c); };
      rest = rest.drop_until(isPart);
      llvm::StringRef part = rest.take_while(isPart);
      rest = rest.drop_front(part.size());
      if (!part.empty() && parts.size() < most)
        parts.push_back(part);
    }
  }
  NameParts(const NameParts &) = delete;

  llvm::ArrayRef<llvm::StringRef> get() const { return parts; }

private:
  static constexpr size_t most = 24;
  std::string lower;
  llvm::SmallVector<llvm::StringRef, 8> parts;
};
} // namespace

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
class Matcher {
public:
  Matcher(llvm::ArrayRef<SpecifiedProduct> specified,
          llvm::ArrayRef<TracedProduct> traced)
      : specified(specified), traced(traced), pairing(specified, traced),
        matchOf(traced.size()), makerOf(traced.size()),
        hasGradient(traced.size()) {}

  std::vector<Match> find() {
    if (llvm::any_of(traced, [](auto &product) { return product.isNamed(); }))
      return matchNamed(specified, traced);
    findMakers();
    std::vector<unsigned> ours = specifiedIn({Phase::Forward}),
                          theirs = tracedIn(TracedProduct::Forward);
    add(pairing.outOfOrder(align(ours, theirs)), TracedProduct::Forward);
    for (auto [i, match] : llvm::enumerate(matches))
      for (unsigned product : match.specified)
        forwardOf[specified[product].name].push_back(i);
    followRepeated();
    followGradients();
    add(pairing.crossed(align(specifiedIn({Phase::Update}),
                              tracedIn(TracedProduct::Update))),
        TracedProduct::Update);
    add(align({}, tracedIn(TracedProduct::Data)), TracedProduct::Data);
    matches = inOrder(std::move(matches));
    doubtOthers();
    return std::move(matches);
  }

private:
  /// Finds the products in whose node of autograd each gradient runs.
  void findMakers() {
    for (const SpecifiedProduct &product : specified)
      if (product.phase == Phase::InputGradient ||
          product.phase == Phase::WeightGradient)
        trained.insert(product.name);
    std::map<int64_t, std::vector<unsigned>> bySequence;
    for (auto [i, product] : llvm::enumerate(traced))
      if (product.phase != TracedProduct::Backward && product.sequence >= 0)
        bySequence[product.sequence].push_back(i);
    for (unsigned i : tracedIn(TracedProduct::Backward))
      ++gradientsOf[traced[i].region];
    for (unsigned i : tracedIn(TracedProduct::Backward)) {
      // An op without a node has the number of the next node. So the last op
      // that fits created the node.
      auto makers = bySequence.find(traced[i].sequence);
      if (makers == bySequence.end() || isOfCompiled(i))
        continue;
      for (unsigned maker : makers->second)
        if (isGradientOf(traced[i], traced[maker]))
          makerOf[i] = maker;
      if (makerOf[i])
        hasGradient[*makerOf[i]] = hasMakers = true;
    }
  }

  /// Whether a gradient runs in a compiled function, which is one node.
  bool isOfCompiled(unsigned gradient) const {
    return gradientsOf.lookup(traced[gradient].region) > kMostGradients;
  }

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

  /// Elements of the weight of a product of matrices, which are those of its
  /// three operands divided by those of its input and its result; 0 if its
  /// input is not known.
  static Rational weightOf(const SpecifiedProduct &product) {
    Rational all = product.made, input = product.operand.empty() ? 0 : 1;
    for (int64_t size : product.operand)
      input *= size;
    for (const Rational &elements : product.elements)
      all /= elements;
    return input.isZero() || all.isZero() ? Rational() : 1 / (all * input);
  }

  std::vector<Match> align(llvm::ArrayRef<unsigned> ours,
                           llvm::ArrayRef<unsigned> theirs) const {
    std::vector<Item> first, second;
    std::deque<NameParts> names; // items refer to its elements
    for (auto [place, i] : llvm::enumerate(ours)) {
      const SpecifiedProduct &product = specified[i];
      bool isForward = product.phase == Phase::Forward;
      std::optional<bool> isOfWeight;
      if (product.phase == Phase::InputGradient ||
          product.phase == Phase::WeightGradient)
        isOfWeight = product.phase == Phase::WeightGradient;
      first.push_back({product.flop, product.elements,
                       product.made * product.iterations, product.kind,
                       product.groups, product.read, product.window,
                       product.dilation, product.isTransposed,
                       names.emplace_back(product.name).get(), product.op,
                       trained.contains(product.name), isOfWeight,
                       isForward && place &&
                           specified[ours[place - 1]].depth != product.depth,
                       product.iterations, weightOf(product)});
    }
    for (unsigned i : theirs) {
      const TracedProduct &product = traced[i];
      const EventCost &cost = *product.cost;
      bool isForward = product.phase == TracedProduct::Forward;
      second.push_back(
          {cost.flop, cost.elements, cost.made, product.kind, cost.groups,
           cost.read, cost.window, cost.dilation, cost.isTransposed,
           names.emplace_back(product.path).get(), "",
           isForward && hasMakers ? std::optional(hasGradient[i])
                                  : std::nullopt,
           product.phase == TracedProduct::Backward ? product.isOfWeight
                                                    : std::nullopt,
           isForward && product.isApart, 1, 0});
    }
    std::vector<Match> found;
    for (const Block &block : alignItems(first, second)) {
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

  /// Adds matches whose forward match is `forward`.
  void addBehind(std::vector<Match> found, TracedProduct::Phase phase,
                 std::optional<unsigned> forward) {
    for (Match &match : found)
      match.forward = forward;
    add(std::move(found), phase);
  }

  /// The match of the forward product with this name; the first if there are
  /// several.
  std::optional<unsigned> forwardOfName(llvm::StringRef name) const {
    auto found = forwardOf.find(name);
    return found == forwardOf.end() ? std::nullopt
                                    : std::optional(found->second.front());
  }

  /// Matches recomputed products. A region, which one node of autograd
  /// recomputes, is a contiguous part of the forward pass. Where it is not, as
  /// in a compiled function, each product is matched by itself.
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
    std::set<unsigned> taken;
    // By the region around: where the last one begins in the forward pass, or
    // at first where that around ends.
    std::map<std::optional<uint32_t>, size_t> lastPlaces;
    for (size_t from = 0; from < again.size();) {
      size_t to = from + 1;
      while (to < again.size() &&
             traced[again[to]].region == traced[again[from]].region)
        ++to;
      auto region = llvm::ArrayRef(again).slice(from, to - from);
      const TracedProduct &first = traced[region.front()];
      size_t &last = lastPlaces.try_emplace(first.outerRegion, forward.size())
                         .first->second;
      std::optional<size_t> place = placeOf(region, forward, last);
      for (auto [k, product] : llvm::enumerate(region)) {
        std::optional<unsigned> of;
        if (place)
          of = matchOf[forward[*place + k]];
        else if (auto repeated = lastLike(product, forward, taken))
          of = matchOf[*repeated];
        if (of)
          theirs[*of].push_back(product);
        else
          alone.push_back(product);
      }
      if (place) {
        last = *place;
        lastPlaces[first.region] = *place + region.size();
      }
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

  bool isSame(unsigned a, unsigned b) const {
    return traced[a].cost->flop == traced[b].cost->flop &&
           traced[a].cost->elements == traced[b].cost->elements;
  }

  /// The last forward product that is like `product` and is not taken.
  std::optional<unsigned> lastLike(unsigned product,
                                   llvm::ArrayRef<unsigned> forward,
                                   std::set<unsigned> &taken) const {
    for (unsigned i : llvm::reverse(forward))
      if (isSame(i, product) && taken.insert(i).second)
        return i;
    return std::nullopt;
  }

  /// The position of a region in the forward pass. It is before `last`, that of
  /// the previous region, since the backward pass runs in reverse order.
  std::optional<size_t> placeOf(llvm::ArrayRef<unsigned> region,
                                llvm::ArrayRef<unsigned> forward,
                                size_t last) const {
    // A product whose own node has gradients is not the one that a product
    // with gradients repeats.
    auto mayRepeat = [&](unsigned a, unsigned b) {
      return isSame(a, b) && !(hasGradient[a] && hasGradient[b]);
    };
    if (region.size() > last)
      return std::nullopt;
    for (size_t place = last - region.size() + 1; place-- > 0;)
      if (std::equal(region.begin(), region.end(), forward.begin() + place,
                     mayRepeat))
        return place;
    return std::nullopt;
  }

  /// Matches gradients with the forward product in whose autograd node they
  /// run.
  void followGradients() {
    std::map<unsigned, std::vector<unsigned>> ours, theirs; // by forward match
    std::vector<unsigned> ourRest, theirRest;
    std::vector<std::pair<unsigned, std::optional<unsigned>>> alone;
    for (unsigned i :
         specifiedIn({Phase::InputGradient, Phase::WeightGradient})) {
      if (auto forward = forwardOfName(specified[i].name))
        ours[*forward].push_back(i);
      else
        ourRest.push_back(i);
    }
    for (unsigned i : tracedIn(TracedProduct::Backward)) {
      std::optional<unsigned> match;
      if (makerOf[i])
        match = matchOf[*makerOf[i]];
      if (match && matches[*match].forward)
        match = matches[*match].forward;
      bool isOfNone = match && matches[*match].specified.empty();
      if (traced[i].isRunAgain || isOfNone)
        alone.push_back({i, match});
      else if (match)
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
      addBehind(areOneOfUnknownSize(found->second)
                    ? std::vector<Match>{orderedMatch(list, found->second)}
                    : alignGradients(list, found->second, match),
                TracedProduct::Backward, match);
      theirs.erase(found);
    }
    for (auto &[match, list] : theirs)
      llvm::append_range(theirRest, list);
    llvm::sort(ourRest);
    llvm::sort(theirRest);
    size_t before = matches.size();
    add(ofRecurrences(ourRest, theirRest), TracedProduct::Backward);
    add(pairing.ofOneConvolution(ourRest, theirRest), TracedProduct::Backward);
    add(pairing.ofOneShape(ourRest, theirRest), TracedProduct::Backward);
    add(pairing.crossed(align(ourRest, theirRest)), TracedProduct::Backward);
    for (size_t i = before; i < matches.size(); ++i)
      if (!matches[i].specified.empty())
        matches[i].forward =
            forwardOfName(specified[matches[i].specified.front()].name);
    swapGradients(before);
    doubtCompiled(before);
    for (auto [product, forward] : alone)
      addBehind(align({}, product), TracedProduct::Backward, forward);
  }

  std::vector<Match> alignGradients(std::vector<unsigned> &ours,
                                    std::vector<unsigned> &theirs,
                                    unsigned forward) const {
    sortByOperand(ours, theirs);
    sortByResult(ours, theirs);
    std::vector<Match> found = joined(align(ours, theirs), forward);
    if (llvm::none_of(found, [](const Match &match) {
          return match.confidence == Confidence::None &&
                 !match.specified.empty();
        }))
      return found;
    std::vector<Match> loops = ofIterations(ours, theirs);
    if (loops.empty())
      return found;
    llvm::append_range(loops, joined(align(ours, theirs), forward));
    return loops;
  }

  /// Matches gradients in a loop with as many products that have the sizes of
  /// an iteration, and removes them from both lists.
  std::vector<Match> ofIterations(std::vector<unsigned> &ours,
                                  std::vector<unsigned> &theirs) const {
    std::vector<Match> found;
    for (unsigned i : ours) {
      const SpecifiedProduct &product = specified[i];
      auto isIteration = [&](unsigned j) {
        return traced[j].cost->flop == product.flop / product.iterations &&
               traced[j].cost->elements == product.elements && makesSame(i, j);
      };
      Match match = orderedMatch(i, {});
      match.confidence = Confidence::Sum;
      if (product.iterations > 1)
        for (unsigned j : theirs)
          if (product.iterations > Rational(match.traced.size()) &&
              isIteration(j))
            match.traced.push_back(j);
      if (match.traced.empty() ||
          product.iterations != Rational(match.traced.size()))
        continue;
      llvm::erase_if(theirs, [&](unsigned j) {
        return llvm::is_contained(match.traced, j);
      });
      found.push_back(std::move(match));
    }
    llvm::erase_if(ours, [&](unsigned i) {
      return llvm::any_of(found, [&](const Match &match) {
        return match.specified.front() == i;
      });
    });
    return found;
  }

  /// Whether it is one op of unknown FLOP that may make both gradients of a
  /// convolution.
  bool areOneOfUnknownSize(llvm::ArrayRef<unsigned> theirs) const {
    return theirs.size() == 1 && !traced[theirs[0]].cost->flop &&
           traced[theirs[0]].kind == ProductKind::Windows;
  }

  static Match orderedMatch(llvm::ArrayRef<unsigned> ours,
                            llvm::ArrayRef<unsigned> theirs) {
    Match match;
    match.specified.append(ours.begin(), ours.end());
    match.traced.append(theirs.begin(), theirs.end());
    match.confidence = Confidence::Order;
    return match;
  }

  /// Whether the FLOP are those of one gradient of the forward product, or of
  /// both.
  static bool isGradientOf(const TracedProduct &gradient,
                           const TracedProduct &forward) {
    return gradient.kind == forward.kind &&
           (!gradient.cost->flop || !forward.cost->flop ||
            *gradient.cost->flop == *forward.cost->flop ||
            *gradient.cost->flop == *forward.cost->flop * 2);
  }

  Rational flopOf(llvm::ArrayRef<unsigned> gradients) const {
    Rational sum;
    for (unsigned i : gradients)
      sum += specified[i].flop;
    return sum;
  }

  /// Whether one op of a recurrence takes `flop` for all its gradients. It may
  /// compute those of the initial state and of data, which nothing needs.
  bool mayCompute(llvm::ArrayRef<unsigned> gradients, unsigned forward,
                  const Rational &flop) const {
    Rational firstState, data;
    for (unsigned i : gradients)
      if (const SpecifiedProduct &product = specified[i];
          product.phase == Phase::InputGradient && product.iterations > 1)
        firstState += product.flop / product.iterations;
    for (unsigned i : matches[forward].specified)
      if (llvm::none_of(gradients, [&](unsigned gradient) {
            return specified[gradient].name == specified[i].name &&
                   specified[gradient].phase == Phase::InputGradient;
          }))
        data += specified[i].flop;
    Rational needed = flopOf(gradients), more = flop - needed;
    return more == firstState || more == data || more == firstState + data;
  }

  /// For gradients of one product by autograd's numbers: matches what is left
  /// on both sides, also where one side has one gradient and the other both.
  std::vector<Match> joined(std::vector<Match> found, unsigned forward) const {
    Match rest;
    for (const Match &match : found)
      if (match.confidence == Confidence::None) {
        rest.specified.append(match.specified);
        rest.traced.append(match.traced);
      }
    Rational ours = flopOf(rest.specified), theirs;
    bool isKnown = true, areRecurrences = true;
    for (unsigned j : rest.traced) {
      areRecurrences &= traced[j].kind == ProductKind::Recurrence;
      isKnown &= traced[j].cost->flop.has_value();
      theirs += traced[j].cost->flop.value_or(0);
    }
    if (rest.specified.empty() || rest.traced.empty() ||
        isOtherGradient(rest) ||
        (isKnown && ours != theirs &&
         !(areRecurrences && mayCompute(rest.specified, forward, theirs)) &&
         ours * 2 != theirs && ours != theirs * 2))
      return found;
    rest.confidence = Confidence::Order;
    llvm::erase_if(found, [](const Match &match) {
      return match.confidence == Confidence::None;
    });
    found.push_back(std::move(rest));
    return found;
  }

  /// Whether the product of the trace is the gradient of the other operand. A
  /// gradient of packed weights makes those of all layers, one of their input a
  /// sum.
  bool isOtherGradient(const Match &match) const {
    const EventCost &theirs = *traced[match.traced.front()].cost;
    if (match.traced.size() != 1 || !theirs.made)
      return false;
    Rational made;
    bool isSum = true;
    for (unsigned i : match.specified) {
      made += specified[i].made;
      isSum &= specified[i].made == *theirs.made;
    }
    bool areOfOneSize =
        match.specified.size() > 1 ||
        specified[match.specified.front()].elements == theirs.elements;
    return areOfOneSize && made != *theirs.made && !isSum;
  }

  /// Matches gradients of recurrences that are one op, in the reverse order of
  /// the forward ops. Their gradients are one op, too, perhaps with that of the
  /// initial state.
  std::vector<Match> ofRecurrences(std::vector<unsigned> &ours,
                                   std::vector<unsigned> &theirs) const {
    auto isRecurrence = [&](unsigned j) {
      return traced[j].kind == ProductKind::Recurrence;
    };
    std::map<unsigned, llvm::SmallVector<unsigned, 2>, std::greater<>>
        gradients;
    for (unsigned i : ours)
      if (auto forward = forwardOfName(specified[i].name);
          forward && llvm::any_of(matches[*forward].traced, isRecurrence))
        gradients[*forward].push_back(i);
    Pairing::Alike all;
    for (auto &[forward, list] : gradients)
      all.ours.push_back(list);
    llvm::copy_if(theirs, std::back_inserter(all.theirs), isRecurrence);
    std::vector<Match> found = Pairing::paired(all, ours, theirs), same;
    for (Match &match : found) {
      const std::optional<Rational> &flop = traced[match.traced[0]].cost->flop;
      auto forward = forwardOfName(specified[match.specified[0]].name);
      if (flop == flopOf(match.specified)) {
        same.push_back(std::move(match));
      } else if (!flop || mayCompute(match.specified, *forward, *flop)) {
        match.confidence = Confidence::Order;
        same.push_back(std::move(match));
      } else {
        llvm::append_range(ours, match.specified);
        llvm::append_range(theirs, match.traced);
      }
    }
    llvm::sort(ours);
    llvm::sort(theirs);
    return same;
  }

  /// Whether the results have equally many elements, as far as is known.
  bool makesSame(unsigned ours, unsigned theirs) const {
    return !traced[theirs].cost->made ||
           *traced[theirs].cost->made == specified[ours].made;
  }

  /// Sorts the gradients of one forward match: those of inputs, then those of
  /// weights. Several layers with packed weights have one of each. Strides tell
  /// where both may have as many elements.
  void sortByOperand(std::vector<unsigned> &ours,
                     std::vector<unsigned> &theirs) const {
    std::set<Rational> weights, inputs;
    Rational all;
    auto isInput = [&](unsigned i) {
      return specified[i].phase == Phase::InputGradient;
    };
    for (unsigned i : ours)
      if (isInput(i)) {
        inputs.insert(specified[i].made);
      } else {
        weights.insert(specified[i].made);
        all += specified[i].made;
      }
    weights.insert(all);
    std::stable_partition(ours.begin(), ours.end(), isInput);
    std::stable_partition(theirs.begin(), theirs.end(), [&](unsigned j) {
      Rational made = traced[j].cost->made.value_or(0);
      return inputs.count(made) && traced[j].isOfWeight ? !*traced[j].isOfWeight
                                                        : !weights.count(made);
    });
  }

  /// Sorts the trace's gradients like those of the specification, by the
  /// elements of their results. The two gradients of a product differ in
  /// nothing else.
  void sortByResult(llvm::ArrayRef<unsigned> ours,
                    std::vector<unsigned> &theirs) const {
    for (size_t i = 0; i < ours.size() && i < theirs.size(); ++i)
      for (size_t j = i; j < theirs.size(); ++j)
        if (traced[theirs[j]].cost->flop == specified[ours[i]].flop &&
            makesSame(ours[i], theirs[j])) {
          std::rotate(theirs.begin() + i, theirs.begin() + j,
                      theirs.begin() + j + 1);
          break;
        }
  }

  /// The same for aligned matches: swaps the traced products of neighbours.
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

  /// A compiler may change the order of gradients: which of several of one
  /// shape is that of a layer is not sure.
  void doubtCompiled(size_t begin) {
    std::map<
        std::tuple<std::optional<Rational>, Elements, std::optional<Rational>>,
        unsigned>
        alike;
    auto numberOf = [&](unsigned i) -> unsigned & {
      const EventCost &cost = *traced[i].cost;
      return alike[{cost.flop, cost.elements, cost.made}];
    };
    for (unsigned i : tracedIn(TracedProduct::Backward))
      if (isOfCompiled(i))
        ++numberOf(i);
    for (Match &match : llvm::MutableArrayRef(matches).drop_front(begin))
      if (match.confidence < Confidence::Order &&
          llvm::any_of(match.traced, [&](unsigned i) {
            return isOfCompiled(i) && numberOf(i) > 1;
          }))
        match.confidence = Confidence::Order;
  }

  /// Matches whose sizes are others agree by their FLOP alone, and those out of
  /// order not by their place. So do the gradients of their products.
  void doubtOthers() {
    std::vector<bool> areOthers(matches.size());
    for (auto [i, match] : llvm::enumerate(matches))
      areOthers[i] = match.isOutOfOrder ||
                     otherSizeIn(specified, traced, match).has_value();
    for (auto [match, isOther] : llvm::zip(matches, areOthers))
      if (match.confidence < Confidence::Order &&
          (isOther || (match.forward && areOthers[*match.forward])))
        match.confidence = Confidence::Order;
  }

  llvm::ArrayRef<SpecifiedProduct> specified;
  llvm::ArrayRef<TracedProduct> traced;
  const Pairing pairing;
  std::vector<Match> matches;
  std::vector<std::optional<unsigned>> matchOf; ///< by traced product
  /// By gradient of the trace: the product in whose node it runs.
  std::vector<std::optional<unsigned>> makerOf;
  std::vector<bool> hasGradient;                  ///< by traced product
  bool hasMakers = false;                         ///< whether any is known
  llvm::DenseMap<uint32_t, unsigned> gradientsOf; ///< their number, by node
  llvm::DenseSet<llvm::StringRef> trained; ///< names of products with gradients
  /// The matches of forward products, by name.
  llvm::DenseMap<llvm::StringRef, llvm::SmallVector<unsigned, 1>> forwardOf;
};
} // namespace

std::vector<Match>
netc::audit::match(llvm::ArrayRef<SpecifiedProduct> specified,
                   llvm::ArrayRef<TracedProduct> traced) {
  return Matcher(specified, traced).find();
}

std::vector<Match> netc::audit::inOrder(std::vector<Match> matches) {
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
  std::vector<Match> ordered;
  for (auto [to, from] : llvm::enumerate(places)) {
    newPlace[from] = to;
    ordered.push_back(std::move(matches[from]));
  }
  for (Match &match : ordered)
    if (match.forward)
      match.forward = newPlace[*match.forward];
  return ordered;
}
