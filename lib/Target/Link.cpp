// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/Link.h"

#include "llvm/Support/Program.h"

using namespace netc;

llvm::Error netc::linkProgram(llvm::StringRef object, llvm::StringRef runtime,
                              llvm::StringRef output) {
  auto fail = [](const llvm::Twine &message) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
  };
  llvm::ErrorOr<std::string> compiler = llvm::sys::findProgramByName("c++");
  if (!compiler)
    return fail("no C++ compiler to link with: there is no `c++` in PATH; on "
                "Debian, `apt install g++`");
  llvm::StringRef arguments[] = {*compiler,        "-o",
                                 output,           object,
                                 runtime,          "-static-libstdc++",
                                 "-static-libgcc", "-Wl,--gc-sections",
                                 NETC_OPENMP,      "-lm",
                                 "-lpthread"};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(*compiler, arguments, std::nullopt, {},
                                         0, 0, &message);
  if (status != 0)
    return fail("`" + *compiler + "` cannot link the program" +
                (message.empty() ? "" : ": " + message));
  return llvm::Error::success();
}
