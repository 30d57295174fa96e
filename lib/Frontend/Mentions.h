// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_MENTIONS_H
#define NETC_LIB_FRONTEND_MENTIONS_H

#include "lib/Frontend/Parser.h"
#include "llvm/ADT/StringSet.h"

namespace netc {

struct FileScope;

/// The names in texts, and recursively the names in their definitions.
class Mentions {
public:
  void add(const std::string &name);
  /// Adds the names in `tree`.
  void add(antlr4::ParserRuleContext *tree);
  /// Adds the names that determine the steps of `job` and of the jobs in it.
  void addStructure(NetParser::JobContext *job);
  /// Adds the names in the definitions of known names in `file`, recursively.
  void follow(const FileScope &file);

  bool contains(llvm::StringRef name) const { return known.contains(name); }

private:
  std::vector<std::string> list; ///< in the order of discovery
  llvm::StringSet<> known;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_MENTIONS_H
