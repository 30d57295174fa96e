// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Transforms/WidenToF64.h"

using namespace netc;
using namespace mlir;

void netc::widenToF64(Operation *root) {
  auto widen = [](ValueRange values) {
    for (Value value : values)
      if (netc::elementOf(value).isF32())
        value.setType(cast<RankedTensorType>(
            tensorOf(Float64Type::get(value.getContext()), shapeOf(value))));
  };
  root->walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        widen(block.getArguments());
    if (op != root)
      widen(op->getResults());
  });
  root->walk(dropIfSame);
}

void netc::dropIfSame(ConvertOp convert) {
  if (convert.getX().getType() != convert.getType())
    return;
  convert.replaceAllUsesWith(convert.getX());
  convert.erase();
}
