// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_OPERATORS_H
#define NETC_LIB_FRONTEND_OPERATORS_H

#include "lib/Diagnostics/Errors.h"
#include "lib/Frontend/Value.h"

namespace netc {

class Evaluator;

/// The error for a free size where a fixed one is needed.
Message freeSize(const Number &size);

/// What to write instead of an operator that does not take these operands, as
/// the end of a message; empty if nothing is known.
std::string insteadOf(llvm::StringRef op, const Value &a, const Value &b);

/// Operators and literals of compile-time values. Operators on tensors are in
/// TensorBuilder.
class Operators {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  explicit Operators(Evaluator &e) : e(e) {}

  /// The result of an operator such as `+` or `==`. An unknown value after an
  /// error, which is reported at `at`.
  Value binary(Tree *at, llvm::StringRef op, const Value &a, const Value &b);
  Value arithmetic(Tree *at, llvm::StringRef op, const Number &a,
                   const Number &b);
  Value compare(Tree *at, llvm::StringRef op, const Value &a, const Value &b);
  /// The number of a literal with its unit, or what is wrong with it.
  static std::variant<Literal, Message>
  readLiteral(NetParser::QuantityContext *tree);
  /// The same. None after an error, which is reported.
  std::optional<Literal> literalOf(NetParser::QuantityContext *tree);

private:
  /// The dimension of a result. None, with an error, if there is none.
  std::optional<Dimension> dimensionOf(Tree *at, llvm::StringRef op,
                                       const Number &a, const Number &b);
  Value power(Tree *at, const Number &a, const Number &b);
  /// The result, if one of the operands is inexact.
  Value inexactResult(Tree *at, llvm::StringRef op, const Number &a,
                      const Number &b, const Dimension &dimension);
  /// A number that the operands give, if it is finite.
  Value inexact(Tree *at, llvm::StringRef op, const Number &a, const Number &b,
                double value, const Dimension &dimension);
  /// The result of exact operands. None, with an error, if there is none.
  std::optional<Polynomial> exactResult(Tree *at, llvm::StringRef op,
                                        const Number &a, const Number &b);

  Evaluator &e;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_OPERATORS_H
