// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_INITIALIZE_H
#define NETC_LIB_RUNTIME_INITIALIZE_H

#include "lib/Program/Slot.h"

namespace netc::runtime {

/// Fills a parameter or state as its Init says.
/// The numbers depend on the seed and the slot's name only.
void initialize(const program::Slot &slot, uint64_t seed, char *data);

/// Fills an input: integers 0..below-1 alike, or numbers with mean 0 and
/// variance 1. Each batch has others.
void synthesize(const program::Slot &slot, uint64_t seed, int64_t batch,
                char *data);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_INITIALIZE_H
