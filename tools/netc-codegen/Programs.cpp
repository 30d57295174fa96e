// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/netc-codegen/Programs.h"

#include "lib/Driver/Output.h"
#include "lib/Runtime/Arena.h"
#include "lib/Runtime/Data.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace netc;
using flags::Emit;

char EnvironmentError::ID;
char ReportedError::ID;

std::optional<runtime::LackOfMemory>
netc::lackOfMemory(const CompiledStep &step, const runtime::Options &options) {
  return runtime::lackOfMemory(step.program.arena,
                               runtime::syntheticBytes(step.program, options),
                               /*toAnother=*/true);
}

/// The runtime archive, which is installed next to this program.
static std::string runtimeArchive() {
  static int here;
  llvm::SmallString<128> path(llvm::sys::fs::getMainExecutable("netc", &here));
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "libnetc-runtime.a");
  return path.str().str();
}

static llvm::Error cannotWrite(llvm::StringRef output, llvm::Error error) {
  return llvm::make_error<EnvironmentError>(
      ("cannot write `" + output + "`: " + toString(std::move(error))).str());
}

llvm::Error netc::writeProgram(const CompiledStep &step, const Backend &backend,
                               llvm::StringRef output) {
  std::string runtime = runtimeArchive();
  if (!llvm::sys::fs::exists(runtime))
    return llvm::make_error<EnvironmentError>(
        "there is no `" + runtime +
        "`, which programs are linked with; is "
        "netc installed as a whole?");
  // Link to a temporary file next to the output, then rename it. Links are
  // followed.
  llvm::SmallString<128> path;
  if (llvm::sys::fs::real_path(output, path))
    path = output;
  llvm::sys::fs::make_absolute(path);
  llvm::sys::fs::file_status status;
  bool isThere = !llvm::sys::fs::status(path, status);
  if (isThere && !llvm::sys::fs::is_regular_file(status))
    return cannotWrite(
        output,
        llvm::createStringError("a program is written to a file, and this is "
                                "none"));
  llvm::Expected<ScratchFolder> scratch = ScratchFolder::create(path);
  if (!scratch)
    return cannotWrite(output, scratch.takeError());
  std::string object = scratch->file("step.o"),
              program = scratch->file("program");
  if (llvm::Error error = writeOutput(object, [&](llvm::raw_ostream &os) {
        os.write(step.object.data(), step.object.size());
      }))
    return cannotWrite(output, std::move(error));
  if (llvm::Error error = backend.link(object, runtime, program, *scratch))
    return llvm::make_error<EnvironmentError>(toString(std::move(error)));
  // Keep the permissions of an existing program.
  if (isThere && (status.permissions() & llvm::sys::fs::owner_exe))
    if (std::error_code error =
            llvm::sys::fs::setPermissions(program, status.permissions()))
      return cannotWrite(output, llvm::errorCodeToError(error));
  if (std::error_code error = llvm::sys::fs::rename(program, path))
    return cannotWrite(output, llvm::errorCodeToError(error));
  return llvm::Error::success();
}

llvm::Error netc::emitCode(mlir::ModuleOp module, Emit code,
                           LoweringOptions options, program::Program program,
                           llvm::StringRef output) {
  auto write = [&](llvm::function_ref<void(llvm::raw_ostream &)> print) {
    llvm::Error error = writeOutput(output, print);
    return error ? cannotWrite(output, std::move(error))
                 : llvm::Error::success();
  };
  bool isText =
      code == Emit::Linalg || code == Emit::Llvm || flags::isDeviceCode(code);
  // Printed code must not depend on the machine.
  if (isText && !options.isa)
    options.isa = program::Isa::Baseline;
  llvm::Expected<std::unique_ptr<Backend>> backend = makeBackend(options);
  if (!backend)
    return llvm::make_error<EnvironmentError>(toString(backend.takeError()));
  if (isText) {
    auto stage = code == Emit::Linalg ? CodeStage::Linalg : CodeStage::Kernels;
    if (failed(lower(module, **backend, options, stage)))
      return llvm::make_error<ReportedError>();
    if (!flags::isDeviceCode(code))
      return write([&](llvm::raw_ostream &os) { os << module << '\n'; });
    std::string text;
    llvm::raw_string_ostream os(text);
    if (llvm::Error error = (*backend)->printDeviceCode(module, os)) {
      emitError(module.getLoc()) << toString(std::move(error));
      return llvm::make_error<ReportedError>();
    }
    return write([&](llvm::raw_ostream &os) { os << text; });
  }
  if (code == Emit::Schedule) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (failed(lower(module, **backend, options, CodeStage::Memory)) ||
        failed((*backend)->printSchedule(module, os)))
      return llvm::make_error<ReportedError>();
    return write([&](llvm::raw_ostream &os) { os << text; });
  }
  mlir::FailureOr<CompiledStep> step =
      compile(module, **backend, options, std::move(program));
  if (failed(step))
    return llvm::make_error<ReportedError>();
  if (code == Emit::Object)
    return write([&](llvm::raw_ostream &os) {
      os.write(step->object.data(), step->object.size());
    });
  bool runsHere = isHost(step->program.target.kind);
  if (std::optional<runtime::LackOfMemory> lack = lackOfMemory(*step, {});
      lack && runsHere)
    llvm::errs() << "netc: warning: here, " << lack->what() << '\n';
  return writeProgram(*step, **backend, output);
}
