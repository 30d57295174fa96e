// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TOOLS_NETC_VERIFY_SUBJECT_H
#define NETC_TOOLS_NETC_VERIFY_SUBJECT_H

#include "dialect/Net.h"
#include "mlir/IR/OwningOpRef.h"
#include "tools/netc-verify/JitStep.h"

namespace netc {

/// A run of a file, as modules that contain only its step.
struct Subject {
  std::string file; ///< without its folder
  std::string run;
  std::vector<std::string> sizes; ///< of free axes: `N=8`
  /// Whose code is checked.
  program::TargetKind target = program::TargetKind::Cpu;
  std::string arch; ///< the device to emit code for; empty for all
  /// The library that is the CUDA driver; empty for the simulator.
  std::string driver;
  /// The widest vectors to use; none for the machine's.
  std::optional<program::Isa> isa;
  mlir::OwningOpRef<mlir::ModuleOp> step;
  /// The step with a plain update: each parameter changes by minus its
  /// gradient.
  mlir::OwningOpRef<mlir::ModuleOp> plain;

  std::string name() const { return file + ":" + run; }

  /// Compiles one of the two modules, and loads it. None after an error, which
  /// is printed.
  std::optional<JitStep> build(mlir::ModuleOp module,
                               LoweringOptions options) const;
};

/// The runs of a file, in text order, with gradients and updates; only those in
/// `runs` if it is not empty. `onRead` is called with each text that is read.
/// None after an error.
std::optional<std::vector<Subject>>
loadSubjects(mlir::MLIRContext &context, llvm::StringRef file,
             const std::vector<std::string> &runs,
             std::function<void(llvm::StringRef, llvm::StringRef)> onRead);

} // namespace netc

#endif // NETC_TOOLS_NETC_VERIFY_SUBJECT_H
