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
  /// How many equal copies of a `repeat` a part stands for, itself included.
  int64_t copiesOf(llvm::StringRef path) const { return partAt(path).copies; }
  /// The value of a figure: `532.4 kFLOP` of `Gpt.forward`; empty if it has
  /// none.
  std::string valueOf(llvm::StringRef path) const;
  /// The names that may follow a path: `step` behind `run`.
  std::vector<std::string> figuresOf(llvm::StringRef path) const;
  /// The parts of a network or run, or those in such a part.
  std::vector<std::string> partsOf(llvm::StringRef path) const;

private:
  /// What a path begins with, a network or else a run or job, and the rest of
  /// the path; both null if it is neither.
  struct Owner {
    const Network *network = nullptr;
    const Run *run = nullptr;
    llvm::StringRef rest;
  };
  Owner ownerOf(llvm::StringRef path) const;
  /// The part that a path leads to, and how many equal copies it stands for;
  /// null if it leads to none.
  struct PartOfCopies {
    const PartTree *tree = nullptr;
    const Part *part = nullptr;
    int64_t copies = 1;
  };
  PartOfCopies partAt(llvm::StringRef path) const;

  std::shared_ptr<mlir::MLIRContext> context; ///< of what the file refers to
  CountedFile file;
};

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_COUNTS_H
