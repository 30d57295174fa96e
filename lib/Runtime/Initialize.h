// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_INITIALIZE_H
#define NETC_LIB_RUNTIME_INITIALIZE_H

#include "lib/Program/Slot.h"

namespace netc::runtime {

/// Initializes a parameter or state by its Init. The numbers depend only on the
/// seed and the slot's name.
void initialize(const program::Slot &slot, uint64_t seed, char *data);

/// Fills an input with uniform integers in [0, upperBound), or with numbers of
/// mean 0 and variance 1. Batches differ.
void synthesize(const program::Slot &slot, uint64_t seed, int64_t batch,
                char *data);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_INITIALIZE_H
