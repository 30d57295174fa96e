// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Passes.h"

#include "lib/Analysis/Run.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace netc;
using namespace netc::audit;

using Products = llvm::ArrayRef<TracedProduct>;

static std::vector<unsigned> forwardIn(Products traced, const Pass &pass) {
  std::vector<unsigned> forward;
  llvm::copy_if(pass.products, std::back_inserter(forward), [&](unsigned i) {
    return traced[i].phase == TracedProduct::Forward;
  });
  return forward;
}

/// Whether the forward products of two passes are the same, or all of the same
/// part of the first one's FLOP.
static bool areAlike(Products traced, const Pass &pass, const Pass &first) {
  std::vector<unsigned> ours = forwardIn(traced, pass),
                        theirs = forwardIn(traced, first);
  if (ours.empty() || ours.size() != theirs.size())
    return false;
  const std::optional<Rational> &one = traced[ours[0]].cost->flop,
                                &other = traced[theirs[0]].cost->flop;
  for (auto [i, j] : llvm::zip(ours, theirs)) {
    const TracedProduct &a = traced[i], &b = traced[j];
    if (const auto &ours = a.cost->flop, &theirs = b.cost->flop;
        a.kind != b.kind || ours.has_value() != theirs.has_value() ||
        (ours && one && other && *ours * *other != *theirs * *one))
      return false;
  }
  return true;
}

static bool hasGradients(Products traced, const Pass &pass) {
  return llvm::any_of(pass.products, [&](unsigned i) {
    return traced[i].phase == TracedProduct::Backward;
  });
}

/// Passes that follow each other; none if they are not alike.
static std::vector<Pass> inSequence(Products traced) {
  std::vector<Pass> passes(1);
  bool isBehindForward = true;
  for (auto [i, product] : llvm::enumerate(traced)) {
    bool isForward = product.phase == TracedProduct::Forward;
    if (isForward && !isBehindForward)
      passes.emplace_back();
    passes.back().products.push_back(i);
    // Data are prepared before a pass, or between two.
    if (product.phase != TracedProduct::Data)
      isBehindForward = isForward;
  }
  for (Pass &pass : passes) {
    if (passes.size() > 1 && !areAlike(traced, pass, passes.front()))
      return {};
    pass.isEvaluation = !hasGradients(traced, pass);
  }
  if (llvm::all_of(passes, [](const Pass &pass) { return pass.isEvaluation; }))
    return {};
  return passes;
}

/// As many passes as `many`, of which others begin before one has ended. The
/// numbers of autograd tell whose a gradient is. None if they are not alike.
static std::vector<Pass> overlapping(Products traced, size_t many) {
  std::vector<unsigned> forward;
  for (auto [i, product] : llvm::enumerate(traced))
    if (product.phase == TracedProduct::Forward)
      forward.push_back(i);
  if (forward.empty() || forward.size() % many != 0)
    return {};
  std::vector<Pass> passes(many);
  std::map<int64_t, size_t> begins; // pass by the number of its first product
  for (size_t i = 0; i < many; ++i)
    begins[traced[forward[i * forward.size() / many]].sequence] = i;
  if (begins.size() != many || begins.begin()->first < 0)
    return {};
  for (auto [i, product] : llvm::enumerate(traced)) {
    if (product.phase == TracedProduct::Update ||
        product.phase == TracedProduct::Data) {
      passes.back().products.push_back(i);
      continue;
    }
    auto behind = begins.upper_bound(product.sequence);
    if (product.phase == TracedProduct::Recompute || behind == begins.begin())
      return {};
    passes[std::prev(behind)->second].products.push_back(i);
  }
  for (const Pass &pass : passes)
    if (!areAlike(traced, pass, passes.front()) || !hasGradients(traced, pass))
      return {};
  return passes;
}

/// The number of passes that may overlap, if the trace has about as many times
/// the forward products of the run: else they are layers of one pass.
static std::optional<size_t> accumulatedIn(Products traced,
                                           const SpecifiedStep &own) {
  const std::optional<Rational> &many = own.run().accumulate;
  Rational forward = llvm::count_if(traced, [](const TracedProduct &product) {
    return product.phase == TracedProduct::Forward;
  });
  if (!many || !many->isInteger() || *many < 2 || *many > forward)
    return std::nullopt;
  Rational ours = own.forwardAt(own.sizes(), ~size_t(0)).size();
  if (forward * 2 < ours * (*many + 1))
    return std::nullopt;
  return size_t(many->toDouble());
}

std::vector<Pass> netc::audit::passesOf(Products traced,
                                        const SpecifiedStep &own) {
  std::vector<Pass> passes;
  if (llvm::none_of(traced, [](const TracedProduct &product) {
        return product.isNamed();
      })) {
    passes = inSequence(traced);
    if (passes.size() <= 1)
      if (std::optional<size_t> many = accumulatedIn(traced, own))
        if (std::vector<Pass> found = overlapping(traced, *many);
            !found.empty())
          return found;
  }
  if (passes.empty()) {
    Pass &all = passes.emplace_back();
    for (unsigned i = 0; i < traced.size(); ++i)
      all.products.push_back(i);
  }
  return passes;
}
