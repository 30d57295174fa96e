// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_SPECIFIEDSTEP_H
#define NETC_LIB_AUDIT_SPECIFIEDSTEP_H

#include "lib/Analysis/Run.h"
#include "lib/Audit/TracedStep.h"

namespace netc::audit {

/// A product of a step, at the sizes that its trace has.
struct SpecifiedProduct {
  llvm::StringRef name;  ///< the instance path and op: `layer1.0.conv1.conv`
  llvm::StringRef layer; ///< the part of it that reports show
  llvm::StringRef op;    ///< `conv`
  Phase phase;
  ProductKind kind;
  /// As an op executes it, 2 a multiply-add; an op in a loop with all turns.
  Rational flop;
  /// What the specification costs: without what a mask hides, if it counts so,
  /// at its own lengths where they are a distribution, for the examples that
  /// were asked for.
  Rational exact;
  Elements elements;
  Rational made; ///< elements of its result
  Rational turns = 1;
  int64_t groups = 1;
};

/// The sizes of the free axes of a step.
using Sizes = std::map<std::string, Rational>;

/// The products of the step of a run, in the order of the program.
class SpecifiedStep {
public:
  explicit SpecifiedStep(const Run &run);

  const Run &run() const { return of; }
  /// Those of the specification; an axis that it says nothing of has none.
  const Sizes &sizes() const { return written; }
  /// The axes that the cost of a product depends on; that of the batch first.
  llvm::ArrayRef<std::string> axes() const { return free; }
  /// The products at the sizes that a trace has; `asked` gives the examples
  /// that are counted, if these are others.
  std::vector<SpecifiedProduct> at(const Sizes &sizes,
                                   std::optional<Rational> asked = {}) const;
  /// The FLOP of the forward products alone, at most `limit` of them.
  std::vector<Rational> forwardAt(const Sizes &sizes, size_t limit) const;
  /// Bytes that a device holds; none where a size is not known, and at other
  /// sizes than those of the specification if it computes values again.
  std::optional<Rational> memoryAt(const Sizes &sizes) const;

private:
  struct Product {
    mlir::Operation *op;
    std::string name, layer;
    Phase phase;
    Polynomial flop, exact, made, turns;
    std::array<Polynomial, 3> elements;
    int64_t groups;
  };

  const Run &of;
  std::vector<Product> products;
  std::vector<std::string> free;
  Sizes written;
};

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_SPECIFIEDSTEP_H
