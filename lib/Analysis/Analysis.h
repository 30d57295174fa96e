// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_ANALYSIS_H
#define NETC_LIB_ANALYSIS_ANALYSIS_H

#include "lib/Analysis/Run.h"
#include "mlir/IR/BuiltinOps.h"

namespace netc {

/// The counts of a network.
struct Network {
  NetworkOp op;
  Conventions conventions;
  /// The sizes of the free axes that the dataset gives. N is 1.
  Axes axes;
  /// Figures of one example.
  PartTree parts;
  /// Figures of the whole network, in all its free axes.
  Figures symbolic;

  llvm::StringRef name() const { return NetworkOp(op).getSymName(); }
  /// The free axes of the inputs, sorted, with their sizes. The size of an axis
  /// with a distribution is its mean; none if it is not known.
  std::vector<std::pair<std::string, std::optional<Rational>>> freeAxes() const;
};

/// The counts of a module whose networks and steps have their gradients and
/// updates.
struct Analysis {
  std::vector<Network> networks; ///< in the order of the text
  std::vector<Run> runs;         ///< in the order of the text
};

/// Conventions of the command line, which replace those of the specification.
struct ConventionFlags {
  std::optional<unsigned> fma;
  std::optional<CountedMask> causal;

  bool any() const { return fma || causal; }
};

/// Counts every network and run. A count beyond the range of Rational is an
/// error on its op; a moment that had to be guessed is a warning on the step.
mlir::FailureOr<Analysis> analyze(mlir::ModuleOp module,
                                  const ConventionFlags &flags = {});

/// Evaluates a run again with other facts. The run is as analyze() returned it.
class Reevaluation {
public:
  explicit Reevaluation(const Run &run);

  /// The run with the facts that `module` states under its name. Its steps in
  /// `module` may be empty: no op is counted again.
  mlir::FailureOr<Run> with(mlir::ModuleOp module) const;

private:
  mlir::FailureOr<Run> with(const mlir::SymbolTable &symbols) const;

  const Run &run;
  PartTree parts; ///< in all free axes; none of a run of jobs
  std::vector<Reevaluation> jobs;
};

} // namespace netc

#endif // NETC_LIB_ANALYSIS_ANALYSIS_H
