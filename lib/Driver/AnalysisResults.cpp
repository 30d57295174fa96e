// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Driver/AnalysisResults.h"

#include "lib/Analysis/Query.h"
#include "lib/Audit/Query.h"

using namespace netc;

/// The first trace of this run.
static const audit::Audit *auditOf(llvm::ArrayRef<const audit::Audit *> audits,
                                   mlir::Operation *run) {
  for (const audit::Audit *audit : audits)
    if (audit->run && audit->run->op == run)
      return audit;
  return nullptr;
}

bool AnalysisResults::hasTrace(mlir::Operation *run) const {
  return auditOf(audits, run);
}

std::variant<Answer, Message>
AnalysisResults::ask(const Question &question) const {
  Query query{question.part, question.members, question.parts,
              question.numbers};
  auto convert = [](const std::variant<Quantity, Message> &answer)
      -> std::variant<Answer, Message> {
    if (auto *quantity = std::get_if<Quantity>(&answer))
      return Answer{quantity->value, quantity->unit};
    return std::get<Message>(answer);
  };
  for (const Network &network : analysis.networks)
    if (network.op == question.subject)
      return convert(answer(network, query));
  for (const Run &run : analysis.runs) {
    if (run.op != question.subject)
      continue;
    auto found = corners.find(run.name());
    if (!query.members.empty() && query.members.front() == "trace")
      return convert(answer(*auditOf(audits, run.op), query));
    bool isAtEnd = question.corner && found != corners.end();
    return convert(
        answer(isAtEnd ? found->second[*question.corner] : run, query));
  }
  llvm_unreachable("what an expect asks is a network or a run of the module");
}
