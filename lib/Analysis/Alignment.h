// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_ALIGNMENT_H
#define NETC_LIB_ANALYSIS_ALIGNMENT_H

#include "dialect/Net.h"

namespace netc {

/// The share of the forward pass's product FLOP in products whose sizes are all
/// multiples of `factor`, from 0 to 1. The sizes of a product are those of its
/// weight, except for a kernel's; without a weight, they are the last size of
/// each operand. An unknown size counts as a multiple. 1 if there are no
/// products.
Rational alignedShare(StepOp step, int factor);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_ALIGNMENT_H
