// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_KERNELS_H
#define NETC_LIB_CODEGEN_CUDA_KERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace netc {

struct TileSchedule;

/// Attribute of a function that is a kernel: its total number of threads.
constexpr llvm::StringLiteral kThreads = "net.threads";
/// Attribute of a kernel: threads per block, if not kBlockThreads.
constexpr llvm::StringLiteral kThreadsPerBlock = "net.threads_per_block";
/// Attribute of the module: its kernels, by number, as dictionaries of `name`,
/// `blocks` and `threads` per block.
constexpr llvm::StringLiteral kKernels = "net.kernels";
/// The name of the nested module that holds the kernels.
constexpr llvm::StringLiteral kDevice = "device";
/// Default number of threads per block.
constexpr int64_t kBlockThreads = 128;
/// The address space of shared memory in NVVM.
constexpr int64_t kSharedSpace = 3;

/// The threads of a launch, altogether and per block.
struct KernelShape {
  int64_t threads, perBlock = kBlockThreads;
};

/// The global index of this thread: blockIdx.x * blockDim.x + threadIdx.x.
mlir::Value threadIndex(mlir::ImplicitLocOpBuilder &b);

/// The only linalg op of a kernel, and the fill of its result before it, if
/// there is one. Null if the kernel does anything else.
std::pair<mlir::linalg::LinalgOp, mlir::linalg::FillOp>
onlyOpOf(mlir::func::FuncOp kernel);

/// Emits the body of a linalg op on memrefs at one point of its loops.
class PointBuilder {
public:
  PointBuilder(mlir::linalg::LinalgOp op, mlir::ImplicitLocOpBuilder &b)
      : indices(op.getNumLoops()), op(op), b(b) {}

  /// By loop of the op, its current index.
  llvm::SmallVector<mlir::Value> indices;

  llvm::SmallVector<mlir::Value> indicesOf(mlir::OpOperand &operand);
  /// Loads the element of an operand at this point.
  mlir::Value load(mlir::OpOperand &operand);
  void store(mlir::Value value, mlir::OpOperand &operand);
  /// Emits the payload with `elements` as the current values of the results,
  /// and returns what it yields. Null values are loaded if they are read.
  llvm::SmallVector<mlir::Value> payload(mlir::ValueRange elements);
  /// Sets the indices of `loops` from one linearized index. The last loop
  /// varies fastest.
  void setIndices(llvm::ArrayRef<unsigned> loops, mlir::Value number);

private:
  mlir::linalg::LinalgOp op;
  mlir::ImplicitLocOpBuilder &b;
};

/// The op that adds one more to a result of a payload, if its order does not
/// matter but for rounding, and where it starts is known; else null.
mlir::Operation *combinerOf(mlir::linalg::LinalgOp op, unsigned result);

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
                                     mlir::linalg::FillOp fill);
std::optional<TileSchedule> tileScheduleOf(mlir::linalg::LinalgOp op);
/// The same for a reduction of contiguous elements, with a warp for each
/// result.
std::optional<KernelShape> emitRows(mlir::linalg::LinalgOp op,
                                    mlir::linalg::FillOp fill);
/// Elements that depend on no others: several a thread, in vectors.
std::optional<KernelShape> emitElements(mlir::linalg::LinalgOp op);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_KERNELS_H
