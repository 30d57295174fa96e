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
#include "lib/Report/Page.h"

namespace netc {

/// The context and the options by which files are read.
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

  /// Reads a file and takes it to `stage`. Null after errors, which are
  /// printed. With `rolled`, the IR is for counting alone; see FrontendOptions.
  std::unique_ptr<Specification> load(llvm::StringRef path, Stage stage,
                                      RolledCopies *rolled = nullptr) const;

  /// Completes the hardware of the module's runs.
  mlir::LogicalResult resolveHardware(mlir::ModuleOp module,
                                      mlir::ModuleOp written = {}) const;

  /// netc's accelerators, and those of the files that the command line names.
  const AcceleratorTable &accelerators() const;
  /// Reads the files with accelerators. Fails after an error, which is printed.
  mlir::LogicalResult readAccelerators();

private:
  /// Read on first use.
  mutable std::optional<AcceleratorTable> table;
};

/// Elaboration recurses with the nesting of a file. A stack of this size is
/// enough for all that the limits allow.
constexpr size_t kStackBytes = 512u << 20;

/// Calls `work` on a stack of kStackBytes, and ends the process with the status
/// that it returns.
[[noreturn]] void inSession(llvm::function_ref<Exit(Session &)> work);

/// Ends the process. Frees nothing, and waits for no thread.
[[noreturn]] void leave(int status);

/// Takes a module from the front end to `stage`. Errors are diagnostics.
mlir::LogicalResult runPasses(mlir::ModuleOp module, Stage stage);

/// Whether the files have all networks and runs that the command line names.
/// Prints an error for each that is missing.
bool areKnown(llvm::ArrayRef<Specification *> files);

/// Whether `run` is the run called `name`, or one of its jobs.
bool isOf(llvm::StringRef run, llvm::StringRef name);

/// Whether the command line names the run, or the run that it is a job of, or
/// no run at all.
bool isAskedFor(llvm::StringRef run);

/// Prints an error without a position in a file. Returns `status`.
Exit complain(Exit status, const llvm::Twine &message);

/// Lets `print` write to a file, or to the output that the command line names.
/// Prints an error and returns LackingEnvironment if it cannot be written.
Exit write(llvm::StringRef path,
           llvm::function_ref<void(llvm::raw_ostream &)> print);
Exit write(llvm::function_ref<void(llvm::raw_ostream &)> print);

/// How the command line and a terminal want tables.
TableOptions tableOptions(llvm::raw_ostream &os);
/// The page for the format that the command line asks for: a table, Markdown or
/// HTML. Its title is the names of the files, or `title` without any.
std::unique_ptr<Page> makePage(llvm::raw_ostream &os,
                               llvm::StringRef title = "");

} // namespace netc

#endif // NETC_LIB_DRIVER_SESSION_H
