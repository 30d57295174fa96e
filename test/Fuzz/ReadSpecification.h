// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TEST_FUZZ_READSPECIFICATION_H
#define NETC_TEST_FUZZ_READSPECIFICATION_H

#include "lib/Driver/CountedFile.h"

#include <string>
#include <vector>

/// An error of a specification, and the line that it is about; 0 if it is about
/// none.
struct Fault {
  unsigned line;
  std::string text;
};

/// Reads any text as a specification, counts its networks and runs, and decides
/// its expects, as `netc --check` does. That must not crash. Returns the errors
/// in the order in which they are found. Imports are read from the folder of
/// `path`. Calls `use` with what was counted.
std::vector<Fault> readSpecification(
    llvm::StringRef text, llvm::StringRef path = "text.net",
    llvm::function_ref<void(const netc::Session &, netc::CountedFile)> use =
        nullptr);

#endif // NETC_TEST_FUZZ_READSPECIFICATION_H
