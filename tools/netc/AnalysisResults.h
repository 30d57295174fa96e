// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TOOLS_NETC_ANALYSISRESULTS_H
#define NETC_TOOLS_NETC_ANALYSISRESULTS_H

#include "lib/Analysis/Analysis.h"
#include "lib/Frontend/Results.h"

namespace netc {

/// Answers what an `expect` asks from an analysis of its module.
class AnalysisResults : public Results {
public:
  explicit AnalysisResults(const Analysis &analysis) : analysis(analysis) {}

  std::variant<Answer, std::string> ask(const Question &) const override;

private:
  const Analysis &analysis;
};

} // namespace netc

#endif // NETC_TOOLS_NETC_ANALYSISRESULTS_H
