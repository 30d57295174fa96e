// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs any pass on the text of any stage.

#include "dialect/Net.h"
#include "lib/Analysis/CostRemarks.h"
#include "lib/Codegen/Passes.h"
#include "lib/Conversion/Passes.h"
#include "lib/Pipelines/Lowering.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerStripDebugInfoPass();
  netc::registerNetCodegenPasses();
  netc::registerNetConversionPasses();
  netc::registerNetTransformsPasses();
  netc::registerCostRemarksPass();

  netc::LoweringOptions reference;
  reference.reference = reference.counted = true;
  static mlir::PassPipelineRegistration<> lower(
      "net-to-cpu-reference", "From a bound step to LLVM, counted",
      [=](mlir::OpPassManager &passes) {
        addLinalgPasses(passes, reference);
        addCpuPasses(passes, reference);
      });

  mlir::DialectRegistry registry;
  netc::registerLoweringInterfaces(registry);
  registry.insert<netc::NetDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "net dialect pass driver\n", registry));
}
