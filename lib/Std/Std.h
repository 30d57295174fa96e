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

/// A block of a file: its text, from its first line there on.
struct StandardBlock {
  llvm::StringRef path, name, text;
  unsigned line;
};

/// Those of the prelude, in the order of the file.
llvm::ArrayRef<StandardBlock> standardBlocks();
/// Those of the other files.
llvm::ArrayRef<StandardBlock> importableBlocks();

} // namespace netc

#endif // NETC_LIB_STD_STD_H
