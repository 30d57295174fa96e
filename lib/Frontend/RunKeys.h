// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_RUNKEYS_H
#define NETC_LIB_FRONTEND_RUNKEYS_H

#include "lib/Frontend/Evaluator.h"

namespace netc {

struct Key {
  antlr4::ParserRuleContext *at;
  NetParser::ExprContext *expr;
  const Override *by = nullptr; ///< null for the file
};
/// The keys of a run or dataset, in text order.
using Keys = llvm::MapVector<std::string, Key, llvm::StringMap<unsigned>>;

/// The keys of a `train` or `infer` section.
inline constexpr const char *runKeys[] = {
    "loss",  "batch",  "duration", "optimizer",  "precision",   "hardware",
    "peak",  "took",   "parallel", "placement",  "utilization", "count",
    "like",  "seed",   "year",     "trained_by", "framework",   "updates",
    "times", "decode", "tuning",   "recompute",  "loss_scale",  "accumulate"};

/// Keys whose values are not numbers, records or texts. They have rules of
/// their own, or become a part of the step.
inline constexpr const char *writtenKeys[] = {"loss", "optimizer", "precision",
                                              "updates", "recompute"};

/// Keys that determine the computation of a step, or how it is counted.
inline constexpr const char *structuralKeys[] = {
    "loss",      "optimizer",  "updates", "count",     "precision",
    "recompute", "loss_scale", "decode",  "accumulate"};

/// Keys that determine only a count by time. With another value, the run is the
/// same.
inline constexpr const char *assumedKeys[] = {
    "utilization", "peak",  "took", "year",  "trained_by",
    "framework",   "count", "seed", "tuning"};

/// The keys of a `hardware` section, and those of a `dataset` that are no axes
/// and no fields.
inline constexpr const char *hardwareKeys[] = {"peak", "memory", "bandwidth",
                                               "node", "link",   "power"};
inline constexpr const char *datasetKeys[] = {"examples", "tokens"};

/// The tensors that a block gets, by their names, as the optimizer of a run.
inline constexpr const char *optimizerTensors[] = {"parameter", "gradient",
                                                   "step"};

/// The words that the value of a key of a run may have: `recompute = full`.
std::vector<std::string> wordsIn(llvm::StringRef key);
/// The formats that a constant holds, as they are written; none for other
/// values.
std::optional<std::string> precisionOf(const Value &value);
/// Why an `infer` has no use for a key; nothing if it has.
std::optional<Message> whyNotOfInference(llvm::StringRef key);
/// Whether numbers in this unit can be sizes of axes: plain numbers, examples
/// and tokens.
bool isUnitOfSizes(const Dimension &dimension);

/// The mistake in a peak, which is a rate or rates by number format, if there
/// is one.
std::optional<Message> mistakeInPeak(const Value &value);

/// What the text and the command line say about a run: its keys, its dataset,
/// its net, and the sizes of the net's free axes.
class RunKeys {
public:
  /// `outer` is the job around this one, if there is one.
  RunKeys(Evaluator &e, FileScope &file, NetParser::JobContext *job,
          Point point, RunKeys *outer = nullptr)
      : e(e), file(file), job(job), point(std::move(point)), outer(outer) {}

  /// The sizes that the run gives to free axes of its net, without `N`. Null
  /// after an error.
  mlir::DictionaryAttr readAxes();

protected:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  /// Collects keys, dataset, net, inputs and axes. False after an error.
  bool collect();
  std::optional<Value> valueOf(llvm::StringRef key);
  std::optional<Number> numberOf(llvm::StringRef key);
  /// The value of a key that is a bool. False, and an error, if it is another
  /// value.
  bool flagOf(llvm::StringRef key);
  Tree *placeOf(llvm::StringRef key) {
    auto found = keys.find(key.str());
    return found == keys.end() ? static_cast<Tree *>(job) : found->second.expr;
  }
  bool isOwn(const std::string &key) const {
    return keys.count(key) && !inherited.contains(key);
  }
  bool isInference() const { return job->kind->getText() == "infer"; }
  /// The name with those of the runs around it: `run.critic`.
  std::string symbol() const;
  /// The net and the dataset of the job, or of the one around it; null if there
  /// is none.
  Expr *netExpr() const;
  Expr *datasetExpr() const;
  mlir::DictionaryAttr axesAttr() const;
  void checkRequires();
  void failUnknownKey(const std::string &name,
                      llvm::ArrayRef<std::string> symbols);

  Evaluator &e;
  FileScope &file;
  NetParser::JobContext *job;
  const Point point;
  RunKeys *outer;
  Keys keys;
  /// The `keys` that jobs in this one use as axes or settings.
  llvm::StringSet<> taken;
  bool hasUnknownKey = false; ///< which may be a misspelt required key
  Tree *sweep = nullptr;
  std::vector<SectionEntry> dataset;
  std::shared_ptr<Instance> net;
  std::vector<NetInput> inputs;
  llvm::MapVector<std::string, Moments, llvm::StringMap<unsigned>> axes;

private:
  bool collectKeys(NetParser::JobContext *from, bool isLike);
  /// Collects the keys of the run that the key `like` of `from` names.
  bool followLike(NetParser::JobContext *from);
  void inheritKeys();
  /// Records that the command line replaces what the file says about `name`.
  void noteReplaced(llvm::StringRef name);
  /// Records that figures of the run differ from those of the file.
  void noteOverride(const Override *by);
  /// Gives the net the settings of the point. False after an error.
  bool addSettings();
  /// Drops `took` if the run was changed, since the time is that of the run as
  /// written.
  void dropTook();
  /// The error for a key that is useless in a `train` or `infer`, or in this
  /// place; else none.
  std::optional<Message> whyUseless(llvm::StringRef key) const;
  void checkKeys();
  bool collectDataset();
  /// Whether a name of a net or dataset is known. If not, the error lists those
  /// of the file.
  bool isDeclared(Expr *place, llvm::StringRef kind);
  bool collectAxes();
  /// Makes the sizes of axes and the settings of the net visible to `require`.
  void nameSettings();

  bool isChanged = false;      ///< whether the command line changes the run
  llvm::StringSet<> inherited; ///< the `keys` of the job around it
  /// The runs whose keys `like` takes over, and the position of each `like`.
  std::vector<std::pair<NetParser::JobContext *, Tree *>> likes;
  Scope names; ///< keys as `require` sees them
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_RUNKEYS_H
