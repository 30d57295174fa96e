// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DRIVER_COUNTEDFILE_H
#define NETC_LIB_DRIVER_COUNTEDFILE_H

#include "lib/Driver/Session.h"
#include "lib/Report/Report.h"

namespace netc {

/// The counts of a run at a point of its sweep, or at an end of its ranges.
struct CountedPoint {
  SweepPoint point;
  Run run;
  std::vector<CountedPoint> corners;
};

/// A file with its counts.
struct CountedFile {
  std::unique_ptr<Specification> specification;
  Analysis analysis;
  std::vector<Verdict> expects;
  /// For each run, the points of its sweep, and the ends of its ranges.
  llvm::StringMap<std::vector<CountedPoint>> sweeps, corners;
  /// The planned memory of each run or job, if it is asked for.
  std::map<std::string, PlannedMemory> plans;
};

/// Plans the memory of a run of a module at Stage::Step. Errors are
/// diagnostics.
using PlanRun = llvm::function_ref<mlir::FailureOr<PlannedMemory>(
    mlir::ModuleOp module, llvm::StringRef run)>;

/// Reads and counts a file, and checks its expects. With `planRun`, the runs
/// have their planned memory, too. None after errors, which are diagnostics. An
/// expect that does not hold is an error, but the file is returned.
std::optional<CountedFile> countFile(const Session &session,
                                     llvm::StringRef path,
                                     PlanRun planRun = nullptr);

/// countFile() for reports that do not list layers. Only a few copies of a
/// `repeat` with many equal copies are elaborated.
std::optional<CountedFile> countWhole(const Session &session,
                                      llvm::StringRef path);

} // namespace netc

#endif // NETC_LIB_DRIVER_COUNTEDFILE_H
