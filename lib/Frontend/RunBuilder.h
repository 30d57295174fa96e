// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_RUNBUILDER_H
#define NETC_FRONTEND_RUNBUILDER_H

#include "lib/Frontend/Evaluator.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace netc {

struct Key {
  antlr4::ParserRuleContext *at;
  NetParser::ExprContext *expr;
  const Override *by = nullptr; ///< null: the file
};
/// The keys of a run or dataset, in text order.
using Keys = llvm::MapVector<std::string, Key, llvm::StringMap<unsigned>>;

/// The keys of a `train` or `infer` section.
inline constexpr const char *runKeys[] = {
    "loss",  "batch",  "duration", "optimizer",  "precision",   "hardware",
    "peak",  "took",   "parallel", "placement",  "utilization", "count",
    "like",  "seed",   "year",     "trained_by", "framework",   "updates",
    "times", "decode", "tuning",   "recompute",  "loss_scale",  "accumulate"};

/// Of these, those that are no numbers, records or texts: what is written there
/// is read by rules of its own, or makes something in the step.
inline constexpr const char *writtenKeys[] = {"loss", "optimizer", "precision",
                                              "updates", "recompute"};

/// Of these, those that say what a step does or how it is counted.
inline constexpr const char *structuralKeys[] = {
    "loss",      "optimizer",  "updates", "count",     "precision",
    "recompute", "loss_scale", "decode",  "accumulate"};

/// Of these, those that say what a count by time assumes: with another value it
/// is the same run.
inline constexpr const char *assumedKeys[] = {
    "utilization", "peak",  "took", "year",  "trained_by",
    "framework",   "count", "seed", "tuning"};

/// Whether numbers in this unit can be sizes of axes: plain ones, examples and
/// tokens.
bool isUnitOfSizes(const Dimension &dimension);
/// The next whole number, where the middle of a `between` is none and has to be
/// one; what is no number is left alone.
Polynomial roundedUp(const Polynomial &number);
/// Elaborates one run, with the jobs in it.
class RunBuilder {
public:
  /// `outer` builds the job that this one stands in, if there is one. With
  /// `isFacts`, steps say what the specification says of them, and do nothing.
  RunBuilder(Evaluator &e, FileScope &file, NetParser::JobContext *job,
             Point point, RunBuilder *outer = nullptr, bool isFacts = false)
      : e(e), file(file), job(job), point(std::move(point)), outer(outer),
        isFacts(isFacts) {}

  /// A net.step; or, if there are jobs in it, a net.job and what it is made of.
  /// Null after an error.
  mlir::Operation *build(mlir::ModuleOp into);
  /// The sizes that the run gives to free axes of its net, of which `N` is not
  /// yet one. Null after an error.
  mlir::DictionaryAttr readAxes();

private:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  //===--- keys (RunKeys.cpp)
  //-------------------------------------------===//
  bool collectKeys(NetParser::JobContext *from, bool isLike);
  using Like = std::pair<NetParser::JobContext *, Tree *>;
  void failCircle(llvm::MutableArrayRef<Like> circle);
  void inheritKeys();
  /// `key = none`: the run has not what a run like it, or around it, has.
  void dropKeys();
  /// Notes that what the file says of `name` does not hold if it is set by the
  /// command line.
  void noteReplaced(llvm::StringRef name);
  /// Notes that figures of the run are not those of the file.
  void noteOverride(const Override *by);
  /// Gives the net the settings that a point sets. False after an error.
  bool addSettings();
  /// What a run took, it did not take after a change.
  void dropTook();
  /// Why the section's word, or its place, has no use for a key; else empty.
  std::optional<Message> whyUseless(llvm::StringRef key) const;
  void checkKeys();
  bool collectDataset();
  bool collectAxes();
  void failUnknownKey(const std::string &name,
                      llvm::ArrayRef<std::string> symbols);
  /// Keys, dataset, the net and its inputs, axes.
  bool collect();
  std::optional<Value> valueOf(llvm::StringRef key);
  std::optional<Number> numberOf(llvm::StringRef key);
  /// False, and an error, if the key is no bool.
  bool flagOf(llvm::StringRef key);
  Tree *placeOf(llvm::StringRef key) {
    auto found = keys.find(key.str());
    return found == keys.end() ? static_cast<Tree *>(job) : found->second.expr;
  }
  bool isOwn(const std::string &key) const {
    return keys.count(key) && !inherited.contains(key);
  }
  bool isInference() const { return job->kind->getText() == "infer"; }
  /// `run.critic`
  std::string symbol() const;
  /// The net and the dataset that the job names, or the one around it; null if
  /// none does.
  Expr *netExpr() const;
  Expr *datasetExpr() const;
  mlir::DictionaryAttr axesAttr() const;
  void checkRequires();
  /// Lets `require` see the sizes of axes and the settings of the net, too.
  void nameSettings();

  //===--- the step (RunBuilder.cpp)
  //---------------------------------------===//
  mlir::Operation *buildStep(mlir::ModuleOp into);
  mlir::Operation *buildJob(mlir::ModuleOp into);
  bool addInputs();
  bool addLoss();
  /// Of inference, all results of the net; none of its weights learns.
  bool addResults();
  /// Freezes what `updates` does not name.
  bool freezeAllBut();
  void warnIfNothingLearns();

  //===--- the update (RunUpdate.cpp)
  //--------------------------------------===//
  bool addLossScale();
  bool addRecomputation();
  bool addOptimizer();

  //===--- facts (RunFacts.cpp)
  //--------------------------------------------===//
  bool addSchedule();
  /// Of examples and tokens. False after an error.
  bool readAmounts();
  bool readTokens();
  /// Whether the batch, the duration or the dataset is in tokens.
  bool speaksOfTokens();
  /// Why a key that needs the tokens of an example cannot have them.
  void failTokens(llvm::StringRef key, const Message &why);
  bool addSeed();
  bool addBatch();
  /// False, and an error, if no input of the net has the axis `N` that a batch
  /// of more than one example goes along.
  bool hasBatchAxis(const Rational &batch);
  /// Whether the step has parts that only report what they cost, and nothing
  /// that is done once a step: then the run can be counted without a batch.
  bool isReported();
  /// Whether no entry of the dataset has an error.
  bool isDatasetKnown() const;
  bool addSteps();
  /// Of a job that runs in each step of the one around it.
  bool addTimes();
  /// The axis of the positions that `decode` makes: of the first result that
  /// has one, else those of the inputs.
  std::set<std::string> positions() const;
  bool addDecoding();
  /// What the run is computed on, how and how long. False after an error that
  /// leaves no sense in the rest.
  bool addHardware();
  bool addPrecision();
  bool addDevices();
  bool addTook();
  bool addConventions();
  /// A positive number of that dimension.
  void addQuantity(llvm::StringRef key, RunFacts::Number &fact,
                   Dimension dimension, llvm::StringRef expected);
  /// The number format that is written, chosen or held by a constant there;
  /// none after an error.
  std::optional<std::string> precisionIn(Expr *expr);
  /// When, by whom and with what the run was made, which tells of its hardware.
  void addCircumstances();
  /// The peaks of a `hardware` section of the file, if the device is one.
  bool addDevice(const std::string &device);
  /// Notes where a key is given, for passes that have to say it.
  void note(llvm::StringRef key) {
    run.places[key.str()] = e.locationOf(placeOf(key));
  }

  Evaluator &e;
  FileScope &file;
  NetParser::JobContext *job;
  const Point point;
  RunBuilder *outer;
  bool isFacts;               ///< steps are left empty
  bool hasUnknownKey = false; ///< which may be a needed one, misspelt
  bool isChanged = false;     ///< the command line replaces what it is
  Keys keys;
  llvm::StringSet<> inherited; ///< of `keys`, those of the job around
  /// Of `keys`, those that jobs in this one have axes or settings from.
  llvm::StringSet<> taken;
  /// The runs whose keys are taken over by `like`, and where each says so.
  std::vector<Like> likes;
  std::vector<SectionEntry> dataset;
  StepOp step;
  std::shared_ptr<Instance> net;
  std::vector<NetInput> inputs;
  llvm::MapVector<std::string, Moments, llvm::StringMap<unsigned>> axes;
  std::vector<std::pair<std::string, Tensor>> fields;
  Value results;
  Scope names;         ///< keys as `require` sees them
  std::string unsized; ///< an axis that this lacks the size of
  std::optional<Rational> datasetExamples, datasetTokens;
  RunFacts run;
};

} // namespace netc

#endif // NETC_FRONTEND_RUNBUILDER_H
