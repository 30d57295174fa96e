// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_LOWERDEVICEMATH
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

#include "lib/Codegen/CUDA/DeviceMath.inc"

/// Whether every device has an instruction for an op, or LLVM a short sequence.
static bool isNative(Operation *op) {
  return isa<math::AbsFOp, math::CeilOp, math::CopySignOp, math::FloorOp,
             math::FmaOp, math::RoundEvenOp, math::RsqrtOp, math::SqrtOp>(op);
}

/// The larger or the smaller of two f64, or NaN if one of them is. For f32,
/// there is an instruction.
static Value extremum(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  Value x = op->getOperand(0), y = op->getOperand(1);
  auto compare = [&](arith::CmpFPredicate predicate) {
    return b.create<arith::CmpFOp>(loc, predicate, x, y);
  };
  Value isFirst =
      compare(isa<arith::MaximumFOp>(op) ? arith::CmpFPredicate::OGT
                                         : arith::CmpFPredicate::OLT);
  Value chosen = b.create<arith::SelectOp>(loc, isFirst, x, y);
  Value nan = b.create<arith::AddFOp>(loc, x, y);
  return b.create<arith::SelectOp>(loc, compare(arith::CmpFPredicate::UNO), nan,
                                   chosen);
}

namespace {
struct LowerDeviceMath : netc::impl::LowerDeviceMathBase<LowerDeviceMath> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> functions, extrema;
    for (auto kernel : module.getOps<func::FuncOp>())
      if (kernel->hasAttr(kThreads))
        kernel.walk([&](Operation *op) {
          if (isa<math::MathDialect>(op->getDialect()) && !isNative(op))
            functions.push_back(op);
          else if (isa<arith::MaximumFOp, arith::MinimumFOp>(op) &&
                   op->getResult(0).getType().isF64())
            extrema.push_back(op);
        });
    OpBuilder b(&getContext());
    for (Operation *op : extrema) {
      b.setInsertionPoint(op);
      op->getResult(0).replaceAllUsesWith(extremum(b, op));
      op->erase();
    }
    if (functions.empty())
      return;
    OwningOpRef<ModuleOp> library =
        parseSourceString<ModuleOp>(texts[0], ParserConfig(&getContext()));
    for (Operation *op : functions) {
      std::string name = ("netc_" + op->getName().stripDialect()).str();
      auto callee = library->lookupSymbol<func::FuncOp>(name);
      if (!callee || op->getNumResults() != 1 ||
          !isa<FloatType>(op->getResult(0).getType())) {
        op->emitError() << "`" << op->getName()
                        << "` cannot be computed on a device yet";
        return signalPassFailure();
      }
      call(b, op, callee);
    }
    // LLVM removes functions that are not called.
    for (Operation &function :
         llvm::make_early_inc_range(library->getBody()->getOperations()))
      function.moveBefore(module.getBody(), module.getBody()->end());
  }

  static void call(OpBuilder &b, Operation *op, func::FuncOp callee) {
    b.setInsertionPoint(op);
    Location loc = op->getLoc();
    Type type = op->getResult(0).getType(), f64 = b.getF64Type();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(
          type == f64 ? operand : b.create<arith::ExtFOp>(loc, f64, operand));
    Value result = b.create<func::CallOp>(loc, callee, operands).getResult(0);
    if (type != f64)
      result = b.create<arith::TruncFOp>(loc, type, result);
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
};
} // namespace
