// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_BUDGET_H
#define NETC_LIB_FRONTEND_BUDGET_H

#include "antlr4-runtime.h"

namespace netc {

class Evaluator;

/// The part of `--max-ops` that ops, iterations and list elements used.
class Budget {
public:
  using Tree = antlr4::ParserRuleContext;

  explicit Budget(Evaluator &e) : e(e) {}

  size_t spent() const { return used; }
  /// Takes `amount`. Returns false, with an error, if too little is left.
  bool spend(Tree *at, size_t amount);
  /// Whether the budget is enough for all `copies`, if each takes `each`.
  /// Reports an error if it is not.
  bool affords(Tree *at, size_t each, size_t copies);

private:
  Evaluator &e;
  size_t used = 0;
  bool isExceeded = false;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_BUDGET_H
