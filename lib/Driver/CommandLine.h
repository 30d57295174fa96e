// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DRIVER_COMMANDLINE_H
#define NETC_LIB_DRIVER_COMMANDLINE_H

#include "dialect/Spelling.h"
#include "lib/Analysis/Analysis.h"
#include "lib/Diagnostics/DiagnosticPrinter.h"
#include "lib/Frontend/Limits.h"
#include "lib/Program/TargetKind.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"

namespace netc {

/// Exit statuses; docs/Language.md lists them.
enum Exit { Fine = 0, WrongInput = 1, WrongUsage = 2, LackingEnvironment = 3 };

/// Parses the command line. Returns an exit status if the program ends here:
/// after an error, which is printed, or after an option such as `--help`.
std::optional<Exit> parseCommandLine(int argc, char **argv);

/// Whether the command line asks for generated code.
bool needsCode();

/// The conventions of the command line.
ConventionFlags conventionFlags();

/// The files and the accelerators of `--hardware`. A file ends in `.yaml` or
/// `.yml`, or contains a `/`. An empty name stands for all accelerators.
std::vector<llvm::StringRef> hardwareFiles();
std::vector<llvm::StringRef> hardwareNames();

namespace flags {

/// The first argument, such as `check`; without one, Estimate.
enum class Action { Estimate, Check, Compare, Measure, Audit, Import, Fmt };
enum class Emit {
  Graph,
  Net,
  Step,
  Bound,
  Trace,
  Linalg,
  Schedule,
  Llvm,
  Object,
  Program,
  DeviceCode ///< of the first target; those of the others follow
};
/// The stage that prints a target's code for its device.
inline Emit deviceCodeOf(program::TargetKind kind) {
  return Emit(int(Emit::DeviceCode) + int(kind));
}
inline bool isDeviceCode(Emit emit) { return emit >= Emit::DeviceCode; }
enum class LoweringKind { Fast, Reference };
enum class Format { Table, Json, Csv, Markdown, Html, Svg };
enum class MultiplyAdd { One = 1, Two = 2 };
enum class HelpForm { Text, Man, Bash, Zsh, Fish };

extern llvm::cl::list<std::string> inputs;
extern Action action;
extern bool isFmtCheck; ///< `netc fmt --check`
extern llvm::cl::list<std::string> traces;
extern llvm::cl::opt<std::string> range;
extern llvm::cl::list<std::string> opaqueOps;
extern llvm::cl::opt<Emit> emit;
extern llvm::cl::opt<program::TargetKind> target;
extern llvm::cl::opt<std::string> arch;
extern llvm::cl::opt<LoweringKind> lowering;
extern llvm::cl::list<uint64_t> batches;
extern llvm::cl::opt<unsigned> threads;
extern llvm::cl::opt<double> seconds;
extern llvm::cl::opt<uint64_t> steps;
extern llvm::cl::opt<std::string> data;
extern llvm::cl::opt<Format> format;
extern llvm::cl::opt<DiagnosticFormat> diagnostics;
extern llvm::cl::list<std::string> hardware;
extern llvm::cl::opt<std::string> output;
extern llvm::cl::list<std::string> definitions;
extern llvm::cl::list<std::string> settings;
extern llvm::cl::list<std::string> includeFolders;
extern llvm::cl::list<std::string> onlyNetworks;
extern llvm::cl::list<std::string> onlyRuns;
extern llvm::cl::opt<unsigned> depth;
extern llvm::cl::opt<bool> symbolic;
extern llvm::cl::opt<MultiplyAdd> multiplyAdd;
extern llvm::cl::opt<CountedMask> causalMask;
extern Limits limits;
extern llvm::cl::opt<size_t, true> maxInput;
extern llvm::cl::opt<uint64_t> maxEvents;

} // namespace flags
} // namespace netc

#endif // NETC_LIB_DRIVER_COMMANDLINE_H
