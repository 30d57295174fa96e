// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NET_CODEGEN_PASSES_TD
#define NET_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def PropagateTransposes : Pass<"net-propagate-transposes", "::mlir::func::FuncOp"> {
  let summary = "Move transposes to where they cancel";
  let description = [{
    A user of a transposed tensor reads the tensor before the transpose, and its result takes over that order of
    axes. So a transpose moves down through element-wise ops, windows and slices until it meets its inverse, or
    an op that needs the transposed order. A contraction writes its result in the order in which the result is
    read.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseElementwise : Pass<"net-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse chains of element-wise ops";
  let description = [{
    An element-wise op is fused into its only user, or into each user if computing an element again is cheaper
    than storing it. It is not fused into a contraction, which would compute the element once for each sum that
    uses it. A sum of few products whose result exceeds the caches is computed by its user, and so is an element
    that a payload gathers.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def MergeReductions : Pass<"net-merge-reductions", "::mlir::func::FuncOp"> {
  let summary = "Merge reductions of the same tensor into one pass";
  let description = [{
    Reductions over the same loops that read the same tensor become one op with several results, at the position
    of the last of them.
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
    If every user pads a tensor alike, it is padded once, where it is computed: its elements are written into
    the padded buffer. An example is the input of a convolution, which the gradient of the weight also pads.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def DeferAccumulation : Pass<"net-defer-accumulation", "::mlir::func::FuncOp"> {
  let summary = "Replace products that a loop accumulates by one product after it";
  let description = [{
    A loop may carry a tensor to which each iteration only adds a product, such as the gradient of a recurrent
    weight. One product after the loop then replaces those in it: it sums over the iterations, too. Its operands
    are tensors of which each iteration reads or writes a slice. If there is no such tensor, the loop stacks the
    values of its iterations. What each iteration rounded to a 16-bit format is now summed in f32, and rounded
    once.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseEpilogues : Pass<"net-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Let the op that reads a product's result be part of its kernel";
  let description = [{
    Runs before memory is planned. If the only reader of a contraction's result is an element-wise op right
    after it, such as one that rounds it or adds a bias, both become the body of an `scf.execute_region`, and
    are lowered to one kernel, if the target can. Each tile goes through the element-wise op while it is in L1
    or in registers. The result itself is never stored if each of its elements is written once.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def PlaceResults : Pass<"net-place-results", "::mlir::func::FuncOp"> {
  let summary = "Let ops write their results in place";
  let description = [{
    The op that computes a tensor which outlives the step writes it to the tensor's slot, reshaped if needed. If
    the old contents of the slot are read later, the op writes to a buffer, which is copied to the slot
    afterwards. An element-wise op overwrites an operand that nothing reads later. Tensors that begin with the same
    inserted part insert it each, and are not copies of a tensor that has this part alone. A part that is read
    after another one is inserted beside it has a buffer of its own.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect"];
}

def PlanMemory : Pass<"net-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Place all buffers of the step in one arena";
  let description = [{
    `@netc_step` takes the address of the arena. Tensors that outlive a step are at its start, and the module's
    `net.slots` describes them, with offsets in bytes. Temporary buffers follow; those that are never live at
    the same time share memory. `net.memory` has the size of the arena with and without sharing. With `apart`,
    no buffers share memory, and there is a gap of a tensor's own size before and after each tensor.
  }];
  let options = [Option<"apart", "apart", "bool", "false", "Leave gaps around tensors">];
  let dependentDialects = ["::netc::NetDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect"];
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
    i16 replaces bf16 and f16 in memory and in vectors. Extension, and rounding to nearest even, become integer
    arithmetic, unless the target has instructions for them. Arithmetic on 16-bit floats is an error, since LLVM would lower it to calls of functions that no
    library has.
  }];
  let options = [Option<"convertsHalves", "converts-halves", "bool", "false",
                        "The target has instructions between f16 and f32">,
                 Option<"convertsBfloats", "converts-bfloats", "bool", "false",
                        "The target has an instruction from f32 to bf16">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect"];
}

def OutlineKernels : Pass<"net-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Outline each linalg op or loop nest of the step to a function";
  let description = [{
    The functions take pointers. The ops of an `scf.execute_region` are one kernel. Equal kernels are emitted
    once. A pointer is `llvm.noalias` unless another one may point into the same buffer. With `record`, the step
    calls `@netc_record` after each kernel, with the number of its op. With `self-contained`, kernels contain
    all accesses to memory and the literals that they read, so that the step can run on a host that cannot
    access the arena. A kernel begins with the fills of its op's results, then even if these are several.
  }];
  let options = [
    Option<"record", "record", "bool", "true", "Call `@netc_record` after each kernel">,
    Option<"merge", "merge", "bool", "true", "Emit equal kernels once">,
    Option<"selfContained", "self-contained", "bool", "false",
           "Leave no access to memory outside of kernels">,
    Option<"alignment", "alignment", "int64_t", "0",
           "State how pointers are aligned, up to this many bytes">];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect"];
}

def CountArithmetic : Pass<"net-count-arithmetic", "::mlir::ModuleOp"> {
  let summary = "Count the arithmetic on floats that is executed";
  let description = [{
    `@netc_counts` has three counters for each op of `net.ops`: FLOP of contractions, other FLOP, and how many
    of both are transcendental functions.
  }];
  let options = [Option<"atomic", "atomic", "bool", "false", "Count with atomics, for several threads">];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect"];
}

def PerturbArithmetic : Pass<"net-perturb-arithmetic", "::mlir::ModuleOp"> {
  let summary = "Pass each result of f64 arithmetic to `netc_perturb`";
  let description = [{
    `double netc_perturb(double, double, double)` takes the result of each operation, half a unit in the last place
    of an f32, relative to the result, and half of the smallest subnormal f32. The value that it returns replaces the
    result, so its definition decides about rounding errors. What is rounded to 16 bits passes through it, too, with 0 and
    half of the smallest number of the format.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def WidenFloat16 : Pass<"net-widen-float16", "::mlir::ModuleOp"> {
  let summary = "Keep in f64 what would be rounded to 16 bits";
  let description = [{
    Takes linalg ops that compute in f64. Tensors, memory and slots of bf16 and f16 become f64, and roundings
    are dropped. With `perturbed`, each rounding becomes a call of `netc_perturb` with the two figures of its
    format. With `inputs`, an operand of a product with `net.input_precision` is perturbed before the product,
    each element once.
  }];
  let options = [Option<"perturbed", "perturbed", "bool", "false", "Call `netc_perturb` for each rounding">,
                 Option<"inputs", "inputs", "bool", "false", "Perturb operands of products in tf32">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

#endif // NET_CODEGEN_PASSES_TD
