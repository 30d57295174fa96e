// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/NamedMatch.h"

#include <map>

using namespace netc;
using namespace netc::audit;

namespace {
/// The products of one name and phase on both sides.
using ByName = std::map<std::pair<llvm::StringRef, llvm::StringRef>, Match>;
} // namespace

static TracedProduct::Phase phaseNamed(llvm::StringRef phase) {
  return phase == "forward"     ? TracedProduct::Forward
         : phase == "recompute" ? TracedProduct::Recompute
         : phase == "update"    ? TracedProduct::Update
                                : TracedProduct::Backward;
}

std::vector<Match>
netc::audit::matchNamed(llvm::ArrayRef<SpecifiedProduct> specified,
                        llvm::ArrayRef<TracedProduct> traced) {
  ByName byName;
  for (auto [i, product] : llvm::enumerate(specified))
    byName[{product.name, stringifyPhase(product.phase)}].specified.push_back(
        i);
  for (auto [i, product] : llvm::enumerate(traced)) {
    Match &match = byName[{product.name, product.ownPhase}];
    match.traced.push_back(i);
    match.phase = product.phase;
  }
  std::vector<Match> matches, others;
  std::map<llvm::StringRef, unsigned> forwardOf;
  for (auto &[key, match] : byName) {
    Rational ours, expected, theirs;
    for (unsigned i : match.specified) {
      ours += specified[i].flop;
      expected += specified[i].expected;
    }
    for (unsigned i : match.traced)
      theirs += traced[i].cost->flop.value_or(Rational::invalid());
    // A program runs sequences of one length, a predicted step those of the
    // run. FLOP of an event are whole, those of a mean length are not.
    Rational least = std::min((ours - theirs).abs(), (expected - theirs).abs());
    if (match.traced.empty())
      match.phase = phaseNamed(key.second);
    else if (!match.specified.empty() && least <= match.traced.size())
      match.confidence = least.isZero() ? Confidence::Exact : Confidence::Order;
    if (key.second == stringifyPhase(Phase::Forward))
      forwardOf[key.first] = matches.size();
    // Of other FLOP it is another product.
    if (match.confidence == Confidence::None && !match.specified.empty() &&
        !match.traced.empty()) {
      others.push_back(match);
      others.back().specified.clear();
      match.traced.clear();
    }
    matches.push_back(match);
  }
  size_t i = 0;
  for (auto &[key, match] : byName) {
    auto forward = forwardOf.find(key.first);
    if (key.second != stringifyPhase(Phase::Forward) &&
        forward != forwardOf.end())
      matches[i].forward = forward->second;
    ++i;
  }
  llvm::append_range(matches, others);
  return inOrder(std::move(matches));
}
