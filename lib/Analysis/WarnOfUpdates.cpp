// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/WarnOfUpdates.h"

#include "lib/Analysis/Memory.h"
#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Hardware/Precision.h"

#include <cmath>

using namespace netc;
using namespace mlir;

/// Whether a gradient is one of look-ups that was changed or added to.
static bool isOfLookups(Value gradient) {
  llvm::SetVector<Value> sources;
  sources.insert(gradient);
  for (size_t i = 0; i < sources.size(); ++i) { // grows on the way
    Operation *op = sources[i].getDefiningOp();
    if (isa_and_nonnull<EmbeddingGradOp>(op))
      return true;
    if (op)
      for (Value operand : op->getOperands())
        if (shapeOf(operand).elements() == shapeOf(gradient).elements())
          sources.insert(operand);
  }
  return false;
}

/// Warns of dense updates of tables for which sparse ones were asked.
static void warnOfDenseTables(StepOp op) {
  op.walk([&](SgdOp update) {
    if (update.getSparse() && isOfLookups(update.getGradient()))
      warn(op.getLoc(), op.getSymName(), WarningId::DenseUpdate)
          << "`sparse` updates all rows of a table of "
          << shapeOf(update.getParameter()).elements().str()
          << " numbers, since its gradient is not only that of look-ups: it is "
             "scaled, clipped, or has other parts";
  });
}

/// The parameter that an op updates; null for a buffer.
static ParameterOp weightOf(UpdateOpInterface update) {
  ParameterOp weight;
  forEachBase(update->getOperand(0), [&](Value base) {
    weight = dyn_cast_or_null<ParameterOp>(base.getDefiningOp());
  });
  return weight;
}

/// Whether steps may be smaller than this share of a weight: the learning rate
/// is, or it is not a constant of the op. Optimizers that are blocks have no
/// op.
static bool isSmallerThan(double share, UpdateOpInterface update) {
  for (Value value : update->getOperands().drop_front())
    if (shapeOf(value).rank() == 0) {
      auto rate = value.getDefiningOp<ConstantOp>();
      return !rate || rate.getValue().convertToDouble() < share;
    }
  return true;
}

/// Warns of updates of 16-bit weights without a master copy. A change by less
/// than half the distance to the next number, 2^-9 of a weight in bf16, has no
/// effect; Adam's changes are as large as its learning rate.
static void warnOfLostUpdates(StepOp op) {
  std::optional<Precision> precision =
      parsePrecision(op.getRun().getFacts().precision);
  op.walk([&](UpdateOpInterface update) {
    ParameterOp weight = weightOf(update);
    auto element = dyn_cast_or_null<FloatType>(
        weight ? netc::elementOf(weight.getValue()) : Type());
    if (!element || element.getWidth() > 16)
      return WalkResult::advance();
    double share = std::ldexp(1, -int(element.getFPMantissaWidth()) - 1);
    if (!isSmallerThan(share, update))
      return WalkResult::advance();
    std::string format = nameOfType(element);
    bool isPolicys =
        precision && traitsOf(precision->parameters()).name == format;
    warn(isPolicys ? placeOf(op, "precision") : weight.getLoc(),
         op.getSymName(), WarningId::LostUpdates)
        << "`" << (isPolicys ? precision->str() : weight.getName().str())
        << (isPolicys ? "` updates weights in " : "` is updated in ") << format
        << ": a step of less than 1/" << int64_t(1 / share)
        << " of a weight is rounded away, and with a small learning rate most "
           "are; "
        << (isPolicys ? "" : "without its `type`, ") << "`megatron(" << format
        << ")` has a master in f32";
    return WalkResult::interrupt();
  });
}

/// Whether an update makes a value of squares, and not of their roots.
static bool isOfSquares(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || phaseOf(op) != Phase::Update)
    return false;
  if (isa<MulOp>(op) && op->getOperand(0) == op->getOperand(1))
    return true;
  if (auto power = dyn_cast<PowerOp>(op))
    return power.getExponent().convertToDouble() == 2;
  return isa<AddOp, SubOp, MulOp, DivOp, MeanOp, SumOp, BroadcastOp, ReshapeOp>(
             op) &&
         llvm::any_of(op->getOperands(), isOfSquares);
}

Operation *netc::holderOfLostSquares(Operation *root) {
  Operation *found = nullptr;
  root->walk([&](Operation *update) {
    Operation *holder = nullptr;
    if (isa<AdamOp, AdamwOp>(update))
      holder = update;
    else if (isa<AssignOp, MovingAverageOp>(update) &&
             isOfSquares(update->getOperand(1)))
      holder = update->getOperand(0).getDefiningOp<BufferOp>();
    if (!holder)
      return WalkResult::advance();
    Type own = netc::elementOf(holder == update ? update->getOperand(0)
                                                : holder->getResult(0));
    if (!statedFormat(holder, kStateFormat, own).isF16())
      return WalkResult::advance();
    found = holder;
    return WalkResult::interrupt();
  });
  return found;
}

static void warnOfLostSquares(StepOp op) {
  if (Operation *holder = holderOfLostSquares(op)) {
    std::optional<Precision> precision =
        parsePrecision(op.getRun().getFacts().precision);
    bool isPolicys = precision && precision->states == NumberFormat::F16;
    std::string instead = "a buffer without `type`";
    if (isPolicys) {
      Precision wider = *precision;
      wider.states = NumberFormat::F32;
      instead = "`" + wider.str() + "`";
    }
    warn(isPolicys ? placeOf(op, "precision") : holder->getLoc(),
         op.getSymName(), WarningId::LostSquares)
        << "squares of gradients are kept in f16, where those below 6e-8 are "
           "0: what is divided by their root is then as large as the "
           "optimizer's `eps` lets it be; "
        << instead << " has them in f32";
  }
}

void netc::warnOfUpdates(StepOp step) {
  warnOfDenseTables(step);
  warnOfLostUpdates(step);
  warnOfLostSquares(step);
}
