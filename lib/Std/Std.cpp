// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Std/Std.h"

#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

// `paths` and `texts`, in the same order.
#include "lib/Std/Files.inc"

namespace netc {

std::optional<StringRef> standardLibrary(StringRef path) {
  const StringRef *found = llvm::find(paths, path);
  if (found == std::end(paths))
    return std::nullopt;
  return texts[found - std::begin(paths)];
}

llvm::ArrayRef<StringRef> standardLibraryPaths() { return paths; }

} // namespace netc
