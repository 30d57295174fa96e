// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_LANGUAGESERVER_COUNTS_H
#define NETC_LIB_LANGUAGESERVER_COUNTS_H

#include "lib/Driver/CountedFile.h"

namespace netc {

/// The figures of a specification, by the paths that name what has them:
/// `Gpt`, `Gpt.layer.0.mha`, `run`, `run.critic`.
class Counts {
public:
  /// `context` is that of the file.
  Counts(std::shared_ptr<mlir::MLIRContext> context, CountedFile file)
      : context(std::move(context)), file(std::move(file)) {}

  /// What it costs, in a line; empty if there is no such thing.
  std::string costOf(llvm::StringRef path) const;
  /// The value of a figure: `532.4 kFLOP` of `Gpt.forward`; empty if it has
  /// none.
  std::string valueOf(llvm::StringRef path) const;
  /// The names that may follow a path: `step` behind `run`.
  std::vector<std::string> figuresOf(llvm::StringRef path) const;
  /// The parts of a network or run, or those in such a part.
  std::vector<std::string> partsOf(llvm::StringRef path) const;

private:
  const Network *network(llvm::StringRef name) const;
  /// Null unless it is the path of a run or of a job in one.
  static const Run *run(llvm::ArrayRef<Run> runs, llvm::StringRef path);
  /// The parts of what a path begins with; null if that has none.
  const PartTree *treeOf(llvm::StringRef path) const;

  std::shared_ptr<mlir::MLIRContext> context; ///< of what the file refers to
  CountedFile file;
};

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_COUNTS_H
