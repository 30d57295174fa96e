// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_PIPELINES_LOWERING_H
#define NETC_LIB_PIPELINES_LOWERING_H

#include "lib/Program/Isa.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include <string>
#include <vector>

namespace netc {

struct LoweringOptions {
  std::string target = "cpu"; ///< the name of a backend
  std::string arch;           ///< of devices to emit code for, if not all
  std::string run;            ///< the step's name; empty if there is only one
  std::vector<std::string>
      sizes; ///< of free axes: `N=8`; others as the step says
  void setBatch(uint64_t examples) {
    sizes.push_back("N=" + std::to_string(examples));
  }
  bool reference = false; ///< plain loops that execute what is counted
  bool counted = false;   ///< the program counts what it executes
  bool doubles = false;   ///< f32 is computed as f64
  bool unrounded = false; ///< values of 16 bits are not rounded to them
  bool perturbed = false; ///< each f64 computed passes through `netc_perturb`
  /// Tensors lie apart, and AddressSanitizer, which has to be in the process,
  /// watches over what lies between them.
  bool guarded = false;
  /// The widest vectors to use, if not those of the machine.
  std::optional<program::Isa> isa;
};

/// From Stage::Step to linalg on tensors, which is the same for every target.
void addLinalgPasses(mlir::OpPassManager &passes,
                     const LoweringOptions &options);
/// From there, after a target's layout passes, to buffers.
void addBufferPasses(mlir::OpPassManager &passes,
                     const LoweringOptions &options);
/// Gives buffers their places in one arena. The module's `net.arena` is the
/// size of the arena in bytes, and `net.buffers` what it would be if no buffers
/// shared memory.
void addArenaPasses(mlir::OpPassManager &passes,
                    const LoweringOptions &options);

/// Registers the interfaces of upstream's dialects that lowering needs.
void registerLoweringInterfaces(mlir::DialectRegistry &registry);

} // namespace netc

#endif // NETC_LIB_PIPELINES_LOWERING_H
