// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DRIVER_ANALYSISRESULTS_H
#define NETC_LIB_DRIVER_ANALYSISRESULTS_H

#include "lib/Analysis/Analysis.h"
#include "lib/Audit/Audit.h"
#include "lib/Frontend/Results.h"

namespace netc {

/// By run, what it is where the ranges that it depends on are at their ends.
using Corners = llvm::StringMap<std::vector<Run>>;

/// Answers what an `expect` asks from an analysis of its module.
class AnalysisResults : public Results {
public:
  /// With what is asked of traces, if there are any.
  AnalysisResults(const Analysis &analysis, const Corners &corners,
                  llvm::ArrayRef<const audit::Audit *> audits = {})
      : analysis(analysis), corners(corners), audits(audits) {}

  bool hasTrace(mlir::Operation *run) const override;
  std::variant<Answer, Message> ask(const Question &) const override;

private:
  const Analysis &analysis;
  const Corners &corners;
  llvm::ArrayRef<const audit::Audit *> audits;
};

} // namespace netc

#endif // NETC_LIB_DRIVER_ANALYSISRESULTS_H
