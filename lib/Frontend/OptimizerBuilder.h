// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_OPTIMIZERBUILDER_H
#define NETC_LIB_FRONTEND_OPTIMIZERBUILDER_H

#include "lib/Frontend/Evaluator.h"

namespace netc {

/// Adds the update rules of a step's optimizer.
class OptimizerBuilder {
public:
  using Tree = antlr4::ParserRuleContext;
  /// The positions of the keys that the rules depend on, or of the run if it
  /// has no such key.
  struct KeyLocations {
    Tree *optimizer, *accumulate;
  };

  /// `run` are the known facts of the step.
  OptimizerBuilder(Evaluator &e, StepOp step, const RunFacts &run,
                   KeyLocations keys)
      : e(e), step(step), run(run), keys(keys) {}

  /// Adds the rules. False after an error.
  bool build(const Value &optimizer);

private:
  /// An optimizer and its parameters. `name` is the part of the network that
  /// contains them, or `other`; empty for all parameters.
  struct UpdateGroup {
    std::string name;
    Value optimizer;
    std::vector<ParameterOp> parameters;
  };
  /// The groups that `optimizer = { body = .., other = .. }` names. None after
  /// an error.
  std::optional<std::vector<UpdateGroup>> groupsOf(const Record &record);
  /// The parameters that are trained.
  std::vector<ParameterOp> trained();
  bool addRules(const UpdateGroup &group);
  /// Adds a rule for `parameters`, or for all if the list is empty. `kind` is
  /// the value of `kind` in the rule.
  bool addRule(const UpdateGroup &group,
               const std::vector<ParameterOp> &parameters, const Shape &shape,
               llvm::StringRef kind);
  /// Whether the rule works with accumulated gradients. Reports an error if it
  /// updates single rows, which needs the gradients of the look-ups.
  bool canAccumulate(OptimizerOp optimizer);
  /// How an optimizer takes parameters: as vectors, as matrices, or as any
  /// number of matrices of one shape.
  enum class Taken { Vector, Matrix, Matrices };
  Taken howTaken(const Value &optimizer);
  void warnOfMatricesAsOne(const Shape &shape,
                           llvm::ArrayRef<ParameterOp> parameters);
  /// Whether an optimizer updates the parameter, or a view of it.
  static bool isUpdated(mlir::Value parameter);

  Evaluator &e;
  StepOp step;
  const RunFacts &run;
  const KeyLocations keys;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_OPTIMIZERBUILDER_H
