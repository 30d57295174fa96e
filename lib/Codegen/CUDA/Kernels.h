// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_KERNELS_H
#define NETC_LIB_CODEGEN_CUDA_KERNELS_H

#include "lib/Codegen/CUDA/DeviceInfo.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace netc {

struct MatrixSchedule;
struct TileSchedule;

/// The attribute of a function that is a kernel: how many threads it takes.
constexpr llvm::StringLiteral kThreads = "net.threads";
/// How many of them a block has, if not kBlockThreads.
constexpr llvm::StringLiteral kThreadsPerBlock = "net.threads_per_block";
/// The module of the kernels, inside of that of the step.
constexpr llvm::StringLiteral kDevice = "device";
/// Threads of a block.
constexpr int64_t kBlockThreads = 128;
/// The memory space that the threads of a block share.
constexpr int64_t kSharedSpace = 3;

/// The figures for code of the architecture with this name, the option of a
/// pass on `op`. Emits an error if there is none.
mlir::FailureOr<DeviceInfo> deviceInfoOf(mlir::Operation *op,
                                         llvm::StringRef arch);

/// How many threads a kernel takes, and how many of them a block has.
struct KernelShape {
  int64_t threads, ofBlock = kBlockThreads;
};

/// The number of this thread among all of its kernel.
mlir::Value threadIndex(mlir::ImplicitLocOpBuilder &b);

/// The linalg op that is all that a kernel does, but for a fill before it,
/// which starts its only result; null if the kernel does something else.
std::pair<mlir::linalg::LinalgOp, mlir::linalg::FillOp>
onlyOpOf(mlir::func::FuncOp kernel);

/// What a linalg op on memory does at one point of its loops.
class PointBuilder {
public:
  PointBuilder(mlir::linalg::LinalgOp op, mlir::ImplicitLocOpBuilder &b)
      : ivs(op.getNumLoops()), op(op), b(b) {}

  /// By loop of the op.
  llvm::SmallVector<mlir::Value> ivs;

  llvm::SmallVector<mlir::Value> placeOf(mlir::OpOperand &operand);
  /// The element of a result at this point.
  mlir::Value load(mlir::OpOperand &operand);
  void store(mlir::Value value, mlir::OpOperand &operand);
  /// What results of these elements of the results; null ones are loaded if
  /// they are needed.
  llvm::SmallVector<mlir::Value> payload(mlir::ValueRange elements);
  /// Sets the iterations of some loops, of which the last advances fastest,
  /// from their number among all iterations.
  void setIvs(llvm::ArrayRef<unsigned> loops, mlir::Value number);

private:
  mlir::linalg::LinalgOp op;
  mlir::ImplicitLocOpBuilder &b;
};

/// The loops of an op that tell the elements of all its results apart, in the
/// order of the first result: each is an axis of each of them, by itself.
/// Threads that differ in one of these write different elements.
llvm::SmallVector<unsigned> loopsOfElements(mlir::linalg::LinalgOp op);

/// What the address of an operand of a kernel is a multiple of, in bytes, as
/// far as it is known.
int64_t alignmentOf(mlir::Value memory);
/// Memory that the threads of a block share, of so many elements, for a kernel
/// that is being built.
mlir::Value sharedBuffer(mlir::ImplicitLocOpBuilder &b, const llvm::Twine &name,
                         mlir::Type element, int64_t size);

/// Each of these writes what a thread does for an op, in the place of the op
/// and of the fill before it, if there is one; none, and nothing, if it is no
/// op for it.
/// Sums of products, by tiles in shared memory.
std::optional<KernelShape> emitTiles(mlir::linalg::LinalgOp op,
                                     mlir::linalg::FillOp fill,
                                     const DeviceInfo &device);
std::optional<TileSchedule> tileScheduleOf(mlir::linalg::LinalgOp op,
                                           const DeviceInfo &device);
/// Sums of products of 16 bits, by matrix instructions.
std::optional<KernelShape> emitMatrices(mlir::linalg::LinalgOp op,
                                        mlir::linalg::FillOp fill,
                                        const DeviceInfo &device);
std::optional<MatrixSchedule> matrixScheduleOf(mlir::linalg::LinalgOp op,
                                               const DeviceInfo &device);
/// Reductions of what lies next to each other: a warp for each result.
std::optional<KernelShape> emitRows(mlir::linalg::LinalgOp op,
                                    mlir::linalg::FillOp fill);
/// Elements that depend on no others: several a thread, in vectors.
std::optional<KernelShape> emitElements(mlir::linalg::LinalgOp op);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_KERNELS_H
