// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/Passes.h"
#include "lib/Codegen/Rounding.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_LOWERFLOAT16
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

static bool isFloat16(Value value) {
  return isFloat16(getElementTypeOrSelf(value.getType()));
}

/// Whether an op does no arithmetic on 16-bit floats.
static bool movesFloat16(Operation *op) {
  return !isa<arith::ArithFastMathInterface>(op) || isa<arith::SelectOp>(op) ||
         llvm::none_of(op->getOperands(), [](Value x) { return isFloat16(x); });
}

static TypedAttr bitsOf(TypedAttr number) {
  Builder b(number.getContext());
  if (auto scalar = dyn_cast<FloatAttr>(number))
    return b.getIntegerAttr(b.getI16Type(), scalar.getValue().bitcastToAPInt());
  return llvm::cast<DenseFPElementsAttr>(number).mapValues(
      b.getI16Type(),
      [](const APFloat &value) { return value.bitcastToAPInt(); });
}

namespace {
struct LowerFloat16 : netc::impl::LowerFloat16Base<LowerFloat16> {
  using LowerFloat16Base::LowerFloat16Base;

  void runOnOperation() override {
    SmallVector<std::pair<arith::ExtFOp, FloatType>> extensions;
    SmallVector<std::pair<arith::TruncFOp, FloatType>> truncations;
    SmallVector<arith::ConstantOp> constants;
    SmallVector<std::pair<OpOperand *, Type>> operandsOfCalls;
    WalkResult all = getOperation().walk([&](Operation *op) {
      auto formatOf = [](Value value) {
        return llvm::cast<FloatType>(getElementTypeOrSelf(value.getType()));
      };
      if (auto wide = dyn_cast<arith::ExtFOp>(op)) {
        if (isFloat16(wide.getIn()))
          extensions.push_back({wide, formatOf(wide.getIn())});
      } else if (auto narrow = dyn_cast<arith::TruncFOp>(op)) {
        if (isFloat16(narrow.getOut()))
          truncations.push_back({narrow, formatOf(narrow.getOut())});
      } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
        if (isFloat16(constant.getResult()))
          constants.push_back(constant);
      } else if (isa<LLVM::CallIntrinsicOp>(op)) {
        for (OpOperand &operand : op->getOpOperands())
          if (isFloat16(operand.get()))
            operandsOfCalls.push_back({&operand, operand.get().getType()});
      } else if (!movesFloat16(op)) {
        op->emitError() << "arithmetic on numbers of 16 bits";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (all.wasInterrupted())
      return signalPassFailure();

    for (arith::ConstantOp constant : constants)
      constant.setValueAttr(bitsOf(constant.getValue()));
    AttrTypeReplacer replacer;
    replacer.addReplacement([](FloatType type) -> std::optional<Type> {
      if (isFloat16(type))
        return IntegerType::get(type.getContext(), 16);
      return std::nullopt;
    });
    // The module's attributes describe slots, and keep their types.
    for (Operation &op : *getOperation().getBody())
      replacer.recursivelyReplaceElementsIn(&op, /*replaceAttrs=*/true,
                                            /*replaceLocs=*/false,
                                            /*replaceTypes=*/true);

    // Intrinsics take vectors of bf16: cast the integers back.
    for (auto [operand, type] : operandsOfCalls) {
      ImplicitLocOpBuilder b(operand->getOwner()->getLoc(),
                             operand->getOwner());
      operand->set(b.create<LLVM::BitcastOp>(type, operand->get()));
    }
    for (auto [op, format] : extensions)
      replace(op, [&, op = op, format = format](Element bits) {
        return widened(bits, format,
                       getElementTypeOrSelf(op->getResult(0).getType()),
                       converts(format));
      });
    for (auto [op, format] : truncations)
      replace(op, [&, format = format](Element x) {
        return rounded(x, format, converts(format));
      });
  }

  bool converts(FloatType format) const {
    return format.isBF16() ? convertsBfloats : convertsHalves;
  }

  static void replace(Operation *op, function_ref<Value(Element)> build) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    op->getResult(0).replaceAllUsesWith(build({&b, op->getOperand(0)}));
    op->erase();
  }
};
} // namespace
