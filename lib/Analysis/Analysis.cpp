// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/Analysis.h"

#include <set>

using namespace netc;
using namespace mlir;

std::vector<std::pair<std::string, std::optional<Rational>>>
Network::freeAxes() const {
  std::set<std::string> names;
  for (const Shape &input : parts.root().inputs)
    for (const Polynomial &size : input.sizes)
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

/// What the run's key `count` says.
static Conventions conventionsOf(StepOp op) {
  Conventions conventions;
  if (auto fma = op.getRun().getAs<PolynomialAttr>("fma"))
    conventions.fma = fma.getValue().toInt64().value_or(conventions.fma);
  if (auto causal = op.getRun().getAs<StringAttr>("causal"))
    if (causal.getValue() == "half")
      conventions.causal = Conventions::Half;
  return conventions;
}

static FailureOr<Network> analyzeNetwork(NetworkOp op,
                                         const Conventions &conventions) {
  Network network{
      op, conventions, Axes(op.getAxes()), countParts(op, conventions), {}};
  network.symbolic = network.parts.root().figures;
  network.axes.fix("N", 1);
  network.parts.evaluate(network.axes);
  if (failed(verifyCounts(op, network.parts)))
    return failure();
  return network;
}

FailureOr<Analysis> netc::analyze(ModuleOp module,
                                  const ConventionFlags &flags) {
  Analysis analysis;
  bool failed = false;
  for (auto op : module.getOps<NetworkOp>()) {
    FailureOr<Network> network = analyzeNetwork(op, adjust({}, flags));
    if (succeeded(network))
      analysis.networks.push_back(std::move(*network));
    failed |= mlir::failed(network);
  }
  for (auto op : module.getOps<StepOp>()) {
    FailureOr<Run> run = analyzeRun(op, adjust(conventionsOf(op), flags));
    if (succeeded(run))
      analysis.runs.push_back(std::move(*run));
    failed |= mlir::failed(run);
  }
  if (failed)
    return failure();
  return analysis;
}
