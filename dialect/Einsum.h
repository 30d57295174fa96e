// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_EINSUM_H
#define NETC_DIALECT_EINSUM_H

#include "dialect/Net.h"

namespace netc {

/// The parts of an einsum equation such as `n t d, d m -> n t m`. The letters
/// point into the text that was parsed.
struct EinsumSpec {
  using Letters = llvm::SmallVector<llvm::StringRef, 4>;

  llvm::SmallVector<Letters, 2> operands;
  Letters result;

  EinsumSpec() = default;
  /// Takes the equation of `op`, which must be verified.
  explicit EinsumSpec(EinsumOp op);
  /// Fails, with an error at `loc` if there is one, for text that is no
  /// equation.
  static llvm::FailureOr<EinsumSpec> parse(std::optional<mlir::Location> loc,
                                           llvm::StringRef text);

  /// The equation in the form that parse() reads.
  std::string str() const;
  /// The size of each letter. Each operand must have as many axes as letters.
  llvm::SmallDenseMap<llvm::StringRef, Polynomial, 8>
  sizes(mlir::ValueRange values) const;
};

} // namespace netc

#endif // NETC_DIALECT_EINSUM_H
