// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Codegen/CUDA/Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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
  using LowerDeviceMathBase::LowerDeviceMathBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> functions, extrema, roundings;
    for (auto kernel : module.getOps<func::FuncOp>())
      if (kernel->hasAttr(kThreads))
        kernel.walk([&](Operation *op) {
          if (isa<math::MathDialect>(op->getDialect()) && !isNative(op))
            functions.push_back(op);
          else if (isa<arith::MaximumFOp, arith::MinimumFOp>(op) &&
                   op->getResult(0).getType().isF64())
            extrema.push_back(op);
          else if (isa<arith::TruncFOp>(op) &&
                   op->getOperand(0).getType().isF32() &&
                   op->getResult(0).getType().isBF16())
            roundings.push_back(op);
        });
    OpBuilder b(&getContext());
    for (Operation *op : extrema) {
      b.setInsertionPoint(op);
      op->getResult(0).replaceAllUsesWith(extremum(b, op));
      op->erase();
    }
    for (Operation *op : roundings) {
      ImplicitLocOpBuilder at(op->getLoc(), op);
      op->getResult(0).replaceAllUsesWith(
          PtxBuilder(at).roundToBF16(op->getOperand(0)));
      op->erase();
    }
    if (functions.empty())
      return;
    OwningOpRef<ModuleOp> library =
        parseSourceString<ModuleOp>(texts[0], ParserConfig(&getContext()));
    for (Operation *op : functions) {
      func::FuncOp callee = find(*library, op);
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

  /// The function that computes an op: of f32, if the op has no wider numbers
  /// and there is one, else of f64.
  func::FuncOp find(ModuleOp library, Operation *op) {
    std::string name = ("netc_" + op->getName().stripDialect()).str();
    func::FuncOp narrow;
    if (approximate && !op->getResult(0).getType().isF64())
      narrow = library.lookupSymbol<func::FuncOp>(name + "_f32");
    return narrow ? narrow : library.lookupSymbol<func::FuncOp>(name);
  }

  static void call(OpBuilder &b, Operation *op, func::FuncOp callee) {
    b.setInsertionPoint(op);
    Location loc = op->getLoc();
    Type type = op->getResult(0).getType();
    Type computed = callee.getResultTypes()[0];
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(type == computed
                             ? operand
                             : b.create<arith::ExtFOp>(loc, computed, operand));
    Value result = b.create<func::CallOp>(loc, callee, operands).getResult(0);
    if (type != computed)
      result = b.create<arith::TruncFOp>(loc, type, result);
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
};
} // namespace
