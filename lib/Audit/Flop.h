// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_FLOP_H
#define NETC_LIB_AUDIT_FLOP_H

#include "lib/Audit/TracedStep.h"

namespace netc::audit {

/// The cost of a product, from the shapes in its event.
struct EventCost {
  std::optional<Rational> flop; ///< none if shapes or arguments are missing
  Elements elements;
  /// FLOP by the formulas of FlopCounterMode of PyTorch 2.15; none if it has
  /// one for the op, and shapes or arguments are missing.
  std::optional<Rational> counter;
  /// Elements of the result of a matrix product. The two gradients of a product
  /// are equal in all else, and are told apart by this.
  std::optional<Rational> made = std::nullopt;
  /// The share of `flop` for the gradient of a convolution's weight.
  std::optional<Rational> weight = std::nullopt;
  /// The shape of an example that a convolution reads; empty if not known. Of
  /// images of other sizes the elements may be equal.
  llvm::ArrayRef<int64_t> read = {};
};

/// The kind of product of an event, by PyTorch's names or by what netc's
/// programs state. None if it is no product.
std::optional<ProductKind> productKindOf(const trace::Trace &trace,
                                         const trace::HostEvent &event);

/// Whether an op is a product by its name.
bool multiplies(llvm::StringRef op);

/// The same as `productKindOf` of an event in which no product was found, by
/// words in its name: it may be one whose cost netc does not know.
std::optional<ProductKind> suspectedKindOf(const trace::Trace &trace,
                                           const trace::HostEvent &event);

/// Whether no gradient runs as this product: one with the bias of a layer, or
/// an op whose gradient has a name of its own.
bool isForwardAlone(const trace::Trace &trace, const trace::HostEvent &event);

/// Whether a kernel multiplies, by words in its name.
bool multipliesByName(llvm::StringRef kernel);

/// Whether FlopCounterMode does not see the products inside of an op.
bool hidesFromCounter(const trace::Trace &trace, const trace::HostEvent &event);

/// The phase that a program of netc states for an event; else empty.
llvm::StringRef ownPhaseOf(const trace::Trace &trace,
                           const trace::HostEvent &event);

/// `result` is the shape of the result, for events that do not state it.
EventCost costOf(const trace::Trace &trace, const trace::HostEvent &event,
                 llvm::ArrayRef<int64_t> result);

/// The groups of a convolution; 1 if the trace does not state them.
int64_t groupsOf(const trace::Trace &trace, const trace::HostEvent &event);

/// FLOP by the formulas of torch.profiler (torch/csrc/profiler/util.cpp of
/// PyTorch 2.15). None if it has one for the op, and the shapes do not suffice.
std::optional<Rational> profilerFlop(const trace::Trace &trace,
                                     const trace::HostEvent &event);

/// Whether `profilerFlop` counts elements of the event, and no product.
bool isElementwise(const trace::Trace &trace, const trace::HostEvent &event);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_FLOP_H
