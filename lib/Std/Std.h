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

} // namespace netc

#endif // NETC_LIB_STD_STD_H
