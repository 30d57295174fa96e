// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_OPAQUE_H
#define NETC_DIALECT_OPAQUE_H

#include "llvm/ADT/StringRef.h"

namespace netc {

/// The prefix of the symbol that stands for the unknown cost of an opaque part.
/// The path of the part follows, with the characters that a symbol may have.
inline constexpr llvm::StringLiteral unknownCost = "cost_of_";

} // namespace netc

#endif // NETC_DIALECT_OPAQUE_H
