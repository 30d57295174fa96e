// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs any pass on the text of any stage.

#include "dialect/Net.h"
#include "lib/Analysis/CostRemarks.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerStripDebugInfoPass();
  netc::registerNetTransformsPasses();
  netc::registerCostRemarksPass();

  mlir::DialectRegistry registry;
  registry.insert<netc::NetDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "net dialect pass driver\n", registry));
}
