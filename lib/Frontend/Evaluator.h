// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_EVALUATOR_H
#define NETC_LIB_FRONTEND_EVALUATOR_H

#include "grammar/NetBaseVisitor.h"
#include "lib/Frontend/Applier.h"
#include "lib/Frontend/Budget.h"
#include "lib/Frontend/Builtins.h"
#include "lib/Frontend/Caller.h"
#include "lib/Frontend/CommandLine.h"
#include "lib/Frontend/FileLoader.h"
#include "lib/Frontend/Frame.h"
#include "lib/Frontend/NameTable.h"
#include "lib/Frontend/Operators.h"
#include "lib/Frontend/PrecisionReader.h"
#include "lib/Frontend/Program.h"
#include "lib/Frontend/Ranges.h"
#include "lib/Frontend/Reporter.h"
#include "lib/Frontend/Specification.h"
#include "lib/Frontend/Statements.h"
#include "lib/Frontend/TensorBuilder.h"
#include "mlir/IR/Builders.h"
#include <unordered_map>

namespace netc {

/// Evaluates expressions. What else elaboration consists of are classes of
/// their own, each of which has a reference to it.
class Evaluator : public NetBaseVisitor, public Reporter {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  Evaluator(mlir::MLIRContext *context, const FrontendOptions &options);

  /// The text of a token.
  const std::string &wordOf(antlr4::Token *token);
  /// The value of a condition. None if it is unknown, or no bool, which is
  /// reported.
  std::optional<bool> decide(Expr *condition);
  /// The items that a `for`, `repeat` or comprehension iterates over. None
  /// after an error.
  std::optional<std::vector<Value>> itemsOf(Tree *at, const Value &value);
  using LoopNames = std::vector<antlr4::tree::TerminalNode *>;
  /// Whether the names of a loop are distinct. Reports an error if not.
  bool areNames(Tree *at, const LoopNames &names);
  /// The values of the names of a loop in one iteration. One name gets the
  /// item, two get the number of the iteration and the item, more get the
  /// elements of the item. Empty after an error.
  std::vector<Value> valuesOf(Tree *at, const LoopNames &names,
                              size_t iteration, const Value &item);
  /// Records that the IR must have each copy of a `repeat`.
  void needCopies() {
    if (options.rolled)
      options.rolled->areNeeded = true;
  }
  /// Evaluates an expression. Returns an unknown value after an error.
  Value eval(Expr *expr);
  /// Evaluates `expr`. Sets `isMiddle` if the value depends on a `between`, and
  /// is the one for its middle.
  Value eval(Expr *expr, bool &isMiddle);
  /// Evaluates `expr`. Sets `read` to the ranges that the value depends on, and
  /// does not record them in the collection around it.
  Value eval(Expr *expr, std::vector<Tree *> &read);
  /// Evaluates names at the top level of `file` while it lives.
  struct TopScope {
    TopScope(Evaluator &e, FileScope &file);
    Scope scope;
    Frame frame;
    InFrame in;
  };
  /// A TopScope in which ops are added to `entry`.
  struct GraphScope : TopScope {
    GraphScope(Evaluator &e, FileScope &file, mlir::Block *entry);
    mlir::OpBuilder::InsertionGuard guard;
    Graph graph;
    llvm::SaveAndRestore<Graph *> in;
  };

  mlir::MLIRContext *context;
  const FrontendOptions options;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The network or step to which ops are being added; null if there is none.
  Graph *graph = nullptr;
  Ranges ranges;

  Budget budget{*this};
  Statements statements{*this};
  Operators operators{*this};
  NameTable nameTable{*this};
  FileLoader files{*this};
  Caller calls{*this};
  Applier applier{*this};
  CommandLine commandLine{*this};
  PrecisionReader precisions{*this};
  Program program{*this};
  TensorBuilder tensors{*this};
  Builtins builtins{*this};

private:
  std::string settingsOf(const Frame &inner) override;
  antlrcpp::Any visitNeg(NetParser::NegContext *) override;
  antlrcpp::Any visitNot(NetParser::NotContext *) override;
  antlrcpp::Any visitCond(NetParser::CondContext *) override;
  antlrcpp::Any visitRepeat(NetParser::RepeatContext *) override;
  antlrcpp::Any visitScan(NetParser::ScanContext *) override;
  antlrcpp::Any visitStr(NetParser::StrContext *) override;
  antlrcpp::Any visitBool(NetParser::BoolContext *) override;
  antlrcpp::Any visitParen(NetParser::ParenContext *) override;
  antlrcpp::Any visitList(NetParser::ListContext *) override;
  antlrcpp::Any visitRec(NetParser::RecContext *) override;
  /// Evaluates a link of a chain, after its left operand.
  Value evalLink(Expr *link, const Value &left);
  Value evalRef(NetParser::RefContext *tree);
  Value evalLit(NetParser::LitContext *tree);
  Value evalCall(NetParser::CallContext *tree, const Value &left);
  Value evalPow(NetParser::PowContext *tree, const Value &left);
  Value evalMul(NetParser::MulContext *tree, const Value &left);
  Value evalAdd(NetParser::AddContext *tree, const Value &left);
  Value evalRange(NetParser::RangeContext *tree, const Value &left);
  Value evalCmp(NetParser::CmpContext *tree, const Value &left);
  Value evalAnd(NetParser::AndContext *tree, const Value &left);
  Value evalOr(NetParser::OrContext *tree, const Value &left);
  Value evalPipe(NetParser::PipeContext *tree, const Value &left);
  Value index(NetParser::IndexContext *tree, const Value &base);
  Value indexTensor(NetParser::AxesContext *axes, const Value &base);
  /// The place of the axis that an index names. `indexed` are the names so far.
  std::optional<size_t> indexedAxis(NetParser::AxisContext *axis,
                                    const Tensor &tensor,
                                    llvm::StringSet<> &indexed);
  Value indexItems(NetParser::IndexContext *tree,
                   const std::vector<Value> &items, const Value &at);
  Value member(NetParser::MemberContext *tree, const Value &base);

  unsigned graphs = 0;
  /// Number of expressions and blocks that are being evaluated.
  unsigned depth = 0;
  // Facts that depend on the text alone are cached, since a block is evaluated
  // once for each of its copies. Chains have a spine.
  std::unordered_map<Expr *, llvm::SmallVector<Expr *>> spines;
  std::unordered_map<antlr4::Token *, std::string> words;
  std::unordered_map<NetParser::LitContext *, Number> literals;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_EVALUATOR_H
