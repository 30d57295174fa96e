// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_SPECIFIEDSTEP_H
#define NETC_LIB_AUDIT_SPECIFIEDSTEP_H

#include "lib/Analysis/Run.h"
#include "lib/Audit/TracedStep.h"

namespace netc::audit {

/// A product of a step, at the sizes of a trace.
struct SpecifiedProduct {
  llvm::StringRef name;  ///< instance path and op: `layer1.0.conv1.conv`
  llvm::StringRef layer; ///< the part of it that reports show
  llvm::StringRef op;    ///< `conv`
  Phase phase;
  ProductKind kind;
  /// FLOP that the op executes, 2 for a multiply-add, over all iterations of
  /// the loops around it.
  Rational flop;
  /// The same with its own lengths if they have a distribution.
  Rational expected;
  /// FLOP by the specification: without masked elements if it counts so, with
  /// its own lengths if they have a distribution, and for the number of
  /// examples that was asked for.
  Rational exact;
  Rational ran; ///< `exact` for the number of examples in the trace
  Elements elements;
  Rational made; ///< elements of its result
  Rational iterations = 1;
  int64_t groups = 1;
  llvm::SmallVector<int64_t, 3> read, window, dilation; ///< see EventCost
  std::optional<bool> isTransposed;                     ///< see EventCost
  /// The number of products one after the other that it needs the results of.
  unsigned depth = 0;
  /// The shape of the first operand that has examples, all iterations of the
  /// loops around it together; empty for gradients.
  llvm::SmallVector<int64_t, 5> operand;
};

/// Whether two shapes are the same, or one of them is not known.
inline bool haveSameShape(llvm::ArrayRef<int64_t> a,
                          llvm::ArrayRef<int64_t> b) {
  return a.empty() || b.empty() || a == b;
}

/// Whether two convolutions read examples of one shape through windows of one
/// shape and dilation, as far as is known, both transposed or none.
template <typename One, typename Other>
bool haveSameWindows(const One &one, const Other &other) {
  return (!one.isTransposed || !other.isTransposed ||
          one.isTransposed == other.isTransposed) &&
         haveSameShape(one.read, other.read) &&
         haveSameShape(one.window, other.window) &&
         haveSameShape(one.dilation, other.dilation);
}

/// The sizes of a step's free axes.
using Sizes = std::map<std::string, Rational>;

/// The products of a run's step, in the order of the program.
class SpecifiedStep {
public:
  explicit SpecifiedStep(const Run &run);

  const Run &run() const { return of; }
  /// The sizes that the specification gives.
  const Sizes &sizes() const { return written; }
  /// The axes that the cost of a product depends on. The batch comes first.
  llvm::ArrayRef<std::string> axes() const { return free; }
  /// The products at these sizes. `asked` is the number of examples to count
  /// for, if it is another.
  std::vector<SpecifiedProduct> at(const Sizes &sizes,
                                   std::optional<Rational> asked = {}) const;
  /// The first `limit` forward products, by their FLOP; and by their sizes, if
  /// `needsSizes` of the FLOP.
  std::vector<SpecifiedProduct>
  forwardAt(const Sizes &sizes, size_t limit,
            llvm::function_ref<bool(const Rational &)> needsSizes = {}) const;
  /// Bytes that a device holds; none where a size is not known, and at other
  /// sizes than those of the specification if it computes values again.
  std::optional<Rational> memoryAt(const Sizes &sizes) const;

private:
  struct Product {
    mlir::Operation *op;
    std::string name, layer;
    Phase phase;
    Polynomial flop, exact, made, iterations;
    std::array<Polynomial, 3> elements;
    std::vector<Polynomial> read, window, operand; ///< see SpecifiedProduct
    llvm::SmallVector<int64_t, 3> dilation;
    int64_t groups;
    unsigned depth; ///< see SpecifiedProduct
    bool isTransposed;
  };

  /// The axes of the step at these sizes, with the passes of decoding.
  Axes axesAt(const Sizes &sizes) const;

  const Run &of;
  std::vector<Product> products;
  std::vector<std::string> free;
  Sizes written;
};

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_SPECIFIEDSTEP_H
