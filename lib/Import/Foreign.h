// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_FOREIGN_H
#define NETC_LIB_IMPORT_FOREIGN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace netc::import {

/// An op of PyTorch, ONNX or StableHLO, `foreign` of an entry in dialect/*.td.
struct ForeignOp {
  llvm::StringRef name;    ///< `aten.leaky_relu`
  llvm::StringRef op;      ///< `leaky_relu`, as it is called here
  llvm::StringRef example; ///< how a specification calls it
  /// Names of settings there and here: `negative_slope`, `slope`.
  std::vector<std::pair<llvm::StringRef, llvm::StringRef>> settings;
};

/// Null for an op that no entry names.
const ForeignOp *findForeign(llvm::StringRef name);

/// The names of all, sorted.
llvm::ArrayRef<llvm::StringRef> foreignNames();

} // namespace netc::import

#endif // NETC_LIB_IMPORT_FOREIGN_H
