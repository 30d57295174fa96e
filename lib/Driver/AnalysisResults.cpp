// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Driver/AnalysisResults.h"

#include "lib/Analysis/Query.h"
#include "lib/Audit/Query.h"

using namespace netc;

static std::vector<const audit::Audit *>
auditsOf(llvm::ArrayRef<const audit::Audit *> audits, mlir::Operation *run) {
  std::vector<const audit::Audit *> found;
  llvm::copy_if(audits, std::back_inserter(found),
                [&](const audit::Audit *audit) {
                  return audit->run && audit->run->op == run;
                });
  return found;
}

AnalysisResults::AnalysisResults(const Analysis &analysis,
                                 const Corners &corners,
                                 llvm::ArrayRef<const audit::Audit *> audits)
    : corners(corners), audits(audits) {
  for (const Network &network : analysis.networks)
    networks[network.op] = &network;
  for (const Run &run : analysis.runs)
    runs[run.op] = &run;
}

std::vector<std::string> AnalysisResults::tracesOf(mlir::Operation *run) const {
  std::vector<std::string> files;
  for (const audit::Audit *audit : auditsOf(audits, run))
    files.push_back(audit->file);
  return files;
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
  if (const Network *network = networks.lookup(question.subject))
    return convert(answer(*network, query));
  const Run *run = runs.lookup(question.subject);
  assert(run && "what an expect asks is a network or a run of the module");
  if (!query.members.empty() && query.members.front() == "trace") {
    auto traced = auditsOf(audits, run->op);
    return convert(traced.empty() ? audit::answerWithoutTrace(*run, query)
                                  : answer(*traced[question.trace], query));
  }
  auto found = corners.find(run->name());
  bool isAtEnd = question.corner && found != corners.end();
  return convert(
      answer(isAtEnd ? found->second[*question.corner] : *run, query));
}
