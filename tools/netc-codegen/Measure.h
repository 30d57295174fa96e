// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TOOLS_NETC_CODEGEN_MEASURE_H
#define NETC_TOOLS_NETC_CODEGEN_MEASURE_H

#include "lib/Pipelines/Lowering.h"
#include "lib/Program/Program.h"
#include "lib/Report/Measurement.h"
#include "mlir/IR/BuiltinOps.h"

namespace netc {

/// A run, or a point of its sweep.
struct Subject {
  std::string run;
  /// What the point sets, by name and as written, but for the batch size.
  std::vector<std::pair<std::string, std::string>> values;
  struct Batch {
    mlir::ModuleOp module; ///< at Stage::Step
    std::string text;      ///< the size, of a point of a sweep
  };
  std::vector<Batch> batches;
};

struct MeasureOptions {
  LoweringOptions lowering;
  program::Program
      program; ///< the parts of the descriptions that the caller knows
  std::vector<uint64_t> batches; ///< batch sizes; empty for those of the runs
  std::vector<std::string> arguments; ///< options of the programs
};

/// Compiles each run, for each batch size, to a temporary program, executes all
/// of them one after the other, and collects their measurements. Shows a
/// progress bar on stderr if that is a terminal. Those that lack memory are
/// misfits of the report, which has no runs if all do. Errors are diagnostics,
/// or returned.
llvm::Expected<MeasurementReport> measure(llvm::ArrayRef<Subject> subjects,
                                          MeasureOptions options);

/// A program that ended with an error, which it has printed.
class ProgramError : public llvm::ErrorInfo<ProgramError> {
public:
  static char ID;
  ProgramError(int status, std::string text)
      : status(status), text(std::move(text)) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

  int status; ///< its exit status: 1, 2 or 3

private:
  std::string text;
};

} // namespace netc

#endif // NETC_TOOLS_NETC_CODEGEN_MEASURE_H
