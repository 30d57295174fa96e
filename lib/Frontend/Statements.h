// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_STATEMENTS_H
#define NETC_LIB_FRONTEND_STATEMENTS_H

#include "grammar/NetBaseVisitor.h"
#include "llvm/ADT/DenseSet.h"

#include <string>

namespace netc {

class Evaluator;

/// Executes statements in the present frame.
class Statements : private NetBaseVisitor {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  explicit Statements(Evaluator &e) : e(e) {}

  /// Executes statements. Returns false if the body has returned or stopped.
  bool run(NetParser::BodyContext *body);
  bool run(NetParser::StmtContext *stmt);
  /// Whether a target of a `=` was bound to a tensor.
  bool isBoundToTensor(Tree *target) const {
    return boundToTensors.contains(target);
  }

private:
  antlrcpp::Any visitBind(NetParser::BindContext *) override;
  antlrcpp::Any visitReturn(NetParser::ReturnContext *) override;
  antlrcpp::Any visitYield(NetParser::YieldContext *) override;
  antlrcpp::Any visitIfStmt(NetParser::IfStmtContext *) override;
  antlrcpp::Any visitForStmt(NetParser::ForStmtContext *) override;
  antlrcpp::Any visitExpect(NetParser::ExpectContext *) override;
  antlrcpp::Any visitRequire(NetParser::RequireContext *) override;
  antlrcpp::Any visitSweep(NetParser::SweepContext *) override;
  antlrcpp::Any visitJobStmt(NetParser::JobStmtContext *) override;
  void runIf(Expr *condition, NetParser::BodyContext *then,
             NetParser::BodyContext *otherwise, NetParser::IfTailContext *tail);
  /// The values of the names in a condition: `p = 2, k = 3`.
  std::string valuesIn(Expr *condition);

  Evaluator &e;
  llvm::DenseSet<Tree *> boundToTensors;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_STATEMENTS_H
