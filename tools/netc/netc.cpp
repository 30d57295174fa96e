// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reads specifications, counts what they cost, and reports.

#include "dialect/Spelling.h"
#include "lib/Frontend/Diagnostics.h"
#include "lib/Frontend/Specification.h"
#include "lib/Pipelines/Pipelines.h"
#include "lib/Report/Json.h"
#include "lib/Report/MeasurementReport.h"
#include "lib/Report/Table.h"
#include "lib/Target/Child.h"
#include "tools/netc/AnalysisResults.h"
#include "tools/netc/Measure.h"
#include "tools/netc/Output.h"
#include "tools/netc/Peaks.h"
#include "tools/netc/Programs.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/thread.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

using namespace netc;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

/// Exit statuses; docs/Language.md lists them.
enum Exit { Fine = 0, WrongInput = 1, WrongUsage = 2, LackingEnvironment = 3 };

static cl::OptionCategory category("netc options");

static cl::list<std::string> inputs(cl::Positional, cl::OneOrMore,
                                    cl::desc("FILE..."), cl::cat(category));

namespace {
enum class Action { Estimate, Check, Measure };
enum class Format { Table, Json, Csv, Svg };
enum class MultiplyAdd { One = 1, Two = 2 };
} // namespace

static cl::opt<Action>
    action(cl::desc("What to do:"), cl::init(Action::Estimate),
           cl::values(clEnumValN(Action::Estimate, "estimate",
                                 "report networks, runs and expects (default)"),
                      clEnumValN(Action::Check, "check",
                                 "report errors and expects only"),
                      clEnumValN(Action::Measure, "measure",
                                 "compile runs, let them train, and report "
                                 "their times and utilization")),
           cl::cat(category));
namespace {
enum class Emit { Net, Step, Bound, Linalg, Llvm, Object, Program };
} // namespace
static cl::opt<Emit> emit(
    "emit", cl::desc("Print a stage instead, of a run from `linalg` on:"),
    cl::values(clEnumValN(Emit::Net, "net", "networks and losses"),
               clEnumValN(Emit::Step, "step", "with gradients and updates"),
               clEnumValN(Emit::Bound, "bound", "with a size for every axis"),
               clEnumValN(Emit::Linalg, "linalg", "lowered to tensors"),
               clEnumValN(Emit::Llvm, "llvm", "in the LLVM dialect"),
               clEnumValN(Emit::Object, "obj", "an object file"),
               clEnumValN(Emit::Program, "exe",
                          "a program that trains and measures itself")),
    cl::cat(category));
namespace {
enum class Target { Cpu };
enum class LoweringKind { Fast, Reference };
} // namespace
static cl::opt<Target>
    target("target", cl::desc("What code is for; estimates plan its memory:"),
           cl::init(Target::Cpu),
           cl::values(clEnumValN(Target::Cpu, "cpu", "this machine (default)")),
           cl::cat(category));
static cl::opt<LoweringKind>
    lowering("lowering", cl::desc("How code is made:"),
             cl::init(LoweringKind::Fast),
             cl::values(clEnumValN(LoweringKind::Fast, "fast",
                                   "tiles, vectors, threads (default)"),
                        clEnumValN(LoweringKind::Reference, "reference",
                                   "plain loops that count what they execute")),
             cl::cat(category));
static cl::list<uint64_t> batches("batch", cl::desc("Examples in a step of it"),
                                  cl::value_desc("number,..."),
                                  cl::CommaSeparated, cl::cat(category));
/// LLVM's library has an option of this name, for linking.
static const bool isThreadsOurs = [] {
  if (cl::Option *other = cl::getRegisteredOptions().lookup("threads"))
    other->removeArgument();
  return true;
}();
static cl::opt<unsigned> threads("threads",
                                 cl::desc("That are measured (default: one a "
                                          "core)"),
                                 cl::value_desc("number"), cl::cat(category));
static cl::opt<double> seconds(
    "seconds",
    cl::desc("Measure each batch size for so long at most (default 10)"),
    cl::value_desc("number"), cl::cat(category));
static cl::opt<uint64_t> steps("steps", cl::desc("or exactly so many steps"),
                               cl::value_desc("number"), cl::cat(category));
static cl::opt<std::string>
    data("data", cl::desc("Train on npy files (default: synthetic data)"),
         cl::value_desc("file,..."), cl::cat(category));
static cl::opt<Format> format(
    "format", cl::desc("How to print the report:"), cl::init(Format::Table),
    cl::values(clEnumValN(Format::Table, "table", "for people (default)"),
               clEnumValN(Format::Json, "json",
                          "for programs; docs/*.schema.json"),
               clEnumValN(Format::Csv, "csv", "measured ops, a row each"),
               clEnumValN(Format::Svg, "svg", "a picture of what is measured")),
    cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("Write to a file"),
                                   cl::value_desc("file"), cl::init("-"),
                                   cl::cat(category));
static cl::list<std::string>
    definitions("D", cl::Prefix, cl::desc("Replace a top-level constant"),
                cl::value_desc("name=value"), cl::cat(category));
static cl::list<std::string>
    includeFolders("I", cl::Prefix, cl::desc("Look for imports here, too"),
                   cl::value_desc("folder"), cl::cat(category));
static cl::list<std::string>
    onlyNetworks("net", cl::desc("Count only what is named, this network"),
                 cl::value_desc("name"), cl::cat(category));
static cl::list<std::string>
    onlyRuns("run", cl::desc("Count only what is named, this run"),
             cl::value_desc("name"), cl::cat(category));
static cl::opt<unsigned>
    depth("depth", cl::desc("Levels of layers in a table (default 2)"),
          cl::init(TableOptions().depth), cl::cat(category));
static cl::opt<bool>
    symbolic("symbolic",
             cl::desc("Also print the polynomials in the free axes"),
             cl::cat(category));
static cl::opt<MultiplyAdd>
    multiplyAdd("fma", cl::desc("FLOP of a multiply-add in matmul figures:"),
                cl::values(clEnumValN(MultiplyAdd::One, "1", "one"),
                           clEnumValN(MultiplyAdd::Two, "2", "two (default)")),
                cl::cat(category));
static cl::opt<Conventions::Causal> causalMask(
    "causal", cl::desc("What attention under a causal mask counts:"),
    cl::values(clEnumValN(Conventions::Full, "full", "all of it (default)"),
               clEnumValN(Conventions::Half, "half",
                          "only what is not hidden")),
    cl::cat(category));

static Limits limits;
static cl::opt<size_t, true> maxInput("max-input",
                                      cl::desc("Bytes in one file"),
                                      cl::location(limits.maxInputBytes),
                                      cl::cat(category));
static cl::opt<unsigned, true> maxDepth("max-depth",
                                        cl::desc("Nesting of a file"),
                                        cl::location(limits.maxDepth),
                                        cl::cat(category));
static cl::opt<size_t, true>
    maxOps("max-ops", cl::desc("Operations that a file expands to"),
           cl::location(limits.maxOps), cl::cat(category));
static cl::opt<size_t, true> maxSweep("max-sweep",
                                      cl::desc("Points of a sweep"),
                                      cl::location(limits.maxSweepPoints),
                                      cl::cat(category));
static cl::opt<unsigned, true> maxErrors("max-errors",
                                         cl::desc("Errors that are shown"),
                                         cl::location(limits.maxErrors),
                                         cl::cat(category));

//===----------------------------------------------------------------------===//
// From a file to a report
//===----------------------------------------------------------------------===//

namespace {
/// A file, read and counted.
struct Unit {
  std::unique_ptr<Specification> specification;
  Analysis analysis;
  std::vector<ExpectResult> expects;
  /// By run: what each point of its sweep sets, and what was counted there.
  llvm::StringMap<std::vector<std::pair<SweepPoint, Analysis>>> sweeps;
  llvm::StringMap<PlannedMemory> plans; ///< by run, if they are asked for
};
} // namespace

static Exit complain(Exit status, const llvm::Twine &message) {
  llvm::errs() << "netc: error: " << message << '\n';
  return status;
}

/// The conventions that the command line asks for.
static ConventionFlags conventionFlags() {
  ConventionFlags flags;
  if (multiplyAdd.getNumOccurrences())
    flags.fma = unsigned(multiplyAdd.getValue());
  if (causalMask.getNumOccurrences())
    flags.causal = causalMask;
  return flags;
}

static mlir::LogicalResult runPasses(mlir::ModuleOp module, Stage stage) {
  mlir::PassManager passes(module->getName());
  // Each pass's output is verified by its tests; here, what comes out of the
  // last.
  passes.enableVerifier(false);
  addPasses(passes, stage);
  return mlir::success(succeeded(passes.run(module)) &&
                       succeeded(mlir::verify(module)));
}

/// Reads a file and takes it to `stage`. After errors, which are printed, null.
static std::unique_ptr<Specification> load(mlir::MLIRContext &context,
                                           llvm::StringRef path,
                                           const FrontendOptions &options,
                                           Stage stage) {
  auto specification = Specification::load(&context, path, options);
  if (!specification || failed(givePeaks(specification->module())) ||
      failed(runPasses(specification->module(), stage)))
    return nullptr;
  return specification;
}

/// Elaborates and counts the points of a run's sweep.
static mlir::LogicalResult sweepRun(Unit &unit, const Run &run,
                                    const ConventionFlags &flags) {
  std::optional<std::vector<SweepPoint>> points =
      unit.specification->sweep(run.name());
  if (!points)
    return mlir::failure();
  for (SweepPoint &point : *points) {
    if (failed(givePeaks(*point.module)) ||
        failed(runPasses(*point.module, Stage::Step)))
      return mlir::failure();
    mlir::FailureOr<Analysis> analysis = analyze(*point.module, flags);
    if (failed(analysis))
      return mlir::failure();
    unit.sweeps[run.name()].emplace_back(std::move(point),
                                         std::move(*analysis));
  }
  return mlir::success();
}

static LoweringOptions loweringOptions() {
  LoweringOptions options;
  options.reference = options.counted = lowering == LoweringKind::Reference;
  return options;
}

static void readyForLowering(mlir::MLIRContext &context) {
  mlir::DialectRegistry registry;
  registerLoweringInterfaces(registry);
  context.appendDialectRegistry(registry);
}

/// Plans the memory of the runs, as they would be compiled.
static mlir::LogicalResult planRuns(Unit &unit) {
  for (const Run &run : unit.analysis.runs) {
    LoweringOptions options = loweringOptions();
    options.run = run.name();
    if (!batches.empty())
      options.sizes.push_back("N=" + std::to_string(batches.front()));
    mlir::FailureOr<MemoryPlan> plan =
        planMemory(unit.specification->module(), options);
    if (failed(plan))
      return mlir::failure();
    unit.plans[run.name()] = {"cpu", plan->batch, plan->arena, plan->buffers};
  }
  return mlir::success();
}

/// Reads and counts a file, and decides its expects.
static std::optional<Unit> analyzeFile(mlir::MLIRContext &context,
                                       llvm::StringRef path,
                                       const FrontendOptions &options) {
  Unit unit;
  unit.specification = load(context, path, options, Stage::Step);
  if (!unit.specification)
    return std::nullopt;
  mlir::ModuleOp module = unit.specification->module();
  mlir::FailureOr<Analysis> analysis = analyze(module);
  if (failed(analysis))
    return std::nullopt;
  // Every sweep is tried, and before the expects: errors come first.
  bool isSwept = true;
  for (const Run &run : analysis->runs)
    isSwept &= succeeded(sweepRun(unit, run, conventionFlags()));
  if (!isSwept)
    return std::nullopt;
  unit.expects = unit.specification->check(AnalysisResults(*analysis));
  // Flags change what is shown. An expect was written by the specification's
  // own conventions.
  if (conventionFlags().any()) {
    analysis = analyze(module, conventionFlags());
    if (failed(analysis))
      return std::nullopt;
  }
  unit.analysis = std::move(*analysis);
  if (target.getNumOccurrences() && failed(planRuns(unit)))
    return std::nullopt;
  return unit;
}

static std::vector<SweepRow> sweepOf(const Unit &unit, const Run &run) {
  std::vector<SweepRow> rows;
  auto found = unit.sweeps.find(run.name());
  if (found != unit.sweeps.end())
    for (auto &[point, analysis] : found->second)
      rows.push_back({point.values, &analysis.runs.front()});
  return rows;
}

/// What is shown of the units.
static Report makeReport(const std::vector<Unit> &units) {
  Report report;
  report.version = NETC_VERSION;
  ConventionFlags flags = conventionFlags();
  report.conventions.fma = flags.fma.value_or(report.conventions.fma);
  report.conventions.causal = flags.causal.value_or(report.conventions.causal);
  for (const Unit &unit : units) {
    if (action == Action::Estimate) {
      for (const Network &network : unit.analysis.networks)
        report.networks.push_back(&network);
      for (const Run &run : unit.analysis.runs) {
        report.runs.push_back(
            {&run, hardwareTimeOf(run), sweepOf(unit, run), std::nullopt});
        if (auto plan = unit.plans.find(run.name()); plan != unit.plans.end())
          report.runs.back().plan = plan->second;
      }
    }
    for (const ExpectResult &expect : unit.expects)
      report.expects.push_back({expect.text, expect.file, expect.line,
                                expect.value, expect.expected, expect.holds});
  }
  return report;
}

/// Complains of a name given on the command line that no file has.
static bool isKnown(llvm::StringRef kind, llvm::StringRef name,
                    llvm::ArrayRef<llvm::StringRef> known) {
  if (llvm::is_contained(known, name))
    return true;
  complain(WrongUsage, "there is no " + kind + " `" + name + "`" +
                           netc::didYouMean(name, known));
  return false;
}

/// Whether the files have all networks and runs that the command line names.
static bool areKnown(llvm::ArrayRef<Specification *> files) {
  std::vector<llvm::StringRef> networks, runs;
  for (Specification *file : files) {
    llvm::append_range(networks, file->networks());
    llvm::append_range(runs, file->runs());
  }
  return llvm::all_of(onlyNetworks,
                      [&](const std::string &name) {
                        return isKnown("net", name, networks);
                      }) &&
         llvm::all_of(onlyRuns, [&](const std::string &name) {
           return isKnown("run", name, runs);
         });
}

//===----------------------------------------------------------------------===//
// main
//===----------------------------------------------------------------------===//

static Exit write(llvm::function_ref<void(llvm::raw_ostream &)> print) {
  if (llvm::Error error = writeOutput(output, print))
    return complain(LackingEnvironment, "cannot write `" + output + "`: " +
                                            llvm::toString(std::move(error)));
  return Fine;
}

/// Says what went wrong with compiled code.
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

/// What netc knows of the programs that it compiles. Their figures are those of
/// the ops, whatever a run says of its conventions.
static llvm::json::Object descriptionOfPrograms() {
  return llvm::json::Object{
      {"netc", NETC_VERSION},
      {"conventions", llvm::json::Object{{"fma", 2}, {"causal", "full"}}}};
}

/// Lowers the run of the one file, and writes the code.
static Exit emitCodeOf(mlir::MLIRContext &context,
                       const FrontendOptions &options, Code code) {
  if (inputs.size() != 1 || onlyRuns.size() > 1 || batches.size() > 1)
    return complain(WrongUsage,
                    "code is made of one run of one file, for one batch size");
  if (output == "-" && code == Code::Program)
    return complain(WrongUsage, "a program needs a name: `-o PROG`");
  readyForLowering(context);
  auto specification = load(context, inputs.front(), options, Stage::Step);
  if (!specification)
    return WrongInput;
  std::vector<Specification *> files{specification.get()};
  if (!areKnown(files))
    return WrongUsage;
  LoweringOptions lower = loweringOptions();
  if (!onlyRuns.empty())
    lower.run = onlyRuns.front();
  if (!batches.empty())
    lower.sizes.push_back("N=" + std::to_string(batches.front()));
  if (llvm::Error error = emitCode(specification->module(), code, lower,
                                   descriptionOfPrograms(), output))
    return complain(std::move(error));
  return Fine;
}

/// Prints the stage that `--emit` names.
static Exit emitStage(mlir::MLIRContext &context,
                      const FrontendOptions &options) {
  Stage stage = Stage::Net;
  switch (emit) {
  case Emit::Net:
    break;
  case Emit::Step:
    stage = Stage::Step;
    break;
  case Emit::Bound:
    stage = Stage::Bound;
    break;
  case Emit::Linalg:
    return emitCodeOf(context, options, Code::Linalg);
  case Emit::Llvm:
    return emitCodeOf(context, options, Code::Llvm);
  case Emit::Object:
    return emitCodeOf(context, options, Code::Object);
  case Emit::Program:
    return emitCodeOf(context, options, Code::Program);
  }
  std::vector<std::unique_ptr<Specification>> specifications;
  for (const std::string &path : inputs)
    if (auto specification = load(context, path, options, stage))
      specifications.push_back(std::move(specification));
  if (specifications.size() != inputs.size())
    return WrongInput;
  std::vector<Specification *> files;
  for (auto &specification : specifications)
    files.push_back(specification.get());
  if (!areKnown(files))
    return WrongUsage;
  return write([&](llvm::raw_ostream &os) {
    for (auto &specification : specifications)
      os << specification->module() << '\n';
  });
}

/// Compiles the runs of the files, and measures them.
static Exit measureFiles(mlir::MLIRContext &context,
                         const FrontendOptions &options) {
  readyForLowering(context);
  std::vector<Specification *> files;
  std::vector<Subject> subjects;
  if (conventionFlags().any())
    return complain(WrongUsage, "what is measured is always counted with "
                                "`--fma=2 --causal=full`, as peaks are");
  if (llvm::is_contained(batches, 0u))
    return complain(WrongUsage, "`--batch` takes sizes from 1 on");
  for (const std::string &path : inputs) {
    auto specification = load(context, path, options, Stage::Step);
    if (!specification)
      return WrongInput;
    files.push_back(specification.release()); // as long as the context
    for (auto step : files.back()->module().getOps<StepOp>())
      if (onlyRuns.empty() ||
          llvm::is_contained(onlyRuns, step.getSymName().str()))
        subjects.push_back({files.back()->module(), step.getSymName().str()});
  }
  if (!areKnown(files))
    return WrongUsage;
  if (subjects.empty())
    return complain(WrongInput, "there is no run to measure");

  MeasureOptions measured;
  measured.lowering = loweringOptions();
  measured.description = descriptionOfPrograms();
  measured.batches.assign(batches.begin(), batches.end());
  auto pass = [&](const cl::Option &option, const llvm::Twine &value) {
    if (option.getNumOccurrences())
      measured.arguments.push_back(("--" + option.ArgStr + "=" + value).str());
  };
  pass(threads, llvm::Twine(threads));
  pass(seconds, llvm::formatv("{0}", double(seconds)).str());
  pass(steps, llvm::Twine(steps));
  pass(data, data);
  llvm::Expected<MeasurementReport> report = measure(subjects, measured);
  if (!report)
    return complain(report.takeError());
  report->version = NETC_VERSION;
  return write([&](llvm::raw_ostream &os) {
    switch (format) {
    case Format::Table:
      return printTable(os, *report, {depth, symbolic, isColourful(os)});
    case Format::Json:
      return printJson(os, *report);
    case Format::Csv:
      return printCsv(os, *report);
    case Format::Svg:
      return printChart(os, *report);
    }
  });
}

static Exit reportFiles(mlir::MLIRContext &context,
                        const FrontendOptions &options) {
  if (format == Format::Csv || format == Format::Svg)
    return complain(WrongUsage, "`--format=csv` and `--format=svg` are for "
                                "`--measure`");
  if (target.getNumOccurrences())
    readyForLowering(context);
  if (batches.size() > 1 || (!batches.empty() && !target.getNumOccurrences()))
    return complain(WrongUsage, "an estimate takes one `--batch`, with "
                                "`--target`, to plan memory for");
  auto &units = *new std::vector<Unit>; // as long as the context
  for (const std::string &path : inputs)
    if (std::optional<Unit> unit = analyzeFile(context, path, options))
      units.push_back(std::move(*unit));
  if (units.size() != inputs.size())
    return WrongInput;
  std::vector<Specification *> files;
  for (const Unit &unit : units)
    files.push_back(unit.specification.get());
  if (!areKnown(files))
    return WrongUsage;

  Report report = makeReport(units);
  Exit status = write([&](llvm::raw_ostream &os) {
    if (format == Format::Json)
      printJson(os, report, symbolic);
    else
      printTable(os, report, {depth, symbolic, isColourful(os)});
  });
  bool allHold = llvm::all_of(
      report.expects, [](const Verdict &verdict) { return verdict.holds; });
  return status != Fine ? status : allHold ? Fine : WrongInput;
}

/// `--version`.
static void printVersion(llvm::raw_ostream &os) {
  os << "netc " NETC_VERSION "\n";
}

/// What the command line asks for.
static Exit run() {
  // It lives as long as the process: freeing it piece by piece takes
  // milliseconds.
  auto &context =
      *new mlir::MLIRContext(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<NetDialect>();
  context.printOpOnDiagnostic(false);
  DiagnosticPrinter printer(&context, llvm::errs(), limits.maxErrors,
                            isColourful(llvm::errs()));
  FrontendOptions options;
  options.limits = limits;
  options.includeFolders = includeFolders;
  options.onlyNetworks = onlyNetworks;
  options.onlyRuns = onlyRuns;
  options.onRead = [&](llvm::StringRef path, llvm::StringRef text) {
    printer.addSource(path, text);
  };
  for (llvm::StringRef definition : definitions) {
    auto [name, value] = definition.split('=');
    if (name.empty() || !definition.contains('='))
      return complain(WrongUsage, "`-D " + definition +
                                      "` is not of the form `-D name=value`");
    options.definitions.emplace_back(name, value);
  }
  if (emit.getNumOccurrences())
    return emitStage(context, options);
  return action == Action::Measure ? measureFiles(context, options)
                                   : reportFiles(context, options);
}

int main(int argc, char **argv) {
  mlir::registerAsmPrinterCLOptions();
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter(printVersion);
  if (!cl::ParseCommandLineOptions(argc, argv,
                                   "what it costs to train a neural network\n",
                                   &llvm::errs()))
    return WrongUsage;

  if (limits.maxDepth > 4096)
    return complain(WrongUsage, "`--max-depth` is at most 4096, which is what "
                                "the stack carries");

  // Before there are threads.
  if (action == Action::Measure || emit == Emit::Program)
    leaveNothingOnSignals();

#ifdef __GLIBC__
  // All work is one thread's. In an arena of its own, memory would come by
  // single pages.
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TOP_PAD, 16 << 20);
#endif

  // Elaboration follows the nesting of a file, which the limits bound: for all
  // that they allow, this stack is enough.
  Exit status = Fine;
  llvm::thread elaboration(std::optional<unsigned>(512u << 20),
                           [&] { status = run(); });
  elaboration.join();
  llvm::sys::Process::Exit(status, /*NoCleanup=*/true);
}
