// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_FILESCOPE_H
#define NETC_LIB_FRONTEND_FILESCOPE_H

#include "lib/Frontend/Parser.h"
#include "lib/Frontend/Resolver.h"
#include "lib/Frontend/Value.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include <deque>

namespace netc {

/// A name of a file's top level. Its value is computed once, on demand. An
/// instance is computed once per network, since a network owns its weights.
struct TopLevel {
  enum State { Untouched, InProgress, Done };
  std::string name;
  antlr4::ParserRuleContext *tree =
      nullptr; ///< a declaration, section, job or binding
  State state = Untouched;
  /// Whether it holds an instance.
  bool isPerGraph = false;
  /// Whether it stands for the precision of a run.
  bool isPrecision = false;
  std::vector<antlr4::ParserRuleContext *> ranges; ///< the `between`s in it
  /// The network for which it was computed, 0 outside of networks.
  unsigned graph = 0;
  Value value;
};

/// A file with its names.
struct FileScope {
  explicit FileScope(std::unique_ptr<SourceFile> source)
      : source(std::move(source)), resolver(this->source->tree()),
        path(this->source->path) {}

  std::unique_ptr<SourceFile> source;
  Resolver resolver;
  std::string path;
  llvm::MapVector<std::string, TopLevel, llvm::StringMap<unsigned>> names;
  std::vector<FileScope *> imports;
  llvm::StringMap<FileScope *> qualified;
  std::deque<BlockDecl> blocks;
};

/// Names of a file's top level that `isStale` selects are recomputed while it
/// lives. The destructor restores their values.
class Recomputation {
public:
  Recomputation(FileScope &file,
                llvm::function_ref<bool(const TopLevel &)> isStale) {
    for (auto &[name, entry] : file.names)
      if (isStale(entry)) {
        before.push_back({&entry, entry});
        entry.state = TopLevel::Untouched;
      }
  }
  Recomputation(const Recomputation &) = delete;
  ~Recomputation() {
    for (auto &[entry, old] : before)
      *entry = old;
  }

private:
  std::vector<std::pair<TopLevel *, TopLevel>> before;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_FILESCOPE_H
