// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_ELABORATOR_H
#define NETC_FRONTEND_ELABORATOR_H

#include "grammar/NetBaseVisitor.h"
#include "lib/Frontend/Ranges.h"
#include "lib/Frontend/Resolver.h"
#include "lib/Frontend/Specification.h"
#include "lib/Frontend/Value.h"
#include "lib/Warnings/Warnings.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"
#include <deque>
#include <unordered_map>

namespace netc {

struct FileScope;

/// A name of a file's top level. Its value is computed on demand, once; that of
/// an instance once per network, since a network owns its weights.
struct TopLevel {
  enum State { Untouched, InProgress, Done };
  std::string name;
  antlr4::ParserRuleContext *tree =
      nullptr; ///< a declaration, section, job or binding
  State state = Untouched;
  bool isPerGraph = false;                         ///< it holds an instance
  std::vector<antlr4::ParserRuleContext *> ranges; ///< `between`s in it
  unsigned graph =
      0; ///< the network that it was computed for, 0 outside of any
  Value value;
};

struct FileScope {
  explicit FileScope(std::unique_ptr<SourceFile> source)
      : source(std::move(source)), resolver(this->source->tree()),
        path(this->source->path) {}

  std::unique_ptr<SourceFile> source;
  Resolver resolver;
  std::string path;
  llvm::MapVector<std::string, TopLevel, llvm::StringMap<unsigned>> names;
  std::vector<FileScope *> imports;
  llvm::StringMap<FileScope *> qualified;
  std::deque<BlockDecl> blocks;
};

/// The names of one body. A scan's body reads those of the body around it.
struct Scope {
  Scope *outer = nullptr;
  llvm::StringMap<Value> names;
  llvm::StringSet<> fixed;     ///< loop variables: they may not be bound again
  llvm::StringSet<> carried;   ///< of a scan: what each turn hands to the next
  llvm::StringMap<Value> next; ///< of a scan: the `h'` assigned so far
  bool isScan = false;
};

/// What names of networks and runs stand for where results are known.
class ResultScope {
public:
  virtual ~ResultScope() = default;
  virtual bool isResult(llvm::StringRef name) const = 0;
  /// The answer to a question; unknown after an error, or without one.
  virtual Value answer(antlr4::ParserRuleContext *at,
                       const Subject &subject) = 0;
};

/// A body that is being elaborated: of a block, a net, or a top-level value.
struct Frame {
  /// With the results that are known where `outer` is elaborated.
  explicit Frame(const Frame *outer = nullptr)
      : results(outer ? outer->results : nullptr) {}

  Frame *caller = nullptr;
  FileScope *file = nullptr;
  const BlockDecl *block = nullptr;
  Identity *self = nullptr;
  Scope *scope = nullptr;
  unsigned application = 0; ///< which one of a block this is, from 1
  std::vector<int64_t> turns;
  bool frozen = false;
  std::string
      hint; ///< the variable being bound, which names a weight made for it
  mlir::LocationAttr calledFrom;
  std::optional<ResultList> returned;
  std::optional<std::vector<Value>> yielded;
  /// What follows in the body is not known: a requirement failed, or a
  /// condition is undecided.
  bool stopped = false;
  ResultScope *results; ///< in an `expect`, else null
};

/// The arguments of one call, evaluated.
struct Argument {
  std::string name; ///< empty if positional
  Value value;
  antlr4::ParserRuleContext *at;
  bool behindSemicolon = false;

  /// Where `name = value` begins.
  antlr4::ParserRuleContext *nameAt() const {
    auto *named = ruleCast<NetParser::ArgContext>(at->parent);
    return named ? named : at;
  }
};

/// An argument of a call, as it is written.
struct WrittenArgument {
  std::string name; ///< empty if positional
  NetParser::ExprContext *expr;
  /// The labels of `over = [H, W]`, which need not be in scope.
  std::vector<NetParser::ExprContext *> labels;
  bool behindSemicolon;
};

/// A parameter of a block or an op, as calls see it.
struct Parameter {
  std::string name;
  bool required = true;
  bool variadic = false;
  std::vector<std::string> words;
  NetParser::ParamContext *tree = nullptr; ///< of a block
  const Setting *setting = nullptr;        ///< of an op
  NetParser::ExprContext *given = nullptr; ///< by `--set`, as its default
};
struct Parameters {
  std::vector<Parameter> tensors, settings;
};

/// A loop over an axis whose weights get that axis in front: `each`.
struct EachLoop {
  Polynomial size;
  mlir::Block *body;
  std::vector<mlir::Value> sequences;
};

/// The network or step that ops are being added to.
struct Graph {
  unsigned id;
  mlir::Block *entry;
  mlir::Operation *lastWeight = nullptr; ///< weights stand first, in order
  std::shared_ptr<Identity> file;        ///< what the file's top level makes
  std::shared_ptr<Identity> root; ///< the net, at first the file's top level
  std::vector<EachLoop *> loops;
  mlir::Value step; ///< while an optimizer is elaborated: the step number
  std::optional<Rational> steps; ///< and how many there are, if that is known
  std::string parameterKind;     ///< and `matrix`, .., where it takes a matrix
  bool training = true;          ///< what an `infer` does goes only forward
  unsigned recomputed = 0;       ///< parts that are run again
  bool marksCopies = false;      ///< ops say which copy they are of
  bool isInCopy = false;
};

/// One `expect` or `require` of the top level or of a run.
struct Expectation {
  NetParser::ExpectContext *tree;
  FileScope *file;
};

/// An input of a net, as its signature declares it.
struct NetInput {
  std::string name;
  mlir::Type element;
  Shape shape;
  Labels labels;
  NetParser::ParamContext *tree;
};

/// `name = value` of a dataset or hardware section.
struct SectionEntry {
  std::string name;
  Value value;
  antlr4::ParserRuleContext *at;
};

/// As diagnostics call what the options say, each in a line.
inline constexpr const char *commandLinePath = "<command line>";

/// What `--set` gives instead of what the file says: `run.batch=64,128`.
struct Override {
  std::string owner; ///< `gan.critic`, or a net
  std::string name;  ///< of a key, an axis or a setting
  NetParser::SettingContext *tree;
  NetParser::JobContext *job = nullptr; ///< the owner; null: a net
  std::optional<Moments> size = {};     ///< that it gives an axis of a net
  bool isUsed = false;                  ///< it changes something of a net

  bool isList() const { return tree->expr().size() > 1; }
  NetParser::NameContext *nameAt() const { return tree->path()->name().back(); }
};

/// What a name is at a point of a sweep: a value, or a text that stands for it
/// in `job`.
struct Varied {
  std::string name;
  Value value;
  NetParser::ExprContext *text = nullptr;
  NetParser::JobContext *job = nullptr; ///< of a text
  const Override *by = nullptr;         ///< null: the file
};
/// What a point of a sweep sets: keys, axes, settings, constants.
using Point = std::vector<Varied>;

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

private:
  ErrorNote *&present;

public:
  ErrorNote *const outer;
};

/// While it lives, names of a file's top level are computed anew; then they are
/// again what they were.
class Recomputation {
public:
  Recomputation(FileScope &file,
                llvm::function_ref<bool(const TopLevel &)> isStale) {
    for (auto &[name, entry] : file.names)
      if (isStale(entry)) {
        before.push_back({&entry, entry});
        entry.state = TopLevel::Untouched;
      }
  }
  Recomputation(const Recomputation &) = delete;
  ~Recomputation() {
    for (auto &[entry, old] : before)
      *entry = old;
  }

private:
  std::vector<std::pair<TopLevel *, TopLevel>> before;
};

/// `layer[0].conv` as the path of an instance, `layer.0.conv`.
std::string pathOf(NetParser::ExprContext *expr);

class Elaborator;
struct Builtin {
  llvm::StringRef name;
  Value (Elaborator::*call)(antlr4::ParserRuleContext *at,
                            std::vector<Argument> &arguments);
  /// Its first argument is a tensor, which may be piped in.
  bool takesTensor;
  /// It takes lists of anything, though an op has its name.
  bool takesList = false;
};

/// Reads files and turns them into networks and steps. The parts of the
/// language are in files of their own: Expressions, Calls, Ops, Shapes,
/// Builtins, Loops, Runs.
class Elaborator : public NetBaseVisitor {
public:
  Elaborator(mlir::MLIRContext *context, const FrontendOptions &options);

  bool load(llvm::StringRef path);
  mlir::ModuleOp getModule() { return *module; }
  llvm::ArrayRef<std::string> getNetworks() { return networks; }
  llvm::ArrayRef<std::string> getRuns() { return runs; }
  std::vector<std::string> settableNames() const;

  // Built-ins, by their table in Builtins.cpp.
  Value callLen(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callSum(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callMin(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callMax(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callReverse(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callLast(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callDropLast(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callZip(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callSqrt(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callExp(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callLog(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callFloor(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callCeil(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callRound(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callAbs(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callLog2(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callMean(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callClass(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callAxes(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callFeature(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callWindow(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callSpread(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callPosition(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callParameter(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callBuffer(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callArange(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callFloat(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callKind(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callTable(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callTensor(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callZeros(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callOnes(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callFull(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callReshape(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callFlatten(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callRearrange(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callExpand(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callMap(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callEach(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callFreeze(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callRecomputed(antlr4::ParserRuleContext *, std::vector<Argument> &);
  /// A copy of the block that is the only argument of `function`; null after an
  /// error.
  std::shared_ptr<Instance> copyOfBlock(antlr4::ParserRuleContext *at,
                                        llvm::StringRef function,
                                        const std::vector<Argument> &arguments);
  Value callOpaque(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callBetween(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callHistogram(antlr4::ParserRuleContext *, std::vector<Argument> &);

  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  //===--- diagnostics
  //-----------------------------------------------------===//
  mlir::Location locationOf(Tree *tree);
  /// The token's text.
  const std::string &wordOf(antlr4::Token *token);
  /// Reports once for each place and text, with the calls that led there as
  /// notes.
  Value
  fail(Tree *at, const llvm::Twine &message,
       llvm::ArrayRef<std::pair<mlir::LocationAttr, std::string>> notes = {});
  /// `about` is the symbol of a network or run, or empty.
  void warn(Tree *at, llvm::StringRef about, llvm::StringRef id,
            const llvm::Twine &message);
  /// The numbers and words that a block is applied with, other than defaults:
  /// `out = 3, k = 64`.
  std::string settingsOf(const Frame &inner);
  /// What `check` reports, instead of reporting it; nullopt if it succeeds.
  std::optional<std::string>
  complaintOf(llvm::function_ref<mlir::LogicalResult()> check);
  /// The one of `known` that is meant, by what others call it or by its
  /// letters:
  /// `; did you mean `x`?`, or empty.
  std::string didYouMean(llvm::StringRef name,
                         llvm::ArrayRef<std::string> known);
  /// The same by its letters alone.
  std::string nearest(llvm::StringRef name, llvm::ArrayRef<std::string> known);
  /// That nothing in scope has the name, and what may be meant.
  std::string unknownName(llvm::StringRef name);

  //===--- files and names (Elaborator.cpp)
  //--------------------------------===//
  /// Reports it.
  std::nullopt_t cannotRead(llvm::StringRef path, mlir::Location at,
                            llvm::StringRef why);
  /// The text of a regular file, or of the standard input, within the limit.
  std::optional<std::string> readText(llvm::StringRef path, mlir::Location at);
  FileScope *readFile(llvm::StringRef path, mlir::LocationAttr importedAt);
  /// The path of a file that the present one names: below its folder.
  std::optional<std::string> pathBeside(Tree *at, llvm::StringRef name);
  FileScope *addFile(llvm::StringRef path, llvm::StringRef text);
  /// The file of a block that needs no import, or null. Of these only what is
  /// used is read, since reading all takes a fifth of an estimate.
  FileScope *preludeBlock(llvm::StringRef name);
  FileScope *import(NetParser::ImportDeclContext *tree, FileScope &into);
  bool declare(FileScope &file);
  std::optional<Value> lookup(llvm::StringRef name);
  std::optional<Value> lookupBody(llvm::StringRef name);
  std::optional<Value> lookupFile(FileScope &file, llvm::StringRef name);
  std::optional<Value> lookupBuiltin(llvm::StringRef name);
  void addBuiltinNames(std::vector<std::string> &names);
  Value valueOf(FileScope &file, TopLevel &entry);
  /// Its value, and a note of the ranges in it. A net may have none.
  Value used(const TopLevel &entry);
  Value ambiguous(llvm::StringRef name, FileScope &a, FileScope &b);
  std::vector<std::string> visibleNames();
  void bind(Tree *at, llvm::StringRef name, Value value);
  /// The value under the pattern `type` of a binding or returned item.
  Value matched(Expr *type, const Value &value);

  //===--- statements (Statements.cpp)
  //-------------------------------------===//
  /// Runs the statements; false once the body has returned, or stopped.
  bool run(NetParser::BodyContext *body);
  bool run(NetParser::StmtContext *stmt);
  antlrcpp::Any visitReturn(NetParser::ReturnContext *) override;
  antlrcpp::Any visitYield(NetParser::YieldContext *) override;
  antlrcpp::Any visitIfStmt(NetParser::IfStmtContext *) override;
  antlrcpp::Any visitForStmt(NetParser::ForStmtContext *) override;
  antlrcpp::Any visitExpect(NetParser::ExpectContext *) override;
  antlrcpp::Any visitRequire(NetParser::RequireContext *) override;
  antlrcpp::Any visitSweep(NetParser::SweepContext *) override;
  antlrcpp::Any visitJobStmt(NetParser::JobStmtContext *) override;
  antlrcpp::Any visitBind(NetParser::BindContext *) override;
  void runIf(Expr *condition, NetParser::BodyContext *then,
             NetParser::BodyContext *otherwise, NetParser::IfTailContext *tail);
  std::optional<bool> decide(Expr *condition);
  /// `p = 2, k = 3`: what the names in a condition are.
  std::string valuesIn(Expr *condition);
  /// `, which lacks `target``: why an instance has not been applied; else
  /// empty.
  std::string lackOf(const Value &value);
  using LoopNames = std::vector<antlr4::tree::TerminalNode *>;
  /// False, and an error, if two names of a loop are one.
  bool areNames(Tree *at, const LoopNames &names);
  /// What the names of a loop are in one turn: of one the item, of two the turn
  /// and the item, of more the elements of the item. Empty after an error.
  std::vector<Value> valuesOf(Tree *at, const LoopNames &names, size_t turn,
                              const Value &item);
  /// The items that a `for`, `repeat` or comprehension goes through.
  std::optional<std::vector<Value>> itemsOf(Tree *at, const Value &value);
  /// Takes from the budget of `--max-ops`; false, with an error, when it is
  /// spent.
  bool spend(Tree *at, size_t amount);
  /// What one turn of a loop took, the others will: whether the budget holds
  /// out.
  bool affords(Tree *at, size_t each, size_t copies);

  //===--- expressions (Expressions.cpp)
  //-----------------------------------===//
  Value eval(Expr *expr);
  /// The same; `isMiddle` is set if the value depends on a `between` and is
  /// that of the middle.
  Value eval(Expr *expr, bool &isMiddle);
  /// The same; `read` are the ranges that the value depends on, which what is
  /// around it does not learn of.
  Value eval(Expr *expr, std::vector<Tree *> &read);
  antlrcpp::Any visitCall(NetParser::CallContext *) override;
  antlrcpp::Any visitIndex(NetParser::IndexContext *) override;
  antlrcpp::Any visitMember(NetParser::MemberContext *) override;
  antlrcpp::Any visitPow(NetParser::PowContext *) override;
  antlrcpp::Any visitNeg(NetParser::NegContext *) override;
  antlrcpp::Any visitMul(NetParser::MulContext *) override;
  antlrcpp::Any visitAdd(NetParser::AddContext *) override;
  antlrcpp::Any visitRange(NetParser::RangeContext *) override;
  antlrcpp::Any visitCmp(NetParser::CmpContext *) override;
  antlrcpp::Any visitNot(NetParser::NotContext *) override;
  antlrcpp::Any visitAnd(NetParser::AndContext *) override;
  antlrcpp::Any visitOr(NetParser::OrContext *) override;
  antlrcpp::Any visitPipe(NetParser::PipeContext *) override;
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
  Value takeLeft() { return std::move(left); }
  /// The number that an `expect` asks for; other values as they are.
  Value resolve(Tree *at, const Value &value);
  Value binary(Tree *at, llvm::StringRef op, const Value &a, const Value &b);
  Value arithmetic(Tree *at, llvm::StringRef op, const Number &a,
                   const Number &b);
  Value compare(Tree *at, llvm::StringRef op, const Value &a, const Value &b);
  std::optional<Literal> literalOf(NetParser::QuantityContext *tree);
  Value index(NetParser::IndexContext *tree, const Value &base);
  Value member(NetParser::MemberContext *tree, const Value &base);

  //===--- calls (Calls.cpp)
  //-----------------------------------------------===//
  const Parameters &parametersOf(const Function &function);
  const std::vector<WrittenArgument> &argumentsOf(NetParser::ArgsContext *args);
  std::vector<Argument> evalArguments(NetParser::ArgsContext *args,
                                      const Value &callee);
  Value evalArgument(Expr *expr, llvm::StringRef name, const Value &callee);
  /// That a setting of `function` has words and the value is none of them, or
  /// is a flag and the value a number; else empty.
  std::string mistakeIn(const Parameter &setting, const Function &function,
                        const Value &value);
  /// Whether all tensors of a block are numbers, or it has none: then it
  /// computes with them what they are, wherever it stands.
  bool isOfNumbers(const Instance &instance);
  Value call(Tree *at, const Value &callee, std::vector<Argument> arguments);
  /// A dataset with its parameters.
  Value callSection(Tree *at, Section section,
                    llvm::ArrayRef<Argument> arguments);
  Value callBuiltin(Tree *at, const Function &function,
                    std::vector<Argument> arguments);
  Value pipe(Tree *at, Value value, const Value &into);
  std::shared_ptr<Instance> instantiate(Tree *at, const Value &callee);
  std::shared_ptr<Instance> instantiateAt(Tree *at, const Value &callee,
                                          int64_t part);
  Value evalDefault(const Parameter &parameter);
  /// `expr`, which may be one of the parameter's words.
  Value evalSetting(const Parameter &parameter, Expr *expr);
  Value compose(Tree *at, std::vector<Value> parts);
  /// `params(tables)`, `by_time(utilization = 30%)`: arguments of a question.
  Value askWith(const Subject &subject, NetParser::ArgsContext *args);
  bool bindArguments(Tree *at, Instance &instance,
                     std::vector<Argument> &arguments);
  bool completeSettings(Tree *at, Instance &instance);
  bool isComplete(const Instance &instance);
  /// An optimizer inside another gets the number of the step.
  void giveStep(Instance &instance);
  Value applyIfComplete(Tree *at, std::shared_ptr<Instance> instance);
  Value apply(Tree *at, Instance &instance);
  Value applyBlock(Tree *at, Instance &instance);
  /// Marks what `application` adds to the graph as a part that is run again.
  Value applyRecomputed(Tree *at, llvm::function_ref<Value()> application);
  /// One of several of a kind, which are called by numbers; the outermost.
  Value applyCopy(const Identity &copy,
                  llvm::function_ref<Value()> application);
  /// Sets an attribute of what the application adds to the graph.
  Value applyMarking(llvm::StringRef name,
                     llvm::function_ref<mlir::Attribute()> mark,
                     llvm::function_ref<Value()> application);
  Value applyComposition(Tree *at, Instance &instance, Value value);
  Value applyParts(Tree *at, Instance &instance, Value value);
  void enter(Identity &identity, llvm::StringRef fallback, Tree *at);
  /// An unapplied instance is named by the variable it is bound to, `tables.3`
  /// in a list.
  void nameInstance(Identity &parent, const Value &value,
                    const std::string &name);
  std::string unique(Identity &parent, llvm::StringRef name);
  std::shared_ptr<Identity> identityAt(Tree *at, int64_t part = 0);
  /// The value of what has a name, or is in a `repeat` or a list. If it is a
  /// block, the blocks that it is handed there are a part of it.
  Value evalOwner(Expr *expr);
  Value resultsOf(ResultList results);

  //===--- ops (Ops.cpp)
  //---------------------------------------------------===//
  Value applyOp(Tree *at, Instance &instance);
  /// Adds `net.op`, named by `where` or by its place, and labels its results.
  Value emit(Tree *at, llvm::StringRef op, llvm::ArrayRef<Tensor> operands,
             llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
             const Label &as = {}, mlir::LocationAttr where = {});
  mlir::Attribute attributeOf(Tree *at, const Setting &setting,
                              const Value *value,
                              const std::vector<Tensor> &operands,
                              size_t windowAxes, llvm::StringRef op);
  std::optional<int64_t> axisOf(Tree *at, const Value &value,
                                const Tensor &tensor);
  std::optional<std::vector<int64_t>> axesOf(Tree *at, const Value *value,
                                             llvm::StringRef rule,
                                             const Tensor &tensor);
  /// `[64, 3, N]` and `[N, C = 3, 224]`, for messages.
  static std::string sizesText(const Shape &shape);
  static std::string axesText(const Tensor &tensor);
  /// `f32` and `bool`.
  static std::string elementText(mlir::Type element);
  /// What MLIR says of an operand that the definition of an op does not take,
  /// in the words of the language; other complaints as they are.
  static std::string operandComplaint(llvm::StringRef complaint,
                                      llvm::StringRef op,
                                      llvm::ArrayRef<Tensor> operands);
  /// The type of a tensor of this shape, if netc takes such sizes.
  std::optional<mlir::RankedTensorType> tensorType(Tree *at, mlir::Type element,
                                                   const Shape &shape);
  mlir::Location opLocation(Tree *at, llvm::StringRef name);
  /// Where `at` stands; of what stands in the standard library, where that was
  /// called.
  mlir::Location locationOfUse(Tree *at);
  /// The value as an operand: a number becomes a scalar, a schedule is applied.
  Value tensorFor(Tree *at, const Value &value, mlir::Type element);
  /// The value of a schedule at the step that is being elaborated.
  Value scheduled(Tree *at, const Value &schedule);
  Tensor constant(Tree *at, double value, mlir::RankedTensorType type,
                  Labels labels);
  Value tensorArithmetic(Tree *at, llvm::StringRef op, const Value &a,
                         const Value &b);
  /// Whether windows slide over an axis of that label by default.
  static bool isWindow(const Label &label);
  /// Whether two axes may be one: not if they have different labels.
  static bool canMeet(const Label &a, const Label &b);
  /// The same of each axis of two tensors of one rank, or an error.
  bool doMeet(Tree *at, llvm::StringRef op, const Tensor &a, const Tensor &b);
  /// A tensor of this type, full of the number; else reports.
  std::optional<Tensor> fullOf(Tree *at, llvm::StringRef op,
                               const Value &number, mlir::RankedTensorType type,
                               const Labels &labels);
  /// Whether it is an op that takes numbers for tensors full of them.
  bool isElementByElement(const Function &function) const;
  /// The operands of an op that works element by element, brought to one shape.
  std::optional<std::vector<Tensor>>
  elementByElement(Tree *at, llvm::StringRef op, llvm::ArrayRef<Value> values);
  /// Brings two operands to one shape, by labels if all axes have one.
  bool align(Tree *at, llvm::StringRef op, Tensor &a, Tensor &b);
  Value matmul(Tree *at, const Tensor &a, const Tensor &b);
  Value weight(Tree *at, std::vector<Argument> &arguments, bool isParameter);
  /// The word that an argument `init` is; reports what is none.
  std::optional<std::string> initOf(Argument &argument);
  Identity *appliedAgain(Identity &self) const;

  //===--- shapes (Shapes.cpp)
  //---------------------------------------------===//
  struct Sizes {
    Shape shape;
    Labels labels;
  };
  std::optional<Sizes> sizesOf(Tree *at, llvm::ArrayRef<Value> values);
  std::optional<Polynomial> sizeOf(Tree *at, const Value &value);
  std::optional<Polynomial> sizeInScope(llvm::StringRef name);
  static void dropDoubled(Labels &labels);
  /// A type, or a pattern, which is one without an element type.
  std::optional<TypeValue> typeOf(Expr *expr);
  /// The shape that a type declares. In a net an unknown name is a new free
  /// symbol, and the names of axes are bound.
  std::optional<Sizes> declare(const TypeValue &type, bool isNet);
  /// Binds the pattern's names and returns the tensor under its labels. A
  /// parameter's axes have these until the block returns.
  std::optional<Tensor> match(const TypeValue &pattern, const Tensor &tensor,
                              Tree *at, bool isParameter);
  /// The label that a pattern in a body writes on an axis of this label and
  /// size.
  Label written(const std::string &name, const Label &old,
                const Polynomial &size);
  /// What a block returns, under the labels of its caller.
  static Value restored(const Value &value, unsigned application);
  Value reshaped(Tree *at, const Tensor &tensor, const Sizes &sizes);
  Tensor transposed(Tree *at, const Tensor &tensor,
                    llvm::ArrayRef<int64_t> order);
  Tensor broadcasted(Tree *at, const Tensor &tensor, const Sizes &sizes,
                     llvm::ArrayRef<int64_t> axes);
  Value slice(Tree *at, const Tensor &tensor, int64_t axis, const Value &index);
  /// The axis labelled `C`, else the last.
  static size_t featureAxis(const Tensor &tensor);
  /// Why that is none to take by default, for it is labelled for something
  /// else; empty if it may be taken.
  static std::string whyNoFeature(const Tensor &tensor);
  /// The labels that have a text.
  static std::vector<std::string> namesOf(const Labels &labels);
  static std::optional<size_t> find(const Tensor &tensor,
                                    llvm::StringRef label);

  //===--- built-ins and loops (Builtins.cpp, Loops.cpp)
  //-------------------===//
  std::optional<std::vector<Value>>
  listArgument(Tree *at, std::vector<Argument> &arguments);
  /// A list, or two numbers and more in place of one.
  std::optional<std::vector<Value>>
  numberArguments(Tree *at, std::vector<Argument> &arguments);
  Value extreme(Tree *at, std::vector<Argument> &arguments,
                llvm::StringRef better);
  Value realFunction(Tree *at, std::vector<Argument> &arguments,
                     double (*function)(double));
  Value rounded(Tree *at, std::vector<Argument> &arguments,
                Rational (*exactly)(const Rational &),
                double (*nearly)(double));
  Value axisValue(const Tensor &tensor, size_t position);
  Value axisList(Tree *at, std::vector<Argument> &arguments,
                 llvm::StringRef rule);
  Value filled(Tree *at, llvm::ArrayRef<Argument> arguments, double value);
  mlir::Operation *
  buildScan(Tree *at, const Polynomial &trip,
            llvm::ArrayRef<mlir::Value> sequences, llvm::ArrayRef<int64_t> axes,
            llvm::ArrayRef<mlir::Value> inits, llvm::ArrayRef<int64_t> outAxes,
            std::unique_ptr<mlir::Region> body, llvm::StringRef name);
  static std::vector<std::string> yieldNames(NetParser::BodyContext *body);
  std::optional<std::pair<Value, int64_t>>
  loopArguments(Tree *at, std::vector<Argument> &arguments);

  //===--- networks and runs (Networks.cpp, Runs.cpp)
  //----===//
  /// Makes names those of the top level of `file`, for as long as it lives.
  struct TopScope {
    TopScope(Elaborator &elaborator, FileScope &file);
    ~TopScope();
    Elaborator &elaborator;
    Frame *outerFrame;
    Scope scope;
    Frame frame;
  };
  /// The same, and `entry` the place that ops are added to.
  struct GraphScope : TopScope {
    GraphScope(Elaborator &elaborator, FileScope &file, mlir::Block *entry);
    ~GraphScope();
    mlir::OpBuilder::InsertionGuard guard;
    Graph *outerGraph;
    Graph graph;
  };
  //===--- the command line (Overrides.cpp)
  //--------------------------------===//
  /// Reads `-D` and `--set`, and replaces the constants.
  bool readOptions();
  /// Replaces a constant of the file by what `text` says.
  void define(const std::string &name, llvm::StringRef value,
              llvm::StringRef text);
  /// The `--set` that gives the name a value, where it is a key, an axis or a
  /// setting; else empty.
  std::string overrideInstead(const std::string &name, llvm::StringRef value);
  void addOverride(llvm::StringRef text);
  /// What `--set` gives runs, one value each: the point at which they are
  /// elaborated.
  Point setPoint() const;
  Override *overrideOf(llvm::StringRef net, llvm::StringRef name);
  /// Gives the net that the top-level binding `name` makes other settings.
  void overrideSettings(const std::string &name, Value &value);
  /// Reads the sizes that `--set` gives to axes of a net.
  void readOverriddenAxes(llvm::StringRef net, const Instance &instance,
                          llvm::ArrayRef<NetInput> inputs);
  /// Gives networks these sizes, and says what changed nothing.
  void finishOverrides();
  /// A note of what `--set` gives nets, and the run, if `job` is one.
  ErrorNote overrideNote(NetParser::JobContext *job);
  /// Whether `--set` changes figures of the network or run.
  bool isOverridden(llvm::StringRef symbol);

  /// The entries of a section; one that is wrong is reported, and unknown.
  /// With `areMiddle`, its arguments depend on the middle of a `between`.
  std::vector<SectionEntry> entriesOf(const Section &section,
                                      bool areMiddle = false);
  /// What is wrong with one, if anything.
  std::string mistakeIn(const SectionEntry &entry, bool isDataset);
  /// Reports what is wrong with a section, whether or not a run uses it.
  void checkSection(const Section &section);
  NetParser::JobContext *jobNamed(llvm::StringRef run);
  bool elaborateFile(FileScope &file);
  bool leavesOut() const {
    return !options.onlyNetworks.empty() || !options.onlyRuns.empty();
  }
  /// Notes the name, and says whether the options ask for what has it.
  bool isWanted(const std::string &name, std::vector<std::string> &all,
                llvm::ArrayRef<std::string> only);
  /// A block that nothing uses is checked for its names only, with a warning.
  void checkUnused(const BlockDecl &block);
  /// Warns of settings and variables that nothing reads, but of tensors: what
  /// these cost and no result depends on is said elsewhere.
  void warnOfUnread(const BlockDecl &block);
  void elaborateItem(FileScope &file, NetParser::StmtContext *stmt);
  /// The network of the top-level name `symbol`; null after an error.
  mlir::Operation *elaborateNetwork(Tree *at, llvm::StringRef symbol,
                                    FileScope &file, mlir::ModuleOp into);
  std::shared_ptr<Instance> netInstance(Tree *at, const Value &value);
  std::optional<std::vector<NetInput>> inputsOf(Instance &instance);
  Value applyNet(Tree *at, Instance &instance, llvm::ArrayRef<NetInput> inputs,
                 llvm::ArrayRef<mlir::Value> values);
  void elaborateRun(FileScope &file, NetParser::JobContext *job,
                    mlir::ModuleOp into);
  /// The `expect`s in a job, and in those that stand in it.
  void collectExpectations(FileScope &file, NetParser::JobContext *job);
  /// A network is reported at the sizes that its first run's dataset gives.
  void giveAxes(NetworkOp network, mlir::DictionaryAttr axesOfRun);
  /// The size that an axis is given; none after an error.
  std::optional<Moments> sizeOfAxis(Tree *at, llvm::StringRef name,
                                    const Value &value);
  mlir::MLIRContext *context;
  const FrontendOptions options;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<std::unique_ptr<FileScope>> files;
  std::vector<std::unique_ptr<SourceFile>> optionTexts;
  std::deque<Override> overrides;
  llvm::StringSet<> overridden; ///< runs that `--set` gives something, and nets
                                ///< that have sizes from these
  llvm::StringMap<FileScope *> filesByPath;
  std::vector<std::string> importing; ///< files being read, outermost first
  std::vector<std::string> computing; ///< top-level names being computed
  FileScope *main = nullptr;
  llvm::StringMap<FileScope *> prelude; ///< by the name of its one block
  Frame *frame = nullptr;
  Graph *graph = nullptr;
  unsigned graphs = 0;
  size_t spent = 0; ///< of limits.maxOps: ops, turns of loops and list elements
  bool overBudget = false;
  unsigned errors = 0;
  unsigned depth = 0; ///< expressions and blocks being evaluated
  Value left;
  Tree *use = nullptr; ///< the name that is being looked up, where one is
  std::vector<std::string> networks, runs; ///< those left out, too
  unsigned applications = 0;               ///< of blocks, so far
  llvm::StringSet<> leftOut;
  Ranges ranges;
  llvm::StringSet<> reported;
  std::map<const void *, Parameters> parameters;
  // A block is walked once for each of its copies: what depends on the text
  // alone is kept.
  std::unordered_map<Expr *, llvm::SmallVector<Expr *>> spines;
  llvm::DenseSet<Tree *> boundToTensors;
  llvm::DenseMap<Tree *, mlir::Location> locations;
  std::unordered_map<antlr4::Token *, std::string> words;
  std::unordered_map<NetParser::LitContext *, Value> literals;
  std::unordered_map<NetParser::ArgsContext *, std::vector<WrittenArgument>>
      writtenArguments;
  std::vector<Expectation> expectations;
  /// Where what is made now is noted, if something asks for it.
  std::vector<Identity *> *made = nullptr;
  ErrorNote *errorNote = nullptr; ///< the innermost
};

} // namespace netc

#endif // NETC_FRONTEND_ELABORATOR_H
