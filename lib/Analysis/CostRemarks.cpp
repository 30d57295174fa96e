// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/CostRemarks.h"

#include "dialect/Net.h"
#include "mlir/Pass/Pass.h"

using namespace netc;
using namespace mlir;

namespace {
struct CostRemarks : PassWrapper<CostRemarks, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CostRemarks)

  StringRef getArgument() const override { return "net-cost-remarks"; }
  StringRef getDescription() const override {
    return "Tell the cost of each op in a remark";
  }

  void runOnOperation() override {
    getOperation()->walk([](CostOpInterface op) {
      Cost cost = op.getCost();
      if (cost.total().isZero())
        return;
      for (auto loop = op->getParentOfType<ScanOp>(); loop;
           loop = loop->getParentOfType<ScanOp>())
        cost = cost * loop.getTrip().getValue();
      op->emitRemark() << "matmul " << cost.matmul.str() << ", other "
                       << cost.other.str() << ", transcendental "
                       << cost.transcendental.str();
    });
  }
};
} // namespace

void netc::registerCostRemarksPass() { PassRegistration<CostRemarks>(); }
