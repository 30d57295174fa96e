// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TEST_DIALECT_OPTEST_H
#define NETC_TEST_DIALECT_OPTEST_H

#include "dialect/Net.h"
#include "dialect/ReverseMode.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

namespace netc {

/// Builds ops, which must all verify in the end.
class OpTest : public testing::Test {
protected:
  OpTest()
      : module(mlir::ModuleOp::create(mlir::UnknownLoc::get(&context))),
        builder(&context) {
    context.loadDialect<NetDialect>();
    builder.setInsertionPointToEnd(module->getBody());
  }
  void TearDown() override { EXPECT_TRUE(succeeded(mlir::verify(*module))); }

  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    return builder.create<OpTy>(builder.getUnknownLoc(),
                                std::forward<Args>(args)...);
  }
  mlir::Value input(mlir::Type type) {
    return create<ConstantOp>(type, llvm::APFloat(0.0));
  }
  mlir::Value input(llvm::ArrayRef<Polynomial> sizes) {
    return input(tensorOf(builder.getF32Type(), Shape(sizes)));
  }

  /// The gradients of the operands of `op`, from one of its first
  /// result; null for integers.
  llvm::SmallVector<mlir::Value> differentiate(mlir::Operation *op) {
    mlir::Value seed = input(op->getResult(0).getType());
    DifferentiatedGraph graph;
    graph.wanted.insert(op->getResult(0));
    for (mlir::Value operand : op->getOperands())
      if (mlir::isa<mlir::FloatType>(elementOf(operand)))
        graph.wanted.insert(operand);
    ReverseMode reverse(graph, builder);
    reverse.add(op->getResult(0), seed);
    Gradients gradients(reverse, builder, op);
    auto differentiable = mlir::cast<GradientOpInterface>(op);
    EXPECT_TRUE(mlir::succeeded(differentiable.buildGradient(gradients)));
    llvm::SmallVector<mlir::Value> ofOperands;
    for (mlir::Value operand : op->getOperands())
      ofOperands.push_back(reverse.of(operand));
    return ofOperands;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder builder;
};

} // namespace netc

#endif // NETC_TEST_DIALECT_OPTEST_H
