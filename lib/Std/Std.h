// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_STD_STD_H
#define NETC_LIB_STD_STD_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace netc {

/// The text of the standard-library file `path` ("std/core.net"), or none. It
/// lives as long as the program.
std::optional<llvm::StringRef> standardLibrary(llvm::StringRef path);

/// The paths that `standardLibrary` knows, in alphabetical order.
llvm::ArrayRef<llvm::StringRef> standardLibraryPaths();

/// How an import names the file `path`: "std.vision" for "std/vision.net".
std::string importNameOf(llvm::StringRef path);

/// The file whose blocks need no import.
constexpr llvm::StringLiteral preludePath = "std/core.net";

/// A block of a file. `text` ends where the next block begins; `line` is its
/// first line in the file, counted from 1.
struct StandardBlock {
  llvm::StringRef path, name, text;
  unsigned line;
};

/// The blocks of the prelude, in the order of the file.
llvm::ArrayRef<StandardBlock> standardBlocks();
/// The blocks of the other files.
llvm::ArrayRef<StandardBlock> importableBlocks();

} // namespace netc

#endif // NETC_LIB_STD_STD_H
