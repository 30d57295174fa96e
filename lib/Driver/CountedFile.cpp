// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Driver/CountedFile.h"

#include "lib/Diagnostics/Activity.h"
#include "lib/Driver/AnalysisResults.h"
#include "lib/Transforms/ApplyPrecision.h"
#include "lib/Transforms/CheckSizes.h"

using namespace netc;
using namespace netc::flags;

/// Counts a run at a point. If the step is the same as in the run as written,
/// its counts are only evaluated again.
static mlir::FailureOr<Run> countAt(const Session &session,
                                    const SweepPoint &point,
                                    const Reevaluation &run,
                                    mlir::ModuleOp written) {
  if (point.isFacts) {
    if (failed(session.resolveHardware(*point.module, written)))
      return mlir::failure();
    mlir::ModuleOp facts = point.module.get();
    for (auto step : facts.getOps<StepOp>()) {
      auto typed = mlir::cast<StepOp>(
          mlir::SymbolTable::lookupSymbolIn(written, step.getSymNameAttr()));
      if (failed(checkSizes(typed, step.getAxes(), step.getLoc())))
        return mlir::failure();
      warnOfRows(typed, step);
    }
    return run.with(*point.module);
  }
  if (failed(runPasses(*point.module, Stage::Step)) ||
      failed(session.resolveHardware(*point.module)))
    return mlir::failure();
  mlir::FailureOr<Analysis> analysis =
      analyze(*point.module, conventionFlags());
  if (failed(analysis))
    return mlir::failure();
  return std::move(analysis->runs.front());
}

/// Counts a run at each of `points` and at their corners.
static mlir::FailureOr<std::vector<CountedPoint>>
countAll(const Session &session, std::vector<SweepPoint> points,
         const Reevaluation &run, mlir::ModuleOp written) {
  std::vector<CountedPoint> counted;
  for (SweepPoint &point : points) {
    mlir::FailureOr<Run> there = countAt(session, point, run, written);
    if (failed(there))
      return mlir::failure();
    std::optional<Reevaluation> own;
    if (!point.isFacts && !point.corners.empty())
      own.emplace(*there);
    mlir::FailureOr<std::vector<CountedPoint>> corners =
        countAll(session, std::move(point.corners), own ? *own : run, written);
    if (failed(corners))
      return mlir::failure();
    counted.push_back(
        {std::move(point), std::move(*there), std::move(*corners)});
  }
  return counted;
}

/// Counts the points of a run's sweep, and the ends of its ranges.
static mlir::LogicalResult sweepRun(const Session &session, CountedFile &file,
                                    const Run &run) {
  std::optional<Reevaluation> again;
  auto count = [&](std::optional<std::vector<SweepPoint>> points,
                   std::vector<CountedPoint> &into) {
    if (!points || points->empty())
      return points.has_value();
    if (!again)
      again.emplace(run);
    mlir::FailureOr<std::vector<CountedPoint>> counted = countAll(
        session, std::move(*points), *again, file.specification->module());
    if (succeeded(counted))
      into = std::move(*counted);
    return succeeded(counted);
  };
  Specification &specification = *file.specification;
  return mlir::success(
      count(specification.sweep(run.name()), file.sweeps[run.name()]) &&
      count(specification.corners(run.name()), file.corners[run.name()]));
}

/// Plans the memory of the runs or jobs that the command line names.
static mlir::LogicalResult planRuns(CountedFile &file, llvm::ArrayRef<Run> runs,
                                    PlanRun planRun) {
  for (const Run &run : runs) {
    if (failed(planRuns(file, run.jobs, planRun)))
      return mlir::failure();
    if (!run.jobs.empty() || !isAskedFor(run.name()))
      continue;
    mlir::FailureOr<PlannedMemory> plan =
        planRun(file.specification->module(), run.name());
    if (failed(plan))
      return mlir::failure();
    file.plans[run.name().str()] = *plan;
  }
  return mlir::success();
}

/// Converts verdicts to the conventions that are shown. The expected value is
/// converted by the same factor, since an expectation does not say what its
/// number consists of.
static void showIn(std::vector<Verdict> &verdicts,
                   llvm::ArrayRef<Verdict> inShown) {
  auto toDouble = [](const std::variant<Rational, double> &number) {
    auto *exact = std::get_if<Rational>(&number);
    return exact ? exact->toDouble() : std::get<double>(number);
  };
  for (auto [verdict, shown] : llvm::zip_equal(verdicts, inShown)) {
    std::vector<std::variant<Rational, double>> &value = verdict.value.numbers;
    if (value.empty() || value.size() != shown.value.numbers.size())
      continue;
    double before = toDouble(value.front());
    double factor =
        before == 0 ? 1 : toDouble(shown.value.numbers.front()) / before;
    value = shown.value.numbers;
    for (std::variant<Rational, double> &number : verdict.expected.numbers)
      if (factor != 1)
        number = toDouble(number) * factor;
  }
}

/// Reads and counts a file, with or without each copy of its `repeat`s.
static std::optional<CountedFile> count(const Session &session,
                                        llvm::StringRef path, PlanRun planRun,
                                        RolledCopies *rolled = nullptr) {
  Activity activity("counting", path);
  CountedFile file;
  file.specification = session.load(path, Stage::Step, rolled);
  if (!file.specification || (rolled && rolled->areNeeded))
    return std::nullopt;
  mlir::ModuleOp module = file.specification->module();
  mlir::FailureOr<Analysis> analysis = analyze(module);
  if (failed(analysis))
    return std::nullopt;
  // Conventions of the command line change what is shown. Expects assume the
  // conventions of the specification.
  bool hasFlags = conventionFlags().any();
  mlir::FailureOr<Analysis> shown = mlir::failure();
  if (hasFlags) {
    shown = analyze(module, conventionFlags());
    if (failed(shown))
      return std::nullopt;
  }
  file.analysis = std::move(hasFlags ? *shown : *analysis);
  const Analysis &asWritten = hasFlags ? *analysis : file.analysis;
  // Count every sweep before the expects, so that errors come first.
  bool isSwept = true;
  for (const Run &run : file.analysis.runs)
    isSwept &= succeeded(sweepRun(session, file, run));
  if (!isSwept)
    return std::nullopt;
  Corners corners;
  for (const Run &run : asWritten.runs) {
    const std::vector<CountedPoint> &counted = file.corners[run.name()];
    if (counted.empty())
      continue;
    Reevaluation again(run);
    for (const CountedPoint &corner : counted) {
      mlir::FailureOr<Run> own = again.with(*corner.point.module);
      if (failed(own))
        return std::nullopt;
      corners[run.name()].push_back(std::move(*own));
    }
  }
  file.expects = file.specification->check(AnalysisResults(asWritten, corners));
  if (hasFlags) {
    Corners ofShown;
    for (const Run &run : file.analysis.runs)
      for (const CountedPoint &corner : file.corners[run.name()])
        ofShown[run.name()].push_back(corner.run);
    // These warnings were printed already.
    mlir::ScopedDiagnosticHandler quiet(
        &session.context, [](mlir::Diagnostic &) { return mlir::success(); });
    showIn(file.expects,
           file.specification->check(AnalysisResults(file.analysis, ofShown)));
  }
  if (planRun && failed(planRuns(file, file.analysis.runs, planRun)))
    return std::nullopt;
  return file;
}

std::optional<CountedFile>
netc::countFile(const Session &session, llvm::StringRef path, PlanRun planRun) {
  return count(session, path, planRun);
}

std::optional<CountedFile> netc::countWhole(const Session &session,
                                            llvm::StringRef path) {
  RolledCopies rolled;
  // A message may name each copy of a `repeat`, or one that is not there.
  auto namesCopy = [&](mlir::Diagnostic &diagnostic) {
    std::string text = diagnostic.str();
    return llvm::any_of(rolled.repeats, [&](const std::string &repeat) {
      return llvm::StringRef(text).contains("`" + repeat + ".") ||
             llvm::StringRef(text).contains("`" + repeat + "`");
    });
  };
  std::vector<mlir::Diagnostic> held;
  std::optional<CountedFile> file;
  {
    mlir::ScopedDiagnosticHandler hold(&session.context,
                                       [&](mlir::Diagnostic &diagnostic) {
                                         held.push_back(std::move(diagnostic));
                                         return mlir::success();
                                       });
    file = count(session, path, nullptr, &rolled);
  }
  if (rolled.areNeeded || llvm::any_of(held, namesCopy))
    return count(session, path, nullptr);
  for (mlir::Diagnostic &diagnostic : held)
    session.context.getDiagEngine().emit(std::move(diagnostic));
  return file;
}
