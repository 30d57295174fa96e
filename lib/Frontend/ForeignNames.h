// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_FOREIGNNAMES_H
#define NETC_FRONTEND_FOREIGNNAMES_H

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace netc {

/// The end of a message about a name that is not known here, where PyTorch,
/// Keras or JAX call something so that is called otherwise among `known`: `;
/// did you mean `Conv`?`; empty where they do not.
std::string hintForForeign(llvm::StringRef name,
                           llvm::ArrayRef<std::string> known);

} // namespace netc

#endif // NETC_FRONTEND_FOREIGNNAMES_H
