// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TOOLS_NETC_CODEGEN_PROGRAMS_H
#define NETC_TOOLS_NETC_CODEGEN_PROGRAMS_H

#include "lib/Driver/CommandLine.h"
#include "lib/Runtime/Failure.h"
#include "lib/Runtime/Options.h"
#include "lib/Target/Compile.h"

namespace netc {

/// Lowers the step of a module at Stage::Step as far as `code`, at least
/// Emit::Linalg, and writes it to `output`; a program is executable. `program`
/// has the parts of the description that the caller knows. Errors are
/// diagnostics, or returned.
llvm::Error emitCode(mlir::ModuleOp module, flags::Emit code,
                     LoweringOptions options, program::Program program,
                     llvm::StringRef output);

/// The failure if this machine has less free memory than the step and its data
/// need.
std::optional<runtime::LackOfMemory>
lackOfMemory(const CompiledStep &step, const runtime::Options &options);

/// Links a compiled step to an executable, which appears when it is complete.
llvm::Error writeProgram(const CompiledStep &step, const Backend &backend,
                         llvm::StringRef output);

/// The environment lacks something, such as a linker: exit status 3.
class EnvironmentError : public llvm::ErrorInfo<EnvironmentError> {
public:
  static char ID;
  explicit EnvironmentError(std::string message)
      : message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  std::string message;
};

/// An error whose diagnostics were printed already.
class ReportedError : public llvm::ErrorInfo<ReportedError> {
public:
  static char ID;
  void log(llvm::raw_ostream &) const override {}
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
};

} // namespace netc

#endif // NETC_TOOLS_NETC_CODEGEN_PROGRAMS_H
