// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Driver/Crash.h"

#include "lib/Driver/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"

#include <csignal>
#include <new>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace netc;

/// There is no memory left to unwind the stack or to compose a message.
[[noreturn]] static void endWithoutMemory() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  llvm::raw_fd_ostream os(STDERR_FILENO, /*shouldClose=*/false,
                          /*unbuffered=*/true);
  os << "netc: error: out of memory, of which " << usage.ru_maxrss / 1024
     << " MiB were used; `--max-ops` limits what a file expands to";
  auto *innermost = static_cast<const llvm::PrettyStackTraceEntry *>(
      llvm::SavePrettyStackState());
  if (innermost && innermost->getNextEntry()) {
    os << "; this was ";
    innermost->print(os); // print() also ends the line
  } else {
    os << '\n';
  }
  _exit(LackingEnvironment);
}

/// Constructors of other static objects allocate too, so this is earlier.
[[gnu::constructor(101)]] static void handleLackOfMemory() {
  std::set_new_handler(endWithoutMemory);
}

/// Ends the program as the signal does, and removes files that are incomplete.
static void end(int signal) {
  llvm::sys::RunInterruptHandlers();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void netc::explainCrashes(int argc, const char *const *argv) {
  llvm::setBugReportMsg("netc " NETC_VERSION
                        " crashed, which is a mistake in netc, whatever the "
                        "input is. Please report it, with this text and the "
                        "files that the command names.\n");
  // LLVM also handles signals that end a program. Keep ignored ones ignored, as
  // under nohup.
  std::vector<int> ignored;
  for (int signal : {SIGHUP, SIGINT, SIGTERM, SIGUSR2, SIGQUIT, SIGXCPU})
    if (struct sigaction now;
        !sigaction(signal, nullptr, &now) && now.sa_handler == SIG_IGN)
      ignored.push_back(signal);
  static llvm::PrettyStackTraceProgram command(argc, argv);
  // These come from outside: a key, and a limit on the time. They are no crash.
  for (int signal : {SIGQUIT, SIGXCPU})
    std::signal(signal, end);
  for (int signal : ignored)
    std::signal(signal, SIG_IGN);
  // Writing beyond a limit on the size of files fails instead.
  std::signal(SIGXFSZ, SIG_IGN);
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { endWithoutMemory(); });
}
