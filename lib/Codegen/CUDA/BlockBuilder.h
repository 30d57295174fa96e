// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_BLOCKBUILDER_H
#define NETC_LIB_CODEGEN_CUDA_BLOCKBUILDER_H

#include "lib/Codegen/LoopNest.h"

namespace netc {

/// Emits the code of a block of threads.
class BlockBuilder {
protected:
  explicit BlockBuilder(mlir::linalg::LinalgOp op) : b(op) {}

  mlir::Value mul(mlir::Value a, int64_t by);

  /// The offset in operand number `operand` of the strides after `iteration`
  /// iterations of nested loops, counted as one loop.
  mlir::Value placeIn(unsigned operand, llvm::ArrayRef<LoopNest::Loop> loops,
                      mlir::Value iteration) {
    return placeIn(b, operand, loops, iteration);
  }
  /// The same of an iteration of the type that `numbers` computes with.
  template <typename Numbers>
  mlir::Value placeIn(Numbers &numbers, unsigned operand,
                      llvm::ArrayRef<LoopNest::Loop> loops,
                      mlir::Value iteration) {
    mlir::Value place = b.index(0);
    for (const LoopNest::Loop &loop : llvm::reverse(loops)) {
      bool isLast = &loop == loops.begin();
      mlir::Value here =
          isLast ? iteration : numbers.rem(iteration, loop.extent);
      if (loop.strides[operand])
        place = b.add(place, mul(numbers.index(here), loop.strides[operand]));
      if (!isLast)
        iteration = numbers.div(iteration, loop.extent);
    }
    return place;
  }
  /// Whether `at` is below `extent`. Null, which means true, if blocks of
  /// `step` never exceed it.
  mlir::Value isInBounds(mlir::Value at, int64_t extent, int64_t step);
  /// Whether both conditions hold. Null means true.
  mlir::Value both(mlir::Value first, mlir::Value second);
  /// `value()` if the condition holds, else zero.
  mlir::Value where(mlir::Value condition, mlir::Type type,
                    llvm::function_ref<mlir::Value()> value);
  /// Continues in a branch that is taken if the condition holds. To leave the
  /// branch, the caller restores the insertion point.
  void enterWhere(mlir::Value condition);

  NestBuilder b;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_BLOCKBUILDER_H
