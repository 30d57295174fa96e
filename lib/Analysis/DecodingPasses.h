// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_DECODINGPASSES_H
#define NETC_LIB_ANALYSIS_DECODINGPASSES_H

#include "lib/Analysis/Run.h"

namespace netc {

/// Positions whose last ones are made pass by pass, from keys and values that
/// are kept: a product over pairs of positions counts, for each, those up to
/// the end of its pass. So T^k becomes (T - n)^k, which is what comes before,
/// plus the sum of t^(k-1) over the last n, t the end of the pass. The pairs
/// that a causal mask lets through, where these are counted, are the same
/// whoever makes them.
void decodeInPasses(const Run &run, Axes &axes);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_DECODINGPASSES_H
