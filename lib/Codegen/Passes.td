// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NET_CODEGEN_PASSES_TD
#define NET_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def PropagateTransposes : Pass<"net-propagate-transposes", "::mlir::func::FuncOp"> {
  let summary = "Let tensors stand in the order that convolutions want";
  let description = [{
    A transposed operand is read in its own order, and the result takes that order
    over: transposes sink through all ops that work element by element, over windows or on parts,
    until they meet their inverse, or what needs the old order. A sum of products is written
    as it is read.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseElementwise : Pass<"net-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Compute chains of elements in one loop";
  let description = [{
    An op that works element by element goes into what reads it, if that is all that reads it or
    computing an element again is cheaper than keeping it; not into sums of products. A sum of few
    products that exceeds the caches is added up where it is read, and an element that a payload
    gathers is computed there.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def MergeReductions : Pass<"net-merge-reductions", "::mlir::func::FuncOp"> {
  let summary = "Take sums over the same tensor in one pass over it";
  let description = [{
    Reductions to columns over the same rows that read the same tensor become one op with
    several results, where the last of them stands.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def RematerializeOperands : Pass<"net-rematerialize-operands", "::mlir::func::FuncOp"> {
  let summary = "Compute operands that follow from what an op reads anyway";
  let description = [{
    An operand that is computed, by a few sums and products, of tensors that the op reads at the
    same places, as an activation of what was normalized, is not read but computed again.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def FusePadding : Pass<"net-fuse-padding", "::mlir::func::FuncOp"> {
  let summary = "Compute what is only read padded inside of its padding";
  let description = [{
    A result that every reader pads alike, as the input of a convolution and of the gradient of its
    weight, is padded once, and before: so that it is computed where it is read.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def DeferAccumulation : Pass<"net-defer-accumulation", "::mlir::func::FuncOp"> {
  let summary = "Take sums of products over the turns of a loop as one product after it";
  let description = [{
    What a loop only adds products to, as to the gradient of a weight that a recurrence uses, becomes
    one sum of products over turns too. Its operands are those that the loop reads or writes turn by
    turn, or are stacked for it.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PackResults : Pass<"net-pack-results", "::mlir::func::FuncOp"> {
  let summary = "Let products write panels";
  let description = [{
    A result that is copied into another order is written as panels of columns, one behind the
    other, in which the rows of a tile follow each other, and copied from these.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PrepackWeights : Pass<"net-prepack-weights", "::mlir::ModuleOp"> {
  let summary = "Keep weights in the panels of their gradients";
  let description = [{
    A weight whose gradient is written as panels, and only read by the update, is kept in the same
    order from step to step, and so is what the update keeps beside it. The gradient is not copied
    back, and a product that reads the weight as panels of the same columns needs no copy. The slots
    say how they lie in memory: `sizes` are loops over it, outermost first, `strides` how far an
    iteration of each moves in row-major order.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PackOperands : Pass<"net-pack-operands", "::mlir::func::FuncOp"> {
  let summary = "Let products walk through memory";
  let description = [{
    An operand of a sum of products becomes panels, one behind the other, which have
    for each iteration of the sum the columns of a tile next to each other: written by the
    copy that reorders it, as of a weight, or by one of its own if many rows share it, unless it is kept
    like this. What a product starts from is filled next to it.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PlaceResults : Pass<"net-place-results", "::mlir::func::FuncOp"> {
  let summary = "Let ops write where their results are to stand";
  let description = [{
    What outlives a step is written by the op that computes it, in the shape of that op, unless what
    was there before is still to be read: then the op has memory of its own, to be copied. An
    element-wise result is written over an operand that nothing reads any more.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect"];
}

def LowerKernels : Pass<"net-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "Make linalg ops on memory loops for the CPU: tiles in registers, threads";
  let description = [{
    The module's `net.stack` says how many bytes of copies a thread makes on its stack, at most.
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
    `@netc_step` takes the arena; what outlives a step lies at its start, described by the
    module's `net.slots` with offsets in bytes. Behind it lie the temporary buffers, which share
    places where their lives do not meet. `net.arena` is the arena's size in bytes, `net.buffers`
    what all buffers would take one beside the other. With `apart` none share places, and before
    and behind each tensor as many bytes as it has are no tensor's.
  }];
  let options = [Option<"apart", "apart", "bool", "false", "Leave gaps around tensors">];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect"];
}

def GuardMemory : Pass<"net-guard-memory", "::mlir::ModuleOp"> {
  let summary = "Tell AddressSanitizer that of the arena only tensors are to be used";
  let description = [{
    While `@netc_step` runs, what lies between the tensors of its arena is poisoned: code that
    AddressSanitizer has instrumented ends the process when it goes there.
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
    Kernels that are the same are emitted once. A pointer is `llvm.noalias` unless another
    may point into the same buffer. With `record`, the step tells `@netc_record` after each
    kernel which op it belonged to. With `self-contained`, what the step itself would read or write is
    in kernels too, and so are the literals that they read: it can run where the arena is not.
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
    `@netc_counts` has three numbers for each op of `net.ops`, added up as the program
    runs: FLOP in sums of products, other FLOP, and those of the latter that are
    transcendental.
  }];
  let options = [Option<"atomic", "atomic", "bool", "false", "Threads count at once">];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect"];
}

def PerturbArithmetic : Pass<"net-perturb-arithmetic", "::mlir::ModuleOp"> {
  let summary = "Pass what is computed in f64 to `netc_perturb`";
  let description = [{
    `double netc_perturb(double)` gets what each operation would round, and gives what is to stand
    for it: arithmetic with rounding errors of the caller's.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def MapKernels : Pass<"net-map-kernels", "::mlir::ModuleOp"> {
  let summary = "Make kernels the code of one of many threads";
  let description = [{
    A thread computes an element of the result: all of its sums, in the order of the loops. Loops whose
    elements cannot be told apart, and all else, are one thread's. `net.threads` says how many a kernel
    takes, which are counted along x.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def LowerDeviceMath : Pass<"net-lower-device-math", "::mlir::ModuleOp"> {
  let summary = "Make functions of floats code that needs no library";
  let description = [{
    A device has no libm. Functions are computed in f64, as lib/Codegen/CUDA/DeviceMath.mlir says, and
    rounded once.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def SplitDevice : Pass<"net-split-device", "::mlir::ModuleOp"> {
  let summary = "Move kernels to a module of their own, and launch them";
  let description = [{
    On the LLVM dialect: what has `net.threads`, and all that it uses, goes to `module @device`. Calls
    of kernels become calls of `void netc_launch(int64_t kernel, void **arguments)`, by their numbers in
    the module's `net.kernels`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // NET_CODEGEN_PASSES_TD
