// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Pairing.h"

#include "llvm/ADT/MapVector.h"

#include <map>
#include <set>

using namespace netc;
using namespace netc::audit;

std::vector<Match> Pairing::paired(llvm::ArrayRef<Alike> groups,
                                   std::vector<unsigned> &ours,
                                   std::vector<unsigned> &theirs) {
  std::vector<Match> found;
  std::set<unsigned> ourTaken, theirTaken;
  for (const Alike &alike : groups) {
    if (alike.ours.size() != alike.theirs.size())
      continue;
    for (const auto &[list, j] : llvm::zip(alike.ours, alike.theirs)) {
      Match &match = found.emplace_back();
      match.specified = list;
      match.traced = {j};
      match.confidence = list.size() == 1 ? Confidence::Exact : Confidence::Sum;
      ourTaken.insert(list.begin(), list.end());
      theirTaken.insert(j);
    }
  }
  llvm::erase_if(ours, [&](unsigned i) { return ourTaken.count(i); });
  llvm::erase_if(theirs, [&](unsigned j) { return theirTaken.count(j); });
  return found;
}

std::vector<Match> Pairing::ofOneShape(std::vector<unsigned> &ours,
                                       std::vector<unsigned> &theirs) const {
  std::map<std::tuple<Rational, Elements, Rational>, Alike> byShape;
  bool haveMade = llvm::all_of(theirs, [&](unsigned i) {
    return traced[i].cost->made || traced[i].kind != ProductKind::Matrices;
  });
  auto listsOf = [&](const Rational &flop, const Elements &elements,
                     const Rational &made) -> Alike & {
    return byShape[{flop, elements, haveMade ? made : Rational()}];
  };
  for (unsigned i : ours)
    listsOf(specified[i].flop, specified[i].elements, specified[i].made)
        .ours.push_back({i});
  for (unsigned i : theirs)
    if (traced[i].cost->flop)
      listsOf(*traced[i].cost->flop, traced[i].cost->elements,
              traced[i].cost->made.value_or(0))
          .theirs.push_back(i);
  return paired(llvm::to_vector(llvm::make_second_range(byShape)), ours,
                theirs);
}

std::vector<Match>
Pairing::ofOneConvolution(std::vector<unsigned> &ours,
                          std::vector<unsigned> &theirs) const {
  llvm::MapVector<llvm::StringRef, llvm::SmallVector<unsigned, 2>> gradients;
  for (unsigned i : ours)
    if (specified[i].kind == ProductKind::Windows)
      gradients[specified[i].name].push_back(i);
  bool haveGroups = llvm::any_of(
      theirs, [&](unsigned i) { return traced[i].cost->groups > 1; });
  std::map<std::tuple<Rational, Elements, int64_t>, Alike> byShape;
  for (const auto &[name, list] : gradients) {
    Rational flop;
    for (unsigned i : list)
      flop += specified[i].flop;
    const SpecifiedProduct &first = specified[list.front()];
    byShape[{flop, first.elements, haveGroups ? first.groups : 1}]
        .ours.push_back(list);
  }
  for (unsigned i : theirs)
    if (traced[i].kind == ProductKind::Windows && traced[i].cost->flop)
      byShape[{*traced[i].cost->flop, traced[i].cost->elements,
               traced[i].cost->groups}]
          .theirs.push_back(i);
  return paired(llvm::to_vector(llvm::make_second_range(byShape)), ours,
                theirs);
}

namespace {
/// Where the first product of each depth runs.
class FirstOfDepth {
public:
  void add(unsigned depth, unsigned place) {
    unsigned &first = places.try_emplace(depth, place).first->second;
    first = std::min(first, place);
  }

  /// Whether one of `depth` may run at `place`: one that is less deep runs
  /// before it, and one as deep runs before those that are deeper.
  bool mayRun(unsigned depth, unsigned place) const {
    constexpr unsigned never = ~0u;
    auto firstOf = [&](unsigned depth) {
      auto found = places.find(depth);
      return found == places.end() ? never : found->second;
    };
    unsigned before = depth ? firstOf(depth - 1) : never;
    return (before == never || before < place) &&
           std::min(firstOf(depth), place) <= firstOf(depth + 1);
  }

private:
  std::map<unsigned, unsigned> places;
};
} // namespace

std::vector<Match> Pairing::outOfOrder(std::vector<Match> found) const {
  std::vector<unsigned> ours, theirs;
  FirstOfDepth first;
  for (const Match &match : found)
    if (match.confidence == Confidence::None) {
      llvm::append_range(ours, match.specified);
      llvm::append_range(theirs, match.traced);
    } else {
      for (unsigned i : match.specified)
        first.add(specified[i].depth, *llvm::min_element(match.traced));
    }
  llvm::erase_if(theirs, [&](unsigned j) {
    return traced[j].kind == ProductKind::Attention;
  });
  if (ours.empty() || theirs.empty())
    return found;
  std::vector<Match> candidates = ofOneShape(ours, theirs), pairs;
  // One is found before those that need its result.
  llvm::stable_sort(candidates, [&](const Match &a, const Match &b) {
    return specified[a.specified[0]].depth < specified[b.specified[0]].depth;
  });
  std::set<unsigned> ourTaken, theirTaken;
  for (Match &match : candidates) {
    unsigned i = match.specified[0], j = match.traced[0];
    if (!haveSameWindows(specified[i], *traced[j].cost) ||
        !first.mayRun(specified[i].depth, j))
      continue;
    first.add(specified[i].depth, j);
    match.isOutOfOrder = true;
    ourTaken.insert(i);
    theirTaken.insert(j);
    pairs.push_back(std::move(match));
  }
  llvm::erase_if(found, [&](const Match &match) {
    return match.confidence == Confidence::None &&
           (match.traced.empty() ? ourTaken.count(match.specified[0])
                                 : theirTaken.count(match.traced[0]));
  });
  llvm::append_range(found, pairs);
  return found;
}

void Pairing::joinPacked(std::vector<Match> &found, Match &theirs) const {
  const EventCost &packed = *traced[theirs.traced[0]].cost;
  if (!packed.flop || !packed.made)
    return;
  for (Match &first : found) {
    if (first.confidence != Confidence::None || first.specified.size() != 1)
      continue;
    const SpecifiedProduct &one = specified[first.specified[0]];
    if (!one.flop.isValid() || one.flop.isZero())
      continue;
    Rational times = *packed.flop / one.flop;
    Rational made =
        one.phase == Phase::WeightGradient ? one.made * times : one.made;
    if (!times.isInteger() || times < 2 || made != *packed.made)
      continue;
    std::vector<Match *> parts;
    for (Match &match : found)
      if (match.confidence == Confidence::None && match.specified.size() == 1 &&
          Rational(parts.size()) < times)
        if (const SpecifiedProduct &other = specified[match.specified[0]];
            other.flop == one.flop && other.phase == one.phase &&
            other.made == one.made)
          parts.push_back(&match);
    if (Rational(parts.size()) < times)
      continue;
    for (Match *part : parts) {
      theirs.specified.append(part->specified);
      part->specified.clear();
    }
    theirs.confidence = Confidence::Sum;
    return;
  }
}

std::vector<Match> Pairing::crossed(std::vector<Match> found) const {
  constexpr size_t most = 4096; // each is compared with each
  if (found.size() > most)
    return found;
  for (Match &ours : found) {
    if (ours.confidence != Confidence::None || ours.specified.size() != 1)
      continue;
    const SpecifiedProduct &product = specified[ours.specified[0]];
    auto same = llvm::find_if(found, [&](const Match &theirs) {
      return theirs.confidence == Confidence::None &&
             theirs.traced.size() == 1 &&
             traced[theirs.traced[0]].cost->flop == product.flop &&
             traced[theirs.traced[0]].cost->elements == product.elements &&
             haveSameWindows(product, *traced[theirs.traced[0]].cost);
    });
    if (same == found.end())
      continue;
    ours.traced = std::move(same->traced);
    ours.confidence = Confidence::Exact;
    same->traced.clear();
  }
  for (Match &theirs : found)
    if (theirs.confidence == Confidence::None && theirs.traced.size() == 1)
      joinPacked(found, theirs);
  llvm::erase_if(found, [](const Match &match) {
    return match.specified.empty() && match.traced.empty();
  });
  return found;
}
