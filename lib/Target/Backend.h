// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TARGET_BACKEND_H
#define NETC_LIB_TARGET_BACKEND_H

#include "lib/Pipelines/Lowering.h"
#include "lib/Program/Program.h"
#include "lib/Target/Child.h"
#include "mlir/IR/BuiltinOps.h"

namespace netc {

/// A target: how a step on linalg becomes kernels, an object and a program. All
/// passes before are the same for every target; see docs/AddATarget.md.
class Backend {
public:
  virtual ~Backend() = default;

  /// The target, as programs and reports describe it.
  virtual program::Target target() const = 0;

  /// On tensors: changes operands to the layouts that the target's kernels
  /// read. Adds nothing for the reference.
  virtual void addLayoutPasses(mlir::OpPassManager &passes,
                               const LoweringOptions &options) const = 0;
  /// On buffers that have no places yet: joins ops that are to be one kernel.
  /// Nothing for the reference.
  virtual void addGroupPasses(mlir::OpPassManager &passes,
                              const LoweringOptions &options) const = 0;
  /// Prints, for each product of a module whose memory is planned, the op that
  /// it serves and how its kernel is tiled. Changes the module.
  virtual mlir::LogicalResult printSchedule(mlir::ModuleOp module,
                                            llvm::raw_ostream &os) const = 0;
  /// From linalg on placed buffers to what emit() takes.
  virtual void addKernelPasses(mlir::OpPassManager &passes,
                               const LoweringOptions &options) const = 0;
  /// Prints the device code after the kernel passes, if the device is not the
  /// host.
  virtual llvm::Error printDeviceCode(mlir::ModuleOp module,
                                      llvm::raw_ostream &os) const = 0;
  /// An object that defines `netc_step`; `netc_program`, with `description`;
  /// and `netc_counts` if the program counts.
  virtual llvm::Expected<llvm::SmallVector<char, 0>>
  emit(mlir::ModuleOp module, llvm::StringRef description,
       const LoweringOptions &options) const = 0;
  /// Links such an object with the runtime archive to the executable `output`.
  /// Fails if something to link with is missing, with advice on what to
  /// install.
  virtual llvm::Error link(llvm::StringRef object, llvm::StringRef runtime,
                           llvm::StringRef output,
                           const ScratchFolder &scratch) const;
};

/// The backend of `options.target`, for this machine.
llvm::Expected<std::unique_ptr<Backend>>
makeBackend(const LoweringOptions &options);

/// From linalg on buffers to loops without affine maps.
void addLoopPasses(mlir::OpPassManager &passes);
/// From arithmetic, buffers and control flow to the LLVM dialect. Functions
/// take buffers as bare pointers.
void addLlvmDialectPasses(mlir::OpPassManager &passes);

} // namespace netc

#endif // NETC_LIB_TARGET_BACKEND_H
