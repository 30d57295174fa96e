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
  const size_t programs;
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

/// Compiles a run to a program, if the machine has enough memory for it.
static llvm::Error build(mlir::ModuleOp measured, const std::string &run,
                         const Program &program, std::optional<uint64_t> batch,
                         const MeasureOptions &options,
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
  std::optional<std::string> lack = lackOfMemory(*step, parsed);
  if (lack && isHost(lowering.target))
    return environment(program.name + ": " + *lack);
  return writeProgram(*step, **backend, program.path);
} catch (const runtime::Failure &failure) {
  return llvm::make_error<ProgramError>(failure.status,
                                        program.name + ": " + failure.what());
}

/// Fails if this machine has no device of the target to measure.
static llvm::Error checkDevice(program::TargetKind target) try {
  switch (target) {
  case program::TargetKind::Cpu:
    break;
  case program::TargetKind::Cuda:
    runtime::CudaDevice::expectDevice();
    break;
  }
  return llvm::Error::success();
} catch (const runtime::Failure &failure) {
  return llvm::make_error<ProgramError>(failure.status, failure.what());
}

/// An error message if the slots alone need too much memory. Their size does
/// not depend on memory planning, and lowering a step that no machine can hold
/// takes minutes.
static std::optional<std::string> lackForWeights(mlir::ModuleOp module,
                                                 llvm::StringRef run) {
  Memory memory = countMemory(module.lookupSymbol<StepOp>(run));
  Polynomial kept = memory.weights.total() + memory.optimizer.total();
  std::optional<std::string> lack;
  if (std::optional<int64_t> bytes = kept.toInt64())
    lack = runtime::lackOfMemory(*bytes, /*data=*/0, /*toAnother=*/true);
  if (lack)
    lack = "for weights and optimizer alone, " + *lack;
  return lack;
}

/// Runs a program. It measures peaks unless the file `peaks` has those of the
/// one before, and leaves the highest there.
static llvm::Expected<Measurement>
runProgram(const Program &program, const std::vector<std::string> &arguments,
           const std::string &peaks, const ScratchFolder &scratch,
           Measuring &progress) {
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
  return measurement;
}

llvm::Expected<MeasurementReport>
netc::measure(llvm::ArrayRef<Subject> subjects, const MeasureOptions &options) {
  llvm::Expected<runtime::Options> parsed = parseOptions(options.arguments);
  if (!parsed)
    return parsed.takeError();
  llvm::Expected<ScratchFolder> scratch = ScratchFolder::create("netc");
  if (!scratch)
    return environment("cannot write temporary files: " +
                       toString(scratch.takeError()));

  // Check before the first program is compiled.
  const bool isHere = isHost(options.lowering.target);
  if (llvm::Error error = checkDevice(options.lowering.target))
    return error;
  size_t modules = 0;
  for (const Subject &subject : subjects)
    for (const Subject::Batch &swept : subject.batches) {
      ++modules;
      if (isHere)
        if (std::optional<std::string> lack =
                lackForWeights(swept.module, subject.run))
          return environment(titleOf(subject) + ": " + *lack);
    }

  std::vector<std::optional<uint64_t>> batches(options.batches.begin(),
                                               options.batches.end());
  if (batches.empty())
    batches.push_back(std::nullopt);
  Measuring progress(modules * batches.size(),
                     parsed->steps ? std::nullopt
                                   : std::optional(parsed->seconds));
  std::vector<Program> compiled;
  for (auto [i, subject] : llvm::enumerate(subjects))
    for (const Subject::Batch &swept : subject.batches)
      for (std::optional<uint64_t> batch : batches) {
        std::string size = batch ? std::to_string(*batch) : swept.text;
        std::string name = titleOf(subject);
        if (!size.empty())
          name += " with batch " + size;
        compiled.push_back(
            {i, name,
             scratch->file("program" + std::to_string(compiled.size()))});
        progress.begin("compiling " + name, /*isMeasurement=*/false);
        if (llvm::Error error = build(swept.module, subject.run,
                                      compiled.back(), batch, options, *parsed))
          return error;
        progress.end();
      }

  MeasurementReport report;
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
    llvm::Expected<Measurement> measurement =
        runProgram(program, arguments, peaks, *scratch, progress);
    if (!measurement)
      return measurement.takeError();
    progress.end();
    report.runs[program.subject].batches.push_back(std::move(*measurement));
  }
  report.peaks = *peaksOf(report.runs.back().batches.back());
  return report;
}
