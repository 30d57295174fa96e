// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NET_CONVERSION_PASSES_TD
#define NET_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def NetToLinalg : Pass<"convert-net-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Make a step with bound axes a function of linalg on tensors";
  let description = [{
    The module's one step, or that of `run`, becomes `func.func @netc_step`, and all else
    of `net` goes. What outlives a step (parameters, state, inputs, results) is a
    `memref.global` with a `#net.slot`. Each op that is built has, in its location, the
    number of the net op that it serves, which is its place in the module's `net.ops`:
    names, phases and exact costs.
  }];
  let options = [
    Option<"run", "run", "std::string", "\"\"", "The step's name">,
    Option<"reference", "reference", "bool", "false",
           "Execute exactly the operations that are counted, as plain as can be">,
    Option<"doubles", "doubles", "bool", "false", "Compute f32 values as f64">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

#endif // NET_CONVERSION_PASSES_TD
