// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_EVALUATOR_H
#define NETC_LIB_FRONTEND_EVALUATOR_H

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

/// Adds a note to errors while it lives.
struct ErrorNote {
  /// `present` is the innermost note, and becomes this one.
  ErrorNote(ErrorNote *&present, mlir::LocationAttr place, std::string text,
            bool isOfFiles = false)
      : place(place), text(std::move(text)), isOfFiles(isOfFiles),
        present(present), outer(std::exchange(present, this)) {}
  ErrorNote(const ErrorNote &) = delete;
  ~ErrorNote() { present = outer; }

  const mlir::LocationAttr place; ///< null if there is no note
  const std::string text;
  /// Whether errors of the command line are without the note.
  const bool isOfFiles;
  ErrorNote *&present;
  ErrorNote *const outer;
};

/// Evaluates statements and expressions, and reports errors in them. Its parts
/// are classes of their own.
class Evaluator : public NetBaseVisitor {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  Evaluator(mlir::MLIRContext *context, const FrontendOptions &options);

  /// The location of a tree in the text.
  mlir::Location locationOf(Tree *tree);
  /// The text of a token.
  const std::string &wordOf(antlr4::Token *token);
  /// Reports an error once for each position and text. Notes show the calls
  /// around it. Returns an unknown value.
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
  /// The end of a message, `; did you mean `x`?`, or empty. Finds the name in
  /// `known` by the names of other frameworks, or else by nearest().
  std::string didYouMean(llvm::StringRef name,
                         llvm::ArrayRef<std::string> known);
  /// The end of a message with the name in `known` that is spelt most like
  /// `name`, or empty.
  std::string nearest(llvm::StringRef name, llvm::ArrayRef<std::string> known);
  /// Whether errors are still shown. If not, no suggestions are searched.
  bool showsErrors() const {
    return reported.size() < options.limits.maxErrors;
  }
  /// Executes statements. Returns false if the body has returned or stopped.
  bool run(NetParser::BodyContext *body);
  bool run(NetParser::StmtContext *stmt);
  antlrcpp::Any visitBind(NetParser::BindContext *) override;
  /// The value of a condition. None if it is unknown, or no bool, which is
  /// reported.
  std::optional<bool> decide(Expr *condition);
  /// The items that a `for`, `repeat` or comprehension iterates over. None
  /// after an error.
  std::optional<std::vector<Value>> itemsOf(Tree *at, const Value &value);
  /// Takes `amount` from the budget of `--max-ops`. Returns false, with an
  /// error, if too little is left.
  bool spend(Tree *at, size_t amount);
  /// Whether the budget is enough for all `copies`, if each takes `each`.
  /// Reports an error if it is not.
  bool affords(Tree *at, size_t each, size_t copies);
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
  /// The location of `at`, or for code of the standard library, the location of
  /// its call.
  mlir::Location locationOfUse(Tree *at);
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
  Frame *frame = nullptr;
  Graph *graph = nullptr;
  unsigned graphs = 0;
  /// The part of limits.maxOps that ops, iterations and list elements used.
  size_t spent = 0;
  unsigned errors = 0;
  Tree *use = nullptr; ///< the name that is being looked up, or null
  Ranges ranges;
  llvm::DenseSet<Tree *> boundToTensors;
  /// Records new instances, if it is not null.
  std::vector<Identity *> *made = nullptr;
  ErrorNote *errorNote = nullptr; ///< the innermost note

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
  /// The numbers and words with which a block is applied, without defaults:
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
  /// The values of the names in a condition: `p = 2, k = 3`.
  std::string valuesIn(Expr *condition);
  /// Whether the names of a loop are distinct. Reports an error if not.
  bool areNames(Tree *at, const LoopNames &names);
  /// The values of the names of a loop in one iteration. One name gets the
  /// item, two get the number of the iteration and the item, more get the
  /// elements of the item. Empty after an error.
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
  /// Evaluates a link of a chain, after its left operand.
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
  Value indexTensor(NetParser::AxesContext *axes, const Value &base);
  /// The place of the axis that an index names. `indexed` are the names so far.
  std::optional<size_t> indexedAxis(NetParser::AxisContext *axis,
                                    const Tensor &tensor,
                                    llvm::StringSet<> &indexed);
  Value indexItems(NetParser::IndexContext *tree,
                   const std::vector<Value> &items, const Value &at);
  Value member(NetParser::MemberContext *tree, const Value &base);

  bool overBudget = false;
  /// Number of expressions and blocks that are being evaluated.
  unsigned depth = 0;
  llvm::StringSet<> reported;
  // Facts that depend on the text alone are cached, since a block is evaluated
  // once for each of its copies.
  std::unordered_map<Expr *, llvm::SmallVector<Expr *>> spines;
  llvm::DenseMap<Tree *, mlir::Location> locations;
  std::unordered_map<antlr4::Token *, std::string> words;
  std::unordered_map<NetParser::LitContext *, Value> literals;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_EVALUATOR_H
