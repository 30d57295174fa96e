// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Driver/Audit.h"

#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Driver/AnalysisResults.h"
#include "lib/Driver/Output.h"
#include "lib/Report/AuditPictures.h"
#include "lib/Trace/ExecutionTrace.h"
#include "lib/Trace/Read.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using namespace netc::flags;

/// Prints why a trace cannot be read or matched.
static Exit refuse(const Session &session, llvm::StringRef path,
                   llvm::Error error) {
  llvm::handleAllErrors(std::move(error), [&](const trace::TraceError &wrong) {
    netc::emitError(mlir::FileLineColLoc::get(&session.context, path, 0, 0),
                    wrong.message);
  });
  return WrongInput;
}

/// Collects the runs, including jobs, of which one step is counted.
static void addSteps(const Run &run, std::vector<const Run *> &steps) {
  if (run.jobs.empty() && isAskedFor(run.name()))
    steps.push_back(&run);
  for (const Run &job : run.jobs)
    addSteps(job, steps);
}

namespace {
/// A trace, and the specification that it is compared with.
struct Audited {
  std::unique_ptr<trace::Trace> trace;
  audit::Audit audit;
};
} // namespace

static llvm::Expected<trace::Trace> readTrace(llvm::StringRef path) {
  trace::TraceLimits traceLimits;
  if (maxInput.getNumOccurrences())
    traceLimits.maxBytes = limits.maxInputBytes;
  if (maxEvents.getNumOccurrences())
    traceLimits.maxEvents = maxEvents;
  return trace::read(path, traceLimits);
}

/// Audits a trace by the run that matches it best, or without a specification
/// by its own shapes.
static llvm::Expected<Audited> auditOne(llvm::StringRef path,
                                        std::unique_ptr<trace::Trace> read,
                                        llvm::ArrayRef<const Run *> runs,
                                        const audit::Question &question) {
  Audited best;
  best.trace = std::move(read);
  std::optional<llvm::Error> problem;
  bool isAny = false;
  std::vector<const Run *> choices(runs.begin(), runs.end());
  if (choices.empty())
    choices.push_back(nullptr);
  for (const Run *run : choices) {
    llvm::Expected<audit::Audit> made =
        audit::audit(*best.trace, path, run, question);
    if (!made) {
      if (problem)
        llvm::consumeError(made.takeError());
      else
        problem = made.takeError();
      continue;
    }
    if (!isAny || made->fit() > best.audit.fit())
      best.audit = std::move(*made);
    isAny = true;
  }
  if (isAny && problem)
    llvm::consumeError(std::move(*problem));
  if (!isAny)
    return std::move(*problem);
  return best;
}

static void print(llvm::raw_ostream &os, const AuditReport &report) {
  TableOptions options{depth, symbolic, isColourful(os), widthOf(os)};
  switch (format) {
  case Format::Json:
    return printAuditJson(os, report);
  case Format::Csv:
    return printAuditCsv(os, report);
  case Format::Markdown:
    return writeAudit(*markdownPage(os, options), report, options);
  case Format::Html:
    return writeAudit(*htmlPage(os,
                                inputs.empty() ? "Audit of a trace"
                                               : llvm::join(inputs, ", "),
                                report.version),
                      report, options);
  case Format::Svg:
    return printAuditSvg(os, report);
  case Format::Table:
    return writeAudit(*textPage(os, options), report, options);
  }
}

Exit netc::auditTraces(Session &session) {
  if (traces.empty())
    return complain(WrongUsage, "`--audit` reads a trace, which `--trace=FILE` "
                                "names");
  if (inputs.size() > 1)
    return complain(WrongUsage, "`--audit` takes one specification");
  if (batches.size() > 1)
    return complain(WrongUsage, "`--audit` takes one `--batch`");
  if (multiplyAdd.getNumOccurrences() && multiplyAdd == MultiplyAdd::One)
    return complain(WrongUsage, "`--audit` counts a multiply-add as 2, as the "
                                "tools do that it looks at");

  // It must live as long as the context.
  auto &specification = *new std::unique_ptr<Specification>;
  auto &analysis = *new Analysis;
  std::vector<const Run *> runs;
  if (!inputs.empty()) {
    specification = session.load(inputs.front(), Stage::Step);
    if (!specification)
      return WrongInput;
    if (!areKnown(specification.get()))
      return WrongUsage;
    mlir::FailureOr<Analysis> counted =
        analyze(specification->module(), conventionFlags());
    if (failed(counted))
      return WrongInput;
    analysis = std::move(*counted);
    for (const Run &run : analysis.runs)
      addSteps(run, runs);
    if (runs.empty())
      return complain(WrongUsage, "`" + inputs.front() +
                                      "` has no run to compare a trace with");
  }

  std::vector<std::unique_ptr<trace::Trace>> read;
  audit::Question question;
  question.range = range;
  if (!batches.empty())
    question.batch = Rational(batches.front());
  for (const std::string &path : traces) {
    session.progress.show(double(read.size()) / traces.size(),
                          "reading `" + path + "`");
    llvm::Expected<trace::Trace> trace = readTrace(path);
    session.progress.clear();
    if (!trace)
      return refuse(session, path, trace.takeError());
    read.push_back(std::make_unique<trace::Trace>(std::move(*trace)));
    if (!read.back()->counts.empty())
      question.counts.push_back(read.back().get());
  }
  // Counters of a step are joined with its timeline, if that is given too.
  bool hasTimeline = llvm::any_of(
      read, [](const auto &trace) { return !trace->kernels.empty(); });
  bool hasOps = llvm::any_of(
      read, [](const auto &trace) { return !trace->host.empty(); });
  auto isCounters = [&](const trace::Trace &trace) {
    return !trace.counted.empty() &&
           (trace.kernels.empty() ? hasTimeline : hasOps && trace.host.empty());
  };
  // rocprofv3 may write both into one file.
  for (const auto &trace : read)
    if (isCounters(*trace) ||
        (!trace->counted.empty() && !trace->kernels.empty())) {
      if (question.counters)
        return complain(WrongUsage, "`--trace` names two files of counters, "
                                    "and a step is joined with one");
      question.counters = trace.get();
    }
  if (question.counts.size() == read.size())
    return complain(WrongUsage, "counts alone are no trace; name the trace of "
                                "the step, too");
  // An execution trace has the shapes of a trace that has the times.
  auto hasTimedOps = [](const trace::Trace &trace) {
    return trace.hasTimes && !trace.host.empty();
  };
  bool isAnyTimed = llvm::any_of(
      read, [&](const auto &trace) { return hasTimedOps(*trace); });
  auto isExecution = [&](const trace::Trace &trace) {
    return !trace.hasTimes && isAnyTimed;
  };
  for (auto [path, execution] : llvm::zip(traces, read)) {
    if (!isExecution(*execution))
      continue;
    bool haveShapes = false;
    for (const auto &trace : read)
      if (hasTimedOps(*trace)) {
        trace->shapesAdded += trace::addShapes(*trace, *execution);
        haveShapes |= trace->hasShapes;
      }
    if (!haveShapes)
      return refuse(
          session, path,
          trace::fail({"shapes-match-nothing",
                       llvm::formatv("none of its {0} ops gives an op of the "
                                     "trace its shapes; see that both are of "
                                     "the same run",
                                     execution->host.size())}));
  }
  std::vector<Audited> audited;
  for (auto [path, trace] : llvm::zip(traces, read)) {
    if (!trace->counts.empty() || isCounters(*trace) || isExecution(*trace))
      continue;
    llvm::Expected<Audited> made =
        auditOne(path, std::move(trace), runs, question);
    if (!made)
      return refuse(session, path, made.takeError());
    audited.push_back(std::move(*made));
  }

  AuditReport report;
  report.version = NETC_VERSION;
  for (const Audited &each : audited)
    report.audits.push_back(&each.audit);
  if (specification)
    report.expects = specification->check(
        AnalysisResults(analysis, Corners(), report.audits));
  report.warnings = session.diagnostics.warnings();
  Exit status = write([&](llvm::raw_ostream &os) { print(os, report); });
  bool allHold = llvm::all_of(
      report.expects, [](const Verdict &verdict) { return verdict.holds; });
  return status != Fine ? status : allHold ? Fine : WrongInput;
}
