// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_RUNBUILDER_H
#define NETC_FRONTEND_RUNBUILDER_H

#include "lib/Frontend/Elaborator.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace netc {

using Key = std::pair<FileScope *, NetParser::BindContext *>;
/// The keys of a run or dataset, in text order.
using Keys = llvm::MapVector<std::string, Key, llvm::StringMap<unsigned>>;

/// The keys of a `train` section, and those that are not there yet.
inline constexpr const char *runKeys[] = {
    "loss", "batch",    "duration",  "optimizer",  "precision",   "hardware",
    "peak", "parallel", "placement", "took",       "utilization", "count",
    "like", "seed",     "year",      "trained_by", "framework"};
inline constexpr const char *laterKeys[] = {"recompute", "updates", "times",
                                            "decode"};

/// `run` of `train Net as run`, else the net's name and `_run`.
std::string nameOf(NetParser::JobContext *job);

/// Elaborates one run.
class RunBuilder {
public:
  RunBuilder(Elaborator &e, FileScope &file, NetParser::JobContext *job,
             const Elaborator::Point &point)
      : e(e), file(file), job(job), point(point) {}

  StepOp build(mlir::ModuleOp into);
  /// The sizes that the run gives to free axes, of which `N` is not yet one.
  /// Null after an error.
  mlir::DictionaryAttr readAxes();

private:
  using Tree = antlr4::ParserRuleContext;

  /// What the step is made from: keys, dataset, the net and its inputs, axes.
  bool collect();
  mlir::DictionaryAttr axesAttr() const;
  bool collectKeys(NetParser::JobContext *from, bool isLike);
  bool collectDataset();
  std::optional<Value> valueOf(llvm::StringRef key);
  std::optional<Number> numberOf(llvm::StringRef key);
  bool collectAxes();
  bool addInputs();
  bool addLoss();
  bool addOptimizer();
  bool addSchedule();
  bool addHardware();
  /// When, by whom and with what the run was made, which tells of its hardware.
  void addCircumstances();
  /// The peaks of a `hardware` section of the file, if the device is one.
  bool addDevice(const std::string &device);
  Tree *placeOf(llvm::StringRef key) {
    auto found = keys.find(key.str());
    return found == keys.end() ? static_cast<Tree *>(job)
                               : found->second.second->expr();
  }
  void set(llvm::StringRef name, const Polynomial &value) {
    run.set(name, PolynomialAttr::get(e.context, value));
  }

  Elaborator &e;
  FileScope &file;
  NetParser::JobContext *job;
  const Elaborator::Point &point;
  Keys keys;
  llvm::SmallPtrSet<NetParser::JobContext *, 4> liked;
  std::vector<SectionEntry> dataset;
  StepOp step;
  std::shared_ptr<Instance> net;
  std::vector<NetInput> inputs;
  llvm::MapVector<std::string, Moments, llvm::StringMap<unsigned>> axes;
  std::vector<std::pair<std::string, Tensor>> fields;
  Value results;
  Scope names; ///< keys as `require` sees them
  mlir::NamedAttrList run;
};

} // namespace netc

#endif // NETC_FRONTEND_RUNBUILDER_H
