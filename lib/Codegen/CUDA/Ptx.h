// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_PTX_H
#define NETC_LIB_CODEGEN_CUDA_PTX_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace netc {

/// Emits instructions of PTX that neither MLIR nor LLVM has for all types, and
/// arithmetic on places in shared memory, which have 32 bits.
class PtxBuilder {
public:
  explicit PtxBuilder(mlir::ImplicitLocOpBuilder &b) : b(b) {}

  mlir::Value i32(int64_t value);
  /// Of this thread, in its block and in its warp.
  mlir::Value thread();
  mlir::Value lane();
  /// Of numbers that are not negative, by powers of two.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t by);
  mlir::Value div(mlir::Value a, int64_t by);
  mlir::Value rem(mlir::Value a, int64_t by);
  /// A number of 32 bits as an index.
  mlir::Value index(mlir::Value value);

  /// Of a buffer in shared memory, in 32 bits; and of an element of it, `at` an
  /// index, which has so many bytes.
  mlir::Value addressOf(mlir::Value memory);
  mlir::Value addressOf(mlir::Value start, mlir::Value at, int64_t bytes);
  /// The same in global memory, in 64 bits.
  mlir::Value globalAddressOf(mlir::Value memory, mlir::Value at,
                              int64_t bytes);

  /// Begins to copy 16 bytes to shared memory: the first `bytes` of them from
  /// global memory, the others zeros.
  void beginCopy(mlir::Value to, mlir::Value from, mlir::Value bytes);
  /// What was begun since the last time is a group.
  void commitCopies();
  /// Waits until all groups but the last `open` are there.
  void waitForCopies(int64_t open);

  /// Four matrices of 8 x 8 elements of 16 bits: lane l says where row l % 8 of
  /// matrix l / 8 is. Each lane gets two elements of a row of each, or of a
  /// column if they are transposed.
  llvm::SmallVector<mlir::Value> loadMatrices(mlir::Value address,
                                              bool isTransposed);
  /// C[16, 8] + A[16, 16] B[16, 8], of bf16 or f16, as fragments of 4, 4 and 2
  /// registers a lane.
  llvm::SmallVector<mlir::Value> addProduct(bool isBF16, mlir::ValueRange left,
                                            mlir::ValueRange right,
                                            mlir::ValueRange sums);

private:
  void effect(llvm::StringRef text, llvm::StringRef constraints,
              mlir::ValueRange operands);
  llvm::SmallVector<mlir::Value>
  results(llvm::StringRef text, llvm::StringRef constraints, mlir::Type type,
          size_t count, mlir::ValueRange operands, bool hasEffects);

  mlir::ImplicitLocOpBuilder &b;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_PTX_H
