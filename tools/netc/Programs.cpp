// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/netc/Programs.h"

#include "lib/Target/Link.h"
#include "tools/netc/Output.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

using namespace netc;

char EnvironmentError::ID;
char ReportedError::ID;

/// The archive that programs are linked with, which is installed beside netc.
static std::string runtimeArchive() {
  static int here;
  llvm::SmallString<128> path(llvm::sys::fs::getMainExecutable("netc", &here));
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "..", NETC_RUNTIME);
  return path.str().str();
}

/// Links `object` beside `output`, and renames. What is not complete goes when
/// a signal ends netc.
static llvm::Error writeProgram(llvm::ArrayRef<char> object,
                                llvm::StringRef output) {
  std::string runtime = runtimeArchive();
  if (!llvm::sys::fs::exists(runtime))
    return llvm::make_error<EnvironmentError>(
        "there is no `" + runtime +
        "`, which programs are linked with; is "
        "netc installed as a whole?");
  llvm::SmallString<128> objectPath, programPath;
  for (auto [path, suffix] :
       {std::pair(&objectPath, "o"), std::pair(&programPath, "tmp")}) {
    if (std::error_code error = llvm::sys::fs::createUniqueFile(
            output + "-%%%%%%%%." + suffix, *path))
      return llvm::make_error<EnvironmentError>(
          ("cannot write `" + output + "`: " + error.message()).str());
    llvm::sys::RemoveFileOnSignal(*path);
  }
  llvm::FileRemover removeObject(objectPath), removeProgram(programPath);
  if (llvm::Error error = writeOutput(objectPath, [&](llvm::raw_ostream &os) {
        os.write(object.data(), object.size());
      }))
    return error;
  if (llvm::Error error = linkProgram(objectPath, runtime, programPath))
    return llvm::make_error<EnvironmentError>(toString(std::move(error)));
  if (std::error_code error = llvm::sys::fs::rename(programPath, output))
    return llvm::errorCodeToError(error);
  removeProgram.releaseFile();
  return llvm::Error::success();
}

llvm::Error netc::emitCode(mlir::ModuleOp module, Code code,
                           const LoweringOptions &options,
                           llvm::json::Object description,
                           llvm::StringRef output) {
  if (code == Code::Linalg || code == Code::Llvm) {
    auto stage = code == Code::Linalg ? CodeStage::Linalg : CodeStage::Llvm;
    if (failed(lower(module, options, stage)))
      return llvm::make_error<ReportedError>();
    return writeOutput(output,
                       [&](llvm::raw_ostream &os) { os << module << '\n'; });
  }
  mlir::FailureOr<CompiledStep> step =
      compile(module, options, std::move(description));
  if (failed(step))
    return llvm::make_error<ReportedError>();
  if (code == Code::Object)
    return writeOutput(output, [&](llvm::raw_ostream &os) {
      os.write(step->object.data(), step->object.size());
    });
  return writeProgram(step->object, output);
}
