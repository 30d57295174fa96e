// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/IR/Diagnostics.h"
#include "test/dialect/OpTest.h"
#include <random>

using namespace netc;
using namespace mlir;

namespace {
class WindowOpsTest : public OpTest {
protected:
  int64_t pick(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  }
  SmallVector<int64_t> pickList(size_t count, int64_t least, int64_t most) {
    SmallVector<int64_t> list;
    for (size_t i = 0; i < count; ++i)
      list.push_back(pick(least, most));
    return list;
  }

  Cost costOf(Value value) {
    return cast<CostOpInterface>(value.getDefiningOp()).getCost();
  }

  std::mt19937 random{1};
};
} // namespace

// By sliding: how many windows begin at -low, -low + stride, ... and end
// inside.
static int64_t countWindows(int64_t n, int64_t low, int64_t high, int64_t span,
                            int64_t stride, bool ceil) {
  int64_t count = 0;
  for (int64_t start = -low;; start += stride, ++count) {
    bool isInside = start + span <= n + high;
    bool isPartlyInside = start < n && start - stride + span < n + high;
    if (!isInside && !(ceil && isPartlyInside))
      return count;
  }
}

TEST_F(WindowOpsTest, ConvolutionsAndTheirGradients) {
  for (int trial = 0; trial < 500; ++trial) {
    size_t axes = pick(1, 3);
    int64_t groups = pick(1, 3);
    int64_t in = groups * pick(1, 3), out = groups * pick(1, 3);
    auto stride = pickList(axes, 1, 4), dilation = pickList(axes, 1, 3);
    auto low = pickList(axes, 0, 4), high = pickList(axes, 0, 4);
    Shape x({Polynomial::symbol("N"), in}), weight({out, in / groups});
    SmallVector<int64_t> over;
    for (size_t i = 0; i < axes; ++i) {
      int64_t k = pick(1, 4), span = dilation[i] * (k - 1) + 1;
      int64_t least = std::max<int64_t>(span - low[i] - high[i], 1);
      over.push_back(2 + i);
      weight.sizes.push_back(k);
      x.sizes.push_back(pick(least, least + 9));
    }
    auto conv = create<ConvOp>(input(x.sizes), input(weight.sizes), stride, low,
                               high, dilation, groups, over, 1);
    Shape y = shapeOf(conv.getY());
    EXPECT_EQ(y[0], x[0]);
    EXPECT_EQ(y[1], out);
    for (size_t i = 0; i < axes; ++i) {
      int64_t span = dilation[i] * (*weight[2 + i].toInt64() - 1) + 1;
      EXPECT_EQ(y[2 + i], countWindows(*x[2 + i].toInt64(), low[i], high[i],
                                       span, stride[i], /*ceil=*/false));
    }

    SmallVector<Value> gradients = differentiate(conv);
    for (unsigned operand : {0, 1}) {
      EXPECT_EQ(gradients[operand].getType(),
                conv->getOperand(operand).getType());
      EXPECT_EQ(costOf(gradients[operand]).matmul, costOf(conv.getY()).matmul);
    }

    // The gradient for x is itself an op of the language.
    auto transposed = gradients[0].getDefiningOp<ConvTransposeOp>();
    gradients = differentiate(transposed);
    for (unsigned operand : {0, 1}) {
      EXPECT_EQ(gradients[operand].getType(),
                transposed->getOperand(operand).getType());
      EXPECT_EQ(costOf(gradients[operand]).matmul, costOf(conv.getY()).matmul);
    }
  }
}

TEST_F(WindowOpsTest, PoolsAndTheirGradients) {
  for (int trial = 0; trial < 500; ++trial) {
    size_t axes = pick(1, 3);
    auto k = pickList(axes, 1, 5), stride = pickList(axes, 1, 6);
    auto dilation = pickList(axes, 1, 3);
    bool isMax = pick(0, 1), ceil = pick(0, 1);
    if (!isMax)
      dilation.assign(axes, 1);
    Shape x(Polynomial::symbol("N"));
    SmallVector<int64_t> low, high, over;
    for (size_t i = 0; i < axes; ++i) {
      int64_t span = dilation[i] * (k[i] - 1) + 1;
      low.push_back(pick(0, span - 1));
      high.push_back(pick(0, span - 1));
      int64_t least = std::max<int64_t>(span - low[i] - high[i], 1);
      over.push_back(1 + i);
      x.sizes.push_back(pick(least, least + 12));
    }
    Operation *pool;
    if (isMax)
      pool = create<MaxPoolOp>(input(x.sizes), k, stride, low, high, dilation,
                               ceil, over);
    else
      pool =
          create<AvgPoolOp>(input(x.sizes), k, stride, low, high, ceil, over);
    Shape y = shapeOf(pool->getResult(0));
    for (size_t i = 0; i < axes; ++i)
      EXPECT_EQ(y[1 + i],
                countWindows(*x[1 + i].toInt64(), low[i], high[i],
                             dilation[i] * (k[i] - 1) + 1, stride[i], ceil));
    EXPECT_EQ(differentiate(pool).front().getType(),
              pool->getOperand(0).getType());
  }
}

TEST_F(WindowOpsTest, AdaptivePoolsCoverWhatTheirWindowsDo) {
  Polynomial batch = Polynomial::symbol("N");
  for (int64_t m = 1; m <= 12; ++m)
    for (int64_t n = 1; n <= 12; ++n) {
      int64_t covered = 0;
      for (int64_t i = 0; i < n; ++i)
        covered += llvm::divideCeil((i + 1) * m, n) - i * m / n;
      auto pool = create<AdaptiveAvgPoolOp>(input({batch, m, m}),
                                            ArrayRef<int64_t>{n, n},
                                            ArrayRef<int64_t>{1, 2});
      EXPECT_EQ(pool.getCovered(), batch * covered * covered);
      Value gradient = differentiate(pool).front();
      EXPECT_EQ(gradient.getType(), pool.getX().getType());
      EXPECT_EQ(costOf(gradient).other, costOf(pool).other);
    }
}

// What is free stays free where no size must be rounded.
TEST_F(WindowOpsTest, WindowsOnFreeAxes) {
  Polynomial batch = Polynomial::symbol("N"), time = Polynomial::symbol("T");
  auto one = [](int64_t value) { return SmallVector<int64_t>{value}; };
  auto conv = create<ConvOp>(input({batch, time, 4}), input({8, 4, 3}), one(1),
                             one(2), one(0), one(1), 1, one(1), 2);
  EXPECT_EQ(shapeOf(conv.getY()), Shape({batch, time, 8}));
  EXPECT_EQ(differentiate(conv)[0].getType(), conv.getX().getType());

  // Twice as long, and back.
  auto up =
      create<ConvTransposeOp>(input({batch, time, 4}), input({4, 8, 3}), one(2),
                              one(1), one(0), one(1), 1, one(0), one(1), 2);
  EXPECT_EQ(shapeOf(up.getY()), Shape({batch, 2 * time, 8}));
  EXPECT_EQ(differentiate(up)[0].getType(), up.getX().getType());

  auto pool =
      create<AdaptiveAvgPoolOp>(input({batch, time, 4}), one(1), one(1));
  EXPECT_EQ(pool.getCovered(), batch * time * 4);
}

// No setting crashes, hangs or wraps round: it is an error, or the op verifies.
TEST_F(WindowOpsTest, HostileSettings) {
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  const int64_t values[] = {std::numeric_limits<int64_t>::min(),
                            -1,
                            0,
                            1,
                            2,
                            Shape::maxSize,
                            Shape::maxSize + 1,
                            std::numeric_limits<int64_t>::max()};
  auto any = [&] { return values[pick(0, std::size(values) - 1)]; };
  auto list = [&] {
    SmallVector<int64_t> list;
    for (int64_t i = pick(0, 8) ? 1 : pick(0, 3); i > 0; --i)
      list.push_back(pick(0, 2) ? 1 : any());
    return builder.getDenseI64ArrayAttr(list);
  };
  auto number = [&] {
    return builder.getI64IntegerAttr(pick(0, 2) ? 1 : any());
  };
  Value x = input({2, Shape::maxSize, 1}), w = input({1, 1, Shape::maxSize});
  for (int trial = 0; trial < 20'000; ++trial) {
    SmallVector<Type> types;
    auto infer = [&](auto op, ValueRange operands, auto properties) {
      using OpTy = decltype(op);
      bool isValid = succeeded(
          OpTy::inferReturnTypes(&context, builder.getUnknownLoc(), operands,
                                 builder.getDictionaryAttr({}),
                                 OpaqueProperties(&properties), {}, types));
      for (Type type : types)
        EXPECT_TRUE(!isValid || hasValidShape(type));
    };
    ConvOp::Properties conv;
    conv.stride = list(), conv.low = list(), conv.high = list();
    conv.dilation = list(), conv.over = list();
    conv.groups = number(), conv.channel = number();
    infer(ConvOp(), {x, w}, conv);
    ConvTransposeOp::Properties transpose;
    transpose.stride = list(), transpose.low = list(), transpose.high = list();
    transpose.dilation = list(), transpose.over = list();
    transpose.extra = list();
    transpose.groups = number(), transpose.channel = number();
    infer(ConvTransposeOp(), {x, w}, transpose);
    MaxPoolOp::Properties max;
    max.k = list(), max.stride = list(), max.low = list(), max.high = list();
    max.dilation = list(), max.over = list();
    max.ceil = builder.getBoolAttr(pick(0, 1));
    infer(MaxPoolOp(), {x}, max);
    AvgPoolOp::Properties avg;
    avg.k = list(), avg.stride = list(), avg.low = list(), avg.high = list();
    avg.over = list(), avg.ceil = builder.getBoolAttr(pick(0, 1));
    infer(AvgPoolOp(), {x}, avg);
    AdaptiveAvgPoolOp::Properties adaptive;
    adaptive.size = list(), adaptive.over = list();
    infer(AdaptiveAvgPoolOp(), {x}, adaptive);
  }
}
