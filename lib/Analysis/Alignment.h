// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_ALIGNMENT_H
#define NETC_LIB_ANALYSIS_ALIGNMENT_H

#include "dialect/Net.h"

namespace netc {

/// The share of the forward pass's FLOP of products that is in products with
/// sizes that are multiples of `factor`. The sizes are those of the weight
/// except for a kernel's, or the last of each operand if there is no weight.
/// Unknown sizes count as multiples. 1 if there are no products.
Rational alignedShare(StepOp step, int factor);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_ALIGNMENT_H
