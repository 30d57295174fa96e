// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/Analysis.h"

#include "lib/Analysis/ComputeByTime.h"
#include "lib/Diagnostics/Diagnostics.h"

#include <set>

using namespace netc;
using namespace mlir;

std::vector<std::pair<std::string, std::optional<Rational>>>
Network::freeAxes() const {
  std::set<std::string> names;
  for (mlir::RankedTensorType input : parts.root().inputs)
    for (const Polynomial &size : shapeOf(input).sizes)
      for (std::string &name : size.symbols())
        names.insert(std::move(name));
  std::vector<std::pair<std::string, std::optional<Rational>>> sizes;
  for (const std::string &name : names)
    sizes.emplace_back(
        name, Axes(axes).evaluate(Polynomial::symbol(name)).constant());
  return sizes;
}

static Conventions adjust(Conventions conventions,
                          const ConventionFlags &flags) {
  return {flags.fma.value_or(conventions.fma),
          flags.causal.value_or(conventions.causal)};
}

/// The conventions that the run's key `count` states.
static Conventions conventionsOf(const RunFacts &run) {
  Conventions conventions;
  if (run.fma)
    conventions.fma = run.fma->toInt64().value_or(conventions.fma);
  conventions.causal = run.causal.value_or(conventions.causal);
  return conventions;
}

/// Warns of a loss over all pairs of a batch: its cost is not the batch size
/// times the cost of one example.
static void warnOfPairs(const Network &network) {
  unsigned degree = 0;
  for (const Cost &cost : network.symbolic.costs)
    degree = std::max({degree, cost.matmul.degree(kBatchAxis),
                       cost.other.degree(kBatchAxis)});
  if (degree > 1)
    warn(NetworkOp(network.op).getLoc(), network.name(),
         WarningId::PairsOfExamples)
        << "`" << network.name() << "` computes with N^" << degree
        << " of the examples of a batch, and its figures are those of one; a "
           "run counts its batch";
}

static FailureOr<Network> analyzeNetwork(NetworkOp op,
                                         const Conventions &conventions) {
  Network network{
      op, conventions, Axes(op.getAxes()), countParts(op, conventions), {}};
  network.symbolic = network.parts.root().figures;
  warnOfPairs(network);
  network.axes.fix(kBatchAxis, 1);
  network.parts.evaluate(network.axes);
  if (failed(verifyCounts(op, network.parts)))
    return failure();
  return network;
}

/// Counts a net.step, or a net.job with its jobs.
static FailureOr<Run> analyzeTree(Operation *op, const SymbolTable &symbols,
                                  const ConventionFlags &flags) {
  if (auto step = dyn_cast<StepOp>(op))
    return analyzeRun(step,
                      adjust(conventionsOf(step.getRun().getFacts()), flags));
  auto job = cast<JobOp>(op);
  std::vector<Run> jobs;
  jobs.reserve(job.getJobs().size());
  bool failed = false;
  for (auto name : job.getJobs().getAsRange<StringAttr>()) {
    FailureOr<Run> run = analyzeTree(symbols.lookup(name), symbols, flags);
    failed |= mlir::failed(run);
    if (succeeded(run))
      jobs.push_back(std::move(*run));
  }
  if (failed)
    return failure();
  return analyzeJob(job, adjust(conventionsOf(job.getRun().getFacts()), flags),
                    std::move(jobs));
}

FailureOr<Analysis> netc::analyze(ModuleOp module,
                                  const ConventionFlags &flags) {
  Analysis analysis;
  // A vector that grows would copy them, since the move of a deque may throw.
  analysis.networks.reserve(module.getBody()->getOperations().size());
  analysis.runs.reserve(module.getBody()->getOperations().size());
  bool failed = false;
  for (auto op : module.getOps<NetworkOp>()) {
    FailureOr<Network> network = analyzeNetwork(op, adjust({}, flags));
    if (succeeded(network))
      analysis.networks.push_back(std::move(*network));
    failed |= mlir::failed(network);
  }
  llvm::DenseSet<StringAttr> inner;
  for (auto job : module.getOps<JobOp>())
    inner.insert(job.getJobs().getAsRange<StringAttr>().begin(),
                 job.getJobs().getAsRange<StringAttr>().end());
  SymbolTable symbols(module);
  for (Operation &op : *module.getBody()) {
    if (!isa<StepOp, JobOp>(op) ||
        inner.contains(SymbolTable::getSymbolName(&op)))
      continue;
    FailureOr<Run> run = analyzeTree(&op, symbols, flags);
    if (succeeded(run))
      analysis.runs.push_back(std::move(*run));
    failed |= mlir::failed(run);
  }
  if (failed)
    return failure();
  llvm::for_each(analysis.runs, warnOfTimes);
  return analysis;
}

Reevaluation::Reevaluation(const Run &run) : run(run) {
  if (isa<StepOp>(run.op))
    parts = countPartsOfRun(run);
  jobs.reserve(run.jobs.size());
  for (const Run &job : run.jobs)
    jobs.emplace_back(job);
}

FailureOr<Run> Reevaluation::with(const SymbolTable &symbols) const {
  Operation *op = symbols.lookup(run.name());
  if (auto step = dyn_cast<StepOp>(op))
    return reevaluateRun(run, step, parts);
  std::vector<Run> there;
  for (const Reevaluation &job : jobs) {
    FailureOr<Run> evaluated = job.with(symbols);
    if (failed(evaluated))
      return failure();
    there.push_back(std::move(*evaluated));
  }
  return analyzeJob(cast<JobOp>(op), run.conventions, std::move(there));
}

FailureOr<Run> Reevaluation::with(ModuleOp module) const {
  return with(SymbolTable(module));
}
