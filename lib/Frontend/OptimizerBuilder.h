// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_OPTIMIZERBUILDER_H
#define NETC_FRONTEND_OPTIMIZERBUILDER_H

#include "lib/Frontend/Evaluator.h"

namespace netc {

/// Adds the rules to a step by which its optimizer updates parameters.
class OptimizerBuilder {
public:
  using Tree = antlr4::ParserRuleContext;
  /// Where the run says what the rules depend on; of what it does not say, the
  /// run.
  struct KeyLocations {
    Tree *optimizer, *accumulate;
  };

  /// `run` are the facts of the step that are known.
  OptimizerBuilder(Evaluator &e, StepOp step, const RunFacts &run,
                   KeyLocations keys)
      : e(e), step(step), run(run), keys(keys) {}

  /// False after an error.
  bool build(const Value &optimizer);

private:
  /// An optimizer, and the parameters that it is for; with a name, that of the
  /// part of the network that these are in, or `other`.
  struct UpdateGroup {
    std::string name;
    Value optimizer;
    std::vector<ParameterOp> parameters;
  };
  /// Those that `optimizer = { body = .., other = .. }` names, or an error.
  std::optional<std::vector<UpdateGroup>> groupsOf(const Record &record);
  /// The parameters that learn.
  std::vector<ParameterOp> trained();
  bool addRules(const UpdateGroup &group);
  /// For `parameters`, or for any if these are none; `kind` is what `kind`
  /// says.
  bool addRule(const UpdateGroup &group,
               const std::vector<ParameterOp> &parameters, const Shape &shape,
               llvm::StringRef kind);
  /// False, and an error, if updates of rows read gradients that are summed up.
  bool canAccumulate(OptimizerOp optimizer);
  /// Whether it takes parameters as matrices.
  bool takesMatrix(const Value &optimizer);
  /// Whether an optimizer changes the parameter, or a view of it.
  static bool isUpdated(mlir::Value parameter);

  Evaluator &e;
  StepOp step;
  const RunFacts &run;
  const KeyLocations keys;
};

} // namespace netc

#endif // NETC_FRONTEND_OPTIMIZERBUILDER_H
