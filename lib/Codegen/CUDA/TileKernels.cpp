// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/MatrixSchedule.h"
#include "lib/Codegen/CUDA/Passes.h"

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

template <typename Schedule>
static void say(linalg::LinalgOp op, const std::optional<Schedule> &schedule) {
  if (!schedule)
    return;
  std::string text;
  llvm::raw_string_ostream(text) << *schedule;
  emitRemark(op.getLoc()) << text;
}

namespace {
struct TileKernels : netc::impl::TileKernelsBase<TileKernels> {
  using TileKernelsBase::TileKernelsBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isDeclaration() && function.isPrivate() &&
          !function->hasAttr(kThreads))
        kernels.push_back(function);
    for (func::FuncOp kernel : kernels) {
      auto [op, fill] = onlyOpOf(kernel);
      if (!op)
        continue;
      if (printSchedules) {
        say(op, matrixScheduleOf(op));
        say(op, tileScheduleOf(op));
      }
      std::optional<KernelShape> shape = emitMatrices(op, fill);
      if (!shape)
        shape = emitTiles(op, fill);
      if (!shape)
        shape = emitRows(op, fill);
      if (!shape && !fill)
        shape = emitElements(op);
      if (!shape)
        continue;
      Builder builder(&getContext());
      kernel->setAttr(kThreads, builder.getI64IntegerAttr(shape->threads));
      if (shape->ofBlock != kBlockThreads)
        kernel->setAttr(kThreadsPerBlock,
                        builder.getI64IntegerAttr(shape->ofBlock));
    }
  }
};
} // namespace
