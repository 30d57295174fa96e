// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Pipelines/Pipelines.h"

#include "lib/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace netc;

void netc::addPasses(mlir::OpPassManager &passes, Stage stage) {
  // What no result needs costs nothing: a block may compute more than the net
  // takes from it. Gradients of it would be built only to be dropped.
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(createCheckSizes());
  passes.addPass(createContractPairwise());
  if (stage == Stage::Net)
    return;

  // Gradients have the formats of their values.
  passes.addPass(createApplyPrecision());
  // The backward pass needs the forward pass alone, so it comes first. What it
  // reads tells what is worth running again; the updates need its gradients.
  passes.addPass(createDifferentiate());
  passes.addPass(createRecompute());
  passes.addPass(createApplyOptimizer());
  if (stage == Stage::Step)
    return;

  // Analyses count in free axes. Sizes are only put in to execute.
  passes.addPass(createBindAxes());
}
