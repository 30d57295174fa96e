// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NET_CODEGEN_PASSES_TD
#define NET_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def IsaOption : Option<"isa", "isa", "::netc::program::Isa", "::netc::program::Isa::Baseline",
                         "The vectors of the target", [{::llvm::cl::values(
    clEnumValN(::netc::program::Isa::Baseline, nameOf(::netc::program::Isa::Baseline), "128 bits"),
    clEnumValN(::netc::program::Isa::AVX2, nameOf(::netc::program::Isa::AVX2), "256 bits"),
    clEnumValN(::netc::program::Isa::AVX512, nameOf(::netc::program::Isa::AVX512), "512 bits"),
    clEnumValN(::netc::program::Isa::AVX512BF16, nameOf(::netc::program::Isa::AVX512BF16),
               "512 bits, with products of pairs of bf16"))}]>;

def PropagateTransposes : Pass<"net-propagate-transposes", "::mlir::func::FuncOp"> {
  let summary = "Move transposes to where they cancel";
  let description = [{
    A user of a transposed tensor reads the tensor before the transpose, and its own result takes over
    that order. So a transpose sinks through element-wise ops, windows and slices until it meets its
    inverse, or an op that needs the old order. A contraction writes its result in the order in which
    the result is read.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseElementwise : Pass<"net-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse chains of element-wise ops";
  let description = [{
    An element-wise op is fused into its only user, or into each user if computing an element again is
    cheaper than storing it. It is not fused into a contraction, which would compute the element once
    for each sum that uses it. A short sum whose result exceeds the caches is computed by its user. An
    element that a payload gathers is computed there.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def MergeReductions : Pass<"net-merge-reductions", "::mlir::func::FuncOp"> {
  let summary = "Merge reductions of the same tensor into one pass";
  let description = [{
    Reductions over the same loops that read the same tensor become one op with several results, at
    the position of the last of them.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def RematerializeOperands : Pass<"net-rematerialize-operands", "::mlir::func::FuncOp"> {
  let summary = "Recompute operands from tensors that an op reads anyway";
  let description = [{
    If an op reads two large tensors x and y, and each element of y is computed from the element of x
    at the same index by few additions and multiplications (y is an activation of a normalized x, say),
    the op computes y instead of reading it.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def FusePadding : Pass<"net-fuse-padding", "::mlir::func::FuncOp"> {
  let summary = "Write tensors that are only read padded into their padding";
  let description = [{
    If every user pads a tensor alike, it is padded once, where it is computed: its elements are
    written into the padded buffer. An example is the input of a convolution, which the gradient of the
    weight pads, too.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def DeferAccumulation : Pass<"net-defer-accumulation", "::mlir::func::FuncOp"> {
  let summary = "Replace products that a loop accumulates by one product after it";
  let description = [{
    A loop may carry a tensor to which each iteration only adds a product, as the gradient of the weight of
    a recurrence. The loop leaves it out, and one product after the loop sums over the turns, too. The
    operands of that product are tensors that the loop reads or writes a slice of per turn. An operand
    that is no such slice is stacked by the loop. What is rounded to a low format in each iteration is summed
    in f32 then, and rounded once.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PackResults : Pass<"net-pack-results", "::mlir::func::FuncOp"> {
  let summary = "Let products write panels";
  let description = [{
    A product whose result is copied into another order writes panels instead, and the copy reads
    these. A panel holds NR columns, row by row, so that the rows of a tile are contiguous.
  }];
  let options = [IsaOption];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PrepackWeights : Pass<"net-prepack-weights", "::mlir::ModuleOp"> {
  let summary = "Keep weights in panels, as their gradients";
  let description = [{
    If the gradient of a weight is written as panels, and only the update reads it, the weight and the
    optimizer's state are kept as panels, too, from step to step. Then the gradient is not unpacked,
    and a product that reads the weight as the same panels needs no copy. The slot of such a tensor
    states its layout: `sizes` are the extents of loops over it, outermost first, and `strides` the
    stride of each in row-major order.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PackOperands : Pass<"net-pack-operands", "::mlir::func::FuncOp"> {
  let summary = "Pack operands of products into panels";
  let description = [{
    An operand of a contraction becomes panels: for each iteration of k, the columns of a tile are
    contiguous, and panels follow each other. If the operand is copied to another order anyway, as a
    weight is, that copy writes the panels. Otherwise the operand is copied if many rows use it, unless
    it is kept as panels. The tensor that a product accumulates into is filled directly before it.
  }];
  let options = [IsaOption];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PlaceResults : Pass<"net-place-results", "::mlir::func::FuncOp"> {
  let summary = "Let ops write their results in place";
  let description = [{
    The op that computes a tensor which outlives the step writes it to its slot, in the shape of that
    op. If the old contents of the slot are read later, the op writes a buffer of its own, which is
    copied afterwards. An element-wise op overwrites an operand that nothing reads later.
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
  let summary = "Lower linalg ops on memrefs to loops for the CPU";
  let description = [{
    Contractions, reductions, transposes and large element-wise ops become tiles of vectors; any other
    linalg op becomes plain loops, which LLVM vectorizes. In an `scf.execute_region`, a contraction
    takes the element-wise op behind it along. Threads share the outer loops. The module's
    `net.stack` says how many bytes of packed operands a thread keeps on its stack, at most.
  }];
  let options = [
    IsaOption,
    Option<"printSchedules", "print-schedules", "bool", "false",
           "Emit the schedule of each contraction as a remark">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def PlanMemory : Pass<"net-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Place all buffers of the step in one arena";
  let description = [{
    `@netc_step` takes the address of the arena. Tensors that outlive a step lie at its start, and the
    module's `net.slots` describes them, with offsets in bytes. Temporary buffers follow; those that
    are never live at the same time share memory. `net.arena` is the size of the arena in bytes, and
    `net.buffers` the size that it would have without sharing. With `apart`, no buffers share memory, and
    each tensor has gaps of its own size before and behind it.
  }];
  let options = [Option<"apart", "apart", "bool", "false", "Leave gaps around tensors">];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect"];
}

def GuardMemory : Pass<"net-guard-memory", "::mlir::ModuleOp"> {
  let summary = "Let AddressSanitizer find accesses between the tensors of the arena";
  let description = [{
    While `@netc_step` runs, the gaps between the tensors of its arena are poisoned: an access from code
    that AddressSanitizer has instrumented ends the process.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect"];
}

def LowerFloat16 : Pass<"net-lower-float16", "::mlir::ModuleOp"> {
  let summary = "Lower 16-bit floats to integers";
  let description = [{
    i16 replaces bf16 and f16 in memory and in vectors. Extension, and rounding to nearest even, become
    integer arithmetic. Arithmetic on 16-bit floats is an error, since LLVM would lower it to calls
    that no library has.
  }];
  let options = [Option<"convertsHalves", "converts-halves", "bool", "false",
                        "The target has instructions between f16 and f32">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect"];
}

def OutlineKernels : Pass<"net-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Outline each linalg op or loop nest of the step to a function";
  let description = [{
    The functions take pointers. Ops of one `scf.execute_region` are one kernel. Equal kernels are
    emitted once. A pointer is `llvm.noalias` unless another one may point into the same buffer. With
    `record`, the step calls `@netc_record` after each kernel, with the number of its op. With
    `self-contained`, kernels contain every access to memory and the literals that they read, so that
    the step can run on a host that cannot access the arena.
  }];
  let options = [
    Option<"record", "record", "bool", "true", "Call `@netc_record` after each kernel">,
    Option<"merge", "merge", "bool", "true", "Emit equal kernels once">,
    Option<"selfContained", "self-contained", "bool", "false",
           "Leave no access to memory outside of kernels">];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect"];
}

def CountArithmetic : Pass<"net-count-arithmetic", "::mlir::ModuleOp"> {
  let summary = "Count the arithmetic on floats that is executed";
  let description = [{
    `@netc_counts` has three counters for each op of `net.ops`: FLOP of contractions, other FLOP, and how
    many of the latter are transcendental.
  }];
  let options = [Option<"atomic", "atomic", "bool", "false", "Count with atomics, for several threads">];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect"];
}

def PerturbArithmetic : Pass<"net-perturb-arithmetic", "::mlir::ModuleOp"> {
  let summary = "Pass each result of f64 arithmetic to `netc_perturb`";
  let description = [{
    `double netc_perturb(double, double)` takes the result of each operation and the half unit in the
    last place of an f32, relative to it. The value that it returns replaces the result, so the caller
    decides about rounding errors.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def WidenFloat16 : Pass<"net-widen-float16", "::mlir::ModuleOp"> {
  let summary = "Keep in f64 what would be rounded to 16 bits";
  let description = [{
    Takes linalg that computes in f64. Tensors, memory and slots of bf16 and f16 become f64, and
    roundings are dropped. With `perturbed`, each rounding becomes a call of `netc_perturb` with the
    half unit of its format.
  }];
  let options = [Option<"perturbed", "perturbed", "bool", "false", "Call `netc_perturb` for each rounding">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
}

def MapKernels : Pass<"net-map-kernels", "::mlir::ModuleOp"> {
  let summary = "Map kernels to threads of a GPU";
  let description = [{
    Each thread computes one element of the result, with reductions in the order of the loops. A loop
    of which two iterations may write the same element is run by one thread, and so is any other code.
    `net.threads` is the number of threads of the launch, which are numbered along x.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def LowerDeviceMath : Pass<"net-lower-device-math", "::mlir::ModuleOp"> {
  let summary = "Lower math functions to code that needs no library";
  let description = [{
    A device has no libm. lib/Codegen/CUDA/DeviceMath.mlir computes functions in f64; the result is
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
    `void netc_launch(int64_t kernel, void **arguments)`, where `kernel` is its index in `net.kernels`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // NET_CODEGEN_PASSES_TD
