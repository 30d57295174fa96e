// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_WRITER_H
#define NETC_LIB_IMPORT_WRITER_H

#include "lib/Import/Expression.h"
#include "lib/Import/Step.h"

namespace netc::import {

/// Calls of modules as one block.
struct WrittenBlock {
  std::string name;
  const StepBody *body = nullptr; ///< of the first of them
  std::vector<std::string> settings;
};

/// The names of inputs, by blocks.
using InputNames = std::map<std::string, std::vector<std::string>>;

/// Blocks that it calls are written before it.
std::string writeBlock(const Graph &graph, const WrittenBlock &block,
                       InputNames &inputsOf);
std::string writeNet(const Graph &graph, const StepBody &body,
                     llvm::StringRef name, const InputNames &inputsOf);

/// The files of the standard library that steps are of, and the lines that
/// import them.
std::set<llvm::StringRef> importsOf(llvm::ArrayRef<Step> steps);
std::string importsText(const std::set<llvm::StringRef> &imports);

/// A net that names and returns all that steps make.
struct FlatNet {
  std::string text;
  std::vector<unsigned> lines; ///< the first line of each step
  std::vector<int> values;     ///< that it returns
};
FlatNet writeFlat(const Graph &graph, llvm::ArrayRef<Step> steps);

} // namespace netc::import

#endif // NETC_LIB_IMPORT_WRITER_H
