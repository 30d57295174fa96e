// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/IR/Diagnostics.h"
#include "test/dialect/OpTest.h"
#include <random>

using namespace netc;
using namespace mlir;

namespace {
class ShapeOpsTest : public OpTest {
protected:
  int64_t pick(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  }
  /// Mostly a small number, else one at the end of a range.
  int64_t any() {
    const int64_t ends[] = {std::numeric_limits<int64_t>::min(), -1,
                            Shape::maxSize, Shape::maxSize + 1,
                            std::numeric_limits<int64_t>::max()};
    return pick(0, 3) ? pick(0, 3) : ends[pick(0, std::size(ends) - 1)];
  }
  IntegerAttr number() { return builder.getI64IntegerAttr(any()); }
  FloatAttr real() { return builder.getF64FloatAttr(0); }
  DenseI64ArrayAttr list() {
    SmallVector<int64_t> list;
    for (int64_t i = pick(0, 4); i > 0; --i)
      list.push_back(any());
    return builder.getDenseI64ArrayAttr(list);
  }
  Value tensor() { return tensors[pick(0, tensors.size() - 1)]; }

  /// Infers; the types must then be valid ones. Says whether there are any.
  template <typename OpTy>
  bool infer(ValueRange operands, typename OpTy::Properties properties) {
    SmallVector<Type> types;
    bool isValid = succeeded(OpTy::inferReturnTypes(
        &context, std::nullopt, operands, builder.getDictionaryAttr({}),
        OpaqueProperties(&properties), {}, types));
    for (Type type : types)
      EXPECT_TRUE(!isValid || hasValidShape(type));
    return isValid;
  }

  std::mt19937 random{1};
  SmallVector<Value> tensors;
};
} // namespace

// No setting crashes, hangs or wraps round: it is an error, or the op verifies.
TEST_F(ShapeOpsTest, HostileSettings) {
  Polynomial free = Polynomial::symbol("T");
  tensors = {input(Shape().sizes),
             input({3}),
             input({2, 3, 3}),
             input({free, free}),
             input({Shape::maxSize, 1}),
             input({2 * free * free, 2 * free}),
             input({4, Shape::maxSize, Shape::maxSize})};
  unsigned numValid = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    numValid += infer<SumOp>(tensor(), {list()});
    numValid += infer<NormalizeOp>(
        tensor(), {builder.getBoolAttr(false), real(), list()});
    numValid += infer<SoftmaxOp>(tensor(), {number()});
    numValid += infer<TransposeOp>(tensor(), {list()});
    numValid += infer<ConcatOp>({tensor(), tensor()}, {number()});
    numValid += infer<SplitOp>(tensor(), {number(), list()});
    numValid += infer<PadOp>(tensor(), {number(), number(), number(), real()});
    numValid += infer<ReverseOp>(tensor(), {number()});
    numValid += infer<ShiftOp>(tensor(), {number(), number()});
    numValid += infer<CrossEntropyOp>({tensor(), tensor()}, {number(), real()});
  }
  EXPECT_GT(numValid, 10'000u);
}

// Where there is a gradient, it has the operand's type.
TEST_F(ShapeOpsTest, GradientsHaveTheOperandsTypes) {
  Polynomial n = Polynomial::symbol("N"), t = Polynomial::symbol("T");
  Value x = input({n, t, 4, 4}), y = input({n, t + 1, 4, 4});
  using Axes = SmallVector<int64_t>;
  llvm::APFloat zero(0.0);
  SmallVector<Operation *> ops = {
      create<SumOp>(x, Axes{0, 3}),
      create<MeanOp>(x, Axes{1}),
      create<SoftmaxOp>(x, 1),
      create<NormalizeOp>(x, Axes{0, 1}, llvm::APFloat(1e-5), false),
      create<RmsNormalizeOp>(x, Axes{3}, llvm::APFloat(1e-6)),
      create<ReshapeOp>(tensorOf(elementOf(x), Shape({16 * n, t})), x),
      create<BroadcastOp>(tensorOf(elementOf(x), Shape({n, t, 4, 5, 4})), x,
                          Axes{0, 1, 2, 4}),
      create<TransposeOp>(x, Axes{3, 0, 2, 1}),
      create<ConcatOp>(ValueRange{x, y}, 1),
      create<StackOp>(ValueRange{x, x}),
      create<SplitOp>(x, Axes{1, 3}, 2),
      create<PadOp>(x, 1, 2, 3, zero),
      create<ReverseOp>(x, 1),
      create<LowerTriangleOp>(x),
      create<MseOp>(x, x)};
  for (Operation *op : ops)
    for (auto [operand, gradient] :
         llvm::zip_equal(op->getOperands(), differentiate(op)))
      EXPECT_EQ(gradient.getType(), operand.getType())
          << op->getName().getStringRef().str();
}
