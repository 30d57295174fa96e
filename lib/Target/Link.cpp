// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/Link.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace netc;

llvm::Error netc::linkProgram(llvm::StringRef object, llvm::StringRef runtime,
                              llvm::StringRef output,
                              const ScratchFolder &scratch) {
  // The folder in which the program finds netc's simulator, and OpenMP if netc
  // brings its own. A copy of the program elsewhere looks beside itself.
  llvm::StringRef folder = llvm::sys::path::parent_path(runtime);
  llvm::SmallString<128> openmp(folder);
  llvm::sys::path::append(openmp, "libomp.so.5");
  if (!llvm::sys::fs::exists(openmp))
    openmp = NETC_OPENMP;
  llvm::ErrorOr<std::string> compiler = llvm::sys::findProgramByName("c++");
  if (!compiler)
    return llvm::createStringError(
        "no C++ compiler to link with: there is no `c++` in PATH; on "
        "Debian, `apt install g++`");
  llvm::Expected<Child> linker =
      runChild(*compiler,
               {*compiler, "-o", output.str(), object.str(), runtime.str(),
                "-static-libstdc++", "-static-libgcc", "-Wl,--gc-sections",
                "-Wl,--as-needed", openmp.str().str(), "-lm", "-lpthread",
                "-ldl", "-Wl,-rpath,$ORIGIN:" + folder.str()},
               scratch);
  std::string why;
  if (!linker)
    why = toString(linker.takeError());
  else if (linker->status || linker->signal)
    why = llvm::StringRef(linker->errors).trim().str();
  else
    return llvm::Error::success();
  return llvm::createStringError("`" + *compiler + "` cannot link the program" +
                                 (why.empty() ? "" : ": " + why));
}
