// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The part of netc that generates code. netc executes this program, with the
// same command line, if it needs code.

#include "dialect/Net.h"
#include "lib/Driver/Crash.h"
#include "lib/Driver/Estimate.h"
#include "lib/Driver/Output.h"
#include "lib/Report/MeasurementReport.h"
#include "lib/Runtime/Failure.h"
#include "lib/Runtime/OutputFile.h"
#include "lib/Target/Child.h"
#include "tools/netc-codegen/Measure.h"
#include "tools/netc-codegen/Programs.h"
#include "llvm/Support/FormatVariadic.h"

#include <set>

using namespace netc;
using namespace netc::flags;
namespace cl = llvm::cl;

static LoweringOptions loweringOptions() {
  LoweringOptions options;
  options.target = target;
  options.arch = arch;
  options.reference = options.counted = lowering == LoweringKind::Reference;
  return options;
}

/// The options for a run, or for the only one. At most one batch size is
/// allowed.
static LoweringOptions loweringOptions(llvm::StringRef run) {
  LoweringOptions options = loweringOptions();
  options.run = run.str();
  if (!batches.empty())
    options.setBatch(batches.front());
  return options;
}

static void readyForLowering(mlir::MLIRContext &context) {
  mlir::DialectRegistry registry;
  registerLoweringInterfaces(registry);
  context.appendDialectRegistry(registry);
}

/// Plans the memory of a run as for compilation.
static mlir::FailureOr<PlannedMemory> planRun(mlir::ModuleOp module,
                                              llvm::StringRef run) {
  LoweringOptions options = loweringOptions(run);
  llvm::Expected<std::unique_ptr<Backend>> backend = makeBackend(options);
  if (!backend)
    return mlir::emitError(module.getLoc()) << toString(backend.takeError());
  mlir::FailureOr<program::Program> plan =
      planMemory(module, **backend, options);
  if (failed(plan))
    return mlir::failure();
  return PlannedMemory{nameOf(options.target), plan->batch, plan->arena,
                       plan->buffers};
}

/// Prints an error of compiled code.
static Exit complain(llvm::Error error) {
  Exit status = error.isA<EnvironmentError>() ? LackingEnvironment : WrongInput;
  std::string message;
  llvm::handleAllErrors(
      std::move(error),
      [&](const ProgramError &failure) {
        status = Exit(failure.status);
        message = failure.message();
      },
      [&](const llvm::ErrorInfoBase &info) { message = info.message(); });
  return message.empty() ? status : complain(status, message);
}

/// The parts of the programs' descriptions that netc knows. Their figures
/// follow the conventions of the ops, whatever a run states.
static program::Program knownOfPrograms() {
  program::Program program;
  program.netc = NETC_VERSION;
  return program;
}

/// The runs of a module that the command line names, with their jobs; all of
/// them if it names none. Prints a note about what is counted but not executed,
/// such as sweeps unless `runsSweeps` is set.
static std::vector<std::string> runsToCompile(mlir::ModuleOp module,
                                              bool runsSweeps) {
  std::vector<std::string> runs;
  for (auto step : module.getOps<StepOp>())
    if (isAskedFor(step.getSymName()))
      runs.push_back(step.getSymName().str());
  for (mlir::Operation &op : *module.getBody()) {
    const RunFacts *facts = runFactsOf(&op);
    if (!facts || llvm::none_of(runs, [&](llvm::StringRef run) {
          return isOf(run, mlir::SymbolTable::getSymbolName(&op).getValue());
        }))
      continue;
    if (!runsSweeps && facts->places.count("sweep"))
      mlir::emitWarning(placeOf(&op, "sweep"))
          << "code is made of one point, and this is the run without its "
             "`sweep`";
    if (facts->times.value_or(1) != 1)
      mlir::emitWarning(placeOf(&op, "times"))
          << "`times` is counted, and not run; a program takes steps of one "
             "job alone";
  }
  return runs;
}

/// Lowers the named run of the single file, and writes the code.
static Exit emitCodeOf(const Session &session) {
  if (inputs.size() != 1 || onlyRuns.size() > 1 || batches.size() > 1)
    return complain(WrongUsage,
                    "code is made of one run of one file, for one batch size");
  if (output == "-" && emit == Emit::Program)
    return complain(WrongUsage, "a program needs a name: `-o PROG`");
  auto specification = session.load(inputs.front(), Stage::Step);
  if (!specification)
    return WrongInput;
  std::vector<Specification *> files{specification.get()};
  if (!areKnown(files))
    return WrongUsage;
  LoweringOptions options =
      loweringOptions(onlyRuns.empty() ? "" : onlyRuns.front());
  runsToCompile(specification->module(), /*runsSweeps=*/false);
  if (llvm::Error error = emitCode(specification->module(), emit, options,
                                   knownOfPrograms(), output))
    return complain(std::move(error));
  return Fine;
}

/// Adds the runs of a file that are to be measured, each point of their sweeps
/// by itself. Points that differ in their batch sizes alone are one subject.
static bool addSubjects(const Session &session, Specification &file,
                        std::vector<Subject> &subjects) {
  std::vector<std::string> runs =
      runsToCompile(file.module(), /*runsSweeps=*/true);
  // The jobs of a run are swept together.
  std::map<std::string, std::vector<SweepPoint>> sweeps;
  for (const std::string &run : runs) {
    std::string outermost = llvm::StringRef(run).split('.').first.str();
    auto [points, isNew] = sweeps.try_emplace(outermost);
    if (isNew) {
      std::optional<std::vector<SweepPoint>> swept =
          file.sweptSteps(outermost, /*variesBatch=*/batches.empty());
      if (!swept)
        return false;
      for (SweepPoint &point : *swept)
        if (failed(runPasses(*point.module, Stage::Step)) ||
            failed(session.resolveHardware(*point.module)))
          return false;
      points->second = std::move(*swept);
    }
    if (points->second.empty())
      subjects.push_back({run, {}, {{file.module(), ""}}});
    size_t first = subjects.size();
    // A job may give itself what the sweep varies.
    std::set<std::string> seen;
    for (SweepPoint &point : points->second) {
      auto step = point.module->lookupSymbol<StepOp>(run);
      std::string text;
      llvm::raw_string_ostream(text) << step;
      if (!seen.insert(text).second)
        continue;
      std::string batch;
      if (auto size = step.getAxes().getAs<MomentsAttr>(kBatchAxis))
        batch = size.getValue().mean().str();
      auto values = point.values;
      llvm::erase_if(values,
                     [](const auto &value) { return value.first == "batch"; });
      auto same = std::find_if(
          subjects.begin() + first, subjects.end(),
          [&](const Subject &subject) { return subject.values == values; });
      if (same == subjects.end())
        same = subjects.insert(same, {run, values, {}});
      same->batches.push_back({*point.module, batch});
    }
  }
  // The modules live as long as the context.
  for (auto &[run, points] : sweeps)
    for (SweepPoint &point : points)
      point.module.release();
  return true;
}

/// Compiles the runs of the files, and measures them.
static Exit measureFiles(const Session &session) {
  std::vector<Specification *> files;
  std::vector<Subject> subjects;
  if (conventionFlags().any())
    return complain(WrongUsage, "what is measured is always counted with "
                                "`--fma=2 --causal=full`, as peaks are");
  if (!isHost(target) && threads.getNumOccurrences())
    return complain(WrongUsage, "`--threads` is of the processor, and a GPU is "
                                "measured");
  for (uint64_t batch : batches)
    if (llvm::count(batches, batch) > 1)
      return complain(WrongUsage,
                      "`--batch` has " + llvm::Twine(batch) + " twice");
  for (const std::string &path : inputs) {
    auto specification = session.load(path, Stage::Step);
    if (!specification)
      return WrongInput;
    files.push_back(
        specification.release()); // must live as long as the context
    if (!addSubjects(session, *files.back(), subjects))
      return WrongInput;
  }
  if (!areKnown(files))
    return WrongUsage;
  if (subjects.empty())
    return complain(WrongInput, "there is no run to measure");

  MeasureOptions measured;
  measured.lowering = loweringOptions();
  measured.program = knownOfPrograms();
  measured.batches.assign(batches.begin(), batches.end());
  auto pass = [&](const cl::Option &option, const llvm::Twine &value) {
    if (option.getNumOccurrences())
      measured.arguments.push_back(("--" + option.ArgStr + "=" + value).str());
  };
  pass(threads, llvm::Twine(threads));
  pass(seconds, llvm::formatv("{0}", double(seconds)).str());
  pass(steps, llvm::Twine(steps));
  pass(data, data);
  if (output != "-")
    try {
      runtime::expectWritable(output);
    } catch (const runtime::Failure &failure) {
      return complain(Exit(failure.status), failure.what());
    }
  llvm::Expected<MeasurementReport> report = measure(subjects, measured);
  if (!report)
    return complain(report.takeError());
  report->version = NETC_VERSION;
  Exit status = Fine;
  for (const Misfit &misfit : report->misfits)
    status = complain(LackingEnvironment, misfit.error);
  if (report->runs.empty())
    return status;
  Exit written = write([&](llvm::raw_ostream &os) {
    switch (format) {
    case Format::Json:
      return printJson(os, *report);
    case Format::Csv:
      return printCsv(os, *report);
    case Format::Svg:
      return printChart(os, *report);
    case Format::Table:
    case Format::Markdown:
    case Format::Html:
      return writeMeasurement(*makePage(os), *report, tableOptions(os));
    }
  });
  return written == Fine ? status : written;
}

static Exit run(Session &session) {
  readyForLowering(session.context);
  if (emit.getNumOccurrences())
    return emitCodeOf(session);
  return action == Action::Measure ? measureFiles(session)
                                   : estimate(session, planRun);
}

int main(int argc, char **argv) {
  explainCrashes(argc, argv);
  if (std::optional<Exit> status = parseCommandLine(argc, argv))
    return *status;
  // Must be called before threads are started.
  leaveNothingOnSignals();
  inSession(run);
}
