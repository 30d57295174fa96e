// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DRIVER_ANALYSISRESULTS_H
#define NETC_LIB_DRIVER_ANALYSISRESULTS_H

#include "lib/Analysis/Analysis.h"
#include "lib/Audit/Audit.h"
#include "lib/Frontend/Results.h"

namespace netc {

/// For each run, its counts at the ends of the ranges that it depends on.
using Corners = llvm::StringMap<std::vector<Run>>;

/// Answers the queries of `expect`s from the analysis of their module.
class AnalysisResults : public Results {
public:
  /// `audits` answer queries about traces, if there are any.
  AnalysisResults(const Analysis &analysis, const Corners &corners,
                  llvm::ArrayRef<const audit::Audit *> audits = {});

  std::vector<std::string> tracesOf(mlir::Operation *run) const override;
  bool haveTraces() const override { return !audits.empty(); }
  std::variant<Answer, Message> ask(const Question &) const override;

private:
  llvm::DenseMap<mlir::Operation *, const Network *> networks;
  llvm::DenseMap<mlir::Operation *, const Run *> runs;
  const Corners &corners;
  llvm::ArrayRef<const audit::Audit *> audits;
};

} // namespace netc

#endif // NETC_LIB_DRIVER_ANALYSISRESULTS_H
