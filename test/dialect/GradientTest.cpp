// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialect/OpTest.h"
#include <random>

using namespace netc;
using namespace mlir;

static const Polynomial N = Polynomial::symbol("N");
static const Polynomial T = Polynomial::symbol("T");

namespace {
class GradientTest : public OpTest {
protected:
  /// The gradients of an op, which have the types of its operands.
  SmallVector<Value> gradientsOf(Operation *op) {
    SmallVector<Value> gradients = differentiate(op);
    for (auto [operand, gradient] : llvm::zip(op->getOperands(), gradients))
      if (gradient) {
        EXPECT_EQ(gradient.getType(), operand.getType());
      }
    return gradients;
  }

  /// What an einsum that makes `value` does.
  std::string specOf(Value value) {
    return value.getDefiningOp<EinsumOp>().getSpec().str();
  }
  std::vector<std::string> einsumGradients(StringRef spec,
                                           ArrayRef<Value> operands) {
    std::vector<std::string> specs;
    for (Value gradient : gradientsOf(create<EinsumOp>(spec, operands)))
      specs.push_back(specOf(gradient));
    return specs;
  }
};
} // namespace

TEST_F(GradientTest, ElementwiseOps) {
  auto real = [&](StringRef name, double value) {
    return builder.getNamedAttr(name, builder.getF64FloatAttr(value));
  };
  Value x = input({N, T, 8});
  auto check = [&](StringRef name, ValueRange operands,
                   ArrayRef<NamedAttribute> attributes = {}) {
    gradientsOf(builder.create(builder.getUnknownLoc(),
                               builder.getStringAttr(name), operands,
                               x.getType(), attributes));
  };
  for (StringRef name :
       {"relu", "relu6", "sigmoid", "tanh", "silu", "gelu", "gelu_tanh",
        "hardsigmoid", "hardswish", "softplus", "neg", "exp", "log", "sqrt",
        "abs", "sign", "sin", "cos"})
    check("net." + name.str(), x);
  for (StringRef name : {"add", "sub", "mul", "div", "minimum", "maximum"}) {
    check("net." + name.str(), {x, input({N, T, 8})});
    check("net." + name.str(), {x, x});
  }
  check("net.leaky_relu", x, real("slope", 0.2));
  check("net.softshrink", x, real("lambda", 0.2));
  for (double exponent : {-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 1e300})
    check("net.power", x, real("exponent", exponent));
  for (bool causal : {false, true})
    check("net.mask", x,
          {builder.getNamedAttr("causal", builder.getBoolAttr(causal)),
           real("value", -1e9),
           builder.getNamedAttr("window", builder.getI64IntegerAttr(2))});
  gradientsOf(
      create<ConvertOp>(tensorOf(builder.getBF16Type(), shapeOf(x)), x));
  for (SmallVector<int64_t> over : {SmallVector<int64_t>{0, 1, 2}, {0}, {2, 0}})
    gradientsOf(create<DropoutOp>(x, APFloat(0.1), over));
}

TEST_F(GradientTest, Linear) {
  // 2 * 8 * 5 * N * T, three times.
  auto linear = create<LinearOp>(input({N, 5, T}), input({8, 5}), 1);
  SmallVector<Value> gradients = gradientsOf(linear);
  auto dx = gradients[0].getDefiningOp<LinearOp>();
  auto dw = gradients[1].getDefiningOp<EinsumOp>();
  EXPECT_EQ(linear.getCost().matmul, 80 * N * T);
  EXPECT_EQ(dx.getCost().matmul, 80 * N * T);
  EXPECT_EQ(dw.getCost().matmul, 80 * N * T);
  EXPECT_EQ(dw.getSpec(), "a0 m a2, a0 k a2 -> m k");

  // A vector alone costs what a batch of one does.
  gradients = gradientsOf(create<LinearOp>(input({5}), input({8, 5}), 0));
  EXPECT_EQ(gradients[1].getDefiningOp<EinsumOp>().getCost().matmul, 80);
}

TEST_F(GradientTest, EinsumIsThatOfTheOtherOperands) {
  using Specs = std::vector<std::string>;
  EXPECT_EQ(
      einsumGradients("n t d, d m -> n t m", {input({N, T, 4}), input({4, 6})}),
      (Specs{"n t m, d m -> n t d", "n t d, n t m -> d m"}));
  EXPECT_EQ(
      einsumGradients("n t d, n t s, n t d -> n t d s",
                      {input({N, T, 4}), input({N, T, 6}), input({N, T, 4})}),
      (Specs{"n t d s, n t s, n t d -> n t d", "n t d, n t d s, n t d -> n t s",
             "n t d, n t s, n t d s -> n t d"}));
  // One tensor as both operands has the sum of two gradients.
  Value v = input({N, 27, 16});
  Value gradient =
      gradientsOf(create<EinsumOp>("n i e, n j e -> n i j", ValueRange{v, v}))
          .front();
  auto sum = gradient.getDefiningOp<AddOp>();
  EXPECT_EQ(specOf(sum.getA()), "n i j, n j e -> n i e");
  EXPECT_EQ(specOf(sum.getB()), "n i e, n i j -> n j e");
}

TEST_F(GradientTest, EinsumOfOneOperandMovesAndRepeats) {
  Value x = input({N, T, 4});
  auto single = [&](StringRef spec) {
    return gradientsOf(create<EinsumOp>(spec, x)).front().getDefiningOp();
  };
  EXPECT_TRUE(isa<TransposeOp>(single("n t d -> d n t")));
  EXPECT_TRUE(isa<BroadcastOp>(single("n t d -> n d")));
  EXPECT_TRUE(isa<BroadcastOp>(single("n t d -> d")));
  EXPECT_TRUE(isa<BroadcastOp>(single("n t d ->")));
  EXPECT_TRUE(isa<ConstantOp>(single("n t d -> n t d")));
}

TEST_F(GradientTest, EinsumOfAnyForm) {
  const StringRef letters[] = {"a", "b", "c", "d", "e"};
  const Polynomial sizes[] = {N, T, 3, 5, 7};
  std::mt19937 random(1);
  auto pick = [&](size_t count) { return random() % count; };
  for (int trial = 0; trial < 500; ++trial) {
    std::string spec;
    SmallVector<Value> operands;
    llvm::SmallBitVector used(5);
    for (size_t operand = 0, count = 1 + pick(3); operand < count; ++operand) {
      spec += operand ? "," : "";
      SmallVector<Polynomial> shape;
      for (size_t i = 0; i < 5; ++i)
        if (pick(2)) {
          spec += " " + letters[i].str();
          shape.push_back(sizes[i]);
          used.set(i);
        }
      operands.push_back(input(shape));
    }
    spec += " ->";
    SmallVector<unsigned> result(used.set_bits());
    std::shuffle(result.begin(), result.end(), random);
    result.truncate(pick(result.size() + 1));
    for (unsigned i : result)
      spec += " " + letters[i].str();
    auto einsum = create<EinsumOp>(spec, operands);
    for (size_t axis = 0; axis < result.size(); ++axis) {
      EXPECT_EQ(shapeOf(einsum.getY())[axis], sizes[result[axis]]);
      AxisSource source = einsum.getAxisSources(0, axis).front();
      EXPECT_EQ(shapeOf(operands[source.operand])[source.axis],
                sizes[result[axis]]);
    }
    gradientsOf(einsum);
  }
}

TEST_F(GradientTest, EmbeddingHasNoneForItsNumbers) {
  Value ids = input(tensorOf(builder.getI64Type(), Shape(ArrayRef{N, T})));
  auto embedding = create<EmbeddingOp>(ids, input({1000, 16}));
  EXPECT_EQ(shapeOf(embedding.getY()), Shape({N, T, 16}));
  SmallVector<Value> gradients = gradientsOf(embedding);
  EXPECT_FALSE(gradients[0]);
  EXPECT_EQ(gradients[1].getDefiningOp<EmbeddingGradOp>().getCost().other,
            16 * N * T);
}
