// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/Passes.h"
#include "lib/Codegen/Perturbation.h"

#include "lib/Conversion/Element.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_WIDENFLOAT16
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

static FloatType float16Of(Value value) {
  return isFloat16(value.getType()) ? cast<FloatType>(value.getType())
                                    : FloatType();
}

namespace {
struct WidenFloat16 : netc::impl::WidenFloat16Base<WidenFloat16> {
  using WidenFloat16Base::WidenFloat16Base;

  void runOnOperation() override {
    Type f64 = Float64Type::get(&getContext());
    SmallVector<std::pair<arith::TruncFOp, FloatType>> roundings;
    SmallVector<arith::ExtFOp> extensions;
    WalkResult all = getOperation().walk([&](Operation *op) {
      if (auto rounding = dyn_cast<arith::TruncFOp>(op)) {
        if (FloatType format = float16Of(rounding.getOut())) {
          if (rounding.getIn().getType() != f64) {
            op->emitError("rounds what is not in f64");
            return WalkResult::interrupt();
          }
          roundings.push_back({rounding, format});
        }
      } else if (auto extension = dyn_cast<arith::ExtFOp>(op)) {
        if (float16Of(extension.getIn()))
          extensions.push_back(extension);
      } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
        if (float16Of(constant))
          constant.setValueAttr(FloatAttr::get(
              f64, cast<FloatAttr>(constant.getValue()).getValueAsDouble()));
      }
      return WalkResult::advance();
    });
    if (all.wasInterrupted())
      return signalPassFailure();

    AttrTypeReplacer replacer;
    replacer.addReplacement([&](FloatType type) -> std::optional<Type> {
      return isFloat16(type) ? std::optional<Type>(f64) : std::nullopt;
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    OpBuilder b(&getContext());
    for (auto [rounding, format] : roundings) {
      Value value = rounding.getIn();
      if (perturbed) {
        b.setInsertionPoint(rounding);
        value = perturb(b, getOperation(), value, RoundingError::of(format));
      }
      rounding.replaceAllUsesWith(value);
      rounding.erase();
    }
    for (arith::ExtFOp extension : extensions) {
      extension.replaceAllUsesWith(extension.getIn());
      extension.erase();
    }
    if (inputs)
      perturbInputs();
  }

  /// Perturbs the operands of products with a kInputPrecision.
  void perturbInputs() {
    getOperation().walk([&](linalg::GenericOp op) {
      FloatType format = inputPrecisionOf(op);
      if (!format)
        return;
      ImplicitLocOpBuilder b(op.getLoc(), op);
      for (OpOperand *input : op.getDpsInputOperands()) {
        auto type = cast<RankedTensorType>(input->get().getType());
        Value none =
            b.create<tensor::EmptyOp>(type.getShape(), type.getElementType());
        auto each = b.create<linalg::MapOp>(
            input->get(), none,
            [&](OpBuilder &inner, Location loc, ValueRange elements) {
              inner.create<linalg::YieldOp>(
                  loc, perturb(inner, getOperation(), elements[0],
                               RoundingError::of(format)));
            });
        input->set(each->getResult(0));
      }
    });
  }
};
} // namespace
