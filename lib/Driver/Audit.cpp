// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Driver/Audit.h"

#include "lib/Audit/Notes.h"
#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Driver/AnalysisResults.h"
#include "lib/Driver/Output.h"
#include "lib/Report/AuditPictures.h"
#include "lib/Trace/ExecutionTrace.h"
#include "lib/Trace/Read.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using namespace netc::flags;
using llvm::StringRef;

/// Prints why a trace cannot be read or matched.
static Exit refuse(const Session &session, StringRef path, llvm::Error error) {
  llvm::handleAllErrors(std::move(error), [&](const trace::TraceError &wrong) {
    StringRef file = wrong.file.empty() ? path : StringRef(wrong.file);
    netc::emitError(mlir::FileLineColLoc::get(&session.context, file, 0, 0),
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

static llvm::Expected<trace::Trace> readTrace(StringRef path) {
  trace::TraceLimits traceLimits;
  if (maxInput.getNumOccurrences())
    traceLimits.maxBytes = limits.maxInputBytes;
  if (maxEvents.getNumOccurrences())
    traceLimits.maxEvents = maxEvents;
  return trace::read(path, traceLimits);
}

/// Audits a trace by the run that matches it best, or without a specification
/// by its own shapes.
static llvm::Expected<Audited> auditOne(StringRef path,
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
  switch (format) {
  case Format::Json:
    return printAuditJson(os, report);
  case Format::Csv:
    return printAuditCsv(os, report);
  case Format::Svg:
    return printAuditSvg(os, report);
  case Format::Table:
  case Format::Markdown:
  case Format::Html:
    return writeAudit(*makePage(os, "Audit of a trace"), report,
                      tableOptions(os));
  }
}

/// Whether the command line asks for what an audit does not do.
static bool isWrongUsage() {
  StringRef why;
  if (traces.empty())
    why = "`--audit` reads a trace, which `--trace=FILE` names";
  else if (llvm::is_contained(traces, ""))
    why = "`--trace` lacks the name of a file: `--trace=FILE`, or several with "
          "commas between them";
  else if (inputs.size() > 1)
    why = "`--audit` takes one specification";
  else if (batches.size() > 1)
    why = "`--audit` takes one `--batch`";
  else if (multiplyAdd.getNumOccurrences() && multiplyAdd == MultiplyAdd::One)
    why = "`--audit` counts a multiply-add as 2, as the tools do that it looks "
          "at";
  else if (causalMask.getNumOccurrences() && inputs.empty())
    why = "`--causal` says how a specification is counted; name one";
  if (!why.empty())
    complain(WrongUsage, why.str());
  return !why.empty();
}

/// Loads the specification, if one is given, and counts its runs.
static Exit loadRuns(Session &session,
                     std::unique_ptr<Specification> &specification,
                     Analysis &analysis, std::vector<const Run *> &runs) {
  if (inputs.empty())
    return Fine;
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
  return Fine;
}

namespace {
/// The files that `--trace` names. Some are traces of steps; others have what
/// is said beside them: counts, counters and shapes.
class TraceFiles {
public:
  explicit TraceFiles(Session &session) : session(session) {
    question.range = range;
    if (!batches.empty())
      question.batch = Rational(batches.front());
  }

  Exit read() {
    for (const std::string &path : traces) {
      session.progress.show(double(files.size()) / traces.size(),
                            "reading `" + path + "`");
      llvm::Expected<trace::Trace> trace = readTrace(path);
      session.progress.clear();
      if (!trace)
        return refuse(session, path, trace.takeError());
      files.push_back(std::make_unique<trace::Trace>(std::move(*trace)));
      if (!files.back()->counts.empty())
        question.counts.push_back(files.back().get());
    }
    if (question.counts.size() == files.size())
      return complain(WrongUsage,
                      "`--trace=" + llvm::join(traces, ",") +
                          "` has counts alone, which are no trace; name the "
                          "trace of the step, too");
    for (const auto &file : files) {
      hasTimeline |= !file->kernels.empty();
      hasOps |= !file->host.empty();
      isAnyTimed |= hasTimedOps(*file);
    }
    Exit status = takeCounters();
    return status == Fine ? takeShapes() : status;
  }

  /// Audits each step by one of the runs.
  Exit audit(llvm::ArrayRef<const Run *> runs, std::vector<Audited> &audited) {
    std::vector<std::pair<std::string, const trace::Trace *>> beside;
    for (auto [path, file] : llvm::zip(traces, files))
      if (isBeside(*file))
        beside.push_back({trace::shownFile(path), file.get()});
    for (auto [path, file] : llvm::zip(traces, files)) {
      if (isBeside(*file))
        continue;
      llvm::Expected<Audited> made =
          auditOne(path, std::move(file), runs, question);
      if (!made)
        return refuse(session, path, made.takeError());
      for (const auto &[name, other] : beside)
        audit::noteDamage(made->audit, *other, name);
      for (const std::string &name : unused)
        audit::note(made->audit, "unused-shapes",
                    name + ": gives no op its shapes: those of the trace have "
                           "theirs, or it is of another run");
      audited.push_back(std::move(*made));
    }
    return Fine;
  }

private:
  static bool hasTimedOps(const trace::Trace &file) {
    return file.hasTimes && !file.host.empty();
  }
  /// Counters of a step are joined with its timeline, if that is given too.
  bool isCounters(const trace::Trace &file) const {
    return !file.counted.empty() &&
           (file.kernels.empty() ? hasTimeline : hasOps && file.host.empty());
  }
  /// An execution trace has the shapes of a trace that has the times.
  bool isExecution(const trace::Trace &file) const {
    return !file.hasTimes && isAnyTimed;
  }
  bool isBeside(const trace::Trace &file) const {
    return !file.counts.empty() || isCounters(file) || isExecution(file);
  }

  Exit takeCounters() {
    // rocprofv3 may write a timeline and counters into one file.
    for (const auto &file : files)
      if (isCounters(*file) ||
          (!file->counted.empty() && !file->kernels.empty())) {
        if (question.counters)
          return complain(WrongUsage, "`--trace` names two files of counters, "
                                      "and a step is joined with one");
        question.counters = file.get();
      }
    return Fine;
  }

  Exit takeShapes() {
    for (auto [path, execution] : llvm::zip(traces, files)) {
      if (!isExecution(*execution))
        continue;
      bool haveShapes = false;
      size_t added = 0;
      for (const auto &file : files)
        if (hasTimedOps(*file)) {
          size_t given = trace::addShapes(*file, *execution);
          file->shapesAdded += given;
          added += given;
          haveShapes |= file->hasShapes;
        }
      if (!haveShapes)
        return refuse(
            session, path,
            trace::fail({"shapes-match-nothing",
                         llvm::formatv("none of its {0} ops gives an op of the "
                                       "trace its shapes; see that both are of "
                                       "the same run",
                                       execution->host.size())}));
      if (!added)
        unused.push_back(trace::shownFile(path));
    }
    return Fine;
  }

  Session &session;
  audit::Question question;
  std::vector<std::unique_ptr<trace::Trace>> files;
  std::vector<std::string> unused; ///< execution traces that gave no shapes
  bool hasTimeline = false, hasOps = false, isAnyTimed = false;
};
} // namespace

Exit netc::auditTraces(Session &session) {
  if (isWrongUsage())
    return WrongUsage;
  // They must live as long as the context.
  auto &specification = *new std::unique_ptr<Specification>;
  auto &analysis = *new Analysis;
  std::vector<const Run *> runs;
  if (Exit status = loadRuns(session, specification, analysis, runs);
      status != Fine)
    return status;
  TraceFiles files(session);
  std::vector<Audited> audited;
  Exit status = files.read();
  if (status == Fine)
    status = files.audit(runs, audited);
  if (status != Fine)
    return status;

  AuditReport report;
  report.version = NETC_VERSION;
  for (const Audited &each : audited)
    report.audits.push_back(&each.audit);
  if (specification)
    report.expects = specification->check(
        AnalysisResults(analysis, Corners(), report.audits));
  report.warnings = session.diagnostics.warnings();
  status = write([&](llvm::raw_ostream &os) { print(os, report); });
  bool allHold = llvm::all_of(
      report.expects, [](const Verdict &verdict) { return verdict.holds; });
  return status != Fine ? status : allHold ? Fine : WrongInput;
}
