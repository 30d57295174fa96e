// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_RUNBUILDER_H
#define NETC_LIB_FRONTEND_RUNBUILDER_H

#include "lib/Frontend/RunFactsReader.h"

namespace netc {

/// Elaborates a run with its jobs.
class RunBuilder : private RunFactsReader {
public:
  /// `outer` builds the job around this one, if there is one. With `isFacts`,
  /// steps have the facts of the specification, but no ops.
  RunBuilder(Evaluator &e, FileScope &file, NetParser::JobContext *job,
             Point point, RunBuilder *outer = nullptr, bool isFacts = false)
      : RunFactsReader(e, file, job, std::move(point), outer, isFacts) {}

  using RunKeys::readAxes;
  /// Builds a net.step, or a net.job with its jobs. Null after an error.
  mlir::Operation *build(mlir::ModuleOp into);

private:
  mlir::Operation *buildStep(mlir::ModuleOp into);
  mlir::Operation *buildJob(mlir::ModuleOp into);
  struct Lookups;
  Lookups lookups() const;
  bool addInputs();
  /// Adds an input of the net. It is converted from the type of the dataset's
  /// field with its name.
  bool addInput(const NetInput &input, Lookups &known,
                std::vector<llvm::StringRef> &argumentNames,
                llvm::SmallVectorImpl<mlir::Value> &values);
  /// Adds a field of the dataset that is no input of the net.
  bool addField(const SectionEntry &entry, Lookups &known,
                std::vector<llvm::StringRef> &argumentNames);
  bool addLoss();
  /// Returns all results of the net, for inference. No weight is trained.
  bool addResults();
  /// Ends the step. Ops that are made later come before its end.
  void addReturn(Tree *at, mlir::ValueRange values,
                 llvm::ArrayRef<llvm::StringRef> names);
  /// Freezes the weights that `updates` does not name.
  bool freezeAllBut();

  // The update; see RunUpdate.cpp.
  bool addLossScale();
  /// Warns if nothing learns, and of weights that only results need which the
  /// loss does not depend on.
  void warnOfLoss();
  bool addRecomputation();
  bool addOptimizer();
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_RUNBUILDER_H
