// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_PTX_H
#define NETC_LIB_CODEGEN_CUDA_PTX_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <array>

namespace netc {

/// The value of a special register, such as NVVM::ThreadIdXOp.
template <typename Register>
mlir::Value indexIn(mlir::ImplicitLocOpBuilder &b) {
  mlir::Value narrow = b.create<Register>(b.getI32Type());
  return b.create<mlir::arith::IndexCastUIOp>(b.getIndexType(), narrow);
}

/// Emits PTX instructions that neither MLIR nor LLVM has for all types, and
/// arithmetic on addresses in shared memory, which have 32 bits.
class PtxBuilder {
public:
  explicit PtxBuilder(mlir::ImplicitLocOpBuilder &b) : b(b) {}

  mlir::Value i32(int64_t value);
  /// An index that is less than 2^31 as a 32-bit number.
  mlir::Value i32(mlir::Value index);
  /// The index of this thread in its block, and in its warp.
  mlir::Value thread();
  mlir::Value lane();
  /// Arithmetic on 32-bit numbers that are not negative.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t by);
  mlir::Value div(mlir::Value a, int64_t by);
  mlir::Value rem(mlir::Value a, int64_t by);
  /// A 32-bit number as an index.
  mlir::Value index(mlir::Value value);

  /// The 32-bit address of a buffer in shared memory, and of element `at` of a
  /// buffer at `start`, which has elements of `bytes` bytes.
  mlir::Value addressOf(mlir::Value memory);
  mlir::Value addressOf(mlir::Value start, mlir::Value at, int64_t bytes);
  /// The 64-bit address of element `at` of a memref in global memory.
  /// `memory` may be the address of the first element instead.
  mlir::Value globalAddressOf(mlir::Value memory, mlir::Value at,
                              int64_t bytes);

  /// Begins to copy 16 bytes to shared memory (cp.async): the first `bytes` of
  /// them from global memory, the rest zeros.
  void beginCopy(mlir::Value to, mlir::Value from, mlir::Value bytes);
  /// Makes a group of the copies that began since the last call.
  void commitCopies();
  /// Waits until all groups but the last `open` are complete.
  void waitForCopies(int64_t open);

  /// Loads four matrices of 8 x 8 elements of 16 bits (ldmatrix). Lane l passes
  /// the address of row l % 8 of matrix l / 8. It gets two elements of a row of
  /// each matrix, or of a column with `isTransposed`.
  llvm::SmallVector<mlir::Value> loadMatrices(mlir::Value address,
                                              bool isTransposed);
  /// An f32 rounded to tf32, as 32 bits.
  mlir::Value roundToTF32(mlir::Value x);
  /// An f32 rounded to bf16.
  mlir::Value roundToBF16(mlir::Value x);
  /// Two f32 rounded to 16 bits, the first in the lower half.
  mlir::Value pack(mlir::FloatType format, mlir::Value low, mlir::Value high);
  /// 2^x to 2 units in the last place; 0 if it is subnormal.
  mlir::Value exp2(mlir::Value x);
  /// The logarithm to base 2, to 2^-22; of a subnormal number, -inf.
  mlir::Value log2(mlir::Value x);
  /// The value of the lane whose number differs in the bits of `apart`.
  mlir::Value shuffle(mlir::Value value, int32_t apart);
  /// C[16, 8] + A[16, k] B[k, 8] (mma): k is 16 for bf16 and f16, and 8 for
  /// tf32. Each lane has 4 registers of C, 4 of A and 2 of B.
  llvm::SmallVector<mlir::Value> addProduct(mlir::FloatType format,
                                            mlir::ValueRange left,
                                            mlir::ValueRange right,
                                            mlir::ValueRange sums);

  /// Makes what this thread wrote to shared memory visible to wgmma
  /// (fence.proxy.async).
  void fenceSharedWrites();
  /// Orders accesses to registers before the next products (wgmma.fence).
  void fenceProducts();
  /// Begins C[64, n] + A[64, 16] B[16, n], of bf16 or f16 (wgmma), by
  /// descriptors of A and B in shared memory. `isAlongK`: by operand, whether
  /// it is contiguous along k. Without `isAdded`, the sums start at 0. A thread
  /// has n / 2 sums. They must not be used until the product is waited for.
  llvm::SmallVector<mlir::Value> beginProduct(bool isBF16, mlir::Value left,
                                              mlir::Value right,
                                              std::array<bool, 2> isAlongK,
                                              mlir::Value isAdded,
                                              mlir::ValueRange sums);
  /// Makes a group of the products that began since the last call.
  void commitProducts();
  /// Waits until all groups of products but the last `open` are complete.
  void waitForProducts(int64_t open);
  /// Waits until all products are complete, and returns their sums.
  llvm::SmallVector<mlir::Value> waitForProducts(mlir::ValueRange sums);

private:
  mlir::Value pure(llvm::StringRef text, llvm::StringRef constraints,
                   mlir::Type type, mlir::ValueRange operands);
  void effect(llvm::StringRef text, llvm::StringRef constraints,
              mlir::ValueRange operands);
  llvm::SmallVector<mlir::Value>
  results(llvm::StringRef text, llvm::StringRef constraints, mlir::Type type,
          size_t count, mlir::ValueRange operands, bool hasEffects);

  mlir::ImplicitLocOpBuilder &b;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_PTX_H
