// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Std/Std.h"

#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

// Defines `paths` and `texts`, in the same order.
#include "lib/Std/Files.inc"

namespace netc {

std::optional<StringRef> standardLibrary(StringRef path) {
  const StringRef *found = llvm::find(paths, path);
  if (found == std::end(paths))
    return std::nullopt;
  return texts[found - std::begin(paths)];
}

llvm::ArrayRef<StringRef> standardLibraryPaths() { return paths; }

std::string importNameOf(StringRef path) {
  path.consume_back(".net");
  std::string name = path.str();
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

static void addBlocksOf(StringRef path, std::vector<StandardBlock> &blocks) {
  // At the start of a line, this can only begin a block.
  constexpr llvm::StringLiteral begin = "\nblock ";
  StringRef file = *standardLibrary(path);
  for (size_t at = file.find(begin); at != StringRef::npos;) {
    size_t next = file.find(begin, at + 1);
    StringRef text =
        file.slice(at + 1, next == StringRef::npos ? next : next + 1);
    StringRef name = text.drop_front(begin.size() - 1);
    blocks.push_back({path, name.take_until([](char c) { return c == '('; }),
                      text, unsigned(file.take_front(at + 1).count('\n')) + 1});
    at = next;
  }
}

llvm::ArrayRef<StandardBlock> standardBlocks() {
  static const std::vector<StandardBlock> blocks = [] {
    std::vector<StandardBlock> blocks;
    addBlocksOf(preludePath, blocks);
    return blocks;
  }();
  return blocks;
}

llvm::ArrayRef<StandardBlock> importableBlocks() {
  static const std::vector<StandardBlock> blocks = [] {
    std::vector<StandardBlock> blocks;
    for (StringRef path : paths)
      if (path != preludePath)
        addBlocksOf(path, blocks);
    return blocks;
  }();
  return blocks;
}

} // namespace netc
