// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_LANGUAGESERVER_COUNTS_H
#define NETC_LIB_LANGUAGESERVER_COUNTS_H

#include "lib/Driver/CountedFile.h"

namespace netc {

/// The figures of a specification, by path: `Gpt`, `Gpt.layer.0.mha`, `run`,
/// `run.critic`.
class Counts {
public:
  /// `context` is the MLIR context of the file.
  Counts(std::shared_ptr<mlir::MLIRContext> context, CountedFile file)
      : context(std::move(context)), file(std::move(file)) {}

  /// One line about the cost of a network, run or part; empty if the path names
  /// none.
  std::string costOf(llvm::StringRef path) const;
  /// The number of equal copies in a `repeat` that a part stands for, itself
  /// included.
  int64_t copiesOf(llvm::StringRef path) const { return partAt(path).copies; }
  /// The value of a figure: `532.4 kFLOP` of `Gpt.forward`; empty if it has
  /// none.
  std::string valueOf(llvm::StringRef path) const;
  /// The names that may follow a path: `step` behind `run`.
  std::vector<std::string> figuresOf(llvm::StringRef path) const;
  /// The parts of a network or run, or those in such a part.
  std::vector<std::string> partsOf(llvm::StringRef path) const;

private:
  /// The network, run or job at the start of a path, and the rest of the path.
  /// Both pointers are null if there is none.
  struct Owner {
    const Network *network = nullptr;
    const Run *run = nullptr;
    llvm::StringRef rest;
  };
  Owner ownerOf(llvm::StringRef path) const;
  /// The part that a path names, and the number of equal copies that it stands
  /// for; null if there is no such part.
  struct PartOfCopies {
    const PartTree *tree = nullptr;
    const Part *part = nullptr;
    int64_t copies = 1;
  };
  PartOfCopies partAt(llvm::StringRef path) const;

  std::shared_ptr<mlir::MLIRContext> context; ///< owns what `file` refers to
  CountedFile file;
};

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_COUNTS_H
