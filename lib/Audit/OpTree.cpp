// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/OpTree.h"

#include "lib/Audit/OpNames.h"
#include "lib/Audit/OpenEvents.h"
#include "llvm/ADT/STLExtras.h"

using namespace netc::audit;
using namespace netc::trace;
using llvm::StringRef;

/// Whether an op is one of sparse tensors. A product of compressed rows is
/// called like any other, and asks for their indices.
static bool isOfSparse(StringRef op) {
  return op.consume_front("aten::") &&
         (op.contains("sparse") || op == "crow_indices" ||
          op == "ccol_indices" || op == "_nnz");
}

namespace {
/// What the name of an event says of it and of what is inside.
struct Named {
  bool isNode = false;
  uint8_t kinds = 0;

  static Named of(StringRef name) {
    using Around = OpTree::Around;
    Named named;
    named.isNode = !nodeOf(name).empty();
    if (hidesFromCounter(name))
      named.kinds |= Around::Hidden;
    if (isOfSparse(name))
      named.kinds |= Around::Sparse;
    if (name.contains("_loss") || name.contains("cross_entropy") ||
        name.contains("NllLoss"))
      named.kinds |= Around::Loss;
    if (name.starts_with("Optimizer."))
      named.kinds |= Around::Optimizer;
    if (name.starts_with("enumerate(DataLoader)"))
      named.kinds |= Around::Data;
    return named;
  }
};
} // namespace

OpTree::OpTree(const Trace &trace, const TracedStep &step)
    : parent(trace.host.size(), nobody), around(trace.host.size()) {
  for (auto [i, event] : llvm::enumerate(trace.host))
    if (event.start >= step.start && event.start < step.end &&
        event.kind != HostEvent::Module)
      order.push_back(i);
  llvm::sort(order, [&](uint32_t i, uint32_t j) {
    const HostEvent &a = trace.host[i], &b = trace.host[j];
    return std::make_tuple(a.thread, a.start, -a.duration, a.external, i) <
           std::make_tuple(b.thread, b.start, -b.duration, b.external, j);
  });
  OpenEvents open(trace);
  OncePerName<Named> names(trace.names, Named::of);
  for (uint32_t i : order) {
    const HostEvent &event = trace.host[i];
    llvm::ArrayRef<uint32_t> outer = open.around(event, /*isWhole=*/true);
    if (!outer.empty()) {
      parent[i] = outer.back();
      around[i] = around[parent[i]];
    }
    const Named &named = names[event.name];
    if (named.isNode)
      around[i].node = i;
    if (event.sequence >= 0)
      around[i].numbered = i;
    // A range of the user may have any name; PyTorch names those of the others.
    bool isOp = event.kind == HostEvent::Op;
    around[i].kinds |=
        isOp ? named.kinds : named.kinds & (Around::Optimizer | Around::Data);
    open.push(i);
  }
}
