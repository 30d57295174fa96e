// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NET_CODEGEN_PASSES_TD
#define NET_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def PropagateTransposes : Pass<"net-propagate-transposes", "::mlir::func::FuncOp"> {
  let summary = "Let tensors stand in the order that convolutions want";
  let description = [{
    A reader of a transposed tensor reads the tensor before the transpose, and its own result takes
    that order over. So a transpose sinks through element-wise ops, windows and slices until it meets
    its inverse, or an op that needs the old order. A sum of products writes its result in the order
    in which the result is read.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseElementwise : Pass<"net-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Compute chains of elements in one loop";
  let description = [{
    An element-wise op is fused into its reader if it has no other, or if computing an element again
    is cheaper than storing it. It is not fused into a sum of products, which would compute the
    element for each of the sums. A short sum whose result exceeds the caches is computed by its
    reader. An element that a payload gathers is computed there.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def MergeReductions : Pass<"net-merge-reductions", "::mlir::func::FuncOp"> {
  let summary = "Take sums over the same tensor in one pass over it";
  let description = [{
    Reductions over the same loops that read the same tensor become one op with several results. It
    stands where the last of them stood.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def RematerializeOperands : Pass<"net-rematerialize-operands", "::mlir::func::FuncOp"> {
  let summary = "Compute operands that follow from what an op reads anyway";
  let description = [{
    An op reads a large tensor x, and also y, of which each element is a few sums and products of the
    element of x at the same place: an activation, say, of a normalized x. Then the op computes y
    instead of reading it.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def FusePadding : Pass<"net-fuse-padding", "::mlir::func::FuncOp"> {
  let summary = "Compute what is only read padded inside of its padding";
  let description = [{
    If every reader pads a tensor alike, the tensor is padded once, where it is computed: its elements
    are written into the padded buffer. The input of a convolution is such a tensor, which the gradient
    of the weight pads, too.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def DeferAccumulation : Pass<"net-defer-accumulation", "::mlir::func::FuncOp"> {
  let summary = "Take sums of products over the turns of a loop as one product after it";
  let description = [{
    A loop may carry a tensor to which each turn only adds a product, as the gradient of the weight of
    a recurrence. The loop leaves it out, and one product after the loop sums over the turns, too. The
    operands of that product are tensors that the loop reads or writes a slice of per turn. An operand
    that is no such slice is stacked by the loop. What is rounded to a low format in each turn is summed
    in f32 then, and rounded once.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PackResults : Pass<"net-pack-results", "::mlir::func::FuncOp"> {
  let summary = "Let products write panels";
  let description = [{
    A product whose result is copied into another order writes panels instead, and the copy reads
    these. A panel holds NR columns, row after row, so that the rows of a tile are adjacent.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PrepackWeights : Pass<"net-prepack-weights", "::mlir::ModuleOp"> {
  let summary = "Keep weights in the panels of their gradients";
  let description = [{
    If the gradient of a weight is written as panels, and only the update reads it, the weight and the
    state of its optimizer are kept as panels, too, from step to step. Then the gradient is not copied
    back, and a product that reads the weight as the same panels needs no copy. The slot of such a
    tensor says how it lies in memory: `sizes` are the extents of loops over it, outermost first, and
    `strides` how far an iteration of each moves in row-major order.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PackOperands : Pass<"net-pack-operands", "::mlir::func::FuncOp"> {
  let summary = "Let products walk through memory";
  let description = [{
    An operand of a sum of products becomes panels: the columns of a tile are adjacent for each
    iteration of the sum, and panels follow each other. If a copy reorders the operand anyway, as
    that of a weight, the copy writes the panels. Otherwise a copy is made if many rows share the
    operand, unless it is kept as panels. The tensor that a product starts from is filled right
    before it.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PlaceResults : Pass<"net-place-results", "::mlir::func::FuncOp"> {
  let summary = "Let ops write where their results are to stand";
  let description = [{
    A tensor that outlives the step is written into its slot by the op that computes it, in the shape
    of that op. Where the old contents of the slot are still to be read, the op writes a buffer of its
    own, which is copied later. An element-wise op writes over an operand that nothing reads any more.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect"];
}

def FuseEpilogues : Pass<"net-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Let the op that reads a product's result be part of its kernel";
  let description = [{
    Works on buffers that have no places yet. If all that reads the result of a sum of products is an
    element-wise op right behind it, as one that rounds it or adds a bias, both become the body of an
    `scf.execute_region`, and are lowered to one kernel: each tile goes through the element-wise op
    while it is in L1, and what has no sums left to add is never stored.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def LowerKernels : Pass<"net-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "Make linalg ops on memory loops for the CPU: tiles in registers, threads";
  let description = [{
    Contractions, reductions, transposes and large element-wise ops become tiles of vectors; any other
    linalg op becomes plain loops, which LLVM vectorizes. In an `scf.execute_region`, a contraction
    takes the element-wise op behind it along. Threads share the outer loops. The module's
    `net.stack` says how many bytes of packed operands a thread keeps on its stack, at most.
  }];
  let options = [
    Option<"isa", "isa", "std::string", "\"baseline\"",
           "The vectors of the target: `avx512_bf16`, `avx512`, `avx2` or `baseline`">,
    Option<"printSchedules", "print-schedules", "bool", "false",
           "Say how each contraction is computed, as a remark">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def PlanMemory : Pass<"net-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give every buffer of the step its place in one arena";
  let description = [{
    `@netc_step` takes the address of the arena. Tensors that outlive a step lie at its start, and the
    module's `net.slots` describes them, with offsets in bytes. Temporary buffers follow; those that
    are never in use at the same time share memory. `net.arena` is the size of the arena in bytes, and
    `net.buffers` the size that it would have if none shared. With `apart`, none do, and before and
    behind each tensor there is a gap of its size.
  }];
  let options = [Option<"apart", "apart", "bool", "false", "Leave gaps around tensors">];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect"];
}

def GuardMemory : Pass<"net-guard-memory", "::mlir::ModuleOp"> {
  let summary = "Tell AddressSanitizer that of the arena only tensors are to be used";
  let description = [{
    While `@netc_step` runs, the gaps between the tensors of its arena are poisoned: code that
    AddressSanitizer has instrumented ends the process when it accesses them.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect"];
}

def LowerFloat16 : Pass<"net-lower-float16", "::mlir::ModuleOp"> {
  let summary = "Make numbers of 16 bits integers";
  let description = [{
    Memory and vectors have i16 where they had bf16 or f16. Widening and rounding, to the nearest and
    even of two, become shifts of integers. Arithmetic on numbers of 16 bits is an error: LLVM makes
    calls of it that no library has.
  }];
  let options = [Option<"convertsHalves", "converts-halves", "bool", "false",
                        "The target has instructions between f16 and f32">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect"];
}

def OutlineKernels : Pass<"net-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Make each linalg op or loop nest of the step a function of pointers";
  let description = [{
    Ops of one `scf.execute_region` are one kernel. Equal kernels are emitted once. A pointer is `llvm.noalias` unless another one may point into the
    same buffer. With `record`, the step calls `@netc_record` after each kernel, with the number of its
    op. With `self-contained`, every access to memory is in a kernel, and so are the literals that
    kernels read: the step can run where it cannot read the arena.
  }];
  let options = [
    Option<"record", "record", "bool", "true", "Tell what ran">,
    Option<"merge", "merge", "bool", "true", "Emit kernels that are the same once">,
    Option<"selfContained", "self-contained", "bool", "false",
           "Leave no access to memory outside of kernels">];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect"];
}

def CountArithmetic : Pass<"net-count-arithmetic", "::mlir::ModuleOp"> {
  let summary = "Make loops count the arithmetic on floats that they execute";
  let description = [{
    `@netc_counts` has three numbers for each op of `net.ops`, which grow as the program runs: FLOP of
    sums of products, other FLOP, and how many of the latter are transcendental.
  }];
  let options = [Option<"atomic", "atomic", "bool", "false", "Threads count at once">];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect"];
}

def PerturbArithmetic : Pass<"net-perturb-arithmetic", "::mlir::ModuleOp"> {
  let summary = "Pass what is computed in f64 to `netc_perturb`";
  let description = [{
    `double netc_perturb(double)` gets the result of each operation before it is used, and returns what
    is used instead: arithmetic with rounding errors that the caller chooses.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def MapKernels : Pass<"net-map-kernels", "::mlir::ModuleOp"> {
  let summary = "Make kernels the code of one of many threads";
  let description = [{
    A thread computes one element of the result, with all of its sums, in the order of the loops. A
    loop of which two turns may write the same element is run by one thread, and so is all else.
    `net.threads` says how many threads a kernel takes; they are numbered along x.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def LowerDeviceMath : Pass<"net-lower-device-math", "::mlir::ModuleOp"> {
  let summary = "Make functions of floats code that needs no library";
  let description = [{
    A device has no libm. Functions are computed in f64, by lib/Codegen/CUDA/DeviceMath.mlir, and
    rounded once.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def SplitDevice : Pass<"net-split-device", "::mlir::ModuleOp"> {
  let summary = "Move kernels to a module of their own, and launch them";
  let description = [{
    Works on the LLVM dialect. Functions with `net.threads`, and all that they use, move to
    `module @device`. A call of such a kernel becomes a call of
    `void netc_launch(int64_t kernel, void **arguments)`, with its number in the module's `net.kernels`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // NET_CODEGEN_PASSES_TD
