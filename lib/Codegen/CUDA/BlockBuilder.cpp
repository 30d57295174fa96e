// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/BlockBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace netc;
using namespace mlir;

Value BlockBuilder::mul(Value a, int64_t by) {
  return b.create<arith::MulIOp>(a, b.index(by));
}

Value BlockBuilder::isInBounds(Value at, int64_t extent, int64_t step) {
  if (extent % step == 0)
    return {};
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, at,
                                 b.index(extent));
}

Value BlockBuilder::both(Value first, Value second) {
  if (!first || !second)
    return first ? first : second;
  return b.create<arith::AndIOp>(first, second);
}

Value BlockBuilder::where(Value condition, Type type,
                          function_ref<Value()> value) {
  if (!condition)
    return value();
  auto choice = b.create<scf::IfOp>(type, condition, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  b.create<scf::YieldOp>(value());
  b.setInsertionPointToStart(choice.elseBlock());
  Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(type));
  b.create<scf::YieldOp>(zero);
  return choice.getResult(0);
}

void BlockBuilder::enterWhere(Value condition) {
  if (!condition)
    return;
  auto choice = b.create<scf::IfOp>(condition, /*withElse=*/false);
  b.setInsertionPointToStart(choice.thenBlock());
}
