// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Repetition.h"

#include "lib/Audit/Flop.h"
#include "lib/Audit/OpenEvents.h"

using namespace netc;
using namespace netc::audit;
using namespace netc::trace;

/// How often a sequence of `size` elements has its shortest part, one after the
/// other; 1 if it does not repeat. `isSame(i, j)` compares two elements.
template <typename IsSame> static size_t timesOf(size_t size, IsSame isSame) {
  // By element, the length of the longest beginning that also ends there
  // (Knuth, Morris and Pratt).
  std::vector<size_t> lengths(size);
  for (size_t i = 1, length = 0; i < size; ++i) {
    while (length > 0 && !isSame(i, length))
      length = lengths[length - 1];
    length += isSame(i, length);
    lengths[i] = length;
  }
  size_t part = size == 0 ? 0 : size - lengths.back();
  return part == 0 || size % part != 0 ? 1 : size / part;
}

/// The ops of a thread in a step that no other op called.
static std::vector<uint32_t>
outermostOps(const Trace &trace, const TracedStep &step, uint32_t thread) {
  std::vector<uint32_t> ops;
  for (auto [i, event] : llvm::enumerate(trace.host))
    if (event.kind == HostEvent::Op && event.thread == thread &&
        event.start >= step.start && event.start < step.end)
      ops.push_back(i);
  llvm::sort(ops, [&](uint32_t i, uint32_t j) {
    const HostEvent &a = trace.host[i], &b = trace.host[j];
    return std::make_tuple(a.start, -a.duration, i) <
           std::make_tuple(b.start, -b.duration, j);
  });
  OpenEvents open(trace);
  llvm::erase_if(ops, [&](uint32_t i) {
    bool isInside = !open.around(trace.host[i], /*isWhole=*/true).empty();
    open.push(i);
    return isInside;
  });
  return ops;
}

/// Whether the products of a step may be equal layers: each reads what the one
/// before it made.
static bool mayBeLayers(llvm::ArrayRef<TracedProduct> products) {
  bool isForward = llvm::all_of(products, [](const TracedProduct &product) {
    return product.phase == TracedProduct::Forward;
  });
  const TracedProduct &first = products.front(), &last = products.back();
  return isForward && (first.operand.empty() || !last.cost->made ||
                       elementsOf(first.operand) == *last.cost->made);
}

std::optional<Repetition> netc::audit::repetitionOf(const Trace &trace,
                                                    const TracedStep &step) {
  llvm::ArrayRef<TracedProduct> products = step.products;
  size_t times = timesOf(products.size(), [&](size_t i, size_t j) {
    const TracedProduct &a = products[i], &b = products[j];
    return a.kind == b.kind && a.phase == b.phase &&
           a.cost->flop == b.cost->flop && a.cost->elements == b.cost->elements;
  });
  if (times == 1)
    return std::nullopt;
  Repetition repetition = {times, products.size() / times, {}, {}};
  std::vector<uint32_t> ops =
      outermostOps(trace, step, trace.host[products.front().event].thread);
  size_t timesOfOps = timesOf(ops.size(), [&](size_t i, size_t j) {
    const HostEvent &a = trace.host[ops[i]], &b = trace.host[ops[j]];
    return a.name == b.name && a.inputs == b.inputs;
  });
  if (timesOfOps == 1 || times % timesOfOps != 0 || mayBeLayers(products))
    return repetition;
  size_t begin = ops.size() - ops.size() / timesOfOps;
  return Repetition{timesOfOps, products.size() / timesOfOps, ops[begin],
                    ops[begin - 1]};
}
