// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_QUERYPATH_H
#define NETC_LIB_ANALYSIS_QUERYPATH_H

#include "dialect/Spelling.h"
#include "lib/Diagnostics/Errors.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"

#include <optional>

namespace netc {

/// Reads the components of a query one by one.
class QueryPath {
public:
  QueryPath(llvm::StringRef subject, llvm::ArrayRef<std::string> members)
      : subject(subject), rest(members) {}

  bool atEnd() const { return rest.empty(); }

  /// Takes the next component if it is one of `names`, else returns none.
  std::optional<llvm::StringRef> take(llvm::ArrayRef<llvm::StringRef> names) {
    return take(names, names);
  }
  /// The same, for a caller that offers only some of the names.
  std::optional<llvm::StringRef> take(llvm::ArrayRef<llvm::StringRef> names,
                                      llvm::ArrayRef<llvm::StringRef> shown) {
    offered.append(shown.begin(), shown.end());
    if (rest.empty() || !llvm::is_contained(names, rest.front()))
      return std::nullopt;
    llvm::StringRef name = rest.front();
    rest = rest.drop_front();
    read += (read.empty() ? "" : ".") + name.str();
    offered.clear();
    return name;
  }

  /// The names that may follow the query. Empty if the query has components
  /// that were not taken.
  llvm::ArrayRef<llvm::StringRef> following() const {
    return rest.empty() ? llvm::ArrayRef(offered)
                        : llvm::ArrayRef<llvm::StringRef>();
  }

  /// The error for a missing component, or for one that was not taken.
  Message complain() const {
    llvm::StringRef of = read.empty() ? subject : llvm::StringRef(read);
    if (rest.empty())
      return error::NoFigure(of, list(offered));
    llvm::StringRef meant =
        llvm::StringSwitch<llvm::StringRef>(rest.front())
            .Cases("parameters", "num_params", "params")
            .Cases("flops", "FLOPs", "macs", "forward")
            .Cases("memory", "mem", "vram", "memory_per_device")
            .Case("mfu", "utilization")
            .Default("");
    std::string hint = llvm::is_contained(offered, meant)
                           ? didYouMean(meant)
                           : didYouMean(rest.front(), offered);
    if (hint.empty() && !offered.empty())
      hint = "; there are " + list(offered);
    return error::UnknownFigure(of, rest.front(), hint);
  }

private:
  static std::string list(llvm::ArrayRef<llvm::StringRef> names) {
    std::string text;
    for (llvm::StringRef name : names)
      text += (text.empty()           ? ""
               : name == names.back() ? " and "
                                      : ", ") +
              ("`" + name + "`").str();
    return text;
  }

  llvm::StringRef subject;
  llvm::ArrayRef<std::string> rest;
  std::string read;
  llvm::SmallVector<llvm::StringRef>
      offered; ///< names that were tried since the last one was taken
};

} // namespace netc

#endif // NETC_LIB_ANALYSIS_QUERYPATH_H
