// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Pipelines/Pipelines.h"

#include "lib/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace netc;

void netc::addPasses(mlir::OpPassManager &passes, Stage stage) {
  // Drop unused results of blocks before gradients are built for them. A region
  // has one block, so there is nothing else to simplify.
  mlir::GreedyRewriteConfig config;
  config.enableRegionSimplification = mlir::GreedySimplifyRegionLevel::Disabled;
  passes.addPass(mlir::createCanonicalizerPass(config));
  passes.addPass(createCheckSizes());
  passes.addPass(createContractPairwise());
  if (stage == Stage::Net)
    return;

  // Before gradients, which have the formats of their values.
  passes.addPass(createApplyPrecision());
  // The backward pass first: recomputation depends on what it reads, and
  // updates on its gradients.
  passes.addPass(createDifferentiate());
  passes.addPass(createRecompute());
  passes.addPass(createApplyOptimizer());
  if (stage == Stage::Step)
    return;

  // Analyses count in free axes. Only execution needs sizes.
  passes.addPass(createBindAxes());
}
