// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Driver/Progress.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace netc;

Progress::Progress(std::chrono::duration<double> delay)
    : isTerminal(llvm::sys::Process::StandardErrIsDisplayed()),
      start(std::chrono::steady_clock::now()), delay(delay) {}

void Progress::show(double done, llvm::StringRef text) {
  if (!isTerminal || std::chrono::steady_clock::now() - start < delay)
    return;
  constexpr unsigned width = 24;
  unsigned full = std::clamp(done, 0.0, 1.0) * width;
  clear();
  llvm::errs() << '[' << std::string(full, '#')
               << std::string(width - full, '.') << "] " << text;
  isDrawn = true;
}

void Progress::clear() {
  if (isDrawn)
    llvm::errs() << "\r\033[K";
  isDrawn = false;
}
