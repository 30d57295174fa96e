// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/AttentionSchedule.h"
#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/MatrixSchedule.h"
#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Codegen/CUDA/TiledDims.h"
#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/PrintSchedule.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_TILEKERNELS
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

FailureOr<DeviceInfo> netc::deviceInfoOf(Operation *op, StringRef arch) {
  const program::DeviceArch *known = program::deviceArchNamed(arch);
  if (!known)
    return op->emitError() << "unknown architecture `" << arch << "`";
  return DeviceInfo::of(*known);
}

bool netc::takesEpilogue(linalg::LinalgOp product, linalg::GenericOp epilogue,
                         const DeviceInfo &device) {
  return TiledDims::of(product, epilogue) &&
         (matrixScheduleOf(product, device) || tileScheduleOf(product, device));
}

namespace {
struct TileKernels : netc::impl::TileKernelsBase<TileKernels> {
  using TileKernelsBase::TileKernelsBase;

  void runOnOperation() override {
    FailureOr<DeviceInfo> device = deviceInfoOf(getOperation(), arch);
    if (failed(device))
      return signalPassFailure();
    SmallVector<func::FuncOp> kernels;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isDeclaration() && function.isPrivate() &&
          !function->hasAttr(kThreads))
        kernels.push_back(function);
    for (func::FuncOp kernel : kernels) {
      std::optional<KernelShape> shape = emit(kernel, *device);
      if (!shape)
        continue;
      Builder builder(&getContext());
      kernel->setAttr(kThreads, builder.getI64IntegerAttr(shape->threads));
      if (shape->ofBlock != kBlockThreads)
        kernel->setAttr(kThreadsPerBlock,
                        builder.getI64IntegerAttr(shape->ofBlock));
    }
  }

  std::optional<KernelShape> emit(func::FuncOp kernel,
                                  const DeviceInfo &device) {
    if (printSchedules)
      printSchedule(kernel, attentionScheduleOf(kernel, device));
    if (auto shape = emitAttention(kernel, device))
      return shape;
    if (auto shape = emitFusedRows(kernel))
      return shape;
    auto [op, fills] = onlyOpOf(kernel);
    if (!op)
      std::tie(op, fills) = productWithEpilogueOf(kernel);
    if (!op)
      return std::nullopt;
    if (printSchedules) {
      auto matrix = matrixScheduleOf(op, device);
      printSchedule(op, matrix);
      if (!matrix)
        printSchedule(op, tileScheduleOf(op, device));
    }
    auto fill = fills.empty() ? linalg::FillOp() : fills.front();
    std::optional<KernelShape> shape = emitMatrices(op, fill, device);
    if (!shape)
      shape = emitTiles(op, fill, device);
    if (!shape && epilogueOf(op))
      llvm_unreachable("only tiles take an epilogue");
    if (!shape)
      shape = emitColumns(op, fills, device);
    if (!shape)
      shape = emitRows(op, fills);
    if (!shape && fills.empty())
      shape = emitElements(op);
    return shape;
  }
};
} // namespace
