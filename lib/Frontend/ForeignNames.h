// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_FOREIGNNAMES_H
#define NETC_LIB_FRONTEND_FOREIGNNAMES_H

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace netc {

/// The end of a message about an unknown name that PyTorch, Keras or JAX use
/// for something in `known`: `; did you mean `Conv`?`. Else empty.
std::string hintForForeign(llvm::StringRef name,
                           llvm::ArrayRef<std::string> known);

/// The same about a file that is not there to import; `name` is its path.
std::string hintForImport(llvm::StringRef name);

} // namespace netc

#endif // NETC_LIB_FRONTEND_FOREIGNNAMES_H
