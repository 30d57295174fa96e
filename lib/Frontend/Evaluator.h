// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_EVALUATOR_H
#define NETC_FRONTEND_EVALUATOR_H

#include "grammar/NetBaseVisitor.h"
#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Frontend/Applier.h"
#include "lib/Frontend/Builtins.h"
#include "lib/Frontend/Caller.h"
#include "lib/Frontend/CommandLine.h"
#include "lib/Frontend/FileLoader.h"
#include "lib/Frontend/Frame.h"
#include "lib/Frontend/NameTable.h"
#include "lib/Frontend/Operators.h"
#include "lib/Frontend/Program.h"
#include "lib/Frontend/Ranges.h"
#include "lib/Frontend/Specification.h"
#include "lib/Frontend/TensorBuilder.h"
#include "mlir/IR/Builders.h"
#include <unordered_map>

namespace netc {

/// While it lives, errors have a note.
struct ErrorNote {
  /// The innermost of those that live is `present`.
  ErrorNote(ErrorNote *&present, mlir::LocationAttr place, std::string text,
            bool isOfFiles = false)
      : place(place), text(std::move(text)), isOfFiles(isOfFiles),
        present(present), outer(std::exchange(present, this)) {}
  ErrorNote(const ErrorNote &) = delete;
  ~ErrorNote() { present = outer; }

  const mlir::LocationAttr place; ///< null: there is nothing to say
  const std::string text;
  const bool isOfFiles; ///< errors in what the command line says are without
  ErrorNote *&present;
  ErrorNote *const outer;
};

/// Evaluates statements and expressions, and says what is wrong with them. What
/// it needs for that has classes of its own, which are its parts.
class Evaluator : public NetBaseVisitor {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  Evaluator(mlir::MLIRContext *context, const FrontendOptions &options);

  mlir::Location locationOf(Tree *tree);
  /// The token's text.
  const std::string &wordOf(antlr4::Token *token);
  /// Reports once for each place and text, with the calls that led there as
  /// notes.
  Value
  fail(Tree *at, const Message &message,
       llvm::ArrayRef<std::pair<mlir::LocationAttr, std::string>> notes = {});
  template <unsigned holes, typename... Args>
  Value fail(Tree *at, const error::Text<holes> &error, const Args &...args) {
    return fail(at, error(args...));
  }
  /// `about` is the symbol of a network or run, or empty.
  void warn(Tree *at, llvm::StringRef about, WarningId id,
            const llvm::Twine &message);
  /// The one of `known` that is meant, by what others call it or by its
  /// letters:
  /// `; did you mean `x`?`, or empty.
  std::string didYouMean(llvm::StringRef name,
                         llvm::ArrayRef<std::string> known);
  /// The same by its letters alone.
  std::string nearest(llvm::StringRef name, llvm::ArrayRef<std::string> known);
  /// Whether errors are still shown: of others, it is not asked what was meant.
  bool showsErrors() const {
    return reported.size() < options.limits.maxErrors;
  }
  /// Runs the statements; false once the body has returned, or stopped.
  bool run(NetParser::BodyContext *body);
  bool run(NetParser::StmtContext *stmt);
  antlrcpp::Any visitBind(NetParser::BindContext *) override;
  std::optional<bool> decide(Expr *condition);
  /// The items that a `for`, `repeat` or comprehension goes through.
  std::optional<std::vector<Value>> itemsOf(Tree *at, const Value &value);
  /// Takes from the budget of `--max-ops`; false, with an error, when it is
  /// spent.
  bool spend(Tree *at, size_t amount);
  /// What one iteration of a loop took, the others will: whether the budget
  /// holds out.
  bool affords(Tree *at, size_t each, size_t copies);
  /// Notes that the IR must have each copy of a `repeat`.
  void needCopies() {
    if (options.rolled)
      options.rolled->areNeeded = true;
  }
  Value eval(Expr *expr);
  /// The same; `isMiddle` is set if the value depends on a `between` and is
  /// that of the middle.
  Value eval(Expr *expr, bool &isMiddle);
  /// The same; `read` are the ranges that the value depends on, which what is
  /// around it does not learn of.
  Value eval(Expr *expr, std::vector<Tree *> &read);
  /// Where `at` stands; of what stands in the standard library, where that was
  /// called.
  mlir::Location locationOfUse(Tree *at);
  /// Makes names those of the top level of `file`, for as long as it lives.
  struct TopScope {
    TopScope(Evaluator &e, FileScope &file);
    Scope scope;
    Frame frame;
    InFrame in;
  };
  /// The same, and `entry` the place that ops are added to.
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
  Frame *frame = nullptr;
  Graph *graph = nullptr;
  unsigned graphs = 0;
  size_t spent =
      0; ///< of limits.maxOps: ops, iterations of loops and list elements
  unsigned errors = 0;
  Tree *use = nullptr; ///< the name that is being looked up, where one is
  Ranges ranges;
  llvm::DenseSet<Tree *> boundToTensors;
  /// Where what is made now is noted, if something asks for it.
  std::vector<Identity *> *made = nullptr;
  ErrorNote *errorNote = nullptr; ///< the innermost

  Operators operators{*this};
  NameTable nameTable{*this};
  FileLoader files{*this};
  Caller calls{*this};
  Applier applier{*this};
  CommandLine commandLine{*this};
  Program program{*this};
  TensorBuilder tensors{*this};
  Builtins builtins{*this};

private:
  using LoopNames = std::vector<antlr4::tree::TerminalNode *>;
  /// The numbers and words that a block is applied with, other than defaults:
  /// `out = 3, k = 64`.
  std::string settingsOf(const Frame &inner);
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
  /// `p = 2, k = 3`: what the names in a condition are.
  std::string valuesIn(Expr *condition);
  /// False, and an error, if two names of a loop are one.
  bool areNames(Tree *at, const LoopNames &names);
  /// What the names of a loop are in one iteration: of one the item, of two the
  /// iteration and the item, of more the elements of the item. Empty after an
  /// error.
  std::vector<Value> valuesOf(Tree *at, const LoopNames &names,
                              size_t iteration, const Value &item);
  antlrcpp::Any visitNeg(NetParser::NegContext *) override;
  antlrcpp::Any visitNot(NetParser::NotContext *) override;
  antlrcpp::Any visitCond(NetParser::CondContext *) override;
  antlrcpp::Any visitRepeat(NetParser::RepeatContext *) override;
  antlrcpp::Any visitScan(NetParser::ScanContext *) override;
  antlrcpp::Any visitLit(NetParser::LitContext *) override;
  antlrcpp::Any visitStr(NetParser::StrContext *) override;
  antlrcpp::Any visitBool(NetParser::BoolContext *) override;
  antlrcpp::Any visitRef(NetParser::RefContext *) override;
  antlrcpp::Any visitParen(NetParser::ParenContext *) override;
  antlrcpp::Any visitList(NetParser::ListContext *) override;
  antlrcpp::Any visitRec(NetParser::RecContext *) override;
  /// A link of a chain whose left operand, if it has one, is evaluated.
  Value evalLink(Expr *link, const Value &left);
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
  Value member(NetParser::MemberContext *tree, const Value &base);

  bool overBudget = false;
  unsigned depth = 0; ///< expressions and blocks being evaluated
  llvm::StringSet<> reported;
  // A block is walked once for each of its copies: what depends on the text
  // alone is kept.
  std::unordered_map<Expr *, llvm::SmallVector<Expr *>> spines;
  llvm::DenseMap<Tree *, mlir::Location> locations;
  std::unordered_map<antlr4::Token *, std::string> words;
  std::unordered_map<NetParser::LitContext *, Value> literals;
};

} // namespace netc

#endif // NETC_FRONTEND_EVALUATOR_H
