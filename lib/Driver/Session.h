// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DRIVER_SESSION_H
#define NETC_LIB_DRIVER_SESSION_H

#include "lib/Diagnostics/DiagnosticPrinter.h"
#include "lib/Driver/CommandLine.h"
#include "lib/Driver/Progress.h"
#include "lib/Frontend/Specification.h"
#include "lib/Hardware/Hardware.h"
#include "lib/Pipelines/Pipelines.h"

namespace netc {

/// What the files of the command line are read with.
class Session {
public:
  Session(mlir::MLIRContext &context, FrontendOptions frontend,
          Progress &progress, const DiagnosticPrinter &diagnostics)
      : context(context), frontend(std::move(frontend)), progress(progress),
        diagnostics(diagnostics) {}

  mlir::MLIRContext &context;
  FrontendOptions frontend;
  Progress &progress;
  const DiagnosticPrinter &diagnostics;

  /// Reads a file and takes it to `stage`. After errors, which are printed,
  /// null.
  std::unique_ptr<Specification> load(llvm::StringRef path, Stage stage) const;

  /// Completes what the runs of a module say of their hardware.
  mlir::LogicalResult resolveHardware(mlir::ModuleOp module,
                                      mlir::ModuleOp written = {}) const;

  /// Those of netc, and of the files that the command line names.
  const AcceleratorTable &accelerators() const;
  /// Reads these files. Fails after an error, which is printed.
  mlir::LogicalResult readAccelerators();

private:
  /// Read when it is asked for.
  mutable std::optional<AcceleratorTable> table;
};

/// Ends the process with what `work` returns. It has a stack for all nesting
/// that the limits allow.
[[noreturn]] void inSession(llvm::function_ref<Exit(Session &)> work);

mlir::LogicalResult runPasses(mlir::ModuleOp module, Stage stage);

/// Whether the files have all networks and runs that the command line names.
/// Complains of those that are not there.
bool areKnown(llvm::ArrayRef<Specification *> files);

/// Whether `run` is the one of this name, or a job of it.
bool isOf(llvm::StringRef run, llvm::StringRef name);

/// Whether the command line names the run, or one that it is a job of; or none.
bool isAskedFor(llvm::StringRef run);

/// Prints an error that is of no file. Returns the status.
Exit complain(Exit status, const llvm::Twine &message);

/// Lets `print` write to where the command line says.
Exit write(llvm::function_ref<void(llvm::raw_ostream &)> print);

} // namespace netc

#endif // NETC_LIB_DRIVER_SESSION_H
