// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NET_CODEGEN_CUDA_PASSES_TD
#define NET_CODEGEN_CUDA_PASSES_TD

include "mlir/Pass/PassBase.td"

def ArchOption : Option<"arch", "arch", "std::string", "\"sm_80\"",
                          "The architecture that code is for, or the first of several">;

def TileKernels : Pass<"net-tile-kernels", "::mlir::ModuleOp"> {
  let summary = "Give kernels that threads compute together their blocks";
  let description = [{
    Contractions are computed by tiles in shared memory, those of bf16, f16 and tf32 by matrix instructions. A warp
    reduces each row, and a thread computes several elements of an element-wise op. An operand that is
    contiguous along another loop than the result goes through shared memory. `net.threads` is the number of
    threads of the launch, and `net.threads_per_block` that of a block. Other kernels are left to
    net-map-kernels.
  }];
  let options = [ArchOption, Option<"printSchedules", "print-schedules", "bool", "false",
                                    "Say how each product is computed, as a remark">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def FindAttention : Pass<"net-find-attention", "::mlir::func::FuncOp"> {
  let summary = "Find attention that one kernel can compute";
  let description = [{
    Attention is two products of 16-bit operands around a softmax, with any element-wise op of the scores before
    the softmax. If no other op reads the scores and what follows from them, the ops are moved together and get
    `net.attention`. So do the ops of its gradients, in two kernels, of which the second computes the scores again.
    Both read the maxima and sums of the rows that the forward pass computes, and D = the sums of dO O along rows.
  }];
  let options = [ArchOption];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def RecomputeExponentials : Pass<"net-recompute-exponentials", "::mlir::func::FuncOp"> {
  let summary = "Compute exponentials where they are read";
  let description = [{
    Exponentials that element-wise ops and reductions read, as in a softmax and its cross entropy, are computed
    by each of them: on a GPU this takes less time than to store and load them. Those that another op reads, too,
    are stored.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def FuseAttention : Pass<"net-fuse-attention", "::mlir::func::FuncOp"> {
  let summary = "Make one kernel of each attention";
  let description = [{
    Ops with `net.attention` move to an `scf.execute_region`, with the buffers that only they access. Such a buffer
    needs no memory, since net-tile-kernels keeps scores in registers.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def PadRows : Pass<"net-pad-rows", "::mlir::func::FuncOp"> {
  let summary = "Let rows of operands of products start at multiples of 16 bytes";
  let description = [{
    Operands of matrix instructions are copied to shared memory in chunks of 16 bytes, if all rows start at multiples
    of that. The result of an element-wise op that only such products read becomes a slice of a tensor with longer
    rows. Nothing reads what lies between the rows. Images of few channels, and the weights of their convolutions, get
    zeros, so that windows start at such multiples and their rows are whole chunks; of the gradient of a weight, a
    slice is taken.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseRows : Pass<"net-fuse-rows", "::mlir::func::FuncOp"> {
  let summary = "Make one kernel of ops on the same rows";
  let description = [{
    Element-wise ops and reductions along the last axis, as of a softmax or a normalization, move to an
    `scf.execute_region`, if one of them reads what another one reduced. Its rows are of up to 8192 elements, which
    a warp or a block keeps in registers. Ops between them on what each row has once, such as the root of a sum,
    move along. Buffers that only these ops access need no memory.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def SplitSums : Pass<"net-split-sums", "::mlir::func::FuncOp"> {
  let summary = "Cut sums that few threads would compute into parts";
  let description = [{
    A reduction with few results (of a column, of a long row, of a product with few tiles) leaves most of a
    device idle. One of its loops is split into equal parts. One op reduces each part, and another op combines
    the partial results in order. Fills move to the ops whose results they initialize.
  }];
  let options = [ArchOption];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseTransposes : Pass<"net-fuse-transposes", "::mlir::func::FuncOp"> {
  let summary = "Write the result of an element-wise op as a transpose has it";
  let description = [{
    An element-wise op whose only reader is a transpose writes its result transposed. An example is the conversion
    of a convolution's weight to 16 bits, of which the product reads the channels side by side.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def MergeElementwise : Pass<"net-merge-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Compute small tensors that depend on each other in one launch";
  let description = [{
    Small element-wise ops with the same loops become one op with several results, at the position of the first of
    them, if each reads what another one makes or reads. An example is the mean, the variance and their running
    averages in a batch norm.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SortRows : Pass<"net-sort-rows", "::mlir::func::FuncOp"> {
  let summary = "Sort the places that add to the rows of a table by their rows";
  let description = [{
    Iterations of a loop that update the rows of a table which integers name, as in the gradient of an embedding,
    may meet in a row. They are put in the order of the rows, and those of a row in their own, by a tensor of the
    places in that order. A thread then computes a column of all iterations of one row (`net.segments`), and each
    element is computed as before. If there are many places, a row may have most of them: then iterations that add
    in f32 are summed in parts, of at most 64 places of a row each, and the sums of the parts are added to the row.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def JoinUpdates : Pass<"net-join-updates", "::mlir::ModuleOp"> {
  let summary = "Do the same with many tensors in one launch";
  let description = [{
    Element-wise ops that have the same payload, and whose operands are whole tensors of the arena, become one
    kernel, in the place of the last of them. An example is the update of all parameters by one rule. A table in
    the device's code has the offsets of the operands of each op. None of the ops may access what an op between
    them writes, or write what such an op accesses.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def MapKernels : Pass<"net-map-kernels", "::mlir::ModuleOp"> {
  let summary = "Map kernels to threads of a GPU";
  let description = [{
    Each thread computes one element of the result, with reductions in the order of the loops. A loop of which
    two iterations may write the same element is executed by one thread, and so is any other code. `net.threads`
    is the number of threads of the launch, which are numbered along x.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def LowerDeviceMath : Pass<"net-lower-device-math", "::mlir::ModuleOp"> {
  let summary = "Lower math functions to code that needs no library";
  let description = [{
    A device has no libm. lib/Codegen/CUDA/DeviceMath.mlir computes functions in f64, and the result is rounded
    once; or, of those that are frequent, in f32, to a few units in the last place.
  }];
  let options = [Option<"approximate", "approximate", "bool", "false",
                        "Compute exp, log, tanh and erf of f32 in f32">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def SplitDevice : Pass<"net-split-device", "::mlir::ModuleOp"> {
  let summary = "Move kernels to a module of their own, and launch them";
  let description = [{
    Works on the LLVM dialect. Functions with `net.threads`, and all that they use, move to `module @device`. A
    call of such a kernel becomes a call of `void netc_launch(int64_t kernel, void **arguments)`, where `kernel`
    is its index in `net.kernels`.
  }];
  let dependentDialects = ["::netc::NetDialect", "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // NET_CODEGEN_CUDA_PASSES_TD
