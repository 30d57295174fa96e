// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_INITIALIZE_H
#define NETC_LIB_RUNTIME_INITIALIZE_H

#include "lib/Runtime/Program.h"

namespace netc::runtime {

/// Fills a parameter or state. With n elements of one output (all axes but the
/// first):
///   fan_in    uniform with mean 0 and variance 1/n: |x| < sqrt(3 / n)
///   normal    mean 0, standard deviation 0.02
///   uniform   |x| < 1 / sqrt(n)
/// and at position p (the last axis but one) and feature i of d (the last):
///   sine      sin(p theta^(-i/d)), of the angles that turn pairs of features
///   cosine    cos of the same
///   sinusoid  sin(p theta^(-i/d)) for even i, cos(p theta^(-(i-1)/d)) for odd
/// The numbers depend on the seed and the slot's name only.
void initialize(const Slot &slot, uint64_t seed, char *data);

/// Fills an input: integers 0..below-1 alike, or numbers with mean 0 and
/// variance 1. Each batch has others.
void synthesize(const Slot &slot, uint64_t seed, int64_t batch, char *data);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_INITIALIZE_H
