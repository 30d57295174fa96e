// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_FLOP_H
#define NETC_LIB_AUDIT_FLOP_H

#include "lib/Audit/TracedStep.h"

namespace netc::audit {

/// What a product costs by the shapes in its event.
struct EventCost {
  std::optional<Rational> flop; ///< none where shapes or settings are missing
  Elements elements;
  Rational counter; ///< what FlopCounterMode of PyTorch 2.15 counts of it
  /// Elements of what a product of matrices makes: of its two gradients, which
  /// read and make as many, it tells which is that of the weight.
  std::optional<Rational> made = std::nullopt;
  /// The part of `flop` that is the gradient of a convolution's weight.
  std::optional<Rational> weight = std::nullopt;
};

/// What an event multiplies, by PyTorch's names, or what netc's own programs
/// say; none if it is no product.
std::optional<ProductKind> productKindOf(const trace::Trace &trace,
                                         const trace::HostEvent &event);

/// The phase that one of netc's own programs says of an event; else empty.
llvm::StringRef ownPhaseOf(const trace::Trace &trace,
                           const trace::HostEvent &event);

/// `result` is the shape of what the event makes where the event itself does
/// not say it.
EventCost costOf(const trace::Trace &trace, const trace::HostEvent &event,
                 llvm::ArrayRef<int64_t> result);

/// The groups of a convolution; 1 where the trace does not say.
int64_t groupsOf(const trace::Trace &trace, const trace::HostEvent &event);

/// What torch.profiler counts of an event by its own formulas
/// (torch/csrc/profiler/util.cpp of PyTorch 2.15).
Rational profilerFlop(const trace::Trace &trace, const trace::HostEvent &event);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_FLOP_H
