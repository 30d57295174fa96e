// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Conversion/LinalgBuilder.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace netc;
using namespace mlir;

/// An unconditional write is visible to later ops in memory. After a
/// conditional one, later ops read the written value itself: if the condition
/// does not hold, their own writes have no effect either.
static void follow(LinalgBuilder &b, Value held, Value written) {
  if (b.condition)
    b.set(held, written);
}

namespace {
/// The operands of an update as vectors, in the order of the payload's
/// arguments: the parameter, the gradient, the state, the scalars.
struct Update {
  LinalgBuilder &b;
  Operation *op;
  Value parameter;
  SmallVector<Value> vectors, scalars;
  SmallVector<TypedValue<MemRefType>> written;

  Update(LinalgBuilder &b, Operation *op)
      : b(b), op(op),
        parameter(op->getOperand(0)), vectors{b.get(parameter),
                                              b.get(op->getOperand(1))},
        written{b.slotOf(parameter)} {}

  /// Adds a state tensor with the shape of the parameter.
  void keep(StringRef name) {
    std::string slot = (b.nameOfSlot(parameter) + "." + name).str();
    RankedTensorType type = b.storedType(
        parameter, statedFormat(op, kStateFormat, elementOf(parameter)));
    vectors.push_back(b.read(slot, type, Role::State));
    written.push_back(b.slot(slot, type, Role::State));
  }

  /// Writes the results of `payload`: the parameter, then the state.
  void apply(Payload payload) {
    RankedTensorType type = b.type(parameter);
    SmallVector<Value> operands = vectors, outs{vectors.front()};
    llvm::append_range(operands, scalars);
    outs.append(vectors.begin() + 2, vectors.end());
    SmallVector<AffineMap> maps(vectors.size(), b.identity(type.getRank()));
    maps.append(scalars.size(), b.project(type.getRank(), {}));
    maps.append(outs.size(), b.identity(type.getRank()));
    SmallVector<Value> updated =
        b.generic(operands, outs, maps, [&](ArrayRef<Element> args) {
          return payload(args.drop_back(outs.size()));
        });
    for (auto [value, slot] : llvm::zip_equal(updated, written))
      b.write(value, slot);
    follow(b, parameter, updated.front());
  }
};
} // namespace

static void lowerSgd(SgdOp op, LinalgBuilder &b) {
  double momentum = op.getMomentum().convertToDouble();
  double decay = op.getWeightDecay().convertToDouble();
  Update update(b, op);
  if (momentum != 0)
    update.keep("velocity");
  update.scalars = {b.get(op.getLr())};
  update.apply([&](ArrayRef<Element> args) -> SmallVector<Element> {
    Element w = args[0], g = args[1], lr = args.back();
    if (decay != 0)
      g = g + w * decay;
    if (momentum == 0)
      return {w - g * lr};
    Element velocity = args[2] * momentum + g;
    Element along = op.getNesterov() ? g + velocity * momentum : velocity;
    return {w - along * lr, velocity};
  });
}

static void lowerSparseSgd(SparseSgdOp op, LinalgBuilder &b) {
  Value lr = b.get(op.getLr());
  Value updated =
      b.updateRows(b.get(op.getDy()), b.get(op.getIds()), b.get(op.getTable()),
                   [&](Element row, Element dy) {
                     return row - dy * Element{&b, b.scalar(lr)};
                   });
  b.write(updated, b.slotOf(op.getTable()));
  follow(b, op.getTable(), updated);
}

/// A scalar that `build` computes from `operand` and `constant`, once per step
/// for all updates. Its arithmetic is not counted. `name` distinguishes scalars
/// of the same operand and constant.
static Value once(LinalgBuilder &b, StringRef name, Value operand,
                  double constant, Payload1 build) {
  Value &number =
      b.numbers[{b.getInsertionBlock(), operand.getAsOpaquePointer(), constant,
                 name.str()}];
  if (number)
    return number;
  number = b.map(operand, build);
  number.getDefiningOp()->getRegion(0).walk([&](Operation *op) {
    op->setDiscardableAttr(kUncounted, b.getUnitAttr());
  });
  return number;
}

/// With `decoupled`, weight decay is applied to the weights themselves, else to
/// the gradient.
template <typename OpTy>
static void lowerAdam(OpTy op, LinalgBuilder &b, bool decoupled) {
  double b1 = op.getB1().convertToDouble(), b2 = op.getB2().convertToDouble();
  double eps = op.getEps().convertToDouble();
  double decay = op.getWeightDecay().convertToDouble();
  Value step = b.get(op.getStep()), lr = b.get(op.getLr());
  auto correction = [&](double beta) {
    return once(b, "correction", step, beta, [&](ArrayRef<Element> step) {
      return 1 - number(step[0], beta).apply<math::PowFOp>(step[0]);
    });
  };
  Update update(b, op);
  update.keep("mean");
  update.keep("square");
  update.scalars = {lr, correction(b1), correction(b2),
                    once(b, "decay", lr, decay, [&](ArrayRef<Element> lr) {
                      return 1 - lr[0] * decay;
                    })};
  update.apply([&](ArrayRef<Element> args) -> SmallVector<Element> {
    Element w = args[0], g = args[1], mean = args[2], square = args[3];
    Element lr = args[4];
    if (decay != 0 && decoupled)
      w = w * args[7];
    else if (decay != 0)
      g = g + w * decay;
    mean = mean * b1 + g * (1 - b1);
    square = square * b2 + g * g * (1 - b2);
    Element along = (mean / args[5]) / (sqrt(square / args[6]) + eps);
    return {w - along * lr, mean, square};
  });
}

static void lowerAdamOp(AdamOp op, LinalgBuilder &b) {
  lowerAdam(op, b, /*decoupled=*/false);
}
static void lowerAdamwOp(AdamwOp op, LinalgBuilder &b) {
  lowerAdam(op, b, /*decoupled=*/true);
}

static LogicalResult lowerAssign(AssignOp op, LinalgBuilder &b) {
  if (!b.isHeld(op.getHeld()))
    return op.emitError("`assign` takes a parameter or a buffer, this is a "
                        "value that the step computes");
  b.write(b.get(op.getValue()), b.slotOf(op.getHeld()));
  follow(b, op.getHeld(), b.get(op.getValue()));
  return success();
}

void netc::addOptimizerLowerings(Lowerings &lowerings) {
  lowerings.add<WhenOp>([&lowerings](WhenOp op, LinalgBuilder &b) {
    llvm::SaveAndRestore condition(b.condition, b.get(op.getCondition()));
    return lowerings.lower(op.getBlock(), b);
  });
  lowerings.add(lowerSgd);
  lowerings.add(lowerSparseSgd);
  lowerings.add(lowerAdamOp);
  lowerings.add(lowerAdamwOp);
  lowerings.add(lowerAssign);
}
