// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CPU/VectorPayload.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace netc;
using namespace mlir;

unsigned netc::widestBits(linalg::LinalgOp op) {
  unsigned bits = 0;
  auto take = [&](Type type) {
    if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type)))
      bits = std::max(bits, element.getWidth());
  };
  for (Type type : op->getOperandTypes())
    take(type);
  for (Operation &payload : op->getRegion(0).front().without_terminator())
    take(payload.getResult(0).getType());
  return bits;
}

Value netc::emitOnVectors(OpBuilder &b, Operation *payload,
                          ValueRange operands) {
  auto vector = cast<VectorType>(operands.front().getType());
  Type type =
      vector.clone(getElementTypeOrSelf(payload->getResult(0).getType()));
  return b
      .create(payload->getLoc(), payload->getName().getIdentifier(), operands,
              type, payload->getAttrs())
      ->getResult(0);
}

SmallVector<Value> netc::emitPayload(OpBuilder &b, linalg::LinalgOp op,
                                     int64_t lanes, ValueRange arguments) {
  Block &body = op->getRegion(0).front();
  IRMapping values;
  values.map(body.getArguments(), arguments);
  auto vectorOf = [&](Value value) -> Value {
    Value known = values.lookupOrDefault(value);
    if (!isa<VectorType>(known.getType()))
      known = b.create<vector::BroadcastOp>(
          op.getLoc(), VectorType::get({lanes}, known.getType()), known);
    return known;
  };
  for (Operation &payload : body.without_terminator()) {
    if (isa<arith::ConstantOp>(payload)) {
      b.clone(payload, values);
      continue;
    }
    SmallVector<Value> operands =
        llvm::map_to_vector(payload.getOperands(), vectorOf);
    values.map(payload.getResult(0), emitOnVectors(b, &payload, operands));
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(), vectorOf);
}
