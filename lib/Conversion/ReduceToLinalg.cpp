// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Conversion/LinalgBuilder.h"

#include <limits>

using namespace netc;
using namespace mlir;

/// How many elements a reduction over `axes` takes together.
static double countOf(RankedTensorType type, ArrayRef<int64_t> axes) {
  double count = 1;
  for (int64_t axis : axes)
    count *= type.getDimSize(axis);
  return count;
}

static Value divide(LinalgBuilder &b, Value x, double divisor) {
  return b.map(x, [&](ArrayRef<Element> x) { return x[0] / divisor; });
}

/// The sum of products, element by element, over `axes`.
static Value sumProducts(LinalgBuilder &b, Value x, Value y,
                         ArrayRef<int64_t> axes) {
  return b.reduce({x, y}, axes, 0, [](ArrayRef<Element> args) {
    return args[2] + args[0] * args[1];
  });
}

static void lowerSum(SumOp op, LinalgBuilder &b) {
  b.set(op.getY(), b.sum(b.get(op.getX()), op.getOver()));
}

static void lowerMean(MeanOp op, LinalgBuilder &b) {
  Value sum = b.sum(b.get(op.getX()), op.getOver());
  b.set(op.getY(), divide(b, sum, countOf(b.type(op.getX()), op.getOver())));
}

static void lowerMeanGrad(MeanGradOp op, LinalgBuilder &b) {
  double count = op.getCount().getValue().constant()->toDouble();
  b.set(op.getDx(), divide(b, b.get(op.getDy()), count));
}

static void lowerSoftmax(SoftmaxOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  int64_t over = op.getOver();
  Value largest = b.largest(x, over);
  Value exps = b.mapWith(x, largest, over, [](ArrayRef<Element> args) {
    return exp(args[0] - args[1]);
  });
  b.set(op.getY(),
        b.mapWith(exps, b.sum(exps, over), over,
                  [](ArrayRef<Element> args) { return args[0] / args[1]; }));
}

static void lowerSoftmaxGrad(SoftmaxGradOp op, LinalgBuilder &b) {
  Value dy = b.get(op.getDy()), y = b.get(op.getY());
  int64_t over = op.getOver();
  Value dot = sumProducts(b, dy, y, over);
  b.set(op.getDx(), b.mapWith({dy, y}, dot, over, [](ArrayRef<Element> args) {
    return args[1] * (args[0] - args[2]);
  }));
}

static Element rsqrt(Element x) { return x.apply<math::RsqrtOp>(); }

static void lowerNormalize(NormalizeOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  ArrayRef<int64_t> over = op.getOver();
  double count = countOf(b.type(op.getX()), over);
  double eps = op.getEps().convertToDouble();
  Value mean = divide(b, b.sum(x, over), count);
  Value centered = b.mapWith(
      x, mean, over, [](ArrayRef<Element> args) { return args[0] - args[1]; });
  Value variance = divide(b, sumProducts(b, centered, centered, over), count);
  Value rstd =
      b.map(variance, [&](ArrayRef<Element> v) { return rsqrt(v[0] + eps); });
  b.set(op.getY(), b.mapWith(centered, rstd, over, [](ArrayRef<Element> args) {
    return args[0] * args[1];
  }));
  b.set(op.getMean(), mean);
  b.set(op.getVariance(), variance);
  b.set(op.getRstd(), rstd);
}

static void lowerNormalizeGrad(NormalizeGradOp op, LinalgBuilder &b) {
  Value dy = b.get(op.getDy()), y = b.get(op.getY());
  ArrayRef<int64_t> over = op.getOver();
  double count = countOf(b.type(op.getDy()), over);
  Value mean = divide(b, b.sum(dy, over), count);
  Value along = divide(b, sumProducts(b, dy, y, over), count);
  b.set(op.getDx(), b.mapWith({dy, y}, {mean, along, b.get(op.getRstd())}, over,
                              [](ArrayRef<Element> args) {
                                Element dy = args[0], y = args[1];
                                return args[4] * (dy - args[2] - y * args[3]);
                              }));
}

static void lowerRmsNormalize(RmsNormalizeOp op, LinalgBuilder &b) {
  Value x = b.get(op.getX());
  ArrayRef<int64_t> over = op.getOver();
  double count = countOf(b.type(op.getX()), over);
  double eps = op.getEps().convertToDouble();
  Value rstd = b.map(sumProducts(b, x, x, over), [&](ArrayRef<Element> sum) {
    return rsqrt(sum[0] / count + eps);
  });
  b.set(op.getY(), b.mapWith(x, rstd, over, [](ArrayRef<Element> args) {
    return args[0] * args[1];
  }));
  b.set(op.getRstd(), rstd);
}

static void lowerRmsNormalizeGrad(RmsNormalizeGradOp op, LinalgBuilder &b) {
  Value dy = b.get(op.getDy()), y = b.get(op.getY());
  ArrayRef<int64_t> over = op.getOver();
  double count = countOf(b.type(op.getDy()), over);
  Value along = divide(b, sumProducts(b, dy, y, over), count);
  b.set(op.getDx(), b.mapWith({dy, y}, {along, b.get(op.getRstd())}, over,
                              [](ArrayRef<Element> args) {
                                return args[3] * (args[0] - args[1] * args[2]);
                              }));
}

static void lowerMovingAverage(MovingAverageOp op, LinalgBuilder &b) {
  double momentum = op.getMomentum().convertToDouble();
  Value moved = b.map({b.get(op.getBuffer()), b.get(op.getValue())},
                      [&](ArrayRef<Element> args) {
                        return args[0] + (args[1] - args[0]) * momentum;
                      });
  b.write(moved, b.slotOf(op.getBuffer()));
}

void netc::addReduceLowerings(Lowerings &lowerings) {
  lowerings.add(lowerSum);
  lowerings.add(lowerMean);
  lowerings.add(lowerMeanGrad);
  lowerings.add(lowerSoftmax);
  lowerings.add(lowerSoftmaxGrad);
  lowerings.add(lowerNormalize);
  lowerings.add(lowerNormalizeGrad);
  lowerings.add(lowerRmsNormalize);
  lowerings.add(lowerRmsNormalizeGrad);
  lowerings.add(lowerMovingAverage);
}
