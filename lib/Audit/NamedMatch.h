// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_NAMEDMATCH_H
#define NETC_LIB_AUDIT_NAMEDMATCH_H

#include "lib/Audit/Match.h"

namespace netc::audit {

/// Matches products of a program of netc, whose trace names the op of the
/// specification that runs, and its phase. An op in a loop runs several times.
std::vector<Match> matchNamed(llvm::ArrayRef<SpecifiedProduct> specified,
                              llvm::ArrayRef<TracedProduct> traced);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_NAMEDMATCH_H
