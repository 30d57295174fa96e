// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_MENTIONS_H
#define NETC_FRONTEND_MENTIONS_H

#include "lib/Frontend/Parser.h"
#include "llvm/ADT/StringSet.h"

namespace netc {

struct FileScope;

/// The names that stand in texts, and in the texts of what these names stand
/// for.
class Mentions {
public:
  void add(const std::string &name);
  /// Adds those that stand in `tree`.
  void add(antlr4::ParserRuleContext *tree);
  /// Adds those that say what a step of `job`, and of the jobs in it, does.
  void addStructure(NetParser::JobContext *job);
  /// Adds the names in what the names stand for in `file`, and so on.
  void follow(const FileScope &file);

  bool contains(llvm::StringRef name) const { return known.contains(name); }

private:
  std::vector<std::string> list; ///< in the order in which they are found
  llvm::StringSet<> known;
};

} // namespace netc

#endif // NETC_FRONTEND_MENTIONS_H
