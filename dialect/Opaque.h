// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_OPAQUE_H
#define NETC_DIALECT_OPAQUE_H

#include "llvm/ADT/StringRef.h"

namespace netc {

/// How the symbol begins that stands for the cost of an opaque part which
/// states none; the path of the part follows, as far as a name can spell it.
inline constexpr llvm::StringLiteral unknownCost = "cost_of_";

} // namespace netc

#endif // NETC_DIALECT_OPAQUE_H
