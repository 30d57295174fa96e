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

/// A target: how a step in linalg becomes kernels, an object and a program. All
/// earlier passes are the same for every target; see docs/AddATarget.md.
class Backend {
public:
  virtual ~Backend() = default;

  /// The target, as programs and reports describe it.
  virtual program::Target target() const = 0;

  /// Passes on tensors that change operands to the layouts that the target's
  /// kernels read. None for the reference.
  virtual void addLayoutPasses(mlir::OpPassManager &passes,
                               const LoweringOptions &options) const = 0;
  /// Passes on buffers without places that join ops into one kernel. None for
  /// the reference.
  virtual void addGroupPasses(mlir::OpPassManager &passes,
                              const LoweringOptions &options) const = 0;
  /// Prints the tiling of each product's kernel and the op that it belongs to.
  /// The module must have planned memory, and is changed.
  virtual mlir::LogicalResult printSchedule(mlir::ModuleOp module,
                                            llvm::raw_ostream &os) const = 0;
  /// Passes from linalg on placed buffers to the input of emit().
  virtual void addKernelPasses(mlir::OpPassManager &passes,
                               const LoweringOptions &options) const = 0;
  /// Prints the device code after the kernel passes. For targets whose
  /// TargetTraits name a format for it.
  virtual llvm::Error printDeviceCode(mlir::ModuleOp module,
                                      llvm::raw_ostream &os) const;
  /// Returns an object that defines `netc_step`, `netc_program` with
  /// `description`, `netc_execution`, and `netc_counts` if the program counts.
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

/// Passes from linalg on buffers to loops without affine maps.
void addLoopPasses(mlir::OpPassManager &passes);
/// Passes from arithmetic, buffers and control flow to the LLVM dialect.
/// Functions take buffers as bare pointers.
void addLlvmDialectPasses(mlir::OpPassManager &passes);

} // namespace netc

#endif // NETC_LIB_TARGET_BACKEND_H
