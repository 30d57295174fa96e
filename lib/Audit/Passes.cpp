// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace netc;
using namespace netc::audit;

/// Whether the forward products of two passes are the same, or all of the same
/// part of the first one's FLOP.
static bool areAlike(llvm::ArrayRef<TracedProduct> pass,
                     llvm::ArrayRef<TracedProduct> first) {
  auto isForward = [](const TracedProduct &product) {
    return product.phase == TracedProduct::Forward;
  };
  auto ours = llvm::make_filter_range(pass, isForward),
       theirs = llvm::make_filter_range(first, isForward);
  if (ours.empty() || std::distance(ours.begin(), ours.end()) !=
                          std::distance(theirs.begin(), theirs.end()))
    return false;
  const std::optional<Rational> &one = ours.begin()->cost->flop,
                                &other = theirs.begin()->cost->flop;
  for (const auto &[a, b] : llvm::zip(ours, theirs))
    if (const auto &ours = a.cost->flop, &theirs = b.cost->flop;
        a.kind != b.kind || ours.has_value() != theirs.has_value() ||
        (ours && one && other && *ours * *other != *theirs * *one))
      return false;
  return true;
}

std::vector<Pass> netc::audit::passesOf(llvm::ArrayRef<TracedProduct> traced) {
  const std::vector<Pass> all = {{0, traced.size()}};
  std::vector<Pass> passes = {{0, 0}};
  bool isBehindForward = true;
  for (size_t i = 0; i < traced.size(); ++i) {
    bool isForward = traced[i].phase == TracedProduct::Forward;
    if (traced[i].isNamed())
      return all;
    if (isForward && !isBehindForward) {
      passes.back().end = i;
      passes.push_back({i, 0});
    }
    // Data are prepared before a pass, or between two.
    if (traced[i].phase != TracedProduct::Data)
      isBehindForward = isForward;
  }
  passes.back().end = traced.size();
  auto productsOf = [&](const Pass &pass) {
    return traced.slice(pass.begin, pass.end - pass.begin);
  };
  for (Pass &pass : passes) {
    if (passes.size() > 1 &&
        !areAlike(productsOf(pass), productsOf(passes.front())))
      return all;
    pass.isEvaluation =
        llvm::none_of(productsOf(pass), [](const TracedProduct &product) {
          return product.phase == TracedProduct::Backward;
        });
  }
  if (llvm::all_of(passes, [](const Pass &pass) { return pass.isEvaluation; }))
    return all;
  return passes;
}
