// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_RANGES_H
#define NETC_LIB_FRONTEND_RANGES_H

#include "lib/Frontend/Parser.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace netc {

/// The `between`s of a file: the end at which each one is evaluated, and the
/// ones that a computation reads.
class Ranges {
public:
  using Tree = antlr4::ParserRuleContext;

  /// Collects the ranges that are read while it lives. They are added to the
  /// collection around it only by `noteRead`.
  class Reads {
  public:
    explicit Reads(Ranges &ranges)
        : ranges(ranges), outer(std::exchange(ranges.reads, this)) {}
    ~Reads() { ranges.reads = outer; }
    llvm::ArrayRef<Tree *> all() const { return found.getArrayRef(); }
    bool empty() const { return found.empty(); }

  private:
    friend class Ranges;
    Ranges &ranges;
    Reads *outer;
    llvm::SetVector<Tree *> found;
  };

  void noteRead(llvm::ArrayRef<Tree *> read) {
    if (reads)
      reads->found.insert(read.begin(), read.end());
  }

  /// Whether a range is at its upper end. None if it is in its middle.
  std::optional<bool> endOf(Tree *range) const {
    auto end = ends.find(range);
    return end == ends.end() ? std::nullopt : std::optional(end->second);
  }
  bool areAtEnds() const { return !ends.empty(); }
  /// Calls `function` for all combinations of the lower and upper ends of
  /// `ranges`. The first range alternates fastest.
  void atEnds(llvm::ArrayRef<Tree *> ranges,
              llvm::function_ref<void()> function);

  /// The ranges that a run depends on.
  std::vector<Tree *> &ofRun(llvm::StringRef run) { return byRun[run]; }

private:
  Reads *reads = nullptr;
  llvm::DenseMap<Tree *, bool> ends;
  llvm::StringMap<std::vector<Tree *>> byRun;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_RANGES_H
