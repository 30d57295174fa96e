// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What ops tell the front end and the optimizer pass.

#include "test/dialect/OpTest.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using namespace mlir;

namespace {
class InterfacesTest : public OpTest {
protected:
  /// Where the axes of a result come from: `0 1 new`, with the operand before
  /// it if that is not the first.
  std::string sources(Operation *op, unsigned result = 0) {
    auto language = cast<LanguageOpInterface>(op);
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::ListSeparator space(" ");
    for (size_t axis = 0; axis < shapeOf(op->getResult(result)).rank();
         ++axis) {
      SmallVector<AxisSource> found = language.getAxisSources(result, axis);
      os << space;
      llvm::ListSeparator slash("/");
      for (AxisSource source : found)
        if (os << slash; source.operand == 0)
          os << source.axis;
        else
          os << source.operand << ":" << source.axis;
      if (found.empty())
        os << "new";
    }
    return text;
  }

  using Axes = SmallVector<int64_t>;
};
} // namespace

TEST_F(InterfacesTest, ReductionsKeepTheOtherAxes) {
  Value x = input({2, 3, 4, 5});
  EXPECT_EQ(sources(create<SumOp>(x, Axes{0, 2})), "1 3");
  EXPECT_EQ(sources(create<MeanOp>(x, Axes{3, 1})), "0 2");
  EXPECT_EQ(sources(create<MaxOp>(x, Axes{0, 2})), "1 3");
  EXPECT_EQ(sources(create<MinOp>(x, Axes{3}), 1), "0 1 2");
  EXPECT_EQ(sources(create<SoftmaxOp>(x, 1)), "0 1 2 3");
  auto norm = create<NormalizeOp>(x, Axes{0, 2}, llvm::APFloat(1e-5), false);
  EXPECT_EQ(sources(norm, 0), "0 1 2 3");
  EXPECT_EQ(sources(norm, 1), "1 3");
  EXPECT_EQ(sources(norm, 3), "1 3");
  auto rms = create<RmsNormalizeOp>(x, Axes{3}, llvm::APFloat(1e-6));
  EXPECT_EQ(sources(rms, 0), "0 1 2 3");
  EXPECT_EQ(sources(rms, 1), "0 1 2");
}

TEST_F(InterfacesTest, MovedAxesTakeTheirLabelsAlong) {
  Value x = input({2, 3, 4, 4});
  EXPECT_EQ(sources(create<TransposeOp>(x, Axes{})), "0 1 3 2");
  EXPECT_EQ(sources(create<TransposeOp>(x, Axes{1, 2, 3, 0})), "1 2 3 0");
  EXPECT_EQ(sources(create<ConcatOp>(ValueRange{x, x}, 2)), "0 1 2 3");
  EXPECT_EQ(sources(create<StackOp>(ValueRange{x, x})), "0 new 1 2 3");
  EXPECT_EQ(sources(create<StackOp>(ValueRange{input(Shape().sizes)})), "new");
  EXPECT_EQ(sources(create<SplitOp>(x, Axes{2}, 2), 1), "0 1 2 3");
  EXPECT_EQ(sources(create<PadOp>(x, 1, 1, 2, llvm::APFloat(0.0))), "0 1 2 3");
  EXPECT_EQ(sources(create<ReverseOp>(x, 1)), "0 1 2 3");
  EXPECT_EQ(sources(create<LowerTriangleOp>(x)), "0 1 new");
}

TEST_F(InterfacesTest, LossesAreNumbers) {
  Value x = input({2, 3});
  auto loss = create<CrossEntropyOp>(x, x, llvm::APFloat(0.0), 1);
  EXPECT_EQ(sources(loss, 0), "");
  EXPECT_EQ(sources(loss, 1), "0 1");
}

TEST_F(InterfacesTest, UpdatesKeepStates) {
  Value w = input({2, 3}), number = input(Shape().sizes);
  llvm::APFloat zero(0.0), some(0.9);
  auto states = [](UpdateOpInterface op) { return op.getNumStates(); };
  EXPECT_EQ(states(create<SgdOp>(w, w, number, zero, some, false, false)), 0u);
  EXPECT_EQ(states(create<SgdOp>(w, w, number, some, zero, false, false)), 1u);
  EXPECT_EQ(
      states(create<AdamOp>(w, w, number, number, some, some, some, zero)), 2u);
  EXPECT_EQ(
      states(create<AdamwOp>(w, w, number, number, some, some, some, zero)),
      2u);
}
