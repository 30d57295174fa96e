// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Conversion/BoundedIndex.h"
#include "lib/Conversion/LinalgBuilder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace netc;
using namespace mlir;

static SmallVector<int64_t> allAxes(Value x) {
  return LinalgBuilder::others(cast<RankedTensorType>(x.getType()).getRank(),
                               {});
}

static Value sumOfAll(LinalgBuilder &b, Value x) {
  return b.sum(x, allAxes(x));
}

static double sizeOf(Value x) {
  return cast<RankedTensorType>(x.getType()).getNumElements();
}

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

/// A class index, bounded by the number of classes.
static BoundedIndex classOf(Element number, int64_t classes) {
  return BoundedIndex::of(*number.b, number, classes);
}

/// The number of labels that are classes, as a float.
static Value countLabels(LinalgBuilder &b, Value target, int64_t classes,
                         Type element) {
  Value count = b.reduce(
      target, allAxes(target), 0,
      [&](ArrayRef<Element> args) {
        ImplicitLocOpBuilder &e = *args[0].b;
        Value one = e.create<arith::ExtUIOp>(
            args[1].type(), classOf(args[0], classes).isInside);
        return Element{&e, e.create<arith::AddIOp>(args[1], one)};
      },
      b.getI64Type());
  return b.map(
      count,
      [&](ArrayRef<Element> args) {
        ImplicitLocOpBuilder &e = *args[0].b;
        return Element{&e, e.create<arith::SIToFPOp>(element, args[0])};
      },
      element);
}

/// The target probability at (row, class). For labels it is 1 or 0, or smoothed
/// if `smoothing` is set, which counts as two operations.
static Element targetAt(Element target, bool hasNumbers, double smoothing,
                        int64_t classes, unsigned over, Element like) {
  ImplicitLocOpBuilder &e = *target.b;
  Element wanted = target;
  if (hasNumbers) {
    // A vector has more lanes of 32 bits than of 64.
    Type narrow = e.getIntegerType(llvm::isInt<32>(classes) ? 32 : 64);
    auto numberOf = [&](Value index) -> Value {
      return e.create<arith::IndexCastOp>(narrow, index);
    };
    Value is = e.create<arith::CmpIOp>(
        arith::CmpIPredicate::eq, numberOf(e.create<linalg::IndexOp>(over)),
        numberOf(classOf(target, classes).index));
    double low = smoothing / classes;
    return select({&e, is}, number(like, 1 - smoothing + low),
                  number(like, low));
  }
  if (smoothing != 0)
    wanted = wanted * (1 - smoothing) + smoothing / classes;
  return wanted;
}

static void lowerCrossEntropy(CrossEntropyOp op, LinalgBuilder &b) {
  Value logits = b.get(op.getLogits()), target = b.get(op.getTarget());
  int64_t over = op.getOver();
  RankedTensorType type = b.type(op.getLogits());
  Type element = type.getElementType();
  int64_t classes = type.getDimSize(over);
  bool hasNumbers = op.hasClassNumbers();
  double smoothing = op.getSmoothing().convertToDouble();
  unsigned rank = type.getRank();

  Value largest = b.largest(logits, over);
  Value d = b.mapWith(logits, largest, over,
                      [](ArrayRef<Element> args) { return args[0] - args[1]; });
  Value exps = b.map(d, [](ArrayRef<Element> args) { return exp(args[0]); });
  Value sums = b.sum(exps, over);
  b.set(op.getProbabilities(),
        b.mapWith(exps, sums, over,
                  [](ArrayRef<Element> args) { return args[0] / args[1]; }));

  // For each row, the element of d at the target's class.
  SmallVector<int64_t> rows = b.others(rank, over);
  AffineMap rowMap = b.project(rank, rows);
  RankedTensorType rowType = cast<RankedTensorType>(sums.getType());
  Value picked;
  if (hasNumbers && smoothing == 0) {
    picked = b.mapTo(
        rowType, target, b.identity(rank - 1), [&](ArrayRef<Element> args) {
          ImplicitLocOpBuilder &e = *args[0].b;
          Value number = classOf(args[0], classes).index;
          SmallVector<Value> at;
          for (unsigned axis = 0, row = 0; axis < rank; ++axis)
            at.push_back(axis == over
                             ? number
                             : e.create<linalg::IndexOp>(row++).getResult());
          return b.scalar(e, d, at);
        });
  } else {
    AffineMap targetMap = hasNumbers ? rowMap : b.identity(rank);
    picked =
        b.generic({d, target}, b.filled(rowType, 0),
                  {b.identity(rank), targetMap, rowMap},
                  [&](ArrayRef<Element> args) {
                    Element wanted = targetAt(args[1], hasNumbers, smoothing,
                                              classes, over, args[0]);
                    return SmallVector<Element>{args[2] + wanted * args[0]};
                  })
            .front();
  }

  Value losses = b.map({sums, picked}, [](ArrayRef<Element> args) {
    return log(args[0]) - args[1];
  });
  SmallVector<AffineMap> maps(hasNumbers ? 2 : 1, b.identity(rank - 1));
  maps.push_back(b.project(rank - 1, {}));
  SmallVector<Value> operands{losses};
  if (hasNumbers)
    operands.push_back(target);
  Value total =
      b.generic(operands, b.filled(RankedTensorType::get({}, element), 0), maps,
                [&](ArrayRef<Element> args) {
                  Element loss = args[0];
                  if (hasNumbers)
                    loss = classOf(args[1], classes).orZero(loss);
                  return SmallVector<Element>{args.back() + loss};
                })
          .front();
  Value loss =
      hasNumbers
          ? b.map({total, countLabels(b, target, classes, element)},
                  [](ArrayRef<Element> args) { return args[0] / args[1]; })
          : b.divide(total, sizeOf(sums));
  b.set(op.getLoss(), loss);
}

static void lowerCrossEntropyGrad(CrossEntropyGradOp op, LinalgBuilder &b) {
  Value probabilities = b.get(op.getProbabilities());
  Value target = b.get(op.getTarget()), dloss = b.get(op.getDloss());
  int64_t over = op.getOver();
  RankedTensorType type = b.type(op.getDlogits());
  unsigned rank = type.getRank();
  int64_t classes = type.getDimSize(over);
  bool hasNumbers = op.hasClassNumbers();
  double smoothing = op.getSmoothing().convertToDouble();
  SmallVector<int64_t> rows = b.others(rank, over);
  Value scale;
  if (hasNumbers)
    scale =
        b.map({dloss, countLabels(b, target, classes, type.getElementType())},
              [](ArrayRef<Element> args) { return args[0] / args[1]; });
  else
    scale = b.divide(dloss, double(type.getNumElements()) / classes);
  b.set(op.getDlogits(),
        b.mapTo(type, {probabilities, target, scale},
                {b.identity(rank),
                 hasNumbers ? b.project(rank, rows) : b.identity(rank),
                 b.project(rank, {})},
                [&](ArrayRef<Element> args) {
                  Element d =
                      (args[0] - targetAt(args[1], hasNumbers, smoothing,
                                          classes, over, args[0])) *
                      args[2];
                  return hasNumbers ? classOf(args[1], classes).orZero(d) : d;
                }));
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

/// The target's element as a float of x's type.
static Element targetLike(Element x, Element target) {
  if (isa<FloatType>(target.type()))
    return target;
  return {x.b, mlir::convertScalarToDtype(
                   *x.b, x.b->getLoc(), target, x.type(),
                   /*isUnsignedCast=*/target.type().isInteger(1))};
}

static void lowerBce(BceOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  Value losses = b.map({x, b.get(op.getTarget())}, [](ArrayRef<Element> args) {
    Element x = args[0], t = targetLike(x, args[1]);
    return t * log(x) + (1 - t) * log(1 - x);
  });
  b.set(op.getLoss(), b.divide(sumOfAll(b, losses), -sizeOf(x)));
}

static void lowerBceGrad(BceGradOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  Value scale = b.divide(b.get(op.getDloss()), sizeOf(x));
  RankedTensorType type = b.type(op.getX());
  unsigned rank = type.getRank();
  b.set(op.getDx(),
        b.mapTo(type, {x, b.get(op.getTarget()), scale},
                {b.identity(rank), b.identity(rank), b.project(rank, {})},
                [](ArrayRef<Element> args) {
                  Element x = args[0], t = targetLike(x, args[1]);
                  return (x - t) / (x * (1 - x)) * args[2];
                }));
}

static void lowerMse(MseOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  Value difference =
      b.map({x, b.get(op.getTarget())}, [](ArrayRef<Element> args) {
        return args[0] - targetLike(args[0], args[1]);
      });
  Value squares = b.map(
      difference, [](ArrayRef<Element> args) { return args[0] * args[0]; });
  b.set(op.getLoss(), b.divide(sumOfAll(b, squares), sizeOf(x)));
}

static void lowerMseGrad(MseGradOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  Value scale = b.divide(b.get(op.getDloss()), sizeOf(x) / 2);
  RankedTensorType type = b.type(op.getX());
  unsigned rank = type.getRank();
  b.set(op.getDx(),
        b.mapTo(type, {x, b.get(op.getTarget()), scale},
                {b.identity(rank), b.identity(rank), b.project(rank, {})},
                [](ArrayRef<Element> args) {
                  return (args[0] - targetLike(args[0], args[1])) * args[2];
                }));
}

void netc::addLossLowerings(Lowerings &lowerings) {
  lowerings.add(lowerCrossEntropy);
  lowerings.add(lowerCrossEntropyGrad);
  lowerings.add(lowerBce);
  lowerings.add(lowerBceGrad);
  lowerings.add(lowerMse);
  lowerings.add(lowerMseGrad);
}
