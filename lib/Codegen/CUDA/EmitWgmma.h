// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_EMITWGMMA_H
#define NETC_LIB_CODEGEN_CUDA_EMITWGMMA_H

#include "lib/Codegen/CUDA/MatrixSchedule.h"
#include "lib/Codegen/CUDA/Ptx.h"

namespace netc {

/// Emits the products of a warpgroup by `wgmma`. A stage holds A, then B, in
/// the canonical layouts of the PTX ISA with a swizzle of 128 bytes.
class WarpgroupBuilder {
public:
  WarpgroupBuilder(mlir::ImplicitLocOpBuilder &b, const MatrixSchedule &matrix,
                   bool isBF16);

  /// Begins to add the products of the stage at an address in shared memory, as
  /// a group. Without `isAdded`, the sums start at 0.
  llvm::SmallVector<mlir::Value>
  beginProducts(mlir::Value stage, mlir::Value isAdded, mlir::ValueRange sums);

private:
  /// The descriptor of a matrix at an address in shared memory.
  mlir::Value descriptor(mlir::Value address);

  mlir::ImplicitLocOpBuilder &b;
  PtxBuilder ptx;
  const MatrixSchedule &matrix;
  bool isBF16;
  /// From a stage's start to the rows of A of this warpgroup, in bytes.
  mlir::Value ofGroup;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_EMITWGMMA_H
