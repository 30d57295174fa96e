// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Codegen/CUDA/TileSchedule.h"
#include "lib/Codegen/PrintSchedule.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_TILEKERNELS
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

namespace {
struct TileKernels : netc::impl::TileKernelsBase<TileKernels> {
  using TileKernelsBase::TileKernelsBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isDeclaration() && function.isPrivate())
        kernels.push_back(function);
    for (func::FuncOp kernel : kernels) {
      auto [op, fill] = onlyOpOf(kernel);
      if (!op)
        continue;
      if (printSchedules)
        printSchedule(op, tileScheduleOf(op));
      std::optional<KernelShape> shape = emitTiles(op, fill);
      if (!shape)
        shape = emitRows(op, fill);
      if (!shape)
        continue;
      Builder builder(&getContext());
      kernel->setAttr(kThreads, builder.getI64IntegerAttr(shape->threads));
      if (shape->perBlock != kBlockThreads)
        kernel->setAttr(kThreadsPerBlock,
                        builder.getI64IntegerAttr(shape->perBlock));
    }
  }
};
} // namespace
