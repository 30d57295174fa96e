// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NET_CODEGEN_CUDA_PASSES_TD
#define NET_CODEGEN_CUDA_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileKernels : Pass<"net-tile-kernels", "::mlir::ModuleOp"> {
  let summary = "Tile kernels for blocks of threads";
  let description = [{
    Contractions are computed by tiles in shared memory, and reductions of rows by a warp for each row.
    `net.threads` is the number of threads of such a kernel, `net.threads_per_block` that of a block.
    All other kernels are left to net-map-kernels.
  }];
  let options = [Option<"printSchedules", "print-schedules", "bool", "false",
                        "Emit the schedule of each contraction as a remark">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // NET_CODEGEN_CUDA_PASSES_TD
