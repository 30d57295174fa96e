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
  /// FLOP by the formula of FlopCounterMode of PyTorch 2.15; 0 if it has none
  /// for the op. None if it has one, but shapes or arguments are missing.
  std::optional<Rational> counter;
  /// Elements of the result of a matrix product. Only this differs between the
  /// two gradients of a product.
  std::optional<Rational> made = std::nullopt;
  /// The part of `flop` for the gradient of a convolution's weight.
  std::optional<Rational> weight = std::nullopt;
  /// The shape of an example that a convolution reads; empty if not known. Of
  /// images of other sizes the elements may be equal.
  llvm::ArrayRef<int64_t> read = {};
  /// The sizes of a convolution's window; empty if not known.
  llvm::ArrayRef<int64_t> window = {};
  /// The dilations of a convolution, 1 where its window has one element; empty
  /// if not known.
  llvm::SmallVector<int64_t, 3> dilation = {};
  /// Whether a convolution is a transposed one; none if that is not known.
  std::optional<bool> isTransposed = std::nullopt;
  /// The shape of the first operand of data; empty if not known.
  llvm::ArrayRef<int64_t> operand = {};
  /// Elements of the scores of attention, which a fused kernel has inside.
  std::optional<Rational> scores = std::nullopt;
};

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

/// Whether an op makes a view, copies or adds. Such ops stand between the parts
/// of one product.
bool movesData(llvm::StringRef op);

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

/// Whether a kernel multiplies, by words in its name.
bool multipliesByName(llvm::StringRef kernel);

/// Whether FlopCounterMode does not see the products inside of an op.
bool hidesFromCounter(const trace::Trace &trace, const trace::HostEvent &event);

/// The phase that netc's own trace states for an event; else empty.
llvm::StringRef ownPhaseOf(const trace::Trace &trace,
                           const trace::HostEvent &event);

/// The cost of a product. `result` is the shape of its result, for a
/// convolution whose arguments are not recorded.
EventCost costOf(const trace::Trace &trace, const trace::HostEvent &event,
                 llvm::ArrayRef<int64_t> result);

/// The groups of a convolution; 1 if the trace does not state them.
int64_t groupsOf(const trace::Trace &trace, const trace::HostEvent &event);

/// FLOP by the formulas of torch.profiler (torch/csrc/profiler/util.cpp of
/// PyTorch 2.15); 0 if it has none for the op. None if it has one, but the
/// shapes do not suffice.
std::optional<Rational> profilerFlop(const trace::Trace &trace,
                                     const trace::HostEvent &event);

/// Whether profilerFlop() counts the elements of an addition or multiplication.
bool isElementwise(const trace::Trace &trace, const trace::HostEvent &event);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_FLOP_H
