// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_KERNELS_H
#define NETC_LIB_CODEGEN_CUDA_KERNELS_H

#include "lib/Codegen/CUDA/DeviceInfo.h"
#include "lib/Codegen/LoopNest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace netc {

struct AttentionSchedule;
struct MatrixSchedule;
struct TileSchedule;

/// The attribute of a kernel's function: the number of threads in its launch.
constexpr llvm::StringLiteral kThreads = "net.threads";
/// The attribute of a kernel's function: the threads of a block, if they are
/// not kBlockThreads.
constexpr llvm::StringLiteral kThreadsPerBlock = "net.threads_per_block";
/// The attribute of a kernel's function: the bytes of dynamic shared memory of
/// a block, if it has any.
constexpr llvm::StringLiteral kSharedBytes = "net.shared_bytes";
/// The attribute of a loop whose iterations are sorted by a number, which the
/// body reads from a tensor at the induction variable, and uses as an index of
/// the result. Iterations of different numbers are independent.
constexpr llvm::StringLiteral kSegments = "net.segments";
/// The name of the module of the kernels, inside of the step's module.
constexpr llvm::StringLiteral kDevice = "device";
/// Threads of a warp.
constexpr int64_t kWarpLanes = 32;
/// Threads of a block.
constexpr int64_t kBlockThreads = 128;
/// Bytes of the widest access by a thread.
constexpr int64_t kAccessBytes = 16;
/// The address space of shared memory in LLVM's NVPTX target.
constexpr int64_t kSharedSpace = 3;

/// The figures of the architecture named by an option of a pass on `op`. Emits
/// an error if there is no such architecture.
mlir::FailureOr<DeviceInfo> deviceInfoOf(mlir::Operation *op,
                                         llvm::StringRef arch);

/// The number of threads in a kernel's launch, and in a block.
struct KernelShape {
  int64_t threads, ofBlock = kBlockThreads;
};

/// Makes a function one that is launched, with so many threads in a block, and
/// not called.
void markKernel(mlir::LLVM::LLVMFuncOp function, int64_t threads);

/// The index of this thread in its launch, with blocks of kBlockThreads.
mlir::Value threadIndex(mlir::ImplicitLocOpBuilder &b);

/// The fills that initialize all results of an op, in the order of these; none
/// if the op adds to old values.
using Fills = llvm::SmallVector<mlir::linalg::FillOp, 1>;

/// The only linalg op of a kernel, and the fills before it. Null if the kernel
/// does anything else.
std::pair<mlir::linalg::LinalgOp, Fills> onlyOpOf(mlir::func::FuncOp kernel);

/// The product of a kernel that consists of a fill, a product and its epilogue,
/// and the fill; null of other kernels.
std::pair<mlir::linalg::LinalgOp, Fills>
productWithEpilogueOf(mlir::func::FuncOp kernel);

/// Whether a product is emitted by tiles, so that an epilogue can be part of
/// it.
bool takesEpilogue(mlir::linalg::LinalgOp product,
                   mlir::linalg::GenericOp epilogue, const DeviceInfo &device);

/// Emits the payload of a linalg op on memrefs in one iteration of its loops.
class PointBuilder {
public:
  PointBuilder(mlir::linalg::LinalgOp op, mlir::ImplicitLocOpBuilder &b)
      : ivs(op.getNumLoops()), op(op), b(b) {}

  /// The induction variables, by loop of the op.
  llvm::SmallVector<mlir::Value> ivs;
  /// Elements of operands that need not be loaded, by operand.
  llvm::SmallDenseMap<unsigned, mlir::Value> known;

  /// The indices of an operand in this iteration.
  llvm::SmallVector<mlir::Value> placeOf(mlir::OpOperand &operand);
  /// The element of an operand in this iteration, or the operand if it is a
  /// scalar.
  mlir::Value load(mlir::OpOperand &operand);
  void store(mlir::Value value, mlir::OpOperand &operand);
  /// The results of the payload, for these old elements of the results. Null
  /// ones are loaded if they are read.
  llvm::SmallVector<mlir::Value> payload(mlir::ValueRange elements);
  /// Sets the induction variables of some loops from their linear index. The
  /// last of the loops advances fastest.
  void setIvs(llvm::ArrayRef<unsigned> loops, mlir::Value number);

private:
  mlir::linalg::LinalgOp op;
  mlir::ImplicitLocOpBuilder &b;
};

/// The loops of an op that index an axis of every result by themselves, in the
/// order of the first result. Threads that differ in one of these loops write
/// different elements.
llvm::SmallVector<unsigned> loopsOfElements(mlir::linalg::LinalgOp op);

/// Whether all results are of f32, and parts of them can be combined.
bool reducesFloats(mlir::linalg::LinalgOp op);

/// The known alignment of a kernel's operand, in bytes.
int64_t alignmentOf(mlir::Value memory);
/// Whether an operand is contiguous along a loop, and these loops start it, and
/// each of the others advances it, at multiples of so many elements, or of the
/// widest access.
bool isAligned(mlir::Value memory, unsigned operand, int64_t start,
               llvm::ArrayRef<llvm::ArrayRef<LoopNest::Loop>> loops,
               const LoopNest::Loop &along, int64_t elements);
/// Whether a thread accesses `width` elements of an operand along a loop at
/// once: they are contiguous, and start at a multiple of their size, or of the
/// widest access.
bool isVectorAccess(mlir::linalg::LinalgOp op, const LoopNest &nest,
                    unsigned operand, size_t along, int64_t width);
/// The number of elements along a loop that a thread accesses at once: those of
/// the widest access to a large operand, or fewer if any of the first
/// `operands` cannot be accessed so, or if `isWhole` and the extent is no
/// multiple.
int64_t widthOf(mlir::linalg::LinalgOp op, const LoopNest &nest,
                unsigned operands, size_t along, bool isWhole);
/// Loads or stores adjacent elements of a flat memref by one access.
llvm::SmallVector<mlir::Value> loadVector(mlir::ImplicitLocOpBuilder &b,
                                          mlir::Value memory, mlir::Value at,
                                          int64_t count);
void storeVector(mlir::ImplicitLocOpBuilder &b,
                 llvm::ArrayRef<mlir::Value> elements, mlir::Value memory,
                 mlir::Value at);
/// The offset of an operand, in elements, in these iterations of the loops.
mlir::Value offsetOf(NestBuilder &b, const LoopNest &nest, unsigned operand,
                     llvm::ArrayRef<mlir::Value> ivs);
/// Loads `width` elements of an operand along a loop from `place` on. A scalar
/// is the same for all.
llvm::SmallVector<mlir::Value>
loadElements(NestBuilder &b, mlir::linalg::LinalgOp op, const LoopNest &nest,
             unsigned operand, size_t along, int64_t width, mlir::Value place);
/// Stores elements of an operand along a loop from `place` on.
void storeElements(NestBuilder &b, mlir::linalg::LinalgOp op,
                   const LoopNest &nest, unsigned operand, size_t along,
                   mlir::Value place, llvm::ArrayRef<mlir::Value> elements);
/// Allocates `size` elements of shared memory for the kernel that is being
/// built. A kernel can have only one buffer that is too large for static shared
/// memory.
mlir::Value sharedBuffer(mlir::ImplicitLocOpBuilder &b, const llvm::Twine &name,
                         mlir::Type element, int64_t size,
                         int64_t alignment = 16);

/// Moves ops, and the buffers that only they access, to a region before the
/// last op, of which one kernel is made.
void moveToRegion(llvm::ArrayRef<mlir::Operation *> ops);
/// Erases the ops of such a region, and the buffers that only they accessed.
void eraseWithBuffers(llvm::ArrayRef<mlir::Operation *> ops);

/// Emits a contraction by tiles in shared memory. Like the emitters below,
/// replaces the op, and the fills before it if there are any, by the code of a
/// thread. Returns none, and emits nothing, if the op is of another kind.
std::optional<KernelShape> emitTiles(mlir::linalg::LinalgOp op,
                                     mlir::linalg::FillOp fill,
                                     const DeviceInfo &device);
/// The schedule that emitTiles() chooses.
std::optional<TileSchedule> tileScheduleOf(mlir::linalg::LinalgOp op,
                                           const DeviceInfo &device);
/// The bytes of an element of A and B, if matrix instructions compute the
/// contraction: of bf16, f16 or tf32, with sums in f32.
std::optional<int64_t> matrixElementBytes(mlir::linalg::LinalgOp op);
/// Emits a contraction of bf16, f16 or tf32 by matrix instructions.
std::optional<KernelShape> emitMatrices(mlir::linalg::LinalgOp op,
                                        mlir::linalg::FillOp fill,
                                        const DeviceInfo &device);
/// The schedule that emitMatrices() chooses.
std::optional<MatrixSchedule> matrixScheduleOf(mlir::linalg::LinalgOp op,
                                               const DeviceInfo &device);
/// Emits an attention, in a region of a kernel, as one kernel.
std::optional<KernelShape> emitAttention(mlir::func::FuncOp kernel,
                                         const DeviceInfo &device);
/// The schedule that emitAttention() chooses.
std::optional<AttentionSchedule> attentionScheduleOf(mlir::func::FuncOp kernel,
                                                     const DeviceInfo &device);
/// Emits a reduction along contiguous elements, with a warp for each result.
std::optional<KernelShape> emitRows(mlir::linalg::LinalgOp op, Fills fills);
/// Emits a reduction of columns, with a block for several results that are
/// contiguous.
std::optional<KernelShape> emitColumns(mlir::linalg::LinalgOp op, Fills fills,
                                       const DeviceInfo &device);
/// Emits ops on the same rows, in a region of a kernel, with some warps a row.
std::optional<KernelShape> emitFusedRows(mlir::func::FuncOp kernel);
/// Emits an element-wise op, with several elements per thread as vectors.
std::optional<KernelShape> emitElements(mlir::linalg::LinalgOp op);

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_KERNELS_H
