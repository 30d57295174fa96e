// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRANSFORMS_APPLYPRECISION_H
#define NETC_LIB_TRANSFORMS_APPLYPRECISION_H

#include "dialect/Net.h"

namespace netc {

/// Warns of a product in 8 bits in `typed`, a step whose values have their
/// formats, if it cannot have as many rows as the sizes of `run` give it. `run`
/// is `typed` itself, or the same step at a point of a sweep.
void warnOfRows(StepOp typed, StepOp run);

} // namespace netc

#endif // NETC_LIB_TRANSFORMS_APPLYPRECISION_H
