// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TARGET_COMPILE_H
#define NETC_LIB_TARGET_COMPILE_H

#include "lib/Target/Backend.h"

namespace netc {

/// A training step as an object for this machine: `netc_step`, `netc_program`
/// and, if it counts, `netc_counts`; see lib/Runtime.
struct CompiledStep {
  llvm::SmallVector<char, 0> object;
  program::Program program; ///< the contents of `netc_program`
};

/// How far lower() goes: to linalg on tensors, which is the same for every
/// target; to buffers placed in the arena; to kernels, which the backend emits.
enum class CodeStage { Linalg, Memory, Kernels };

/// Lowers the step of a module at Stage::Step. Errors are diagnostics.
mlir::LogicalResult lower(mlir::ModuleOp module, const Backend &backend,
                          const LoweringOptions &options, CodeStage stage);

/// The description of the program with the sizes of its memory. Lowers a copy
/// of the module.
mlir::FailureOr<program::Program> planMemory(mlir::ModuleOp module,
                                             const Backend &backend,
                                             const LoweringOptions &options);

/// Compiles the step of a module, which is lowered in place. `program` has the
/// parts of the description that the caller knows: version and conventions.
mlir::FailureOr<CompiledStep> compile(mlir::ModuleOp module,
                                      const Backend &backend,
                                      const LoweringOptions &options,
                                      program::Program program = {});

/// The second half of compile(), for a module at CodeStage::Kernels.
mlir::FailureOr<CompiledStep> assemble(mlir::ModuleOp module,
                                       const Backend &backend,
                                       const LoweringOptions &options,
                                       program::Program program = {});

} // namespace netc

#endif // NETC_LIB_TARGET_COMPILE_H
