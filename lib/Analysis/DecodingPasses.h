// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_DECODINGPASSES_H
#define NETC_LIB_ANALYSIS_DECODINGPASSES_H

#include "lib/Analysis/Run.h"

namespace netc {

/// Evaluates products over pairs of positions for decoding: each position
/// counts the positions up to the end of its pass. T^k becomes (T - n)^k, for
/// the prompt, plus the sum of t^(k-1) over the last n positions, where t is
/// the end of the pass. Where masked products count half, the number of pairs
/// is the same as without passes.
void decodeInPasses(const Run &run, Axes &axes);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_DECODINGPASSES_H
