// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/netc-codegen/Measure.h"

#include "dialect/Net.h"
#include "lib/Analysis/Memory.h"
#include "lib/Driver/Output.h"
#include "lib/Driver/Progress.h"
#include "lib/Runtime/Arena.h"
#include "lib/Runtime/CudaDevice.h"
#include "lib/Runtime/Failure.h"
#include "lib/Runtime/Options.h"
#include "lib/Target/Caches.h"
#include "lib/Target/Child.h"
#include "tools/netc-codegen/Programs.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <chrono>
#include <cstring>
#include <fmt/format.h>

using namespace netc;

char ProgramError::ID;

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

namespace {
/// Progress of compiling and measuring each of the programs.
class Measuring {
public:
  /// `budget` is the longest time of a measurement in seconds, if known.
  Measuring(size_t programs, std::optional<double> budget)
      : programs(programs), budget(budget) {}

  void begin(std::string what, bool isMeasurement) {
    doing = std::move(what);
    measures = isMeasurement;
    start = std::chrono::steady_clock::now();
    show();
  }
  void end() {
    ++(measures ? measured : compiled);
    measures = false;
  }
  /// A program is not measured.
  void drop() { --programs; }

  void show() {
    std::chrono::duration<double> spent =
        std::chrono::steady_clock::now() - start;
    double done = compiled + measured;
    if (measures && budget)
      done += std::min(spent.count() / *budget, 1.0);
    std::string text = doing;
    if (budget) {
      double left = *budget * (programs - measured);
      left -= measures ? std::min(spent.count(), *budget) : 0;
      text += fmt::format(" · at most {:.0f} s to measure", left);
    }
    line.show(done / (2.0 * programs), text);
  }

private:
  Progress line;
  size_t programs;
  const std::optional<double> budget;
  size_t compiled = 0, measured = 0;
  std::string doing;
  bool measures = false;
  std::chrono::steady_clock::time_point start;
};

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// A program that is compiled to be measured.
struct Program {
  size_t subject;
  std::string name; ///< for people
  std::string path;
  std::optional<int64_t> batch = std::nullopt;
};
} // namespace

/// A run for people: `bert` at `precision = tf32`.
static std::string titleOf(const Subject &subject) {
  return "`" + subject.run + "`" +
         (subject.values.empty() ? "" : " at `" + textOf(subject.values) + "`");
}

static llvm::Error environment(const llvm::Twine &message) {
  return llvm::make_error<EnvironmentError>(message.str());
}

/// Checks the programs' options now: the programs themselves would do so only
/// after compilation.
static llvm::Expected<runtime::Options>
parseOptions(const std::vector<std::string> &arguments) {
  std::vector<char *> texts = {const_cast<char *>("netc")};
  for (const std::string &argument : arguments)
    texts.push_back(const_cast<char *>(argument.c_str()));
  texts.push_back(nullptr);
  try {
    return runtime::Options::parse(int(texts.size()) - 1, texts.data());
  } catch (const runtime::Failure &failure) {
    return llvm::make_error<ProgramError>(failure.status, failure.what());
  }
}

/// Compiles a run to a program, if the machine has enough memory for it. Else
/// returns what is lacking.
static llvm::Expected<std::optional<runtime::LackOfMemory>>
build(mlir::ModuleOp measured, const std::string &run, Program &program,
      std::optional<uint64_t> batch, const MeasureOptions &options,
      const runtime::Options &parsed) try {
  LoweringOptions lowering = options.lowering;
  lowering.run = run;
  if (batch)
    lowering.setBatch(*batch);
  mlir::OwningOpRef<mlir::ModuleOp> module(
      mlir::cast<mlir::ModuleOp>(measured->clone()));
  llvm::Expected<std::unique_ptr<Backend>> backend = makeBackend(lowering);
  if (!backend)
    return environment(toString(backend.takeError()));
  mlir::FailureOr<CompiledStep> step =
      compile(*module, **backend, lowering, options.program);
  if (failed(step))
    return llvm::make_error<ReportedError>();
  program.batch = step->program.batch;
  if (isHost(lowering.target))
    if (std::optional<runtime::LackOfMemory> lack = lackOfMemory(*step, parsed))
      return lack;
  if (llvm::Error error = writeProgram(*step, **backend, program.path))
    return error;
  return std::nullopt;
} catch (const runtime::Failure &failure) {
  return llvm::make_error<ProgramError>(failure.status,
                                        program.name + ": " + failure.what());
}

/// The architecture of the code for this machine's device of the target, empty
/// if code is always for the host. Fails if there is no device to measure.
static llvm::Expected<std::string> archOf(program::TargetKind target) try {
  switch (target) {
  case program::TargetKind::Cpu:
    break;
  case program::TargetKind::Cuda:
    return runtime::CudaDevice::archToMeasure();
  }
  return "";
} catch (const runtime::Failure &failure) {
  return llvm::make_error<ProgramError>(failure.status, failure.what());
}

/// What lacks if the slots alone need too much memory. Their size does not
/// depend on memory planning, and lowering a step that no machine can hold
/// takes minutes.
static std::optional<runtime::LackOfMemory>
lackForWeights(mlir::ModuleOp module, llvm::StringRef run) {
  Memory memory = countMemory(module.lookupSymbol<StepOp>(run));
  Polynomial kept = memory.weights.total() + memory.optimizer.total();
  std::optional<int64_t> bytes = kept.toInt64();
  if (!bytes)
    return std::nullopt;
  auto lack = runtime::lackOfMemory(*bytes, /*data=*/0, /*toAnother=*/true);
  if (!lack)
    return std::nullopt;
  return runtime::LackOfMemory(
      std::string("for weights and optimizer alone, ") + lack->what(),
      lack->needed, lack->available);
}

/// The batch size that a run has by itself.
static std::optional<int64_t> batchOf(mlir::ModuleOp module,
                                      llvm::StringRef run) {
  auto axes = module.lookupSymbol<StepOp>(run).getAxes();
  auto size = axes.getAs<MomentsAttr>(kBatchAxis);
  return size ? size.getValue().mean().toInt64() : std::nullopt;
}

/// Runs a program. It measures peaks unless the file `peaks` has those of the
/// one before, and leaves the highest there. Returns none if it lacks memory,
/// which `lack` gets.
static llvm::Expected<std::optional<Measurement>>
runProgram(const Program &program, const std::vector<std::string> &arguments,
           const std::string &peaks, const ScratchFolder &scratch,
           Measuring &progress, std::optional<runtime::LackOfMemory> &lack) {
  std::vector<std::string> words = {"netc"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.push_back(llvm::sys::fs::exists(peaks) ? "--peaks=" + peaks
                                               : "--peaks");
  llvm::Expected<Child> child =
      runChild(program.path, words, scratch, [&] { progress.show(); });
  if (!child)
    return environment("cannot run the program of " + program.name + ": " +
                       toString(child.takeError()));
  if (child->signal)
    return environment("the program of " + program.name +
                       " was ended by signal " + llvm::Twine(child->signal) +
                       ", " + strsignal(child->signal));
  if (child->status) {
    llvm::StringRef said = llvm::StringRef(child->errors).trim();
    said.consume_front("netc: error: ");
    if (auto bytes = parseLack(child->output)) {
      lack.emplace(said.str(), bytes->first, bytes->second);
      return std::nullopt;
    }
    return llvm::make_error<ProgramError>(child->status,
                                          (program.name + ": " + said).str());
  }
  // The program printed warnings.
  for (llvm::StringRef line : llvm::split(child->errors, '\n'))
    if (!line.empty())
      llvm::errs() << "netc: " << program.name << ": " << line << '\n';
  llvm::Expected<Measurement> measurement = parseMeasurement(child->output);
  if (!measurement)
    return environment(
        "the program of " + program.name +
        " printed no measurement: " + toString(measurement.takeError()));
  if (llvm::Error error = writeOutput(
          peaks, [&](llvm::raw_ostream &os) { os << child->output; }))
    return environment("cannot write temporary files: " +
                       toString(std::move(error)));
  return std::move(*measurement);
}

llvm::Expected<MeasurementReport>
netc::measure(llvm::ArrayRef<Subject> subjects, MeasureOptions options) {
  llvm::Expected<runtime::Options> parsed = parseOptions(options.arguments);
  if (!parsed)
    return parsed.takeError();
  llvm::Expected<ScratchFolder> scratch = ScratchFolder::create("netc");
  if (!scratch)
    return environment("cannot write temporary files: " +
                       toString(scratch.takeError()));

  // Check before the first program is compiled.
  const bool isHere = isHost(options.lowering.target);
  llvm::Expected<std::string> arch = archOf(options.lowering.target);
  if (!arch)
    return arch.takeError();
  if (options.lowering.arch.empty())
    options.lowering.arch = *arch;
  std::vector<std::optional<uint64_t>> batches(options.batches.begin(),
                                               options.batches.end());
  if (batches.empty())
    batches.push_back(std::nullopt);
  struct Point {
    Program program;
    mlir::ModuleOp module;
    std::optional<uint64_t> batch; ///< by the command line
  };
  std::vector<Point> points;
  MeasurementReport report;
  auto addMisfit = [&](const Program &program,
                       const runtime::LackOfMemory &lack) {
    const Subject &subject = subjects[program.subject];
    report.misfits.push_back({subject.run, subject.values, program.batch,
                              lack.needed, lack.available,
                              program.name + ": " + lack.what()});
  };
  for (auto [i, subject] : llvm::enumerate(subjects))
    for (const Subject::Batch &swept : subject.batches) {
      std::optional<runtime::LackOfMemory> lack;
      if (isHere)
        lack = lackForWeights(swept.module, subject.run);
      for (std::optional<uint64_t> batch : batches) {
        std::string size = batch ? std::to_string(*batch) : swept.text;
        std::string name = titleOf(subject);
        if (!size.empty())
          name += " with batch " + size;
        Program program = {
            i, name, scratch->file("program" + std::to_string(points.size())),
            batch ? std::optional<int64_t>(*batch)
                  : batchOf(swept.module, subject.run)};
        if (lack)
          addMisfit(program, *lack);
        else
          points.push_back({program, swept.module, batch});
      }
    }
  Measuring progress(points.size(), parsed->steps
                                        ? std::nullopt
                                        : std::optional(parsed->seconds));
  std::vector<Program> compiled;
  for (Point &point : points) {
    progress.begin("compiling " + point.program.name, /*isMeasurement=*/false);
    auto lack = build(point.module, subjects[point.program.subject].run,
                      point.program, point.batch, options, *parsed);
    if (!lack)
      return lack.takeError();
    if (*lack) {
      addMisfit(point.program, **lack);
      progress.drop();
      continue;
    }
    compiled.push_back(point.program);
    progress.end();
  }

  for (const Subject &subject : subjects)
    report.runs.push_back({{}, subject.values});
  std::vector<std::string> arguments = options.arguments;
  arguments.insert(arguments.end(), {"--json", "--quiet"});
  if (isHere)
    if (std::string caches = textOf(cachesHere()); !caches.empty())
      arguments.push_back("--caches=" + caches);
  // Peaks belong to the machine, not to a program. Each program starts with
  // those of the one before, and the last one states the highest.
  const std::string peaks = scratch->file("peaks.json");
  for (const Program &program : compiled) {
    progress.begin("measuring " + program.name, /*isMeasurement=*/true);
    std::optional<runtime::LackOfMemory> lack;
    llvm::Expected<std::optional<Measurement>> measurement =
        runProgram(program, arguments, peaks, *scratch, progress, lack);
    if (!measurement)
      return measurement.takeError();
    progress.end();
    if (*measurement)
      report.runs[program.subject].batches.push_back(std::move(**measurement));
    else
      addMisfit(program, *lack);
  }
  llvm::erase_if(report.runs,
                 [](const MeasuredRun &run) { return run.batches.empty(); });
  if (!report.runs.empty())
    report.peaks = *peaksOf(report.runs.back().batches.back());
  return report;
}
