// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_FLOP_H
#define NETC_LIB_AUDIT_FLOP_H

#include "lib/Audit/TracedStep.h"

namespace netc::audit {

/// Dilations with 1 where a window has one element, which none moves apart.
llvm::SmallVector<int64_t, 3> withoutIdle(llvm::ArrayRef<int64_t> dilations,
                                          llvm::ArrayRef<int64_t> window);

/// The number of elements of a shape; invalid if a size is not known.
Rational elementsOf(llvm::ArrayRef<int64_t> shape);

/// The kind of product that an event is, by PyTorch's names or by what netc's
/// own traces state. None if it is no product, or if the product is another
/// event within it, as for `aten::linear`.
std::optional<ProductKind> productKindOf(const trace::Trace &trace,
                                         const trace::HostEvent &event);

/// Whether an op of this name is a product, or contains one.
bool multiplies(llvm::StringRef op);

/// The kind of product that an event may be, by words in its name, if
/// productKindOf() found none. netc may not know its cost.
std::optional<ProductKind> suspectedKindOf(const trace::Trace &trace,
                                           const trace::HostEvent &event);

/// Whether this product cannot be that of a gradient: it adds the bias of a
/// layer, or the op of its gradient has another name.
bool isForwardAlone(const trace::Trace &trace, const trace::HostEvent &event);

/// Whether a product of two matrices sums over the rows of its first operand,
/// which is transposed, as the gradient of a weight does over examples. None if
/// the strides do not tell.
std::optional<bool> transposesFirst(const trace::Trace &trace,
                                    const trace::HostEvent &event);

/// The phase that netc's own trace states for an event; else empty.
llvm::StringRef ownPhaseOf(const trace::Trace &trace,
                           const trace::HostEvent &event);

/// The cost of a product. `result` is the shape of its result, for a
/// convolution whose arguments are not recorded.
EventCost costOf(const trace::Trace &trace, const trace::HostEvent &event,
                 llvm::ArrayRef<int64_t> result);

/// FLOP by the formulas of torch.profiler (torch/csrc/profiler/util.cpp of
/// PyTorch 2.15); 0 if it has none for the op. None if it has one, but the
/// shapes do not suffice.
std::optional<Rational> profilerFlop(const trace::Trace &trace,
                                     const trace::HostEvent &event);

/// Whether profilerFlop() counts the elements of an addition or multiplication.
bool isElementwise(const trace::Trace &trace, const trace::HostEvent &event);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_FLOP_H
