// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_STD_STD_H
#define NETC_LIB_STD_STD_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace netc {

/// The text of the standard-library file `path` ("std/core.net"), or none. It
/// lives as long as the program.
std::optional<llvm::StringRef> standardLibrary(llvm::StringRef path);

/// The paths that `standardLibrary` knows, in alphabetical order.
llvm::ArrayRef<llvm::StringRef> standardLibraryPaths();

/// The file of which each block can be used without an import.
constexpr llvm::StringLiteral preludePath = "std/core.net";

/// One of them: its text, from its first line in that file on.
struct StandardBlock {
  llvm::StringRef name, text;
  unsigned line;
};

/// All of them, in the order of the file.
llvm::ArrayRef<StandardBlock> standardBlocks();

} // namespace netc

#endif // NETC_LIB_STD_STD_H
