// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TARGET_COMPILE_H
#define NETC_LIB_TARGET_COMPILE_H

#include "lib/Pipelines/Lowering.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace netc {

/// Where the tensors of a step lie.
struct MemoryPlan {
  int64_t batch;   ///< examples of the step
  int64_t arena;   ///< bytes that it works in
  int64_t buffers; ///< bytes, if no two tensors shared any
};

/// A training step as an object file for the machine that this program runs on:
/// `netc_step`, `netc_program` and, if it counts, `netc_counts`; lib/Runtime
/// says what they are.
struct CompiledStep {
  llvm::SmallVector<char, 0> object;
  std::string description; ///< netc_program
  MemoryPlan memory;
};

/// How far compile() goes.
enum class CodeStage { Linalg, Memory, Llvm };

/// Lowers the step of a module at Stage::Step. Errors are diagnostics.
mlir::LogicalResult lower(mlir::ModuleOp module, const LoweringOptions &options,
                          CodeStage stage);

/// Plans its memory, as compile() does. The module stays.
mlir::FailureOr<MemoryPlan> planMemory(mlir::ModuleOp module,
                                       const LoweringOptions &options);

/// Compiles it. The module is lowered in place. `description` is what the
/// caller knows of the program.
mlir::FailureOr<CompiledStep> compile(mlir::ModuleOp module,
                                      const LoweringOptions &options,
                                      llvm::json::Object description);

/// The second half of that: compiles what lower() made at CodeStage::Llvm.
mlir::FailureOr<CompiledStep> assemble(mlir::ModuleOp module,
                                       const LoweringOptions &options,
                                       llvm::json::Object description);

} // namespace netc

#endif // NETC_LIB_TARGET_COMPILE_H
