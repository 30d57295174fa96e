// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_PIPELINES_LOWERING_H
#define NETC_LIB_PIPELINES_LOWERING_H

#include "lib/Program/Isa.h"
#include "lib/Program/TargetKind.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include <string>
#include <vector>

namespace netc {

struct LoweringOptions {
  program::TargetKind target = program::TargetKind::Cpu;
  std::string arch; ///< the device to emit code for; empty for all
  std::string run;  ///< name of the step; empty if there is only one
  std::vector<std::string>
      sizes; ///< sizes of free axes, `N=8`; others as the step states them
  void setBatch(uint64_t examples) {
    sizes.push_back("N=" + std::to_string(examples));
  }
  bool reference = false; ///< scalar loops that execute exactly what is counted
  bool counted = false; ///< the program counts the operations that it executes
  bool doubles = false; ///< f32 is computed as f64
  bool unrounded = false; ///< with `doubles`: values of 16 bits are f64, too
  /// With `doubles`: each result of arithmetic, and each value that
  /// `unrounded` does not round, is passed to `netc_perturb`.
  bool perturbed = false;
  /// With both: so is each operand of a product in tf32.
  bool perturbedInputs = false;
  /// Gaps between tensors are poisoned for AddressSanitizer, which must be
  /// linked.
  bool guarded = false;
  /// IR is verified after each pass, which takes a fifth of the time.
  bool verified = false;
  /// The widest vectors to use; none for the machine's.
  std::optional<program::Isa> isa;
};

/// From Stage::Step to linalg on tensors. The same for every target.
void addLinalgPasses(mlir::OpPassManager &passes,
                     const LoweringOptions &options);
/// From there, after a target's layout passes, to buffers.
void addBufferPasses(mlir::OpPassManager &passes,
                     const LoweringOptions &options);
/// Gives buffers their places in one arena. The module's MemoryAttr says how
/// large it is.
void addArenaPasses(mlir::OpPassManager &passes,
                    const LoweringOptions &options);

/// Registers external models for upstream's dialects that lowering needs.
void registerLoweringInterfaces(mlir::DialectRegistry &registry);

} // namespace netc

#endif // NETC_LIB_PIPELINES_LOWERING_H
